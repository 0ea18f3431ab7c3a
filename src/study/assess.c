/* assess.c -- evaluation. */
#include "assess_internal.h"
#include "base/scratch.h"
#include "prob/dist/tail_integral.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const cri_metric_kind *cri_metric_kind_of(const char *name)
{
    static const cri_metric_kind kinds[] = {
        { "log_score", 1, false, false },
        { "rmse", -1, false, true },
        { "mae", -1, false, false },
        { "r2", 1, true, true },
        { "crps", -1, false, false },
        { "coverage", 0, false, true },
        { "width", 0, false, false },
        { "log_loss", -1, false, false },
        { "accuracy", 1, false, true },
        { "brier", -1, false, false },
        { "auc", 1, true, true },
        { "calibration_error", -1, false, false },
        { "balanced_accuracy", 1, false, false },
        { "f1", 1, true, true },
        { "average_precision", 1, true, false },
        { "loss", -1, false, true },
        { "perplexity", -1, false, true },
        { "", 0, false, false },
    };
    size_t i = 0;
    while (*kinds[i].name && strcmp(kinds[i].name, name) != 0) i++;
    return &kinds[i];
}

static void add_metric(cr_assessment *a, const char *name, double value)
{
    if (a->n < CR_MOST_METRICS) a->metrics[a->n++] = (cr_metric){ name, value, NAN };
}

void cri_assess_add_numbers(cr_assessment *a, const cr_regression_metrics *m)
{
    add_metric(a, "log_score", m->log_score);
    add_metric(a, "rmse", m->rmse);
    add_metric(a, "mae", m->mae);
    add_metric(a, "r2", m->r2);
    add_metric(a, "crps", m->crps);
    add_metric(a, "coverage", m->coverage);
    add_metric(a, "width", m->width);
    a->target_mean = m->target_mean;
    a->target_variance = m->target_variance;
}

void cri_assess_add_classes(cr_assessment *a, const cr_class_metrics *m)
{
    add_metric(a, "log_loss", m->log_loss);
    add_metric(a, "accuracy", m->accuracy);
    add_metric(a, "brier", m->brier);
    add_metric(a, "auc", m->auc);
    add_metric(a, "calibration_error", m->calibration_error);
    add_metric(a, "balanced_accuracy", m->balanced_accuracy);
    add_metric(a, "f1", m->f1);
    add_metric(a, "average_precision", m->average_precision);
}

cr_status cri_assess_add_loss(cr_ctx *cx, const cr_prediction *p, const cr_loss *loss,
                              const double *y, const double *w, cr_assessment *a)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cr_prediction scored = *p;
    cr_decisions  d = { 0 };
    double       *cost = cr_scratch_f64(&s, a->rows), sum = 0;
    CR_TRY(s.status);
    scored.n = a->rows;
    CR_TRY(cr_decide(cx, &scored, loss, &d));
    CR_TRY(cr_decisions_cost(cx, &scored, loss, &d, y, cost));
    for (size_t i = 0; i < a->rows; i++) sum += w[i] * cost[i];
    add_metric(a, "loss", sum / a->weight);
done:
    cr_decisions_free(cx, &d);
    cr_scratch_end(&s);
    return st;
}

static bool has_answer(const cr_prediction *p, size_t i)
{
    if (p->mean) return !isnan(p->mean[i]);
    return !isnan(p->log_density ? p->log_density[i] : p->prob[i * p->n_classes]);
}

static void move(double *opt_a, size_t width, size_t to, size_t from)
{
    if (opt_a && to != from)
        memcpy(opt_a + to * width, opt_a + from * width, width * sizeof *opt_a);
}

