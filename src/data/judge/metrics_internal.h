/* metrics_internal.h -- what the metrics of regression and classification share. */
#ifndef CREDENCE_DATA_JUDGE_METRICS_INTERNAL_H
#define CREDENCE_DATA_JUDGE_METRICS_INTERNAL_H

#include "metrics.h"

enum { CRI_METRICS_BLOCK = 1024 }; /* rows per block of a sum */

/* Fails with CR_EDATA when a weight is negative or not finite, or their sum is not above 0. */
cr_status cri_check_weights(cr_ctx *cx, const double *opt_weight, size_t n);

#endif
