/* components.h -- the directions of most variance, and how many: --components of pca, ppca and fa.
 *   N         so many
 *   all       as many as the rows vary in
 *   0.95      the fewest that explain this share of the variance (any number between 0 and 1)
 *   auto      by the evidence of each number of components (Minka 2001)
 *   bic       by Schwarz's criterion of each, of probabilistic PCA
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_COMPONENTS_H
#define CREDENCE_MODELS_LATENT_COMPONENTS_H

#include "base/context.h"

#define CRI_COMPONENTS_HELP                                                                        \
    "number of components, all, the share of the variance that they must explain, auto: the "      \
    "number with the highest evidence, or bic: with the lowest BIC"

/* What the text asks for. */
typedef struct cri_components {
    bool   automatic, bic, all;
    double share; /* 0: none is asked for */
    size_t count;
} cri_components;
/* false where that is nothing. */
bool cri_components_read(const char *text, cri_components *out);

/* Fails with CR_EARG, in words, where the text is none of these. */
cr_status cri_components_check(cr_ctx *cx, const char *model, const char *text);

/* The eigenvalues lambda [p] of the covariance C [p x p], descending, and its eigenvectors in the columns of V
 * [p x p], the largest number of each (the first of several) made positive; *out_rank: how many are not 0, the others
 * being set to it. */
cr_status cri_directions(cr_ctx *cx, const double *C, size_t p, double *lambda, double *V,
                         size_t *out_rank);

/* The variances of rows along all p directions, descending, divisor n; those from `rank` on are 0. */
typedef struct cri_spectrum_of {
    const double *variance; /* [p] */
    size_t        p, rank;
    double        n; /* rows, by their weight */
} cri_spectrum_of;

/* Between 1 and p, at most rank where that is above 0; warns where fewer are there than asked for. */
size_t cri_components_choose(cr_ctx *cx, const char *model, const char *text,
                             const cri_spectrum_of *of);

/* log p(rows | q components), Laplace's approximation to the integral over mean, directions, variances and
 * noise, up to a constant that is the same for all q < p.  Minka (2001), Automatic choice of dimensionality for
 * PCA, NIPS 13. */
double cri_components_evidence(const cri_spectrum_of *of, size_t q);

/* Schwarz's criterion of probabilistic PCA with q < p components, up to a constant that is the same for all. */
double cri_components_bic(const cri_spectrum_of *of, size_t q);

#endif