/* Moves the rows that have both target and prediction to the front; returns their number. */
static size_t keep_scored(cr_prediction *p, double *y, double *w)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (isnan(y[i]) || isnan(w[i]) || !has_answer(p, i)) continue;
        y[n] = y[i], w[n] = w[i];
        double *columns[] = { p->mean, p->scale, p->dof, p->log_density, p->observations };
        for (size_t c = 0; c < 5; c++) move(columns[c], 1, n, i);
        move(p->prob, p->n_classes, n, i);
        move(p->params, p->n_params, n, i);
        move(p->fold_mean, p->n_folds, n, i);
        move(p->fold_scale, p->n_folds, n, i);
        n++;
    }
    return n;
}

/* How many of the first n predictions have no spread: noise that could not be told, or none. */
static size_t count_points(const cr_prediction *p, size_t n)
{
    size_t points = 0;
    for (size_t i = 0; i < n; i++) {
        bool point = p->family ? isnan(p->params[i * p->n_params]) : !(p->scale[i] > 0);
        points += point;
    }
    return points;
}

/* Fills what the points alone do not give, for a distribution that is not Student's. */
static cr_status assess_family(cr_ctx *cx, const cr_prediction *p, const double *y, const double *w,
                               double level, size_t n, cr_regression_metrics *m)
{
    cr_status st = CR_OK;
    double    weight = 0, score = 0, crps = 0, covered = 0, width = 0;
    for (size_t i = 0; i < n; i++) {
        const double *params = p->params + i * p->n_params;
        double        log_density, ranked, lower, upper;
        if (i % 256 == 0) CR_TRY(cr_check_interrupt(cx));
        if (w[i] == 0) continue;
        CR_TRY(cr_dist_logpdf(cx, p->family, params, p->n_params, y[i], &log_density));
        CR_TRY(cr_dist_crps(cx, p->family, params, p->n_params, y[i], &ranked));
        CR_TRY(cr_dist_interval(cx, p->family, params, p->n_params, level, &lower, &upper));
        weight += w[i];
        score += w[i] * log_density;
        crps += w[i] * ranked;
        covered += lower <= y[i] && y[i] <= upper ? w[i] : 0;
        width += w[i] * (upper - lower);
    }
    m->log_score = score / weight, m->crps = crps / weight;
    m->coverage = covered / weight, m->width = width / weight;
done:
    return st;
}

/* Coverage and width of intervals that are not of the distribution. */
static cr_status assess_intervals(cr_ctx *cx, const cr_prediction *p, const double *y,
                                  const double *w, double level, size_t n, cr_regression_metrics *m)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cr_prediction scored = *p; /* the rows that were moved to the front */
    double       *lower = cr_scratch_f64(&s, n), *upper = cr_scratch_f64(&s, n);
    double        weight = 0, covered = 0, width = 0;

    CR_TRY(s.status);
    scored.n = n;
    CR_TRY(cr_prediction_intervals(cx, &scored, level, NULL, lower, upper));
    for (size_t i = 0; i < n; i++) {
        if (w[i] == 0) continue;
        weight += w[i];
        covered += lower[i] <= y[i] && y[i] <= upper[i] ? w[i] : 0;
        width += w[i] * (upper[i] - lower[i]);
    }
    m->coverage = covered / weight, m->width = width / weight;
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status assess_numbers(cr_ctx *cx, const cr_prediction *p, const double *y,
                                const double *w, const cr_judging *how, cr_assessment *a)
{
    cr_status     st = CR_OK;
    double        level = how->level;
    size_t        points = count_points(p, a->rows);
    bool          spread = !p->family && points == 0;
    cr_predictive d = { a->rows, p->mean, spread ? p->scale : NULL, spread ? p->dof : NULL };
    cr_regression_metrics m;

    CR_TRY(cr_regression_evaluate(cx, y, &d, w, level, &m));
    if (p->family && points == 0) CR_TRY(assess_family(cx, p, y, w, level, a->rows, &m));
    if (p->conformal) CR_TRY(assess_intervals(cx, p, y, w, level, a->rows, &m));
    if (p->family && p->n > 0 && strcmp(cr_dist_name(p->family), "asymmetric-laplace") == 0 &&
        p->params[2] != 0.5)
        a->quantile = p->params[2];
    if (points && !how->one_of_many)
        cr_log(cx, CR_LOG_WARNING,
               "%zu of %zu rows are predicted without a standard deviation: log_score%s crps%s are "
               "undefined",
               points, a->rows, p->conformal ? " and" : ",",
               p->conformal ? "" : ", coverage and width");
    cri_assess_add_numbers(a, &m);
done:
    return st;
}

