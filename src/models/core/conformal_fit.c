/* conformal_fit.c -- the scores of a fitted model of numbers, by fits without some of its rows. */
#include "conformal.h"
#include "model_internal.h"
#include "transform_target.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "data/judge/dealt.h"
#include "data/table/value_order.h"

#include <math.h>
#include <string.h>

/* As many models as rows are fitted, and kept. */
enum { MOST_JACKKNIFE = 1000 };

typedef struct holding_out {
    const cr_model   *model;
    const cr_table   *table;
    const cr_setting *settings; /* without calibration */
    size_t            n_settings;
    cr_folds          folds;
    const double     *y, *w;          /* [rows of the table] */
    double           *error, *spread; /* [rows with a score] fold by fold */
    double           *weight;         /* likewise */
    size_t           *count;          /* [models] rows with a score of each fold */
    size_t            n;              /* rows with a score so far */
    cr_model        **models;         /* [models] */
} holding_out;

/* --- settings and folds ----------------------------------------------------------------------- */

static cr_status check_model(cr_ctx *cx, const cr_model *m, size_t rows)
{
    if (m->task != CR_TASK_REGRESSION) {
        cr_fail(cx, CR_EARG,
                "--calibrate conformal makes intervals for numbers, but %s here does not predict "
                "numbers",
                m->class->name);
        return m->task == CR_TASK_CLASSIFICATION
                   ? cr_fail_hint(cx,
                                  "for probabilities of classes, use --calibrate isotonic or platt")
                   : CR_EARG;
    }
    if (m->class->sequences)
        return cr_fail(cx, CR_EARG,
                       "--calibrate conformal treats rows one by one, but %s has sequences of rows",
                       m->class->name);
    if (m->fit.conformal == CRI_CONFORMAL_JACKKNIFE && rows > MOST_JACKKNIFE) {
        cr_fail(cx, CR_EARG,
                "--conformal jackknife fits and stores a model for each of the %zu rows, but at "
                "most %d are allowed",
                rows, (int)MOST_JACKKNIFE);
        return cr_fail_hint(cx, "--conformal cv --calibrate-folds 20 gives similar intervals");
    }
    return CR_OK;
}

/* --- fits without a fold ---------------------------------------------------------------------- */

/* The scores of one fold's rows, those that have a target. */
static void add_scores(holding_out *h, size_t k, const size_t *rows, const cr_prediction *p)
{
    for (size_t i = 0; i < p->n; i++) {
        double error = fabs(h->y[rows[i]] - p->mean[i]);
        if (isnan(error) || isnan(h->w[rows[i]])) continue;
        h->error[h->n] = error;
        h->spread[h->n] = p->scale[i];
        h->weight[h->n++] = h->w[rows[i]];
        h->count[k]++;
    }
}

static cr_status hold_out(cr_ctx *cx, holding_out *h, size_t k, size_t *rows)
{
    cr_status     st = CR_OK;
    cr_table     *test = NULL;
    cr_prediction p = { 0 };
    CR_TRY(cri_fit_without(cx, h->model->class->name, h->table, h->settings, h->n_settings,
                           &h->folds, k, rows, &h->models[k], &test));
    CR_TRY(cri_predict_latent(cx, h->models[k], test, &p));
    cr_folds_test(&h->folds, k, rows);
    add_scores(h, k, rows, &p);
done:
    cr_prediction_free(cx, &p);
    cr_table_free(cx, test);
    return st;
}

/* Whether the spread of the model can be the unit of scores. */
static bool has_spread(const holding_out *h)
{
    bool all = h->n > 0;
    for (size_t i = 0; all && i < h->n; i++) all = h->spread[i] > 0 && isfinite(h->spread[i]);
    return all;
}

static cr_status choose_scale(cr_ctx *cx, const holding_out *h, bool *out_scaled)
{
    int choice = h->model->fit.conformal_scale;
    *out_scaled = choice != CRI_CONFORMAL_SCALE_NONE && has_spread(h);
    if (choice != CRI_CONFORMAL_SCALE_SD || *out_scaled) return CR_OK;
    cr_fail(cx, CR_EDATA, "--conformal-scale sd needs a predicted sd in every row, but %s has none",
            h->model->class->name);
    return cr_fail_hint(cx, "use --conformal-scale none for the same width everywhere");
}

