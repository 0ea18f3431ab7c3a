/* nuts.h -- the No-U-Turn sampler.
 *   H(y, p) = -log p(x(y)) + p^T p / 2,   x = diag(sigma) R y (metric.h)
 * A draw walks along the trajectory of H in both directions, doubling it until it turns back, and
 * takes one of its points with probability proportional to exp(-H): multinomial, with a bias
 * towards the newer half (Betancourt 2017, A.3.2); the turn is judged by the sum of momenta over
 * each sub-tree and across the seam of its halves.
 * Warm-up learns the step by dual averaging (Hoffman & Gelman 2014, sec. 3.2) and the metric from draws
 * and gradients, in windows that forget the way there.  O(2^depth) gradients a draw, O(n depth) memory.  (Internal header.) */
#ifndef CREDENCE_PROB_MC_NUTS_H
#define CREDENCE_PROB_MC_NUTS_H

#include "target.h"

typedef struct cri_nuts_options {
    size_t warmup, draws;
    double accept; /* the acceptance that the step aims at: 0.8                            */
    size_t depth;  /* trajectories have at most 2^depth - 1 steps: 10                       */
    const struct cri_clock *opt_clock; /* once it is over, a few draws end the chain           */
} cri_nuts_options;

/* What is known of each kept draw besides x. */
typedef struct cri_nuts_note {
    double  log_density, accept, energy, step;
    size_t  leapfrogs;
    uint8_t depth;
    bool    diverged;
} cri_nuts_note;

/* One chain from x [n]: out_draws [draws x n], out_notes [draws]; *out_made of them, fewer where the
 * time is over, but CRI_NUTS_LEAST at least.  `chain` is of cri_target_open. */
enum { CRI_NUTS_LEAST = 4 };
cr_status cri_nuts_chain(cr_ctx *cx, const cri_target *target, void *chain,
                         const cri_nuts_options *o, cr_rng *rng, const double *start,
                         double *out_draws, cri_nuts_note *out_notes, size_t *out_made,
                         size_t *out_gradients);

#endif
