/* pca.h -- the state of principal components.  (Internal header.) */
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

#endif
