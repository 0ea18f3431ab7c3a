/* sparse_solve.h -- least squares and ridge on sparse rows whose equations are too many to be
 * written down: by LSQR on
 *   | [     Z     ]       [ t ] |
 *   | [ sqrt(l) I ] D x - [ 0 ] |,   b = D x,   D_jj = (|z_j|^2 + l)^(-1/2),
 * Z and t as in sparse_terms.h, l = lambda.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_SPARSE_SOLVE_H
#define CREDENCE_MODELS_LINEAR_SPARSE_SOLVE_H

#include "sparse_terms.h"
#include "../../math/lsqr.h"

/* b [p] = argmin |target - Z b|^2 + lambda |b|^2, from the b at hand; constant terms stay as they
 * are.  O(iterations (entries + n + p)). */
cr_status cri_sparse_solve(cr_ctx *cx, const cri_sparse_terms *z, const double *target,
                           double lambda, double tolerance, size_t max_iter, double *b,
                           cr_lsqr_report *report);

/* |t - Z b|^2 by the rows themselves. */
cr_status cri_sparse_rss(cr_ctx *cx, const cri_sparse_terms *z, const double *b, double *out_rss);

/* *out_df = tr H, H = Z (Z'Z + lambda I)^-1 Z', from CRI_SPARSE_PANEL random sign vectors e: the
 * mean of m e'He / e'e, m the most that the trace can be (Hutchinson 1990, as a ratio, which is
 * exact where the fit is).  `centred`: Z has columns of mean 0, so that H does not reach sqrt(w).
 * *out_se is the standard error.  z must have its columns. */
cr_status cri_sparse_trace(cr_ctx *cx, const cri_sparse_terms *z, double lambda, bool centred,
                           uint64_t seed, double *out_df, double *out_se);

/* Looks for coefficients that do not change Z b: least squares from a random start ends beside b
 * by such a direction, out [p], scaled to 1 at its largest; *out_found is false where there is
 * none, and out then rounding. */
cr_status cri_sparse_null(cr_ctx *cx, const cri_sparse_terms *z, const double *b, size_t max_iter,
                          uint64_t seed, double *out, bool *out_found);

#endif
