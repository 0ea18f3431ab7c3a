/* gp_fisher.h -- the Fisher kernel of a saved model, as an expression.  (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_INPUTS_GP_FISHER_H
#define CREDENCE_MODELS_KERNEL_INPUTS_GP_FISHER_H

#include "models/core/class.h"

/* What fisher(file="path") stands for, over the columns of a design; as cr_kernel_columns.file, the
 * text is freed by cri_string_free.  Fails with CR_EDATA for a model that is none of densities of
 * numbers, or of columns that are no features here. */
cr_status cri_gp_fisher(const void *design, cr_ctx *cx, const char *kernel, const char *path,
                        char **out_text);

#endif
