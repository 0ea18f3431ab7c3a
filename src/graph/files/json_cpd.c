/* json_cpd.c -- conditional distributions from JSON: of each kind its parameters, then a table. */
#include "graph/network/cpd.h"
#include "json_internal.h"
#include "graph/network/network_internal.h"
#include "network_text.h"

#include <string.h>

/* One variable that is being read. */
typedef struct child {
    cri_json_network *f;
    cr_scratch       *s;
    size_t            v, states, n, rows;
    const size_t     *parents; /* [n] */
    const char       *name;
} child;

/* --- rows ------------------------------------------------------------------------------------ */

/* A distribution over the states of v: [0.9, 0.1] or {"no": 0.9, "yes": 0.1}; states that are not
 * named have probability 0. */
static cr_status read_row(const child *c, json_t *value, double *p)
{
    cr_status       st = CR_OK;
    const cri_json *d = &c->f->d;
    double          sum = 0;
    const char     *key;
    json_t         *item;
    size_t          i;
    memset(p, 0, c->states * sizeof *p);
    if (json_is_object(value)) {
        json_object_foreach(value, key, item)
        {
            CR_TRY(cri_json_find_state(c->f, value, key, c->v, key, &i));
            CR_TRY(cri_json_real_in(d, item, "a probability", 0, 1, &p[i]));
        }
    } else {
        CR_TRY(cri_json_is_array(d, value, "a list of probabilities, or an object by states,"));
        if (json_array_size(value) != c->states)
            CR_TRY(cri_json_fail(d, value, "%zu probabilities where '%s' has %zu states",
                                 json_array_size(value), c->name, c->states));
        json_array_foreach(value, i, item)
            CR_TRY(cri_json_real_in(d, item, "a probability", 0, 1, &p[i]));
    }
    for (i = 0; i < c->states; i++) sum += p[i];
    if (!cri_sums_to_one(sum))
        CR_TRY(cri_json_fail(d, value, "probabilities sum to %.10g, expected 1", sum));
done:
    return st;
}

/* Fails unless every entry of an object by states was there. */
static cr_status check_seen(const child *c, const json_t *object, size_t n, const size_t *scope,
                            size_t size, const bool *seen)
{
    for (size_t e = 0; e < size; e++)
        if (!seen[e]) return cri_json_no_entry(c->f, object, n, scope, e);
    return CR_OK;
}

/* The row of the key, which must not have been there before in other words. */
static cr_status find_row(const child *c, json_t *object, const char *key, bool *seen,
                          size_t *out_row)
{
    cr_status st = cri_json_entry(c->f, object, key, c->n, c->parents, out_row);
    if (st != CR_OK) return st;
    if (seen[*out_row])
        return cri_json_fail_key(&c->f->d, object, key, "these states occur here twice");
    seen[*out_row] = true;
    return CR_OK;
}

static cr_status read_table(const child *c, json_t *value)
{
    cr_status   st = CR_OK;
    double     *p = cr_scratch_matrix(c->s, c->rows, c->states);
    bool       *seen = cr_scratch_bytes(c->s, c->rows, sizeof *seen);
    const char *key;
    json_t     *item;
    size_t      row;
    CR_TRY(c->s->status);
    if (c->n == 0) {
        CR_TRY(read_row(c, value, p));
    } else if (json_is_object(value)) {
        json_object_foreach(value, key, item)
        {
            CR_TRY(find_row(c, value, key, seen, &row));
            CR_TRY(read_row(c, item, p + row * c->states));
        }
        CR_TRY(check_seen(c, value, c->n, c->parents, c->rows, seen));
    } else {
        CR_TRY(cri_json_is_array(&c->f->d, value,
                                 "rows of probabilities, in a list or by the parents' states,"));
        CR_TRY(cri_json_numbers(&c->f->d, value, "a probability", c->rows * c->states, p));
    }
    CR_TRY(cri_json_place(&c->f->d, value, cr_network_set_table(c->f->d.cx, c->f->net, c->v, p)));
done:
    return st;
}

static cr_status read_deterministic(const child *c, json_t *value)
{
    cr_status   st = CR_OK;
    size_t     *state = cr_scratch_index(c->s, c->rows), row;
    bool       *seen = cr_scratch_bytes(c->s, c->rows, sizeof *seen);
    const char *key, *name;
    json_t     *item;
    CR_TRY(c->s->status);
    if (c->n == 0) {
        CR_TRY(cri_json_text(&c->f->d, value, "a state", &name));
        CR_TRY(cri_json_find_state(c->f, value, NULL, c->v, name, &state[0]));
    } else {
        CR_TRY(
            cri_json_is_object(&c->f->d, value, "an object from the parents' states to a state"));
        json_object_foreach(value, key, item)
        {
            CR_TRY(find_row(c, value, key, seen, &row));
            CR_TRY(cri_json_text(&c->f->d, item, "a state", &name));
            CR_TRY(cri_json_find_state(c->f, item, NULL, c->v, name, &state[row]));
        }
        CR_TRY(check_seen(c, value, c->n, c->parents, c->rows, seen));
    }
    CR_TRY(
        cri_json_place(&c->f->d, value, cr_cpd_deterministic(c->f->d.cx, c->f->net, c->v, state)));
done:
    return st;
}

