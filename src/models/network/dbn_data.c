/* dbn_data.c -- what a dynamic network learns from: the network in its file, and rows as slices. */
#include "dbn.h"
#include "base/bytes.h"
#include "base/context_internal.h"
#include "base/number.h"
#include "base/scratch.h"
#include "data/bytes/source.h"
#include "graph/files/json_dynamic.h"
#include "graph/files/json_text.h"
#include "graph/files/network_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the network ------------------------------------------------------------------------------ */

static cr_status refuse_bytes(cr_ctx *cx, const char *path)
{
    cr_fail(cx, CR_EDATA, "%s: not JSON: there is a zero byte in it", path);
    return cr_fail_hint(cx, "credence convert writes the network of a .cred file as JSON");
}

cr_status cri_dbn_read_network(cr_ctx *cx, const char *option, char **out_text)
{
    cr_status   st = CR_OK;
    cri_source *source = NULL;
    cri_block   data = { 0 };
    const char *at;
    if (!option || !*option) {
        cr_fail(cx, CR_EARG, "dbn learns the tables of a network, which is not given");
        return cr_fail_hint(cx, "name its JSON file: --network network.json");
    }
    if (*option == '{') {
        *out_text = cri_string_copy(cx, option);
        return *out_text ? CR_OK : CR_ENOMEM;
    }
    CR_TRY(cri_source_open(cx, option, &source));
    CR_TRY(cri_source_load(cx, source, &data));
    at = data.bytes;
    if (data.size >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) at += 3;
    if (memchr(at, '\0', data.size - (size_t)(at - data.bytes))) CR_TRY(refuse_bytes(cx, option));
    *out_text = cri_string_copy_n(cx, at, data.size - (size_t)(at - data.bytes));
    if (!*out_text) CR_TRY(CR_ENOMEM);
done:
    cr_free(cx, data.bytes, data.capacity, 1);
    cri_source_close(source);
    return st;
}

/* The table of a variable in slice 1, or in the others; CR_NONE: it is not learned. */
static size_t find_table(const cri_dbn *m, bool first, size_t v)
{
    size_t k = 0;
    while (k < m->tables && (m->table[k].variable != v || m->table[k].first != first)) k++;
    return k < m->tables ? k : CR_NONE;
}

/* Adds a table to the list where it is a plain one; those that are made from something else stay as they are.  What is
 * the same as another is noted as a place of that. */
static void add_table(cri_dbn *m, bool first, size_t v)
{
    size_t  size, like = m->net->like[v];
    bool    as_others = first && cri_dynamic_begins_alike(m->net, v);
    double *value = cri_dynamic_table(m->net, first, v, &size);
    if (!value) return;
    if (as_others || like != v) {
        size_t k = find_table(m, first && !as_others, like);
        m->place[m->places++] = (cri_dbn_place){ k, v, first, value };
        return;
    }
    m->table[m->tables++] = (cri_dbn_table){ .variable = v,
                                             .first = first,
                                             .states = cr_network_states(m->net->first, v),
                                             .size = size,
                                             .at = m->size,
                                             .value = value };
    m->size += size;
}

/* Free parameters: entries that may be above 0, less one of each row. */
static size_t count_free(const cri_dbn *m)
{
    size_t free = 0;
    for (size_t k = 0; k < m->tables; k++) free -= m->table[k].size / m->table[k].states;
    for (size_t k = 0; k < m->tables; k++)
        for (size_t i = 0; i < m->table[k].size; i++) free += m->table[k].value[i] > 0;
    return free;
}

/* Fails: this is not JSON, in the words of its reader, or no network with slices. */
static cr_status refuse_static(cr_ctx *cx, const char *source, const char *text)
{
    cri_json  d = { 0 };
    cr_status st = cri_json_open(cx, source, text, strlen(text), &d);
    if (st != CR_OK) return st;
    cri_json_close(&d);
    cr_fail(cx, CR_EDATA, "%s: dbn learns networks with \"slices\": 2, which this has not", source);
    return cr_fail_hint(cx, "in a table without time, every row can be a sequence by itself");
}

