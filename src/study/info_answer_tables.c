/* info_answer_tables.c -- questions about two tables, about rows, and about a source. */
#include "info_answer.h"
#include "base/list.h"
#include "base/number.h"
#include "prob/info_source.h"
#include "info_internal.h"
#include "mmd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- two files ------------------------------------------------------------------------------- */

typedef void put_number(const cri_info_answer *, cri_sheet *, const char *, double);

static void put_divergence(const cri_info_answer *j, const cr_divergence *d, put_number *put,
                           cri_sheet *o)
{
    cri_put_text(o, "method", d->counted ? "counts" : "neighbours");
    cri_put_count(o, "rows", d->rows[0]);
    cri_put_count(o, "rows_other", d->rows[1]);
    put(j, o, "entropy", d->entropy);
    put(j, o, "cross_entropy", d->cross_entropy);
    put(j, o, "kl", d->kl);
    put(j, o, "se", d->se);
    put(j, o, "lower", d->lower);
    put(j, o, "upper", d->upper);
    put(j, o, "js", d->js);
}

static void warn_divergence(const cri_info_answer *j, const char *name, const cr_divergence *d)
{
    cri_info_warn_dropped(j, j->a, d->dropped[0]);
    cri_info_warn_dropped(j, j->b, d->dropped[1]);
    if (isinf(d->kl))
        cr_log(j->cx, CR_LOG_WARNING,
               "'%s': %s lacks a value that %s has, so the divergence is infinite; --smoothing 0.5 "
               "makes it finite",
               name, cr_table_source(j->b), cr_table_source(j->a));
    if (d->shared > 0)
        cr_log(j->cx, CR_LOG_WARNING,
               "'%s': %zu values occur in both files; the estimate is for independent samples",
               name, d->shared);
}

static cr_status compare(cri_info_answer *j, const char *const *names, size_t n, cri_sheet *list)
{
    cr_divergence d;
    cr_status     st = cr_table_divergence(j->cx, j->a, j->b, names, n, &j->how, j->seed, &d);
    if (st != CR_OK) return st;
    warn_divergence(j, names[0], &d);
    cri_sheet *one = cri_put_object(list, NULL), *row = cri_put_object(j->rows, NULL);
    cri_put_joined(row, "columns", cri_info_put_texts(one, "columns", names, n), ",");
    put_divergence(j, &d, cri_info_put, one);
    put_divergence(j, &d, cri_info_put_cell, row);
    return CR_OK;
}

/* Of two tables: keeps of the columns those that both have; CR_EDATA when none is left. */
static cr_status info_common_columns(cri_info_answer *j, const char **names, size_t *n)
{
    size_t k = 0;
    for (size_t i = 0; i < *n; i++) {
        if (cr_table_find(j->b, names[i]))
            names[k++] = names[i];
        else
            cr_log(j->cx, CR_LOG_WARNING, "column '%s' is not in %s and is left out", names[i],
                   cr_table_source(j->b));
    }
    *n = k;
    if (k > 0) return CR_OK;
    return cr_fail(j->cx, CR_EDATA, "%s and %s have no column in common", cr_table_source(j->a),
                   cr_table_source(j->b));
}

cr_status cri_info_divergence(cri_info_answer *j)
{
    cr_status    st = CR_OK;
    const char **names = NULL;
    size_t       n = 0;
    cri_sheet   *list = cri_put_list(j->object, "divergence");
    CR_TRY(cri_info_columns(j, &names, &n));
    if (!j->o->columns) CR_TRY(info_common_columns(j, names, &n));
    for (size_t i = 0; i < n; i++) {
        st = compare(j, &names[i], 1, list);
        if (st == CR_EDATA && !j->o->columns) { /* one of all: told, and left out */
            cr_log(j->cx, CR_LOG_WARNING, "%s", cr_error(j->cx));
            st = CR_OK;
        }
        CR_TRY(st);
    }
    if (j->o->columns && n > 1) CR_TRY(compare(j, names, n, list));
    cri_info_title(j, "%s against %s, in %s, %g %% intervals for kl, seed %llu",
                   cr_table_source(j->a), cr_table_source(j->b), j->unit, 100 * j->how.level,
                   (unsigned long long)j->seed);
done:
    return st;
}

