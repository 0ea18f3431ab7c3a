/* compare_models.c -- models on the same folds, paired. */
#include "compare_models.h"
#include "assess_internal.h"
#include "average_internal.h"
#include "jobs.h"
#include "plan.h"
#include "math/special/special.h"

#include <math.h>

/* --- differences ----------------------------------------------------------------------------- */

cr_paired cr_paired_difference(const cr_cv *a, const cr_cv *b, size_t m, double ratio)
{
    double mean = 0, square = 0, n = (double)(a->folds * a->repeats);
    for (int pass = 0; pass < 2; pass++)
        for (size_t r = 0; r < a->repeats; r++) {
            const cr_assessment *x = a->fold + r * a->folds, *y = b->fold + r * a->folds;
            cri_pool             px = cri_pool_of(x, a->folds, m), py = cri_pool_of(y, a->folds, m);
            for (size_t f = 0; f < a->folds; f++) {
                double d = cri_pool_part(&px, &x[f]) - cri_pool_part(&py, &y[f]);
                if (pass == 0)
                    mean += d / n;
                else
                    square += (d - mean) * (d - mean) / (n - 1);
            }
        }
    cr_paired p = { .difference = mean, .se = sqrt((1 / n + ratio) * square) };
    p.t = p.se > 0 ? mean / p.se : NAN;
    p.p = 2 * cr_student_t_cdf(-fabs(p.t), n - 1);
    return p;
}

/* The model with the best mean; n where no model has one, or none is better. */
static size_t find_best(const cr_compared *models, size_t n, size_t m)
{
    size_t best = n;
    int    sense = cr_metric_sense(models[0].cv.mean.metrics[m].name);
    for (size_t k = 0; sense != 0 && k < n; k++) {
        double x = sense * models[k].cv.mean.metrics[m].value;
        if (isnan(x)) continue;
        if (best == n || x > sense * models[best].cv.mean.metrics[m].value) best = k;
    }
    return best;
}

static void pair(cr_compared *model, const cr_comparison *c, size_t m, double ratio)
{
    cr_paired none = { NAN, NAN, NAN, NAN }, self = { 0, 0, NAN, NAN };
    size_t    best = c->best[m];
    if (best == c->n)
        model->paired[m] = none;
    else if (model == &c->models[best])
        model->paired[m] = self;
    else
        model->paired[m] = cr_paired_difference(&model->cv, &c->models[best].cv, m, ratio);
}

/* Test rows for each training row, on average over the folds. */
static double row_ratio(const cri_plan *p)
{
    double sum = 0;
    for (size_t f = 0; f < p->folds; f++)
        sum += (double)cr_folds_test(&p->split[0], f, NULL) /
               (double)cr_folds_train(&p->split[0], f, NULL);
    return sum / (double)p->folds;
}

/* --- the work -------------------------------------------------------------------------------- */

typedef struct compare_work {
    const cri_plan *plan;
    bool            average;
    cr_comparison  *out;
} compare_work;

/* Why there are no weights, by the model at fault. */
static cr_status fail_average(cr_ctx *cx, const cri_plan *plan, const cr_fit_scores *m, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (isfinite(m[k].log_evidence) || isfinite(m[k].bic)) continue;
        cr_fail(cx, CR_EUNSUPPORTED,
                "the models cannot be averaged: %s has neither log evidence nor BIC",
                plan->specs[k].model);
        return cr_fail_hint(cx, "leave it out, or compare without --average");
    }
    for (size_t k = 0; k < n; k++) {
        if (isfinite(m[k].bic)) continue;
        for (size_t j = 0; j < n; j++) {
            if (isfinite(m[j].log_evidence)) continue;
            cr_fail(cx, CR_EUNSUPPORTED,
                    "the models cannot be averaged: %s has log evidence and no BIC, %s BIC and no "
                    "log evidence",
                    plan->specs[k].model, plan->specs[j].model);
            return cr_fail_hint(cx, "leave one of them out, or compare without --average");
        }
    }
    for (size_t k = 1; k < n; k++) {
        if (m[k].joint == m[0].joint) continue;
        cr_fail(cx, CR_EUNSUPPORTED,
                "the models cannot be averaged: the likelihood of %s is that of target and "
                "columns, that of "
                "%s of the target given the columns",
                plan->specs[m[k].joint ? k : 0].model, plan->specs[m[k].joint ? 0 : k].model);
        return cr_fail_hint(cx, "average models of one kind, or compare without --average");
    }
    for (size_t k = 1; k < n; k++) {
        if (m[k].unknown == m[0].unknown) continue;
        cr_fail(cx, CR_EUNSUPPORTED,
                "the models cannot be averaged: other states start unknown in %s than in %s, so "
                "that their likelihoods are not of the same values",
                plan->specs[k].model, plan->specs[0].model);
        return cr_fail_hint(cx,
                            "compare without --average: scores of rows held out can be compared");
    }
    for (size_t k = 1; k < n; k++) {
        if (m[k].rows == m[0].rows) continue;
        cr_fail(cx, CR_EUNSUPPORTED,
                "the models cannot be averaged: %s learned from %zu rows, %s from %zu",
                plan->specs[0].model, m[0].rows, plan->specs[k].model, m[k].rows);
        return cr_fail_hint(cx,
                            "choose --features without missing values to make the rows the same");
    }
    return cr_fail(cx, CR_EUNSUPPORTED, "the models cannot be averaged");
}

