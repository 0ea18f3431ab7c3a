/* classifier_rows.h -- the rows of a linear classifier, dense or sparse behind one door.
 *   z = (1, (x - centre) / scale)   [q = p + 1; q = p without an intercept, and centre = 0]
 * Dense rows are kept as Z [n x q] where memory allows, else made anew in each pass.  Rows that are
 * mostly zeros are kept by their entries, and the standardisation stays implicit: with the raw
 * coordinates  v_j = b_j / scale_j,  v_0 = b_0 - centre . v  a score is  v_0 + x . v, so that sums
 * over rows are taken of (1, x) and brought back by the transpose of the same map.  (Internal
 * header.) */
#ifndef CREDENCE_MODELS_LOGISTIC_CLASSIFIER_ROWS_H
#define CREDENCE_MODELS_LOGISTIC_CLASSIFIER_ROWS_H

#include "base/parallel.h"
#include "base/scratch.h"
#include "data/design/design_internal.h"

/* The entries that are not 0: of row i start[k] .. start[k + 1] - 1, with k = index[i], or i
 * without index. */
typedef struct cri_entries {
    const size_t   *start;
    const uint32_t *column;
    const double   *value;
    const size_t   *index; /* [n] or NULL */
} cri_entries;

/* The first entry of row i; *out_end is behind its last. */
static inline size_t cri_entries_row(const cri_entries *e, size_t i, size_t *out_end)
{
    size_t k = e->index ? e->index[i] : i;
    *out_end = e->start[k + 1];
    return e->start[k];
}

typedef struct cri_classifier_rows {
    const cri_rows *rows;
    size_t          n, p, q;
    bool            intercept;
    const double   *w;              /* [n] weights; NULL: all are 1                */
    double          weight;         /* sum of the weights                          */
    double         *centre, *scale; /* [p]                                         */
    double         *inverse;        /* [p] 1 / scale                               */
    double         *Z;              /* [n x q], or NULL: sparse, or made in passes */
    bool            sparse;
    cri_entries     entries;
    size_t *own_start; /* [n + 1], own_count of the others: entries that were made here, or NULL */
    uint32_t *own_column;
    double   *own_value;
    size_t    own_count;
} cri_classifier_rows;

/* Sums over rows, about a pivot row so that a large mean does not hide a small sd; in the arena. */
typedef struct cri_column_sums {
    double *pivot; /* [p] */
    double *sums;  /* [2 + 2p]: weight, entries that are not 0, sum w d (p), sum w d^2 (p) */
} cri_column_sums;

/* Room for the sums of such rows, of which these are the first; then adds some. */
cr_status cri_column_sums_new(cr_scratch *s, const cri_rows *first, cri_column_sums *out);
cr_status cri_column_sums_add(cr_ctx *cx, const cri_rows *rows, cri_column_sums *sums);

/* Measures the rows (weighted mean and population sd, which is 1 for a constant column or without
 * standardisation) and keeps them.  Fails with CR_ENUMERIC where squares overflow, CR_ENOMEM. */
cr_status cri_classifier_rows_new(cr_ctx *cx, const cri_rows *rows, bool intercept,
                                  bool standardise, cri_classifier_rows *out);
void      cri_classifier_rows_free(cr_ctx *cx, cri_classifier_rows *x);
/* The same of rows whose entries are at hand: only n, p and w of `rows` are looked at.  The entries
 * are borrowed.  O(entries + p): no dense row is ever made. */
cr_status cri_classifier_rows_of_entries(cr_ctx *cx, const cri_rows *rows, cri_entries entries,
                                         bool intercept, bool standardise,
                                         cri_classifier_rows *out);

/* The same of the first block of a stream, by the sums of all its rows; weight is that of all too. */
cr_status cri_classifier_rows_of_sums(cr_ctx *cx, const cri_rows *rows, const cri_column_sums *sums,
                                      bool intercept, bool standardise, cri_classifier_rows *out);

/* The same with a standardisation that is given: centre and scale [p] are copied. */
cr_status cri_classifier_rows_scaled(cr_ctx *cx, const cri_rows *rows, bool intercept,
                                     const double *centre, const double *scale,
                                     cri_classifier_rows *out);

/* Row i as z [q], also of sparse rows: O(q).  Returns where it is, in Z itself or in workspace
 * [q]. */
const double *cri_classifier_rows_one(const cri_classifier_rows *x, size_t i, double *workspace);

/* z of every step-th row: of rows begin * step, (begin + 1) * step, ..., [count x q].  Returns
 * where they are: in Z itself or in workspace [count x q].  Not for sparse rows.  Pure. */
const double *cri_classifier_rows_block(const cri_classifier_rows *x, size_t begin, size_t count,
                                        size_t step, double *workspace);

/* Every step-th row of dense x by itself, for many passes over them: n, w, weight and Z of *out are of
 * the sample, in the arena, and *step is 1; the rest is x's, so that *out is not to be freed.  Where
 * memory does not allow it, and of sparse rows, *out is x and the step stays. */
cr_status cri_classifier_rows_sample(cr_ctx *cx, cr_scratch *s, const cri_classifier_rows *x,
                                     size_t *step, cri_classifier_rows *out);

/* raw [p + 1] from theta [q], and its transpose: out [q] from raw [p + 1]. */
void cri_to_raw(const cri_classifier_rows *x, const double *theta, double *raw);
void cri_from_raw(const cri_classifier_rows *x, const double *raw, double *out);

#endif
