/* kalman_close.h -- the last pass over the rows of a fit.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_KALMAN_CLOSE_H
#define CREDENCE_MODELS_SEQUENCE_KALMAN_CLOSE_H

#include "kalman.h"
#include "models/core/model.h"

/* All that filter and smoother show at theta: places, coefficients, outliers, shocks, correlation of the errors, the
 * log likelihood.  O(n m^2). */
cr_status cri_kalman_close(cr_ctx *cx, const cri_rows *rows, kalman_state *m, cr_report *report);
/* Places of all settings.  Where the time ends, the settings are dropped, which is said. */
cr_status cri_kalman_close_settings(cr_ctx *cx, const cri_rows *rows, kalman_state *m,
                                    cr_report *report);

#endif
