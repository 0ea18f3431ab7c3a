/* svm_solver.h -- the quadratic programme of support vector machines, by decomposition.
 *
 *   minimise  1/2 a^T Q a + p^T a     with  0 <= a_t <= C_t,  y^T a fixed,
 *   Q_tu = y_t y_u k(x_r(t), x_r(u)),  y_t = +1 or -1,
 *
 * over n variables, each of one of m rows (two variables of a row, of opposite signs, in regression); with `groups`
 * the sums of a over both signs are fixed each (the nu formulations).  It is solved in terms of
 *
 *   beta_t = y_t a_t,   F_r = sum_t beta_t k(x_r, x_r(t)),   v_t = -(F_r(t) + y_t p_t) = -y_t (Q a + p)_t:
 *
 * a is optimal where no v_t of a beta that may grow exceeds any v_u of a beta that may fall; by how much the largest
 * does is the violation of the Karush-Kuhn-Tucker conditions.  Between them lies the multiplier b of the constraint.
 *
 * A round takes a working set of up to some hundred variables: half of them the largest violators, the others from the
 * set before.  Within it the kernel is computed once, in double, and pairs of second-order choice are solved for until
 * little is left (svm_block.h); then F follows by the kernel rows of the variables that changed, computed many at a
 * time (svm_rows.h), kept in double where all fit and else in float, while there is memory.  Rows whose variables
 * all sit at a bound and have no reason to leave are put aside, and looked at again before the end: F of all rows is
 * then computed afresh, in double, wherever rounding or rows put aside can have made a difference.
 *
 * The answer has its certificate: with s_t = y_t (v_t - b),
 *
 *   gap = sum_t (C_t - a_t) max(s_t, 0) + a_t max(-s_t, 0) >= objective - least objective,
 *
 * which is primal less dual.  Invariants: a stays within its bounds and keeps its sums; the objective never rises; the
 * same bits on any number of threads.  Cost: O(d m) for each kernel row, O(m) for each use of one; memory: what the
 * kernel rows may take, and O(m).
 * Platt (1998); Joachims (1998), "Making large-scale SVM learning practical"; Fan, Chen & Lin (2005), JMLR 6;
 * Wen et al. (2018), "ThunderSVM", JMLR 19.  (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_SVM_SVM_SOLVER_H
#define CREDENCE_MODELS_KERNEL_SVM_SVM_SOLVER_H

#include "base/context_internal.h"
#include "math/kernel/kernel.h"

typedef struct cri_svm_problem {
    const cr_kernel *kernel;
    cr_kernel_input  rows;     /* m rows                                                */
    const double    *opt_gram; /* [m x m] their kernel, where the caller has it         */
    size_t           n;        /* variables                                             */
    const size_t    *opt_row;  /* [n] r(t); NULL: r(t) = t                              */
    const double    *sign;     /* [n] y, +1 or -1                                       */
    const double    *linear;   /* [n] p                                                 */
    const double    *upper;    /* [n] C, > 0, finite                                     */
    bool             groups;   /* the sums of a over both signs are fixed each          */
} cri_svm_problem;

typedef struct cri_svm_settings {
    double tol;      /* stop where the violation is no more                            */
    size_t max_iter; /* steps of pairs                                                 */
    size_t memory;  /* bytes that kernel rows may take; 0: half of what is left, 4 GB at the most */
    size_t working; /* size of the working set; 0: by the number of rows              */
    bool   shrink;  /* put rows aside                                                 */
    cri_clock clock; /* stop with what there is when it is over                        */
} cri_svm_settings;

typedef struct cri_svm_solution {
    double *alpha;     /* [n] in: where to begin, feasible; out: a                       */
    double *value;     /* [m] out: F                                                     */
    double  b[2];      /* multiplier; with groups of those of y = -1 and y = +1, else equal */
    double  objective; /* 1/2 a^T Q a + p^T a                                            */
    double
        gap; /* objective less a lower bound of the least one; infinite where the time for it was over */
    double violation; /* of the conditions, over all variables                          */
    double quadratic; /* a^T Q a, the squared norm of the function                      */
    size_t steps, rounds;
    bool   converged, late; /* late: the time was over */
} cri_svm_solution;

/* Solves from solution->alpha, which must satisfy the constraints.  Fails with CR_EINTERRUPTED, CR_ENOMEM, CR_EARG;
 * alpha is then overwritten.  Not having converged is a result. */
cr_status cri_svm_solve(cr_ctx *cx, const cri_svm_problem *problem,
                        const cri_svm_settings *settings, cri_svm_solution *solution);

/* out [queries x outputs]: sum_i coef[i x outputs] k(at_i, query) for many rows; O(rows x queries x d). */
cr_status cri_svm_values(cr_ctx *cx, const cr_kernel *kernel, const cr_kernel_input *at,
                         const double *coef, size_t outputs, const cr_kernel_input *queries,
                         double *out);

/* The rows `index` [n] of an input, in the memory of the arena; texts and names are borrowed. */
struct cr_scratch;
cr_status cri_svm_pick(struct cr_scratch *s, const cr_kernel_input *in, const size_t *index,
                       size_t n, cr_kernel_input *out);

#endif
