/* line_kl.h -- the divergence between two members of a location-scale family on the real line, by
 * quadrature.  (Internal header.) */
#ifndef CREDENCE_PROB_DIST_LINE_KL_H
#define CREDENCE_PROB_DIST_LINE_KL_H

#include "dist_class.h"

/* One density, exp(log_density(shape, (x - location) / scale)) / scale; symmetric, falling on both
 * sides.  log_density has finite values wherever its argument is at most 1e200; log_tail, NULL
 * where the tails are gone by then, gives it from log |z| for |z| > 1e100. */
typedef struct cri_line {
    double (*log_density)(double shape, double z);
    double (*log_tail)(double shape, double log_z);
    double shape, location, scale;
} cri_line;

/* *out = E_p[log p / q], to about 1e-11 relative, or 1e-17.  Fails as cr_integrate does. */
cr_status cri_line_kl(cr_ctx *cx, const char *name, cri_line p, cri_line q, double *out);

#endif
