/* dependence.c -- partial dependence, and the spread of the rows about it. */
#include "dependence.h"
#include "importance_internal.h"
#include "jobs.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "base/sort.h"
#include "data/table/subset.h"
#include "data/table/table_internal.h"
#include "math/special/special.h"
#include "models/core/model_internal.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST_VALUES = 25,
    MOST_LEVELS = 50,
    MOST_ROWS = 500
}; /* the arrays of values hold MOST_LEVELS */

static const double BAND_TAIL = 0.975;

/* --- values ---------------------------------------------------------------------------------- */

typedef struct placed {
    double value;
    size_t row;
} placed;

CRI_COMPARE_BY_TWO(by_value, placed, value, row);

/* The number of a cell, or the code of its level; NaN where it is missing. */
static double cell(const cr_column *c, size_t i)
{
    if (c->type != CR_CATEGORY) return c->values[i * c->stride];
    return c->codes[i] == CR_MISSING_CODE ? (double)NAN : (double)c->codes[i];
}

/* Values of the column in ascending order, each once, with a row that has it: all of them, or those at quantiles. */
static cr_status choose_values(cr_ctx *cx, const cr_table *t, const cr_column *c,
                               cr_dependence *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     rows = cr_table_rows(t), known = 0, distinct = 0;
    size_t     most = c->type == CR_CATEGORY ? MOST_LEVELS : MOST_VALUES;
    placed    *all = cr_scratch_bytes(&s, rows, sizeof *all);
    CR_TRY(s.status);
    for (size_t i = 0; i < rows; i++)
        if (!isnan(cell(c, i))) all[known++] = (placed){ cell(c, i), i };
    if (known > 0) qsort(all, known, sizeof *all, by_value);
    for (size_t i = 0; i < known; i++) distinct += i == 0 || all[i].value != all[i - 1].value;
    bool every = distinct <= most;
    for (size_t i = 0; i < known && out->n < most; i++) {
        double next = every ? 0 : floor((double)(known - 1) * (double)out->n / (double)(most - 1));
        if ((double)i < next || (out->n > 0 && all[i].value == out->x[out->n - 1])) continue;
        out->x[out->n] = all[i].value;
        out->row[out->n++] = all[i].row;
    }
    if (out->n == 0)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: the column '%s' has no values", cr_table_source(t),
                       c->name));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- predictions ----------------------------------------------------------------------------- */

typedef struct dependence_work {
    const cr_model *model;
    const cr_table *table; /* the rows that are averaged over, and behind them one for each value */
    size_t          rows;  /* of the first kind */
    size_t          classes; /* 0 of numbers      */
    cr_dependence  *out;
} dependence_work;

/* How sure the mean curve is at one value, over the first rows of `set`. */
static cr_status set_band(cr_ctx *cx, const dependence_work *w, const cr_table *set, size_t v)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    cr_dependence *o = w->out;
    size_t        *first = cr_scratch_index(&s, w->rows);
    cr_table      *rows = NULL;
    double         scale = NAN, dof = INFINITY, half = NAN;

    CR_TRY(s.status);
    for (size_t i = 0; i < w->rows; i++) first[i] = i;
    if (!w->classes) {
        CR_TRY(cri_table_subset(cx, set, first, w->rows, &rows));
        CR_TRY(cri_mean_spread(cx, w->model, rows, &scale, &dof));
        half = scale * (isinf(dof) ? cr_norm_ppf(BAND_TAIL) : cr_student_t_ppf(BAND_TAIL, dof));
    }
    o->band_lower[v] = o->mean[v] - half;
    o->band_upper[v] = o->mean[v] + half;
done:
    cr_table_free(cx, rows);
    cr_scratch_end(&s);
    return st;
}

static cr_status set_value(cr_ctx *cx, void *arg, size_t v)
{
    cr_status        st = CR_OK;
    dependence_work *w = arg;
    cr_dependence   *o = w->out;
    cr_scratch       s = cr_scratch_begin(cx);
    size_t           all = cr_table_rows(w->table), *rows = cr_scratch_index(&s, all);
    double          *y = cr_scratch_f64(&s, w->rows);
    cr_table        *set = NULL;
    cr_prediction    p = { 0 };
    CR_TRY(s.status);
    for (size_t i = 0; i < all; i++) rows[i] = w->rows + v;
    CR_TRY(cri_table_rearrange(cx, w->table, o->column, rows, &set));
    CR_TRY(cr_predict(cx, w->model, set, &p));
    for (size_t k = 0; k < o->curves; k++) {
        size_t n = 0, class = o->curves == 1 ? 1 : k;
        double sum = 0;
        for (size_t i = 0; i < w->rows; i++) {
            double x = w->classes ? p.prob[i * w->classes + class] : p.mean[i];
            if (!isnan(x)) sum += y[n++] = x;
        }
        cri_sort_doubles(y, n);
        o->mean[k * o->n + v] = n ? sum / (double)n : (double)NAN;
        o->lower[k * o->n + v] = n ? cri_sorted_quantile(y, n, 0.1) : (double)NAN;
        o->upper[k * o->n + v] = n ? cri_sorted_quantile(y, n, 0.9) : (double)NAN;
    }
    CR_TRY(set_band(cx, w, set, v));
done:
    cr_prediction_free(cx, &p);
    cr_table_free(cx, set);
    cr_scratch_end(&s);
    return st;
}

