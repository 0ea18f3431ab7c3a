/* linear_fit.h -- a least-squares fit: its options, what is kept of it, and how it is solved.
 *   1. linear.c        the model: its faces, what it says of a fit, the class
 *   2. linear_solve.c  which solver, for all terms or a selection, equal noise or not
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_LINEAR_FIT_H
#define CREDENCE_MODELS_LINEAR_LINEAR_FIT_H

#include "least_squares.h"
#include "noise_model.h"
#include "precisions.h"
#include "rows_factor.h"
#include "models/common/sandwich.h"
#include "selection.h"

/* clang-format off */
#define CRI_LINEAR_OPTIONS(X)                                                                        \
    X(flag,   intercept, "true", "", "fit an intercept", "false")                                    \
    X(choice, solver,    "auto", "auto|qr|gram|lsqr",                                                \
      "qr: full accuracy; gram: one pass, for many rows; lsqr: for sparse data, by products only; auto: the fastest that is safe", "qr")  \
    CRI_WEIGHTS_ARE(X)                                                                               \
    X(choice, errors,    "classical", CRI_ERRORS,                                                     \
      "standard errors: same noise in all rows, or hc0 to hc3, which hold for any noise", "hc3")          \
    X(list,   noise_model, "", "COLUMN",                                                              \
      "columns in which the logarithm of the noise sd is linear; default: the same noise everywhere", "x") \
    X(choice, select,    "none", "none|best|forward|backward",                                       \
      "fit a subset of the terms: the best of each size, or terms added or dropped one by one", "best") \
    X(choice, criterion, "auto", "auto|bic|aic|cv|adjusted-r2",                                      \
      "select: how the size is chosen; cv repeats the search in each fold; auto: bic, or cv with fewer than 10 rows per term", "cv") \
    X(count,  size,      "",    "", "select: the number of terms, instead of the criterion", "3")    \
    X(count,  cv_folds,  "10",  ">=2", "select: number of folds of cross-validation; at most one per row", "5")
/* clang-format on */
enum { CRI_LINEAR_AUTO, CRI_LINEAR_QR, CRI_LINEAR_GRAM, CRI_LINEAR_LSQR };

CR_OPTIONS_STRUCT(cri_linear_options, CRI_LINEAR_OPTIONS);

/* clang-format off */
#define CRI_LINEAR_SUMS(MEMBER)                                                                     \
    MEMBER(part,  precisions,   (cri_precisions),    "",         "")                                \
    MEMBER(part,  factor,       (cri_rows_factor),   "none",     "for updates; absent where there can be none")
#define CRI_LINEAR_STATE(MEMBER)                                                                    \
    MEMBER(part,  facts,        (cri_least_squares), "",         "")                                \
    MEMBER(real,  loocv,        (),                  "any none", "NaN where it was not worth a pass") \
    MEMBER(real,  max_leverage, (),                  "any none", "likewise")                        \
    MEMBER(count, max_row,      (),                  "",         "the row that has it")             \
    MEMBER(part,  fit,          (cri_predictor),     "",         "")                                \
    MEMBER(count, errors,       (),                  "0..4 spare", "cri_errors")                    \
    CRI_LINEAR_SUMS(MEMBER)                                                                         \
    MEMBER(count, method,       (),                  "0..3 spare as:select", "of the selection; CRI_SUBSET_NONE without one") \
    MEMBER(part,  selection,    (cri_selection),     "none",     "")                                \
    MEMBER(real,  inflation,    (),                  ">=0 spare", "of the variance, by cross-validation of the selection; 0: none") \
    MEMBER(part,  noise,        (cri_noise_model),   "",         "")
/* clang-format on */
CRI_RECORD(cri_linear, CRI_LINEAR_STATE);

/* The coefficients and their facts, as the options ask for.  `moments` are handed over where they were
 * gathered; the report has the turns of a model of the noise. */
cr_status cri_linear_solve(cr_ctx *cx, const cri_rows *rows, const cri_linear_options *o,
                           uint64_t seed, cri_linear *m, cri_moments *moments, cr_report *report);

#endif
