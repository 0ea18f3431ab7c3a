/* sparse_rows.h -- sparse rows as a model sees them, and the sums that models take over them.
 *   X [n x p], of which only the entries that are not 0 are kept.
 * The entries are the numbers of the table.  Where the design standardises, the term that a model
 * works with is z_j = (x_j - shift_j) / scale_j, which is not sparse; so it stays implicit:
 *   cri_sparse_fold:    z.w = sum_j x_j v_j - c,   v_j = w_j / scale_j,   c = sum_j shift_j v_j
 *   cri_sparse_unfold:  Z'r = (X'r - shift sum r) / scale
 *
 * Sums over rows are taken in blocks cut by the size of the data: the same bits for any number of
 * threads.  Raw functions cannot fail and allocate nothing.  (Internal header.) */
#ifndef CREDENCE_DATA_DESIGN_SPARSE_ROWS_H
#define CREDENCE_DATA_DESIGN_SPARSE_ROWS_H

#include "base/context.h"

/* Row i has the entries start[k] .. start[k + 1] - 1 with k = index[i], or i when index is NULL. */
typedef struct cri_sparse {
    size_t          n, p;
    const size_t   *start;
    const uint32_t *column;        /* increasing within a row */
    const double   *value;         /* finite; NaN where a model takes gaps */
    const size_t   *index;         /* [n] or NULL */
    bool            plain;         /* shift is all 0 and scale all 1 */
    const double   *shift, *scale; /* [p] of the design; NULL = 0 and 1 */
} cri_sparse;

/* Sparse rows with arrays of their own, [rows + 1] and [entries]. */
typedef struct cri_sparse_copy {
    cri_sparse view;
    size_t     rows, entries;
    size_t    *start;
    uint32_t  *column;
    double    *value;
} cri_sparse_copy;

/* Frees the arrays. */
void cri_sparse_free(cr_ctx *cx, cri_sparse_copy *copy);

/* The entries of row i: returns the first, *out_end is behind the last. */
static inline size_t cri_sparse_row(const cri_sparse *X, size_t i, size_t *out_end)
{
    size_t k = X->index ? X->index[i] : i;
    *out_end = X->start[k + 1];
    return X->start[k];
}
/* How many entries all the rows have.  O(n) with an index, else O(1). */
size_t cri_sparse_entries(const cri_sparse *X);

/* sum of value from[column] over n entries, in four chains, so that no sum waits for the one before. */
static inline double cri_sparse_gather(const uint32_t *column, const double *value, size_t n,
                                       const double *from)
{
    double a = 0, b = 0, c = 0, d = 0;
    size_t e = 0;
    for (; e + 3 < n; e += 4) {
        a += value[e] * from[column[e]];
        b += value[e + 1] * from[column[e + 1]];
        c += value[e + 2] * from[column[e + 2]];
        d += value[e + 3] * from[column[e + 3]];
    }
    for (; e < n; e++) a += value[e] * from[column[e]];
    return (a + b) + (c + d);
}

/* x_i . b, without the standardisation. */
double cri_sparse_dot(const cri_sparse *X, size_t i, const double *b);
/* out += a x_i, likewise; out [p]. */
void cri_sparse_axpy(const cri_sparse *X, size_t i, double a, double *out);
/* The entry (i, j).  O(log entries of the row). */
double cri_sparse_at(const cri_sparse *X, size_t i, size_t j);

/* v = w / scale; returns c = shift . v, so that z_i . w = x_i . v - c.  v may be w. */
double cri_sparse_fold(const cri_sparse *X, const double *w, double *v);
/* Z'r from g = X'r and the sum of r, in place. */
void cri_sparse_unfold(const cri_sparse *X, double sum_r, double *g);

/* out [n] = X b.  O(entries). */
cr_status cri_sparse_times(cr_ctx *cx, const cri_sparse *X, const double *b, double *out);
/* The same of CRI_SPARSE_PANEL vectors at once, side by side: B [p x panel], out [n x panel]. */
enum { CRI_SPARSE_PANEL = 8, CRI_SPARSE_FEW = 4 };
/* sum [panel] = the sums of value B[column] over n entries; `behind` more entries follow these,
 * whose numbers may be fetched early. */
void cri_sparse_gather_panel(const uint32_t *column, const double *value, size_t n, size_t behind,
                             const double *B, double *sum);
/* The same of CRI_SPARSE_FEW vectors, for searches that take few at once. */
void cri_sparse_gather_few(const uint32_t *column, const double *value, size_t n, size_t behind,
                           const double *B, double *sum);
cr_status cri_sparse_times_panel(cr_ctx *cx, const cri_sparse *X, const double *B, double *out);
/* out [p] = X' r.  O(entries + p); scratch of at most 16 p doubles, and never more than the entries
 * take.  Of a transposed copy X' r is cri_sparse_times. */
cr_status cri_sparse_transpose_times(cr_ctx *cx, const cri_sparse *X, const double *r, double *out);
/* X' [p x n] as sparse rows: the columns of X, for coordinate descent.  O(entries + p).  The copy
 * is freed by cri_sparse_free; it has no standardisation. */
cr_status cri_sparse_transpose(cr_ctx *cx, const cri_sparse *X, cri_sparse_copy *out);
/* rank [p] = the place of each column when those with more entries come first, equal ones as they
 * stand; workspace [max(n, p) + 2].  O(entries + n + p). */
void cri_sparse_rank_columns(const cri_sparse *X, size_t *rank, size_t *workspace);
/* The same copy with column j in place rank[j], so that loops over columns of one length follow
 * each other; the view has `rank`, which it borrows, for its index. */
cr_status cri_sparse_transpose_ranked(cr_ctx *cx, const cri_sparse *X, const size_t *rank,
                                      cri_sparse_copy *out);
/* out [p x p] = X' diag(w) X, both halves; w [n] or NULL = 1.  For small p: O(sum of squared row
 * lengths) time, and a transposed copy as scratch.  Fails with CR_ENOMEM. */
cr_status cri_sparse_gram(cr_ctx *cx, const cri_sparse *X, const double *opt_w, double *out);
/* Weighted mean and population variance of every column, zeros included: [p] each.  Three passes
 * over the entries: the second look at the mean takes up what the first lost to rounding.  Values
 * whose squares overflow give what is not finite; rows that weigh nothing give 0.  p doubles of
 * scratch. */
cr_status cri_sparse_moments(cr_ctx *cx, const cri_sparse *X, const double *opt_w, double *out_mean,
                             double *out_variance);

#endif
