/* few_rows.c -- the warning that few rows make a density too sure. */
#include "few_rows.h"

static const double MUCH = 0.175; /* nats for a new row */

void cri_warn_of_few_rows(cr_ctx *cx, const char *model, double parameters, double rows)
{
    double excess = parameters / (2 * rows);
    if (!(excess > MUCH)) return;
    cr_log(cx, CR_LOG_WARNING,
           "%s: %g rows are few for %g free parameters: as a density of new rows it is too sure, "
           "by about %.1g nats a row or more; of numbers, gmm --infer vb and mvn average over what "
           "so few rows leave open",
           model, rows, parameters, excess);
}
