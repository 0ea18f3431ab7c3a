/* folds_view.h -- the folds of rows: which rows each is tested on and trained on.  Rows that weigh
 * nothing are in no fold.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_FOLDS_VIEW_H
#define CREDENCE_MODELS_LINEAR_FOLDS_VIEW_H

#include "models/common/moments.h"
#include "models/common/rows_view.h"

typedef struct cri_folds_view {
    size_t    folds;
    cri_rows *test, *train; /* [folds] views */
    size_t   *fold;         /* [n] that a row is tested in; SIZE_MAX: in none */
} cri_folds_view;

/* At most one fold per different row of positive weight, where equal ones are tested together; 0 folds when there is but
 * one.  They are told
 * by the values in the rows and the seed, whatever the order of the rows.  The views live in the arena; training rows are left out when not wanted. */
cr_status cri_folds_of_rows(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, size_t folds,
                            uint64_t seed, bool train, cri_folds_view *out);

/* The moments of the rows that each fold is tested on: out [folds], zeroed by the caller, who also
 * frees them, on failure too. */
cr_status cri_folds_moments(cr_ctx *cx, const cri_folds_view *view, cri_moments *out);
/* Those of all folds but one, merged in order; without = folds leaves none out. */
cr_status cri_folds_moments_without(cr_ctx *cx, const cri_moments *of_folds, size_t folds,
                                    size_t without, cri_moments *out);

/* The mean of w (y - b0 - x . b)^2 over the rows that the moments are of; k terms, b in their
 * units.  O(k^2).  Its rounding is that of the spread of y, not of the error. */
double cri_moments_mse(const cri_moments *m, double b0, const size_t *terms, const double *b,
                       size_t k);

#endif
