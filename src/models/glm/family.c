/* family.c -- variance, deviance and density of the families; the links. */
#include "family.h"
#include "math/special/special.h"
#include "math/special/sharp.h"

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

double cri_link_rest(cri_glm_link link, double eta)
{
    double root;
    switch (link) {
    case CRI_LINK_LOG:
        return -expm1(eta);
    case CRI_LINK_LOGIT:
    case CRI_LINK_PROBIT:
    case CRI_LINK_CAUCHIT: /* symmetric */
        return cri_link_mean(link, -eta);
    case CRI_LINK_CLOGLOG:
        return exp(-exp(eta));
    case CRI_LINK_INVERSE:
        return (eta - 1) / eta;
    case CRI_LINK_INVERSE_SQUARED:
        return root = sqrt(eta), (eta - 1) / (root * (root + 1));
    case CRI_LINK_SQRT:
        return (1 - eta) * (1 + eta);
    default:
        return 1 - eta;
    }
}

/* log(part), where whole = 1 - part: from the smaller of both. */
static double log_of_share(double part, double whole)
{
    return part < 0.5 ? log(part) : log1p(-whole);
}

double cri_link_log_mean(cri_glm_link link, double eta)
{
    switch (link) {
    case CRI_LINK_LOG:
        return eta;
    case CRI_LINK_LOGIT:
        return cr_log_sigmoid(eta);
    case CRI_LINK_PROBIT:
        return cr_norm_logcdf(eta);
    case CRI_LINK_CLOGLOG: /* log(1 - exp(-u)) = log u - u / 2 + u^2 / 24 ... */
        return eta < -20 ? eta - 0.5 * exp(eta) : cr_log1mexp(-exp(eta));
    default:
        return log_of_share(cri_link_mean(link, eta), cri_link_rest(link, eta));
    }
}

