/* family.h -- the exponential dispersion families and links of generalised linear models.
 * A family is known by its variance V(mu), Var y = phi V(mu), and its log density; a link g by
 * eta = g(mu), its inverse and d mu / d eta.  For the binomial y and mu are shares of successes,
 * and a row of m trials has the weight m.  McCullagh & Nelder (1989), Generalized Linear Models,
 * 2nd ed., ch. 2.  (Internal header.) */
#ifndef CREDENCE_MODELS_GLM_FAMILY_H
#define CREDENCE_MODELS_GLM_FAMILY_H

#include <stdbool.h>

/* In the order of the choices of --family. */
typedef enum cri_glm_family {
    CRI_GLM_GAUSSIAN,
    CRI_GLM_BINOMIAL,
    CRI_GLM_POISSON,
    CRI_GLM_GAMMA,
    CRI_GLM_INVERSE_GAUSSIAN,
    CRI_GLM_NEGATIVE_BINOMIAL
} cri_glm_family;
#define CRI_GLM_FAMILIES "gaussian|binomial|poisson|gamma|inverse-gaussian|negative-binomial"

/* In the order of the choices of --link. */
typedef enum cri_glm_link {
    CRI_LINK_AUTO,
    CRI_LINK_IDENTITY,
    CRI_LINK_LOG,
    CRI_LINK_LOGIT,
    CRI_LINK_PROBIT,
    CRI_LINK_CLOGLOG,
    CRI_LINK_CAUCHIT,
    CRI_LINK_INVERSE,
    CRI_LINK_INVERSE_SQUARED,
    CRI_LINK_SQRT
} cri_glm_link;
#define CRI_GLM_LINKS "auto|identity|log|logit|probit|cloglog|cauchit|inverse|inverse-squared|sqrt"

/* The canonical link of the Gaussian, binomial and Poisson families; log of the others, which keeps
 * the mean positive. */
cri_glm_link cri_glm_usual_link(cri_glm_family family);

/* What says how an observation is spread at eta; alpha is that of the negative binomial,
 * Var y = mu + alpha mu^2. */
typedef struct cri_glm_law {
    cri_glm_family family;
    cri_glm_link   link;
    double         alpha;
} cri_glm_law;

/* g(mu). */
double cri_link_of_mean(cri_glm_link link, double mu);
/* At eta: mu, d mu / d eta, and for shares 1 - mu, which a subtraction would lose where mu is near
 * 1, and both logarithms, finite however far eta is out in a tail. */
double cri_link_mean(cri_glm_link link, double eta);
double cri_link_slope(cri_glm_link link, double eta);
double cri_link_rest(cri_glm_link link, double eta);
double cri_link_log_mean(cri_glm_link link, double eta);
double cri_link_log_rest(cri_glm_link link, double eta);

/* true where y can come from the family; where the mean at eta is inside the range of its means. */
bool cri_family_allows(cri_glm_family family, double y);
bool cri_family_has_mean(cri_glm_family family, cri_glm_link link, double eta);
/* What the family allows, in words. */
const char *cri_family_range(cri_glm_family family);
/* The values of eta whose means are in the range, *low < eta < *high; false where all are. */
bool cri_link_domain(cri_glm_family family, cri_glm_link link, double *low, double *high);
/* true where phi is known to be 1. */
bool cri_family_is_fixed(cri_glm_family family);

/* V(mu), and y - mu. */
double cri_family_variance(const cri_glm_law *law, double eta);
double cri_family_residual(const cri_glm_law *law, double y, double eta);
/* Of one trial, d log p / d eta = (y - mu) mu' / V, and what is expected of its square, mu'^2 / V. */
double cri_family_score(const cri_glm_law *law, double y, double eta);
double cri_family_information(const cri_glm_law *law, double eta);
/* true where the information expected is far from what is observed in a tail, so that Newton's steps
 * are better than Fisher's: shares with a link that is neither canonical nor bounded. */
bool cri_family_is_curved(const cri_glm_law *law);
/* -d^2 log p / d eta^2 of one trial for those, but no less than a tenth of the information, and for
 * the pairs whose likelihood is concave and finite at the end of the domain; the information for the
 * others.  Never 0: `mean` sets the scale of the least value, 1e-5. */
double cri_family_curvature(const cri_glm_law *law, double y, double eta, double mean);
/* 2 (log p(y | y) - log p(y | mu)) phi of one observation of weight 1 (one trial); never
 * negative. */
double cri_family_deviance(const cri_glm_law *law, double y, double eta);
/* log p(y | mu, phi) of one row; m trials of the binomial. */
double cri_family_log_density(const cri_glm_law *law, double phi, double trials, double y,
                              double eta);
/* Where to start mu for an observation. */
double cri_family_start(cri_glm_family family, double trials, double y, double mean);

#endif
