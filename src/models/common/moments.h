/* moments.h -- the sufficient statistics of Gaussian linear models.
 *   z = (x, y) [q = p + 1];   weight = sum w_i;   mean = sum w_i z_i / weight;
 *   S = sum w_i (z_i - mean)(z_i - mean)^T   [q x q], symmetric; rows without a target have y = 0.
 * They come from rows in one pass, block by block, and two sets merge exactly (Chan, Golub &
 * LeVeque 1983): batch, on-line and distributed fitting share them.  (Internal header.) */
#ifndef CREDENCE_MODELS_COMMON_MOMENTS_H
#define CREDENCE_MODELS_COMMON_MOMENTS_H

#include "data/store/record_store.h"
#include "data/design/design_internal.h"

/* clang-format off */
#define CRI_MOMENTS(MEMBER)                                                                         \
    MEMBER(count,  rows,   (),     "",                "of positive weight")                         \
    MEMBER(real,   weight, (),     ">=0",             "of them")                                    \
    MEMBER(count,  p,      (),     "made",            "terms")                                      \
    MEMBER(count,  q,      (),     "found",           "these and the target")                       \
    MEMBER(vector, mean,   (q),    "as:moments_mean", "of each")                                    \
    MEMBER(matrix, S,      (q, q), "as:moments",      "sums of products about the means")
/* clang-format on */
CRI_RECORD(cri_moments, CRI_MOMENTS);
extern const cri_member cri_moments_record[];

/* Sets p; false where what a file holds are not the moments of p terms. */
bool cri_moments_fit(cri_moments *m, size_t p);

/* Zero moments of p terms and a target; false (recorded) when there is no memory. */
cr_status cri_moments_new(cr_ctx *cx, size_t p, cri_moments *out);
void      cri_moments_free(cr_ctx *cx, cri_moments *m);

/* The target of row i, 0 where there is none. */
static inline double cri_target_of(const cri_rows *rows, size_t i)
{
    return rows->y ? rows->y[i] : 0;
}

/* The moments of all rows.  O(n q^2), one pass, same bits for any number of threads. */
cr_status cri_moments_of_rows(cr_ctx *cx, const cri_rows *rows, cri_moments *out);
/* The same of sparse rows by their entries, O(sum of squared row lengths + p^2): what the above
 * does where that pays.  *out_good = false, and nothing else set, when a column is so far from 0
 * that sums about 0 would lose digits. */
cr_status cri_moments_of_sparse(cr_ctx *cx, const cri_rows *rows, cri_moments *out, bool *out_good);
/* The same of many columns in one pass, tile by tile of the products: O(panel of rows + q^2)
 * memory. *out_good = false, and nothing else set, when no row weighs anything, or when the mean of
 * some rows is so far from that of all that sums about it would lose digits. */
cr_status cri_moments_of_wide(cr_ctx *cx, const cri_rows *rows, cri_moments *out, bool *out_good);
/* a becomes the moments of both; b stays. */
void cri_moments_merge(cri_moments *a, const cri_moments *b);

/* The same as entries of a class whose statistics they are. */
cr_status cri_moments_gather(cr_ctx *cx, const void *state, const cri_rows *rows,
                             const void *options, void *moments);
cr_status cri_moments_add(cr_ctx *cx, const void *state, void *a, const void *b);

/* The moments as a model with or without intercept and standardisation wants them:
 *   Z = (X - centre) / scale,   t = y - offset,
 * centre and offset the means (0 without intercept), scale the population sd about the mean (1
 * where the column is constant, or without standardisation). */
typedef struct cri_gram {
    size_t  p, rows;
    double  weight, offset;
    double *centre, *scale; /* [p]                      */
    double *G, *g, tt;      /* Z^T W Z [p x p], Z^T W t [p], t^T W t */
} cri_gram;

/* Fails with CR_ENUMERIC, and *out untouched, when squares of the data over- or underflow. */
cr_status cri_gram_new(cr_ctx *cx, const cri_moments *m, bool intercept, bool standardise,
                       cri_gram *out);
void      cri_gram_free(cr_ctx *cx, cri_gram *gram);

/* Fails with CR_ENUMERIC when the sum of squares of term j < p, or of the target j = p, whose
 * numbers are about `size`, is beyond the doubles, or vanishes although size does not. */
cr_status cri_check_squares(cr_ctx *cx, size_t j, size_t p, double square, double size);

#endif
