/* em_starts.h -- what searches for mixtures share: some rows that starts are made of, and responsibilities.  (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_EM_STARTS_H
#define CREDENCE_MODELS_LATENT_EM_STARTS_H

#include "models/common/numbered.h"
#include "models/core/class.h"

enum { CRI_MOST_SAMPLED = 2048 };

/* Where sums over rows are taken about: of each column the first cell that is there, in a row that weighs anything;
 * 0 where there is none.  origin [p]; row [p] to work in. */
void cri_choose_origin(const cri_rows *first, double *row, double *origin);

/* Some rows: the CRI_MOST_SAMPLED with the least keys, a key being a hash of the numbers in the row, so that they
 * depend neither on the order of the rows nor on how they come. */
typedef struct cri_row_sample {
    size_t                  n, d; /* rows kept, columns */
    struct cri_sampled_row *kept; /* [CRI_MOST_SAMPLED]: key, weight, place in X */
    double                 *X;    /* [CRI_MOST_SAMPLED x d] */
    double                 *row;  /* [d] */
} cri_row_sample;

/* A row of the sample. */
typedef struct cri_sampled_row {
    uint64_t key;
    double   w;
    double  *x; /* [d] */
} cri_sampled_row;

cr_status cri_row_sample_open(cr_ctx *cx, size_t d, cri_row_sample *out);
void      cri_row_sample_close(cr_ctx *cx, cri_row_sample *sample);
/* Looks at the rows of a leaf that weigh anything. */
cr_status cri_row_sample_meet(cr_ctx *cx, cri_row_sample *sample, const cri_rows *leaf);
/* Puts `kept` in the order of the keys. */
void cri_row_sample_sort(cri_row_sample *sample);

/* A hash of d numbers `stride` apart: NaN are alike, and so are both zeros. */
uint64_t cri_hash_row(const double *x, size_t d, size_t stride);

/* r [k x n], log p(x, c) of n rows, becomes p(c | x); log_density [n] and the log of the greatest responsibility,
 * log_top [n], follow.  Where all are beyond the numbers any component is as likely. */
void cri_responsibilities(double *r, size_t k, size_t n, double *log_density, double *log_top);

#endif
