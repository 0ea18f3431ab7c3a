/* family.c -- variance, deviance and density of the families; the links. */
#include "family.h"
#include "../../math/special.h"

#include <float.h>
#include <math.h>

/* --- links ----------------------------------------------------------------------------------- */

cri_glm_link cri_glm_usual_link(cri_glm_family family)
{
    switch (family) {
    case CRI_GLM_GAUSSIAN:
        return CRI_LINK_IDENTITY;
    case CRI_GLM_BINOMIAL:
        return CRI_LINK_LOGIT;
    default:
        return CRI_LINK_LOG;
    }
}

double cri_link_of_mean(cri_glm_link link, double mu)
{
    switch (link) {
    case CRI_LINK_LOG:
        return log(mu);
    case CRI_LINK_LOGIT:
        return cr_logit(mu);
    case CRI_LINK_PROBIT:
        return cr_norm_ppf(mu);
    case CRI_LINK_CLOGLOG:
        return log(-log1p(-mu));
    case CRI_LINK_CAUCHIT:
        return tan(M_PI * (mu - 0.5));
    case CRI_LINK_INVERSE:
        return 1 / mu;
    case CRI_LINK_INVERSE_SQUARED:
        return 1 / (mu * mu);
    case CRI_LINK_SQRT:
        return sqrt(mu);
    default:
        return mu;
    }
}

double cri_link_mean(cri_glm_link link, double eta)
{
    switch (link) {
    case CRI_LINK_LOG:
        return exp(eta);
    case CRI_LINK_LOGIT:
        return eta < 0 ? exp(eta) / (1 + exp(eta)) : 1 / (1 + exp(-eta));
    case CRI_LINK_PROBIT:
        return cr_norm_cdf(eta);
    case CRI_LINK_CLOGLOG:
        return -expm1(-exp(eta));
    case CRI_LINK_CAUCHIT:
        return atan2(1, -eta) / M_PI; /* 1/2 + atan(eta) / pi, sharp in the tail */
    case CRI_LINK_INVERSE:
        return 1 / eta;
    case CRI_LINK_INVERSE_SQUARED:
        return 1 / sqrt(eta);
    case CRI_LINK_SQRT:
        return eta > 0 ? eta * eta : 0;
    default:
        return eta;
    }
}

double cri_link_slope(cri_glm_link link, double eta)
{
    double a;
    switch (link) {
    case CRI_LINK_LOG:
        return exp(eta);
    case CRI_LINK_LOGIT:
        return a = exp(-fabs(eta)), a / ((1 + a) * (1 + a));
    case CRI_LINK_PROBIT:
        return exp(cr_norm_logpdf(eta));
    case CRI_LINK_CLOGLOG:
        return exp(eta - exp(eta));
    case CRI_LINK_CAUCHIT:
        return 1 / (M_PI * (1 + eta * eta));
    case CRI_LINK_INVERSE:
        return -1 / (eta * eta);
    case CRI_LINK_INVERSE_SQUARED:
        return -0.5 / (eta * sqrt(eta));
    case CRI_LINK_SQRT:
        return 2 * eta;
    default:
        return 1;
    }
}

/* --- ranges ---------------------------------------------------------------------------------- */

bool cri_family_allows(cri_glm_family family, double y)
{
    switch (family) {
    case CRI_GLM_GAUSSIAN:
        return true;
    case CRI_GLM_BINOMIAL:
        return y >= 0 && y <= 1;
    case CRI_GLM_POISSON:
    case CRI_GLM_NEGATIVE_BINOMIAL:
        return y >= 0;
    default:
        return y > 0;
    }
}

bool cri_family_has_mean(cri_glm_family family, double mu)
{
    if (!isfinite(mu)) return false;
    switch (family) {
    case CRI_GLM_GAUSSIAN:
        return true;
    case CRI_GLM_BINOMIAL:
        return mu > 0 && mu < 1;
    default:
        return mu > 0;
    }
}

bool cri_link_domain(cri_glm_family family, cri_glm_link link, double *low, double *high)
{
    bool share = family == CRI_GLM_BINOMIAL;
    *low = -INFINITY;
    *high = INFINITY;
    switch (link) {
    case CRI_LINK_LOG:
        if (share) *high = 0;
        break;
    case CRI_LINK_IDENTITY:
    case CRI_LINK_SQRT:
        if (family != CRI_GLM_GAUSSIAN || link == CRI_LINK_SQRT) *low = 0;
        if (share) *high = 1;
        break;
    case CRI_LINK_INVERSE:
        if (family != CRI_GLM_GAUSSIAN) *low = share;
        break;
    case CRI_LINK_INVERSE_SQUARED:
        *low = share;
        break;
    default:
        break;
    }
    return isfinite(*low) || isfinite(*high);
}

