/* gda.h -- Gaussian discriminant analysis as a model: the state that lda and qda share.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_GENERATIVE_GDA_H
#define CREDENCE_MODELS_GENERATIVE_GDA_H

#include "discriminant.h"

/* What update and predict need: the moments, and the densities made from them. */
typedef struct cri_gda {
    cri_class_moments m;
    cri_discriminant  d;
} cri_gda;

/* Fits to rows; what `opt_old` knew is merged in. */
cr_status cri_gda_fit(cr_ctx *cx, const cri_rows *rows, const cri_discriminant_options *o,
                      const cri_gda *opt_old, void **out_state, cr_report *report);
/* The functions of a class. */
cr_status cri_gda_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out);
cr_status cri_gda_log_joint(cr_ctx *cx, const void *state, const cri_rows *rows, double *out);
cr_status cri_gda_describe(cr_ctx *cx, const void *state, const cr_design *design, json_t *out);
cr_status cri_gda_write(cr_ctx *cx, const void *state, cri_store *store, json_t *out);
cr_status cri_gda_read(cr_ctx *cx, const cri_store *store, const json_t *in,
                       const cr_design *design, void **out_state);
void      cri_gda_free(cr_ctx *cx, void *state);

#endif
