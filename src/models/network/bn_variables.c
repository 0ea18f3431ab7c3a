/* bn_variables.c -- columns as variables with states, and rows as states of these.
 * Texts and booleans are states as they are.  Whole numbers of few values are states in the order of the numbers.  Other
 * numbers are cut at quantiles where that is asked for. */
#include "bn_searches.h"
#include "base/context_internal.h"
#include "base/number.h"
#include "base/scratch.h"
#include "base/sort.h"
#include "graph/files/network_file.h"
#include "graph/files/network_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- states of numbers ------------------------------------------------------------------------ */

/* The row of the table that row i is. */
static size_t table_row(const cri_rows *rows, size_t i) { return rows->index ? rows->index[i] : i; }

static double number_at(const cr_column *c, size_t row) { return c->values[row * c->stride]; }

/* A number and the weight of the rows that have it. */
typedef struct weighted {
    double x, weight;
} weighted;

CRI_COMPARE_BY(compare_values, weighted, x);

/* The different numbers of a column, rising; how many. */
static size_t sort_values(const cri_rows *rows, const cr_column *c, weighted *out)
{
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < rows->n; i++) {
        double x = number_at(c, table_row(rows, i)), w = rows->w ? rows->w[i] : 1;
        if (!isnan(x) && w > 0) out[n++] = (weighted){ x, w };
    }
    if (n > 1) qsort(out, n, sizeof *out, compare_values);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || out[i].x != out[kept - 1].x)
            out[kept++] = out[i];
        else
            out[kept - 1].weight += out[i].weight;
    }
    return kept;
}

static bool are_whole(const weighted *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (v[i].x != floor(v[i].x)) return false;
    return true;
}

static cr_status refuse_numbers(cr_ctx *cx, const cri_rows *rows, const cr_column *c, size_t n,
                                const cri_bn_options *o, bool whole)
{
    cr_fail(cx, CR_EDATA, "%s: column '%s' has %zu different numbers%s, too many to be states",
            cr_table_source(rows->table), c->name, n, whole ? "" : ", not all whole");
    if (whole && n <= 10 * o->levels)
        return cr_fail_hint(cx,
                            "--levels %zu makes each a state, --bins 3 cuts them into ranges, "
                            "--features '!%s' leaves the column out",
                            n, c->name);
    return cr_fail_hint(
        cx, "--bins 3 cuts them into ranges, --features '!%s' leaves the column out", c->name);
}

/* Cuts between different numbers, where as much weight is below as a quantile asks for, or the least that is more;
 * rising; how many.  out [bins - 1]. */
static size_t choose_cuts(const weighted *v, size_t n, size_t bins, double *out)
{
    double all = 0, below = 0;
    size_t cuts = 0, i = 0;
    for (size_t k = 0; k < n; k++) all += v[k].weight;
    for (size_t b = 1; b < bins; b++) {
        double wanted = (double)b * all / (double)bins * (1 - 1e-12);
        for (; i < n && (below < wanted || i == 0); i++) below += v[i].weight;
        if (i >= n) break;
        double cut = v[i - 1].x + (v[i].x - v[i - 1].x) / 2;
        if (!(cut < v[i].x)) cut = v[i - 1].x;
        if (cuts == 0 || cut > out[cuts - 1]) out[cuts++] = cut;
    }
    return cuts;
}

/* The names of ranges: "<=2.5", "2.5..4", ">4". */
static cr_status name_ranges(cr_scratch *s, const double *cut, size_t n, const char **names)
{
    for (size_t b = 0; b <= n; b++) {
        char *text = cr_scratch_bytes(s, 64, 1);
        if (!text) return s->status;
        if (b == 0)
            snprintf(text, 64, "<=%.6g", cut[0]);
        else if (b == n)
            snprintf(text, 64, ">%.6g", cut[n - 1]);
        else
            snprintf(text, 64, "%.6g..%.6g", cut[b - 1], cut[b]);
        names[b] = text;
    }
    return CR_OK;
}

