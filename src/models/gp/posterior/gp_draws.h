/* gp_draws.h -- draws of a multivariate normal whose covariance may be singular.  (Internal
 * header.) */
#ifndef CREDENCE_MODELS_GP_POSTERIOR_GP_DRAWS_H
#define CREDENCE_MODELS_GP_POSTERIOR_GP_DRAWS_H

#include "base/context.h"

/* out [n x count]: draws of N(mean [n], S [n x n]), draw c from stream c of the seed.  S (both
 * triangles) was computed by taking known from the prior variances [n]:
 * what lies below their rounding counts as 0, so a function that is known wholly is drawn as its
 * mean.  O(n^3 / 3 + n^2 count), or O(n r^2) for the rank r of a singular S. */
cr_status cri_gp_draw(cr_ctx *cx, const double *mean, const double *S, size_t n,
                      const double *prior, size_t count, uint64_t seed, double *out);

#endif