cr_status cri_dbn_open(cr_ctx *cx, const char *source, cri_dbn *m)
{
    cr_status st = CR_OK;
    size_t    size = strlen(m->network);
    if (!cri_json_is_dynamic(m->network, size)) CR_TRY(refuse_static(cx, source, m->network));
    CR_TRY(cri_json_parse_dynamic(cx, source, m->network, size, &m->net));
    m->table = cr_alloc(cx, 2 * m->net->n, sizeof *m->table);
    m->place = cr_alloc(cx, 2 * m->net->n, sizeof *m->place);
    if (!m->table || !m->place) CR_TRY(CR_ENOMEM);
    m->size = m->tables = m->places = 0;
    for (size_t v = 0; v < m->net->n; v++)
        if (!cri_dynamic_begins_alike(m->net, v)) add_table(m, true, v);
    for (size_t v = 0; v < m->net->n; v++) add_table(m, false, v);
    for (size_t v = 0; v < m->net->n; v++)
        if (cri_dynamic_begins_alike(m->net, v)) add_table(m, true, v);
    m->free = count_free(m);
    if (m->size == 0) {
        cr_fail(cx, CR_EDATA, "%s: the network has no table, and there is nothing to learn",
                source);
        CR_TRY(
            cr_fail_hint(cx, "what is deterministic, a noisy-or or a tree stays as it is given"));
    }
done:
    return st;
}

void cri_dbn_close(cr_ctx *cx, cri_dbn *m)
{
    if (m->table) cr_free(cx, m->table, 2 * m->net->n, sizeof *m->table);
    if (m->place) cr_free(cx, m->place, 2 * m->net->n, sizeof *m->place);
    cri_dynamic_free(cx, m->net);
    m->table = NULL, m->place = NULL, m->net = NULL;
}

void cri_dbn_set(const cri_dbn *m, const double *value)
{
    for (size_t k = 0; k < m->tables; k++)
        memcpy(m->table[k].value, value + m->table[k].at, m->table[k].size * sizeof *value);
    for (size_t i = 0; i < m->places; i++) {
        const cri_dbn_table *t = &m->table[m->place[i].table];
        memcpy(m->place[i].value, value + t->at, t->size * sizeof *value);
    }
}

/* --- levels ----------------------------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All states of v that are no levels yet, and the levels in order again. */
static cr_status join_states(cr_ctx *cx, const cr_variables *vs, size_t v, cri_design_column *c)
{
    size_t states = cr_variable_states(vs, v), n = c->n_levels;
    char **levels = cr_alloc(cx, n + states, sizeof *levels);
    if (!levels) return CR_ENOMEM;
    if (n) memcpy(levels, c->levels, n * sizeof *levels);
    for (size_t s = 0; s < states; s++) {
        const char *name = cr_state_name(vs, v, s);
        bool        there = false;
        for (size_t i = 0; i < c->n_levels; i++) there = there || strcmp(c->levels[i], name) == 0;
        if (!there) levels[n] = cri_string_copy(cx, name);
        if (!there && !levels[n++]) goto failed;
    }
    char **fit = cr_resize(cx, levels, c->n_levels + states, n, sizeof *levels);
    if (!fit) goto failed;
    qsort(fit, n, sizeof *fit, compare_texts);
    cr_free(cx, c->levels, c->n_levels, sizeof *c->levels);
    c->levels = fit;
    c->n_levels = n;
    return CR_OK;
failed:
    for (size_t i = c->n_levels; i < n; i++) cri_string_free(cx, levels[i]);
    cr_free(cx, levels, c->n_levels + states, sizeof *levels);
    return CR_ENOMEM;
}

