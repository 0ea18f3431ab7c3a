/* importance.c -- permutation importance. */
#include "importance_internal.h"
#include "importance.h"
#include "assess_internal.h"
#include "cross_validate.h"
#include "jobs.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "base/sort.h"
#include "data/table/subset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- which columns --------------------------------------------------------------------------- */

static const char *design_column(const void *design, size_t i)
{
    return cr_design_column_name(design, i);
}

cr_status cri_column_of_model(cr_ctx *cx, const cr_model *model, const char *name, size_t *out)
{
    const cr_design *d = cr_model_get_design(model);
    size_t           n = cr_design_columns(d), i = 0;
    while (i < n && strcmp(cr_design_column_name(d, i), name) != 0) i++;
    if (i < n) return *out = i, CR_OK;
    cr_fail(cx, CR_EARG, "the model does not use a column '%s'", name);
    return cr_fail_nearest(cx, name, "columns of the model", n, design_column, d);
}

/* --- permutations ---------------------------------------------------------------------------- */

typedef struct importance_work {
    const cr_model *model;
    const cr_table *table;
    const size_t   *column;
    size_t          repeats;
    size_t          metric;
    double         *score; /* [columns x repeats] */
} importance_work;

/* The score that counts: the first, which is proper, unless predictions have no spread. */
static size_t choose_metric(const cr_assessment *a)
{
    size_t rmse = cr_metric_find(a, "rmse"), accuracy = cr_metric_find(a, "accuracy");
    if (isnan(a->metrics[0].value) && accuracy < a->n) return accuracy;
    return isnan(a->metrics[0].value) && rmse < a->n ? rmse : 0;
}

static cr_status permute(cr_ctx *cx, void *arg, size_t job)
{
    cr_status        st = CR_OK;
    importance_work *w = arg;
    cr_scratch       s = cr_scratch_begin(cx);
    size_t           n = cr_table_rows(w->table), *rows = cr_scratch_index(&s, n);
    const char      *name =
        cr_design_column_name(cr_model_get_design(w->model), w->column[job / w->repeats]);
    cr_rng rng =
        cr_rng_stream(cr_model_get_seed(w->model), (uint64_t)0x494d50u << 40 ^ job); /* "IMP" */
    cr_table     *other = NULL;
    cr_assessment a;
    CR_TRY(s.status);
    cr_rng_permutation(&rng, n, rows);
    CR_TRY(cri_table_rearrange(cx, w->table, name, rows, &other));
    CR_TRY(
        cri_evaluate(cx, w->model, other, &(cr_judging){ .level = 0.95, .one_of_many = true }, &a));
    w->score[job] = a.metrics[w->metric].value;
done:
    cr_table_free(cx, other);
    cr_scratch_end(&s);
    return st;
}

typedef struct ranked {
    double less; /* minus the importance */
    size_t place;
} ranked;

CRI_COMPARE_BY_TWO(by_importance, ranked, less, place);

/* Mean and standard error of each column, the largest first. */
static cr_status summarise(cr_ctx *cx, const importance_work *w, double base, int sense,
                           cr_importance *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *mean = cr_scratch_f64(&s, out->n), *se = cr_scratch_f64(&s, out->n);
    ranked    *order = cr_scratch_bytes(&s, out->n, sizeof *order);
    double     R = (double)w->repeats;
    CR_TRY(s.status);
    for (size_t k = 0; k < out->n; k++) {
        const double *score = w->score + k * w->repeats;
        double        square = 0;
        mean[k] = 0;
        for (size_t r = 0; r < w->repeats; r++) mean[k] += sense * (base - score[r]) / R;
        for (size_t r = 0; r < w->repeats; r++)
            square += pow(sense * (base - score[r]) - mean[k], 2);
        se[k] = w->repeats > 1 ? sqrt(square / (R - 1) / R) : NAN;
        order[k] = (ranked){ isnan(mean[k]) ? INFINITY : -mean[k], k };
    }
    qsort(order, out->n, sizeof *order, by_importance);
    for (size_t k = 0; k < out->n; k++) {
        out->column[k] = w->column[order[k].place];
        out->value[k] = mean[order[k].place], out->se[k] = se[order[k].place];
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_permutation_importance(cr_ctx *cx, const cr_model *model, const cr_table *t,
                                    const char *const *names, size_t n_names, size_t repeats,
                                    cr_importance *out)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = n_names ? n_names : cr_design_columns(cr_model_get_design(model));
    size_t         *column = cr_scratch_index(&s, n);
    importance_work w = { model, t, column, repeats, 0, cr_scratch_f64(&s, n * repeats) };
    cr_importance   i = { .n = n, .repeats = repeats };
    cr_assessment   base;

    CR_TRY(s.status);
    if (repeats == 0) CR_TRY(cr_fail(cx, CR_EARG, "a column must be permuted at least once"));
    for (size_t k = 0; k < n; k++) column[k] = k;
    for (size_t k = 0; k < n_names; k++)
        CR_TRY(cri_column_of_model(cx, model, names[k], &column[k]));
    CR_TRY(cri_evaluate(cx, model, t, &(cr_judging){ .level = 0.95, .one_of_many = true }, &base));
    w.metric = choose_metric(&base);
    i.metric = base.metrics[w.metric].name, i.score = base.metrics[w.metric].value;
    CR_TRY(cri_run_jobs(cx, "permuting", n * repeats, permute, &w));
    i.column = cr_alloc(cx, n, sizeof *i.column);
    i.value = cr_alloc(cx, n, sizeof *i.value);
    i.se = cr_alloc(cx, n, sizeof *i.se);
    if (!i.column || !i.value || !i.se) CR_TRY(CR_ENOMEM);
    CR_TRY(summarise(cx, &w, i.score, cr_metric_sense(i.metric), &i));
    *out = i;
    i = (cr_importance){ 0 };
done:
    cr_importance_free(cx, &i);
    cr_scratch_end(&s);
    return st;
}

void cr_importance_free(cr_ctx *cx, cr_importance *i)
{
    cr_free(cx, i->column, i->n, sizeof *i->column);
    cr_free(cx, i->value, i->n, sizeof *i->value);
    cr_free(cx, i->se, i->n, sizeof *i->se);
    *i = (cr_importance){ 0 };
}
