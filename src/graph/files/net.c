/* net.c -- two passes over the words of a file: nodes first, then potentials. */
#include "net.h"
#include "network_text.h"
#include "graph/network/noisy.h"
#include "base/context_internal.h"
#include "base/number.h"

#include <stdio.h>
#include <string.h>

static const char MARKS[] = "{}()=;|,";

typedef struct net_file {
    cri_words   w;
    cr_network *net;
    cri_places  places;
    cri_names   ids; /* the identifier of each variable, in order */
} net_file;

static size_t find_id(const net_file *f, const char *id)
{
    size_t v = cr_variable_lookup(cr_network_variables(f->net), id);
    if (v != CR_NONE && strcmp(f->ids.name[v], id) == 0) return v;
    for (v = 0; v < f->ids.n; v++) /* only names that are no identifiers differ */
        if (strcmp(f->ids.name[v], id) == 0) return v;
    return CR_NONE;
}

/* --- fields ---------------------------------------------------------------------------------- */

/* Goes over a value, a ';' behind it. */
static cr_status skip_value(cri_words *w)
{
    cri_token begin = w->now;
    while (!cri_words_at(w, ';')) {
        if (w->now.kind == CRI_TOKEN_END || cri_words_at(w, '}') || cri_words_at(w, '{'))
            return cri_words_fail(w, &begin, "expected ';' after this value");
        cri_words_next(w);
    }
    cri_words_next(w);
    return w->r.status;
}

/* field = value; as a remark about v, as it is written. */
static cr_status keep_field(net_file *f, size_t v)
{
    cr_status   st = CR_OK;
    cri_words  *w = &f->w;
    const char *from = w->now.from;
    char       *text = NULL;
    CR_TRY(skip_value(w));
    const char *end = w->last_end - 1; /* of the ';' */
    while (end > from && (end[-1] == ' ' || end[-1] == '\n' || end[-1] == '\r' || end[-1] == '\t'))
        end--;
    text = cri_string_copy_n(w->r.cx, from, (size_t)(end - from));
    if (!text) CR_TRY(CR_ENOMEM);
    CR_TRY(cr_network_add_property(w->r.cx, f->net, v, text));
done:
    cri_string_free(w->r.cx, text);
    return st;
}

/* name '=' */
static cr_status read_field_name(cri_words *w, cri_token *out_name)
{
    *out_name = w->now;
    if (w->now.kind != CRI_TOKEN_WORD)
        return cri_words_fail(w, &w->now,
                              w->now.kind == CRI_TOKEN_END ? "the file ends within a block"
                                                           : "expected a field or '}'");
    cri_words_next(w);
    return cri_words_expect(w, '=', "the name of a field");
}

static bool token_is(const cri_token *t, const char *word)
{
    return t->length == strlen(word) && memcmp(t->text, word, t->length) == 0;
}

static void rewind_to(cri_words *w, const cri_token *t)
{
    w->r.at = t->from;
    w->r.line = t->line;
    w->r.line_begin = t->line_begin;
    cri_words_next(w);
}

/* Keeps the fields of a block without any of its own; in the second pass only goes over them. */
static cr_status read_net_block(net_file *f)
{
    cr_status  st = CR_OK;
    cri_words *w = &f->w;
    cri_token  field;
    cri_words_next(w);
    CR_TRY(cri_words_expect(w, '{', "'net'"));
    while (!cri_words_take(w, '}')) {
        CR_TRY(read_field_name(w, &field));
        if (token_is(&field, "name") && w->now.kind == CRI_TOKEN_TEXT) {
            const char *name = cri_words_name(w, "a name");
            if (!name) CR_TRY(w->r.status);
            CR_TRY(cr_network_set_name(w->r.cx, f->net, name));
            CR_TRY(cri_words_expect(w, ';', "the name"));
            continue;
        }
        rewind_to(w, &field);
        CR_TRY(keep_field(f, CR_NONE));
    }
    CR_TRY(w->r.status);
done:
    return st;
}

/* --- nodes ----------------------------------------------------------------------------------- */

