/* mvn.h -- shared by the two forms of the multivariate normal: one exponential family, one fit.
 * (Internal header.) */
#ifndef CREDENCE_PROB_DIST_MVN_H
#define CREDENCE_PROB_DIST_MVN_H

#include "dist_class.h"

/* By mean and covariance; by h and precision. */
extern const cri_vector_family cri_mvn_family, cri_mvn_information_family;
cr_status                      cri_mvn_fit(cr_ctx *cx, const cri_points *s, double *v, size_t d);
cr_status cri_mvn_information_fit(cr_ctx *cx, const cri_points *s, double *v, size_t d);

#endif
