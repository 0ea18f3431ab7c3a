/* solve.h -- minimising the penalised likelihood of a linear classifier.
 *   F(theta) + l1 |slopes|_1
 *   newton     Cholesky of the Hessian; the factor is kept while it still shrinks the step well
 *              (a chord), and many rows start from the answer of a sample of them
 *   newton-cg  steps by conjugate gradients on products with the Hessian, for many coefficients
 *   proximal   l1 > 0: coordinate descent on the quadratic model, over the columns that may be
 *              non-zero (Friedman, Hastie & Tibshirani 2010; Lee, Sun & Saunders 2014)
 *   lbfgs, gradient   cr_minimize
 *   sgd        mini-batches with the variance of their gradients reduced (Johnson & Zhang 2013)
 * Without a penalty the minimum may be at infinity; it is then said which way (separation.h).
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LOGISTIC_SOLVE_H
#define CREDENCE_MODELS_LOGISTIC_SOLVE_H

#include "models/core/model.h"
#include "likelihood.h"

typedef enum cri_solver {
    CRI_SOLVER_AUTO,
    CRI_SOLVER_NEWTON,
    CRI_SOLVER_NEWTON_CG,
    CRI_SOLVER_LBFGS,
    CRI_SOLVER_GRADIENT,
    CRI_SOLVER_SGD,
    CRI_SOLVER_PROXIMAL
} cri_solver;

typedef struct cri_solve_options {
    cri_solver solver;
    double     l1;
    double tol; /* newton: predicted gain over F; others: largest gradient entry per row, squared */
    size_t max_iter; /* CR_COUNT_UNSET: a sensible number of the method */
    size_t batch;    /* sgd */
    uint64_t seed;   /* sgd */
} cri_solve_options;

typedef struct cri_solution {
    cri_solver solver;
    cr_stop    stop;
    size_t     iterations;
    double     f, nll; /* F with both penalties, and the likelihood's part            */
    double     kkt;    /* largest violation of the optimality conditions, per row       */
    double     wrong;
    double     moved;    /* largest change of a score in the last step                     */
    double    *theta;    /* [D]                                                            */
    double    *step;     /* [D] the last step                                              */
    double    *gradient; /* [D] at theta                                                   */
    double    *hessian;  /* [D x D] at theta, or NULL where it is too large or not wanted  */
    bool      *fixed;    /* [q] columns that the others determine: coefficient 0           */
    size_t     D, q;
} cri_solution;

/* Minimises from a null start.  Fails with CR_ENOMEM, CR_EINTERRUPTED, CR_ENUMERIC.  Not converging
 * is a result.  want_hessian asks for the Hessian at the end, where D^2 n allows it. */
cr_status cri_solve(cr_ctx *cx, const cri_likelihood *f, const cri_solve_options *o,
                    bool want_hessian, cri_solution *out);
void      cri_solution_free(cr_ctx *cx, cri_solution *s);
/* The same from s->theta on, for other rows or a changed penalty. */
cr_status cri_solve_again(cr_ctx *cx, const cri_likelihood *f, const cri_solve_options *o,
                          bool want_hessian, cri_solution *s);

/* --- methods: from s->theta on; s->gradient, f, wrong are of the end ------------------------- */

cr_status cri_solve_newton(cr_ctx *cx, const cri_likelihood *f, const cri_solve_options *o,
                           cri_solution *s);
cr_status cri_solve_newton_cg(cr_ctx *cx, const cri_likelihood *f, const cri_solve_options *o,
                              cri_solution *s);
cr_status cri_solve_proximal(cr_ctx *cx, const cri_likelihood *f, const cri_solve_options *o,
                             cri_solution *s);
cr_status cri_solve_first_order(cr_ctx *cx, const cri_likelihood *f, const cri_solve_options *o,
                                cri_solution *s);
cr_status cri_solve_sgd(cr_ctx *cx, const cri_likelihood *f, const cri_solve_options *o,
                        cri_solution *s);

/* theta [D] = the model without slopes: intercepts by the shares of the classes among all rows. */
cr_status cri_null_start(cr_ctx *cx, const cri_likelihood *f, double *theta);
/* true when nothing holds the coefficients back and every row is told apart: no minimum exists. The
 * likelihood is then followed until it is as good as 0. */
bool cri_is_separated(const cri_likelihood *f, const cri_solve_options *o,
                      const cri_likelihood_value *v);
/* Largest violation of the optimality conditions. */
double cri_kkt(const cri_likelihood *f, double l1, const double *theta, const double *gradient,
               const bool *fixed);
/* l1 times the sum of |slopes|. */
double cri_l1_norm(const cri_likelihood *f, double l1, const double *theta);

#endif
