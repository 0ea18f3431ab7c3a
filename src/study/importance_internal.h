/* importance_internal.h -- columns of a model by name.  (Internal header.) */
#ifndef CREDENCE_STUDY_IMPORTANCE_INTERNAL_H
#define CREDENCE_STUDY_IMPORTANCE_INTERNAL_H

#include "models/core/model.h"

/* The place of a column in the design of the model.  Fails with CR_EARG where the model does not read it. */
cr_status cri_column_of_model(cr_ctx *cx, const cr_model *model, const char *name,
                              size_t *out_place);

#endif