/* Up to MOST_ROWS rows, and behind them those that have the values. */
static cr_status gather(cr_ctx *cx, const cr_table *t, uint64_t seed, const cr_dependence *d,
                        size_t *out_rows, cr_table **out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = cr_table_rows(t), m = n < MOST_ROWS ? n : MOST_ROWS;
    size_t    *rows = cr_scratch_index(&s, m + d->n);
    cr_rng     rng = cr_rng_stream(seed, (uint64_t)0x504445u << 40); /* "PDE" */
    CR_TRY(s.status);
    cr_rng_choose(&rng, n, m, rows);
    cri_sort_indices(rows, m);
    for (size_t v = 0; v < d->n; v++) rows[m + v] = d->row[v];
    CR_TRY(cri_table_subset(cx, t, rows, m + d->n, out));
    *out_rows = m;
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status allocate(cr_ctx *cx, size_t curves, cr_dependence *d)
{
    d->curves = curves;
    d->mean = cr_alloc(cx, curves * d->n, sizeof *d->mean);
    d->lower = cr_alloc(cx, curves * d->n, sizeof *d->lower);
    d->upper = cr_alloc(cx, curves * d->n, sizeof *d->upper);
    d->band_lower = cr_alloc(cx, d->n, sizeof *d->band_lower);
    d->band_upper = cr_alloc(cx, d->n, sizeof *d->band_upper);
    return d->mean && d->lower && d->upper && d->band_lower && d->band_upper ? CR_OK : CR_ENOMEM;
}

cr_status cr_partial_dependence(cr_ctx *cx, const cr_model *model, const cr_table *t,
                                const char *column, cr_dependence *out)
{
    cr_status        st = CR_OK;
    const cr_column *c = cr_table_find(t, column);
    cr_dependence    d = { .column = column };
    dependence_work  w = { .model = model, .out = &d };
    cr_table        *rows = NULL;
    unsigned         task = cr_model_get_task(model);
    size_t           place;

    CR_TRY(cri_column_of_model(cx, model, column, &place));
    if (!c) return cri_table_no_column(cx, t, column);
    if (task != CR_TASK_REGRESSION && task != CR_TASK_CLASSIFICATION)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "the model %s predicts neither a number nor classes that could depend on a "
                       "column",
                       cr_class_name(cr_model_get_class(model)));
    w.classes = task == CR_TASK_CLASSIFICATION ? cr_design_classes(cr_model_get_design(model)) : 0;
    d.row = cr_alloc(cx, MOST_LEVELS, sizeof *d.row);
    d.x = cr_alloc(cx, MOST_LEVELS, sizeof *d.x);
    if (!d.row || !d.x) CR_TRY(CR_ENOMEM);
    CR_TRY(choose_values(cx, t, c, &d));
    CR_TRY(allocate(cx, w.classes > 2 ? w.classes : 1, &d));
    CR_TRY(gather(cx, t, cr_model_get_seed(model), &d, &w.rows, &rows));
    w.table = rows;
    d.rows = w.rows;
    CR_TRY(cri_run_jobs(cx, "predicting", d.n, set_value, &w));
    if (isnan(d.mean[0]))
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: no row has a prediction", cr_table_source(t)));
    *out = d;
    d = (cr_dependence){ 0 };
done:
    cr_table_free(cx, rows);
    cr_dependence_free(cx, &d);
    return st;
}

void cr_dependence_free(cr_ctx *cx, cr_dependence *d)
{
    cr_free(cx, d->row, MOST_LEVELS, sizeof *d->row);
    cr_free(cx, d->x, MOST_LEVELS, sizeof *d->x);
    cr_free(cx, d->mean, d->curves * d->n, sizeof *d->mean);
    cr_free(cx, d->lower, d->curves * d->n, sizeof *d->lower);
    cr_free(cx, d->upper, d->curves * d->n, sizeof *d->upper);
    cr_free(cx, d->band_lower, d->n, sizeof *d->band_lower);
    cr_free(cx, d->band_upper, d->n, sizeof *d->band_upper);
    *d = (cr_dependence){ 0 };
}
