/* crf_rows.h -- rows as a conditional random field learns from them, and what must be known of all of
 * them before it can.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_CRF_ROWS_H
#define CREDENCE_MODELS_SEQUENCE_CRF_ROWS_H

#include "crf_attributes.h"

/* How attributes are made. */
typedef struct cri_crf_making {
    const cri_template *list;
    size_t              n;
    cri_attributes      dictionary;
} cri_crf_making;

/* Some rows, in the order of their sequences. */
typedef struct cri_crf_rows {
    cri_attribute_rows attributes;
    uint32_t          *y;      /* [n] labels */
    double            *weight; /* [sequences]; NULL: all 1 */
} cri_crf_rows;

/* With `learn`, new attributes join the dictionary.  Labels and weights are in the arena.  Fails with CR_EDATA where
 * the rows of a sequence have different weights. */
cr_status cri_crf_rows_open(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, cri_crf_making *making,
                            bool learn, cri_crf_rows *out);
void      cri_crf_rows_close(cr_ctx *cx, cri_crf_rows *r);

/* All rows: how many there are, and what attributes have. */
typedef struct cri_crf_survey {
    size_t   K, n, sequences, entries, room; /* of attributes */
    double  *most;                           /* [room] the largest |value|  */
    uint8_t *seen;                           /* [room x K] with this label  */
    double  *classes;                        /* [K] weights of labels        */
} cri_crf_survey;

cr_status cri_crf_survey_open(cr_ctx *cx, size_t K, cri_crf_survey *out);
/* Adds rows whose attributes have joined the dictionary. */
cr_status cri_crf_survey_add(cr_ctx *cx, const cri_rows *rows, const cri_crf_rows *r,
                             const cri_attributes *dictionary, cri_crf_survey *survey);
/* Attributes get the places of their keys in order: to [d->n]. */
cr_status cri_crf_survey_sort(cr_ctx *cx, cri_attributes *d, cri_crf_survey *survey, uint32_t *to);
void      cri_crf_survey_free(cr_ctx *cx, cri_crf_survey *survey);

#endif
