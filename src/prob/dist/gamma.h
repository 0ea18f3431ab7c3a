/* gamma.h -- the gamma distribution's kernels, which its relatives use: chi-square, exponential,
 * inverse gamma, scaled inverse chi-square.  Shape a, rate b.  (Internal header.) */
#ifndef CREDENCE_PROB_DIST_GAMMA_H
#define CREDENCE_PROB_DIST_GAMMA_H

#include "dist_class.h"

double cri_gamma_logpdf(double a, double b, double x);
/* A tail of Gamma(a, 1) at z. */
double cri_gamma_cdf(double a, double z, unsigned side);
double cri_gamma_mode(double a, double b);
double cri_gamma_entropy(double a, double b);
double cri_gamma_kl(double a, double b, double a2, double b2);
/* The shape a with log a - digamma(a) = gap > 0: maximum likelihood, gap = log(mean) - mean(log).
 */
double cri_gamma_shape(double gap);

/* Inverse gamma: y = 1 / x, x ~ Gamma(a, b). */
double    cri_inverse_gamma_logpdf(double a, double b, double y);
double    cri_inverse_gamma_entropy(double a, double b);
cr_status cri_inverse_gamma_fit(cr_ctx *cx, const char *name, const cri_sample *s, double *a,
                                double *b);
/* The exponential family of log x and 1 / x, whatever its parameters are called: A(eta) and
 * T(x). */
extern const char *const cri_inverse_gamma_statistics[];
double                   cri_inverse_gamma_log_partition(cri_par p, const double *eta);
void                     cri_inverse_gamma_statistic(cri_par p, double x, double *t);
#define CRI_INVERSE_GAMMA_FAMILY(natural, mean_statistic)                                          \
    {                                                                                              \
        cri_inverse_gamma_statistics, 2, NULL, natural, cri_inverse_gamma_log_partition,           \
            cri_inverse_gamma_statistic, mean_statistic                                            \
    }

#endif
