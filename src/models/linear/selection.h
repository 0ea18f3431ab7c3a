/* selection.h -- which subset of the terms a linear model uses, and the sets it was chosen among.
 * For each size the best set that the search finds (subsets.h); then a size by a criterion:
 *   aic, bic     -2 log likelihood + 2 or log n for each parameter, the noise variance among them
 *   adjusted-r2  1 - (RSS / (n - k)) / (TSS / (n - k0)), k and k0 parameters of the mean with and
 *                without terms
 *   cv           mean squared error by cross-validation, in which every fold searches anew: what is
 *                judged is the search, not the sets that it found on all rows
 *   auto         bic; cv with fewer than CRI_ROWS_PER_TERM rows for each term to choose from, where
 *                the likelihood of large sets grows without bound
 * With that few rows the search is cross-validated whatever the criterion, as the residuals of a set
 * that was searched for are smaller than the errors in new rows.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_SELECTION_H
#define CREDENCE_MODELS_LINEAR_SELECTION_H

#include "subsets.h"
#include "base/sheet.h"

typedef enum cri_criterion {
    CRI_CRITERION_AUTO,
    CRI_CRITERION_BIC,
    CRI_CRITERION_AIC,
    CRI_CRITERION_CV,
    CRI_CRITERION_ADJUSTED_R2
} cri_criterion;

enum { CRI_ROWS_PER_TERM = 10 };

typedef struct cri_selection_settings {
    cri_subset_method method;
    cri_criterion     criterion;
    size_t            size; /* SIZE_MAX = by the criterion */
    size_t            folds;
    bool              intercept;
    uint64_t          seed;
} cri_selection_settings;

/* Sizes 0 .. sizes-1. */
/* clang-format off */
#define CRI_SELECTION(MEMBER)                                                                       \
    MEMBER(count,  p,         (),         "as:select_terms",    "of the design")                    \
    MEMBER(count,  sizes,     (),         ">0 as:select_sizes", "that were looked for, 0 among them") \
    MEMBER(count,  size,      (),         "as:select_size",     "the chosen one")                   \
    MEMBER(count,  folds,     (),         "as:select_folds",    "0 without cross-validation")       \
    MEMBER(real,   weight,    (),         ">0 as:select_weight", "of the rows")                     \
    MEMBER(real,   tss,       (),         ">=0 as:select_tss",  "total sum of squares")             \
    MEMBER(flag,   intercept, (),         "as:select_intercept", "whether there is one")            \
    MEMBER(vector, rss,       (sizes),    "any as:select/rss",  "-1 where no set was looked for")   \
    MEMBER(vector, cv,        (sizes),    "any as:select/cv",   "-1 where there is none")           \
    MEMBER(vector, cv_se,     (sizes),    "any as:select/cv_se", "likewise")                        \
    MEMBER(matrix, member,    (sizes, p), "any as:select/member", "1 where the term is in the set")
/* clang-format on */
CRI_RECORD(cri_selection, CRI_SELECTION);
extern const cri_member cri_selection_record[];

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
void cri_selection_describe(const cri_selection *s, const cr_design *design, cri_sheet *out);
extern const cr_field cri_selection_tables[];
#endif
