/* described.h -- what a fitted model says of itself, for studies.  (Internal header.) */
#ifndef CREDENCE_STUDY_DESCRIBED_H
#define CREDENCE_STUDY_DESCRIBED_H

#include "models/core/describe.h"

/* The description of a model, to be freed, and its list of parameters.  CR_EUNSUPPORTED where the
 * model has none. */
cr_status cri_parameters_of(cr_ctx *cx, const cr_model *model, cri_sheet **out_sheet,
                            const cri_sheet **out_list);
/* The name of a row of it, "" where it has none; its value, NaN where that is no number. */
const char *cri_parameter_name(const cri_sheet *row);
double      cri_parameter_value(const cri_sheet *row);

#endif
