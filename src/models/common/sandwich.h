/* sandwich.h -- standard errors that hold whatever the spread of the noise is from row to row.
 *   Cov b = A^-1 (sum_i c_i z_i z_i') A^-1,   z = (1, x),   A = Z' W Z,
 * c_i the square of a row's score, which is its residual for least squares.  White (1980),
 * Econometrica 48; MacKinnon & White (1985), J. Econometrics 29:
 *   hc0  c_i as it is          hc1  times n / (n - k)
 *   hc2  over 1 - h_i          hc3  over (1 - h_i)^2,  h_i the leverage of the row
 * (Internal header.) */
#ifndef CREDENCE_MODELS_COMMON_SANDWICH_H
#define CREDENCE_MODELS_COMMON_SANDWICH_H

#include "predictor.h"

/* In the order of the choices of --errors. */
typedef enum cri_errors { CRI_CLASSICAL, CRI_HC0, CRI_HC1, CRI_HC2, CRI_HC3 } cri_errors;
#define CRI_ERRORS "classical|hc0|hc1|hc2|hc3"
const char *cri_errors_name(cri_errors errors);

/* fit->robust, and the sds from it.  square [n]: c_i; precision [n] or NULL: by what the leverage of
 * a row is to be multiplied; share: n / (n - k), for hc1.  Rows whose leverage is 1 tell nothing of
 * their noise: hc2 and hc3 leave them out with a warning.  O(n p (p + r)), one pass. */
cr_status cri_predictor_set_robust(cr_ctx *cx, const cri_rows *rows, cri_errors errors,
                                   const double *square, const double *opt_precision, double share,
                                   cri_predictor *fit);

/* *out [n x n], allocated: the covariance of (intercept, coefficients), n = has_intercept + p, robust
 * where that is set; NaN for terms without a standard error. */
cr_status cri_predictor_covariance(cr_ctx *cx, const cri_predictor *fit, double **out,
                                   size_t *out_n);

#endif
