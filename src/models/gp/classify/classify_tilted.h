/* classify_tilted.h -- an upper bound of the expected log of a sum of exponentials under normals.
 *   f_c ~ N(m_c, v_c) independent:   E log sum_c exp f_c  <=  phi = min over a of
 *       sum_c a_c^2 v_c / 2 + log sum_c exp(m_c + (1 - 2 a_c) v_c / 2)
 * convex in a; at the minimum a = g = dphi/dm, which are probabilities, and dphi/dv = g (1 - g) /
 * 2.  Exact for v = 0.  Knowles & Minka (2011), NIPS 24, "Non-conjugate variational message
 * passing", sec. 5.2. (Internal header.) */
#ifndef CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_TILTED_H
#define CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_TILTED_H

#include <stddef.h>

/* Returns phi, with g [F] and opt_bend [F x F] = d2phi / dm2 = (J^-1 + diag v)^-1, J = diag g - g
 * g^T.  By Newton's method, O(F^3) a step.  workspace [2 F^2 + 5 F].  Pure. */
double cri_tilted(size_t F, const double *m, const double *v, double *workspace, double *g,
                  double *opt_bend);

#endif
