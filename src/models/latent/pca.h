/* pca.h -- the state of principal components, and the roads to them.
 *   moments   C [p x p] from sums over the rows: exact, O(n p^2 + p^3), and the rows are not needed again   pca.c
 *   dual      Z Z' [n x n], of fewer rows than columns: exact, O(n^2 p + n^3)                               pca_wide.c
 *   krylov    products with the rows alone, until |C v - lambda v| is small: the first directions          pca_wide.c
 * Z: the rows centred and scaled (centred.h).  (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_PCA_H
#define CREDENCE_MODELS_LATENT_PCA_H

#include "spread.h"
#include "models/common/coordinates.h"
#include "models/common/moments.h"
#include "models/core/class.h"

typedef enum cri_pca_solver { CRI_PCA_MOMENTS, CRI_PCA_DUAL, CRI_PCA_KRYLOV } cri_pca_solver;

/* clang-format off */
#define CRI_PCA(MEMBER)                                                                            \
    MEMBER(part,   moments,       (cri_moments), "none inside", "what update needs; absent in the other roads") \
    MEMBER(count,  p,             (),     "",         "terms")                                     \
    MEMBER(count,  q,             (),     ">0",       "components")                                \
    MEMBER(vector, centre,        (p),    "",         "means of the terms")                        \
    MEMBER(vector, scale,         (p),    ">0",       "what they are divided by")                  \
    MEMBER(matrix, loading,       (q, p), "",         "v_j, of length 1")                          \
    MEMBER(matrix, loading_sd,    (q, p), ">=0 any none", "infinite: not known; absent: none is")  \
    MEMBER(vector, eigenvalue,    (q),    ">=0",      "lambda, divisor n - 1")                     \
    MEMBER(vector, eigenvalue_sd, (q),    ">=0 any",  "of these; infinite: not known")             \
    MEMBER(real,   total,         (),     ">=0",      "sum of all lambda")                         \
    MEMBER(count,  solver,        (),     "spare",    "cri_pca_solver")                            \
    MEMBER(count,  iterations,    (),     "spare",    "products with a block of vectors, of krylov") \
    MEMBER(real,   residual,      (),     ">=0 spare", "the largest |C v - lambda v| / lambda, likewise")
/* clang-format on */

CRI_RECORD(cri_pca, CRI_PCA, cri_coordinates at;);
extern const cri_member cri_pca_record[];

/* Allocates a state of p and q and fills in what was found: centre and scale [p], and of `of` the first q directions,
 * of which those with an eigenvalue of 0 become 0, and their sds as far as `extent`. */
cr_status cri_pca_keep(cr_ctx *cx, const double *centre, const double *scale,
                       const cri_decomposed *of, cri_spread_extent extent, cri_pca *m);

/* What the roads that need the rows are asked for. */
typedef struct cri_pca_question {
    const char *components;
    double      tolerance; /* of krylov: |C v - lambda v| <= tolerance lambda */
    size_t      max_iter;
    uint64_t    seed;
} cri_pca_question;

/* Both fill a zeroed state in, and set stop and iterations of the report.  Same bits for any number of threads. */
cr_status cri_pca_dual(cr_ctx *cx, const cri_rows *rows, const cri_pca_question *ask, cri_pca *m,
                       cr_report *report);
cr_status cri_pca_krylov(cr_ctx *cx, const cri_rows *rows, const cri_pca_question *ask, cri_pca *m,
                         cr_report *report);

#endif
