/* normal.c -- where, and how spread: mean and variance of numbers, either of them known or not.
 *   x | mu, s2 ~ N(mu, s2),   s2 ~ InverseGamma(a, b),   mu | s2 ~ N(m, s2 / k)
 * k is what the prior mean is worth in observations.  With n values of mean xbar and scatter
 * Q = sum (x - xbar)^2 the posterior has the same form with
 *   k' = k + n,   m' = (k m + n xbar) / k',   a' = a + n / 2,
 *   b' = b + Q / 2 + k n (xbar - m)^2 / (2 k')
 *   log p(x_1 .. x_n) = log Gamma(a') / Gamma(a) + a log b - a' log b' + log(k / k') / 2
 *                       - n / 2 log 2 pi
 * Known variance v: only mu is left, N(m, v / k).  Known mean: only s2 is left, with n (xbar -
 * mu)^2 in the place of the last term of b'.  Both known: the likelihood is the evidence. Gelman et
 * al. (2013), BDA, sec. 2.5, 2.6, 3.2, 3.3; Murphy (2007), "Conjugate Bayesian analysis of the
 * Gaussian distribution". */
#include "univariate.h"
#include "math/constants.h"
#include "math/special/special.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* clang-format off */
/* The forms of --prior, for the help and for messages. */
#define FORMS_BOTH                                                                                   \
    "mean0=M,kappa0=K,nu0=N,var0=V; mean0=M,kappa0=K,shape=A,scale=B; "                              \
    "mean=M,sd=S,variance_mean=V,variance_sd=W"
#define FORMS_MEAN "mean=M,sd=S; mean0=M,kappa0=K"
#define FORMS_VARIANCE "shape=A,scale=B; nu0=N,var0=V; variance_mean=M,variance_sd=S"
#define NORMAL_OPTIONS(X)                                                                            \
    CRI_CONJUGATE_OPTIONS(X, "jeffreys",                                                             \
      "prior on mean and variance: jeffreys, flat; " FORMS_BOTH ". With a known variance: "          \
      FORMS_MEAN ". With a known mean: " FORMS_VARIANCE,                                             \
      "mean0=0,kappa0=0.1,nu0=4,var0=1")                                                             \
    X(real, known_mean,     "", "",   "the mean, if it is known",     "0")                           \
    X(real, known_variance, "", ">0", "the variance, if it is known", "2")
/* clang-format on */
CR_OPTIONS(normal_options, normal_table, NORMAL_OPTIONS);

enum { MEAN, STRENGTH, SHAPE, SCALE, KNOWN_MEAN, KNOWN_VARIANCE, PARAMS };
enum { N, XBAR, SCATTER, STATS };

static bool mean_known(const double *p) { return !isnan(p[KNOWN_MEAN]); }
static bool variance_known(const double *p) { return !isnan(p[KNOWN_VARIANCE]); }

static bool valid(const double *prior, double x)
{
    (void)prior;
    return !isnan(x);
}

/* --- statistics ------------------------------------------------------------------------------ */

static void measure(const double *x, const double *w, size_t n, double *stats)
{
    double weight = 0, sum = 0, rest = 0, scatter = 0;
    for (size_t i = 0; i < n; i++) weight += w[i], sum += w[i] * x[i];
    double mean = sum / weight;
    for (size_t i = 0; i < n; i++) rest += w[i] * (x[i] - mean);
    mean += rest / weight;
    for (size_t i = 0; i < n; i++) scatter += w[i] * (x[i] - mean) * (x[i] - mean);
    stats[N] = weight, stats[XBAR] = mean, stats[SCATTER] = scatter;
}

/* Chan, Golub & LeVeque (1983). */
static void merge(double *a, const double *b)
{
    double n = a[N] + b[N], delta = b[XBAR] - a[XBAR];
    a[SCATTER] += b[SCATTER] + delta * delta * (a[N] / n) * b[N];
    a[XBAR] += delta * (b[N] / n);
    a[N] = n;
}

