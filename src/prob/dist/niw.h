/* niw.h -- the normal-inverse-Wishart as an exponential family, and its fit.  (Internal header.) */
#ifndef CREDENCE_PROB_DIST_NIW_H
#define CREDENCE_PROB_DIST_NIW_H

#include "dist_class.h"

extern const cri_vector_family cri_niw_family;
cr_status                      cri_niw_fit(cr_ctx *cx, const cri_points *s, double *v, size_t d);

#endif
