/* dual.h -- Gaussian linear models with more terms than rows, through the spectrum of Z Z'.
 *   Z Z' = U diag(d) U'   [n x n],   c = U' t;   Z, t as in dense_terms.h and sparse_terms.h.
 * Any penalty l is then O(n) per trial, and the posterior of the coefficients for noise sigma,
 *   mean  b = Z' a,  a = (Z Z' + l I)^-1 t,   covariance  sigma^2 / l (I - Z' (Z Z' + l I)^-1 Z),
 * is held by L L' = Z Z' + l I: no p x p matrix.  Dense rows leave L^-1 Z [n x p] in the predictor;
 * sparse rows are kept by their entries with L (ridge_sparse.h).  L is the R of sqrt(D + l) U', so
 * that no l is too small for it.
 * Bishop (2006), PRML, sec. 6.1; Rasmussen & Williams (2006), sec. 2.1.2.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_DUAL_H
#define CREDENCE_MODELS_LINEAR_DUAL_H

#include "models/common/predictor.h"
#include "ridge_sparse.h"
#include "sparse_terms.h"

typedef struct cri_dual {
    size_t           n, p;
    double           weight, offset, tt;
    double           left;  /* the part of tt that no coefficients can explain     */
    double          *d, *c; /* [n] ascending; what is rounding is 0                */
    double          *U;     /* [n x n], eigenvectors in columns                    */
    bool             sparse;
    cri_sparse_terms z; /* of sparse rows                                      */
    /* An average over penalties: with the mean of 1 / (d + l) c [n] and the lower factor of a matrix
     * [n x n] in place of (D + l)^-1, `l` being what the covariance starts from.  NULL: one l. */
    const double *mean, *inner;
} cri_dual;

/* Measures the rows into the arena, which must outlive *out, and begins the predictor (freed by the
 * caller, also after a failure).  O(n^2 p + n^3), of sparse rows O(sum of squared column lengths +
 * n^3). */
cr_status cri_dual_new(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, bool intercept,
                       bool standardise, cri_predictor *fit, cri_dual *out);

/* Coefficients and leverages for a penalty above 0; *out_kept is filled for sparse rows. */
cr_status cri_dual_solve(cr_ctx *cx, const cri_dual *dual, double lambda, cri_predictor *fit,
                         cri_kept_rows *out_kept);

/* The sds of coefficients and intercept once fit->sigma and mean_share are set; O(n^2 p), of sparse
 * rows O(n^3 + sum of squared column lengths). */
cr_status cri_dual_set_sds(cr_ctx *cx, const cri_dual *dual, const cri_kept_rows *kept,
                           cri_predictor *fit);

/* Predictions of a fit in the dual; kept->n is 0 of one to dense rows. */
cr_status cri_dual_predict(cr_ctx *cx, const cri_predictor *fit, const cri_kept_rows *kept,
                           const cri_rows *rows, cr_prediction *out);
/* cri_predictor_mean_spread of such a fit; NaN of one to sparse rows. */
cr_status cri_dual_mean_spread(cr_ctx *cx, const cri_predictor *fit, const cri_kept_rows *kept,
                               const cri_rows *rows, double *out_scale, double *out_dof);

#endif
