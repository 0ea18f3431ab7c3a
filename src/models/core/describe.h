/* describe.h -- what a fitted model says of itself, as a sheet.  (Internal header.) */
#ifndef CREDENCE_MODELS_CORE_DESCRIBE_H
#define CREDENCE_MODELS_CORE_DESCRIBE_H

#include "base/sheet.h"
#include "model.h"

/* What cr_describe gives, before it is JSON; to be freed. */
cr_status cri_model_describe(cr_ctx *cx, const cr_model *model, cri_sheet **out_sheet);
/* The first thing in it that is not declared, or not as declared, in words; false where there is none. */
bool cri_description_find_fault(const cr_model_class *c, const cri_sheet *sheet, char *out,
                                size_t size);

#endif
