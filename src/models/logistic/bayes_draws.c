/* bayes_draws.c -- draws from the posterior of logistic regression.
 * In coordinates u = L'(theta - mode) the Student t at the mode is spherical.  Importance sampling
 * weighs its draws by posterior / t.  The Markov chains are Hamiltonian, with unit mass in u:
 * trajectories by leapfrog whose step is learned in the warm-up (Duane et al. 1987; Neal 2011).
 * Draw i, or chain i, has the random numbers of stream i of the seed. */
#include "bayes_average.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"
#include "math/special/special.h"
#include "prob/mc/chains.h"

#include <math.h>
#include <string.h>

enum {
    CHAINS = 4,
    WARM_UP = 200,
    FEWEST = 20, /* draws of a chain, where the time limit ends it */
    MOST_MATCHED = 200
}; /* coefficients whose moments 2000 draws tell */
static const double DOF = 8;

static double square_of(const double *u, size_t D)
{
    double sum = 0;
    for (size_t i = 0; i < D; i++) sum += u[i] * u[i];
    return sum;
}

/* theta = the place of u, draw i of the spherical t or normal of dof degrees of freedom, around the mode;
 * with an average, around the part that the draw is of.  *out = log posterior - log of the density that
 * theta is drawn from.  workspace [D + parts] of an average. */
static cr_status log_ratio(cr_ctx *cx, const cri_posterior *post, double dof, size_t i,
                           const double *u, double *theta, double *workspace, double *out)
{
    const cri_alpha_average *a = post->average;
    size_t                   D = post->D, k = a ? cri_alpha_average_part(a, i) : 0;
    double                   value = 0;
    cri_posterior            around = *post;
    if (a) around.mode = a->centre + k * D, around.L = a->L + k * D * D;
    cri_posterior_place(&around, u, theta);
    cr_status st = cri_posterior_log(cx, post, theta, &value);
    if (st != CR_OK) return st;
    *out = a ? value - cri_alpha_average_log(a, dof, theta, workspace)
             : value - 0.5 * post->log_det - cri_log_student(square_of(u, D), D, dof);
    return CR_OK;
}

