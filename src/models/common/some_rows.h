/* some_rows.h -- fits whose work grows with the square or the cube of the rows, within a time limit.
 * All rows get the time but for what a quarter of them would take, a quarter of it at the most.  Where that is not
 * enough, a random sample of them gets what is left, shared likewise with a smaller one: a model of some rows, with a
 * warning that says of how many, in place of none.  (Internal header.) */
#ifndef CREDENCE_MODELS_COMMON_SOME_ROWS_H
#define CREDENCE_MODELS_COMMON_SOME_ROWS_H

#include "models/core/faces.h"

/* The fit of a whole face (faces.h). */
typedef cr_status cri_fit_rows(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                               void **out_state, cr_report *report);
/* Runs it on all rows or, as above, on some, of which report->rows then is the number.  Fails as it does; with
 * CR_ENOMEM, and what would help, where no sample was small enough. */
cr_status cri_fit_some(cr_ctx *cx, cri_fit_rows *fit, const cri_rows *rows, const void *options,
                       uint64_t seed, void **out_state, cr_report *report);

#endif
