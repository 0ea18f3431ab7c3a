/* gmm_start.h -- what starts of a mixture (gmm_start.c) and swaps of its components (gmm_swap.c) share.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_GMM_START_H
#define CREDENCE_MODELS_LATENT_GMM_START_H

#include "gmm_tree.h"

/* Moves the means, shares and covariances of m, which has its prior, centre and scale, to start number `attempt`; from
 * the best end so far, or from the tree, where there is one. */
cr_status cri_gmm_start(cr_ctx *cx, const cri_gmm_rows *rows, const cri_gmm_tree *opt_tree,
                        size_t attempt, const cri_gmm *opt_best, cr_rng *rng, cri_gmm *m);

/* Moves m to where swaps from another state lead: one component after the other is moved to another place, and stays
 * there where that gains; `effort` is rows times components of all of them.  Where none gains, m is where the best of
 * them led (away), or the state itself. */
cr_status cri_gmm_swap(cr_ctx *cx, const cri_gmm_rows *rows, const cri_gmm *from, double effort,
                       bool away, cr_rng *rng, cri_gmm *m);

#define CRI_GMM_ENOUGH 1e-6     /* gain per row at which a run on some rows ends */
enum { CRI_GMM_LONG_RUN = 40 }; /* passes over them */

/* Passes over the rows, up to `most` of them, until they gain little; the objective they reach, -INFINITY where they
 * get lost or end in a spurious component. */
cr_status cri_gmm_short_run(cr_ctx *cx, const cri_gmm_rows *rows, size_t most, cri_gmm *m,
                            double *out);

/* The best of several states so far, and the objective that it has reached. */
typedef struct cri_gmm_trial {
    cri_gmm *kept;
    double   best;
} cri_gmm_trial;

cr_status cri_gmm_trial_open(cr_ctx *cx, const cri_gmm *m, cri_gmm_trial *out);
/* A run from m, which is kept where it ends higher. */
cr_status cri_gmm_try(cr_ctx *cx, const cri_gmm_rows *rows, size_t most, cri_gmm *m,
                      cri_gmm_trial *t);
/* Copies what a start is made of. */
void cri_gmm_take(const cri_gmm *from, cri_gmm *to);
/* A row, each as often as its weight times `opt_by` says; the last one where all are 0. */
size_t cri_gmm_draw_row(const cri_gmm_rows *rows, const double *opt_by, cr_rng *rng);

#endif
