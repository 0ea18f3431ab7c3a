/* bayes_draws.c -- draws from the posterior of logistic regression.
 * In coordinates u = L'(theta - mode) the Student t at the mode is spherical.  Importance sampling
 * weighs its draws by posterior / t.  The Markov chains move on random ellipses: given u, a scale s
 * of the t's mixture of normals is drawn, then a point of the ellipse through u and a draw of N(0,
 * s I), by slice sampling of posterior / t; no tuning (Nishihara, Murray & Adams 2014). Draw i, or
 * chain i, has the random numbers of stream i of the seed. */
#include "bayes_logistic.h"
#include "../../base/rng.h"
#include "../../base/scratch.h"
#include "../../math/special.h"

#include <math.h>
#include <string.h>

enum { CHAINS = 4, WARM_UP = 200 };
static const double DOF = 8;

/* log density of the t in u, with the constant. */
static double log_t(double square, size_t D)
{
    double d = (double)D;
    return cr_lgamma_abs((DOF + d) / 2) - cr_lgamma_abs(DOF / 2) - 0.5 * d * log(DOF * M_PI) -
           0.5 * (DOF + d) * log1p(square / DOF);
}

static double square_of(const double *u, size_t D)
{
    double sum = 0;
    for (size_t i = 0; i < D; i++) sum += u[i] * u[i];
    return sum;
}

/* log posterior - log t, both as densities of u; theta gets the place. */
static cr_status log_ratio(cr_ctx *cx, const cri_posterior *post, const double *u, double *theta,
                           double *out)
{
    double value = 0;
    cri_posterior_place(post, u, theta);
    cr_status st = cri_posterior_log(cx, post, theta, &value);
    if (st == CR_OK) *out = value - 0.5 * post->log_det - log_t(square_of(u, post->D), post->D);
    return st;
}

/* Coefficient (m, j) in the units of the data at theta. */
static double coefficient(const cri_bayes_logistic *m, const double *theta, size_t at)
{
    return cri_classifier_coef(m->centre, m->scale, m->p, m->intercept, theta + at / m->q1 * m->q,
                               at % m->q1);
}

/* Means and sds from draws theta [count x D] with weights that sum to 1. */
static void set_moments(cri_bayes_logistic *m, const double *draws, const double *weight,
                        size_t count)
{
    for (size_t a = 0; a < m->M * m->q1; a++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < count; i++) mean += weight[i] * coefficient(m, draws + i * m->D, a);
        for (size_t i = 0; i < count; i++) {
            double d = coefficient(m, draws + i * m->D, a) - mean;
            square += weight[i] * d * d;
        }
        m->mean[a] = mean;
        m->sd[a] = sqrt(square);
    }
}

/* R draws of equal weight: the i-th where the weights have summed up to (i + 1/2) / R. */
static void keep_draws(cri_bayes_logistic *m, const double *draws, const double *weight,
                       size_t count)
{
    double sum = 0;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        sum += weight[i];
        while (kept < m->R && ((double)kept + 0.5) / (double)m->R <= sum)
            memcpy(m->draws + kept++ * m->D, draws + i * m->D, m->D * sizeof(double));
    }
    while (kept < m->R) /* the last, where rounding left the sum below 1 */
        memcpy(m->draws + kept++ * m->D, draws + (count - 1) * m->D, m->D * sizeof(double));
}

/* --- importance ------------------------------------------------------------------------------ */

/* Weights that sum to 1 from their logs; evidence, its standard error and the effective number. */
static void weigh_draws(cri_bayes_logistic *m, double *weight, size_t count)
{
    double top = -INFINITY, sum = 0, squares = 0, n = (double)count;
    for (size_t i = 0; i < count; i++) top = fmax(top, weight[i]);
    for (size_t i = 0; i < count; i++) sum += weight[i] = exp(weight[i] - top);
    for (size_t i = 0; i < count; i++) weight[i] /= sum;
    for (size_t i = 0; i < count; i++) squares += weight[i] * weight[i];
    m->ess = 1 / squares;
    m->log_evidence = top + log(sum / n);
    m->evidence_se =
        sqrt(fmax(squares - 1 / n, 0) * n / (n - 1)); /* of the mean weight, relative */
}

