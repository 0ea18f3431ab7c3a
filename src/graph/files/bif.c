/* bif.c -- two passes over the words of a file: variables first, then tables. */
#include "bif.h"
#include "network_text.h"
#include "base/context_internal.h"
#include "graph/network/noisy.h"
#include "base/scratch.h"

#include <stdio.h>
#include <string.h>

static const char MARKS[] = "{}()[],;|";

/* --- blocks ---------------------------------------------------------------------------------- */

/* A remark: what stands before the ';', without the quotes if it is one text. */
static cr_status read_property(cri_words *w, cr_network *net, size_t v)
{
    cr_status st = CR_OK;
    cri_names text = { 0 };
    cri_words_next(w);
    const char *from = w->now.from;
    bool        quoted = w->now.kind == CRI_TOKEN_TEXT;
    if (quoted) {
        const char *name = cri_words_name(w, "a text");
        if (!name) CR_TRY(w->r.status);
        CR_TRY(cri_names_add(w->r.cx, &text, name, strlen(name)));
    }
    quoted = quoted && cri_words_at(w, ';');
    while (w->now.kind != CRI_TOKEN_END && !cri_words_at(w, ';') && !cri_words_at(w, '}'))
        cri_words_next(w);
    if (!quoted) {
        cri_names_clear(w->r.cx, &text);
        CR_TRY(w->r.status);
        CR_TRY(cri_names_add(w->r.cx, &text, from,
                             w->last_end > from ? (size_t)(w->last_end - from) : 0));
    }
    CR_TRY(cri_words_expect(w, ';', "the property"));
    CR_TRY(cr_network_add_property(w->r.cx, net, v, text.name[0]));
done:
    cri_names_free(w->r.cx, &text);
    return st;
}

static cr_status read_network_block(cri_words *w, cr_network *net)
{
    cr_status   st = CR_OK;
    const char *name;
    cri_words_next(w);
    if (!cri_words_at(w, '{')) {
        name = cri_words_name(w, "the name of the network");
        if (!name) CR_TRY(w->r.status);
        if (strcmp(name, CRI_BIF_NO_NAME) != 0) CR_TRY(cr_network_set_name(w->r.cx, net, name));
    }
    CR_TRY(cri_words_expect(w, '{', "the name of the network"));
    while (!cri_words_take(w, '}')) {
        CR_TRY(w->r.status);
        if (!cri_words_is(w, "property"))
            CR_TRY(cri_words_fail(w, &w->now, "expected 'property' or '}' in the network block"));
        CR_TRY(read_property(w, net, CR_NONE));
    }
    CR_TRY(w->r.status);
done:
    return st;
}

/* type discrete [ 2 ] { yes, no }; */
static cr_status read_type(cri_words *w, cri_names *states)
{
    cr_status   st = CR_OK;
    cri_token   count = { 0 };
    double      announced = -1;
    const char *name;
    cri_words_next(w);
    if (!cri_words_is(w, "discrete"))
        CR_TRY(cri_words_fail(w, &w->now, "only variables of type discrete are supported"));
    cri_words_next(w);
    if (cri_words_take(w, '[')) {
        count = w->now;
        announced = cri_words_number(w, "the number of states");
        CR_TRY(cri_words_expect(w, ']', "the number of states"));
    }
    CR_TRY(cri_words_expect(w, '{', "the number of states"));
    while (!cri_words_at(w, '}')) {
        name = cri_words_name(w, "a state");
        if (!name) CR_TRY(w->r.status);
        CR_TRY(cri_names_add(w->r.cx, states, name, strlen(name)));
        cri_words_take(w, ',');
    }
    cri_words_next(w);
    CR_TRY(cri_words_expect(w, ';', "the states"));
    if (announced >= 0 && announced != (double)states->n)
        CR_TRY(cri_words_fail(w, &count, "%g states are declared, but %zu are listed", announced,
                              states->n));
done:
    return st;
}

/* The first pass adds the variable; its remarks come with the second, when all numbers are known.
 */
