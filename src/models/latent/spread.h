/* spread.h -- how well the eigenvalues and eigenvectors of a covariance are known.  (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_SPREAD_H
#define CREDENCE_MODELS_LATENT_SPREAD_H

#include "base/context.h"

/* What was decomposed: C [p x p], a covariance or, where terms were divided by their sds, the correlations, which
 * may have a common factor; its eigenvectors V [p x p], in columns; its eigenvalues, descending; rows, by weight. */
typedef struct cri_decomposed {
    const double *C, *V, *lambda;
    size_t        p;
    bool          standardised;
    double        n;
} cri_decomposed;

/* The sds of the first q eigenvalues [q] and of their vectors [q x p], for rows from a normal distribution, to first
 * order: Anderson (1963), Annals of Math. Stat. 34; of correlations Girshick (1939), Annals of Math. Stat. 10.
 * Infinite where a vector is not known at all, another eigenvalue being the same, or where there are too many to find
 * out: O(q p^3). */
cr_status cri_spread(cr_ctx *cx, const cri_decomposed *of, size_t q, double *value_sd,
                     double *vector_sd);

#endif
