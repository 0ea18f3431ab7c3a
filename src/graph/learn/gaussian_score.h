/* gaussian_score.h -- scores of linear-Gaussian networks that are sums over families, from the moments of the rows.
 *   x_v | parents ~ N(b + w . x_parents, s)
 *   loglik  -n/2 (1 + log(2 pi s)),  s: the mean square that parents leave of v
 *   aic     loglik - (k + 2)           bic     loglik - (k + 2) log(n) / 2,  k parents
 *   bge     log p(rows of v and parents) - log p(rows of parents), each under
 *           mean | P ~ N(m, (alpha_m P)^-1),  P ~ Wishart(alpha_w, T^-1),  T = t I,  m the means of the rows,
 *           alpha_m the prior rows, alpha_w = p + alpha_m + 1,  t = alpha_m (alpha_w - p - 1) / (alpha_m + 1)
 * The columns are scaled, so that a score does not depend on units; bge then is that of the scaled rows.  All but bge
 * leave out families whose parents determine each other or that have as many parameters as there are rows: -INFINITY.
 * Networks of one equivalence class have one score.  O(k^3) for a family.
 * Geiger & Heckerman (2002), Annals of Statistics 30; Kuipers, Moffa & Heckerman (2014), Annals of Statistics 42.
 * (Internal header.) */
#ifndef CREDENCE_GRAPH_LEARN_GAUSSIAN_SCORE_H
#define CREDENCE_GRAPH_LEARN_GAUSSIAN_SCORE_H

#include "local_score.h"

typedef enum cri_gaussian_score_kind {
    CRI_GAUSSIAN_BIC,
    CRI_GAUSSIAN_AIC,
    CRI_GAUSSIAN_BGE,
    CRI_GAUSSIAN_LOGLIK
} cri_gaussian_score_kind;

typedef struct cri_gaussian_cases {
    size_t p;
    double n; /* rows, by weight */
    const double
        *S; /* [p x p] covariance of the scaled columns, divisor n, positive on the diagonal */
    const double *
        scale; /* [p] what they were divided by: likelihoods are those of the columns as they are */
} cri_gaussian_cases;

/* The score of such a kind for these cases, which must outlive it; in the arena.  rows: of the prior of bge, > 0. */
cr_status cri_gaussian_score(cr_scratch *s, const cri_gaussian_cases *cases,
                             cri_gaussian_score_kind kind, double rows, cri_score_source *out);

/* What the parents [n] leave of the variance of a child, as a share of it; NaN where they determine each other.
 * opt_weight [n]: the weights of least squares, of the scaled columns; opt_inverse [n x n]: the inverse of the covariance
 * of the parents.  workspace [(n + 1)^2 + n]. */
double cri_gaussian_regress(const cri_gaussian_cases *cases, size_t child, const uint32_t *parents,
                            size_t n, double *opt_weight, double *opt_inverse, double *workspace);

#endif