static cr_status score_average(cr_ctx *cx, const compare_work *w, cr_model *const *models,
                               const cr_table *test, cr_assessment *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    size_t         n = w->out->n;
    cr_fit_scores *scores = cr_scratch_bytes(&s, n, sizeof *scores);
    double        *weights = cr_scratch_f64(&s, n);
    CR_TRY(s.status);
    for (size_t k = 0; k < n; k++) CR_TRY(cr_fit_scores_of(cx, models[k], &scores[k]));
    if (cr_model_weights(scores, n, weights) == CR_WEIGHTS_NONE)
        CR_TRY(fail_average(cx, w->plan, scores, n));
    CR_TRY(cri_average_evaluate(cx, (const cr_model *const *)models, weights, n, test,
                                &w->plan->how, out));
done:
    cr_scratch_end(&s);
    return st;
}

/* All models on one fold. */
static cr_status compare_fold(cr_ctx *cx, void *arg, size_t f)
{
    cr_status           st = CR_OK;
    const compare_work *w = arg;
    cr_scratch          s = cr_scratch_begin(cx);
    cr_model          **models = cr_scratch_bytes(&s, w->out->n, sizeof *models);
    cr_table           *train = NULL, *test = NULL;

    CR_TRY(s.status);
    CR_TRY(cri_plan_tables(cx, w->plan, f, &train, &test));
    for (size_t k = 0; k < w->out->n; k++) {
        const cr_model_spec *m = &w->plan->specs[k];
        CR_TRY(cr_fit(cx, m->model, train, m->settings, m->n_settings, &models[k]));
        CR_TRY(cri_evaluate(cx, models[k], test, &w->plan->how, &w->out->models[k].cv.fold[f]));
        if (w->average) continue;
        cr_model_free(cx, models[k]);
        models[k] = NULL;
    }
    if (w->average) CR_TRY(score_average(cx, w, models, test, &w->out->average.cv.fold[f]));
done:
    for (size_t k = 0; models && k < w->out->n; k++) cr_model_free(cx, models[k]);
    cr_table_free(cx, train);
    cr_table_free(cx, test);
    cr_scratch_end(&s);
    return cri_plan_note(cx, w->plan, f, st);
}

static cr_status fit_whole(cr_ctx *cx, void *arg, size_t k)
{
    const compare_work  *w = arg;
    const cr_model_spec *m = &w->plan->specs[k];
    cr_model            *model = NULL;
    cr_status st = cr_fit(cx, m->model, w->plan->table, m->settings, m->n_settings, &model);
    if (st == CR_OK) st = cr_fit_scores_of(cx, model, &w->out->models[k].fit);
    cr_model_free(cx, model);
    return st;
}

static cr_status allocate_folds(cr_ctx *cx, const cri_plan *p, cr_compared *model)
{
    model->cv = (cr_cv){ .folds = p->folds, .repeats = p->repeats, .seed = p->seed };
    model->cv.fold = cr_alloc(cx, p->folds * p->repeats, sizeof *model->cv.fold);
    return model->cv.fold ? CR_OK : CR_ENOMEM;
}

