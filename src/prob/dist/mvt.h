/* mvt.h -- kernels of the multivariate Student-t, by the factor L of its scale matrix.
 * (Internal header.) */
#ifndef CREDENCE_PROB_DIST_MVT_H
#define CREDENCE_PROB_DIST_MVT_H

#include "dist_class.h"

/* log Gamma((nu + d)/2) / Gamma(nu/2) - (d/2) log(nu pi). */
double cri_mvt_log_height(double nu, size_t d);
double cri_mvt_entropy(const double *p, size_t d, const double *L);
/* The divergence, by an integral over one variable in any dimension. */
cr_status cri_mvt_kl(cr_ctx *cx, const double *p, const double *Lp, const double *q,
                     const double *Lq, size_t d, double *out);

#endif