static cr_status add_ranges(cr_scratch *s, cri_bn *m, const cr_column *c, const weighted *x,
                            size_t n, size_t bins)
{
    cr_status    st = CR_OK;
    size_t       v;
    double      *cut = cr_scratch_f64(s, bins);
    const char **names = cr_scratch_bytes(s, bins, sizeof *names);
    CR_TRY(s->status);
    size_t cuts = choose_cuts(x, n, bins, cut);
    if (cuts == 0)
        CR_TRY(cr_fail(s->cx, CR_EDATA,
                       "column '%s' cannot be cut into ranges: nearly all of its "
                       "numbers are the same",
                       c->name));
    CR_TRY(name_ranges(s, cut, cuts, names));
    for (size_t b = 1; b <= cuts; b++)
        if (strcmp(names[b], names[b - 1]) == 0)
            CR_TRY(cr_fail(s->cx, CR_EDATA,
                           "column '%s' cannot be cut into ranges: its numbers "
                           "differ too little",
                           c->name));
    CR_TRY(cr_network_add_variable(s->cx, m->net, c->name, cuts + 1, names, &v));
    m->cuts[v] = cr_alloc(s->cx, cuts, sizeof *m->cuts[v]);
    if (!m->cuts[v]) CR_TRY(CR_ENOMEM);
    m->n_cuts[v] = cuts;
    memcpy(m->cuts[v], cut, cuts * sizeof *cut);
    cr_log(s->cx, CR_LOG_INFO, "column '%s' was cut into %zu ranges", c->name, cuts + 1);
done:
    return st;
}

/* Each different number is a state. */
static cr_status add_numbers(cr_scratch *s, cri_bn *m, const cr_column *c, const weighted *x,
                             size_t n)
{
    const char **names = cr_scratch_bytes(s, n + 1, sizeof *names);
    if (!names) return s->status;
    for (size_t i = 0; i < n; i++) {
        char *text = cr_scratch_bytes(s, 64, 1);
        if (!text) return s->status;
        const char *level = cri_level_text(c, x[i].x, text);
        if (level != text) snprintf(text, 64, "%s", level);
        names[i] = text;
    }
    return cr_network_add_variable(s->cx, m->net, c->name, n, names, NULL);
}

/* A column without any value has a state that is never seen. */
static cr_status add_nothing(cr_ctx *cx, cri_bn *m, const char *name)
{
    static const char *const states[] = { "?" };
    cr_log(cx, CR_LOG_WARNING, "column '%s' has no value in any row: it says nothing", name);
    return cr_network_add_variable(cx, m->net, name, 1, states, NULL);
}

static cr_status add_number_column(cr_ctx *cx, const cri_rows *rows, const cr_column *c,
                                   const cri_bn_options *o, cri_bn *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    weighted  *x = cr_scratch_bytes(&s, rows->n, sizeof *x);
    CR_TRY(s.status);
    size_t values = sort_values(rows, c, x);
    bool   whole = are_whole(x, values);
    if (values == 0)
        CR_TRY(add_nothing(cx, m, c->name));
    else if (c->type == CR_BOOLEAN || (whole && values <= o->levels))
        CR_TRY(add_numbers(&s, m, c, x, values));
    else if (o->bins != CR_COUNT_UNSET && values > 1)
        CR_TRY(add_ranges(&s, m, c, x, values, o->bins));
    else
        CR_TRY(refuse_numbers(cx, rows, c, values, o, whole));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_bn_read_network(cr_ctx *cx, const char *option, const char *text, cr_network **out)
{
    cr_status   st = CR_OK;
    bool        is_json = *text == '{';
    cr_network *net = NULL;
    CR_TRY(is_json ? cr_network_parse(cx, option, text, strlen(text), CR_FORMAT_JSON, &net)
                   : cr_network_read(cx, text, CR_FORMAT_AUTO, &net));
    if (cr_network_get_kind(net) != CR_NETWORK_BAYES)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s is a Markov network: bn takes Bayesian ones",
                       is_json ? option : text));
    *out = net;
    net = NULL;
done:
    cr_network_free(cx, net);
    return st;
}

/* --- variables -------------------------------------------------------------------------------- */

