/* calibrate_fit.c -- a fitted classifier calibrated by cross-fitting.
 * Folds are dealt by the values of the rows, not by their places; with few rows a map depends on how they fall, so it is
 * learned from several splits. */
#include "calibrate.h"
#include "model_internal.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "data/judge/dealt.h"
#include "data/table/subset.h"
#include "data/table/value_order.h"

#include <math.h>
#include <string.h>

enum { ROWS_ENOUGH = 500, MOST_SPLITS = 5 };

typedef struct crossing {
    const cr_model   *model;
    const cr_table   *table;    /* classes as a category */
    const cr_setting *settings; /* ending with calibrate=none */
    size_t            n_settings;
    cr_folds          folds;
    double           *P; /* [rows x width] what models without the row said of it */
    size_t            K, width;
    bool              pairs; /* decision values of pairs of classes, else probabilities */
} crossing;

cr_status cri_fit_without(cr_ctx *cx, const char *name, const cr_table *t,
                          const cr_setting *settings, size_t n_settings, const cr_folds *folds,
                          size_t f, size_t *rows, cr_model **out_model, cr_table **out_test)
{
    cr_status st = CR_OK;
    cr_table *train = NULL, *test = NULL;
    size_t    n = cr_folds_train(folds, f, rows);

    CR_TRY(cri_table_subset(cx, t, rows, n, &train));
    n = cr_folds_test(folds, f, rows);
    CR_TRY(cri_table_subset(cx, t, rows, n, &test));
    st = cr_fit(cx, name, train, settings, n_settings, out_model);
    if (st != CR_OK && st != CR_ENOMEM && st != CR_EINTERRUPTED)
        cr_fail_note(cx, "in fold %zu of %zu of the calibration", f + 1, folds->k);
    CR_TRY(st);
    *out_test = test;
    test = NULL;
done:
    cr_table_free(cx, train);
    cr_table_free(cx, test);
    return st;
}

/* One fold: fit to the others, predict it. */
static cr_status cross(cr_ctx *cx, crossing *c, size_t f, size_t *rows)
{
    cr_status     st = CR_OK;
    cr_table     *test = NULL;
    cr_model     *m = NULL;
    cr_prediction p = { 0 };

    CR_TRY(cri_fit_without(cx, c->model->class->name, c->table, c->settings, c->n_settings,
                           &c->folds, f, rows, &m, &test));
    CR_TRY(cr_predict(cx, m, test, &p));
    size_t n = cr_folds_test(&c->folds, f, rows);
    if (p.n_classes != c->K)
        CR_TRY(cr_fail(cx, CR_EDATA,
                       "a fold of the calibration has %zu classes, but all rows have %zu",
                       p.n_classes, c->K));
    const double *said = c->pairs ? p.decision : p.prob;
    for (size_t i = 0; i < n; i++)
        memcpy(c->P + rows[i] * c->width, said + i * c->width, c->width * sizeof *c->P);
done:
    cr_prediction_free(cx, &p);
    cr_model_free(cx, m);
    cr_table_free(cx, test);
    return st;
}

/* What the splits say together, a row of each with its part of the weight. */
typedef struct pool {
    double   *P, *w; /* [splits x rows x K], [splits x rows] */
    uint32_t *codes; /* [splits x rows] */
    size_t    n;     /* so far */
} pool;

/* Adds the rows with target and prediction. */
static void keep_known(const crossing *c, const double *y, const double *w, size_t rows,
                       double splits, pool *to)
{
    for (size_t i = 0; i < rows; i++) {
        if (isnan(y[i]) || isnan(c->P[i * c->width])) continue;
        to->codes[to->n] = (uint32_t)y[i], to->w[to->n] = w[i] / splits;
        memcpy(to->P + to->n * c->width, c->P + i * c->width, c->width * sizeof *c->P);
        to->n++;
    }
}

static cr_status make_folds(cr_ctx *cx, const crossing *c, const cri_dealt *dealt,
                            const uint32_t *codes, size_t split, cr_folds *out)
{
    size_t   k = c->model->fit.calibrate_folds;
    uint64_t seed = c->model->fit.seed + split * 0x9e3779b97f4a7c15u;
    return dealt->table ? cri_dealt_folds(cx, dealt, codes, k, seed, out)
                        : cr_folds_new_stratified(cx, codes, cr_table_rows(c->table), k, seed, out);
}

/* All folds of one split. */
static cr_status cross_all(cr_ctx *cx, crossing *c, size_t *rows)
{
    cr_status st = CR_OK;
    cri_mute_warnings(cx, true); /* the fit to all rows has said it */
    for (size_t f = 0; f < c->folds.k && st == CR_OK; f++) {
        st = cr_check_interrupt(cx);
        if (st == CR_OK) st = cross(cx, c, f, rows);
    }
    cri_mute_warnings(cx, false);
    return st;
}

