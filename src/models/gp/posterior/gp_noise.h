/* gp_noise.h -- noise whose spread depends on columns, --noise-model:
 *   e ~ N(0, s(x)^2),   log s(x) = log(v) / 2 + sum_c g_c (x_c - centre_c) / scale_c
 * It is a term of the kernel, white(v)*loglinear(x; slope=g, centre, scale), with the means and sds of the columns for
 * centre and scale: v and g are learned with the other hyper-parameters, by the same evidence, gradient and draws, and
 * nothing else knows of it.  g has the prior N(0, 1).  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_POSTERIOR_GP_NOISE_H
#define CREDENCE_MODELS_GP_POSTERIOR_GP_NOISE_H

#include "models/kernel/inputs/gp_data.h"

/* *kernel := the same with this term added.  Fails with CR_EARG for a column that is no feature of numbers, and for a
 * kernel that holds white already; with CR_ENUMERIC for a constant column. */
cr_status cri_gp_noise_add(cr_ctx *cx, const char *columns, const cri_rows *rows,
                           cr_kernel **kernel);

/* The parameter v of such a term; SIZE_MAX: the kernel has none. */
size_t cri_gp_noise_level(const cr_kernel *k);

/* Parameter i as people see it: of such a term `noise`, v, and `noise.COLUMN`, g by a unit of the column; *out_unit:
 * what its value and sd are to be divided by. */
cr_kernel_parameter cri_gp_shown_parameter(const cr_kernel *k, size_t i, double *out_unit);

#endif
