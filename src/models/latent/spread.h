/* spread.h -- how well the eigenvalues and eigenvectors of a covariance are known.  (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_SPREAD_H
#define CREDENCE_MODELS_LATENT_SPREAD_H

#include "base/context.h"

/* What was decomposed: a covariance of p terms or, where these were divided by their sds, their correlations, which
 * may have a common factor.  All eigenvalues that are not 0, descending, with their vectors; rows, by weight. */
typedef struct cri_decomposed {
    const double *opt_C;      /* [p x p] itself; NULL: made of the others where it is needed */
    const double *V, *lambda; /* [known x p] rows, [known]                                    */
    size_t        p, known;
    bool          standardised;
    double        n;
    const double *opt_sums; /* [q x p] of a covariance: sum_k f_jk v_ka^2; V has the first q then */
} cri_decomposed;

/* What can be found out of q of them in some seconds: neither, the sds of the eigenvalues, or those of the vectors too.
 * For a covariance always all; for correlations an eigenvalue takes O(p^2) operations, or O(known^2 p) without C, and a
 * vector O(p^3). */
typedef enum cri_spread_extent {
    CRI_SPREAD_NOTHING,
    CRI_SPREAD_VALUES,
    CRI_SPREAD_VECTORS
} cri_spread_extent;
cri_spread_extent cri_spread_affordable(size_t p, size_t known, size_t q, bool standardised,
                                        bool has_C);

/* f [known] of direction j, of which the variances of the loadings of a covariance are made: those of v_j are
 * sum_k f_jk v_ka^2 / n.  They mean nothing where another eigenvalue is the same. */
void cri_spread_weights(const cri_decomposed *of, size_t j, double *out_f);

/* So much of the sds of the first q eigenvalues [q] and of their vectors [q x p], for rows from a normal distribution,
 * to first order: Anderson (1963), Annals of Math. Stat. 34; of correlations Girshick (1939), Annals of Math. Stat.
 * 10.  Infinite where they are not found out, and where a vector is not known at all, another eigenvalue being the
 * same. */
cr_status cri_spread(cr_ctx *cx, const cri_decomposed *of, size_t q, cri_spread_extent extent,
                     double *value_sd, double *vector_sd);

#endif
