/* json_write.c -- networks written as JSON: parameters where they are known, else tables. */
#include "json_write.h"
#include "json_network.h"
#include "graph/network/network_internal.h"
#include "base/utf8.h"

#include <string.h>

enum { LONG_TABLE = 256 }; /* entries of a factor beyond which it is a list without names */

/* --- values ---------------------------------------------------------------------------------- */

void cri_put_json_text(cri_writer *w, const char *text)
{
    cri_put(w, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') cri_put(w, "\\");
        if ((unsigned char)*text < 0x20)
            cri_put_format(w, "\\u%04x", (unsigned)*text);
        else
            cri_put_n(w, text, 1);
    }
    cri_put(w, "\"");
}

/* A new line and so many blanks. */
static void put_line(cri_writer *w, size_t indent)
{
    cri_put(w, "\n");
    while (indent-- > 0) cri_put(w, " ");
}

/* Containers that hold none but flat ones, and few of these, stand on one line. */
static bool is_flat(json_t *value, size_t depth)
{
    const char *key;
    json_t     *item;
    size_t      i;
    if (!json_is_object(value) && !json_is_array(value)) return true;
    if (depth == 0 || (depth == 1 && json_object_size(value) > 4)) return false;
    json_object_foreach(value, key, item) if (!is_flat(item, depth - 1)) return false;
    json_array_foreach(value, i, item) if (!is_flat(item, depth - 1)) return false;
    return true;
}

