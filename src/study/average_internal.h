/* average_internal.h -- the predictions of several models side by side. */
#ifndef CREDENCE_STUDY_AVERAGE_INTERNAL_H
#define CREDENCE_STUDY_AVERAGE_INTERNAL_H

#include "base/scratch.h"
#include "average.h"

typedef struct cri_mixture {
    size_t         n; /* models */
    const double  *weights;
    cr_prediction *parts; /* [n] */
} cri_mixture;

/* Predicts by every model; parts that fit together.  Freed with cri_mixture_free, also on failure.
 */
cr_status cri_mixture_open(cr_ctx *cx, const cr_model *const *models, const double *weights,
                           size_t n, const cr_table *table, cri_mixture *out);
/* Frees the parts. */
void cri_mixture_free(cr_ctx *cx, cri_mixture *mixture);
/* Whether every model has an answer for the row. */
bool cri_mixture_has(const cri_mixture *mixture, size_t row);
/* Mean and sd of a number; the sd is infinite where a part's is. */
void cri_mixture_moments(const cri_mixture *mixture, size_t row, double *out_mean, double *out_sd);
/* cr_average_evaluate with all that can be asked; of numbers the mean loss has no value. */
cr_status cri_average_evaluate(cr_ctx *cx, const cr_model *const *models, const double *weights,
                               size_t n, const cr_table *table, const cr_judging *how,
                               cr_assessment *out);

#endif
