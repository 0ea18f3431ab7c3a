/* sparse_solve.h -- least squares and ridge on sparse rows whose equations are too many to be
 * written down: by LSQR on
 *   | [     Z     ]       [ t ] |
 *   | [ sqrt(l) I ] D x - [ 0 ] |,   b = D x,   D_jj = (|z_j|^2 + l)^(-1/2),
 * Z and t as in sparse_terms.h, l = lambda.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_SPARSE_SOLVE_H
#define CREDENCE_MODELS_LINEAR_SPARSE_SOLVE_H

#include "sparse_probes.h"
#include "math/sparse/lsqr.h"

/* b [p] = argmin |target - Z b|^2 + lambda |b|^2, from the b at hand; constant terms stay as they
 * are.  O(iterations (entries + n + p)). */
cr_status cri_sparse_solve(cr_ctx *cx, const cri_sparse_terms *z, const double *target,
                           double lambda, double tolerance, size_t max_iter, double *b,
                           cr_lsqr_report *report);

/* |t - Z b|^2 by the rows themselves. */
cr_status cri_sparse_rss(cr_ctx *cx, const cri_sparse_terms *z, const double *b, double *out_rss);

typedef struct cri_sparse_ridge {
    const cri_sparse_terms *z; /* with its columns */
    double                  lambda;
} cri_sparse_ridge;

/* The measure of probes (sparse_probes.h) of a cri_sparse_ridge.  O(steps panel (entries + p)). */
cr_status cri_sparse_bidiagonal(cr_ctx *cx, void *user, double *E, const double *lengths,
                                double *told);

/* Looks for coefficients that do not change Z b: least squares from a random start ends beside b
 * by such a direction, out [p], scaled to 1 at its largest; *out_found is false where there is
 * none, and out then rounding. */
cr_status cri_sparse_null(cr_ctx *cx, const cri_sparse_terms *z, const double *b, size_t max_iter,
                          uint64_t seed, double *out, bool *out_found);

#endif
