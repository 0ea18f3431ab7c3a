/* normal_mixture.h -- mixtures of normals of one variable.  (Internal header.) */
#ifndef CREDENCE_MODELS_COMMON_NORMAL_MIXTURE_H
#define CREDENCE_MODELS_COMMON_NORMAL_MIXTURE_H

#include <stddef.h>

/* Where a mixture of n normals of these shares, means and sds has the mass p below it: by bisection
 * until rounding.  Pure. */
double cri_normal_mixture_quantile(size_t n, const double *share, const double *mean,
                                   const double *sd, double p);

#endif