static cr_status add_levels(cr_ctx *cx, cri_bn *m, const char *name, size_t n, char **levels)
{
    if (n == 0) return add_nothing(cx, m, name);
    if (n >= CRI_MOST_LEVELS) {
        cr_fail(cx, CR_EUNSUPPORTED, "column '%s' has %zu different texts, more than networks take",
                name, n);
        return cr_fail_hint(cx, "if they name rows, --features '!%s' leaves them out", name);
    }
    return cr_network_add_variable(cx, m->net, name, n, (const char *const *)levels, NULL);
}

const cr_column *cri_bn_intervention(const cri_rows *rows, const char *name)
{
    return name ? cr_table_find(rows->table, name) : NULL;
}

static cr_status allocate_cuts(cr_ctx *cx, size_t n, cri_bn *m)
{
    m->cuts = cr_alloc(cx, n, sizeof *m->cuts);
    m->n_cuts = cr_alloc(cx, n, sizeof *m->n_cuts);
    m->variables = n;
    return m->cuts && m->n_cuts ? CR_OK : CR_ENOMEM;
}

static cr_status variables_of_columns(cr_ctx *cx, const cri_rows *rows, const cri_bn_options *o,
                                      cri_bn *m)
{
    cr_status        st = CR_OK;
    const cr_design *d = rows->design;
    CR_TRY(cr_network_new(cx, CR_NETWORK_BAYES, &m->net));
    CR_TRY(allocate_cuts(cx, d->n_read + 1, m));
    for (size_t j = 0; j < d->n_read; j++) {
        const cri_design_column *c = &d->columns[j];
        if (c->type == CR_CATEGORY)
            CR_TRY(add_levels(cx, m, c->name, c->n_levels, c->levels));
        else
            CR_TRY(add_number_column(cx, rows, rows->columns[j], o, m));
    }
    if (d->target.name)
        CR_TRY(add_levels(cx, m, d->target.name, d->target.n_levels, d->target.levels));
done:
    return st;
}

/* A word of --structure, and not the name of a file? */
static bool is_word(const char *word)
{
    return strcmp(word, "empty") == 0 || strcmp(word, "naive") == 0 || cri_bn_is_search(word);
}

static cr_status variables_of_file(cr_ctx *cx, const cri_rows *rows, const cri_bn_options *o,
                                   cri_bn *m)
{
    cr_status        st = CR_OK;
    size_t           known = 0;
    const cr_design *d = rows->design;
    st = cri_bn_read_network(cx, "--structure", o->structure, &m->net);
    if (st == CR_EIO && !strpbrk(o->structure, "./"))
        cr_fail_hint(cx, "--structure is a network file, or empty, naive, greedy or tabu");
    CR_TRY(st);
    CR_TRY(allocate_cuts(cx, cr_network_size(m->net), m));
    for (size_t v = 0; v < m->variables; v++)
        if (cr_network_states(m->net, v) >= CRI_MOST_LEVELS)
            CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "variable '%s' has %zu states, more than bn takes",
                           cr_variable_name(cr_network_variables(m->net), v),
                           cr_network_states(m->net, v)));
    for (size_t j = 0; j < d->n_read; j++)
        known += cr_variable_lookup(cr_network_variables(m->net), d->columns[j].name) != CR_NONE;
    if (known == 0 && d->n_read > 0) {
        cr_fail(cx, CR_EDATA, "no column of %s names a variable of %s",
                cr_table_source(rows->table), o->structure);
        CR_TRY(cr_fail_hint(cx, "its variables are %s, ...",
                            cr_variable_name(cr_network_variables(m->net), 0)));
    }
done:
    return st;
}

cr_status cri_bn_open_variables(cr_ctx *cx, const cri_rows *rows, const cri_bn_options *o,
                                cri_bn *m)
{
    cr_status st = is_word(o->structure) ? variables_of_columns(cx, rows, o, m)
                                         : variables_of_file(cx, rows, o, m);
    if (st != CR_OK) return st;
    m->target = CR_NONE;
    if (!rows->design->target.name) return CR_OK;
    m->target = cr_variable_lookup(cr_network_variables(m->net), rows->design->target.name);
    if (m->target == CR_NONE)
        return cr_fail(cx, CR_EDATA, "the target '%s' is no variable of %s",
                       rows->design->target.name, o->structure);
    return CR_OK;
}