static cr_status read_variable(cri_words *w, cr_network *net, cri_places *places)
{
    cr_status   st = CR_OK;
    cri_names   states = { 0 }, name = { 0 };
    cri_token   at;
    bool        typed = false;
    const char *text;
    size_t      v = CR_NONE;
    cri_words_next(w);
    at = w->now;
    text = cri_words_name(w, "the name of a variable");
    if (!text) CR_TRY(w->r.status);
    CR_TRY(cri_names_add(w->r.cx, &name, text, strlen(text)));
    CR_TRY(cri_words_expect(w, '{', "the name of the variable"));
    while (!cri_words_take(w, '}')) {
        CR_TRY(w->r.status);
        if (cri_words_is(w, "type") && !typed) {
            CR_TRY(read_type(w, &states));
            CR_TRY(cri_words_place(w, &at,
                                   cr_network_add_variable(w->r.cx, net, name.name[0], states.n,
                                                           (const char *const *)states.name, &v)));
            CR_TRY(cri_places_set(w->r.cx, places, v, at.from));
            typed = true;
        } else if (cri_words_is(w, "property") && typed) {
            CR_TRY(read_property(w, net, v));
        } else if (cri_words_is(w, "property")) {
            CR_TRY(
                cri_words_fail(w, &w->now, "the type of a variable comes before its properties"));
        } else {
            CR_TRY(cri_words_fail(w, &w->now, "expected 'type', 'property' or '}' in a variable"));
        }
    }
    CR_TRY(w->r.status);
    if (!typed) CR_TRY(cri_words_fail(w, &at, "variable '%s' has no type", name.name[0]));
done:
    cri_names_free(w->r.cx, &states);
    cri_names_free(w->r.cx, &name);
    return st;
}

/* --- tables ---------------------------------------------------------------------------------- */

typedef struct table {
    cr_network *net;
    size_t      child, states, rows, n; /* n parents         */
    size_t     *parent;                 /* [n] of [capacity] */
    size_t      capacity;
    double     *value; /* [rows x states] */
    bool       *given; /* [rows] */
    double     *fallback;
    bool        has_fallback, whole; /* whole: a `table` was given */
} table;

static cr_status add_parent(cr_ctx *cx, table *t, size_t v)
{
    if (cri_array_grow(cx, &t->parent, t->n, &t->capacity, sizeof *t->parent) != CR_OK)
        return CR_ENOMEM;
    t->parent[t->n++] = v;
    return CR_OK;
}

static size_t read_variable_name(cri_words *w, const cr_network *net)
{
    cri_token   at = w->now;
    const char *name = cri_words_name(w, "the name of a variable");
    size_t      v = name ? cr_variable_lookup(cr_network_variables(net), name) : CR_NONE;
    if (name && v == CR_NONE) cri_words_no_variable(w, &at, net, name);
    return v;
}

/* ( child | parent, parent ) */
static cr_status read_head(cri_words *w, table *t, cri_places *places)
{
    cr_status st = CR_OK;
    cri_token at;
    cri_words_next(w);
    CR_TRY(cri_words_expect(w, '(', "'probability'"));
    at = w->now;
    t->child = read_variable_name(w, t->net);
    CR_TRY(w->r.status);
    if (cr_network_table(t->net, t->child).value)
        CR_TRY(cri_words_fail(w, &at, "'%s' has a table already",
                              cr_variable_name(cr_network_variables(t->net), t->child)));
    CR_TRY(cri_places_set(w->r.cx, places, t->child, at.from));
    if (!cri_words_take(w, '|')) cri_words_take(w, ',');
    while (!cri_words_at(w, ')')) {
        size_t v = read_variable_name(w, t->net);
        CR_TRY(w->r.status);
        CR_TRY(add_parent(w->r.cx, t, v));
        cri_words_take(w, ',');
    }
    cri_words_next(w);
    CR_TRY(
        cri_words_place(w, &at, cri_network_set_scope(w->r.cx, t->net, t->child, t->n, t->parent)));
    t->states = cr_network_states(t->net, t->child);
    t->rows = 1;
    for (size_t i = 0; i < t->n; i++) t->rows *= cr_network_states(t->net, t->parent[i]);
    CR_TRY(cri_words_expect(w, '{', "the variables"));
done:
    return st;
}

/* `count` numbers and a ';'.  *out_at: from the first to the last of them on its line. */
static cr_status read_numbers(cri_words *w, size_t count, double *out, cri_token *out_at)
{
    cr_status st = CR_OK;
    size_t    n = 0;
    *out_at = w->now;
    while (!cri_words_at(w, ';')) {
        cri_token t = w->now;
        double    x = cri_words_number(w, "a probability");
        CR_TRY(w->r.status);
        if (n < count) out[n] = x;
        n++;
        if (t.line == out_at->line) out_at->width = (size_t)(t.from + t.width - out_at->from);
        if (!cri_words_take(w, ',') && w->now.kind != CRI_TOKEN_WORD && !cri_words_at(w, ';'))
            CR_TRY(cri_words_expect(w, ';', "the probabilities"));
    }
    if (n != count)
        CR_TRY(cri_words_fail(w, out_at, "%zu probabilities where %zu should be", n, count));
    cri_words_next(w);
    CR_TRY(w->r.status);
done:
    return st;
}

