/* logistic.c -- the distribution whose distribution function is the logistic curve. */
#include "fit.h"
#include "line_kl.h"
#include "saddle.h"

#include <math.h>

static double standard_logpdf(double unused, double z)
{
    (void)unused;
    return -fabs(z) - 2 * log1p(exp(-fabs(z)));
}

static double logistic_logpdf(cri_par p, double x)
{
    return standard_logpdf(0, cri_standard(p, x)) - log(p.v[1]);
}

static double logistic_cdf(cri_par p, double x, unsigned side)
{
    double z = side & CRI_UPPER ? -cri_standard(p, x) : cri_standard(p, x);
    return side & CRI_LOG ? -cri_softplus(-z) : 1 / (1 + exp(-z));
}

static double logistic_quantile(cri_par p, double prob)
{
    return p.v[0] + p.v[1] * (log(prob) - log1p(-prob));
}

static double logistic_variance(cri_par p) { return p.v[1] * p.v[1] * (M_PI * M_PI / 3); }
static double logistic_entropy(cri_par p) { return 2 + log(p.v[1]); }

static double logistic_sample(cri_par p, cr_rng *r)
{
    return logistic_quantile(p, cr_rng_uniform(r));
}

static cri_line line(cri_par p) { return (cri_line){ standard_logpdf, NULL, 0, p.v[0], p.v[1] }; }

static cr_status logistic_kl(cr_ctx *cx, cri_par p, cri_par q, double *out)
{
    return cri_line_kl(cx, "logistic", line(p), line(q), out);
}

/* The mean log-likelihood in (location, log scale), in units of the sample's sd. */
typedef struct logistic_problem {
    const cri_sample *s;
    double            mean, sd;
} logistic_problem;

static double logistic_objective(const double *theta, double *g, const void *user)
{
    const logistic_problem *q = user;
    double                  scale = exp(theta[1]), sum = 0;
    g[0] = g[1] = 0;
    for (size_t i = 0; i < q->s->n; i++) {
        double z = ((q->s->x[i] - q->mean) / q->sd - theta[0]) / scale, pull = tanh(0.5 * z);
        double w = cri_weight(q->s, i) / q->s->total;
        sum += w * (-fabs(z) - 2 * log1p(exp(-fabs(z))) - theta[1]);
        g[0] += w * pull / scale;
        g[1] += w * (pull * z - 1);
    }
    return sum;
}

static cr_status logistic_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    cr_status        st = CR_OK;
    logistic_problem q = { s, cri_sample_mean(s, NULL), 1 };
    double           theta[2] = { 0, log(sqrt(3) / M_PI) };
    (void)n;
    CR_TRY(cri_need_spread(cx, s, "logistic", "scale"));
    q.sd = sqrt(cri_sample_spread(s, q.mean));
    CR_TRY(cri_climb(cx, "logistic", logistic_objective, &q, 2, theta));
    v[0] = q.mean + q.sd * theta[0], v[1] = q.sd * exp(theta[1]);
done:
    return st;
}

static const cri_dist_param params[] = {
    CRI_PARAM_STANDARD("location", cri_any, "any number", "0", "centre"),
    CRI_PARAM_STANDARD("scale", cri_positive, ">0", "1", "scale; the sd is 1.81 times it"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_logistic = {
    .name = "logistic",
    .summary = "the noise behind logistic regression",
    .formula = "p(x) = exp(-z) / (scale (1 + exp(-z))^2),  z = (x - location) / scale",
    .reference =
        "Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 23",
    .params = params,
    CRI_ON_REALS,
    .logpdf = logistic_logpdf,
    .cdf = logistic_cdf,
    .quantile = logistic_quantile,
    .mean = cri_first,
    .mode = cri_first,
    .variance = logistic_variance,
    .entropy = logistic_entropy,
    .sample = logistic_sample,
    .fit = logistic_fit,
    .kl_integral = logistic_kl,
};
