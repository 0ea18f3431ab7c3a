/* factor_internal.h -- factors that the engines make.  (Internal header.) */
#ifndef CREDENCE_GRAPH_FACTOR_FACTOR_INTERNAL_H
#define CREDENCE_GRAPH_FACTOR_FACTOR_INTERNAL_H

#include "factor.h"

/* A factor over sorted variables, its values not set. */
cr_status cri_factor_make(cr_ctx *cx, size_t n, const size_t *var, const size_t *states,
                          cr_factor *out_f);
/* The failure of cri_combine: stopped, or out of memory for a table of `size` entries. */
cr_status cri_fail_combine(cr_ctx *cx, size_t size);
/* The failure of cri_space_add. */
cr_status cri_fail_dims(cr_ctx *cx);

#endif