double cri_link_log_rest(cri_glm_link link, double eta)
{
    switch (link) {
    case CRI_LINK_LOG:
        return cr_log1mexp(eta);
    case CRI_LINK_LOGIT:
        return cr_log_sigmoid(-eta);
    case CRI_LINK_PROBIT:
        return cr_norm_logcdf(-eta);
    case CRI_LINK_CLOGLOG:
        return -exp(eta);
    default:
        return log_of_share(cri_link_rest(link, eta), cri_link_mean(link, eta));
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

bool cri_family_has_mean(cri_glm_family family, cri_glm_link link, double eta)
{
    if (family == CRI_GLM_BINOMIAL) { /* 0 and 1 are limits, which rounding may reach */
        double low, high;
        cri_link_domain(family, link, &low, &high);
        return isfinite(eta) && eta > low && eta < high;
    }
    double mu = cri_link_mean(link, eta);
    return isfinite(mu) && (family == CRI_GLM_GAUSSIAN || mu > 0);
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
        return "whole numbers, 0 or more";
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

double cri_family_variance(const cri_glm_law *law, double eta)
{
    double mu = cri_link_mean(law->link, eta);
    switch (law->family) {
    case CRI_GLM_BINOMIAL:
        return mu * cri_link_rest(law->link, eta);
    case CRI_GLM_POISSON:
        return mu;
    case CRI_GLM_GAMMA:
        return mu * mu;
    case CRI_GLM_INVERSE_GAUSSIAN:
        return mu * mu * mu;
    case CRI_GLM_NEGATIVE_BINOMIAL:
        return mu + law->alpha * mu * mu;
    default:
        return 1;
    }
}

double cri_family_residual(const cri_glm_law *law, double y, double eta)
{
    double mu = cri_link_mean(law->link, eta);
    if (law->family != CRI_GLM_BINOMIAL) return y - mu;
    return y * cri_link_rest(law->link, eta) - (1 - y) * mu;
}

/* Far out in a tail of a share mu' / V would be 0 / 0: it is written without V where it can be. */
double cri_family_score(const cri_glm_law *law, double y, double eta)
{
    double mu, rest;
    if (law->family == CRI_GLM_BINOMIAL) switch (law->link) {
        case CRI_LINK_LOGIT:
            return cri_family_residual(law, y, eta);
        case CRI_LINK_PROBIT:
            return y * cr_inv_mills(eta) - (1 - y) * cr_inv_mills(-eta);
        case CRI_LINK_CLOGLOG:
            return y / cr_expm1_over_x(exp(fmin(eta, 700))) - (1 - y) * exp(eta);
        default:
            mu = cri_link_mean(law->link, eta), rest = cri_link_rest(law->link, eta);
            return (y / mu - (1 - y) / rest) * cri_link_slope(law->link, eta);
        }
    return cri_family_residual(law, y, eta) * cri_link_slope(law->link, eta) /
           cri_family_variance(law, eta);
}

double cri_family_information(const cri_glm_law *law, double eta)
{
    double slope = cri_link_slope(law->link, eta), e;
    if (law->family == CRI_GLM_BINOMIAL) switch (law->link) {
        case CRI_LINK_LOGIT:
            return slope;
        case CRI_LINK_PROBIT:
            return cr_inv_mills(eta) * cr_inv_mills(-eta);
        case CRI_LINK_CLOGLOG:
            return e = exp(fmin(eta, 700)), e / cr_expm1_over_x(e);
        default:
            break;
        }
    return slope * slope / cri_family_variance(law, eta);
}

/* -d^2 log mu / d eta^2 of the links without bounds. */
static double log_mean_curvature(cri_glm_link link, double eta)
{
    double u, s;
    switch (link) {
    case CRI_LINK_PROBIT:
        s = cr_inv_mills(eta);
        return eta < -1e4 ? 1 : s * (s + eta);
    case CRI_LINK_CLOGLOG: /* s = u / (exp(u) - 1) = 1 - u / 2 + u^2 / 12 ... */
        u = exp(fmin(eta, 700)), s = 1 / cr_expm1_over_x(u);
        return u < 1e-3 ? s * u * (0.5 + u / 12) : s * (u + s - 1);
    case CRI_LINK_CAUCHIT:
        s = cri_link_slope(link, eta) / cri_link_mean(link, eta);
        return s * (s + 2 * eta / (1 + eta * eta));
    default:
        return cri_link_slope(link, eta);
    }
}

/* The same of 1 - mu: a symmetric link's is that of mu at -eta. */
static double log_rest_curvature(cri_glm_link link, double eta)
{
    return link == CRI_LINK_CLOGLOG ? exp(eta) : log_mean_curvature(link, -eta);
}

bool cri_family_is_curved(const cri_glm_law *law)
{
    return law->family == CRI_GLM_BINOMIAL &&
           (law->link == CRI_LINK_PROBIT || law->link == CRI_LINK_CLOGLOG ||
            law->link == CRI_LINK_CAUCHIT);
}

double cri_family_curvature(const cri_glm_law *law, double y, double eta, double mean)
{
    const double least = 1e-5;
    double       mu = cri_link_mean(law->link, eta), rest = cri_link_rest(law->link, eta);
    bool         count = law->family == CRI_GLM_POISSON || law->family == CRI_GLM_NEGATIVE_BINOMIAL;
    if (law->family == CRI_GLM_BINOMIAL && law->link == CRI_LINK_LOG)
        return (1 - y) * mu / (rest * rest) + least;
    if (law->family == CRI_GLM_BINOMIAL && law->link == CRI_LINK_IDENTITY)
        return y / (mu * mu) + (1 - y) / (rest * rest);
    if (count && law->link == CRI_LINK_IDENTITY) return y / (mu * mu) + least / (mean * mean);
    double expected = cri_family_information(law, eta);
    if (!cri_family_is_curved(law)) return expected;
    return fmax(0.1 * expected, (y > 0 ? y * log_mean_curvature(law->link, eta) : 0) +
                                    (y < 1 ? (1 - y) * log_rest_curvature(law->link, eta) : 0));
}

/* y log(y / mu) - (y - mu) */
static double divergence(double y, double mu)
{
    if (!(y > 0)) return mu;
    return mu < 1e6 * y ? -y * cri_log1pmx((mu - y) / y) : mu - y - y * log(mu / y);
}

/* Shares of 0 and 1 by logarithms; between them the divergence, where no mean is as near to 0 or 1
 * as to be lost. */
static double binomial_deviance(const cri_glm_law *law, double y, double eta)
{
    if (y == 0) return -2 * cri_link_log_rest(law->link, eta);
    if (y == 1) return -2 * cri_link_log_mean(law->link, eta);
    double mu = cri_link_mean(law->link, eta), rest = cri_link_rest(law->link, eta);
    if (mu > 1e-3 && rest > 1e-3) return 2 * (divergence(y, mu) + divergence(1 - y, rest));
    return 2 * (y * (log(y) - cri_link_log_mean(law->link, eta)) +
                (1 - y) * (log1p(-y) - cri_link_log_rest(law->link, eta)));
}

double cri_family_deviance(const cri_glm_law *law, double y, double eta)
{
    double d, alpha = law->alpha, mu = cri_link_mean(law->link, eta);
    switch (law->family) {
    case CRI_GLM_BINOMIAL:
        d = binomial_deviance(law, y, eta);
        break;
    case CRI_GLM_POISSON:
        d = 2 * divergence(y, mu);
        break;
    case CRI_GLM_GAMMA:
        d = 2 * divergence(mu, y) / mu;
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
static double log_binomial(const cri_glm_law *law, double m, double y, double eta)
{
    double k = m * y;
    return cr_lchoose(m, k) + (k > 0 ? k * cri_link_log_mean(law->link, eta) : 0) +
           (m - k > 0 ? (m - k) * cri_link_log_rest(law->link, eta) : 0);
}

double cri_family_log_density(const cri_glm_law *law, double phi, double trials, double y,
                              double eta)
{
    double alpha = law->alpha, r = 1 / alpha, a = 1 / phi, mu = cri_link_mean(law->link, eta);
    switch (law->family) {
    case CRI_GLM_BINOMIAL:
        return log_binomial(law, trials, y, eta);
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
