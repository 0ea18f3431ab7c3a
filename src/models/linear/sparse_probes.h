/* sparse_probes.h -- the trace of what a ridge on sparse rows makes of the target, by random signs.
 *   tr H = E e'He,  H = Z (Z'Z + lambda I)^-1 Z',  e random signs      (Hutchinson 1990)
 * H is known by what it makes of a panel of CRI_SPARSE_PANEL probes e at once; sparse_trace.c and
 * sparse_cg.c measure e'He step by step, each step adding to it or taking off.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_SPARSE_PROBES_H
#define CREDENCE_MODELS_LINEAR_SPARSE_PROBES_H

#include "sparse_terms.h"

/* told [panel] = e'He of the columns e of E [n x panel], whose squared lengths are `lengths`; E may
 * be overwritten. */
typedef cr_status (*cri_probe_measure)(cr_ctx *cx, void *user, double *E, const double *lengths,
                                       double *told);

/* *out_df = tr H: the mean of m e'He / e'e, m the most that the trace can be (as a ratio, which is
 * exact where the fit is).  `centred`: Z has columns of mean 0, so that H does not reach sqrt(w).
 * *out_se is the standard error. */
cr_status cri_sparse_trace(cr_ctx *cx, const cri_sparse_terms *z, bool centred, uint64_t seed,
                           cri_probe_measure measure, void *user, double *out_df, double *out_se);

/* Whether the last step, which changed each e'He by `taken`, may be the last: what is left is then
 * well below the standard error of the mean, which so stands for both. */
bool cri_probes_settled(const double *told, const double *taken, const double *lengths);

#endif