static cr_status make_scores(cr_ctx *cx, holding_out *h, size_t models, cr_conformal **out)
{
    cr_status     st = CR_OK;
    cr_conformal *c = NULL;
    bool          scaled;
    double        weight = 0;
    CR_TRY(choose_scale(cx, h, &scaled));
    for (size_t i = 0; i < h->n; i++) {
        weight += h->weight[i];
        if (scaled) h->error[i] /= h->spread[i];
        if (!isfinite(h->error[i]))
            CR_TRY(cr_fail(cx, CR_ENUMERIC, "the errors of held-out rows overflow"));
    }
    if (!(weight > 0))
        CR_TRY(cr_fail(cx, CR_EDATA, "no row with a target was held out for the calibration"));
    CR_TRY(cri_conformal_new(cx, h->error, h->weight, h->count, models, scaled, &c));
    memcpy(c->models, h->models, models * sizeof *c->models);
    memset(h->models, 0, models * sizeof *c->models);
    c->transform = h->model->design->transform;
    *out = c;
    if (weight < cri_conformal_least(0.95) * (1 - 1e-12))
        cr_log(cx, CR_LOG_WARNING,
               "intervals of level 0.95 will be infinite: they need 19 held-out rows, but there "
               "are %.6g",
               weight);
done:
    return st;
}

static cr_status fit_held_out(cr_ctx *cx, cr_model *m, const cr_table *t, const cri_dealt *dealt,
                              const cr_setting *settings, size_t n_settings)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      n = cr_table_rows(t), *rows = cr_scratch_index(&s, n), models = 0;
    bool        each = m->fit.conformal == CRI_CONFORMAL_JACKKNIFE;
    cr_setting *some = cr_scratch_bytes(&s, n_settings, sizeof *some);
    double     *y = cr_scratch_f64(&s, n), *w = cr_scratch_f64(&s, n);
    holding_out h = { .model = m, .table = t, .settings = some, .y = y, .w = w };

    h.error = cr_scratch_f64(&s, n), h.spread = cr_scratch_f64(&s, n);
    h.weight = cr_scratch_f64(&s, n), h.count = cr_scratch_bytes(&s, n, sizeof *h.count);
    h.models = cr_scratch_bytes(&s, n, sizeof *h.models);
    CR_TRY(s.status);
    CR_TRY(check_model(cx, m, n));
    h.n_settings = cri_settings_plain(settings, n_settings, false, some);
    CR_TRY(cr_observed(cx, m, t, y, w));
    for (size_t i = 0; i < n; i++) y[i] = cri_transform_forward(m->design->transform, y[i]);
    CR_TRY(each ? cr_folds_new(cx, n, n, m->fit.seed, &h.folds)
                : cri_dealt_split(cx, dealt, n, m->fit.calibrate_folds, m->fit.seed, &h.folds));
    models = m->fit.conformal == CRI_CONFORMAL_SPLIT ? 1 : h.folds.k;
    cri_mute_warnings(cx, true); /* the fit to all rows has said it */
    for (size_t k = 0; k < models; k++) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(hold_out(cx, &h, k, rows));
    }
    cri_mute_warnings(cx, false);
    CR_TRY(make_scores(cx, &h, models, &m->conformal));
done:
    cri_mute_warnings(cx, false);
    for (size_t k = 0; k < models; k++) cr_model_free(cx, h.models[k]);
    cr_folds_free(cx, &h.folds);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_conformal_fit(cr_ctx *cx, cr_model *m, const cr_table *t, const cr_setting *settings,
                            size_t n_settings)
{
    cr_status st = CR_OK;
    cri_dealt dealt = { 0 };
    cr_table *sorted = NULL; /* folds are dealt by values, not by places */
    CR_TRY(cri_table_by_values(cx, t, &sorted));
    if (m->fit.conformal != CRI_CONFORMAL_JACKKNIFE) CR_TRY(cri_dealt_rows(cx, m, sorted, &dealt));
    CR_TRY(fit_held_out(cx, m, dealt.table ? dealt.table : sorted, &dealt, settings, n_settings));
done:
    cri_dealt_free(cx, &dealt);
    cr_table_free(cx, sorted);
    return st;
}
