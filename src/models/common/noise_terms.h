/* noise_terms.h -- which terms of a design --noise-model names.  (Internal header.) */
#ifndef CREDENCE_MODELS_COMMON_NOISE_TERMS_H
#define CREDENCE_MODELS_COMMON_NOISE_TERMS_H

#include "models/core/class.h"
#include "base/scratch.h"

/* The terms of the columns in the list, in the order of the design, memory of the arena.  Fails with CR_EARG for a
 * column that is no feature. */
cr_status cri_noise_terms(cr_scratch *s, const char *columns, const cr_design *design,
                          size_t **out_terms, size_t *out_n);

/* Mean and sd of a term over the rows of weight above 0; x [n] is workspace. */
void cri_noise_term_moments(const cri_rows *rows, size_t term, double *x, double *out_mean,
                            double *opt_sd);

/* The failure of columns that cannot tell anything of the noise. */
cr_status cri_noise_fail_dependent(cr_ctx *cx);

#endif