static cr_status check_sum(cri_words *w, const cri_token *at, const double *p, size_t n,
                           size_t stride)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += p[i * stride];
    if (cri_sums_to_one(sum)) return CR_OK;
    return cri_words_fail(w, at, "probabilities sum to %.10g, expected 1", sum);
}

/* The row that (state, state, ...) names. */
static cr_status read_row_name(cri_words *w, const table *t, size_t *out_row)
{
    cr_status   st = CR_OK;
    cri_token   open = w->now, at;
    const char *name;
    size_t      n = 0, s;
    *out_row = 0;
    cri_words_next(w);
    for (; !cri_words_at(w, ')'); n++) {
        at = w->now;
        name = cri_words_name(w, "a state");
        if (!name) CR_TRY(w->r.status);
        if (n < t->n) {
            s = cr_state_lookup(cr_network_variables(t->net), t->parent[n], name);
            if (s == CR_NONE) CR_TRY(cri_words_no_state(w, &at, t->net, t->parent[n], name));
            *out_row = *out_row * cr_network_states(t->net, t->parent[n]) + s;
        }
        cri_words_take(w, ',');
    }
    if (n != t->n)
        CR_TRY(cri_words_fail(w, &open, "the row names %zu state%s, but there %s %zu parent%s", n,
                              n == 1 ? "" : "s", t->n == 1 ? "is" : "are", t->n,
                              t->n == 1 ? "" : "s"));
    cri_words_next(w);
done:
    return st;
}

static cr_status read_row(cri_words *w, table *t)
{
    cr_status st = CR_OK;
    cri_token name = w->now, at;
    size_t    row;
    CR_TRY(read_row_name(w, t, &row));
    if (t->given[row] || t->whole)
        CR_TRY(cri_words_fail(w, &name, "the probabilities of this row are given already"));
    CR_TRY(read_numbers(w, t->states, t->value + row * t->states, &at));
    CR_TRY(check_sum(w, &at, t->value + row * t->states, t->states, 1));
    t->given[row] = true;
done:
    return st;
}

/* Does the table sum to one over the child, if `stride` lies between its states? */
static bool sums_with_stride(const table *t, const double *p, size_t stride)
{
    for (size_t row = 0; row < t->rows; row++) {
        double sum = 0;
        for (size_t s = 0; s < t->states; s++)
            sum += p[stride == 1 ? row * t->states + s : s * stride + row];
        if (!cri_sums_to_one(sum)) return false;
    }
    return true;
}

/* All probabilities at once, the child running slowest. */
static cr_status read_whole(cri_words *w, table *t)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(w->r.cx);
    cri_token  at = w->now;
    double    *p = cr_scratch_f64(&s, t->rows * t->states);
    CR_TRY(s.status);
    for (size_t row = 0; row < t->rows; row++)
        if (t->given[row] || t->whole)
            CR_TRY(cri_words_fail(w, &at, "the probabilities are given already"));
    cri_words_next(w);
    CR_TRY(read_numbers(w, t->rows * t->states, p, &at));
    bool slowest = sums_with_stride(t, p, t->rows);
    if (!slowest && t->n > 0 && sums_with_stride(t, p, 1)) {
        cr_log(w->r.cx, CR_LOG_WARNING,
               "%s:%zu: the table of '%s' is read row by row, since only then do its probabilities "
               "sum to 1",
               w->r.source, at.line, cr_variable_name(cr_network_variables(t->net), t->child));
        memcpy(t->value, p, t->rows * t->states * sizeof *p);
    } else {
        for (size_t row = 0; row < t->rows; row++) {
            CR_TRY(check_sum(w, &at, p + row, t->states, t->rows));
            for (size_t k = 0; k < t->states; k++)
                t->value[row * t->states + k] = p[k * t->rows + row];
        }
    }
    t->whole = true;
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status read_entry(cri_words *w, table *t)
{
    cr_status st = CR_OK;
    cri_token at = w->now;
    if (cri_words_at(w, '(')) return read_row(w, t);
    if (cri_words_is(w, "table")) return read_whole(w, t);
    if (cri_words_is(w, "property")) return read_property(w, t->net, t->child);
    if (cri_words_is(w, "default")) {
        if (t->has_fallback) return cri_words_fail(w, &at, "there is a default already");
        cri_words_next(w);
        CR_TRY(read_numbers(w, t->states, t->fallback, &at));
        CR_TRY(check_sum(w, &at, t->fallback, t->states, 1));
        t->has_fallback = true;
    } else {
        st = cri_words_fail(w, &at,
                            w->now.kind == CRI_TOKEN_END
                                ? "the file ends within a probability block"
                                : "expected a row, 'table', 'default' or '}'");
    }
done:
    return st;
}

