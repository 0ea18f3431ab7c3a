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

/* 1 or -1: the sign of the largest number of v [p], of the first where several are as large. */
double cri_direction_sign(const double *v, size_t p);
/* How many of n eigenvalues, descending, of a covariance of p columns with this trace are more than rounding. */
size_t cri_rank(const double *lambda, size_t n, size_t p, double total);

/* The eigenvalues lambda [p] of the covariance C [p x p], descending, and its eigenvectors, the rows of V [p x p], the
 * largest number of each made positive; *out_rank: how many are not 0, the others being set to it. */
cr_status cri_directions(cr_ctx *cx, const double *C, size_t p, double *lambda, double *V,
                         size_t *out_rank);

/* The variances of rows along the `rank` directions that they vary in, descending.  Where only the first are known, the
 * others have the sum `rest`, and are taken to fall geometrically from the last that is known. */
typedef struct cri_spectrum_of {
    const double *variance; /* [known] */
    size_t        known, rank;
    double        n;    /* rows, by their weight */
    double        rest; /* 0 where known = rank  */
} cri_spectrum_of;

/* true when the text is a number of components. */
bool cri_components_given(const char *text);
/* How many to find at first, when they are found one after the other: at least 1, at most `most`. */
size_t cri_components_first(const char *text, size_t most);
/* true when what is known decides how many components there are. */
bool cri_components_decided(const char *text, const cri_spectrum_of *of);

/* Between 1 and the number known; warns where fewer are there than asked for, and where those known do not decide. */
size_t cri_components_choose(cr_ctx *cx, const char *model, const char *text,
                             const cri_spectrum_of *of);

/* log p(rows | q components), q = 1 .. min(known, rank - 1): Laplace's approximation to the integral over mean,
 * directions, variances and noise, up to a constant that is the same for all q.  Minka (2001), Automatic choice of
 * dimensionality for PCA, NIPS 13. */
double cri_components_evidence(const cri_spectrum_of *of, size_t q);

/* Schwarz's criterion of probabilistic PCA with so many components, up to a constant that is the same for all. */
double cri_components_bic(const cri_spectrum_of *of, size_t q);

#endif
