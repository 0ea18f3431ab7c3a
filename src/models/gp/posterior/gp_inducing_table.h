/* gp_inducing_table.h -- inducing inputs that the user gives, and those of a process.  (Internal
 * header.) */
#ifndef CREDENCE_MODELS_GP_POSTERIOR_GP_INDUCING_TABLE_H
#define CREDENCE_MODELS_GP_POSTERIOR_GP_INDUCING_TABLE_H

#include "gp_posterior.h"

/* The rows of a file as inducing inputs, in the units of the design, whose columns it has by name.
 * Fails with CR_EDATA where it lacks one, a value is missing or does not suit the kernel, or a text
 * is none of the data's; and as cr_table_read does. */
cr_status cri_gp_inducing_read(cr_ctx *cx, const cr_kernel *k, const cr_design *design,
                               const char *path, cri_gp_data *out_Z);

/* The function of the model class. */
cr_status cri_gp_inducing_report(cr_ctx *cx, const void *state, const cr_design *design,
                                 double **out_X, size_t *out_n);

#endif
