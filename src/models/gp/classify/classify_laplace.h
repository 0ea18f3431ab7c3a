/* classify_laplace.h -- Laplace's approximation of a Gaussian process with a likelihood of classes.
 *   f_c ~ GP(0, k) for each latent function c,   c_g ~ p(. | f_g) at the distinct inputs g
 *   mode:  f = K a,  a = d log p / df;   W = -d2 log p / df2;   posterior ~ N(f, (K^-1 + W)^-1)
 *   log evidence ~ log p(c | f) - a . f / 2 - log|I + K W| / 2
 * Two classes have one function f; B = I + W^1/2 K W^1/2 has no eigenvalue below 1, so that its
 * Cholesky factor L always exists.  More classes have one function each with the same kernel: W
 * couples them at each input, W = D - D R N^-1 R^T D (D = diag(N_g p_gc), R stacked identities, N_g
 * the weight at g), and
 *   E_c = (K + D_c^-1)^-1,  O = sum_c E_c,   (K + W^-1)^-1 = E - E R O^-1 R^T E,
 *   log|I + K W| = sum_c log|B_c| + log|O| - sum_g log N_g.
 * Newton's steps, halved where the log posterior would fall; it is concave, the mode is one.  A
 * factor serves for further steps, which cost O(n^2), for as long as each is at most a third of the
 * one before.  Gradient by the parameters of k: W is fixed at the mode, which moves:
 *   sum_ij dK_ij [ sum_c (a_c a_c^T - S_cc) / 2 + (u_c a_c^T + a_c u_c^T) / 2 ],   S = (K + W^-1)^-1,
 *   u = (I - S K) s,  s = -1/2 d log|I + K W| / df.
 * O(n^3) a Newton step, twice that for the gradient; F times that and more for F > 1 functions.
 * Rasmussen & Williams (2006), alg. 3.1, 3.3, 5.1; their alg. 3.3 lacks log|O|.  (Internal
 * header.) */
#ifndef CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_LAPLACE_H
#define CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_LAPLACE_H

#include "classify_link.h"
#include "models/gp/search/gp_learn.h"
#include "base/scratch.h"

/* What the rows say: distinct inputs, and the weight of the rows of each class there. */
typedef struct cri_classify_data {
    const cri_gp_data *at;
    cri_classify_link  link;
    size_t             F, C;   /* latent functions: 1 for two classes, else C         */
    const double      *counts; /* [n x C]; two classes: first that of f > 0           */
} cri_classify_data;

/* The weights of the inputs of `part`, which are among those of `all`, in the same order: out [part
 * x C]. */
void cri_classify_take(const cri_classify_data *all, const cri_gp_data *part, double *out);

/* Workspace, and what comes of it.  It remembers the mode of the inputs it saw last, from
 * where the next search for it begins. */
typedef struct cri_laplace {
    const cri_classify_data *all;
    double                  *counts; /* [n x C] of the inputs at hand                        */
    double                  *K, *L;  /* [n x n]; L: the factor of B, or of O                 */
    double                  *E;      /* [F x n x n] E_c; F > 1 only                          */
    double                  *f, *a;  /* [F x n] the mode                                     */
    double                  *root;   /* [F x n] W^1/2, or D^1/2, at f                        */
    double                  *held;   /* [F x n] the same where L and E were made             */
    double                  *p;      /* [F x n] probabilities; F > 1 only                    */
    double                  *slope, *third; /* [F x n] d log p / df, and F = 1: d3 log p / df3 */
    const cri_gp_data       *seen; /* the inputs that f and a are of; NULL: none           */
    size_t                   seen_n;
    double                   log_posterior, log_likelihood, log_det, log_evidence;
    size_t                   iterations;
    bool                     converged;
} cri_laplace;

/* Workspace for n inputs, from the arena; L and E too where they are not given. */
cr_status cri_laplace_new(cr_scratch *s, const cri_classify_data *all, size_t n, double *opt_L,
                          double *opt_E, cri_laplace *out);
/* How many n x n matrices of numbers it takes at the most. */
double cri_laplace_matrices(size_t F);
/* Mode and evidence at the inputs of problem->data, and by theta its gradient: a cri_gp_objective
 * whose method is a cri_laplace; the noise means nothing and has gradient 0.  With opt_gradient L
 * and E are overwritten, else they hold the factors at the mode. */
cri_gp_objective cri_laplace_objective;
/* factor [F x n x n] := those of B_c at the mode, for predictions with F > 1; may be E. */
cr_status cri_laplace_factors(cr_ctx *cx, const cri_laplace *workspace, double *factor);

/* --- shared by the two forms ----------------------------------------------------------------- */

/* B [n x n] := the factor of I + diag(root) K diag(root). */
cr_status cri_laplace_factor(cr_ctx *cx, size_t n, const double *K, const double *root, double *B);
/* The same of F functions: factor [F x n x n], root [F x n]. */
cr_status cri_laplace_factor_each(cr_ctx *cx, size_t n, size_t F, const double *K,
                                  const double *root, double *factor);
/* Of F functions that depend on each other: all E_c [F x n x n], O [n x n] := its factor, and sum_c log|B_c| + log|O|. */
cr_status cri_laplace_couple(cr_ctx *cx, size_t n, size_t F, const double *K, const double *root,
                             double *E, double *O, double *out_log_det);
/* The lower triangle of (a a^T - root B^-1 root + u a^T + a u^T) / 2 over B^-1 [n x n]. */
cr_status cri_laplace_weigh(cr_ctx *cx, size_t n, const double *root, const double *a,
                            const double *u, double *B);

/* What differs between one function and more. */
typedef struct cri_laplace_form {
    /* log p, slopes, roots and log posterior at f and a; workspace [F].  Pure. */
    void (*look)(cri_laplace *workspace, size_t n, double *opt_workspace);
    /* L, E and log_det with the roots as they are. */
    cr_status (*factor)(cr_ctx *cx, size_t n, cri_laplace *workspace);
    /* a and f to where Newton's step leads, with L, E and W as they are held. */
    cr_status (*move)(cr_ctx *cx, size_t n, cri_laplace *workspace);
    /* V [n x n] := in its lower triangle the matrix in brackets above; L and E are overwritten. */
    cr_status (*weigh)(cr_ctx *cx, size_t n, cri_laplace *workspace, double *V);
} cri_laplace_form;
extern const cri_laplace_form cri_laplace_many;

#endif
