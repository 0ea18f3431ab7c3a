/* rows_factor.h -- what least squares must remember of its rows to learn from more of them.
 *   z = (x, y) [q = p + 1];   weight = sum w_i;   mean = sum w_i z_i / weight;
 *   R [q x q] upper triangular, R^T R = sum w_i (z_i - mean)(z_i - mean)^T.
 * Two sets merge by the QR factor of
 *   [ R_a ;  R_b ;  sqrt(w_a w_b / (w_a + w_b)) (mean_b - mean_a)^T ]
 * so that, unlike with cross-products, the condition number of the columns is never squared (Golub
 * & Van Loan 2013, sec. 6.5; Demmel et al. 2012, SIAM J. Sci. Comput. 34 for the tree of blocks).
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_ROWS_FACTOR_H
#define CREDENCE_MODELS_LINEAR_ROWS_FACTOR_H

#include "least_squares.h"
#include "models/common/moments.h"

/* More terms than this are not remembered. */
enum { CRI_MOST_FACTOR = 1000 };

/* clang-format off */
#define CRI_ROWS_FACTOR(MEMBER)                                                                     \
    MEMBER(count,  q,      (),     "as:factor_columns",   "p terms and the target; 0: nothing is remembered") \
    MEMBER(count,  p,      (),     "made",                "terms")                                  \
    MEMBER(count,  rows,   (),     "as:factor_rows",      "of positive weight")                     \
    MEMBER(real,   weight, (),     ">=0 as:factor_weight", "of them")                               \
    MEMBER(vector, mean,   (q),    "any as:rows/mean",    "of each column")                         \
    MEMBER(matrix, R,      (q, q), "any as:rows/factor",  "triangular")
/* clang-format on */
CRI_RECORD(cri_rows_factor, CRI_ROWS_FACTOR);
extern const cri_member cri_rows_factor_record[];

/* Sets p; false where what a file holds is not a factor of rows of p terms. */
bool cri_rows_factor_fits(cri_rows_factor *factor, size_t p);

/* By QR of the rows in blocks; or, cheaper, from the moments where these are as good for it: then
 * opt_moments saves a pass.  O(n q^2), same bits for any number of threads. */
cr_status cri_rows_factor_of_rows(cr_ctx *cx, const cri_rows *rows, const cri_moments *opt_moments,
                                  cri_rows_factor *out);
/* a becomes the factor of both; b stays.  O(q^3). */
cr_status cri_rows_factor_merge(cr_ctx *cx, cri_rows_factor *a, const cri_rows_factor *b);
/* Frees the arrays. */
void cri_rows_factor_free(cr_ctx *cx, cri_rows_factor *factor);

/* Least squares from a factor: as by QR, without the last refinement; names the terms that have no
 * coefficient of their own.  O(q^3). */
cr_status cri_least_squares_factor(cr_ctx *cx, const cri_rows_factor *factor,
                                   const cr_design *design, bool intercept, cri_predictor *out_fit,
                                   cri_least_squares *out_facts);

#endif
