/* described.h -- columns that a class describes as they are, by a joint distribution of numbers.  (Internal header.) */
#ifndef CREDENCE_MODELS_COMMON_DESCRIBED_H
#define CREDENCE_MODELS_COMMON_DESCRIBED_H

#include "data/design/design_internal.h"

/* Fails, in words, where the design has a column of text, or terms that are not columns: draws would have no
 * place for them. */
cr_status cri_described_check(cr_ctx *cx, const char *model, const cr_design *design);

#endif
