/* gp_cg.h -- an exact Gaussian process by conjugate gradients: no factor of C, no n x n matrix needed.
 *   C = K + s diag r,   P = D + F F^T ~ C  (D = s diag r; F partial Cholesky with pivoting, gp_pivots.h)
 * Systems C X = B are solved by conjugate gradients preconditioned with P, all columns side by side.
 *   log det C = log det P + tr log(P^-1/2 C P^-1/2)
 * the trace by probes z = D^1/2 e + F e', e of signs: E[z z^T] = P; each probe's Lanczos matrix T comes
 * with its solution (Gauss quadrature: |P^-1/2 z|^2 e1' log(T) e1), and so does its share in
 *   tr(C^-1 dC) = tr(P^-1 dC) + E[(C^-1 z - P^-1 z)' dC (P^-1 z)]
 * O(n^2) for each product; K is kept where memory allows, and else computed anew for each product.
 * Gardner, Pleiss, Weinberger, Bindel & Wilson (2018), NeurIPS; Ubaru, Chen & Saad (2017), SIAM J. Matrix
 * Anal. Appl. 38; Golub & Meurant (2010).  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_GP_CG_H
#define CREDENCE_MODELS_GP_GP_CG_H

#include "gp_learn.h"

/* C at some hyper-parameters; the memory is an arena's. */
typedef struct cri_gp_operator {
    const cri_gp_data *data;
    const cr_kernel   *k;
    double             noise;
    double            *K;    /* [n x n], or NULL: computed for each product */
    double            *room; /* [some rows x n] when K is NULL              */
} cri_gp_operator;

/* P at the same hyper-parameters. */
typedef struct cri_gp_preconditioner {
    size_t  n, rank, width; /* width: columns of F, rank of them not 0                */
    double *F, *D;          /* [n x width], [n]                                       */
    double *G, *L;          /* [n x width] D^-1/2 F; [width x width] of I + G^T G     */
    double  log_det;
} cri_gp_preconditioner;

/* What a run of conjugate gradients did. */
typedef struct cri_gp_cg_report {
    size_t iterations;
    double residual; /* the largest |B - C X| / |B| of a column */
} cri_gp_cg_report;

typedef struct cri_gp_cg_settings {
    size_t   rank, probes, max_iter;
    double   tolerance; /* of the residual, relative to the right-hand side */
    uint64_t seed;
} cri_gp_cg_settings;

/* The settings for learning and, finer, for the result. */
cri_gp_cg_settings cri_gp_cg_defaults(uint64_t seed);

/* K where there is room for it, or room for some rows. */
cr_status cri_gp_operator_new(cr_ctx *cx, cr_scratch *s, const cri_gp_data *data, const cr_kernel *k,
                              double noise, cri_gp_operator *out);
/* out [n x t] = C B. */
cr_status cri_gp_multiply(cr_ctx *cx, const cri_gp_operator *op, const double *B, size_t t, double *out);
/* F of this rank at the most, and the factor of I + G^T G.  O(n rank^2). */
cr_status cri_gp_preconditioner_new(cr_ctx *cx, cr_scratch *s, const cri_gp_operator *op, size_t rank,
                                    cri_gp_preconditioner *out);
/* out [n x t] = P^-1 B. */
cr_status cri_gp_precondition(cr_ctx *cx, const cri_gp_preconditioner *p, const double *B, size_t t,
                              double *out);
/* X [n x t] = C^-1 B.  opt_steps [max_iter x 2 t]: the lengths of the steps and the ratios of the
 * residuals of each column, opt_count [t] how many.  Not converging is reported, not a failure. */
cr_status cri_gp_cg_solve(cr_ctx *cx, const cri_gp_operator *op, const cri_gp_preconditioner *p,
                          const double *B, size_t t, double tolerance, size_t max_iter, double *X,
                          double *opt_steps, size_t *opt_count, cri_gp_cg_report *out_report);

/* Evidence and all that gives means; in memory of the caller. */
typedef struct cri_gp_cg {
    cri_gp_cg_settings settings;
    double             value, se;    /* log evidence, and its standard error from the probes */
    double            *alpha, *beta; /* [n] C^-1 (y - H b); [q]                              */
    double            *U, *A;        /* [n x q] C^-1 H; [q x q] factor of H^T C^-1 H         */
    cri_gp_cg_report   report;
} cri_gp_cg;

/* opt_gradient [theta + 1]: unbiased as far as the solutions are. */
cr_status cri_gp_cg_evidence(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                             double noise, cri_gp_cg *cg, double *opt_gradient);
/* C^-1 ~ R R^T = S (S^T C S)^-1 S^T, S = P^-1 F, so that k(x,x) - |R^T k|^2 is never below the variance;
 * with W = C R also what the nearest inputs add (gp_near.h). */
typedef struct cri_gp_cg_root_of {
    double *R, *W; /* [n x rank], room for [n x most], of the caller         */
    size_t  rank;
    double  error, near_error; /* the largest relative error of the sd of a target at some places between
                                * the data: by the root alone, and with the nearest inputs */
} cri_gp_cg_root_of;

/* The root of at most `most` columns: O(n^2 rank), and some solutions for the errors. */
cr_status cri_gp_cg_root(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k, double noise,
                         const cri_gp_cg_settings *settings, size_t most, cri_gp_cg_root_of *root);
/* Learns the hyper-parameters from where they are, by L-BFGS with the same probes at every step. */
cr_status cri_gp_cg_learn(cr_ctx *cx, const cri_gp_task *task, cri_gp_cg *cg, cr_kernel *k,
                          double *noise, cri_gp_learned *learned);

#endif
