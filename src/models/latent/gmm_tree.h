/* gmm_tree.h -- hierarchical clusters of the rows that starts of a mixture are made of: one tree serves every number of
 * components.  (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_GMM_TREE_H
#define CREDENCE_MODELS_LATENT_GMM_TREE_H

#include "gmm.h"

/* What two clusters are merged by: the increase of the squared distances to their centres in columns of equal spread
 * or in whitened ones (Ward), or the loss of likelihood of normal distributions each with its own covariance. */
typedef enum cri_gmm_merging {
    CRI_GMM_WARD,
    CRI_GMM_WARD_WHITENED,
    CRI_GMM_LIKELIHOOD,
    CRI_GMM_MERGINGS
} cri_gmm_merging;

typedef struct cri_gmm_tree {
    size_t  n, leaves; /* rows it is made of, the first of the sample, and how many differ */
    size_t *leaf;      /* [n] */
    size_t *merge
        [CRI_GMM_MERGINGS]; /* [leaves - 1][2]: a leaf of each of the two, in the order of the merges */
} cri_gmm_tree;

/* The trees of the first rows of a sample, as many as take O(n^2 d) operations in moderate time. */
cr_status cri_gmm_tree_new(cr_ctx *cx, const cri_gmm_rows *rows, cri_gmm_tree **out);
void      cri_gmm_tree_free(cr_ctx *cx, cri_gmm_tree *tree);
/* The cluster of each row where there are k of them: label [n], below k; root [leaves] is workspace. */
void cri_gmm_tree_cut(const cri_gmm_tree *tree, cri_gmm_merging by, size_t k, size_t *root,
                      size_t *label);

/* C [d x d] = the covariance of the rows about 0, their mean in t, where missing cells are. */
void cri_gmm_overall_covariance(const cri_gmm_rows *rows, double *C);
/* Y [n x d]: the rows in columns of equal spread, or whitened where that can be; missing cells are at the mean.
 * C [d x d] becomes this covariance; L [d x d] is workspace. */
void cri_gmm_spread_rows(const cri_gmm_rows *rows, bool whiten, double *C, double *L, double *Y);

#endif
