/* svm_block.h -- a working set whose kernel is at hand, by sequential minimal optimisation and Newton's method.
 * A step moves two variables against each other, beta_i by +d and beta_j by -d: i may grow and has the largest v, j may
 * fall and promises most, (v_i - v_j)^2 / (k_ii + k_jj - 2 k_ij) (Fan, Chen & Lin 2005, WSS 2).  O(q) a step.  Where
 * many steps have not been enough, rows being nearly dependent, all variables off their bounds move together towards
 * the optimum that they would have without bounds, until one of them meets its own (svm_newton.c).  O(q^3) a step.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_SVM_SVM_BLOCK_H
#define CREDENCE_MODELS_KERNEL_SVM_SVM_BLOCK_H

#include "base/context.h"

typedef struct cri_svm_block {
    size_t        q;
    const double *K; /* [rows x stride] kernel between the rows of the variables             */
    size_t        stride;
    const size_t *row; /* [q] of each variable, of K                                           */
    double *beta, *v;  /* [q] in and out                                                       */
    const double *least,
        *most; /* [q] bounds of beta                                                  */
    const unsigned char
        *group; /* [q] 0 or 1: only variables of one group move against each other      */
} cri_svm_block;

/* Steps until the violation within the set is at most tol, or `most_steps` were made; *out_steps how many.  Fails with
 * CR_EINTERRUPTED, CR_ENOMEM. */
cr_status cri_svm_block_solve(cr_ctx *cx, const cri_svm_block *block, double tol, size_t most_steps,
                              size_t *out_steps);
/* One face after another, while some variable meets a bound; *out_steps how many.  The objective never rises. */
cr_status cri_svm_block_newton(cr_ctx *cx, const cri_svm_block *block, size_t *out_steps);

#endif