void cri_bn_close(cr_ctx *cx, cri_bn *m)
{
    for (size_t v = 0; m->cuts && m->n_cuts && v < m->variables; v++)
        if (m->cuts[v]) cr_free(cx, m->cuts[v], m->n_cuts[v], sizeof *m->cuts[v]);
    if (m->cuts) cr_free(cx, m->cuts, m->variables, sizeof *m->cuts);
    if (m->n_cuts) cr_free(cx, m->n_cuts, m->variables, sizeof *m->n_cuts);
    if (m->at) cr_free(cx, m->at, m->variables, sizeof *m->at);
    cr_network_free(cx, m->net);
    m->cuts = NULL, m->n_cuts = NULL, m->at = NULL, m->net = NULL;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* The state that a number names: by its range, by its text, or as a number. */
static size_t state_of_number(const cri_bn *m, size_t v, const cr_column *c, double x)
{
    const cr_variables *vs = cr_network_variables(m->net);
    char                text[64];
    if (m->n_cuts[v] > 0) {
        size_t b = 0;
        while (b < m->n_cuts[v] && x > m->cuts[v][b]) b++;
        return b;
    }
    size_t s = cr_state_lookup(vs, v, cri_level_text(c, x, text));
    for (size_t i = 0; s == CR_NONE && i < cr_variable_states(vs, v); i++) {
        const char *name = cr_state_name(vs, v, i);
        size_t      n = strlen(name);
        double      value;
        if (n > 0 && cri_parse_double(name, name + n, &value) == n && value == x) s = i;
    }
    return s;
}

static cr_status refuse_state(cr_ctx *cx, const cri_bn *m, const cri_rows *rows, size_t row,
                              size_t v, const char *text)
{
    const cr_variables *vs = cr_network_variables(m->net);
    cr_fail(cx, CR_EDATA, "%s, row %zu: '%s' has no state '%s'", cr_table_source(rows->table),
            row + 1, cr_variable_name(vs, v), text);
    return cri_nearest_state(cx, vs, v, text);
}

/* Cells of a category as states of v. */
static cr_status read_texts(cr_scratch *s, const cri_bn *m, const cri_rows *rows, size_t v,
                            const cr_column *c, cri_bn_rows *d)
{
    const cr_variables *vs = cr_network_variables(m->net);
    size_t             *state = cr_scratch_index(s, c->n_levels + 1);
    if (!state) return s->status;
    for (size_t i = 0; i < c->n_levels; i++) state[i] = cr_state_lookup(vs, v, c->levels[i]);
    for (size_t i = 0; i < rows->n; i++) {
        size_t   row = table_row(rows, i);
        uint32_t code = c->codes[row];
        if (code == CR_MISSING_CODE) continue;
        if (state[code] == CR_NONE) return refuse_state(s->cx, m, rows, row, v, c->levels[code]);
        d->code[i * d->p + v] = (uint16_t)state[code];
    }
    return CR_OK;
}

/* Cells of numbers; the last number, which often comes again, is remembered. */
static cr_status read_numbers(cr_scratch *s, const cri_bn *m, const cri_rows *rows, size_t v,
                              const cr_column *c, cri_bn_rows *d)
{
    double last = NAN;
    size_t state = CR_NONE;
    for (size_t i = 0; i < rows->n; i++) {
        size_t row = table_row(rows, i);
        double x = number_at(c, row);
        if (isnan(x)) continue;
        if (x != last) state = state_of_number(m, v, c, x);
        last = x;
        if (state == CR_NONE && !(rows->w && rows->w[i] == 0)) {
            char text[64];
            return refuse_state(s->cx, m, rows, row, v, cri_level_text(c, x, text));
        }
        if (state != CR_NONE) d->code[i * d->p + v] = (uint16_t)state;
    }
    return CR_OK;
}

static void read_target(const cri_bn *m, const cri_rows *rows, size_t *state, cri_bn_rows *d)
{
    const cri_design_column *t = &rows->design->target;
    for (size_t k = 0; k < t->n_levels; k++)
        state[k] = cr_state_lookup(cr_network_variables(m->net), m->target, t->levels[k]);
    for (size_t i = 0; i < rows->n; i++)
        if (state[(size_t)rows->y[i]] != CR_NONE)
            d->code[i * d->p + m->target] = (uint16_t)state[(size_t)rows->y[i]];
}

static cr_status read_intervention(cr_scratch *s, const cri_bn *m, const cri_rows *rows,
                                   const char *name, cri_bn_rows *d)
{
    const cr_column    *c = cri_bn_intervention(rows, name);
    const cr_variables *vs = cr_network_variables(m->net);
    if (!c || c->type != CR_CATEGORY) {
        cr_fail(s->cx, CR_EDATA, "%s: there is no column '%s' of texts that name what was set",
                cr_table_source(rows->table), name);
        return cr_fail_hint(s->cx,
                            "its cells are names of columns, or empty where nothing was set");
    }
    d->set = cr_scratch_bytes(s, rows->n, sizeof *d->set);
    if (!d->set) return s->status;
    size_t others = 0;
    for (size_t i = 0; i < rows->n; i++) {
        uint32_t    code = c->codes[table_row(rows, i)];
        const char *text = code == CR_MISSING_CODE ? "" : c->levels[code];
        size_t      v = cr_variable_lookup(vs, text);
        d->set[i] = v == CR_NONE ? CRI_NOT_SET : (uint32_t)v;
        others += v == CR_NONE && *text && strcmp(text, "none") != 0;
    }
    if (others > 0)
        cr_log(s->cx, CR_LOG_WARNING,
               "%zu cells of '%s' name no variable of the network: nothing was set in these rows",
               others, name);
    return CR_OK;
}

static void count_gaps(const cri_rows *rows, cri_bn_rows *d)
{
    for (size_t i = 0; i < d->n; i++)
        for (size_t v = 0; v < d->p; v++) d->shown[v] |= d->code[i * d->p + v] != CRI_BN_GAP;
    d->complete = true;
    for (size_t i = 0; i < d->n; i++) {
        double w = rows->w ? rows->w[i] : 1;
        bool   gap = false;
        for (size_t v = 0; v < d->p && w > 0; v++) {
            bool open = d->code[i * d->p + v] == CRI_BN_GAP;
            d->complete &= !open;
            if (open && d->shown[v]) d->missing += w, gap = true;
        }
        if (gap) d->incomplete += w;
    }
}

cr_status cri_bn_read_rows(cr_scratch *s, const cri_bn *m, const cri_rows *rows,
                           const char *opt_intervention, cri_bn_rows *out)
{
    cr_status        st = CR_OK;
    const cr_design *design = rows->design;
    cri_bn_rows      d = { .n = rows->n, .p = cr_network_size(m->net), .weight = rows->w };
    d.code = cr_scratch_bytes(s, d.n * d.p, sizeof *d.code);
    d.shown = cr_scratch_bytes(s, d.p, sizeof *d.shown);
    size_t *state = cr_scratch_index(s, design->target.n_levels + 1);
    CR_TRY(s->status);
    for (size_t i = 0; i < d.n * d.p; i++) d.code[i] = CRI_BN_GAP;
    for (size_t j = 0; j < design->n_read; j++) {
        const cr_column *c = rows->columns[j];
        size_t v = cr_variable_lookup(cr_network_variables(m->net), design->columns[j].name);
        if (v == CR_NONE) continue;
        CR_TRY(cr_check_interrupt(s->cx));
        CR_TRY(c->type == CR_CATEGORY ? read_texts(s, m, rows, v, c, &d)
                                      : read_numbers(s, m, rows, v, c, &d));
    }
    if (m->target != CR_NONE && rows->y) read_target(m, rows, state, &d);
    if (opt_intervention) CR_TRY(read_intervention(s, m, rows, opt_intervention, &d));
    count_gaps(rows, &d);
    *out = d;
done:
    return st;
}