/* --- prior ----------------------------------------------------------------------------------- */

/* Only the variance is known: N(m, v / k) for mu. */
static cr_status prior_of_mean(cr_ctx *cx, const cri_prior *p, double *params)
{
    cr_status st = CR_OK;
    double    v[2];
    params[MEAN] = params[STRENGTH] = 0;
    if (cri_prior_is(p, "jeffreys") || cri_prior_is(p, "flat") || cri_prior_is(p, "uniform"))
        goto done; /* constant in mu */
    if (cri_prior_match(p, "mean,sd", v)) {
        CR_TRY(cri_prior_above(cx, "sd", v[1], 0));
        params[STRENGTH] = params[KNOWN_VARIANCE] / v[1] / v[1];
    } else if (cri_prior_match(p, "mean0,kappa0", v)) {
        CR_TRY(cri_prior_above(cx, "kappa0", v[1], 0));
        params[STRENGTH] = v[1];
    } else {
        CR_TRY(cri_prior_refuse(cx, p, "with a known variance: jeffreys, flat; " FORMS_MEAN));
    }
    params[MEAN] = v[0];
done:
    return st;
}

/* Inverse gamma from shape and scale, degrees of freedom and variance, or moments; v [2]. */
enum variance_form { BY_SHAPE, BY_DOF, BY_MOMENTS };
static cr_status prior_of_spread(cr_ctx *cx, enum variance_form form, const double *v,
                                 double *params)
{
    static const char *const names[][2] = { { "shape", "scale" },
                                            { "nu0", "var0" },
                                            { "variance_mean", "variance_sd" } };
    cr_status                st = CR_OK;
    for (int i = 0; i < 2; i++) CR_TRY(cri_prior_above(cx, names[form][i], v[i], 0));
    if (form == BY_SHAPE) params[SHAPE] = v[0], params[SCALE] = v[1];
    if (form == BY_DOF) params[SHAPE] = v[0] / 2, params[SCALE] = v[0] * v[1] / 2;
    if (form == BY_MOMENTS) { /* mean b / (a - 1), variance mean^2 / (a - 2) */
        params[SHAPE] = 2 + v[0] / v[1] * (v[0] / v[1]);
        params[SCALE] = v[0] * (params[SHAPE] - 1);
    }
done:
    return st;
}

/* Only the mean is known. */
static cr_status prior_of_variance(cr_ctx *cx, const cri_prior *p, double *params)
{
    static const char *const forms[] = { "shape,scale", "nu0,var0", "variance_mean,variance_sd" };
    cr_status                st = CR_OK;
    double                   v[2];
    params[SHAPE] = params[SCALE] = 0; /* Jeffreys: 1 / s2 */
    if (cri_prior_is(p, "jeffreys")) goto done;
    if (cri_prior_is(p, "flat") || cri_prior_is(p, "uniform")) {
        params[SHAPE] = -1;
        goto done;
    }
    for (int f = 0; f < 3; f++)
        if (cri_prior_match(p, forms[f], v)) {
            CR_TRY(prior_of_spread(cx, (enum variance_form)f, v, params));
            goto done;
        }
    CR_TRY(cri_prior_refuse(cx, p, "with a known mean: jeffreys, flat; " FORMS_VARIANCE));
done:
    return st;
}

/* Nothing is known.  Jeffreys as he used it, 1 / s2, which gives the classical t intervals; flat is
 * constant in mu and s2. */
