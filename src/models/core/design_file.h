/* design_file.h -- a design in the model file.  (Internal header.) */
#ifndef CREDENCE_MODELS_CORE_DESIGN_FILE_H
#define CREDENCE_MODELS_CORE_DESIGN_FILE_H

#include "data/design/design_internal.h"
#include "data/store/store.h"

/* Fills the object `out`. */
cr_status cri_design_write(cr_ctx *cx, const cr_design *design, json_t *out);
/* A new design from the object `in`; fails with CR_EDATA on any field that cannot be. */
cr_status cri_design_read(cr_ctx *cx, const cri_store *store, const json_t *in, cr_missing missing,
                          cr_design **out_design);

#endif