/* --- noisy-or -------------------------------------------------------------------------------- */

/* The place of a variable among the parents, n for the child itself. */
static cr_status find_parent(const child *c, const json_t *object, const char *key,
                             const char *name, bool child_too, size_t *out_i)
{
    size_t    v = 0;
    cr_status st = cri_json_find_variable(c->f, object, key, name, &v);
    if (st != CR_OK) return st;
    for (size_t i = 0; i < c->n; i++)
        if (c->parents[i] == v) return *out_i = i, CR_OK;
    if (child_too && v == c->v) return *out_i = c->n, CR_OK;
    return key ? cri_json_fail_key(&c->f->d, object, key, "'%s' is not a parent of '%s'", name,
                                   c->name)
               : cri_json_fail(&c->f->d, object, "'%s' is not a parent of '%s'", name, c->name);
}

/* Does the first state look like the one that means on?  Then which it is has to be said. */
static bool begins_with_yes(const cr_variables *vs, size_t v)
{
    static const char *const WORDS[] = { "yes", "true", "on", "present", "1", "t", "y" };
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        const char *a = cr_state_name(vs, v, 0), *b = WORDS[i];
        while (*a && (*a | 0x20) == (*b | 0x20)) a++, b++;
        if (!*a && !*b) return true;
    }
    return false;
}

/* on [n + 1]: which state of each parent and of the child counts as on. */
static cr_status read_on(const child *c, json_t *value, json_t *opt_on, size_t *on)
{
    cr_status           st = CR_OK;
    const cr_variables *vs = cr_network_variables(c->f->net);
    const char         *key, *state;
    json_t             *item;
    size_t              i;
    for (i = 0; i <= c->n; i++) on[i] = CR_NONE;
    if (opt_on) CR_TRY(cri_json_is_object(&c->f->d, opt_on, "an object from variables to states"));
    json_object_foreach(opt_on, key, item)
    {
        CR_TRY(find_parent(c, opt_on, key, key, true, &i));
        CR_TRY(cri_json_text(&c->f->d, item, "a state", &state));
        CR_TRY(
            cri_json_find_state(c->f, item, NULL, i < c->n ? c->parents[i] : c->v, state, &on[i]));
    }
    for (i = 0; i <= c->n; i++) {
        size_t v = i < c->n ? c->parents[i] : c->v;
        if (on[i] == CR_NONE && begins_with_yes(vs, v)) {
            cri_json_fail(
                &c->f->d, value, "the second state counts as on, which for '%s' would be '%s'",
                cr_variable_name(vs, v), cr_state_name(vs, v, cr_variable_states(vs, v) > 1));
            CR_TRY(cr_fail_hint(c->f->d.cx, "name the state that is on: \"on\": {\"%s\": \"%s\"}",
                                cr_variable_name(vs, v), cr_state_name(vs, v, 0)));
        }
        if (on[i] == CR_NONE) on[i] = 1;
    }
done:
    return st;
}

/* An object with a member for each parent. */
static cr_status check_parents(const child *c, const json_t *object, const bool *seen)
{
    for (size_t i = 0; i < c->n; i++)
        if (!seen[i])
            return cri_json_fail(&c->f->d, object, "the parent '%s' is missing here",
                                 cr_variable_name(cr_network_variables(c->f->net), c->parents[i]));
    return CR_OK;
}

static cr_status read_noisy_or(const child *c, json_t *value)
{
    static const char *const KEYS[] = { "leak", "strengths", "on", NULL };
    cr_status                st = CR_OK;
    const cri_json          *d = &c->f->d;
    double                  *strength = cr_scratch_f64(c->s, c->n), leak = 0;
    size_t                  *on = cr_scratch_index(c->s, c->n + 1), i;
    bool                    *seen = cr_scratch_bytes(c->s, c->n, sizeof *seen);
    json_t                  *strengths, *item;
    const char              *key;
    CR_TRY(c->s->status);
    CR_TRY(cri_json_is_object(d, value, "an object with \"leak\" and \"strengths\""));
    CR_TRY(cri_json_keys(d, value, KEYS));
    if ((item = json_object_get(value, "leak")))
        CR_TRY(cri_json_real_in(d, item, "the leak", 0, 1, &leak));
    CR_TRY(cri_json_member(d, value, "strengths", &strengths));
    CR_TRY(cri_json_is_object(d, strengths, "an object from parents to strengths"));
    json_object_foreach(strengths, key, item)
    {
        CR_TRY(find_parent(c, strengths, key, key, false, &i));
        CR_TRY(cri_json_real_in(d, item, "a strength", 0, 1, &strength[i]));
        seen[i] = true;
    }
    CR_TRY(check_parents(c, strengths, seen));
    CR_TRY(read_on(c, value, json_object_get(value, "on"), on));
    CR_TRY(cri_json_place(d, value, cr_cpd_noisy_or(d->cx, c->f->net, c->v, leak, strength, on)));
done:
    return st;
}

