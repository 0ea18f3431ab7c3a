/* irls.c -- reweighted least squares, step by step. */
#include "irls.h"
#include "../../base/scratch.h"
#include "../../math/optim/brent.h"
#include "../../math/special.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct work {
    const cri_glm_problem *p;
    size_t                 n;
    double                 alpha;
    double                *z, *w;           /* [n] of the least squares     */
    double                *eta, *mu, *next; /* [n]                          */
    bool                   underdispersed;
} work;

/* --- pieces ---------------------------------------------------------------------------------- */

/* mu from eta; false where some mean is outside the family's range. */
static bool set_means(const work *k, const double *eta, double *mu)
{
    bool valid = true;
    for (size_t i = 0; i < k->n; i++) {
        mu[i] = cri_link_mean(k->p->link, eta[i]);
        if (k->p->weight[i] == 0) continue;
        if (k->p->family == CRI_GLM_BINOMIAL) /* 0 and 1 are limits, not faults */
            mu[i] = fmin(fmax(mu[i], DBL_EPSILON * 1e-3), 1 - DBL_EPSILON);
        valid = valid && cri_family_has_mean(k->p->family, mu[i]);
    }
    return valid;
}

static double deviance_of(const work *k, const double *mu)
{
    const cri_glm_problem *p = k->p;
    double                 sum = 0;
    for (size_t i = 0; i < k->n; i++)
        if (p->weight[i] > 0)
            sum += p->weight[i] * p->trials[i] *
                   cri_family_deviance(p->family, k->alpha, p->y[i], mu[i]);
    return sum;
}

static double log_likelihood(const work *k, double alpha)
{
    const cri_glm_problem *p = k->p;
    double                 sum = 0;
    for (size_t i = 0; i < k->n; i++)
        if (p->weight[i] > 0)
            sum += p->weight[i] *
                   cri_family_log_density(p->family, alpha, 1, p->trials[i], p->y[i], k->mu[i]);
    return sum;
}

/* Working responses and weights at the present means. */
static void set_working(work *k)
{
    const cri_glm_problem *p = k->p;
    for (size_t i = 0; i < k->n; i++) {
        k->w[i] = k->z[i] = 0;
        if (p->weight[i] == 0) continue;
        double slope = cri_link_slope(p->link, k->eta[i]);
        double v = cri_family_variance(p->family, k->alpha, k->mu[i]);
        k->w[i] = p->weight[i] * p->trials[i] * slope * slope / v;
        if (!(k->w[i] > 0) || !isfinite(k->w[i])) { /* a limit: the row says nothing more */
            k->w[i] = 0;
            continue;
        }
        k->z[i] = k->eta[i] - p->offset[i] + (p->y[i] - k->mu[i]) / slope;
    }
}

/* eta of the fit, to `out`. */
static cr_status set_eta(cr_ctx *cx, const work *k, const cri_predictor *fit, double *out)
{
    cr_prediction p = { .n = k->n, .mean = out };
    cr_status     st = cri_predictor_predict(cx, fit, k->p->rows, &p);
    for (size_t i = 0; st == CR_OK && i < k->n; i++) out[i] += k->p->offset[i];
    return st;
}

/* --- the negative binomial's alpha ------------------------------------------------------------- */

/* d log likelihood / d r, r = 1/alpha, at r = exp(log_r); times r^2, so that it does not fade away. */
static cr_status profile_slope(void *user, double log_r, double *out)
{
    const work            *k = user;
    const cri_glm_problem *p = k->p;
    double                 r = exp(log_r), sum = 0;
    for (size_t i = 0; i < k->n; i++) {
        double m = k->mu[i], y = p->y[i];
        if (p->weight[i] == 0) continue;
        sum += p->weight[i] * (cr_digamma(y + r) - cr_digamma(r) - log1p(m / r) + (m - y) / (r + m));
    }
    *out = sum * r * r;
    return CR_OK;
}

/* Twice the slope of the log likelihood in alpha at alpha = 0. */
static double score_at_poisson(const work *k)
{
    double sum = 0;
    for (size_t i = 0; i < k->n; i++) {
        double e = k->p->y[i] - k->mu[i];
        sum += k->p->weight[i] > 0 ? k->p->weight[i] * (e * e - k->p->y[i]) : 0;
    }
    return sum;
}

/* The alpha that maximises the likelihood at the present means; the least one allowed where the data
 * vary no more than a Poisson's.  (The slope at that end is lost in rounding, so the score decides.) */
