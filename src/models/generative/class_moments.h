/* class_moments.h -- what Gaussian class densities need of the data: weight, mean and scatter of
 * each class, or the sum of the scatters.  O(n p^2), every row once; two sets merge exactly (Chan,
 * Golub & LeVeque 1983).  (Internal header.) */
#ifndef CREDENCE_MODELS_GENERATIVE_CLASS_MOMENTS_H
#define CREDENCE_MODELS_GENERATIVE_CLASS_MOMENTS_H

#include "models/core/class.h"

/* clang-format off */
#define CRI_CLASS_MOMENTS(MEMBER)                                                                  \
    MEMBER(count,  K,       (),           "",    "classes")                                        \
    MEMBER(count,  p,       (),           "",    "terms")                                          \
    MEMBER(count,  pp,      (),           "",    "their square")                                   \
    MEMBER(count,  groups,  (),           "",    "K scatters, or 1: their sum")                    \
    MEMBER(vector, weight,  (K),          ">=0", "of the rows of each class")                      \
    MEMBER(matrix, mean,    (K, p),       "",    "of each class")                                  \
    MEMBER(matrix, scatter, (groups, pp), "",    "sum w (x - mean)(x - mean)^T")
/* clang-format on */

CRI_RECORD(cri_class_moments, CRI_CLASS_MOMENTS);
extern const cri_member cri_class_moments_record[];

/* Of rows whose y is a class; with `pooled` one scatter for all. */
cr_status cri_class_moments_of_rows(cr_ctx *cx, const cri_rows *rows, bool pooled,
                                    cri_class_moments *out);
/* Fails with CR_ENUMERIC where squares of a column over- or underflow: of all rows, since those of some may well
 * be tiny. */
cr_status cri_class_moments_check(cr_ctx *cx, const cr_design *design, const cri_class_moments *m);
/* Frees the arrays. */
void cri_class_moments_free(cr_ctx *cx, cri_class_moments *m);
/* Entries of a class that learns from them.  As they were on failure. */
cr_status cri_class_moments_merge(cr_ctx *cx, const void *state, void *a, const void *b);
cr_status cri_class_moments_join_pooled(cr_ctx *cx, void *moments, const size_t *map, size_t K);
cr_status cri_class_moments_join_each(cr_ctx *cx, void *moments, const size_t *map, size_t K);
/* The scatter of class k, or the one there is. */
const double *cri_class_scatter(const cri_class_moments *m, size_t k);
/* The sum of the classes' scatters [pp]. */
void cri_class_moments_pool(const cri_class_moments *m, double *out);

/* Warns where rows are few for a covariance: five for each column of a pooled one, ten of that of each class; true then. */
bool cri_class_moments_doubt(cr_ctx *cx, const cr_design *design, const cri_class_moments *m);

/* Whether moments that were read are those of the design's classes and terms. */
bool cri_class_moments_fit(const cri_class_moments *m, bool pooled, const cr_design *design);

#endif