/* ( "yes" "no" ); */
static cr_status read_states(cri_words *w, cri_names *states)
{
    cr_status   st = CR_OK;
    const char *name;
    CR_TRY(cri_words_expect(w, '(', "'states ='"));
    while (!cri_words_at(w, ')')) {
        name = cri_words_name(w, "a state");
        if (!name) CR_TRY(w->r.status);
        CR_TRY(cri_names_add(w->r.cx, states, name, strlen(name)));
    }
    cri_words_next(w);
    CR_TRY(cri_words_expect(w, ';', "the states"));
done:
    return st;
}

/* First time: the states and the name.  Second time: the other fields as remarks about v. */
static cr_status read_node_fields(net_file *f, size_t v, cri_names *states, cri_names *name)
{
    cr_status   st = CR_OK;
    cri_words  *w = &f->w;
    cri_token   field;
    const char *text;
    while (!cri_words_take(w, '}')) {
        CR_TRY(read_field_name(w, &field));
        if (v == CR_NONE && token_is(&field, "states")) {
            if (states->n > 0) CR_TRY(cri_words_fail(w, &field, "the states are given already"));
            CR_TRY(read_states(w, states));
        } else if (v == CR_NONE && token_is(&field, CRI_NET_NAME_FIELD)) {
            text = cri_words_name(w, "a name");
            if (!text) CR_TRY(w->r.status);
            cri_names_clear(w->r.cx, name);
            CR_TRY(cri_names_add(w->r.cx, name, text, strlen(text)));
            CR_TRY(cri_words_expect(w, ';', "the name"));
        } else if (v == CR_NONE || token_is(&field, "states") ||
                   token_is(&field, CRI_NET_NAME_FIELD)) {
            CR_TRY(skip_value(w));
        } else {
            rewind_to(w, &field);
            CR_TRY(keep_field(f, v));
        }
    }
    CR_TRY(w->r.status);
done:
    return st;
}

static cr_status read_node(net_file *f)
{
    cr_status   st = CR_OK;
    cri_words  *w = &f->w;
    cr_ctx     *cx = w->r.cx;
    cri_names   states = { 0 }, name = { 0 };
    cri_token   at, body;
    const char *id;
    size_t      v = CR_NONE;
    cri_words_next(w);
    at = w->now;
    id = cri_words_name(w, "the name of a node");
    if (!id) CR_TRY(w->r.status);
    if (find_id(f, id) != CR_NONE) CR_TRY(cri_words_fail(w, &at, "there are two nodes '%s'", id));
    CR_TRY(cri_names_add(cx, &name, id, strlen(id)));
    CR_TRY(cri_names_add(cx, &f->ids, id, strlen(id)));
    body = w->now;
    CR_TRY(cri_words_expect(w, '{', "the name of the node"));
    CR_TRY(read_node_fields(f, CR_NONE, &states, &name));
    CR_TRY(cri_words_place(w, &at,
                           cr_network_add_variable(cx, f->net, name.name[0], states.n,
                                                   (const char *const *)states.name, &v)));
    CR_TRY(cri_places_set(cx, &f->places, v, at.from));
    rewind_to(w, &body);
    cri_words_next(w);
    CR_TRY(read_node_fields(f, v, &states, &name));
done:
    cri_names_free(cx, &states);
    cri_names_free(cx, &name);
    return st;
}

/* --- potentials ------------------------------------------------------------------------------ */

static size_t read_id(net_file *f)
{
    cri_token   at = f->w.now;
    const char *id = cri_words_name(&f->w, "the name of a node");
    size_t      v = id ? find_id(f, id) : CR_NONE;
    if (id && v == CR_NONE) cri_words_no_variable(&f->w, &at, f->net, id);
    return v;
}