static cr_status fit_alpha(cr_ctx *cx, work *k)
{
    const double low = log(1e-6), high = log(1e8);
    double       at_low, at_high, log_r = high;
    cr_status    st = CR_OK;
    k->underdispersed = score_at_poisson(k) <= 0;
    CR_TRY(profile_slope(k, low, &at_low));
    CR_TRY(profile_slope(k, high, &at_high));
    if (k->underdispersed) log_r = high;
    else if (at_low <= 0) log_r = low;
    else if (at_high < 0) CR_TRY(cr_brent_root(cx, profile_slope, k, low, high, 1e-13, &log_r));
    k->alpha = exp(-log_r);
done:
    return st;
}

/* --- the loop -------------------------------------------------------------------------------- */

static cr_status fail_start(cr_ctx *cx)
{
    cr_fail(cx, CR_ENUMERIC, "no coefficients were found whose means are in the range of the family");
    return cr_fail_hint(cx, "another link keeps the means in range, for example --link log");
}

/* Starts from the data; the first step is then a least squares of g(y). */
static void start(work *k)
{
    const cri_glm_problem *p = k->p;
    double                 sum = 0, weight = 0;
    for (size_t i = 0; i < k->n; i++)
        sum += p->weight[i] * p->trials[i] * p->y[i], weight += p->weight[i] * p->trials[i];
    for (size_t i = 0; i < k->n; i++) {
        k->mu[i] = cri_family_start(p->family, p->trials[i], p->y[i], sum / weight);
        k->eta[i] = cri_link_of_mean(p->link, k->mu[i]);
    }
}

/* fit becomes the step half as long: the middle between it and the one before. */
static void halve(const cri_predictor *before, cri_predictor *fit)
{
    fit->intercept = fit->at_centre = (before->intercept + fit->intercept) / 2;
    for (size_t j = 0; j < fit->p; j++) {
        fit->coef[j] = (before->coef[j] + fit->coef[j]) / 2;
        fit->at_centre += fit->coef[j] * fit->centre[j];
    }
}

/* The mean alone, from which every family and link can start. */
static void flatten(const work *k, cri_predictor *fit)
{
    double sum = 0, weight = 0;
    for (size_t i = 0; i < k->n; i++) {
        sum += k->p->weight[i] * k->p->trials[i] * k->p->y[i];
        weight += k->p->weight[i] * k->p->trials[i];
    }
    memset(fit->coef, 0, fit->p * sizeof *fit->coef);
    fit->intercept = fit->at_centre = cri_link_of_mean(k->p->link, sum / weight);
}

/* Sets eta (next), mu and the deviance of the fit; halves the step while that is no better than
 * `deviance`.  A first step has nothing to go back to but the mean. */
static cr_status take_step(cr_ctx *cx, work *k, const cri_predictor *before, cri_predictor *fit,
                           double deviance, double *out_deviance)
{
    enum { MOST_HALVINGS = 40 };
    cr_status st = CR_OK;
    bool      first = !before->coef;
    for (int h = 0; h <= MOST_HALVINGS; h++) {
        CR_TRY(set_eta(cx, k, fit, k->next));
        *out_deviance = set_means(k, k->next, k->mu) ? deviance_of(k, k->mu) : INFINITY;
        if (isfinite(*out_deviance) && *out_deviance <= deviance + 1e-11 * fabs(deviance))
            return CR_OK;
        if (first && h > 0) break;
        if (first) flatten(k, fit);
        else halve(before, fit);
    }
    if (first) CR_TRY(fail_start(cx));
done:
    return st;
}

/* One round of steps at a fixed alpha.  The last step is taken where the deviance no longer moves, so
 * that coefficients and weights are as exact as it is. */
static cr_status iterate(cr_ctx *cx, work *k, cri_glm_solution *s)
{
    cr_status              st = CR_OK;
    const cri_glm_problem *p = k->p;
    cri_rows               rows = *p->rows;
    cri_predictor          fit = { 0 };
    double                 deviance = s->fit.coef ? deviance_of(k, k->mu) : INFINITY;
    bool                   still = false;

    rows.y = k->z;
    rows.w = k->w;
    s->converged = false;
    while (s->iterations < p->max_iter && !s->converged) {
        double now = 0;
        CR_TRY(cr_check_interrupt(cx));
        set_working(k);
        CR_TRY(cri_least_squares_auto(cx, &rows, p->intercept, &fit, &s->facts));
        CR_TRY(take_step(cx, k, &s->fit, &fit, deviance, &now));
        s->converged = still;
        still = fabs(deviance - now) <= p->tolerance * (fabs(now) + 0.1);
        memcpy(k->eta, k->next, k->n * sizeof *k->eta);
        cri_predictor_free(cx, &s->fit);
        s->fit = fit;
        fit = (cri_predictor){ 0 };
        deviance = now;
        s->iterations++;
    }
done:
    cri_predictor_free(cx, &fit);
    return st;
}

