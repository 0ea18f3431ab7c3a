/* described.h -- columns that a class describes as they are, by a joint distribution.  (Internal header.) */
#ifndef CREDENCE_MODELS_COMMON_DESCRIBED_H
#define CREDENCE_MODELS_COMMON_DESCRIBED_H

#include "data/design/design_internal.h"

/* Fails, in words, where there is a target, no column, or a term that is not a column as it is: draws would have no
 * place for it. */
cr_status cri_described_check(cr_ctx *cx, const char *model, const cr_design *design);
/* Fails at a column of text: as numbers its levels would have distances that depend on how they are coded. */
cr_status cri_check_numbers(cr_ctx *cx, const char *model, const cr_design *design);
/* Both. */
cr_status cri_described_numbers(cr_ctx *cx, const char *model, const cr_design *design);

#endif
