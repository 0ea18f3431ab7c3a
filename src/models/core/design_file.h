/* design_file.h -- a design in the model file.  (Internal header.) */
#ifndef CREDENCE_MODELS_CORE_DESIGN_FILE_H
#define CREDENCE_MODELS_CORE_DESIGN_FILE_H

#include "data/design/made.h"
#include "data/store/store.h"

/* Fills the object `out`. */
cr_status cri_design_write(cr_ctx *cx, const cr_design *design, json_t *out);
/* A new design from the object `in`; fails with CR_EDATA on any field that cannot be. */
cr_status cri_design_read(cr_ctx *cx, const cri_store *store, const json_t *in, cr_missing missing,
                          cr_design **out_design);

/* The keys of the columns of d->roles. */
extern const char *const cri_role_keys[CRI_MOST_ROLES];

/* Fails: the design in the model file is not valid, and why. */
cr_status cri_design_damaged(cr_ctx *cx, const cri_store *store, const char *what);
/* How a column is made (design_made_file.c): fills the object `out`; or reads it, of one that may be
 * made of the first `before` columns of the design, and then its levels. */
cr_status cri_made_write(cr_ctx *cx, const cri_made *made, json_t *out);
cr_status cri_made_read(cr_ctx *cx, const cri_store *store, const json_t *in,
                        const cr_design *design, size_t before, cri_design_column *column);

#endif