/* Rows that were not given get the default. */
static cr_status fill_rows(cri_words *w, const cri_token *at, table *t)
{
    for (size_t row = 0; row < t->rows && !t->whole; row++) {
        if (t->given[row]) continue;
        if (!t->has_fallback) {
            char        text[512];
            size_t      used = 0, below = t->rows, rest = row;
            const char *name = cr_variable_name(cr_network_variables(t->net), t->child);
            for (size_t i = 0; i < t->n && used < sizeof text - 1; i++) {
                below /= cr_network_states(t->net, t->parent[i]);
                used += (size_t)snprintf(
                    text + used, sizeof text - used, "%s%s", i ? ", " : "",
                    cr_state_name(cr_network_variables(t->net), t->parent[i], rest / below));
                rest %= below;
            }
            return t->n ? cri_words_fail(w, at, "the row (%s) of '%s' is missing", text, name)
                        : cri_words_fail(w, at, "the table of '%s' is missing", name);
        }
        memcpy(t->value + row * t->states, t->fallback, t->states * sizeof *t->value);
    }
    return CR_OK;
}

static cr_status read_probability(cri_words *w, cr_network *net, cri_places *places)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(w->r.cx);
    table      t = { .net = net };
    cri_token  head = w->now, last;
    CR_TRY(read_head(w, &t, places));
    t.value = cr_scratch_f64(&s, t.rows * t.states);
    t.given = cr_scratch_bytes(&s, t.rows, sizeof *t.given);
    t.fallback = cr_scratch_f64(&s, t.states);
    CR_TRY(s.status);
    while (!cri_words_at(w, '}')) CR_TRY(read_entry(w, &t));
    last = w->now;
    cri_words_next(w);
    CR_TRY(fill_rows(w, &last, &t));
    CR_TRY(cri_words_place(w, &head, cr_network_set_table(w->r.cx, net, t.child, t.value)));
    CR_TRY(w->r.status);
done:
    cr_free(w->r.cx, t.parent, t.capacity, sizeof *t.parent);
    cr_scratch_end(&s);
    return st;
}

/* --- the file -------------------------------------------------------------------------------- */

/* One pass: variables (and the network's own block), or tables. */
static cr_status read_blocks(cri_words *w, cr_network *net, cri_places *places, bool tables)
{
    cr_status st = w->r.status;
    while (st == CR_OK && w->now.kind != CRI_TOKEN_END) {
        bool network = cri_words_is(w, "network"), variable = cri_words_is(w, "variable");
        if (!network && !variable && !cri_words_is(w, "probability"))
            return cri_words_fail(w, &w->now, "expected 'network', 'variable' or 'probability'");
        if ((network || variable) == tables)
            st = cri_words_skip_block(w);
        else
            st = network    ? read_network_block(w, net)
                 : variable ? read_variable(w, net, places)
                            : read_probability(w, net, places);
    }
    return st == CR_OK ? w->r.status : st;
}

cr_status cr_bif_parse(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                       cr_network **out_net)
{
    cr_status   st = CR_OK;
    cr_network *net = NULL;
    cri_places  places = { 0 };
    cri_words   first = cri_words_open(cx, source, bytes, size, MARKS, '/'), second = first;
    CR_TRY(first.r.status);
    CR_TRY(cr_network_new(cx, CR_NETWORK_BAYES, &net));
    CR_TRY(read_blocks(&first, net, &places, false));
    if (cr_network_size(net) == 0)
        CR_TRY(cri_words_fail(&second, &second.now, "there are no variables in the file"));
    CR_TRY(read_blocks(&second, net, &places, true));
    CR_TRY(cri_check_placed(&second.r, net, &places));
    *out_net = net;
    net = NULL;
done:
    cri_places_free(cx, &places);
    cri_words_close(&first);
    cri_words_close(&second);
    cr_network_free(cx, net);
    return st;
}
