/* few_rows.h -- densities at estimates from few rows are too sure: of n rows and k free parameters, by about k / 2n nats for
 * each new row, which is what Akaike's criterion counts, and by more where k is not small beside n.  (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_FEW_ROWS_H
#define CREDENCE_MODELS_LATENT_FEW_ROWS_H

#include "models/core/class.h"

/* Warns where that is much, and names models that average over what the rows leave open. */
void cri_warn_of_few_rows(cr_ctx *cx, const char *model, double parameters, double rows);

#endif
