/* gmm_directions.h -- the directions in which the covariances of a form can move.  (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_GMM_DIRECTIONS_H
#define CREDENCE_MODELS_LATENT_GMM_DIRECTIONS_H

#include "gmm.h"
#include "base/scratch.h"

/* S_c becomes L_c (I + B_c) L_c^T: B_c by its lower triangle, row after row, or its diagonal, in `size` numbers. */
typedef struct cri_gmm_directions {
    size_t     n, most, size; /* how many, at most so many */
    double    *J;             /* [k][(most + 1) x size]: B_c of each */
    size_t     kinds;         /* volume, shape, orientation */
    cri_range *moving;        /* [k][CRI_GMM_KINDS] those of a kind that move a component */
} cri_gmm_directions;
enum { CRI_GMM_KINDS = 3 };

static inline double *cri_gmm_direction(const cri_gmm_directions *at, size_t c, size_t p)
{
    return at->J + (c * (at->most + 1) + p) * at->size;
}

/* All of them, in memory of `s`. */
cr_status cri_gmm_find_directions(cr_ctx *cx, cr_scratch *s, const cri_gmm *m,
                                  cri_gmm_directions *out);

/* Minus the second derivatives of the objective at a state by the logits of all shares but the last, the means in units
 * of L_c and these directions (gmm_errors.c): *out_F [P x P], its lower triangle, in memory of `s`. */
cr_status cri_gmm_information(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, const cri_gmm *m,
                              cri_gmm_directions *out_at, size_t *out_P, double **out_F);

#endif
