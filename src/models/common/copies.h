/* copies.h -- rows that are copies of one observation (data/judge/copies.h), as a model sees them.  (Internal header.) */
#ifndef CREDENCE_MODELS_COMMON_COPIES_H
#define CREDENCE_MODELS_COMMON_COPIES_H

#include "rows_view.h"
#include "some_rows.h"

/* A fit (some_rows.h) to the observations. */
cr_status cri_fit_observations(cr_ctx *cx, cri_fit_rows *fit, const cri_rows *rows,
                               const void *options, uint64_t seed, void **out_state,
                               cr_report *report);
/* The observations, in memory of the arena, where rows are copies of them: `whole`, with weights in proportion to the
 * copies that are 1 on average, which is said; else the rows as they are.  Copies of a row of a class are
 * observations of their own.  O(n p + n log n). */
cr_status cri_copies_merge(cr_scratch *s, const cri_rows *rows, cri_rows *out);

/* How much of a row of weight w is left out at a time: one copy, or the observation. */
static inline double cri_left_out(bool whole, double w) { return whole || w < 1 ? w : 1; }

#endif