static cr_status prior_of_both(cr_ctx *cx, const cri_prior *p, double *params)
{
    static const char *const forms[] = { "mean0,kappa0,shape,scale", "mean0,kappa0,nu0,var0",
                                         "mean,sd,variance_mean,variance_sd" };
    cr_status                st = CR_OK;
    double                   v[4];
    params[MEAN] = params[STRENGTH] = params[SCALE] = 0;
    params[SHAPE] = cri_prior_is(p, "jeffreys") ? -0.5 : -1.5;
    if (cri_prior_is(p, "jeffreys") || cri_prior_is(p, "flat") || cri_prior_is(p, "uniform"))
        goto done;
    for (int f = 0; f < 3; f++)
        if (cri_prior_match(p, forms[f], v)) {
            CR_TRY(cri_prior_above(cx, f == 2 ? "sd" : "kappa0", v[1], 0));
            CR_TRY(prior_of_spread(cx, (enum variance_form)f, v + 2, params));
            params[MEAN] = v[0];
            params[STRENGTH] = f == 2 ? v[2] / v[1] / v[1] : v[1]; /* Var mu = E s2 / k */
            goto done;
        }
    CR_TRY(cri_prior_refuse(cx, p, "jeffreys, flat; " FORMS_BOTH));
done:
    return st;
}

static cr_status read_prior(cr_ctx *cx, const cri_prior *p, const void *options, double *params)
{
    const normal_options *o = options;
    memset(params, 0, PARAMS * sizeof *params);
    params[KNOWN_MEAN] = o->known_mean;
    params[KNOWN_VARIANCE] = o->known_variance;
    if (mean_known(params) && variance_known(params))
        return cri_prior_is(p, "jeffreys") ? CR_OK
                                           : cr_fail(cx, CR_EARG,
                                                     "--prior: mean and variance are both known, "
                                                     "so there is nothing to put a prior on");
    if (variance_known(params)) return prior_of_mean(cx, p, params);
    return mean_known(params) ? prior_of_variance(cx, p, params) : prior_of_both(cx, p, params);
}

/* --- posterior and evidence ------------------------------------------------------------------ */

static bool proper(const double *p)
{
    return (mean_known(p) || p[STRENGTH] > 0) &&
           (variance_known(p) || (p[SHAPE] > 0 && p[SCALE] > 0));
}

static bool sound(const double *prior, const double *stats)
{
    return isfinite(prior[MEAN]) && cri_at_least(prior[STRENGTH], 0) &&
           cri_at_least(prior[SHAPE], -1.5) && cri_at_least(prior[SCALE], 0) &&
           !isinf(prior[KNOWN_MEAN]) &&
           (!variance_known(prior) || cri_at_least(prior[KNOWN_VARIANCE], DBL_TRUE_MIN)) &&
           stats[SCATTER] >= 0;
}

/* How far the values are from where they were expected, as part of sum (x - mu)^2. */
static double surprise(const double *prior, const double *stats)
{
    double n = stats[N], k = prior[STRENGTH];
    double off = stats[XBAR] - (mean_known(prior) ? prior[KNOWN_MEAN] : prior[MEAN]);
    return off * off * (mean_known(prior) ? n : k / (k + n) * n);
}

static void posterior(const double *prior, const double *stats, double *params)
{
    double n = stats[N];
    memcpy(params, prior, PARAMS * sizeof *params);
    if (!mean_known(prior)) {
        params[STRENGTH] = prior[STRENGTH] + n;
        params[MEAN] = prior[MEAN] + n / params[STRENGTH] * (stats[XBAR] - prior[MEAN]);
    }
    if (!variance_known(prior)) {
        params[SHAPE] = prior[SHAPE] + n / 2;
        params[SCALE] = prior[SCALE] + (stats[SCATTER] + surprise(prior, stats)) / 2;
    }
}

static double log_evidence(const double *prior, const double *stats, const double *params,
                           const double *work)
{
    double n = stats[N], square = stats[SCATTER] + surprise(prior, stats),
           sum = -n / 2 * CRI_LOG_2PI;
    (void)work;
    if (!mean_known(prior)) sum -= 0.5 * log1p(n / prior[STRENGTH]);
    if (variance_known(prior))
        return sum - n / 2 * log(prior[KNOWN_VARIANCE]) - square / 2 / prior[KNOWN_VARIANCE];
    return sum + cr_lgamma_diff(prior[SHAPE], n / 2) -
           prior[SHAPE] * log1p(square / 2 / prior[SCALE]) - n / 2 * log(params[SCALE]);
}