cr_status cri_dbn_join_levels(cr_ctx *cx, const cri_dbn *m, cr_design *d)
{
    const cr_variables *vs = cr_network_variables(m->net->first);
    for (size_t j = 0; j < d->n_columns; j++) {
        cri_design_column *c = &d->columns[j];
        size_t             v = cr_variable_lookup(vs, c->name);
        bool               plain = c->type == CR_CATEGORY && c->made.kind == CRI_MADE_NOT;
        if (v == CR_NONE || !plain) continue;
        cr_status st = join_states(cx, vs, v, c);
        if (st != CR_OK) return st;
    }
    return CR_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

size_t cri_dbn_row(const cri_rows *rows, size_t slice)
{
    size_t row = rows->sequences->row[slice];
    return (rows->index ? rows->index[row] : row) + 1;
}

cri_slice_evidence cri_dbn_sequence(const cri_dbn_data *d, size_t k)
{
    size_t begin = d->of->start[k];
    return (cri_slice_evidence){ .slices = d->of->start[k + 1] - begin,
                                 .code = d->code + begin * d->n };
}

/* The state that a number names: by its text, or as a number. */
static size_t state_of_number(const cr_variables *vs, size_t v, const cr_column *c, double x)
{
    char   text[64];
    size_t s = cr_state_lookup(vs, v, cri_level_text(c, x, text));
    for (size_t i = 0; s == CR_NONE && i < cr_variable_states(vs, v); i++) {
        const char *name = cr_state_name(vs, v, i);
        size_t      n = strlen(name);
        double      value;
        if (n > 0 && cri_parse_double(name, name + n, &value) == n && value == x) s = i;
    }
    return s;
}

/* The state in a row of the table; CR_NONE: missing, or, with its text, no state of v. */
static size_t read_cell(const cr_variables *vs, size_t v, const cr_column *c, const size_t *state,
                        size_t row, char *number, const char **out_unknown)
{
    size_t s;
    *out_unknown = NULL;
    if (c->type == CR_CATEGORY) {
        if (c->codes[row] == CR_MISSING_CODE) return CR_NONE;
        s = state[c->codes[row]];
        if (s == CR_NONE) *out_unknown = c->levels[c->codes[row]];
        return s;
    }
    double x = c->values[row * c->stride];
    if (isnan(x)) return CR_NONE;
    s = state_of_number(vs, v, c, x);
    if (s == CR_NONE) *out_unknown = cri_level_text(c, x, number);
    return s;
}

/* The cells of one column as states of v. */
static cr_status read_column(cr_scratch *s, const cri_dbn *m, const cri_rows *rows, size_t v,
                             const cr_column *c, cri_dbn_data *d)
{
    cr_status           st = CR_OK;
    const cr_variables *vs = cr_network_variables(m->net->first);
    size_t             *state = cr_scratch_index(s, c->n_levels + 1);
    char                number[64];
    CR_TRY(s->status);
    for (size_t i = 0; i < c->n_levels; i++) state[i] = cr_state_lookup(vs, v, c->levels[i]);
    for (size_t t = 0; t < rows->n; t++) {
        const char *unknown;
        size_t      row = cri_dbn_row(rows, t);
        size_t      x = read_cell(vs, v, c, state, row - 1, number, &unknown);
        if (unknown) {
            cr_fail(s->cx, CR_EDATA, "%s, row %zu: '%s' has no state '%s'",
                    cr_table_source(rows->table), row, cr_variable_name(vs, v), unknown);
            CR_TRY(cri_nearest_state(s->cx, vs, v, unknown));
        }
        if (x == CR_NONE) continue;
        d->code[t * d->n + v] = (uint32_t)x;
        d->shown[v] = true;
    }
done:
    return st;
}

static const char *variable_name(const void *vs, size_t v) { return cr_variable_name(vs, v); }

/* A column that no variable is named after. */
static void warn_of_column(cr_ctx *cx, const cr_variables *vs, const char *name)
{
    cr_fail(cx, CR_EDATA, "there is no variable '%s'", name);
    cr_fail_nearest(cx, name, "variables", cr_variables_count(vs), variable_name, vs);
    const char *near = cr_error_nearest(cx);
    cr_log(cx, CR_LOG_WARNING,
           "column '%s' does not match a variable of the network and is left out%s%s%s", name,
           near[0] ? " (did you mean '" : "", near, near[0] ? "'?)" : "");
}

cr_status cri_dbn_read_rows(cr_scratch *s, const cri_dbn *m, const cri_rows *rows,
                            cri_dbn_data *out)
{
    cr_status           st = CR_OK;
    const cr_variables *vs = cr_network_variables(m->net->first);
    const cr_design    *design = rows->design;
    cri_dbn_data        d = { .of = rows->sequences, .n = m->net->n };
    size_t              known = 0;
    d.code = cr_scratch_bytes(s, rows->n * d.n, sizeof *d.code);
    d.shown = cr_scratch_bytes(s, d.n, sizeof *d.shown);
    CR_TRY(s->status);
    for (size_t i = 0; i < rows->n * d.n; i++) d.code[i] = CRI_CODE_OPEN;
    for (size_t j = 0; j < design->n_read; j++) {
        size_t v = cr_variable_lookup(vs, design->columns[j].name);
        known += v != CR_NONE;
        if (v != CR_NONE) CR_TRY(read_column(s, m, rows, v, rows->columns[j], &d));
    }
    if (known == 0) {
        cr_fail(s->cx, CR_EDATA, "no column of %s names a variable of the network",
                cr_table_source(rows->table));
        CR_TRY(cr_fail_hint(s->cx, "its variables are %s%s%s", cr_variable_name(vs, 0),
                            d.n > 1 ? ", " : "",
                            d.n > 2    ? "..."
                            : d.n == 2 ? cr_variable_name(vs, 1)
                                       : ""));
    }
    for (size_t j = 0; j < design->n_read; j++)
        if (cr_variable_lookup(vs, design->columns[j].name) == CR_NONE)
            warn_of_column(s->cx, vs, design->columns[j].name);
    for (size_t v = 0; v < d.n; v++)
        for (size_t t = 0; t < rows->n && d.shown[v]; t++)
            d.gaps += d.code[t * d.n + v] == CRI_CODE_OPEN;
    *out = d;
done:
    return st;
}