static cr_status draw_importance(cr_ctx *cx, const cri_posterior *post, size_t count, uint64_t seed,
                                 double *draws, double *weight, cri_bayes_logistic *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *u = cr_scratch_f64(&s, post->D);

    CR_TRY(s.status);
    for (size_t i = 0; i < count; i++) {
        cr_rng rng = cr_rng_stream(seed, i);
        double spread = sqrt(DOF / (2 * cr_rng_gamma(&rng, DOF / 2)));
        for (size_t a = 0; a < post->D; a++) u[a] = spread * cr_rng_normal(&rng);
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(log_ratio(cx, post, u, draws + i * post->D, &weight[i]));
    }
    weigh_draws(m, weight, count);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- Markov chains --------------------------------------------------------------------------- */

/* One step from u, whose log ratio is *level. */
static cr_status slice_ellipse(cr_ctx *cx, const cri_posterior *post, cr_rng *rng, double *u,
                               double *trial, double *other, double *theta, double *level)
{
    cr_status st = CR_OK;
    size_t    D = post->D;
    double    rate = 0.5 * (DOF + square_of(u, D));
    double    spread = sqrt(rate / cr_rng_gamma(rng, 0.5 * (DOF + (double)D)));
    double    bar = *level - cr_rng_exponential(rng);
    double    angle = 2 * M_PI * cr_rng_uniform(rng), low = angle - 2 * M_PI, high = angle, value;
    for (size_t a = 0; a < D; a++) other[a] = spread * cr_rng_normal(rng);
    for (int k = 0; k < 200; k++) {
        for (size_t a = 0; a < D; a++) trial[a] = u[a] * cos(angle) + other[a] * sin(angle);
        CR_TRY(log_ratio(cx, post, trial, theta, &value));
        if (value > bar) {
            memcpy(u, trial, D * sizeof(double));
            *level = value;
            goto done;
        }
        *(angle < 0 ? &low : &high) = angle;
        angle = low + (high - low) * cr_rng_uniform(rng);
    }
    cri_posterior_place(post, u, theta); /* the slice has shrunk to u itself */
done:
    return st;
}

static cr_status run_chain(cr_ctx *cx, const cri_posterior *post, uint64_t seed, size_t chain,
                           size_t length, double *draws)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_rng     rng = cr_rng_stream(seed, chain);
    double    *u = cr_scratch_f64(&s, post->D), *trial = cr_scratch_f64(&s, post->D);
    double    *other = cr_scratch_f64(&s, post->D), *theta = cr_scratch_f64(&s, post->D), level = 0;

    CR_TRY(s.status);
    for (size_t a = 0; a < post->D; a++) u[a] = cr_rng_normal(&rng);
    CR_TRY(log_ratio(cx, post, u, theta, &level));
    for (size_t i = 0; i < WARM_UP + length; i++) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(slice_ellipse(cx, post, &rng, u, trial, other, theta, &level));
        if (i >= WARM_UP) memcpy(draws + (i - WARM_UP) * post->D, theta, post->D * sizeof(double));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Autocovariance at a lag of values x of stride, within one chain of n. */
static double autocovariance(const double *x, size_t stride, size_t n, double mean, size_t lag)
{
    double sum = 0;
    for (size_t i = 0; i + lag < n; i++)
        sum += (x[i * stride] - mean) * (x[(i + lag) * stride] - mean);
    return sum / (double)n;
}

/* Effective number of draws and R-hat of coordinate a: Geyer's (1992) initial positive sequence on
 * the autocorrelations of all chains (Gelman et al. 2013, sec. 11.4-11.5). */
static void diagnose(const double *draws, size_t D, size_t a, size_t length, double *ess,
                     double *rhat)
{
    double n = (double)length, c = CHAINS, mean[CHAINS], grand = 0, within = 0, between = 0,
           sum = -1, pair;
    for (size_t k = 0; k < CHAINS; k++) {
        const double *x = draws + k * length * D + a;
        mean[k] = 0;
        for (size_t i = 0; i < length; i++) mean[k] += x[i * D] / n;
        within += autocovariance(x, D, length, mean[k], 0) * n / (n - 1) / c;
        grand += mean[k] / c;
    }
    for (size_t k = 0; k < CHAINS; k++) between += (mean[k] - grand) * (mean[k] - grand) / (c - 1);
    double total = within * (n - 1) / n + between;
    *rhat = within > 0 ? sqrt(total / within) : 1;
    for (size_t lag = 0; lag + 1 < length; lag += 2) {
        pair = 0;
        for (size_t part = 0; part < 2; part++) {
            double covariance = 0;
            for (size_t k = 0; k < CHAINS; k++)
                covariance +=
                    autocovariance(draws + k * length * D + a, D, length, mean[k], lag + part) / c;
            pair += total > 0 ? 1 - (within - covariance * n / (n - 1)) / total : 0;
        }
        if (pair <= 0) break;
        sum += 2 * pair;
    }
    *ess = fmin(c * n / fmax(sum, 1e-3), c * n * log10(c * n));
}

static cr_status draw_chains(cr_ctx *cx, const cri_posterior *post, size_t count, uint64_t seed,
                             double *draws, double *weight, cri_bayes_logistic *m)
{
    cr_status st = CR_OK;
    size_t    length = count / CHAINS;
    for (size_t k = 0; k < CHAINS; k++)
        CR_TRY(run_chain(cx, post, seed, k, length, draws + k * length * post->D));
    for (size_t i = 0; i < CHAINS * length; i++) weight[i] = 1 / (double)(CHAINS * length);
    m->ess = INFINITY, m->rhat = 1;
    for (size_t a = 0; a < post->D; a++) {
        double ess, rhat;
        diagnose(draws, post->D, a, length, &ess, &rhat);
        m->ess = fmin(m->ess, ess);
        m->rhat = fmax(m->rhat, rhat);
    }
done:
    return st;
}

cr_status cri_bayes_logistic_draw(cr_ctx *cx, const cri_posterior *post, size_t count,
                                  uint64_t seed, cri_bayes_logistic *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    bool       chains = m->infer == CRI_INFER_MCMC;
    size_t     used = chains ? count / CHAINS * CHAINS : count;
    double    *draws = cr_scratch_matrix(&s, used, post->D), *weight = cr_scratch_f64(&s, used);

    CR_TRY(s.status);
    CR_TRY(chains ? draw_chains(cx, post, count, seed, draws, weight, m)
                  : draw_importance(cx, post, count, seed, draws, weight, m));
    set_moments(m, draws, weight, used);
    keep_draws(m, draws, weight, used);
    if (m->ess < 100)
        cr_log(cx, CR_LOG_WARNING,
               "the draws are worth only %.0f independent ones: ask for more with --draws", m->ess);
    if (chains && m->rhat > 1.05)
        cr_log(cx, CR_LOG_WARNING, "the chains disagree (R-hat %.3f): ask for more with --draws",
               m->rhat);
done:
    cr_scratch_end(&s);
    return st;
}
