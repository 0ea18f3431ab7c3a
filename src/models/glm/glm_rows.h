/* glm_rows.h -- what the rows of a generalised linear model say beside their terms: target, weight,
 * trials and offset.  (Internal header.) */
#ifndef CREDENCE_MODELS_GLM_GLM_ROWS_H
#define CREDENCE_MODELS_GLM_GLM_ROWS_H

#include "family.h"
#include "data/design/design_internal.h"

/* The columns beside terms, target and weights, in the order of the roles of the design. */
typedef enum cri_glm_role { CRI_GLM_OFFSET, CRI_GLM_EXPOSURE, CRI_GLM_TRIALS } cri_glm_role;

/* offset + log exposure of row i.  Fails with CR_EDATA where the exposure is not above 0. */
cr_status cri_glm_offset_of(cr_ctx *cx, const cri_rows *rows, size_t i, double *out);
/* The trials of row i, whole and at least 1; 1 where there is no such column.  Fails with CR_EDATA. */
cr_status cri_glm_trials_of(cr_ctx *cx, const cri_rows *rows, size_t i, double *out);

/* y (for the binomial shares), weight, trials and offset [n] of all rows.  Fails with CR_EDATA at the
 * first row that the family does not allow. */
cr_status cri_glm_read_rows(cr_ctx *cx, const cri_rows *rows, cri_glm_family family, double *y,
                            double *weight, double *trials, double *offset);

#endif
