/* class_moments.h -- what Gaussian class densities need of the data: weight, mean and scatter of
 * each class, or the sum of the scatters.  O(n p^2), every row once; two sets merge exactly (Chan,
 * Golub & LeVeque 1983).  (Internal header.) */
#ifndef CREDENCE_MODELS_GENERATIVE_CLASS_MOMENTS_H
#define CREDENCE_MODELS_GENERATIVE_CLASS_MOMENTS_H

#include "../class.h"

typedef struct cri_class_moments {
    size_t  K, p, pp; /* classes, terms, p^2                                       */
    size_t  groups;   /* K scatters, or 1: their sum                               */
    double *weight;   /* [K]                                                       */
    double *mean;     /* [K x p]                                                   */
    double *scatter;  /* [groups x pp]  sum w (x - mean)(x - mean)^T               */
} cri_class_moments;

/* Of rows whose y is a class; with `pooled` one scatter for all.  Fails with CR_ENUMERIC where
 * squares of a column over- or underflow. */
cr_status cri_class_moments_of_rows(cr_ctx *cx, const cri_rows *rows, bool pooled,
                                    cri_class_moments *out);
/* Frees the arrays. */
void cri_class_moments_free(cr_ctx *cx, cri_class_moments *m);
/* a becomes the moments of both; b stays. */
void cri_class_moments_merge(cri_class_moments *a, const cri_class_moments *b);
/* Class k becomes map[k] of K classes; the others are empty.  As it was on failure. */
cr_status cri_class_moments_join(cr_ctx *cx, cri_class_moments *m, bool pooled, const size_t *map,
                                 size_t K);
/* The scatter of class k, or the one there is. */
const double *cri_class_scatter(const cri_class_moments *m, size_t k);
/* The sum of the classes' scatters [pp]. */
void cri_class_moments_pool(const cri_class_moments *m, double *out);

/* To and from the model file, a part "moments" of the object; read checks them against the design.
 */
cr_status cri_class_moments_write(cr_ctx *cx, const cri_class_moments *m, cri_store *store,
                                  json_t *out);
cr_status cri_class_moments_read(cr_ctx *cx, const cri_store *store, const json_t *in,
                                 const cr_design *design, cri_class_moments *out);

#endif
