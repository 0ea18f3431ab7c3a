/* classifier_rows.h -- the rows of a linear classifier, dense or sparse behind one door.
 *   z = (1, (x - centre) / scale)   [q = p + 1; q = p without an intercept, and centre = 0]
 * Dense rows are kept as Z [n x q] where memory allows, else made anew in each pass.  Rows that are
 * mostly zeros are kept by their entries, and the standardisation stays implicit: with the raw
 * coordinates  v_j = b_j / scale_j,  v_0 = b_0 - centre . v  a score is  v_0 + x . v, so that sums over
 * rows are taken of (1, x) and brought back by the transpose of the same map.  (Internal header.) */
#ifndef CREDENCE_MODELS_LOGISTIC_CLASSIFIER_ROWS_H
#define CREDENCE_MODELS_LOGISTIC_CLASSIFIER_ROWS_H

#include "../../base/parallel.h"
#include "../../data/design_internal.h"

typedef struct cri_entries { /* row i: start[i] .. start[i + 1] - 1 */
    size_t   *start;         /* [n + 1]                             */
    uint32_t *column;
    double   *value;
    size_t    count;
} cri_entries;

typedef struct cri_classifier_rows {
    const cri_rows *rows;
    size_t          n, p, q;
    bool            intercept;
    double          weight;         /* sum of the weights                          */
    double         *centre, *scale; /* [p]                                         */
    double         *inverse;        /* [p] 1 / scale                               */
    double         *Z;              /* [n x q], or NULL: sparse, or made in passes */
    bool            sparse;
    cri_entries     entries;
} cri_classifier_rows;

/* Measures the rows (weighted mean and population sd, which is 1 for a constant column or without
 * standardisation) and keeps them.  Fails with CR_ENUMERIC where squares overflow, CR_ENOMEM. */
cr_status cri_classifier_rows_new(cr_ctx *cx, const cri_rows *rows, bool intercept, bool standardise,
                                  cri_classifier_rows *out);
void      cri_classifier_rows_free(cr_ctx *cx, cri_classifier_rows *x);

/* z of every step-th row: of rows begin * step, (begin + 1) * step, ..., [count x q].  Returns where
 * they are: in Z itself or in room [count x q].  Not for sparse rows.  Pure. */
const double *cri_classifier_rows_block(const cri_classifier_rows *x, size_t begin, size_t count,
                                        size_t step, double *room);

/* raw [p + 1] from theta [q], and its transpose: out [q] from raw [p + 1]. */
void cri_to_raw(const cri_classifier_rows *x, const double *theta, double *raw);
void cri_from_raw(const cri_classifier_rows *x, const double *raw, double *out);

#endif
