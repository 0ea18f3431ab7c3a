/* anderson.h -- Anderson's acceleration of a fixed-point iteration x -> G(x).
 * With f(x) = G(x) - x, and the differences of f and G between the last points, the next point is
 *   G_k - sum_i g_i dG_i,    g = argmin |f_k - sum_i g_i df_i|^2 + r sum_i g_i^2 |df_i|^2,
 * a secant step for f = 0 in the directions that were seen: where G is nearly linear, as EM is near its end, a few
 * differences stand for many steps.  The small ridge r keeps rounding from being magnified by differences that are
 * nearly dependent.  Nothing here makes the steps safe: the caller compares what a point is worth, and forgets.
 * O(m^2 + m n) a step.  Anderson (1965), J. ACM 12; Walker & Ni (2011), SIAM J. Numerical Analysis 49; for EM
 * Henderson & Varadhan (2019), J. Computational and Graphical Statistics 28.  (Internal header.) */
#ifndef CREDENCE_MATH_OPTIM_ANDERSON_H
#define CREDENCE_MATH_OPTIM_ANDERSON_H

#include "base/scratch.h"

typedef struct cri_anderson {
    size_t n, m, k,
        next;        /* room for m differences of n numbers, k are there; where the next goes */
    bool    started; /* there is a last point */
    double *F, *G;   /* [m x n] differences of f and of G */
    double *f, *g;   /* [n] at the last point */
    double *A, *b;   /* [m x m], [m] */
} cri_anderson;

/* Room for m differences of n numbers; what fails is in the status of the arena. */
void cri_anderson_begin(cr_scratch *s, size_t n, size_t m, cri_anderson *out);
/* The iteration begins anew. */
void cri_anderson_forget(cri_anderson *a);
/* Notes a point x [n] and g = G(x). */
void cri_anderson_note(cri_anderson *a, const double *x, const double *g);
/* out [n] = the next point; G(x) itself as long as there is no difference. */
cr_status cri_anderson_next(cr_ctx *cx, cri_anderson *a, double *out);

#endif
