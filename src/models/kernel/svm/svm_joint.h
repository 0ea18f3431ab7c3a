/* svm_joint.h -- many classes by one machine, whose functions are found together.
 *   minimise  1/2 sum_k (|w_k|^2 + b_k^2) + sum_i c_i max_k (e_ik + f_k(x_i) - f_y(i)(x_i)),   f_k(x) = w_k . phi(x) + b_k,
 * e_ik = 0 for k = y(i), else 1; c_i = C w_i.  The constants are in the norm, which makes the kernel k + 1 of k.  The dual
 * has a block a_i of K variables for each row, held by its own simplex:
 *   minimise  D(A) = 1/2 sum_k A_k^T (K + 1) A_k - sum_i a_i,y(i),    sum_k a_ik = 0,  a_ik <= c_i for k = y(i), else <= 0,
 *   f_k(x) = sum_i a_ik (k(x_i, x) + 1),    g_ik = f_k(x_i) + e_ik the slope of D.
 * A step solves for one block exactly, in O(K) beside its kernel row, by a threshold on its slope.  A block is optimal where
 * no g_ik exceeds one of those that may grow; by how much the largest does is its violation.  The certificate
 *   gap = sum_ik (c_i [k = y(i)] - a_ik) (max_l g_il - g_ik)  >=  D(A) - min D
 * is primal less dual, and like the objective a sum over classes.
 * Crammer & Singer (2001), JMLR 2; Keerthi, Sundararajan, Chang, Hsieh & Lin (2008), KDD.  (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_SVM_SVM_JOINT_H
#define CREDENCE_MODELS_KERNEL_SVM_SVM_JOINT_H

#include "linear_rows.h"
#include "svm_solver.h"

typedef struct cri_svm_joint_problem {
    size_t        n, K;
    const double *y;    /* [n] classes, 0 .. K-1 */
    const double *cost; /* [n] c, >= 0; a row of 0 has no part */
} cri_svm_joint_problem;

typedef struct cri_svm_joint_solution {
    double *A;                      /* [n x K] in: zeros; out                                  */
    double *b;                      /* [K] out: the sums of its columns                        */
    double *objective, *gap, *norm; /* [K] out: the parts of D and of the gap; |w_k|            */
    double  violation;
    size_t  steps; /* blocks that were solved */
    bool    converged, late;
} cri_svm_joint_solution;

/* Of any kernel: rounds of working sets, as svm_solver.h has them, none put aside.  O(d n) for each kernel row, O(n K) for
 * each use of one.  Fails with CR_EINTERRUPTED, CR_ENOMEM.  Not having converged is a result. */
cr_status cri_svm_joint_solve(cr_ctx *cx, const cri_svm_joint_problem *problem,
                              const cr_kernel *kernel, const cr_kernel_input *rows,
                              const cri_svm_settings *how, cri_svm_joint_solution *out);
/* Of the linear kernel, by its weights W [K x p] (out): sweeps over the rows in random order, those that have stayed out
 * left out until the others are done.  opt_centre [p] is taken off the rows.  The tolerance counts
 * for the gap: a hundredth of it, relative to the objective.  O(entries K) a sweep, at most `sweeps` of
 * them. */
cr_status cri_svm_joint_solve_linear(cr_ctx *cx, const cri_svm_joint_problem *problem,
                                     const cri_svm_linear_rows *rows, const double *opt_centre,
                                     const cri_svm_settings *how, size_t sweeps, double *W,
                                     cri_svm_joint_solution *out);

/* --- inside ---------------------------------------------------------------------------------- */

/* The block of row i, a [K], at which D is least, given its slope g [K] at the block as it is and k(x_i, x_i) + 1.  Pure. */
void cri_svm_joint_step(const cri_svm_joint_problem *problem, size_t i, double curve,
                        const double *g, double *a);
/* The violation of a block with slope g.  Pure. */
double cri_svm_joint_violation(const cri_svm_joint_problem *problem, size_t i, const double *g,
                               const double *a);
/* The parts of the gap of row i are added to gap [K].  Pure. */
void cri_svm_joint_add_gap(const cri_svm_joint_problem *problem, size_t i, const double *g,
                           const double *a, double *gap);

#endif
