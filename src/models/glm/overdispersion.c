/* overdispersion.c -- counts and successes that vary more than their family says. */
#include "overdispersion.h"
#include "math/special/special.h"

#include <math.h>

/* The variance of r^2 of row i. */
static double square_variance(const cri_glm_problem *p, double eta, double trials)
{
    double mu = cri_link_mean(p->link, eta), share = mu * (1 - mu);
    if (p->family == CRI_GLM_POISSON) return 2 + 1 / mu;
    return 2 + (1 - 6 * share) / (trials * share);
}

double cri_glm_overdispersion(const cri_glm_problem *p, const cri_glm *m, const double *eta)
{
    double sum = 0, left = m->n - m->parameters;
    bool   several = p->family == CRI_GLM_POISSON;
    if (p->family != CRI_GLM_POISSON && p->family != CRI_GLM_BINOMIAL) return 1;
    for (size_t i = 0; i < p->rows->n; i++) {
        if (!(p->weight[i] > 0)) continue;
        several = several || p->trials[i] > 1;
        sum += p->weight[i] * square_variance(p, eta[i], p->trials[i]);
    }
    if (!several || !(left > 0) || !isfinite(sum)) return 1;
    double variance = sum * left / m->n;
    return cr_gamma_q(left * left / variance, m->pearson * left / variance);
}
