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
/* Warns of weights that count as repetitions although they are fractions that do not add up to the number of
 * rows.  O(n). */
void cri_warn_of_weights(cr_ctx *cx, const cri_rows *rows, bool can_be_precisions);
/* Warns that nothing but rounding is left of the target. */
void cri_warn_of_perfect_fit(cr_ctx *cx);
/* Warns that a fit to numbers knows nothing of their noise. */
void cri_warn_no_spread(cr_ctx *cx);

/* An option that has a number from 0 to `most` for each class, CLASS=NUMBER. */
typedef struct cri_class_numbers {
    const char *option, *form, *example; /* for failures: "CLASS=P with P from 0 to 1" */
    double      most;
} cri_class_numbers;

/* One item, cut where the number begins, into out [K].  The class may hold '=' itself. */
cr_status cri_class_item(cr_ctx *cx, const cr_design *design, const cri_class_numbers *which,
                         char *item, double *out);

#endif
