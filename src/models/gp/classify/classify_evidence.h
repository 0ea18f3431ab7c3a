/* classify_evidence.h -- the approximate log evidence of a classifier at other hyper-parameters.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_EVIDENCE_H
#define CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_EVIDENCE_H

#include "classify.h"

/* The functions of the model class: those of the kernel, and Laplace's evidence or, sparse, the
 * bound. */
cr_status cri_classify_hyper(cr_ctx *cx, const void *state, size_t k, cr_hyper *out_hyper);
cr_status cri_classify_evidence_at(cr_ctx *cx, const void *state, const cri_rows *rows,
                                   const size_t *which, size_t n, const double *values,
                                   size_t count, double *out);

#endif