static const char *class_at(const void *p, size_t k)
{
    return ((const cr_prediction *)p)->classes[k];
}

cr_status cri_assess_classes(cr_ctx *cx, const cr_prediction *p, const uint32_t *codes,
                             const double *w, const char *opt_positive, cr_assessment *a)
{
    cr_status        st = CR_OK;
    bool             asked = opt_positive && *opt_positive;
    size_t           K = p->n_classes, one = asked ? 0 : K == 2 ? 1 : SIZE_MAX;
    double           weight = 0;
    cr_class_metrics m;
    while (asked && one < K && strcmp(p->classes[one], opt_positive) != 0) one++;
    if (asked && one == K) {
        cr_fail(cx, CR_EARG, "--positive '%s' is no class of the target", opt_positive);
        CR_TRY(cr_fail_nearest(cx, opt_positive, "classes", K, class_at, p));
    }
    CR_TRY(cr_class_evaluate_one(cx, codes, cr_cmat_of(p->prob, a->rows, K), one, w, &m));
    if (p->ranks) m.log_loss = m.brier = m.calibration_error = NAN;
    cri_assess_add_classes(a, &m);
    a->has_bins = !p->ranks;
    memcpy(a->bins, m.bins, sizeof a->bins);
    if (one == SIZE_MAX) goto done;
    snprintf(a->positive, sizeof a->positive, "%s", p->classes[one]);
    for (size_t i = 0; i < a->rows; i++) weight += codes[i] == one ? w[i] : 0;
    a->positive_share = weight / a->weight;
done:
    return st;
}

static cr_status assess_classes(cr_ctx *cx, const cr_prediction *p, const double *y,
                                const double *w, const cr_judging *how, cr_assessment *a)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    uint32_t  *codes = cr_scratch_bytes(&s, a->rows, sizeof *codes);
    CR_TRY(s.status);
    for (size_t i = 0; i < a->rows; i++) codes[i] = (uint32_t)y[i];
    cr_cmat P = cr_cmat_of(p->prob, a->rows, p->n_classes);
    CR_TRY(cri_assess_classes(cx, p, codes, w, how->opt_positive, a));
    if (p->ranks && !how->one_of_many)
        cr_log(cx, CR_LOG_WARNING,
               "the model gives no probabilities, so log_loss, brier and calibration_error are "
               "undefined: fit it with --calibrate platt for them");
    if (how->opt_confusion) CR_TRY(cr_confusion(cx, codes, P, w, how->opt_confusion));
done:
    cr_scratch_end(&s);
    return st;
}

/* exp(- log density per observation). */
static double perplexity_of(const cr_prediction *p, const double *w, size_t rows)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < rows; i++)
        if (w[i] > 0) sum += w[i] * p->log_density[i], n += w[i] * p->observations[i];
    return exp(-sum / n);
}

/* The weighted mean log density; its standard error takes a row of weight 2 for two rows. */
static void assess_densities(cr_ctx *cx, const cr_prediction *p, const double *w, cr_assessment *a)
{
    double weight = 0, sum = 0, square = 0;
    size_t impossible = 0;
    for (size_t i = 0; i < a->rows; i++) {
        if (w[i] == 0) continue;
        weight += w[i];
        sum += w[i] * p->log_density[i];
        impossible += isinf(p->log_density[i]) != 0;
    }
    double mean = sum / weight;
    for (size_t i = 0; i < a->rows; i++) {
        double d = p->log_density[i] - mean;
        if (w[i] > 0) square += w[i] * d * d;
    }
    add_metric(a, "log_score", mean);
    if (weight > 1 && !impossible) a->metrics[0].se = sqrt(square / (weight - 1) / weight);
    if (p->observations) add_metric(a, "perplexity", perplexity_of(p, w, a->rows));
    if (impossible)
        cr_log(cx, CR_LOG_WARNING,
               "%zu of %zu rows have no density at all: their log_score is infinite", impossible,
               a->rows);
}

