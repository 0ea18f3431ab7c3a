/* rows_view.h -- some of the rows, or some of the terms, of rows that are open.
 * A view borrows everything from the rows it is of, but for the lists it keeps in the caller's
 * arena; it is not closed.  Once the arena has failed a view is empty.  (Internal header.) */
#ifndef CREDENCE_MODELS_COMMON_ROWS_VIEW_H
#define CREDENCE_MODELS_COMMON_ROWS_VIEW_H

#include "base/scratch.h"
#include "data/design/design_internal.h"

/* The rows which[0 .. n-1] with their targets and weights.  O(n). */
cri_rows cri_rows_pick(cr_scratch *s, const cri_rows *rows, const size_t *which, size_t n);

/* All rows, but only the terms which[0 .. k-1] of each, which increase.  O(k), of sparse rows
 * O(entries); these must not be standardised by their design. */
cri_rows cri_rows_pick_terms(cr_scratch *s, const cri_rows *rows, const size_t *which, size_t k);

/* CR_EUNSUPPORTED for rows with a sparse block, whose terms cannot be picked; `what` is the
 * model. */
cr_status cri_rows_check_dense(cr_ctx *cx, const cri_rows *rows, const char *what);

#endif