static void summarise(const work *k, cri_glm_solution *s)
{
    const cri_glm_problem *p = k->p;
    s->alpha = k->alpha;
    s->underdispersed = k->underdispersed;
    s->left = -(double)(s->facts.rank + p->intercept);
    for (size_t i = 0; i < k->n; i++) s->left += p->weight[i];
    s->deviance = deviance_of(k, k->mu);
    s->log_likelihood = log_likelihood(k, k->alpha);
    s->pearson = 0;
    for (size_t i = 0; i < k->n; i++) {
        double e = p->y[i] - k->mu[i];
        if (p->weight[i] > 0)
            s->pearson += p->weight[i] * p->trials[i] * e * e /
                          cri_family_variance(p->family, k->alpha, k->mu[i]);
    }
}

void cri_glm_solution_free(cr_ctx *cx, const cri_glm_problem *p, cri_glm_solution *s)
{
    cri_predictor_free(cx, &s->fit);
    cr_free(cx, s->eta, p->rows->n, sizeof(double));
    cr_free(cx, s->mu, p->rows->n, sizeof(double));
    *s = (cri_glm_solution){ 0 };
}

cr_status cri_glm_solve(cr_ctx *cx, const cri_glm_problem *p, cri_glm_solution *out)
{
    enum { MOST_ROUNDS = 50 };
    cr_status        st = CR_OK;
    cr_scratch       scratch = cr_scratch_begin(cx);
    size_t           n = p->rows->n;
    bool             estimate = p->family == CRI_GLM_NEGATIVE_BINOMIAL && isnan(p->alpha);
    cri_glm_solution s = { .eta = cr_alloc(cx, n, sizeof(double)),
                           .mu = cr_alloc(cx, n, sizeof(double)) };
    work             k = { p,
                           n,
                           estimate ? 1 : p->alpha,
                           cr_scratch_f64(&scratch, n),
                           cr_scratch_f64(&scratch, n),
                           s.eta,
                           s.mu,
                           cr_scratch_f64(&scratch, n),
                           false };

    CR_TRY(scratch.status);
    if (!s.eta || !s.mu) CR_TRY(CR_ENOMEM);
    start(&k);
    CR_TRY(iterate(cx, &k, &s));
    for (int round = 0; estimate && round < MOST_ROUNDS; round++) {
        double before = k.alpha;
        CR_TRY(fit_alpha(cx, &k));
        CR_TRY(iterate(cx, &k, &s));
        if (fabs(k.alpha - before) <= 1e-9 * k.alpha) break;
        if (round + 1 == MOST_ROUNDS) s.converged = false;
    }
    summarise(&k, &s);
    *out = s;
    s = (cri_glm_solution){ 0 };
done:
    cri_glm_solution_free(cx, p, &s);
    cr_scratch_end(&scratch);
    return st;
}

/* With an intercept: Fisher's scoring in one unknown. */
double cri_glm_null_deviance(const cri_glm_problem *p, double alpha)
{
    size_t n = p->rows->n;
    double b = 0, deviance = 0;
    if (p->intercept) {
        double sum = 0, weight = 0;
        for (size_t i = 0; i < n; i++) {
            sum += p->weight[i] * p->trials[i] * p->y[i];
            weight += p->weight[i] * p->trials[i];
        }
        b = cri_link_of_mean(p->link, sum / weight);
        if (!isfinite(b)) return NAN; /* all 0, or all 1 */
    }
    for (int step = 0; step < 100; step++) {
        double gradient = 0, information = 0;
        deviance = 0;
        for (size_t i = 0; i < n; i++) {
            double eta = b + p->offset[i], mu = cri_link_mean(p->link, eta);
            if (p->weight[i] == 0) continue;
            if (!cri_family_has_mean(p->family, mu)) return NAN;
            double slope = cri_link_slope(p->link, eta), w = p->weight[i] * p->trials[i];
            double v = cri_family_variance(p->family, alpha, mu);
            gradient += w * (p->y[i] - mu) * slope / v;
            information += w * slope * slope / v;
            deviance += w * cri_family_deviance(p->family, alpha, p->y[i], mu);
        }
        if (!p->intercept || fabs(gradient) <= 1e-12 * sqrt(information * (deviance + 1e-300)))
            break;
        b += gradient / information;
    }
    return deviance;
}
