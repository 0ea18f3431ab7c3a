/* graphical_lasso.h -- a sparse precision matrix for a covariance.
 *   T = argmin  -log det T + tr(S T) + lambda sum_(i != j) |T_ij|    over positive definite T
 * with the optimality conditions, W = T^-1:  W_ii = S_ii;  W_ij = S_ij + lambda sign T_ij where T_ij is not 0, and
 * |W_ij - S_ij| <= lambda where it is.  Its dual is  max log det W + p  over |W_ij - S_ij| <= lambda, W_ii = S_ii.
 *
 * Columns that no chain of |S_ij| > lambda connects are independent in T (Witten, Friedman & Simon 2011; Mazumder &
 * Hastie 2012), so each connected group is solved by itself.  A group of m columns is solved by Newton steps whose
 * quadratic model, with the penalty as it is, is minimised by coordinate descent over the entries that are not 0 or
 * are about to leave it (Hsieh, Sustik, Dhillon & Ravikumar 2014).  O(m^3) for a step, and O(m) for each of these
 * entries in a sweep.  (Internal header.) */
#ifndef CREDENCE_MATH_OPTIM_GRAPHICAL_LASSO_H
#define CREDENCE_MATH_OPTIM_GRAPHICAL_LASSO_H

#include "base/context.h"

typedef struct cri_graphical_lasso {
    const double *S; /* [p x p] symmetric, positive on the diagonal */
    size_t        p;
    double        lambda;
    /* Entries off the diagonal that are not 0 here are free to take any value, unpenalised, and all others are 0;
     * lambda does not count.  NULL: as above. */
    const double *opt_graph; /* [p x p] symmetric */
    double        tol;       /* the duality gap, per column, that is small enough */
    size_t        max_iter;  /* Newton steps for a group */
} cri_graphical_lasso;

typedef struct cri_graphical_lasso_report {
    double objective; /* of T                                                                    */
    double gap;       /* the optimum is no further below it; infinite where no bound was reached */
    size_t iterations, groups, largest, edges; /* the largest number of any group; of T          */
    bool   converged, late;                    /* late: the time limit came first                */
} cri_graphical_lasso_report;

/* T [p x p]: where it starts from on entry, all zeros for nowhere, and the solution on return: symmetric, positive
 * definite, with exact zeros; else unchanged.  opt_W [p x p]: its inverse.  What stops it before the gap is small
 * enough is a result, and reported.  Fails with CR_EDATA, naming a column, where a diagonal of S is not positive,
 * CR_ENUMERIC where lambda is 0 and S is singular, so that there is no optimum, CR_EINTERRUPTED, CR_ENOMEM. */
cr_status cri_graphical_lasso_solve(cr_ctx *cx, const cri_graphical_lasso *problem, double *T,
                                    double *opt_W, cri_graphical_lasso_report *out);

#endif
