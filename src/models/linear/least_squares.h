/* least_squares.h -- weighted least squares, to the last digit where that is affordable.
 *   minimise  sum_i w_i (y_i - b0 - x_i . b)^2
 * By QR:   Householder with column pivoting of the centred and scaled columns, then refinement of
 * the
 *          augmented system [I A; A^T 0] [r; b] = [y; 0] with residuals in double-double (Bjorck 1967),
 *          against the columns as given.  O(n p^2), all of X in memory.
 * By Gram: Cholesky of the centred, scaled cross-products, one correction from the residuals.  One
 * pass
 *          and a half over the rows, O(p^2) memory; only for well-conditioned columns.
 * By LSQR: products with sparse rows alone (sparse_solve.h), for more terms than a p x p matrix can
 *          hold: no sds of the coefficients, and every row has the mean leverage, rank / n.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_LEAST_SQUARES_H
#define CREDENCE_MODELS_LINEAR_LEAST_SQUARES_H

#include "models/common/moments.h"
#include "models/common/predictor.h"
#include "math/dense/decompose.h"

/* clang-format off */
#define CRI_LEAST_SQUARES(MEMBER)                                                                   \
    MEMBER(flag,  gram,        (), "",              "by cross-products")                            \
    MEMBER(flag,  lsqr,        (), "",              "by LSQR; QR without either")                   \
    MEMBER(count, rank,        (), "as:terms_told", "without the intercept; aliased terms have coef 0 and sd NaN") \
    MEMBER(real,  weight,      (), "",              "sum of the weights: the number of observations") \
    MEMBER(real,  rss,         (), "",              "residual sum of squares")                      \
    MEMBER(real,  tss,         (), "",              "total sum of squares, about the mean with an intercept") \
    MEMBER(real,  condition,   (), "any none",      "of the scaled columns, estimated")             \
    MEMBER(real,  correction,  (), "",              "relative size of the last refinement: about the relative error left") \
    MEMBER(count, refinements, (), "",              "that were made")
/* clang-format on */
/* The last two: of LSQR. */
CRI_RECORD(cri_least_squares, CRI_LEAST_SQUARES, size_t iterations; bool converged;);
extern const cri_member cri_least_squares_record[];

/* Solves, filling a predictor (coefficients, F, sigma, sds, dof) and the facts about the
 * solution. */
cr_status cri_least_squares_qr(cr_ctx *cx, const cri_rows *rows, bool intercept,
                               cri_predictor *out_fit, cri_least_squares *out_facts);
/* *out_good = false, and nothing else set, when the columns are too near to dependence for it.  The
 * moments of the rows are handed over where they are wanted. */
cr_status cri_least_squares_gram(cr_ctx *cx, const cri_rows *rows, bool intercept,
                                 cri_predictor *out_fit, cri_least_squares *out_facts,
                                 cri_moments *opt_moments, bool *out_good);
/* The same of rows with one category of many levels (cri_bordered_pays), whose indicators are never
 * written out: *out_good = false also where a term is constant.  Where columns are nearly dependent, or no noise is
 * left, it is false too if the solution is to be exact; else the answer is a step towards one. */
cr_status cri_least_squares_levels(cr_ctx *cx, const cri_rows *rows, bool intercept, bool exact,
                                   cri_predictor *out_fit, cri_least_squares *out_facts,
                                   bool *out_good);
/* Fails with CR_EDATA where dense equations of a category whose levels are most of the terms would take more than
 * `most` operations, n p^2; what would do without them is the end of the hint. */
cr_status cri_refuse_levels(cr_ctx *cx, const cri_rows *rows, double most, const char *otherwise);
/* For sparse rows.  Where the coefficients are not unique it fails with CR_ENUMERIC, naming some of
 * the columns that depend on each other; constant ones are left out with a warning, as by QR. */
cr_status cri_least_squares_lsqr(cr_ctx *cx, const cri_rows *rows, bool intercept, uint64_t seed,
                                 cri_predictor *out_fit, cri_least_squares *out_facts);
/* What is left of the rows, rss, as the noise of a fit of `rank` terms: sigma, dof, and all sds
 * from them and F; the intercept is known as well as a mean of `weight` rows. */
void cri_predictor_set_noise(cri_predictor *fit, bool intercept, double weight, size_t rank,
                             double rss);
/* Ends the rank at the first column whose distance R_kk from those before it could come from
 * rounding alone: a scaled column j is known up to the rounding of its numbers, `unit` |(1,
 * centre_j / scale_j)|; it counts for column k itself and, times the weights v of the combination,
 * for those before it. v [p] is workspace.  O(p^3). */
cr_status cri_qr_end_at_rounding(cr_ctx *cx, cr_qr *qr, const double *centre, const double *scale,
                                 double unit, double *v);
/* Of columns that depend on each other the earlier ones stay, as in R: C [m x n], of which qr is the
 * factor with its rank as it should be, loses the others (they become 0) and is factored again.  A
 * column is left out where less than 1e-7 of it is new. */
cr_status cri_qr_prefer_earlier(cr_ctx *cx, double *C, cr_qr *qr);
/* F = R^-T P^T [rank x p] of scaled columns C = Q R P^T, so that |F u|^2 = u^T (C^T C)^-1 u; column
 * [rank] is workspace. */
void cri_predictor_set_qr(cri_predictor *fit, const cr_qr *qr, double *column);
/* Names terms without a coefficient of their own: each in a warning, or all in one; constant
 * [p]. */
void cri_name_aliased(cr_ctx *cx, const cr_design *design, const size_t *terms,
                      const bool *constant, size_t n);
/* Without the indicators of a category of many levels where there is one; by Gram where QR would be
 * long and the columns allow it; else by QR: for callers that solve many times. */
cr_status cri_least_squares_auto(cr_ctx *cx, const cri_rows *rows, bool intercept,
                                 cri_predictor *out_fit, cri_least_squares *out_facts);

#endif
