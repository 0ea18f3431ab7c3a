/* student_t.c -- Student's t with location and scale: heavier tails than the normal's. */
#include "fit.h"
#include "line_kl.h"
#include "saddle.h"

#include <math.h>

static double standard(cri_par p, double x) { return (x - p.v[1]) / p.v[2]; }

static double t_logpdf(cri_par p, double x)
{
    return cr_student_t_logpdf(standard(p, x), p.v[0]) - log(p.v[2]);
}

static double t_cdf(cri_par p, double x, unsigned side)
{
    double z = side & CRI_UPPER ? -standard(p, x) : standard(p, x);
    return side & CRI_LOG ? cr_student_t_logcdf(z, p.v[0]) : cr_student_t_cdf(z, p.v[0]);
}

static double t_quantile(cri_par p, double prob)
{
    return p.v[1] + p.v[2] * cr_student_t_ppf(prob, p.v[0]);
}

static double t_mean(cri_par p) { return p.v[0] > 1 ? p.v[1] : NAN; }
static double t_mode(cri_par p) { return p.v[1]; }

static double t_variance(cri_par p)
{
    double nu = p.v[0];
    return nu > 2 ? p.v[2] * p.v[2] * (nu / (nu - 2)) : nu > 1 ? INFINITY : NAN;
}

/* (nu + 1)/2 [psi((nu + 1)/2) - psi(nu/2)] + log(sqrt(nu) B(nu/2, 1/2)), the difference of the
 * digammas without cancellation. */
static double t_entropy(cri_par p)
{
    double nu = p.v[0], half = 0.5 * nu;
    double rise = log1p(1 / nu) + cri_log_minus_digamma(half) - cri_log_minus_digamma(half + 0.5);
    return (half + 0.5) * rise + 0.5 * log(nu) + cr_lbeta(half, 0.5) + log(p.v[2]);
}

static double t_sample(cri_par p, cr_rng *r)
{
    double half = 0.5 * p.v[0], z = cr_rng_normal(r);
    return p.v[1] + p.v[2] * z * exp(0.5 * (log(half) - cr_rng_log_gamma(r, half)));
}

/* --- divergence ------------------------------------------------------------------------------ */

static double standard_logpdf(double nu, double z) { return cr_student_t_logpdf(z, nu); }

/* 1 + z^2 / nu is z^2 / nu there. */
static double standard_tail(double nu, double log_z)
{
    double over = fmax(0, 2 * log_z - log(nu)); /* nu above z^2: no tail yet, and no mass */
    return cr_student_t_logpdf(0, nu) - 0.5 * (nu + 1) * over;
}

static cri_line line(cri_par p)
{
    return (cri_line){ standard_logpdf, standard_tail, p.v[0], p.v[1], p.v[2] };
}

static cr_status t_kl(cr_ctx *cx, cri_par p, cri_par q, double *out)
{
    return cri_line_kl(cx, "student-t", line(p), line(q), out);
}

/* --- fit ------------------------------------------------------------------------------------- */

/* The mean log-likelihood in (location, log scale, log nu); location counted in units of the
 * starting scale. */
typedef struct t_problem {
    const cri_sample *s;
    double            centre, unit;
} t_problem;

static double t_objective(const double *theta, double *g, const void *user)
{
    const t_problem *q = user;
    double           nu = exp(theta[2]), scale = exp(theta[1]), half = 0.5 * nu, sum = 0;
    double           rise = cr_digamma(half + 0.5) - cr_digamma(half) - 1 / nu;
    g[0] = g[1] = g[2] = 0;
    for (size_t i = 0; i < q->s->n; i++) {
        double z = ((q->s->x[i] - q->centre) / q->unit - theta[0]) / scale, z2 = z * z;
        double w = cri_weight(q->s, i) / q->s->total, pull = (nu + 1) / (nu + z2);
        sum += w * (cr_student_t_logpdf(z, nu) - theta[1]);
        g[0] += w * pull * z / scale;
        g[1] += w * (pull * z2 - 1);
        g[2] += w * half * (rise - log1p(z2 / nu) + pull * z2 / nu);
    }
    if (theta[2] > 14 || theta[2] < -3) { /* a soft wall at nu = e^14, e^-3 */
        double over = theta[2] > 14 ? theta[2] - 14 : theta[2] + 3;
        sum -= over * over, g[2] -= 2 * over;
    }
    return sum;
}

/* The likelihood has poles at scale 0 and nu below 1/(n - 1); we climb to the maximum that stands
 * above the median and the middle spread. */
static cr_status t_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    cr_status st = CR_OK;
    t_problem problem = { s, 0, 1 };
    (void)n;
    CR_TRY(cri_need_spread(cx, s, "student-t", "scale"));
    CR_TRY(cri_sample_median(cx, s, &problem.centre));
    double sum = 0;
    for (size_t i = 0; i < s->n; i++)
        sum += cri_weight(s, i) / s->total * log1p(fabs(s->x[i] - problem.centre));
    problem.unit = expm1(sum); /* a mean distance that far values hardly move */
    double theta[3] = { 0, 0, log(5) };
    CR_TRY(cri_climb(cx, "student-t", t_objective, &problem, 3, theta));
    v[0] = exp(theta[2]);
    v[1] = problem.centre + problem.unit * theta[0];
    v[2] = problem.unit * exp(theta[1]);
    if (theta[2] > 13) /* at the wall */
        cr_log(cx, CR_LOG_WARNING,
               "student-t: the tails are no heavier than a normal's: df has no finite estimate, "
               "and the fit is a normal up to rounding");
done:
    return st;
}

/* --- the descriptor -------------------------------------------------------------------------- */

static const cri_dist_param params[] = {
    CRI_PARAM("df", cri_positive, ">0", "4", "degrees of freedom nu"),
    CRI_PARAM_STANDARD("location", cri_any, "any number", "0", "centre"),
    CRI_PARAM_STANDARD("scale", cri_positive, ">0", "1", "scale"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_student_t = {
    .name = "student-t",
    .summary = "heavy tails: a mean with unknown variance, data with outliers",
    .formula = "p(x) = (1 + z^2 / nu)^(-(nu+1)/2) / (scale sqrt(nu) B(nu/2, 1/2)),  "
               "z = (x - location) / scale",
    .reference = "Lange, Little & Taylor (1989), J. Amer. Stat. Assoc. 84",
    .params = params,
    CRI_ON_REALS,
    .logpdf = t_logpdf,
    .cdf = t_cdf,
    .quantile = t_quantile,
    .mean = t_mean,
    .mode = t_mode,
    .variance = t_variance,
    .entropy = t_entropy,
    .sample = t_sample,
    .fit = t_fit,
    .kl_integral = t_kl,
};