/* (child | parent parent) */
static cr_status read_head(net_file *f, size_t *out_child)
{
    cr_status   st = CR_OK;
    cri_words  *w = &f->w;
    cri_token   at;
    cri_numbers parents = { 0 };
    size_t     *scope = NULL, n = 0;
    cri_words_next(w);
    CR_TRY(cri_words_expect(w, '(', "'potential'"));
    at = w->now;
    *out_child = read_id(f);
    CR_TRY(w->r.status);
    if (cr_network_table(f->net, *out_child).value)
        CR_TRY(cri_words_fail(w, &at, "'%s' has a potential already", f->ids.name[*out_child]));
    CR_TRY(cri_places_set(w->r.cx, &f->places, *out_child, at.from));
    if (!cri_words_at(w, '|') && !cri_words_at(w, ')'))
        CR_TRY(
            cri_words_fail(w, &w->now, "a potential of several nodes together is not supported"));
    if (cri_words_take(w, '|'))
        while (!cri_words_at(w, ')')) {
            size_t v = read_id(f);
            CR_TRY(w->r.status);
            CR_TRY(cri_numbers_add(w->r.cx, &parents, (double)v));
        }
    n = parents.n;
    cri_words_next(w);
    scope = cr_alloc(w->r.cx, n + 1, sizeof *scope);
    if (!scope) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < n; i++) scope[i] = (size_t)parents.value[i];
    CR_TRY(cri_words_place(w, &at, cri_network_set_scope(w->r.cx, f->net, *out_child, n, scope)));
    CR_TRY(cri_words_expect(w, '{', "the nodes of the potential"));
done:
    cr_free(w->r.cx, scope, n + 1, sizeof *scope);
    cri_numbers_free(w->r.cx, &parents);
    return st;
}

/* Numbers in lists within lists; a row that does not sum to one is shown, if their number is right.
 */
static cr_status read_data(net_file *f, size_t child, cri_numbers *out)
{
    cr_status  st = CR_OK;
    cri_words *w = &f->w;
    cri_token  row = w->now, begin = w->now, wrong = w->now;
    size_t     depth = 0, states = cr_network_states(f->net, child);
    double     sum = 0, wrong_sum = 1, ignored;
    if (!cri_words_at(w, '(')) CR_TRY(cri_words_expect(w, '(', "'data ='"));
    do {
        cri_token t = w->now;
        if (cri_words_at(w, '(') || cri_words_at(w, ')')) {
            if (cri_words_at(w, '('))
                depth++;
            else
                depth--;
            cri_words_next(w);
            continue;
        }
        if (t.kind == CRI_TOKEN_WORD && t.text[0] >= 'A' &&
            cri_parse_double(t.text, t.text + t.length, &ignored) != t.length)
            CR_TRY(cri_words_fail(w, &t, "tables made by expressions are not supported"));
        if (out->n % states == 0) row = t, sum = 0;
        CR_TRY(cri_numbers_add(w->r.cx, out, cri_words_number(w, "a probability")));
        CR_TRY(w->r.status);
        sum += out->value[out->n - 1];
        if (t.line == row.line) row.width = (size_t)(t.from + t.width - row.from);
        if (out->n % states == 0 && !cri_sums_to_one(sum) && cri_sums_to_one(wrong_sum))
            wrong = row, wrong_sum = sum;
    } while (depth > 0 && w->r.status == CR_OK);
    CR_TRY(w->r.status);
    double        size = (double)states;
    size_t        n;
    const size_t *parents = cr_network_parents(f->net, child, &n);
    for (size_t i = 0; i < n; i++) size *= (double)cr_network_states(f->net, parents[i]);
    if ((double)out->n != size)
        CR_TRY(cri_words_fail(w, &begin, "%zu probabilities where %.0f should be", out->n, size));
    if (!cri_sums_to_one(wrong_sum))
        CR_TRY(cri_words_fail(w, &wrong, "probabilities sum to %.10g, expected 1", wrong_sum));
    CR_TRY(cri_words_expect(w, ';', "the data"));
done:
    return st;
}

/* Without data all states are equally probable. */
static cr_status fill_uniform(net_file *f, size_t child, cri_numbers *out)
{
    cr_status     st = CR_OK;
    size_t        n, states = cr_network_states(f->net, child), size = states;
    const size_t *parents = cr_network_parents(f->net, child, &n);
    for (size_t i = 0; i < n; i++) size *= cr_network_states(f->net, parents[i]);
    cr_log(f->w.r.cx, CR_LOG_WARNING,
           "the potential of '%s' has no data: its states are assumed to be equally probable",
           cr_variable_name(cr_network_variables(f->net), child));
    for (size_t i = 0; i < size && st == CR_OK; i++)
        st = cri_numbers_add(f->w.r.cx, out, 1 / (double)states);
    return st;
}