cr_status cri_evaluate(cr_ctx *cx, const cr_model *model, const cr_table *t, const cr_judging *how,
                       cr_assessment *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        n = cr_table_rows(t);
    unsigned      target = cr_model_get_task(model) & (CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION);
    double       *y = cr_scratch_bytes(&s, n, sizeof *y), *w = cr_scratch_f64(&s, n);
    cr_prediction p = { 0 };
    cr_assessment a = { .quantile = NAN, .positive_share = NAN };

    CR_TRY(s.status);
    CR_TRY(cr_observed(cx, model, t, target ? y : NULL, w));
    CR_TRY(cr_predict(cx, model, t, &p));
    if (!target && !p.log_density)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED,
                       "the model %s has neither a target nor a density to be scored by",
                       cr_class_name(cr_model_get_class(model))));
    for (size_t i = 0; p.undetermined && i < n; i++) /* scored as if the terms were not there */
        p.undetermined[i] = 0;
    a.rows = keep_scored(&p, y, w);
    if (a.rows == 0)
        CR_TRY(cr_fail(cx, CR_EDATA,
                       target ? "%s: no row has both target and prediction"
                              : "%s: no row has a density",
                       cr_table_source(t)));
    for (size_t i = 0; i < a.rows; i++) a.weight += w[i];
    a.unconverged = cr_model_get_report(model)->stop >= CR_STOP_LIMIT;
    if (how->opt_positive && *how->opt_positive && (!target || p.kind == CR_ANSWER_NUMBER))
        CR_TRY(cr_fail(cx, CR_EARG,
                       "--positive names a class, but %s here does not predict classes",
                       cr_class_name(cr_model_get_class(model))));
    if (!target)
        assess_densities(cx, &p, w, &a);
    else
        CR_TRY(p.kind == CR_ANSWER_NUMBER ? assess_numbers(cx, &p, y, w, how, &a)
                                          : assess_classes(cx, &p, y, w, how, &a));
    if (how->opt_loss) CR_TRY(cri_assess_add_loss(cx, &p, how->opt_loss, y, w, &a));
    *out = a;
done:
    cr_prediction_free(cx, &p);
    cr_scratch_end(&s);
    return st;
}

static void warn_of_infinite(cr_ctx *cx, const cr_model *model, const cr_assessment *a)
{
    for (size_t m = 0; m < a->n; m++)
        if (isinf(a->metrics[m].value) && cr_model_get_task(model) == CR_TASK_CLASSIFICATION)
            cr_log(cx, CR_LOG_WARNING,
                   "%s is infinite: some row has a class whose predicted probability was 0",
                   a->metrics[m].name);
}

cr_status cr_evaluate_with(cr_ctx *cx, const cr_model *model, const cr_table *t,
                           const cr_judging *how, cr_assessment *out)
{
    if (how->opt_confusion && cr_model_get_task(model) != CR_TASK_CLASSIFICATION)
        return cr_fail(cx, CR_EUNSUPPORTED, "the model %s does not predict classes",
                       cr_class_name(cr_model_get_class(model)));
    cr_status st = cri_evaluate(cx, model, t, how, out);
    if (st == CR_OK) warn_of_infinite(cx, model, out);
    return st;
}

cr_status cr_evaluate(cr_ctx *cx, const cr_model *model, const cr_table *t, double level,
                      cr_assessment *out)
{
    return cr_evaluate_with(cx, model, t, &(cr_judging){ .level = level }, out);
}
