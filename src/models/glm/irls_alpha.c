/* irls_alpha.c -- the overdispersion alpha of the negative binomial, Var y = mu + alpha mu^2, by
 * maximum likelihood at given means.  Lawless (1987), Can. J. Stat. 15:209-225. */
#include "irls.h"
#include "math/optim/brent.h"
#include "math/special/special.h"

#include <math.h>

typedef struct profile {
    const cri_glm_problem *p;
    const double          *mu; /* [n] */
} profile;

/* d log likelihood / d r, r = 1/alpha, at r = exp(log_r); times r^2, so that it does not fade
 * away. */
static cr_status profile_slope(void *user, double log_r, double *out)
{
    const profile         *k = user;
    const cri_glm_problem *p = k->p;
    double                 r = exp(log_r), sum = 0;
    for (size_t i = 0; i < p->rows->n; i++) {
        double m = k->mu[i], y = p->y[i];
        if (p->weight[i] == 0) continue;
        sum +=
            p->weight[i] * (cr_digamma(y + r) - cr_digamma(r) - log1p(m / r) + (m - y) / (r + m));
    }
    *out = sum * r * r;
    return CR_OK;
}

/* Twice the slope of the log likelihood in alpha at alpha = 0. */
static double score_at_poisson(const profile *k)
{
    double sum = 0;
    for (size_t i = 0; i < k->p->rows->n; i++) {
        double e = k->p->y[i] - k->mu[i];
        sum += k->p->weight[i] > 0 ? k->p->weight[i] * (e * e - k->p->y[i]) : 0;
    }
    return sum;
}

/* The slope at the end of small alpha is lost in rounding, so the score decides there. */
cr_status cri_glm_fit_alpha(cr_ctx *cx, const cri_glm_problem *p, const double *mu,
                            double *out_alpha, bool *out_underdispersed)
{
    const double low = log(1e-6), high = log(1e8);
    double       at_low, at_high, log_r = high;
    cr_status    st = CR_OK;
    profile      k = { p, mu };
    bool         under = score_at_poisson(&k) <= 0;
    CR_TRY(profile_slope(&k, low, &at_low));
    CR_TRY(profile_slope(&k, high, &at_high));
    if (under)
        log_r = high;
    else if (at_low <= 0)
        log_r = low;
    else if (at_high < 0)
        CR_TRY(cr_brent_root(cx, profile_slope, &k, low, high, 1e-13, &log_r));
    *out_alpha = exp(-log_r);
    *out_underdispersed = under;
done:
    return st;
}
