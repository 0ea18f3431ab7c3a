/* trapezoid.h -- the integral of a density given by its logarithm, over the line, by the trapezoid
 * rule: its error falls exponentially with the number of nodes where the density is smooth and dies
 * away at both ends.  Nodes far below the highest are left out; the step is halved until the
 * integral stays as it is.  Trefethen & Weideman (2014), SIAM Review 56.  (Internal header.) */
#ifndef CREDENCE_MATH_TRAPEZOID_H
#define CREDENCE_MATH_TRAPEZOID_H

#include "base/context.h"

enum { CRI_MOST_NODES = 4096, CRI_LEAST_NODES = 9 };

/* What is known at one x; `value` is the caller's own. */
typedef struct cri_node {
    double x, log_density, value;
} cri_node;

/* Fills *out at x. */
typedef cr_status cri_log_density_fn(cr_ctx *cx, void *user, double x, cri_node *out);

/* Nodes a step apart. */
typedef struct cri_trapezoid {
    cri_node   *at; /* [CRI_MOST_NODES] of the caller */
    size_t      n;
    double      step;
    double      drop;   /* nodes so far below the highest are left out        */
    double      enough; /* change of the log integral at which it is finished */
    const char *label;  /* of the progress                                    */
} cri_trapezoid;

/* From x = from to x = to, at first a step of 1 apart; g has its memory, drop, enough and label.
 * Fails as the density does. */
cr_status cri_trapezoid_integrate(cr_ctx *cx, cri_trapezoid *g, cri_log_density_fn *f, void *user,
                                  double from, double to, double *out_log_integral);
/* share [n] = the weights of the nodes, which sum to one. */
void cri_trapezoid_shares(const cri_trapezoid *g, double *share);

#endif