/* --- noisy-max ------------------------------------------------------------------------------- */

/* {"state of the parent": row} for all its states. */
static cr_status read_effects(const child *c, json_t *object, size_t parent, double *p)
{
    cr_status   st = CR_OK;
    size_t      n = cr_network_states(c->f->net, parent), s;
    bool       *seen = cr_scratch_bytes(c->s, n, sizeof *seen);
    const char *key;
    json_t     *item;
    CR_TRY(c->s->status);
    CR_TRY(cri_json_is_object(&c->f->d, object, "an object from states to rows of probabilities"));
    json_object_foreach(object, key, item)
    {
        CR_TRY(cri_json_find_state(c->f, object, key, parent, key, &s));
        CR_TRY(read_row(c, item, p + s * c->states));
        seen[s] = true;
    }
    CR_TRY(check_seen(c, object, 1, &parent, n, seen));
done:
    return st;
}

static cr_status read_noisy_max(const child *c, json_t *value)
{
    static const char *const KEYS[] = { "leak", "effects", NULL };
    cr_status                st = CR_OK;
    const cri_json          *d = &c->f->d;
    size_t                   all = 0, i, *first = cr_scratch_index(c->s, c->n);
    bool                    *seen = cr_scratch_bytes(c->s, c->n, sizeof *seen);
    json_t                  *effects, *item, *leak;
    const char              *key;
    CR_TRY(c->s->status);
    for (i = 0; i < c->n; i++) {
        first[i] = all * c->states;
        all += cr_network_states(c->f->net, c->parents[i]);
    }
    double *p = cr_scratch_matrix(c->s, all, c->states), *l = cr_scratch_f64(c->s, c->states);
    CR_TRY(c->s->status);
    CR_TRY(cri_json_is_object(d, value, "an object with \"leak\" and \"effects\""));
    CR_TRY(cri_json_keys(d, value, KEYS));
    if ((leak = json_object_get(value, "leak"))) CR_TRY(read_row(c, leak, l));
    CR_TRY(cri_json_member(d, value, "effects", &effects));
    CR_TRY(cri_json_is_object(d, effects, "an object from parents to their effects"));
    json_object_foreach(effects, key, item)
    {
        CR_TRY(find_parent(c, effects, key, key, false, &i));
        CR_TRY(read_effects(c, item, c->parents[i], p + first[i]));
        seen[i] = true;
    }
    CR_TRY(check_parents(c, effects, seen));
    CR_TRY(cri_json_place(d, value, cr_cpd_noisy_max(d->cx, c->f->net, c->v, p, leak ? l : NULL)));
done:
    return st;
}

/* --- tree ------------------------------------------------------------------------------------ */

/* Nodes in the order in which they are met: those of one split follow each other. */
typedef struct grove {
    cr_tree_node *node;
    json_t      **from; /* [n] what each is made of */
    size_t        n, capacity;
} grove;

static cr_status add_nodes(const child *c, grove *g, size_t more)
{
    if (g->n + more > g->capacity) {
        size_t        capacity = 2 * g->capacity + more;
        cr_tree_node *node = cr_scratch_bytes(c->s, capacity, sizeof *node);
        json_t      **from = cr_scratch_bytes(c->s, capacity, sizeof *from);
        if (c->s->status != CR_OK) return c->s->status;
        if (g->n) memcpy(node, g->node, g->n * sizeof *node);
        if (g->n) memcpy(from, g->from, g->n * sizeof(*from));
        g->node = node;
        g->from = from;
        g->capacity = capacity;
    }
    g->n += more;
    return CR_OK;
}

