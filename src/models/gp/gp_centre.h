/* gp_centre.h -- centre(...) in the kernels of models: the rows that it is about, bound and kept in
 * files.  A row of weight 2 counts as two.  All leave a kernel without centre(...) as it is.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_GP_GP_CENTRE_H
#define CREDENCE_MODELS_GP_GP_CENTRE_H

#include "gp_data.h"

/* Takes the inputs of data, by the weights of the rows they come from: group [rows] tells the input
 * of each row of weight > 0; NULL: by 1 / r. */
cr_status cri_gp_centre(cr_ctx *cx, cr_kernel *k, const cri_gp_data *data, const cri_rows *opt_rows,
                        const size_t *opt_group);
/* Into the model file. */
cr_status cri_gp_centre_write(cr_ctx *cx, const cr_kernel *k, cri_store *store, json_t *out);
/* And back, with their means.  Fails with CR_EDATA for rows that do not suit the design or the
 * kernel. */
cr_status cri_gp_centre_read(cr_ctx *cx, const cri_store *store, const json_t *in,
                             const cr_design *design, cr_kernel *k);

#endif
