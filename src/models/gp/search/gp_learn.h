/* gp_learn.h -- hyper-parameters at the maximum of the evidence times their priors (gp_prior.h).
 * The starts come from the data: twenty settings are tried, L-BFGS runs from the best two and from
 * the best of other lengths; where there is one length-scale a column, these move together first,
 * then each by itself.  With few rows starts of other kinds join them, see gp_optima.h.  In a sum,
 * each term is then tried at other lengths and sizes while the others stay.  With many rows that
 * search looks at some of them only, and its best goes on with all, from the curvature that the few
 * rows tell. (Internal header.) */
#ifndef CREDENCE_MODELS_GP_SEARCH_GP_LEARN_H
#define CREDENCE_MODELS_GP_SEARCH_GP_LEARN_H

#include "gp_prior.h"
#include "math/optim/minimize.h"

/* Value and gradient to be maximised, of any kernel method: log evidence or bound by theta and,
 * last, log noise.  Returns CR_ENUMERIC where there is no value. */
typedef cr_status cri_gp_objective(cr_ctx *cx, void *method, const cri_gp_problem *problem,
                                   const cr_kernel *k, double noise, double *out_value,
                                   double *opt_gradient);

typedef struct cri_gp_learning {
    const cri_gp_problem *problem;
    cri_gp_objective     *objective;
    void                 *workspace;
    cri_gp_objective     *search_objective; /* of the search with few rows; NULL: the same */
    void                 *search_workspace;
    const cri_gp_prior   *prior;    /* NULL: those of the expression alone         */
    double                variance; /* of the target about its mean               */
    bool                  learn_noise;
    size_t                restarts, max_iter;
    uint64_t              seed;
    size_t                search_rows; /* how many rows the search for starts takes   */
    size_t screen_rows; /* and the screening of many starts before; 0: there is none */
    bool   chains;      /* of the hyper-parameters follow: they have most of the time */
    bool   rough;       /* a gain of 1e-7 of the value is none               */
    bool   near; /* from the parameters of the kernel alone, the optimum of something like it */
} cri_gp_learning;

typedef struct cri_gp_learned {
    double  value;          /* the log evidence or bound, with the log prior                */
    size_t  iterations;     /* from the start that was best to the end, over all rows       */
    cr_stop stop;           /* why that ended                                               */
    size_t  evaluations;    /* of all starts                                                */
    size_t  refused;        /* settings that had no value: the covariance is singular there */
    size_t  starts, agreed; /* runs of L-BFGS at the last stage; those near the best */
    bool    expired;        /* the time limit ended the search: the best so far             */
    char    at_bound[512];  /* "noise (lower), rbf.l[2] (upper)"; "" for none       */
} cri_gp_learned;

/* Learns the free parameters of k and, if asked to, *noise. */
cr_status cri_gp_learn(cr_ctx *cx, const cri_gp_learning *learning, cr_kernel *k, double *noise,
                       cri_gp_learned *out);

/* Warns that the time limit ended a search after so many evaluations, by some of all inputs. */
void cri_gp_report_expired(cr_ctx *cx, size_t evaluations, size_t some, size_t all);

/* Of k and *noise as they are, with more noise and with longer scales, takes what the objective of
 * `learning` likes best: where the optimum of something else, the evidence of some rows, is to start
 * the search. */
cr_status cri_gp_adapt(cr_ctx *cx, const cri_gp_learning *learning, cr_kernel *k, double *noise);

/* What the second derivatives at the optimum (differences of the gradient) say of theta and log
 * noise. */
typedef struct cri_gp_laplace {
    double *sd;           /* [theta + 1]; NaN for those at a bound or without                     */
    double *root;         /* [size x size] root root^T is their covariance, definite where that is
                           * not; NULL: not asked for, nor is:                                    */
    double  log_integral; /* over them, of evidence times priors, by Laplace's approximation; NaN
                           * until it is known                                                    */
} cri_gp_laplace;
cr_status cri_gp_laplace_at(cr_ctx *cx, const cri_gp_learning *learning, const cr_kernel *k,
                            double noise, cri_gp_laplace *out);

/* The exact log evidence as an objective; its workspace is a cri_gp_exact_workspace. */
typedef struct cri_gp_exact_workspace {
    double         *L; /* [n x n] of the largest problem */
    cri_gp_solution solution;
} cri_gp_exact_workspace;
cri_gp_objective cri_gp_exact_objective;

#endif
