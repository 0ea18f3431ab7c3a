/* crf_answer.h -- a conditional random field at work on rows.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_CRF_ANSWER_H
#define CREDENCE_MODELS_SEQUENCE_CRF_ANSWER_H

#include "crf.h"
#include "crf_objective.h"

typedef struct cri_crf_answer {
    const cri_crf       *m;
    const cri_sequences *q;
    cri_attribute_rows   r;
    const double        *W; /* [A x stride] */
    cri_crf_chain        chain;
    size_t               longest;
    double              *prob; /* [rows x K]; of predictions */
} cri_crf_answer;

/* Its memory is in the arena, but for `r`, which cri_attribute_rows_free frees. */
cr_status cri_crf_answer_open(cr_ctx *cx, cr_scratch *s, const cri_crf *m, const cri_rows *rows,
                              cri_crf_answer *out);
/* The failure of rows whose answers are NaN. */
cr_status cri_crf_fail_overflow(cr_ctx *cx);

#endif
