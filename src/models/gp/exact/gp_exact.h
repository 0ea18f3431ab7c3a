/* gp_exact.h -- the exact Gaussian process: evidence, its gradient, what predictions need.
 *   y = H b + f + e,   f ~ N(0, K),   e ~ N(0, s diag r),   C = K + s diag r = L L^T
 * The coefficients b of the mean are at their generalised least squares estimate in the evidence,
 * which therefore does not depend on the units of H; predictions carry their uncertainty, as under
 * a flat prior.  The gradient is  sum_ij W_ij dC_ij,  W = (a a^T - C^-1) / 2,  a = C^-1 (y - H b):
 * b, at its maximum, does not enter it. n^3 / 3 for the factor, 2 n^3 / 3 for the inverse, one n x
 * n matrix of memory.  Rasmussen & Williams (2006), alg. 2.1, eq. 5.9, sec. 2.7.  (Internal
 * header.) */
#ifndef CREDENCE_MODELS_GP_EXACT_GP_EXACT_H
#define CREDENCE_MODELS_GP_EXACT_GP_EXACT_H

#include "models/kernel/inputs/gp_mean.h"

/* What is conditioned on; borrowed. */
typedef struct cri_gp_problem {
    const cri_gp_data *data;
    size_t             q;
    const double      *H; /* [n x q] */
} cri_gp_problem;

/* What comes of it, in memory of the caller. */
typedef struct cri_gp_solution {
    double  nugget; /* asked for: this share of the mean of the diagonal of C is added to it */
    double  log_evidence;
    double  jitter;   /* added to the diagonal of C, the nugget with it                    */
    double  lifted;   /* where row `quietest` had less than this share of the mean of the  */
    size_t  quietest; /* diagonal for its own, that was added which it lacked; 0: none did */
    double *alpha;    /* [n]     C^-1 (y - H b)                                            */
    double *beta;     /* [q]     b                                                         */
    double *U;        /* [n x q] L^-1 H                                                    */
    double *A;        /* [q x q] Cholesky factor of H^T C^-1 H                             */
} cri_gp_solution;

typedef enum cri_gp_jitter { CRI_GP_NO_JITTER, CRI_GP_JITTER, CRI_GP_QUIET_JITTER } cri_gp_jitter;

/* L [n x n] := the Cholesky factor of C in its lower triangle, and all of *out, whose pointers and
 * nugget are set.  Without jitter, which is for searches, the noise or white that a row has for its
 * own is made up to some ten roundings of the trace of C: a continuous function of the
 * hyper-parameters, whose gradient is known.  Where there is neither it fails with CR_ENUMERIC when C
 * is not positive definite, or so near to it that less than three digits of a solution would be left.
 * With jitter a C that has a factor to trust is taken as it is; else what is needed is added, and the
 * two rows that are most alike are named in a warning, or it is quiet about it. */
cr_status cri_gp_solve(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k, double noise,
                       cri_gp_jitter jitter, double *L, cri_gp_solution *out);
/* Its factor alone (gp_factor.c). */
cr_status cri_gp_factor(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k, double noise,
                        cri_gp_jitter jitter, double *L, cri_gp_solution *out);
/* gradient [theta_size + 1] += what the variance added changes beyond the mean of the diagonal of
 * K, which the caller has; trace: the sum of W_ii. */
cr_status cri_gp_lift_gradient(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                               double noise, const cri_gp_solution *solution, double trace,
                               double *gradient);
/* The least share that makes the factor of n rows without noise one to trust. */
double cri_gp_nugget(size_t n);
/* CR_ENUMERIC unless a factor that is there, of C with `added` on its diagonal, is one to trust
 * too. */
cr_status cri_gp_check_factor(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                              double noise, double added, const double *L);
/* The same as cri_gp_solve from a factor that is there. */
cr_status cri_gp_resolve(cr_ctx *cx, const cri_gp_problem *problem, double noise, const double *L,
                         cri_gp_solution *out);
/* Fails with CR_ENUMERIC where no setting of the hyper-parameters had a factor, in the words of
 * that warning; k and the noise are those of one of them, L [n x n] is workspace. */
cr_status cri_gp_fail_singular(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                               double noise, size_t settings, double *L);
/* From what cri_gp_solve left: the gradient of the log evidence by theta, then by log noise:
 * gradient
 * [theta_size + 1].  L is overwritten. */
cr_status cri_gp_gradient(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                          double noise, const cri_gp_solution *solution, double *L,
                          double *out_gradient);
/* The part of the log evidence that merged rows add to that of their averages. */
double cri_gp_merged(const cri_gp_data *data, double noise);

/* The log density of each row given all others, at these hyper-parameters (Dubrule 1983; R & W eq.
 * 5.12), of rows, shares and groups as they were with cri_gp_data_add: their weighted sum, and the
 * weighted root mean square of the errors.  n^3 / 3 operations; workspace [n x n]; opt_diagonal [n]: the
 * diagonal of Q = C^-1 - C^-1 H (H^T C^-1 H)^-1 H^T C^-1. */
cr_status cri_gp_leave_one_out(cr_ctx *cx, const cri_gp_problem *problem, const cri_rows *rows,
                               const double *opt_shares, const size_t *group, double noise,
                               const cri_gp_solution *solution, const double *L, double *workspace,
                               double *opt_diagonal, double *out_log_score, double *out_rmse);

#endif