static void put_scalar(cri_writer *w, const json_t *value)
{
    if (json_is_string(value))
        cri_put_json_text(w, json_string_value(value));
    else if (json_is_number(value))
        cri_put_number(w, json_number_value(value));
    else
        cri_put(w, json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null");
}

/* A value; its lines after the first begin with `indent` blanks. */
static void put_json(cri_writer *w, json_t *value, size_t indent)
{
    bool        object = json_is_object(value), flat = is_flat(value, 2), first = true;
    const char *key;
    json_t     *item;
    size_t      i;
    if (!object && !json_is_array(value)) {
        put_scalar(w, value);
        return;
    }
    cri_put(w, object ? "{" : "[");
    json_object_foreach(value, key, item)
    {
        if (!first) cri_put(w, flat ? ", " : ",");
        if (!flat) put_line(w, indent + 2);
        first = false;
        cri_put_json_text(w, key);
        cri_put(w, ": ");
        put_json(w, item, indent + 2);
    }
    json_array_foreach(value, i, item)
    {
        if (!first) cri_put(w, flat ? ", " : ",");
        if (!flat) put_line(w, indent + 2);
        first = false;
        put_json(w, item, indent + 2);
    }
    if (!flat) put_line(w, indent);
    cri_put(w, object ? "}" : "]");
}

/* --- names and rows -------------------------------------------------------------------------- */

cr_status cri_json_check_names(cr_ctx *cx, const cr_variables *vs)
{
    for (size_t v = 0; v < cr_variables_count(vs); v++) {
        bool valid = cri_utf8_valid(cr_variable_name(vs, v));
        for (size_t s = 0; valid && s < cr_variable_states(vs, v); s++)
            valid = cri_utf8_valid(cr_state_name(vs, v, s));
        if (!valid)
            return cr_fail(cx, CR_EDATA,
                           "JSON must be UTF-8, but the name '%s' or one of its states is not",
                           cr_variable_name(vs, v));
    }
    return CR_OK;
}

static void put_names(cri_writer *w, const cr_variables *vs, size_t n, const size_t *list)
{
    cri_put(w, "[");
    for (size_t i = 0; i < n; i++) {
        if (i) cri_put(w, ", ");
        cri_put_json_text(w, cr_variable_name(vs, list[i]));
    }
    cri_put(w, "]");
}

static void put_states(cri_writer *w, const cr_variables *vs, size_t v)
{
    cri_put(w, "[");
    for (size_t s = 0; s < cr_variable_states(vs, v); s++) {
        if (s) cri_put(w, ", ");
        cri_put_json_text(w, cr_state_name(vs, v, s));
    }
    cri_put(w, "]");
}

/* One character within a JSON text. */
static void put_char(cri_writer *w, char c)
{
    if (c == '"' || c == '\\') cri_put(w, "\\");
    if ((unsigned char)c < 0x20)
        cri_put_format(w, "\\u%04x", (unsigned)c);
    else
        cri_put_n(w, &c, 1);
}

/* A state in a key of several: in quotes where a comma, a quote or a blank at its ends needs it. */
static void put_key_state(cri_writer *w, const char *name)
{
    size_t n = strlen(name);
    bool   quotes =
        strpbrk(name, ",\"\t") || name[0] == ' ' || name[0] == '!' || (n > 0 && name[n - 1] == ' ');
    if (quotes) put_char(w, '"');
    for (; *name; name++) {
        if (quotes && *name == '"') put_char(w, '"');
        put_char(w, *name);
    }
    if (quotes) put_char(w, '"');
}

/* "yes, no": the states of entry e; of one variable its state as it is. */
static void put_key(cri_writer *w, const cr_variables *vs, size_t n, const size_t *scope, size_t e)
{
    size_t below = 1;
    if (n == 1) {
        cri_put_json_text(w, cr_state_name(vs, scope[0], e));
        return;
    }
    for (size_t i = 0; i < n; i++) below *= cr_variable_states(vs, scope[i]);
    cri_put(w, "\"");
    for (size_t i = 0; i < n; i++) {
        below /= cr_variable_states(vs, scope[i]);
        if (i) cri_put(w, ", ");
        put_key_state(w, cr_state_name(vs, scope[i], e / below));
        e %= below;
    }
    cri_put(w, "\"");
}

static void put_numbers(cri_writer *w, size_t n, const double *x)
{
    cri_put(w, "[");
    for (size_t i = 0; i < n; i++) {
        if (i) cri_put(w, ", ");
        cri_put_number(w, x[i]);
    }
    cri_put(w, "]");
}

/* --- Bayesian networks ----------------------------------------------------------------------- */

/* The state that has probability 1. */
static const char *certain_state(const cr_variables *vs, size_t v, const double *row)
{
    size_t s = 0;
    while (row[s] != 1) s++;
    return cr_state_name(vs, v, s);
}

static bool is_certain(const cr_table_view *t, size_t states)
{
    for (size_t row = 0; row < t->size; row += states) {
        bool one = false;
        for (size_t s = 0; s < states; s++) one |= t->value[row + s] == 1;
        if (!one) return false;
    }
    return true;
}

/* Rows, or the states that are certain. */
static void put_rows(cri_writer *w, const cr_variables *vs, const cr_table_view *t, bool certain,
                     size_t indent)
{
    size_t v = t->scope[t->n - 1], states = cr_variable_states(vs, v), rows = t->size / states;
    if (t->n > 1) cri_put(w, "{");
    for (size_t row = 0; row < rows; row++) {
        const double *p = t->value + row * states;
        if (t->n > 1) {
            if (row) cri_put(w, ",");
            put_line(w, indent + 2);
            put_key(w, vs, t->n - 1, t->scope, row);
            cri_put(w, ": ");
        }
        if (certain)
            cri_put_json_text(w, certain_state(vs, v, p));
        else
            put_numbers(w, states, p);
    }
    if (t->n > 1) {
        put_line(w, indent);
        cri_put(w, "}");
    }
}

/* The parameters as they were given; false when that is not known. */
static bool put_source(cri_writer *w, const cr_table_view *t, size_t indent)
{
    json_t *parameters = t->source ? json_loads(t->source, JSON_DECODE_ANY, NULL) : NULL;
    if (!parameters) return false;
    put_json(w, parameters, indent);
    json_decref(parameters);
    return true;
}

/* "parent": what, */
static void put_member(cri_writer *w, const char *name, bool first)
{
    if (!first) cri_put(w, ", ");
    cri_put_json_text(w, name);
    cri_put(w, ": ");
}

/* {"leak": p, "strengths": {...}, "on": {...}} */
static void put_noisy_or(cri_writer *w, const cr_variables *vs, const cri_table *t)
{
    const double *p = t->noisy.effect;
    cri_put(w, "{\"leak\": ");
    cri_put_number(w, p[1]);
    cri_put(w, ", \"strengths\": {");
    for (size_t i = 0; i + 1 < t->n; i++) {
        put_member(w, cr_variable_name(vs, t->scope[i]), i == 0);
        cri_put_number(w, p[3 + 4 * i] > p[5 + 4 * i] ? p[3 + 4 * i] : p[5 + 4 * i]);
    }
    cri_put(w, "}, \"on\": {");
    for (size_t i = 0; i < t->n; i++) {
        bool child = i + 1 == t->n, first = child ? t->noisy.falling : p[3 + 4 * i] > p[5 + 4 * i];
        put_member(w, cr_variable_name(vs, t->scope[i]), i == 0);
        cri_put_json_text(w, cr_state_name(vs, t->scope[i], !first));
    }
    cri_put(w, "}}");
}

/* {"leak": row, "effects": {"parent": {"state": row}}} */
static void put_noisy_max(cri_writer *w, const cr_variables *vs, const cri_table *t)
{
    const double *p = t->noisy.effect;
    cri_put(w, "{\"leak\": ");
    put_numbers(w, t->noisy.levels, p);
    cri_put(w, ", \"effects\": {");
    for (size_t i = 0; i + 1 < t->n; i++) {
        put_member(w, cr_variable_name(vs, t->scope[i]), i == 0);
        cri_put(w, "{");
        for (size_t s = 0; s < cr_variable_states(vs, t->scope[i]); s++) {
            put_member(w, cr_state_name(vs, t->scope[i], s), s == 0);
            put_numbers(w, t->noisy.levels, p += t->noisy.levels);
        }
        cri_put(w, "}");
    }
    cri_put(w, "}}");
}

static void put_cpd(cri_writer *w, const cr_network *net, const cr_table_view *t, size_t indent)
{
    const cr_variables *vs = cr_network_variables(net);
    const cri_table    *inside = &net->table[t->scope[t->n - 1]];
    size_t              states = cr_variable_states(vs, t->scope[t->n - 1]);
    bool                certain = t->kind == CR_CPD_DETERMINISTIC && is_certain(t, states);
    bool                noisy = inside->noisy.effect != NULL,
         known = noisy || (t->source && t->kind == CR_CPD_TREE);
    put_line(w, indent);
    cri_put_json_text(w, known || certain ? cri_cpd_name(t->kind) : "table");
    cri_put(w, ": ");
    if (known && put_source(w, t, indent)) return;
    if (noisy)
        (t->kind == CR_CPD_NOISY_OR ? put_noisy_or : put_noisy_max)(w, vs, inside);
    else
        put_rows(w, vs, t, certain, indent);
}

/* Remarks about v, or about the network; a comma before them. */
void cri_put_json_properties(cri_writer *w, const cr_network *net, size_t v, size_t indent)
{
    size_t n = 0, whose;
    for (size_t i = 0; i < cr_network_properties(net); i++) {
        const char *text = cr_network_property(net, i, &whose);
        if (whose != v) continue;
        if (n == 0) {
            cri_put(w, ",");
            put_line(w, indent);
            cri_put(w, "\"properties\": [");
        }
        if (n++) cri_put(w, ", ");
        cri_put_json_text(w, text);
    }
    if (n) cri_put(w, "]");
}

void cri_put_json_states(cri_writer *w, const cr_variables *vs, size_t v)
{
    put_line(w, 6);
    cri_put(w, "\"states\": ");
    put_states(w, vs, v);
    cri_put(w, ",");
}

void cri_put_json_definition(cri_writer *w, const cr_network *net, size_t v, size_t indent)
{
    cr_table_view t = cr_network_table(net, v);
    if (t.n > 1) {
        put_line(w, indent);
        cri_put(w, "\"parents\": ");
        put_names(w, cr_network_variables(net), t.n - 1, t.scope);
        cri_put(w, ",");
    }
    put_cpd(w, net, &t, indent);
}

static void put_bayes_variable(cri_writer *w, const cr_network *net, size_t v)
{
    cri_put(w, "{");
    cri_put_json_states(w, cr_network_variables(net), v);
    cri_put_json_definition(w, net, v, 6);
    cri_put_json_properties(w, net, v, 6);
    put_line(w, 4);
    cri_put(w, "}");
}

/* --- Markov networks ------------------------------------------------------------------------- */

static bool is_features(const cr_table_view *t)
{
    return t->kind == CR_CPD_LOG_LINEAR && t->source;
}

static void put_factor(cri_writer *w, const cr_variables *vs, const cr_table_view *t)
{
    cri_put(w, "{\"scope\": ");
    put_names(w, vs, t->n, t->scope);
    cri_put(w, ", \"table\": ");
    if (t->n == 0 || t->size > LONG_TABLE) {
        put_numbers(w, t->size, t->value);
    } else {
        cri_put(w, "{");
        for (size_t e = 0; e < t->size; e++) {
            if (e) cri_put(w, ", ");
            put_key(w, vs, t->n, t->scope, e);
            cri_put(w, ": ");
            cri_put_number(w, t->value[e]);
        }
        cri_put(w, "}");
    }
    cri_put(w, "}");
}

/* The items of the list of features of a table. */
static size_t put_features(cri_writer *w, const cr_table_view *t, size_t before)
{
    json_t *list = json_loads(t->source, 0, NULL), *item;
    size_t  i;
    json_array_foreach(list, i, item)
    {
        cri_put(w, before++ ? "," : "");
        put_line(w, 4);
        put_json(w, item, 4);
    }
    json_decref(list);
    return before;
}

/* One of the two lists, if anything is on it. */
static void put_tables(cri_writer *w, const cr_network *net, bool features)
{
    const cr_variables *vs = cr_network_variables(net);
    size_t              n = 0;
    bool                begun = false;
    for (size_t i = 0; i < cr_network_tables(net); i++) {
        cr_table_view t = cr_network_table(net, i);
        if (is_features(&t) != features) continue;
        if (!begun) {
            begun = true;
            cri_put(w, ",");
            put_line(w, 2);
            cri_put(w, features ? "\"features\": [" : "\"factors\": [");
        }
        if (features) {
            n = put_features(w, &t, n);
            continue;
        }
        cri_put(w, n++ ? "," : "");
        put_line(w, 4);
        put_factor(w, vs, &t);
    }
    if (!begun) return;
    put_line(w, 2);
    cri_put(w, "]");
}

static bool has_properties(const cr_network *net, size_t v)
{
    size_t whose;
    for (size_t i = 0; i < cr_network_properties(net); i++)
        if (cr_network_property(net, i, &whose) && whose == v) return true;
    return false;
}

static void put_markov_variable(cri_writer *w, const cr_network *net, size_t v)
{
    bool object = has_properties(net, v);
    if (object) cri_put(w, "{\"states\": ");
    put_states(w, cr_network_variables(net), v);
    if (!object) return;
    cri_put_json_properties(w, net, v, 6);
    cri_put(w, "}");
}

/* --- the file -------------------------------------------------------------------------------- */

cr_status cri_json_check_texts(cr_ctx *cx, const cr_network *net)
{
    cr_status st = cr_network_check(cx, net);
    if (st == CR_OK) st = cri_json_check_names(cx, cr_network_variables(net));
    if (st == CR_OK && !cri_utf8_valid(cr_network_name(net)))
        st = cr_fail(cx, CR_EDATA, "JSON must be UTF-8, but the name of the network is not");
    for (size_t i = 0; st == CR_OK && i < cr_network_properties(net); i++)
        if (!cri_utf8_valid(cr_network_property(net, i, NULL)))
            st = cr_fail(cx, CR_EDATA, "JSON must be UTF-8, but a remark of the network is not");
    return st;
}

void cri_put_json_heading(cri_writer *w, const cr_network *net)
{
    if (cr_network_name(net)[0]) {
        cri_put(w, ",\n  \"name\": ");
        cri_put_json_text(w, cr_network_name(net));
    }
    cri_put_json_properties(w, net, CR_NONE, 2);
}

cr_status cr_json_write(cr_ctx *cx, const cr_network *net, const char *path)
{
    cri_writer          w = { 0 };
    bool                bayes = cr_network_get_kind(net) == CR_NETWORK_BAYES;
    const cr_variables *vs = cr_network_variables(net);
    cr_status           st = cri_json_check_texts(cx, net);
    if (st == CR_OK) st = cri_packed_create(cx, path, &w.file);
    if (st != CR_OK) return st;
    cri_put(&w, bayes ? "{\n  \"network\": \"bayes\"" : "{\n  \"network\": \"markov\"");
    cri_put_json_heading(&w, net);
    cri_put(&w, ",\n  \"variables\": {");
    for (size_t v = 0; v < cr_variables_count(vs); v++) {
        cri_put(&w, v ? "," : "");
        put_line(&w, 4);
        cri_put_json_text(&w, cr_variable_name(vs, v));
        cri_put(&w, ": ");
        if (bayes)
            put_bayes_variable(&w, net, v);
        else
            put_markov_variable(&w, net, v);
    }
    cri_put(&w, "\n  }");
    if (!bayes) put_tables(&w, net, false);
    if (!bayes) put_tables(&w, net, true);
    cri_put(&w, "\n}\n");
    return cri_writer_close(&w);
}
