/* default_kernel.h -- the kernel of a method that does not learn one: as written, or by the
 * distances between the rows.  (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_DEFAULT_KERNEL_H
#define CREDENCE_MODELS_KERNEL_DEFAULT_KERNEL_H

#include "models/kernel/inputs/gp_data.h"

/* The kernel of an expression; text NULL: rbf of all numbers with `times` the median distance
 * between rows as length-scale, times hamming of the categories.  opt_why: what one that is
 * not positive semi-definite would do; NULL: no harm. */
cr_status cri_default_kernel(cr_ctx *cx, const char *opt_text, const cr_design *design,
                             const cri_gp_data *data, double times, const char *opt_why,
                             cr_kernel **out_kernel);
/* The distinct inputs of rows that have no target. */
cr_status cri_inputs_add(cr_ctx *cx, cri_gp_data *data, const cri_rows *rows);

#endif