/* --- what is told ---------------------------------------------------------------------------- */

static cri_named variance_marginal(const double *p)
{
    return (cri_named){ "inverse-gamma", 2, { "shape", "scale" }, { p[SHAPE], p[SCALE] } };
}

static cri_named mean_marginal(const double *p)
{
    if (variance_known(p))
        return (cri_named){
            "normal", 2, { "mean", "sd" }, { p[MEAN], sqrt(p[KNOWN_VARIANCE] / p[STRENGTH]) }
        };
    return (cri_named){ "student-t",
                        3,
                        { "df", "location", "scale" },
                        { 2 * p[SHAPE], p[MEAN], sqrt(p[SCALE] / p[SHAPE] / p[STRENGTH]) } };
}

static cri_named joint(const double *p)
{
    if (variance_known(p) && mean_known(p))
        return (
            cri_named){ "known", 2, { "mean", "variance" }, { p[KNOWN_MEAN], p[KNOWN_VARIANCE] } };
    if (variance_known(p)) return mean_marginal(p);
    if (mean_known(p)) return variance_marginal(p);
    return (cri_named){ "normal-inverse-gamma",
                        4,
                        { "mean", "strength", "shape", "scale" },
                        { p[MEAN], p[STRENGTH], p[SHAPE], p[SCALE] } };
}

static cri_named predictive(const double *p)
{
    double mean = mean_known(p) ? p[KNOWN_MEAN] : p[MEAN];
    double more = mean_known(p) ? 1 : 1 + 1 / p[STRENGTH];
    if (variance_known(p))
        return (
            cri_named){ "normal", 2, { "mean", "sd" }, { mean, sqrt(p[KNOWN_VARIANCE] * more) } };
    return (cri_named){ "student-t",
                        3,
                        { "df", "location", "scale" },
                        { 2 * p[SHAPE], mean, sqrt(p[SCALE] / p[SHAPE] * more) } };
}

static size_t marginals(const double *p, const char *names[], cri_named *out)
{
    size_t n = 0;
    if (!mean_known(p)) names[n] = "mean", out[n++] = mean_marginal(p);
    if (!variance_known(p)) names[n] = "variance", out[n++] = variance_marginal(p);
    return n;
}

static double draw(const double *p, const double *work, cr_rng *r)
{
    (void)work;
    double v = variance_known(p) ? p[KNOWN_VARIANCE] : p[SCALE] / cr_rng_gamma(r, p[SHAPE]);
    double mean =
        mean_known(p) ? p[KNOWN_MEAN] : p[MEAN] + sqrt(v / p[STRENGTH]) * cr_rng_normal(r);
    return mean + sqrt(v) * cr_rng_normal(r);
}

static const char *const statistics[] = { "n", "mean", "scatter" };

static const cri_conjugate_family family = {
    .model = "normal",
    .needs = "a number",
    .improper = "this prior needs more values, not all the same",
    CRI_CONJUGATE_FAMILY,
    .merge = merge,
    .marginals = marginals,
};

CRI_CONJUGATE_ENTRIES(normal, family, NULL)

const cr_model_class cri_class_normal = {
    .name = "normal",
    .summary = "mean and variance of numbers, each known or unknown",
    .formulas = "x | mu, s2 ~ N(mu, s2),  s2 ~ InverseGamma(a, b),  mu | s2 ~ N(m, s2 / k)\n"
                "k' = k + n,  m' = (k m + n xbar) / k',  a' = a + n/2,\n"
                "b' = b + sum (x - xbar)^2 / 2 + k n (xbar - m)^2 / (2 k')\n"
                "next: Student t with 2 a' degrees of freedom; normal if the variance is known",
    .reference = "Gelman et al. (2013), Bayesian Data Analysis, 3rd ed., sec. 2.5, 2.6, 3.2, 3.3",
    .example = "examples/diabetes.csv --features bmi",
    CRI_CONJUGATE_CLASS(normal, cri_conjugate_next, NULL),
};