static void summarise(cr_cv *cv)
{
    cri_scores_mean(cv->fold, cv->folds, cv->repeats, &cv->mean, cv->se);
}

/* All models on all folds, or on those that there is time for. */
static cr_status compare_folds(cr_ctx *cx, compare_work *w)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    const cri_plan *p = w->plan;
    size_t          n = p->folds * p->repeats, folds, repeats, *which = cr_scratch_index(&s, n);
    bool           *done = cr_scratch_bytes(&s, n, sizeof *done);
    CR_TRY(s.status);
    CR_TRY(cri_run_jobs_in_time(cx, "comparing", n, compare_fold, w, 0.9, done));
    CR_TRY(cri_plan_keep(cx, p, done, which, &folds, &repeats));
    for (size_t k = 0; k < w->out->n; k++)
        CR_TRY(cri_plan_compact(cx, which, folds, repeats, &w->out->models[k].cv));
    if (w->average) CR_TRY(cri_plan_compact(cx, which, folds, repeats, &w->out->average.cv));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status weigh(cr_ctx *cx, const cri_plan *plan, cr_comparison *c)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    cr_fit_scores *scores = cr_scratch_bytes(&s, c->n, sizeof *scores);
    double        *weights = cr_scratch_f64(&s, c->n);
    CR_TRY(s.status);
    for (size_t k = 0; k < c->n; k++) scores[k] = c->models[k].fit;
    c->basis = cr_model_weights(scores, c->n, weights);
    for (size_t k = 0; k < c->n; k++) c->models[k].weight = weights[k];
    if (c->averaged && c->basis == CR_WEIGHTS_NONE) CR_TRY(fail_average(cx, plan, scores, c->n));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_compare_models(cr_ctx *cx, const cr_model_spec *specs, size_t n, const cr_table *t,
                            const cr_cv_options *options, bool average, cr_comparison *out)
{
    cr_status     st = CR_OK;
    cri_plan      plan = { 0 };
    cr_comparison c = { .averaged = average };
    compare_work  w = { &plan, average, &c };

    if (n == 0) return cr_fail(cx, CR_EARG, "there is no model to compare");
    CR_TRY(cri_plan_open(cx, specs, n, t, options, &plan));
    c.models = cr_alloc(cx, n, sizeof *c.models);
    if (!c.models) CR_TRY(CR_ENOMEM);
    c.n = n;
    for (size_t k = 0; k < n; k++) CR_TRY(allocate_folds(cx, &plan, &c.models[k]));
    if (average) CR_TRY(allocate_folds(cx, &plan, &c.average));
    CR_TRY(cri_run_jobs(cx, "fitting", n, fit_whole, &w));
    CR_TRY(weigh(cx, &plan, &c));
    CR_TRY(compare_folds(cx, &w));
    for (size_t k = 0; k < n; k++) {
        cr_cv *cv = &c.models[k].cv;
        cri_scores_warn(cx, specs[k].model, cv->fold, cv->folds * cv->repeats);
        summarise(cv);
    }
    if (average) summarise(&c.average.cv);
    c.average.fit = (cr_fit_scores){ NAN, NAN, NAN, NAN, CR_EVIDENCE_EXACT, 0, false, 0 };
    c.average.weight = NAN;
    double ratio = row_ratio(&plan);
    for (size_t m = 0; m < c.models[0].cv.mean.n; m++) {
        c.best[m] = find_best(c.models, n, m);
        for (size_t k = 0; k < n; k++) pair(&c.models[k], &c, m, ratio);
        if (average) pair(&c.average, &c, m, ratio);
    }
    *out = c;
    c = (cr_comparison){ 0 };
done:
    cr_comparison_free(cx, &c);
    cri_plan_close(cx, &plan);
    return st;
}

void cr_comparison_free(cr_ctx *cx, cr_comparison *c)
{
    for (size_t k = 0; c->models && k < c->n; k++) cr_cv_free(cx, &c->models[k].cv);
    cr_cv_free(cx, &c->average.cv);
    cr_free(cx, c->models, c->n, sizeof *c->models);
    *c = (cr_comparison){ 0 };
}
