/* rvm_classes.h -- which functions, and how strongly each is held back: classification, step by step.
 *   eta_f = sum over the weights of f,   p = logistic eta (F = 1) or softmax eta (F = classes)
 *   log Z ~ log p(classes | w) - sum alpha w^2 / 2 + sum log alpha / 2 - log |H| / 2   at the mode w,
 *   H = diag alpha + Phi^T B Phi,   B_ff' = n_i p_f (1[f = f'] - p_f')   for each input i, of n_i rows
 * Around the mode that is a regression on eta + B^-1 (t - n p) with noise B^-1, whose rules then say what a step would
 * gain (rvm_gauss.h, the noise known):
 *   Q = phi^T (t - n p),   S = phi^T B phi - v^T H^-1 v,   v = Phi^T B phi,   alpha = S^2 / (Q^2 - S).
 * As B moves with the mode, a step counts only where the evidence, computed anew, has risen; else it is taken back.
 * Functions present settle after each new one: O(n M^2) a step, and O(n C M F) for the next look at all.
 * Tipping & Faul (2003), sec. 4.  (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_RVM_RVM_CLASSES_H
#define CREDENCE_MODELS_KERNEL_RVM_RVM_CLASSES_H

#include "rvm_gauss.h"

typedef struct cri_rvm_classes {
    const cri_rvm_basis *basis;
    size_t               F;
    const double        *T;     /* [n x F] rows of the class of each latent function         */
    const double        *count; /* [n] rows of any class                                     */
    size_t  M, capacity;        /* weights, and room                                         */
    size_t *at;                 /* [M] f C + c                                               */
    double *alpha, *weight;
    double *Phi;   /* [M x n] functions of the weights                          */
    double *V;     /* [M x M] H^-1, rows `capacity` apart                       */
    double *p;     /* [n x F]                                                   */
    double *S, *Q; /* [F C], as if absent                                       */
    size_t *place; /* [F C]                                                     */
    bool   *vain;  /* [F C] a step that gained nothing                          */
    double  log_likelihood, evidence;
    size_t  banned, steps;
} cri_rvm_classes;

cr_status cri_rvm_classes_new(cr_ctx *cx, const cri_rvm_basis *basis, size_t F, const double *T,
                              const double *count, cri_rvm_classes *out);
void      cri_rvm_classes_free(cr_ctx *cx, cri_rvm_classes *z);
/* Steps until none gains. */
cr_status cri_rvm_classes_climb(cr_ctx *cx, cri_rvm_classes *z, const cri_rvm_limits *limits,
                                cr_stop *out_stop);
/* As cri_rvm_gauss_exchange. */
cr_status cri_rvm_classes_exchange(cr_ctx *cx, cri_rvm_classes *z, const cri_rvm_limits *limits);
/* A copy, in place of what `to` has; zeroed at first. */
cr_status cri_rvm_classes_copy(cr_ctx *cx, const cri_rvm_classes *from, cri_rvm_classes *to);
/* What the log evidence loses with the weight number m, about; takes it out, and finds the mode. */
double    cri_rvm_classes_loss(const cri_rvm_classes *z, size_t m);
cr_status cri_rvm_classes_drop(cr_ctx *cx, cri_rvm_classes *z, size_t m);
/* All functions present, thinned out.  O((F C)^3) a round. */
cr_status cri_rvm_classes_down(cr_ctx *cx, cri_rvm_classes *z, double strength,
                               const cri_rvm_limits *limits);

/* --- the mode (rvm_laplace.c) ---------------------------------------------------------------- */

/* The mode from the present weights on, and with it p, V, log likelihood and evidence.  O(n M^2 F + M^3) a step. */
cr_status cri_rvm_classes_mode(cr_ctx *cx, cri_rvm_classes *z);
/* n_i p_f (1[f = g] - p_g). */
static inline double cri_rvm_curvature(const cri_rvm_classes *z, size_t i, size_t f, size_t g)
{
    const double *p = z->p + i * z->F;
    return z->count[i] * p[f] * ((f == g) - p[g]);
}

#endif
