/* gda.h -- Gaussian discriminant analysis as a model: the state that lda and qda share.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_GENERATIVE_GDA_H
#define CREDENCE_MODELS_GENERATIVE_GDA_H

#include "discriminant.h"

/* clang-format off */
#define CRI_GDA_STATE(MEMBER)                                                                      \
    MEMBER(part, moments, (cri_class_moments), "inside", "what update needs")                      \
    MEMBER(part, d,       (cri_discriminant),  "",       "what predict needs")
/* clang-format on */

CRI_RECORD(cri_gda, CRI_GDA_STATE);
extern const cri_member cri_gda_record[];

/* The functions of a class. */
cr_status cri_gda_solve(cr_ctx *cx, const cr_design *design, const cri_discriminant_options *o,
                        cri_gda *g, cr_report *report);
void      cri_gda_reopen(cr_ctx *cx, void *state);
cr_status cri_gda_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out);
cr_status cri_gda_log_joint(cr_ctx *cx, const void *state, const cri_rows *rows, double *out);
bool      cri_gda_doubt(cr_ctx *cx, const cr_design *design, const void *state);
cr_status cri_gda_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out);
extern const cr_field cri_gda_statistics[];
cr_status             cri_gda_ready_pooled(cr_ctx *cx, void *state, const cr_design *design);
cr_status             cri_gda_ready_each(cr_ctx *cx, void *state, const cr_design *design);

/* How lda and qda learn: `each` or `pooled` covariances. */
#define CRI_GDA_SUMS(stem, covariances)                                                            \
    &(const cri_sums_face)                                                                         \
    {                                                                                              \
        .record = cri_class_moments_record, .size = sizeof(cri_class_moments),                     \
        .at = offsetof(cri_gda, moments), .gather = stem##_gather,                                 \
        .merge = cri_class_moments_merge, .join = cri_class_moments_join_##covariances,            \
        .solve = stem##_solve, .reopen = cri_gda_reopen                                            \
    }

#endif