/* --- two tables by a kernel ------------------------------------------------------------------- */

enum { RELABELLINGS = 999 }; /* unless --permutations says else */

static void put_mmd(const cr_mmd *g, cri_sheet *o)
{
    cri_put_text(o, "kernel", g->kernel);
    cri_put_text(o, "method", g->pairs ? "pairs" : g->exact ? "all relabellings" : "relabellings");
    cri_put_count(o, "rows", g->rows[0]);
    cri_put_count(o, "rows_other", g->rows[1]);
    cri_put_real(o, "mmd2", g->unbiased);
    if (!g->pairs) cri_put_real(o, "mmd2_biased", g->biased);
    if (g->pairs) cri_put_real(o, "se", g->se);
    cri_put_real(o, "p", g->p);
    if (!g->pairs) {
        cri_put_real(o, "p_se", g->p_se);
        cri_put_count(o, "permutations", g->permutations);
    }
}

cr_status cri_info_mmd(cri_info_answer *j)
{
    cr_status      st = CR_OK;
    const char   **names = NULL;
    size_t         n = 0;
    cr_mmd         g;
    cri_sheet     *one;
    cr_mmd_options how = { .kernel = j->o->kernel && j->o->kernel[0] ? j->o->kernel : NULL,
                           .permutations = j->how.permutations ? j->how.permutations : RELABELLINGS,
                           .linear = j->o->linear };
    CR_TRY(cri_info_columns(j, &names, &n));
    if (!j->o->columns) CR_TRY(info_common_columns(j, names, &n));
    CR_TRY(cr_table_mmd(j->cx, j->a, j->b, names, n, &how, j->seed, &g));
    cri_info_warn_dropped(j, j->a, g.dropped[0]);
    cri_info_warn_dropped(j, j->b, g.dropped[1]);
    one = cri_put_object(j->object, "mmd");
    cri_info_put_texts(one, "columns", names, n);
    put_mmd(&g, one);
    cri_info_put_row(j, one);
    cri_info_title(j, "%s against %s: maximum mean discrepancy, seed %llu", cr_table_source(j->a),
                   cr_table_source(j->b), (unsigned long long)j->seed);
done:
    return st;
}

/* --- rows ------------------------------------------------------------------------------------ */

typedef struct ranked {
    double value;
    size_t at;
} ranked;

/* Most surprising first, rows without a density last; then in order. */
static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    double        p = isnan(x->value) ? -INFINITY : x->value;
    double        q = isnan(y->value) ? -INFINITY : y->value;
    if (p != q) return p > q ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void put_surprise(const cri_info_answer *j, const cr_surprise *s, size_t i,
                         const char **names, cri_sheet *o)
{
    size_t most = 0;
    cri_put_count(o, "row", s->row[i] + 1);
    cri_info_put(j, o, "information", s->total[i]);
    if (!s->part) return;
    for (size_t k = 1; k < s->columns; k++)
        if (s->part[i * s->columns + k] > s->part[i * s->columns + most]) most = k;
    cri_put_text(o, "most", names[most]);
    cri_info_put(j, o, "most_information", s->part[i * s->columns + most]);
}

cr_status cri_info_surprise(cri_info_answer *j)
{
    cr_status    st = CR_OK;
    cr_surprise  s = { 0 };
    const char **names = NULL;
    size_t       n = 0, shown;
    CR_TRY(cri_info_columns(j, &names, &n));
    CR_TRY(cr_table_surprise(j->cx, j->a, names, n, j->o->joint, &j->how, j->seed, &s));
    cri_info_warn_dropped(j, j->a, s.dropped);
    ranked *order = cr_scratch_bytes(&j->s, s.rows, sizeof *order);
    CR_TRY(j->s.status);
    for (size_t i = 0; i < s.rows; i++) order[i] = (ranked){ s.total[i], i };
    if (j->o->top != CR_COUNT_UNSET) qsort(order, s.rows, sizeof *order, compare_ranked);
    shown = j->o->top < s.rows ? j->o->top : s.rows;
    j->rows = cri_put_list(j->object, "surprise"); /* the table is this list */
    for (size_t i = 0; i < shown; i++)
        put_surprise(j, &s, order[i].at, names, cri_put_object(j->rows, NULL));
    cri_info_title(j, "%s: information content of %zu of %zu rows in %s, %s, seed %llu",
                   cr_table_source(j->a), shown, s.rows, j->unit,
                   j->o->joint ? "jointly" : "columns independent", (unsigned long long)j->seed);
done:
    cr_surprise_free(j->cx, &s);
    return st;
}

