/* classify_link.h -- the likelihoods of a Gaussian process classifier.
 *   two classes   p(first of them | f) = 1 / (1 + exp(-f)) or Phi(f)
 *   more          p(k | f) = exp(f_k) / sum_l exp(f_l)
 * A distinct input g carries the weights of its rows by class, c_g [C]; log p(c_g | f_g) = sum_k
 * c_gk log p(k | f_g), so that a row of weight w counts as w rows and repeated inputs share one f
 * without loss.  Rasmussen & Williams (2006), sec. 3.3, 3.5.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_LINK_H
#define CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_LINK_H

#include <stddef.h>

typedef enum cri_classify_link {
    CRI_CLASSIFY_LOGIT,
    CRI_CLASSIFY_PROBIT,
    CRI_CLASSIFY_SOFTMAX
} cri_classify_link;

/* log p(c | f) and its derivatives by f; the second with its sign changed: never negative. */
typedef struct cri_classify_slope {
    double log_p, first, minus_second, third;
} cri_classify_slope;

/* Two classes, c [2]: the weight of the class of f > 0, then that of the other.  Pure. */
cri_classify_slope cri_classify_at(cri_classify_link link, const double *c, double f);
/* Gauss and Hermite's rule for the standard normal: exact for polynomials up to degree 63. */
enum { CRI_HERMITE_POINTS = 32 };
typedef struct cri_hermite {
    double x[CRI_HERMITE_POINTS], weight[CRI_HERMITE_POINTS];
} cri_hermite;
/* Fills the rule.  Pure. */
void cri_hermite_fill(cri_hermite *rule);

/* The expectations of log p, its first and minus its second derivative under f ~ N(mean, variance);
 * third is 0.  Up to a standard deviation of 1.4 by that rule, beyond by the trapezoid rule with a
 * step of 1 (logit) or 0.7 (probit) in f, which resolves the bend of log p: the error is below
 * 1e-7, up to a standard deviation of 70.  Pure. */
cri_classify_slope cri_classify_expect(cri_classify_link link, const cri_hermite *rule,
                                       const double *c, double mean, double variance);

/* log_p: the log of the integral of p(c | f) under f ~ N(mean, variance), variance > 0; its first and minus
 * its second derivative by the mean; third is 0.  Closed for one row and probit, else by the trapezoid
 * rule about the mode of the integrand, which is concave in its logarithm: to 1e-9 and better up to a
 * standard deviation of 200.  Pure. */
cri_classify_slope cri_classify_average(cri_classify_link link, const double *c, double mean,
                                        double variance);

/* The probability of the class of f > 0 under f ~ N(mean, variance): exact for probit, to 1e-12 for
 * logit.  Pure. */
double cri_classify_probability(cri_classify_link link, double mean, double variance);

#endif
