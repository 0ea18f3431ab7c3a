/* selection.h -- which subset of the terms a linear model uses, and the sets it was chosen among.
 * For each size the best set that the search finds (subsets.h); then a size by a criterion:
 *   aic, bic     -2 log likelihood + 2 or log n for each parameter, the noise variance among them
 *   adjusted-r2  1 - (RSS / (n - k)) / (TSS / (n - k0)), k and k0 parameters of the mean with and
 *                without terms
 *   cv           mean squared error by cross-validation, in which every fold searches anew: what is
 *                judged is the search, not the sets that it found on all rows
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_SELECTION_H
#define CREDENCE_MODELS_LINEAR_SELECTION_H

#include "subsets.h"

typedef enum cri_criterion {
    CRI_CRITERION_BIC,
    CRI_CRITERION_AIC,
    CRI_CRITERION_CV,
    CRI_CRITERION_ADJUSTED_R2
} cri_criterion;

typedef struct cri_selection_settings {
    cri_subset_method method;
    cri_criterion     criterion;
    size_t            size; /* SIZE_MAX = by the criterion */
    size_t            folds;
    bool              intercept;
    uint64_t          seed;
} cri_selection_settings;

/* Sizes 0 .. sizes-1. */
typedef struct cri_selection {
    size_t  p, sizes, size, folds; /* size: the chosen one; folds 0 without cross-validation */
    double *rss;                   /* [sizes] -1 where no set was looked for                 */
    double *cv, *cv_se;            /* [sizes] -1 where there is none                         */
    double *member;                /* [sizes x p] 1 where the term is in the set             */
    double  weight, tss;
    bool    intercept;
} cri_selection;

/* Selects; fails with CR_EARG where the search or the size is impossible.  *out has memory of its
 * own. */
cr_status cri_select(cr_ctx *cx, const cri_rows *rows, const cri_selection_settings *settings,
                     cri_selection *out);
void      cri_selection_free(cr_ctx *cx, cri_selection *selection);

/* -2 log likelihood + price for each parameter; log_unit: of what the target was divided by. */
double cri_selection_information(const cri_selection *s, size_t size, double price,
                                 double log_unit);
double cri_selection_adjusted_r2(const cri_selection *s, size_t size);

/* Adds "subsets": the best set that was found of each size, in the units of the data. */
cr_status cri_selection_describe(cr_ctx *cx, const cri_selection *s, const cr_design *design,
                                 json_t *out);
/* To the model file, */
cr_status cri_selection_write(cr_ctx *cx, const cri_selection *s, cri_store *store, json_t *out);
/* and back, for a design of p terms.  On failure *s may hold arrays, which cri_selection_free
 * frees. */
cr_status cri_selection_read(cr_ctx *cx, const cri_store *store, const json_t *in, size_t p,
                             cri_selection *s);

#endif