/* --- a source -------------------------------------------------------------------------------- */

static cr_status read_probabilities(cri_info_answer *j, char **items, size_t n, double **out)
{
    double *p = cr_scratch_f64(&j->s, n);
    if (j->s.status != CR_OK) return j->s.status;
    for (size_t i = 0; i < n; i++) {
        const char *end = items[i] + strlen(items[i]);
        if (cri_parse_double(items[i], end, &p[i]) != (size_t)(end - items[i])) {
            cr_fail(j->cx, CR_EARG, "--source: '%s' is not a number", items[i]);
            return cr_fail_hint(j->cx, "--source 0.1,0.9, or a file and the name of a column");
        }
    }
    *out = p;
    return CR_OK;
}

/* The shares of the values of a column. */
static cr_status count_letters(cri_info_answer *j, const char *name, double **out, size_t *out_n)
{
    cr_status      st = CR_OK;
    const unsigned role = CRI_A;
    cri_variables  vs;
    cri_cells      c;
    CR_TRY(cri_variables_read(&j->s, j->a, &name, &role, 1, j->seed, &vs));
    if (!vs.v[0].counted) {
        cr_fail(j->cx, CR_EDATA, "column '%s' of %s contains numbers, not letters", name,
                cr_table_source(j->a));
        CR_TRY(cr_fail_hint(j->cx, "--category %s counts its values", name));
    }
    if (vs.n == 0)
        CR_TRY(cr_fail(j->cx, CR_EDATA, "column '%s' of %s has no values", name,
                       cr_table_source(j->a)));
    cri_info_warn_dropped(j, j->a, vs.dropped);
    CR_TRY(cri_cells_of(&j->s, &vs, CRI_A, &c));
    double *p = cr_scratch_bytes(&j->s, c.cells, sizeof *p);
    CR_TRY(j->s.status);
    for (size_t i = 0; i < vs.n; i++) p[c.of[i]]++;
    for (size_t i = 0; i < c.cells; i++) p[i] /= (double)vs.n;
    *out = p, *out_n = c.cells;
done:
    return st;
}

static void put_source(const cri_info_answer *j, const double *p, size_t n, const cr_source *s,
                       cri_sheet *o)
{
    cri_put_reals(o, "probabilities", p, n);
    cri_info_put(j, o, "entropy", s->entropy);
    cri_info_put(j, o, "raw", s->raw);
    cri_put_count(o, "length", j->o->length);
    cri_put_count(o, "types", s->types);
    cri_put_real(o, "beta", j->o->beta);
    cri_info_put(j, o, "typical_size", s->log_typical);
    cri_put_real(o, "typical_probability", s->p_typical);
    cri_put_real(o, "delta", j->o->delta);
    cri_info_put(j, o, "essential", s->essential);
    cri_info_put(j, o, "essential_per_letter", s->essential / (double)j->o->length);
}

cr_status cri_info_source(cri_info_answer *j)
{
    cr_status  st = CR_OK;
    char     **items = NULL;
    size_t     n = 0;
    double    *p = NULL;
    cr_source  s;
    cri_sheet *one;
    CR_TRY(cri_list_split(&j->s, j->o->source, &items, &n));
    if (j->a && n != 1) {
        cr_fail(j->cx, CR_EARG, "--source with a file takes one column, not %zu", n);
        CR_TRY(cr_fail_hint(j->cx, "leave out the file to give probabilities"));
    }
    if (j->a)
        CR_TRY(count_letters(j, items[0], &p, &n));
    else
        CR_TRY(read_probabilities(j, items, n, &p));
    CR_TRY(cr_source_describe(j->cx, p, n, j->o->length, j->o->beta * j->per, j->o->delta, &s));
    one = cri_put_object(j->object, "source");
    put_source(j, p, n, &s, one);
    cri_info_put_row(j, one);
    cri_info_title(j, "strings of %zu letters from a source of %zu, in %s", j->o->length, n,
                   j->unit);
done:
    return st;
}
