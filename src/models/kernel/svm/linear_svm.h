/* linear_svm.h -- linear support vector machines, for classes and numbers, of any number of rows.
 *   minimise  P(w, b) = R(w) + sum_k c_k l(t_k - s_k (x_k . w + b)),
 *   R(w) = |w|^2 / 2 or |w|_1,   l(u) = max(u, 0) or max(u, 0)^2.
 * A *piece* k is a row with a sign s_k, a target t_k and a cost c_k; that of row i is piece i and, of numbers,
 * piece n + i too.  A class s = +-1 is one piece with t = 1 (the hinge); a number y is two, (s, t) = (1, y - e)
 * and (-1, -y - e), which together cost nothing within e of it.  b is not penalised, so that it does not matter where the
 * columns have their 0.  The dual of R = |w|^2 / 2, which certifies every answer:
 *   maximise  D(a) = t . a - |X'(s a)|^2 / 2 [- sum_k a_k^2 / (4 c_k)],   0 <= a_k [<= c_k],   s . a = 0,
 * in brackets what the squared loss adds and what it takes away; w = X'(s a).  Of R = |w|_1:
 *   maximise  t . a - sum_k a_k^2 / (4 c_k),   a >= 0,   |X'(s a)| <= 1,   s . a = 0.
 * Any feasible a bounds P from below: gap = P - D >= P - min P.
 *
 * Methods (automatic: the first that serves):
 *   interior    hinge, few columns: a primal-dual interior point, whose step costs the cross-products of the columns;
 *               some twenty steps whatever c is.          Mehrotra (1992); Ferris & Munson (2002), SIAM J. Optim. 13
 *   smooth      the same of many rows: Newton's method on smoothed hinges, of the pieces near the margin
 *               Chapelle (2007), Neural Computation 19; Yan & Li (2020), J. Mach. Learn. Res. 21
 *   coordinate  hinge or square: one a_k after the other, in random order, leaving out what stays at its bound.
 *               The intercept by multipliers for s . a = 0. Hsieh, Chang, Lin, Keerthi & Sundararajan (2008), ICML
 *   newton      square: Newton's method in (w, b) with exact steps, by cross-products or by conjugate gradients.
 *               Keerthi & DeCoste (2005), JMLR 6
 *   absolute    square with |w|_1: the same, the quadratic model with the penalty solved by coordinate descent.
 *               Yuan, Ho & Lin (2012), JMLR 13
 * (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_SVM_LINEAR_SVM_H
#define CREDENCE_MODELS_KERNEL_SVM_LINEAR_SVM_H

#include "base/context_internal.h"
#include "linear_rows.h"

typedef struct cri_svm_linear_problem {
    const cri_svm_linear_rows *x;
    size_t                     m;       /* pieces: n or 2 n */
    const double              *sign;    /* [m] +-1 */
    const double              *target;  /* [m] */
    const double              *cost;    /* [m] >= 0, finite; one of 0 leaves its piece out */
    bool                       squared; /* the loss */
    bool                       l1;      /* the penalty; with the squared loss only */
    bool                       intercept;
} cri_svm_linear_problem;

typedef enum cri_svm_linear_method {
    CRI_SVM_LINEAR_AUTO,
    CRI_SVM_LINEAR_INTERIOR,
    CRI_SVM_LINEAR_SMOOTH,
    CRI_SVM_LINEAR_COORDINATE,
    CRI_SVM_LINEAR_NEWTON,
    CRI_SVM_LINEAR_ABSOLUTE
} cri_svm_linear_method;

typedef struct cri_svm_linear_options {
    cri_svm_linear_method method;
    double                tol;      /* until gap <= tol max(|P|, smallest normal number) */
    size_t                max_iter; /* steps, or sweeps over the pieces */
    uint64_t              seed;     /* of the order of the sweeps */
    bool
        warm; /* begin with alpha and b (coordinate), or w and b (newton, absolute) of the solution */
    const cri_clock *clock; /* NULL: only what stops the context */
} cri_svm_linear_options;

typedef struct cri_svm_linear_solution {
    double               *w; /* [p] */
    double                b;
    double               *alpha; /* [m], feasible for the dual */
    cri_svm_linear_method method;
    size_t                iterations;
    double                primal, dual, gap;
    bool                  converged;
} cri_svm_linear_solution;

/* Solves for the caller's arrays w and alpha.  Not converging, by max_iter or the clock, is a result: the
 * best so far with the gap that is left.  The same bits for any number of threads.  Fails with CR_EUNSUPPORTED where
 * the method does not serve, with CR_ENUMERIC where squares of the columns overflow, CR_EINTERRUPTED, CR_ENOMEM. */
cr_status cri_svm_linear_solve(cr_ctx *cx, const cri_svm_linear_problem *problem,
                               const cri_svm_linear_options *options,
                               cri_svm_linear_solution      *solution);

/* --- inside ---------------------------------------------------------------------------------- */

/* What the solvers share: the problem, and room for one number a row. */
typedef struct cri_svm_linear_work {
    cr_ctx                       *cx;
    const cri_svm_linear_problem *problem;
    const cri_svm_linear_options *options;
    cri_svm_linear_solution      *solution;
    double                       *f; /* [n] the scores X w + b of certify */
    double                       *v; /* [n] */
    double                       *g; /* [p + 1] */
} cri_svm_linear_work;

cr_status cri_svm_linear_interior(cri_svm_linear_work *work);
cr_status cri_svm_linear_smooth(cri_svm_linear_work *work);
cr_status cri_svm_linear_coordinate(cri_svm_linear_work *work);
cr_status cri_svm_linear_newton(cri_svm_linear_work *work);
cr_status cri_svm_linear_absolute(cri_svm_linear_work *work);

/* The row of a piece. */
static inline size_t cri_svm_linear_row(const cri_svm_linear_problem *q, size_t k)
{
    return k < q->x->n ? k : k - q->x->n;
}
/* How far piece k is from where it costs nothing, by the score of its row. */
static inline double cri_svm_linear_slack(const cri_svm_linear_problem *q, size_t k, double f)
{
    double u = q->target[k] - q->sign[k] * f;
    return u > 0 ? u : 0;
}
/* true where a matrix of the size of the columns pays. */
bool cri_svm_linear_is_narrow(const cri_svm_linear_rows *x);
/* The best b of w = 0: of classes that of the heavier one, of numbers about their median; 0 without an intercept. */
double cri_svm_linear_best_constant(const cri_svm_linear_problem *q);
/* true where the limits of the options are reached. */
bool cri_svm_linear_over(const cri_svm_linear_work *work);

/* Makes alpha feasible, sets primal (at w and b) and dual, and true when the gap is small enough; by_slack: alpha
 * first becomes the slope of the squared loss at w and b. */
cr_status cri_svm_linear_certify(cri_svm_linear_work *work, bool by_slack, bool *out_converged);

/* The step along (d, change of the scores df [n]) that minimises the squared loss with its penalty, from
 * (w, b) with scores f: exact.  Pure. */
double cri_svm_linear_exact_step(const cri_svm_linear_work *work, const double *f, const double *df,
                                 const double *d);

#endif
