/* rows_check.h -- what rows are too poor for, said in the same words by all models.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_CORE_ROWS_CHECK_H
#define CREDENCE_MODELS_CORE_ROWS_CHECK_H

#include "data/design/design_internal.h"

/* CR_EDATA unless two classes or more have weight; weight [K]. */
cr_status cri_check_classes(cr_ctx *cx, const cr_design *design, const double *weight);
/* The same, of the rows of a fit. */
cr_status cri_check_row_classes(cr_ctx *cx, const cri_rows *rows);
/* CR_ENUMERIC, naming the column, where the squares of distances between rows of weight, or of the
 * target, overflow. inputs false: the target alone.  O(n p). */
cr_status cri_check_sizes(cr_ctx *cx, const cri_rows *rows, bool inputs);
/* Warns that a fit to numbers knows nothing of their noise. */
void cri_warn_no_spread(cr_ctx *cx);

#endif
