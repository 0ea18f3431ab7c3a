/* pca.h -- the state of principal components, and how well they are known.  (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_PCA_H
#define CREDENCE_MODELS_LATENT_PCA_H

#include "models/common/coordinates.h"
#include "models/common/moments.h"
#include "models/core/class.h"

/* clang-format off */
#define CRI_PCA(MEMBER)                                                                            \
    MEMBER(part,   moments,       (cri_moments), "inside", "what update needs")                    \
    MEMBER(count,  p,             (),     "",         "terms")                                     \
    MEMBER(count,  q,             (),     ">0",       "components")                                \
    MEMBER(vector, centre,        (p),    "",         "means of the terms")                        \
    MEMBER(vector, scale,         (p),    ">0",       "what they are divided by")                  \
    MEMBER(matrix, loading,       (q, p), "",         "v_j, of length 1")                          \
    MEMBER(matrix, loading_sd,    (q, p), ">=0 any",  "infinite: not known")                       \
    MEMBER(vector, eigenvalue,    (q),    ">=0",      "lambda, divisor n - 1")                     \
    MEMBER(vector, eigenvalue_sd, (q),    ">=0",      "of these")                                  \
    MEMBER(real,   total,         (),     ">=0",      "sum of all lambda")
/* clang-format on */

CRI_RECORD(cri_pca, CRI_PCA, cri_coordinates at;);

/* The sds of eigenvalues and loadings of m by first-order perturbation of C, for rows from a normal
 * distribution: C [p x p] is what was decomposed, V [p x p] its eigenvectors (columns) and lambda [p] its
 * eigenvalues, descending.  Anderson (1963), Annals of Math. Stat. 34; where the terms were divided by their
 * sds, which are estimates too, C is a correlation matrix (up to a factor), after Girshick (1939), Annals of
 * Math. Stat. 10.  O(q p^3), or O(q p^2) with C a covariance; without sds of loadings beyond MOST operations. */
cr_status cri_pca_spread(cr_ctx *cx, const double *C, const double *V, const double *lambda,
                         bool standardised, double n, cri_pca *m);

#endif
