/* cauchy.c -- tails so heavy that there is no mean: Student's t with one degree of freedom. */
#include "cauchy.h"
#include "fit.h"

#include <math.h>

double cri_cauchy_spread(double z)
{
    z = fabs(z);
    return z < 1e8 ? log1p(z * z) : 2 * log(z);
}

static double cauchy_logpdf(cri_par p, double x)
{
    return -log(M_PI * p.v[1]) - cri_cauchy_spread(cri_standard(p, x));
}

static double cauchy_cdf(cri_par p, double x, unsigned side)
{
    double z = cri_standard(p, x), tail = atan2(1, fabs(z)) / M_PI;
    return z < 0 ? cri_face(tail, 1 - tail, side) : cri_face(1 - tail, tail, side);
}

static double cauchy_quantile(cri_par p, double prob)
{
    double z = prob < 0.25   ? -1 / tan(M_PI * prob)
               : prob > 0.75 ? 1 / tan(M_PI * (1 - prob))
                             : tan(M_PI * (prob - 0.5));
    return p.v[0] + p.v[1] * z;
}

static double cauchy_entropy(cri_par p) { return log(4 * M_PI * p.v[1]); }
static double cauchy_sample(cri_par p, cr_rng *r) { return cauchy_quantile(p, cr_rng_uniform(r)); }

/* log of ((s + s')^2 + d^2) / (4 s s'); Chyzak & Nielsen (2019). */
static double cauchy_kl(cri_par p, cri_par q)
{
    double s = p.v[1], t = q.v[1], d = p.v[0] - q.v[0], off = s - t;
    return log1p((off * off + d * d) / (4 * s * t));
}

/* The mean log-likelihood in (location, log scale), counted from the median in units of the
 * starting scale; it has one maximum (Copas 1975, Biometrika 62). */
typedef struct cauchy_problem {
    const cri_sample *s;
    double            centre, unit;
} cauchy_problem;

static double cauchy_objective(const double *theta, double *g, const void *user)
{
    const cauchy_problem *q = user;
    double                scale = exp(theta[1]), sum = 0;
    g[0] = g[1] = 0;
    for (size_t i = 0; i < q->s->n; i++) {
        double z = ((q->s->x[i] - q->centre) / q->unit - theta[0]) / scale;
        double w = cri_weight(q->s, i) / q->s->total, pull = 2 / (1 + z * z);
        sum -= w * (cri_cauchy_spread(z) + theta[1]);
        g[0] += w * pull * z / scale;
        g[1] += w * (1 - pull);
    }
    return sum;
}

static cr_status cauchy_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    cr_status      st = CR_OK;
    cauchy_problem q = { s, 0, 1 };
    double         theta[2] = { 0, 0 }, equal = 0, log_far = 0;
    (void)n;
    CR_TRY(cri_need_spread(cx, s, "cauchy", "scale"));
    CR_TRY(cri_sample_median(cx, s, &q.centre));
    for (size_t i = 0; i < s->n; i++) {
        double far = fabs(s->x[i] - q.centre);
        if (far > 0)
            log_far += cri_weight(s, i) * log(far);
        else
            equal += cri_weight(s, i);
    }
    if (equal >= 0.5 * s->total && s->n > 2)
        CR_TRY(cri_no_estimate(cx, "cauchy", "half of the values are the same"));
    q.unit = exp(log_far / (s->total - equal));
    CR_TRY(cri_climb(cx, "cauchy", cauchy_objective, &q, 2, theta));
    v[0] = q.centre + q.unit * theta[0], v[1] = q.unit * exp(theta[1]);
done:
    return st;
}

static const cri_dist_param params[] = {
    CRI_PARAM_STANDARD("location", cri_any, "any number", "0", "centre"),
    CRI_PARAM_STANDARD("scale", cri_positive, ">0", "1", "half the distance between the quartiles"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_cauchy = {
    .name = "cauchy",
    .summary = "tails so heavy that there is no mean",
    .formula = "p(x) = 1 / (pi scale (1 + z^2)),  z = (x - location) / scale",
    .reference =
        "Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 16",
    .params = params,
    CRI_ON_REALS,
    .logpdf = cauchy_logpdf,
    .cdf = cauchy_cdf,
    .quantile = cauchy_quantile,
    .mode = cri_first,
    .entropy = cauchy_entropy,
    .sample = cauchy_sample,
    .fit = cauchy_fit,
    .kl = cauchy_kl,
};
