/* ridge_solve.h -- what is kept of a ridge, and its equations.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_RIDGE_SOLVE_H
#define CREDENCE_MODELS_LINEAR_RIDGE_SOLVE_H

#include "ridge_sparse.h"
#include "models/common/moments.h"

/* clang-format off */
#define CRI_RIDGE(MEMBER)                                                                         \
    MEMBER(count, solver,  (),              "1..4",     "primal, dual, lsqr or cg")                 \
    MEMBER(real,  df_se,   (),              "any",      "of df; 0 where it is exact")               \
    MEMBER(real,  lambda,  (),              "any",      "the penalty")                              \
    MEMBER(real,  df,      (),              "any",      "effective degrees of freedom")             \
    MEMBER(real,  rss,     (),              "any",      "residual sum of squares")                  \
    MEMBER(real,  r2,      (),              "any none", "share explained")                          \
    MEMBER(real,  gcv,     (),              "any none", "generalised cross-validation")             \
    MEMBER(real,  loocv,   (),              "any none", "NaN where it was not worth a pass")        \
    MEMBER(part,  fit,     (cri_predictor), "",         "")                                         \
    MEMBER(part,  moments, (cri_moments),   "none",     "for updates; only of a primal fit without fit.diagonal") \
    MEMBER(part,  kept,    (cri_kept_rows), "none",     "of a dual fit to sparse rows")
/* clang-format on */
CRI_RECORD(cri_ridge, CRI_RIDGE);

/* Fails: the columns are linearly dependent, and lambda is too small. */
cr_status cri_ridge_refuse_singular(cr_ctx *cx, double lambda);
/* b [p] of the moments; adds to df, and sets rss and the factor of the predictor.  O(p^3) */
cr_status cri_ridge_primal(cr_ctx *cx, cri_ridge *m, const cri_gram *g, double *b);
/* b [p] of the rows, which stand in the factor of the predictor; the same of the rest.  O(n^2 p + n^3) */
cr_status cri_ridge_dual(cr_ctx *cx, cri_ridge *m, const cri_rows *rows, const cri_gram *g,
                         double *b);

#endif