/* Whether the model decides between pairs of classes, as it says of a row. */
static cr_status ask_for_pairs(cr_ctx *cx, const cr_model *m, const cr_table *t, bool *out)
{
    cr_status     st = CR_OK;
    cr_table     *one = NULL;
    cr_prediction p = { 0 };
    size_t        row = 0;
    CR_TRY(cri_table_subset(cx, t, &row, 1, &one));
    CR_TRY(cr_predict(cx, m, one, &p));
    *out = p.of_pairs;
done:
    cr_prediction_free(cx, &p);
    cr_table_free(cx, one);
    return st;
}

static cr_status check_task(cr_ctx *cx, const cr_model *m)
{
    const char *how = m->fit.calibrate == CRI_CALIBRATE_PLATT ? "platt" : "isotonic";
    if (m->class->sequences)
        return cr_fail(cx, CR_EARG,
                       "--calibrate %s treats rows one by one, but %s has sequences of rows", how,
                       m->class->name);
    if (m->task == CR_TASK_CLASSIFICATION) return CR_OK;
    cr_fail(cx, CR_EARG, "--calibrate %s needs a model that predicts classes, but %s here does not",
            how, m->class->name);
    if (m->class->tasks & CR_TASK_CLASSIFICATION)
        return cr_fail_hint(cx,
                            "--task classification treats the values of %s as classes; for "
                            "intervals of numbers, use --calibrate conformal",
                            m->design->target.name);
    return m->task == CR_TASK_REGRESSION
               ? cr_fail_hint(cx, "for intervals of numbers, use --calibrate conformal")
               : CR_EARG;
}

cr_status cri_dealt_rows(cr_ctx *cx, const cr_model *m, const cr_table *t, cri_dealt *out)
{
    const cr_option *are = cr_option_find(m->class->options, "weights_are");
    bool             counts =
        !are || *(const int *)((const char *)m->options + are->offset) == 0; /* repetitions */
    return cri_dealt_open(cx, t, m->task == CR_TASK_REGRESSION ? m->design->target.name : NULL,
                          counts ? m->design->weights : NULL, m->fit.calibrate_folds, m->fit.seed,
                          out);
}

/* The same of a table whose rows are dealt as they are, or by their parts. */
static cr_status calibrate(cr_ctx *cx, cr_model *m, const cr_table *t, const cri_dealt *dealt,
                           const cr_setting *settings, size_t n_settings)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      n = cr_table_rows(t), K = cr_design_classes(m->design);
    size_t      splits = n * MOST_SPLITS <= ROWS_ENOUGH ? MOST_SPLITS : (ROWS_ENOUGH + n - 1) / n;
    cr_setting *all = cr_scratch_bytes(&s, n_settings + 1, sizeof *all);
    double     *y = cr_scratch_f64(&s, n), *w = cr_scratch_f64(&s, n);
    pool        all_splits = { .w = cr_scratch_matrix(&s, splits, n) };
    size_t     *rows = cr_scratch_index(&s, n);
    cr_table   *classes = NULL;
    crossing c = { .model = m, .table = t, .settings = all, .n_settings = n_settings + 1, .K = K };

    CR_TRY(check_task(cx, m));
    CR_TRY(ask_for_pairs(cx, m, t, &c.pairs));
    c.width = c.pairs ? K * (K - 1) / 2 : K;
    c.P = cr_scratch_matrix(&s, n, c.width);
    all_splits.P = cr_scratch_matrix(&s, splits * n, c.width);
    all_splits.codes = cr_scratch_bytes(&s, splits * n, sizeof *all_splits.codes);
    CR_TRY(s.status);
    if (n_settings > 0) memcpy(all, settings, n_settings * sizeof *all);
    all[n_settings] = (cr_setting){ "calibrate", "none" };
    const cr_column *target = cr_table_find(t, m->design->target.name);
    if (target->type != CR_CATEGORY) {
        CR_TRY(cri_table_with_classes(cx, t, target->name, &classes));
        c.table = classes;
        target = cr_table_find(classes, target->name);
    }
    CR_TRY(cr_observed(cx, m, t, y, w));
    for (size_t split = 0; split < splits; split++) {
        CR_TRY(make_folds(cx, &c, dealt, target->codes, split, &c.folds));
        CR_TRY(cross_all(cx, &c, rows));
        keep_known(&c, y, w, n, (double)splits, &all_splits);
        cr_folds_free(cx, &c.folds);
    }
    CR_TRY(cri_calibration_fit(cx, (size_t)m->fit.calibrate, all_splits.P, c.pairs,
                               all_splits.codes, all_splits.w, all_splits.n, K, &m->calibration));
done:
    cr_folds_free(cx, &c.folds);
    cr_table_free(cx, classes);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_calibrate_model(cr_ctx *cx, cr_model *m, const cr_table *t,
                              const cr_setting *settings, size_t n_settings)
{
    cr_status st = CR_OK;
    cri_dealt dealt = { 0 };
    cr_table *sorted = NULL;
    CR_TRY(cri_table_by_values(cx, t, &sorted));
    CR_TRY(cri_dealt_rows(cx, m, sorted, &dealt));
    CR_TRY(calibrate(cx, m, dealt.table ? dealt.table : sorted, &dealt, settings, n_settings));
done:
    cri_dealt_free(cx, &dealt);
    cr_table_free(cx, sorted);
    return st;
}
