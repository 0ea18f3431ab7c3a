/* transformed_t.h -- the distribution of a number y > 0, or 0 < y < 1, whose transform z = g(y) (math/transform.h) is
 * Student's t about `location` with `scale` and `dof`, normal where dof is infinite:
 *   p(y) = t_dof((g(y) - location) / scale) / scale g'(y)
 * Quantiles are those of z, mapped; where z has values that no y has (sqrt, boxcox), the end of the range has their
 * probability.  The exponential of Student's t has neither mean nor variance; mean, variance and continuous ranked
 * probability score are therefore those of a normal z of the same mean and sd.  Where dof <= 2 there are none.  Of
 * lambda < 0 they leave out z more than 8 sds above its mean, and there are none where the end of z, at which y is
 * infinite, is nearer than 9.  Not in the registry: predictions of a transformed target have these distributions.
 * (Internal header.) */
#ifndef CREDENCE_PROB_DIST_TRANSFORMED_T_H
#define CREDENCE_PROB_DIST_TRANSFORMED_T_H

#include "dist_class.h"
#include "math/transform.h"

/* location, scale, dof and, of boxcox, lambda. */
enum { CRI_TRANSFORMED_PARAMS = 4 };

/* The class of this transform; NULL for none. */
const cr_dist_class *cri_dist_transformed(cri_transform_kind kind);
/* true of such a class: its mean may lie far above its median, beyond its intervals even. */
bool cri_dist_is_transformed(const cr_dist_class *opt_class);
/* How many of the parameters it has. */
size_t cri_dist_transformed_params(cri_transform_kind kind);

#endif