const char *cri_family_range(cri_glm_family family)
{
    switch (family) {
    case CRI_GLM_BINOMIAL:
        return "0 to 1 (or 0 to the number of trials)";
    case CRI_GLM_POISSON:
    case CRI_GLM_NEGATIVE_BINOMIAL:
        return "whole numbers from 0 on";
    case CRI_GLM_GAUSSIAN:
        return "any number";
    default:
        return "above 0";
    }
}

bool cri_family_is_fixed(cri_glm_family family)
{
    return family == CRI_GLM_BINOMIAL || family == CRI_GLM_POISSON ||
           family == CRI_GLM_NEGATIVE_BINOMIAL;
}

/* --- variance, deviance, density ------------------------------------------------------------- */

double cri_family_variance(cri_glm_family family, double alpha, double mu)
{
    switch (family) {
    case CRI_GLM_BINOMIAL:
        return mu * (1 - mu);
    case CRI_GLM_POISSON:
        return mu;
    case CRI_GLM_GAMMA:
        return mu * mu;
    case CRI_GLM_INVERSE_GAUSSIAN:
        return mu * mu * mu;
    case CRI_GLM_NEGATIVE_BINOMIAL:
        return mu + alpha * mu * mu;
    default:
        return 1;
    }
}

double cri_family_curvature(cri_glm_family family, cri_glm_link link, double alpha, double y,
                            double eta, double mu, double mean)
{
    const double least = 1e-5;
    bool         count = family == CRI_GLM_POISSON || family == CRI_GLM_NEGATIVE_BINOMIAL;
    if (family == CRI_GLM_BINOMIAL && link == CRI_LINK_LOG)
        return (1 - y) * mu / ((1 - mu) * (1 - mu)) + least;
    if (family == CRI_GLM_BINOMIAL && link == CRI_LINK_IDENTITY)
        return y / (mu * mu) + (1 - y) / ((1 - mu) * (1 - mu));
    if (count && link == CRI_LINK_IDENTITY) return y / (mu * mu) + least / (mean * mean);
    double slope = cri_link_slope(link, eta);
    return slope * slope / cri_family_variance(family, alpha, mu);
}

double cri_family_deviance(cri_glm_family family, double alpha, double y, double mu)
{
    double d;
    switch (family) {
    case CRI_GLM_BINOMIAL:
        d = 2 * (cr_bd0(y, mu) + cr_bd0(1 - y, 1 - mu));
        break;
    case CRI_GLM_POISSON:
        d = 2 * cr_bd0(y, mu);
        break;
    case CRI_GLM_GAMMA:
        d = 2 * cr_bd0(mu, y) / mu;
        break; /* y/mu - 1 - log(y/mu) */
    case CRI_GLM_INVERSE_GAUSSIAN:
        d = (y - mu) * (y - mu) / (mu * mu * y);
        break;
    case CRI_GLM_NEGATIVE_BINOMIAL:
        d = 2 *
            (cr_xlogy(y, y / mu) - (y + 1 / alpha) * log1p(alpha * (y - mu) / (1 + alpha * mu)));
        break;
    default:
        d = (y - mu) * (y - mu);
    }
    return d > 0 ? d : 0;
}

/* log C(m, k) p^k (1-p)^(m-k), k = m y. */
static double log_binomial(double m, double y, double mu)
{
    double k = m * y;
    return cr_lchoose(m, k) + cr_xlogy(k, mu) + (m - k > 0 ? (m - k) * log1p(-mu) : 0);
}

double cri_family_log_density(cri_glm_family family, double alpha, double phi, double trials,
                              double y, double mu)
{
    double r = 1 / alpha, a = 1 / phi;
    switch (family) {
    case CRI_GLM_BINOMIAL:
        return log_binomial(trials, y, mu);
    case CRI_GLM_POISSON:
        return cr_xlogy(y, mu) - mu - cr_lgamma_abs(y + 1);
    case CRI_GLM_GAMMA:
        return a * log(a / mu) + (a - 1) * log(y) - a * y / mu - cr_lgamma_abs(a);
    case CRI_GLM_INVERSE_GAUSSIAN:
        return -0.5 *
               (log(2 * M_PI * phi) + 3 * log(y) + (y - mu) * (y - mu) / (phi * mu * mu * y));
    case CRI_GLM_NEGATIVE_BINOMIAL:
        return cr_lgamma_diff(r, y) - cr_lgamma_abs(y + 1) + cr_xlogy(y, alpha * mu) -
               (y + r) * log1p(alpha * mu);
    default:
        return -0.5 * (log(2 * M_PI * phi) + (y - mu) * (y - mu) / phi);
    }
}

double cri_family_start(cri_glm_family family, double trials, double y, double mean)
{
    switch (family) {
    case CRI_GLM_BINOMIAL:
        return (trials * y + 0.5) / (trials + 1);
    case CRI_GLM_POISSON:
    case CRI_GLM_NEGATIVE_BINOMIAL:
        return 0.5 * (y + mean) + 0.01 * (mean > 0 ? mean : 1);
    case CRI_GLM_GAUSSIAN:
        return y;
    default:
        return 0.5 * (y + mean);
    }
}
