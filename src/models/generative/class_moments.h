/* class_moments.h -- what Gaussian class densities need of the data: weight, mean and scatter of each
 * class.  One pass over the rows, O(n p^2); two sets merge exactly.  (Internal header.) */
#ifndef CREDENCE_MODELS_GENERATIVE_CLASS_MOMENTS_H
#define CREDENCE_MODELS_GENERATIVE_CLASS_MOMENTS_H

#include "../class.h"

typedef struct cri_class_moments {
    size_t  K, p, pp; /* classes, terms, p^2                                                       */
    double *weight;   /* [K]                                                                       */
    double *mean;     /* [K x p]                                                                   */
    double *scatter;  /* [K x pp]  sum w (x - mean)(x - mean)^T of each class                      */
} cri_class_moments;

cr_status cri_class_moments_new(cr_ctx *cx, size_t K, size_t p, cri_class_moments *out);
void      cri_class_moments_free(cr_ctx *cx, cri_class_moments *m);
/* Of rows whose y is a class. */
cr_status cri_class_moments_of_rows(cr_ctx *cx, const cri_rows *rows, cri_class_moments *out);
/* a becomes the moments of both. */
void cri_class_moments_merge(cri_class_moments *a, const cri_class_moments *b);
/* The sum of the classes' scatters [pp]. */
void cri_class_moments_pool(const cri_class_moments *m, double *out);

#endif
