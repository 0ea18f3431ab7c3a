/* separated.h -- the separation of two classes (separation.h) for models that are no classifiers of
 * this folder.  (Internal header.) */
#ifndef CREDENCE_MODELS_LOGISTIC_SEPARATED_H
#define CREDENCE_MODELS_LOGISTIC_SEPARATED_H

#include "data/design/design_internal.h"

typedef enum cri_separation {
    CRI_NOT_SEPARATED,
    CRI_SEPARATED_PERFECTLY,
    CRI_SEPARATED_PARTLY
} cri_separation;

/* Whether the terms of the rows separate those with y = 0 from those with y = 1; both must be
 * there.  Fits a logistic regression.  blame and endless [terms + intercept] as in
 * cri_find_separation. */
cr_status cri_test_separation(cr_ctx *cx, const cri_rows *rows, bool intercept, const uint32_t *y,
                              cri_separation *out_kind, bool *blame, bool *endless);
/* Warns in one sentence that names the columns, and what would give an answer. */
void cri_warn_separation(cr_ctx *cx, const cr_design *design, bool intercept, cri_separation kind,
                         const bool *blame, const char *remedy);
/* "none", "perfect", "quasi-complete". */
const char *cri_separation_name(cri_separation kind);

#endif
