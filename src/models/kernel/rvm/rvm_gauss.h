/* rvm_gauss.h -- which functions, and how strongly each is held back: the evidence of regression, step by step.
 *   y = Phi w + e,   w_m ~ N(0, s^2 / a_m),   e_i ~ N(0, s^2 r_i)
 * a_m is the prior precision of a weight times the noise s^2.  In these ratios the noise has a maximum of its own,
 *   E = y^T B^-1 y,   B = diag r + Phi A^-1 Phi^T,   s^2 = E / N,
 *   -2 log p(y) = N log 2 pi s^2 + N + log |B|   (and what rows of equal inputs add),
 * which is put in place of s^2 throughout, so that it is never out of date.  Of one function, all others held,
 *   E(a) = E - Q^2 / (a + S),   log |B(a)| = log |B| + log(1 + S / a),
 *   S = phi^T B^-1 phi,   Q = phi^T B^-1 y   (B and E without it),
 * so that its a of the largest evidence is S (E S - Q^2) / (N Q^2 - S E), or infinite, and the function absent, where
 * N Q^2 <= S E.  With a known noise it is S^2 / (Q^2 / s^2 - S).  A step adds, changes or deletes the function that gains
 * most: O(M C) after O(n C) for a new one; M functions present of C.  Where only changes are left, all a are moved at
 * once.  The evidence rises with every step.
 * Tipping & Faul (2003), AISTATS; Faul & Tipping (2002), NIPS 14.  (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_RVM_RVM_GAUSS_H
#define CREDENCE_MODELS_KERNEL_RVM_RVM_GAUSS_H

#include "rvm_basis.h"
#include "base/context_internal.h"

/* What is at its best: the evidence as above; or counted, times (1/C)^(M/2), the chances of so many functions before any
 * row was seen, and, with a prior of the noise that is flat in s up to the sd of the target, integrated over s:
 * N - 1 takes the place of N, and there is nothing to gain by s = 0. */
typedef enum cri_rvm_hyper { CRI_RVM_COUNTED, CRI_RVM_BEST } cri_rvm_hyper;

typedef struct cri_rvm_gauss {
    const cri_rvm_basis *basis;
    double  count, total; /* N, or N - 1; y^T R^-1 y with what merged rows differ by           */
    double  price, unit;  /* off the log evidence: of a function; of the noise       */
    double  given, floor; /* the noise, NaN: learned, and not below the floor        */
    size_t  M, capacity;  /* functions present; room                                 */
    size_t *at;           /* [M] which                                               */
    double *a, *mu;       /* [M] and the means of their weights                      */
    double *P;            /* [M x C] products with all functions, weighted           */
    double *H;            /* [M x M] (diag a + Phi^T R^-1 Phi)^-1, rows `capacity` apart */
    double *diag, *proj;  /* [C] phi^T R^-1 phi and phi^T R^-1 y                     */
    double *S, *Q;        /* [C] of all functions, as if absent                      */
    size_t *place;        /* [C] the number of each among those present, or SIZE_MAX */
    double  E, log_det;   /* of B, without the constant sum log r                    */
    size_t  sound_M, *sound_at; /* where the evidence was `sound` by a fresh computation   */
    double *sound_a, sound;
    size_t  banned; /* a function that may not be looked at; SIZE_MAX: none */
    size_t  steps;
} cri_rvm_gauss;

typedef struct cri_rvm_limits {
    double    tol; /* a gain that counts as none */
    size_t    max_steps;
    cri_clock clock;
} cri_rvm_limits;

/* No function present.  noise NaN: learned. */
cr_status cri_rvm_gauss_new(cr_ctx *cx, const cri_rvm_basis *basis, double noise, double floor,
                            cri_rvm_hyper hyper, cri_rvm_gauss *out);
void      cri_rvm_gauss_free(cr_ctx *cx, cri_rvm_gauss *g);
/* All functions present, their prior variance together 1 / strength times the noise, and thinned out while all a are
 * re-estimated at once (rvm_down.c).  Of a basis that has its
 * gram.  O(C^3) for each round. */
cr_status cri_rvm_gauss_down(cr_ctx *cx, cri_rvm_gauss *g, double strength,
                             const cri_rvm_limits *limits);
/* Steps until none gains; *out_stop: tolerance, limit or time. */
cr_status cri_rvm_gauss_climb(cr_ctx *cx, cri_rvm_gauss *g, const cri_rvm_limits *limits,
                              cr_stop *out_stop);
/* From there to the digits of the optimum. */
cr_status cri_rvm_gauss_finish(cr_ctx *cx, cri_rvm_gauss *g, const cri_rvm_limits *limits);
/* The same in haste: nothing is computed afresh. */
cr_status cri_rvm_gauss_settle(cr_ctx *cx, cri_rvm_gauss *g, const cri_rvm_limits *limits);
/* A copy, in place of what `to` has; zeroed at first. */
cr_status cri_rvm_gauss_copy(cr_ctx *cx, const cri_rvm_gauss *from, cri_rvm_gauss *to);
/* From an end of steps on: each function in turn, those that matter least first, is taken out for good, and the others
 * settle without it; kept where the evidence is no smaller (rvm_exchange.c). */
cr_status cri_rvm_gauss_exchange(cr_ctx *cx, cri_rvm_gauss *g, const cri_rvm_limits *limits);
/* What the log evidence loses with the function number m; takes it out. */
double    cri_rvm_gauss_loss(const cri_rvm_gauss *g, size_t m);
cr_status cri_rvm_gauss_drop(cr_ctx *cx, cri_rvm_gauss *g, size_t m);
/* All a at once, towards the next optimum: at most so many steps, while they gain more than this share of the log
 * evidence (rvm_joint.c). */
cr_status cri_rvm_gauss_move(cr_ctx *cx, cri_rvm_gauss *g, size_t most, double tol);
/* H, mu, E and log_det afresh from `at` and `a`; then S and Q. */
cr_status cri_rvm_gauss_factor(cr_ctx *cx, cri_rvm_gauss *g);
cr_status cri_rvm_gauss_refresh(cr_ctx *cx, cri_rvm_gauss *g);
/* These functions present, M of them, with these a. */
cr_status cri_rvm_gauss_set(cr_ctx *cx, cri_rvm_gauss *g, const size_t *at, const double *a,
                            size_t M);
/* Takes out the functions that keep [M] does not name; H and mu are then out of date. */
void cri_rvm_gauss_thin(cri_rvm_gauss *g, const bool *keep);
/* s^2 at E. */
double cri_rvm_gauss_noise(const cri_rvm_gauss *g, double E);
/* The log evidence; exact after refresh. */
double    cri_rvm_gauss_evidence(const cri_rvm_gauss *g);
cr_status cri_rvm_gauss_reserve(cr_ctx *cx, cri_rvm_gauss *g, size_t capacity);

#endif