static cr_status read_potential(net_file *f)
{
    cr_status   st = CR_OK;
    cri_words  *w = &f->w;
    cri_token   head = w->now, field;
    cri_numbers data = { 0 };
    size_t      child = CR_NONE;
    CR_TRY(read_head(f, &child));
    while (!cri_words_take(w, '}')) {
        CR_TRY(read_field_name(w, &field));
        if (token_is(&field, "data")) {
            if (data.n > 0) CR_TRY(cri_words_fail(w, &field, "the data are given already"));
            CR_TRY(read_data(f, child, &data));
        } else if (token_is(&field, "model_nodes") || token_is(&field, "model_data")) {
            CR_TRY(cri_words_fail(w, &field, "tables made by expressions are not supported"));
        } else {
            rewind_to(w, &field);
            CR_TRY(keep_field(f, child));
        }
    }
    CR_TRY(w->r.status);
    if (data.n == 0) CR_TRY(fill_uniform(f, child, &data));
    CR_TRY(cri_words_place(w, &head, cr_network_set_table(w->r.cx, f->net, child, data.value)));
done:
    cri_numbers_free(w->r.cx, &data);
    return st;
}

/* --- the file -------------------------------------------------------------------------------- */

static cr_status refuse_block(net_file *f)
{
    static const char *const KINDS[] = { "decision", "utility", "continuous", "function",
                                         "instance" };
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (cri_words_is(&f->w, KINDS[i]))
            return cri_words_fail(&f->w, &f->w.now,
                                  "%s nodes are not supported, only chance nodes "
                                  "with states",
                                  KINDS[i]);
    return cri_words_fail(&f->w, &f->w.now, "expected 'net', 'node' or 'potential'");
}

/* One pass: nodes (and the net's own block), or potentials. */
static cr_status read_blocks(net_file *f, bool potentials)
{
    cri_words *w = &f->w;
    cr_status  st = w->r.status;
    bool class = false;
    while (st == CR_OK && w->now.kind != CRI_TOKEN_END) {
        bool net = cri_words_is(w, "net"), node = cri_words_is(w, "node");
        if (cri_words_is(w, "discrete") || (class && cri_words_at(w, '}'))) {
            cri_words_next(w);
        } else if (cri_words_is(w, "class") && !class) { /* its blocks are within one */
            class = true;
            cri_words_next(w);
            if (!cri_words_name(w, "the name of the class")) return w->r.status;
            st = cri_words_expect(w, '{', "the name of the class");
        } else if (!net && !node && !cri_words_is(w, "potential")) {
            cri_token field = w->now;
            if (!class || field.kind != CRI_TOKEN_WORD) return refuse_block(f);
            cri_words_next(w);
            if (!cri_words_at(w, '=')) return rewind_to(w, &field), refuse_block(f);
            st = skip_value(w);
        } else if ((net || node) == potentials) {
            st = cri_words_skip_block(w);
        } else {
            st = net ? read_net_block(f) : node ? read_node(f) : read_potential(f);
        }
    }
    return st == CR_OK ? w->r.status : st;
}

cr_status cr_net_parse(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                       cr_network **out_net)
{
    cr_status st = CR_OK;
    net_file  f = { .w = cri_words_open(cx, source, bytes, size, MARKS, '%') };
    cri_token first = f.w.now;
    CR_TRY(f.w.r.status);
    CR_TRY(cr_network_new(cx, CR_NETWORK_BAYES, &f.net));
    CR_TRY(read_blocks(&f, false));
    if (cr_network_size(f.net) == 0)
        CR_TRY(cri_words_fail(&f.w, &first, "there are no nodes in the file"));
    rewind_to(&f.w, &first);
    CR_TRY(read_blocks(&f, true));
    CR_TRY(cri_check_placed(&f.w.r, f.net, &f.places));
    *out_net = f.net;
    f.net = NULL;
done:
    cri_words_close(&f.w);
    cri_names_free(cx, &f.ids);
    cri_places_free(cx, &f.places);
    cr_network_free(cx, f.net);
    return st;
}
