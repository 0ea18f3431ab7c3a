/* lanczos.h -- the largest eigenvalues of a symmetric map, by products with it alone.
 *   A v_j = lambda_j v_j,   A [n x n] positive semidefinite and never written down,   lambda_1 >= lambda_2 >= ...
 * Block Lanczos from random vectors, with full reorthogonalisation and thick restarts: the space spanned by
 * B, A B, A^2 B, ..., in which A is a small matrix T whose eigenvalues (Ritz values) approach those of A from below.
 * b vectors find at most b directions of one eigenvalue.  Few of them need the fewest products, and where some
 * eigenvalue then is found b times, so that more of it may have been missed, the search is taken up again with at least
 * as many vectors as are wanted.
 * Golub & Van Loan (2013), sec. 10.3; Wu & Simon (2000), SIAM J. Matrix Anal. Appl. 22; Halko, Martinsson & Tropp
 * (2011), SIAM Review 53; Musco & Musco (2015), NIPS 28.  (Internal header.) */
#ifndef CREDENCE_MATH_SPARSE_LANCZOS_H
#define CREDENCE_MATH_SPARSE_LANCZOS_H

#include "base/context.h"

typedef struct cri_symmetric_map {
    size_t n;
    /* out [k x n] = B A, of the k vectors that are the rows of B [k x n] */
    cr_status (*times)(cr_ctx *cx, void *user, const double *B, size_t k, double *out);
    void  *user;
    size_t block; /* vectors that a product takes best; 0: as many as are wanted */
} cri_symmetric_map;

typedef struct cri_lanczos_options {
    size_t        wanted;    /* 1 .. n */
    double        tolerance; /* until |A v - lambda v| <= tolerance lambda for all of them */
    size_t        max_iter;  /* products with a block */
    uint64_t      seed;
    const double *opt_start; /* [n_start x n] vectors to begin with; the others are random */
    size_t        n_start;
} cri_lanczos_options;

typedef struct cri_lanczos_report {
    size_t iterations; /* products with a block */
    bool   converged;
} cri_lanczos_report;

/* lambda [wanted], descending, and V [wanted x n], orthonormal rows.  Not converging is a result, within max_iter or
 * before the time limit.  An iteration costs a product with a block of b vectors and O(n b m) operations; memory
 * (m + 2 b) n doubles with m = 12 (wanted + 16) at the most, less where that would be more than 2 GB.  The same bits for any
 * number of threads.  Fails as the map does. */
cr_status cri_lanczos(cr_ctx *cx, const cri_symmetric_map *A, const cri_lanczos_options *options,
                      double *lambda, double *V, cri_lanczos_report *out_report);

/* Makes the rows of V [k x n] orthonormal, one after the other; a row that adds nothing to those before it, by less
 * than `least` of its length, becomes 0. */
void cri_orthonormal_rows(double *V, size_t k, size_t n, double least);

/* The same of any rows, all at once where none of them is nearly a combination of the others, by all threads. */
cr_status cri_orthonormalise(cr_ctx *cx, double *V, size_t k, size_t n);

#endif