static double *average_workspace(cr_scratch *s, const cri_posterior *post)
{
    return cr_scratch_f64(s, post->average ? post->D + post->average->parts : 0);
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

/* *count draws, or as many as there is time for. */
static cr_status draw_importance(cr_ctx *cx, const cri_posterior *post, size_t *count,
                                 uint64_t seed, double *draws, double *weight,
                                 cri_bayes_logistic *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *u = cr_scratch_f64(&s, post->D), *workspace = average_workspace(&s, post);
    cri_clock  clock = cri_clock_start(cx, NAN);

    CR_TRY(s.status);
    for (size_t i = 0; i < *count; i++) {
        if (i >= FEWEST && cri_clock_over(&clock)) {
            *count = i;
            break;
        }
        cr_rng rng = cr_rng_stream(seed, i);
        double spread = sqrt(DOF / (2 * cr_rng_gamma(&rng, DOF / 2)));
        for (size_t a = 0; a < post->D; a++) u[a] = spread * cr_rng_normal(&rng);
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(log_ratio(cx, post, DOF, i, u, draws + i * post->D, workspace, &weight[i]));
    }
    weigh_draws(m, weight, *count);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- Markov chains --------------------------------------------------------------------------- */

/* A place, -log posterior as a density of u there up to a constant, and its gradient. */
typedef struct chain {
    const cri_posterior *post;
    double              *u, *theta, *slope; /* [D] */
    double               value;
    double              *v, *next, *next_theta, *next_slope, *g; /* [D] of a trajectory */
    double               step;
} chain;

static cr_status look(cr_ctx *cx, const chain *c, const double *u, double *theta, double *slope,
                      double *out)
{
    size_t        D = c->post->D;
    const double *L = c->post->L;
    cri_posterior_place(c->post, u, theta);
    cr_status st = cri_posterior_cost(cx, c->post, theta, c->g, out);
    if (st != CR_OK) return st;
    for (size_t i = 0; i < D; i++) { /* L slope = gradient in theta */
        double sum = c->g[i];
        for (size_t k = 0; k < i; k++) sum -= L[i * D + k] * slope[k];
        slope[i] = sum / L[i * D + i];
    }
    return CR_OK;
}

static void kick(const double *slope, double step, size_t D, double *v)
{
    for (size_t i = 0; i < D; i++) v[i] -= step * slope[i];
}

/* One trajectory of about a quarter of a turn of the normal at the mode, more or less at random so
 * that none comes round again; *out_accept = the chance that its end was taken. */
static cr_status move(cr_ctx *cx, chain *c, cr_rng *rng, double *out_accept)
{
    cr_status st = CR_OK;
    size_t    D = c->post->D, n;
    double    length = M_PI / 2 * (0.5 + cr_rng_uniform(rng)), step, value = c->value, energy;
    n = (size_t)ceil(length / c->step);
    if (n > 100) n = 100;
    step = length / (double)n < c->step ? length / (double)n : c->step;
    for (size_t i = 0; i < D; i++) c->v[i] = cr_rng_normal(rng);
    energy = c->value + 0.5 * square_of(c->v, D);
    memcpy(c->next, c->u, D * sizeof(double));
    memcpy(c->next_slope, c->slope, D * sizeof(double));
    for (size_t k = 0; k < n && isfinite(value); k++) {
        kick(c->next_slope, step / 2, D, c->v);
        for (size_t i = 0; i < D; i++) c->next[i] += step * c->v[i];
        CR_TRY(look(cx, c, c->next, c->next_theta, c->next_slope, &value));
        kick(c->next_slope, step / 2, D, c->v);
    }
    energy -= value + 0.5 * square_of(c->v, D);
    *out_accept = isfinite(energy) ? fmin(1, exp(energy)) : 0;
    if (cr_rng_uniform(rng) < *out_accept) {
        memcpy(c->u, c->next, D * sizeof(double));
        memcpy(c->theta, c->next_theta, D * sizeof(double));
        memcpy(c->slope, c->next_slope, D * sizeof(double));
        c->value = value;
    }
done:
    return st;
}

/* Warms up, with the step that has 0.8 of the ends taken (dual averaging, Hoffman & Gelman 2014,
 * sec. 3.2), and then makes *length draws, or as many as there is time for in `limit` seconds; 0 where these are too few. */
static cr_status run_chain(cr_ctx *cx, const cri_posterior *post, uint64_t seed, size_t number,
                           double limit, size_t *length, double *draws)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_rng     rng = cr_rng_stream(seed, number);
    size_t     D = post->D;
    double    *workspace = cr_scratch_matrix(&s, 8, D), sum = 0, mean = 0, accept;
    chain      c = { .post = post, .step = 0.5 };
    cri_clock  clock = cri_clock_start(cx, limit);

    CR_TRY(s.status);
    c.u = workspace, c.theta = workspace + D, c.slope = workspace + 2 * D, c.v = workspace + 3 * D;
    c.next = workspace + 4 * D, c.next_theta = workspace + 5 * D, c.next_slope = workspace + 6 * D,
    c.g = workspace + 7 * D;
    for (size_t a = 0; a < D; a++) c.u[a] = 0.5 * cr_rng_normal(&rng);
    CR_TRY(look(cx, &c, c.u, c.theta, c.slope, &c.value));
    for (size_t i = 0; i < WARM_UP + *length; i++) {
        CR_TRY(cr_check_interrupt(cx));
        if (cri_clock_over(&clock)) {
            *length = i < WARM_UP + FEWEST ? 0 : i - WARM_UP;
            break;
        }
        CR_TRY(move(cx, &c, &rng, &accept));
        if (i < WARM_UP) {
            double t = (double)(i + 1), share = pow(t, -0.75);
            sum += (0.8 - accept - sum) / (t + 10);
            double log_step = log(5.0) - sqrt(t) / 0.05 * sum; /* shrunk towards a step of 5 */
            mean += share * (log_step - mean);
            c.step = fmin(exp(i + 1 < WARM_UP ? log_step : mean), 1.6);
            continue;
        }
        memcpy(draws + (i - WARM_UP) * D, c.theta, D * sizeof(double));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- importance, second try ------------------------------------------------------------------ */

/* m [D] and the factor C [D x D] of a scatter from draws x [n x D], which lose their mean. */
static cr_status match_moments(cr_ctx *cx, double *x, size_t n, size_t D, double *m, double *C)
{
    const double wider = 1.2; /* in variance: tails cost less than gaps */
    cr_status    st = CR_OK;
    memset(m, 0, D * sizeof(double));
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < D; a++) m[a] += x[i * D + a] / (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < D; a++) x[i * D + a] -= m[a];
    CR_TRY(cr_syrk(cx, wider / (double)(n - 1), cr_cmat_of(x, n, D), CR_TRANSPOSED, 0,
                   cr_mat_of(C, D, D)));
    CR_TRY(cr_chol(cx, cr_mat_of(C, D, D)));
done:
    return st;
}

/* theta [count x D] from the t with the moments of the chains' draws x [n x D] (spent), which does
 * better where the t at the mode hardly meets a skewed posterior; w [count] their logs of posterior
 * / t. */
static cr_status draw_matched(cr_ctx *cx, const cri_posterior *post, double *x, size_t n,
                              size_t count, uint64_t seed, double *theta, double *w)
{
    const double dof = 30;
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    size_t       D = post->D;
    double      *u = cr_scratch_f64(&s, D), *mean = cr_scratch_f64(&s, D);
    double      *C = cr_scratch_matrix(&s, D, D), log_joint;

    CR_TRY(s.status);
    CR_TRY(match_moments(cx, x, n, D, mean, C));
    double log_det = cr_chol_logdet(cr_cmat_of(C, D, D));
    for (size_t i = 0; i < count; i++) {
        cr_rng  rng = cr_rng_stream(seed, count + i);
        double  spread = sqrt(dof / (2 * cr_rng_gamma(&rng, dof / 2)));
        double *at = theta + i * D;
        for (size_t a = 0; a < D; a++) u[a] = spread * cr_rng_normal(&rng);
        for (size_t a = 0; a < D; a++) {
            at[a] = mean[a];
            for (size_t b = 0; b <= a; b++) at[a] += C[a * D + b] * u[b];
        }
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_posterior_log(cx, post, at, &log_joint));
        w[i] = log_joint + 0.5 * log_det - cri_log_student(square_of(u, D), D, dof);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* As draw_importance, from the t of a pilot run of the chains; taken where its draws are worth
 * more. */
static cr_status draw_again(cr_ctx *cx, const cri_posterior *post, size_t count, uint64_t seed,
                            double *draws, double *weight, cri_bayes_logistic *m)
{
    enum { PILOT = 500 };
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    size_t             D = post->D;
    double            *x = cr_scratch_matrix(&s, CHAINS * PILOT, D);
    double            *theta = cr_scratch_matrix(&s, count, D), *w = cr_scratch_f64(&s, count);
    cri_bayes_logistic second = *m;

    CR_TRY(s.status);
    for (size_t k = 0; k < CHAINS; k++) {
        size_t length = PILOT;
        CR_TRY(run_chain(cx, post, seed, ((size_t)1 << 32) + k, NAN, &length, x + k * PILOT * D));
        if (length < PILOT) goto done; /* the first try stays */
    }
    CR_TRY(draw_matched(cx, post, x, CHAINS * PILOT, count, seed, theta, w));
    weigh_draws(&second, w, count);
    if (second.ess > m->ess) {
        memcpy(draws, theta, count * D * sizeof(double));
        memcpy(weight, w, count * sizeof(double));
        m->ess = second.ess, m->log_evidence = second.log_evidence;
        m->evidence_se = second.evidence_se;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* The evidence by the t with the moments of the chains' draws [n x D]; Laplace's stays where the
 * draws of that t are worth too little, or where there are too few to tell the moments. */
static cr_status estimate_evidence(cr_ctx *cx, const cri_posterior *post, const double *draws,
                                   size_t n, uint64_t seed, cri_bayes_logistic *m)
{
    enum { COUNT = 2000, WORTH = 100 };
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    size_t             D = post->D;
    double            *x = cr_scratch_matrix(&s, n, D), *theta = cr_scratch_matrix(&s, COUNT, D);
    double            *w = cr_scratch_f64(&s, COUNT);
    cri_bayes_logistic by = *m;

    CR_TRY(s.status);
    if (D > MOST_MATCHED || n < 10 * D || !(m->ess > 2 * (double)D)) goto done;
    memcpy(x, draws, n * D * sizeof(double));
    CR_TRY(draw_matched(cx, post, x, n, COUNT, seed, theta, w));
    weigh_draws(&by, w, COUNT);
    if (by.ess >= WORTH) m->log_evidence = by.log_evidence, m->evidence_se = by.evidence_se;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_bayes_logistic_misfit(cr_ctx *cx, const cri_posterior *post, uint64_t seed,
                                    double *out)
{
    enum { DRAWS = 64 };
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *u = cr_scratch_f64(&s, post->D), *theta = cr_scratch_f64(&s, post->D);
    double    *workspace = average_workspace(&s, post), mean = 0, square = 0, ratio = 0;

    CR_TRY(s.status);
    for (size_t i = 0; i < DRAWS; i++) {
        cr_rng rng = cr_rng_stream(seed, i);
        for (size_t a = 0; a < post->D; a++) u[a] = cr_rng_normal(&rng);
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(log_ratio(cx, post, INFINITY, i, u, theta, workspace, &ratio));
        double move = ratio - mean;
        mean += move / (double)(i + 1);
        square += move * (ratio - mean);
    }
    *out = sqrt(square / (DRAWS - 1));
done:
    cr_scratch_end(&s);
    return st;
}

/* All chains, each with its share of the time; *count: of the draws of all, as many of each. */
static cr_status draw_chains(cr_ctx *cx, const cri_posterior *post, size_t *count, uint64_t seed,
                             double *draws, double *weight, cri_bayes_logistic *m)
{
    cr_status st = CR_OK;
    size_t    asked = *count / CHAINS, length = asked, chains = 0, D = post->D;
    for (; chains < CHAINS; chains++) {
        size_t made = length;
        double share = 0.8 * cri_time_left(cx) / (double)(CHAINS - chains);
        CR_TRY(run_chain(cx, post, seed, chains, share, &made, draws + chains * asked * D));
        if (made == 0) break;
        length = made;
    }
    if (chains == 0) {
        cr_fail(cx, CR_ENOMEM, "the time limit is reached while the chains warm up");
        CR_TRY(cr_fail_hint(
            cx, "--infer laplace needs no draws; or allow more time with --time-limit"));
    }
    for (size_t k = 1; k < chains && length < asked; k++)
        memmove(draws + k * length * D, draws + k * asked * D, length * D * sizeof *draws);
    *count = chains * length;
    for (size_t i = 0; i < *count; i++) weight[i] = 1 / (double)*count;
    m->ess = INFINITY, m->rhat = 1;
    for (size_t a = 0; a < post->D; a++) {
        double ess, rhat;
        cri_chains_diagnose(draws + a, chains, length, post->D, &rhat, &ess);
        m->ess = fmin(m->ess, ess);
        m->rhat = fmax(m->rhat, rhat); /* of NaN and a number, the number */
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
    size_t     used = chains ? count / CHAINS * CHAINS : count, most = MOST_MATCHED;
    double    *draws = cr_scratch_matrix(&s, used, post->D), *weight = cr_scratch_f64(&s, used);

    CR_TRY(s.status);
    CR_TRY(chains ? draw_chains(cx, post, &used, seed, draws, weight, m)
                  : draw_importance(cx, post, &used, seed, draws, weight, m));
    if (!chains && used == count && m->ess < 0.25 * (double)count && post->D <= most)
        CR_TRY(draw_again(cx, post, count, seed, draws, weight, m));
    if (chains) CR_TRY(estimate_evidence(cx, post, draws, used, seed, m));
    set_moments(m, draws, weight, used);
    keep_draws(m, draws, weight, used);
done:
    cr_scratch_end(&s);
    return st;
}

void cri_bayes_logistic_warn(cr_ctx *cx, const cri_bayes_logistic *m)
{
    bool chains = m->infer == CRI_INFER_MCMC;
    if (m->ess < 100)
        cr_log(cx, CR_LOG_WARNING,
               chains ? "the draws are worth only %.0f independent ones: use more --draws"
                      : "the draws are worth only %.0f independent ones: use --infer mcmc, which "
                        "does better here, or more --draws",
               m->ess);
    if (chains && m->rhat > 1.05)
        cr_log(cx, CR_LOG_WARNING, "the chains disagree (R-hat %.3f): use more --draws", m->rhat);
}