static cr_status read_split(const child *c, grove *g, size_t at)
{
    static const char *const KEYS[] = { "split", "branches", NULL };
    cr_status                st = CR_OK;
    const cri_json          *d = &c->f->d;
    json_t                  *one = g->from[at], *split, *branches, *item;
    const char              *name, *key;
    size_t                   i = 0, s, states, first = g->n;
    CR_TRY(cri_json_keys(d, one, KEYS));
    CR_TRY(cri_json_member(d, one, "split", &split));
    CR_TRY(cri_json_text(d, split, "the name of a parent", &name));
    CR_TRY(find_parent(c, split, NULL, name, false, &i));
    CR_TRY(cri_json_member(d, one, "branches", &branches));
    CR_TRY(cri_json_is_object(d, branches, "an object from states to branches"));
    states = cr_network_states(c->f->net, c->parents[i]);
    CR_TRY(add_nodes(c, g, states));
    for (s = 0; s < states; s++) g->from[first + s] = NULL;
    json_object_foreach(branches, key, item)
    {
        CR_TRY(cri_json_find_state(c->f, branches, key, c->parents[i], key, &s));
        g->from[first + s] = item;
    }
    for (s = 0; s < states; s++)
        if (!g->from[first + s]) CR_TRY(cri_json_no_entry(c->f, branches, 1, &c->parents[i], s));
    g->node[at] = (cr_tree_node){ .parent = i, .next = first };
done:
    return st;
}

static cr_status read_tree(const child *c, json_t *value)
{
    cr_status st = CR_OK;
    grove     g = { 0 };
    CR_TRY(add_nodes(c, &g, 1));
    g.from[0] = value;
    for (size_t at = 0; at < g.n; at++) {
        if (json_is_object(g.from[at]) && json_is_string(json_object_get(g.from[at], "split"))) {
            CR_TRY(read_split(c, &g, at));
            continue;
        }
        double *p = cr_scratch_f64(c->s, c->states);
        CR_TRY(c->s->status);
        CR_TRY(read_row(c, g.from[at], p));
        g.node[at] = (cr_tree_node){ .parent = CR_NONE, .p = p };
    }
    CR_TRY(cri_json_place(&c->f->d, value, cr_cpd_tree(c->f->d.cx, c->f->net, c->v, g.n, g.node)));
done:
    return st;
}

/* --- one variable ---------------------------------------------------------------------------- */

typedef cr_status read_fn(const child *c, json_t *value);

static const struct {
    const char *key;
    read_fn    *read;
    bool        keep; /* the parameters tell more than the table */
    bool        rows; /* given for each assignment of the parents */
} KINDS[] = {
    { "table", read_table, false, true },
    { "deterministic", read_deterministic, false, true },
    { "noisy-or", read_noisy_or, true, false },
    { "noisy-max", read_noisy_max, true, false },
    { "tree", read_tree, true, false },
};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

/* Which of the kinds is given; one must be. */
static cr_status find_kind(const child *c, json_t *definition, size_t *out_kind)
{
    size_t found = KIND_COUNT;
    for (size_t k = 0; k < KIND_COUNT; k++) {
        if (!json_object_get(definition, KINDS[k].key)) continue;
        if (found < KIND_COUNT)
            return cri_json_fail_key(&c->f->d, definition, KINDS[k].key,
                                     "'%s' has a \"%s\" already", c->name, KINDS[found].key);
        found = k;
    }
    *out_kind = found;
    if (found < KIND_COUNT) return CR_OK;
    cri_json_fail(&c->f->d, definition, "'%s' has no probabilities", c->name);
    return cr_fail_hint(c->f->d.cx,
                        "give it a \"table\", or one of \"deterministic\", \"noisy-or\", "
                        "\"noisy-max\" and \"tree\"");
}

cr_status cri_json_cpd(cri_json_network *f, size_t v, json_t *definition)
{
    static const char *const KEYS[] = { "states",        "parents",    "table",
                                        "deterministic", "noisy-or",   "noisy-max",
                                        "tree",          "properties", NULL };
    cr_status                st = cri_json_keys(&f->d, definition, KEYS);
    return st == CR_OK ? cri_json_distribution(f, v, definition) : st;
}

cr_status cri_json_distribution(cri_json_network *f, size_t v, json_t *definition)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(f->d.cx);
    child      c = { .f = f, .s = &s, .v = v, .states = cr_network_states(f->net, v) };
    size_t    *parents = NULL, kind = 0;
    json_t    *list = json_object_get(definition, "parents");
    c.name = cr_variable_name(cr_network_variables(f->net), v);
    CR_TRY(find_kind(&c, definition, &kind));
    if (list) CR_TRY(cri_json_scope(f, &s, list, &c.n, &parents));
    c.parents = parents;
    st = KINDS[kind].rows ? cri_network_set_scope(f->d.cx, f->net, v, c.n, parents)
                          : cr_network_set_parents(f->d.cx, f->net, v, c.n, parents);
    CR_TRY(cri_json_place(&f->d, list ? list : definition, st));
    if (KINDS[kind].rows) CR_TRY(cri_json_entries(f, c.n, parents, &c.rows));
    json_t *value = json_object_get(definition, KINDS[kind].key);
    CR_TRY(KINDS[kind].read(&c, value));
    if (KINDS[kind].keep) CR_TRY(cri_network_keep(f->d.cx, f->net, v, value));
done:
    cr_scratch_end(&s);
    return st;
}
