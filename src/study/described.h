/* described.h -- what a fitted model says of itself, for studies.  (Internal header.) */
#ifndef CREDENCE_STUDY_DESCRIBED_H
#define CREDENCE_STUDY_DESCRIBED_H

#include "../models/model.h"

#include <jansson.h>

/* The list of parameters that cr_describe gives: *out is to be released.  CR_EUNSUPPORTED where the
 * model has none. */
cr_status cri_parameters_of(cr_ctx *cx, const cr_model *model, json_t **out);
/* The name of entry i; "" where it has none. */
const char *cri_parameter_name(const json_t *list, size_t i);
/* Its value; NaN where that is no number. */
double cri_parameter_value(const json_t *list, size_t i);

#endif
