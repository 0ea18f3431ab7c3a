/* assess.c -- evaluation. */
#include "assess.h"
#include "../base/scratch.h"

#include <math.h>
#include <string.h>

static void add_metric(cr_assessment *a, const char *name, double value)
{
    a->metrics[a->n++] = (cr_metric){ name, value };
}

/* Moves the rows that have both target and prediction to the front; returns their number. */
static size_t keep_scored(cr_prediction *p, double *y, double *w)
{
    size_t n = 0, K = p->n_classes;
    for (size_t i = 0; i < p->n; i++) {
        bool scored = !isnan(y[i]) && !isnan(p->mean ? p->mean[i] : p->prob[i * K]);
        if (!scored) continue;
        y[n] = y[i], w[n] = w[i];
        if (p->mean) p->mean[n] = p->mean[i], p->scale[n] = p->scale[i], p->dof[n] = p->dof[i];
        for (size_t k = 0; k < K; k++) p->prob[n * K + k] = p->prob[i * K + k];
        n++;
    }
    return n;
}

static cr_status assess_numbers(cr_ctx *cx, const cr_prediction *p, const double *y, const double *w,
                                double level, cr_assessment *a)
{
    bool          spread = a->rows > 0 && p->scale[0] > 0; /* no distribution without residual dof */
    cr_predictive d = { a->rows, p->mean, spread ? p->scale : NULL, spread ? p->dof : NULL };
    cr_regression_metrics m;
    cr_status             st = cr_regression_evaluate(cx, y, &d, w, level, &m);
    if (st != CR_OK) return st;
    add_metric(a, "log_score", m.log_score);
    add_metric(a, "rmse", m.rmse);
    add_metric(a, "mae", m.mae);
    add_metric(a, "r2", m.r2);
    add_metric(a, "crps", m.crps);
    add_metric(a, "coverage", m.coverage);
    add_metric(a, "width", m.width);
    return CR_OK;
}

static cr_status assess_classes(cr_ctx *cx, const cr_prediction *p, const double *y, const double *w,
                                cr_assessment *a)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    uint32_t        *codes = cr_scratch_bytes(&s, a->rows, sizeof *codes);
    cr_class_metrics m;
    CR_TRY(s.status);
    for (size_t i = 0; i < a->rows; i++) codes[i] = (uint32_t)y[i];
    CR_TRY(cr_class_evaluate(cx, codes, cr_cmat_of(p->prob, a->rows, p->n_classes), w, &m));
    add_metric(a, "log_loss", m.log_loss);
    add_metric(a, "accuracy", m.accuracy);
    add_metric(a, "brier", m.brier);
    add_metric(a, "auc", m.auc);
    add_metric(a, "calibration_error", m.calibration_error);
    a->has_bins = true;
    memcpy(a->bins, m.bins, sizeof a->bins);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_evaluate(cr_ctx *cx, const cr_model *model, const cr_table *t, double level,
                      cr_assessment *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        n = cr_table_rows(t);
    double       *y = cr_scratch_f64(&s, n), *w = cr_scratch_f64(&s, n);
    cr_prediction p = { 0 };
    cr_assessment a = { 0 };

    CR_TRY(s.status);
    CR_TRY(cr_observed(cx, model, t, y, w));
    CR_TRY(cr_predict(cx, model, t, &p));
    a.rows = keep_scored(&p, y, w);
    if (a.rows == 0)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: no row has both target and prediction",
                       cr_table_source(t)));
    CR_TRY(p.kind == CR_ANSWER_NUMBER ? assess_numbers(cx, &p, y, w, level, &a)
                                      : assess_classes(cx, &p, y, w, &a));
    *out = a;
done:
    cr_prediction_free(cx, &p);
    cr_scratch_end(&s);
    return st;
}
