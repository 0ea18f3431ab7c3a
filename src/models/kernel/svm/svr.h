/* svr.h -- support vector regression: what a fitted one is, and the parts that make it.
 *
 *   1. svr.c         the model: options, fit, describe, the descriptor
 *   2. svr_train.c   one function, by decomposition
 *   3. svr_noise.c   the spread around it, by residuals of rows left out
 *
 * (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_SVM_SVR_H
#define CREDENCE_MODELS_KERNEL_SVM_SVR_H

#include "svm_function.h"

typedef enum cri_svr_kind { CRI_SVR_EPSILON, CRI_SVR_NU } cri_svr_kind; /* choices of --kind */

/* The function is of (y - shift) / unit. */
/* clang-format off */
#define CRI_SVR(MEMBER)                                                                            \
    MEMBER(part,   f,       (cri_svm_function), "",             "the function")                    \
    MEMBER(choice, kind,    (), "epsilon|nu",                   "of the tube")                     \
    MEMBER(real,   C,       (), ">0",                           "in units")                        \
    MEMBER(real,   epsilon, (), ">=0 none",                     "in units")                        \
    MEMBER(real,   nu,      (), ">=0",                          "0 of epsilon")                    \
    MEMBER(real,   unit,    (), ">0",                           "of the target")                   \
    MEMBER(real,   shift,   (), "",                             "taken off the target")            \
    MEMBER(choice, noise,   (), "auto|laplace|gaussian|none",   "never auto")                      \
    MEMBER(real,   scale,   (), ">=0 none",                     "of the noise, in units")          \
    MEMBER(real,   rmse,    (), ">=0 none",                     "of rows left out, in units")      \
    MEMBER(count,  folds,   (), "",                             "0: no rows were left out")
/* clang-format on */
CRI_RECORD(cri_svr, CRI_SVR);

/* --- svr_train.c ----------------------------------------------------------------------------- */

/* Rows and how to learn from them. */
typedef struct cri_svr_sample {
    const cr_kernel *kernel;
    cr_kernel_input  rows;
    size_t           n;
    const double    *y, *weight; /* [n] */
} cri_svr_sample;

typedef struct cri_svr_tube {
    cri_svr_kind     kind;
    double           C, epsilon, nu;
    cri_svm_settings how;
} cri_svr_tube;

typedef struct cri_svr_fit {
    double          *beta;  /* [n] out: f(x) = sum_i beta_i k(x_i, x) + b */
    double          *value; /* [n] out: f of the rows, without b          */
    double           b, epsilon;
    cri_svm_solution from; /* its alpha and value are gone */
} cri_svr_fit;

/* Fails as cri_svm_solve. */
cr_status cri_svr_train(cr_ctx *cx, const cri_svr_sample *sample, const cri_svr_tube *tube,
                        cri_svr_fit *out);

/* --- svr_noise.c ----------------------------------------------------------------------------- */

typedef enum cri_svr_noise {
    CRI_SVR_AUTO,
    CRI_SVR_LAPLACE,
    CRI_SVR_GAUSSIAN,
    CRI_SVR_NONE
} cri_svr_noise; /* choices of --noise */

/* The noise by the residuals of rows that were left out, fold by fold: its kind, which is neither auto nor, unless asked
 * for, none; its scale, the mean of their sizes or the root of that of their squares; and how many rows were left out. */
typedef struct cri_svr_spread {
    cri_svr_noise kind;
    double        scale, rmse;
    size_t        folds;
} cri_svr_spread;

/* order [n]: the rows by targets, then inputs, whatever order they come in. */
cr_status cri_svr_order(cr_ctx *cx, const cri_svr_sample *sample, size_t *order);

/* Rows with equal inputs and targets fall into the same fold, whatever the order of the rows; fallback [n]: residuals
 * to go by where the time is over or there are too few rows.  As many fits as folds. */
cr_status cri_svr_measure(cr_ctx *cx, const cri_svr_sample *sample, const cri_svr_tube *tube,
                          cri_svr_noise kind, size_t folds, uint64_t seed, const double *fallback,
                          cri_svr_spread *out);

#endif
