/* gp_cg.h -- an exact Gaussian process by conjugate gradients: no factor of C, no n x n matrix
 * needed.
 *   C = K + s diag r,   P = D + K_nm B^-1 K_mn ~ C,   D = s diag r,   B = K_mm
 * of m landmarks among the rows.  Systems C X = B are solved by conjugate gradients preconditioned
 * with P, all columns side by side.
 *   log det C = log det P + tr log(P^-1/2 C P^-1/2)
 * the trace by probes z with E[z z^T] = P, made of random signs; each probe's Lanczos matrix T
 * comes with its solution (Gauss quadrature: |P^-1/2 z|^2 e1' log(T) e1), and so does its share in
 *   tr(C^-1 dC) = tr(P^-1 dP) + E[(C^-1 z)' dC (P^-1 z) - (P^-1 z)' dP (P^-1 z)]
 * of which only the first product in the expectation takes n^2 entries of dC: the rest is n m.
 * O(n^2) for each product; K is kept where memory allows, and else computed anew for each product.
 * Gardner, Pleiss, Weinberger, Bindel & Wilson (2018), NeurIPS; Wenger, Pleiss, Hennig, Cunningham
 * & Gardner (2022), ICML (the derivative of P); Ubaru, Chen & Saad (2017), SIAM J. Matrix Anal.
 * Appl. 38; Golub & Meurant (2010).  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_CG_GP_CG_H
#define CREDENCE_MODELS_GP_CG_GP_CG_H

#include "models/gp/search/gp_learn.h"

/* C at some hyper-parameters; the memory is an arena's. */
typedef struct cri_gp_operator {
    const cri_gp_data *data;
    const cr_kernel   *k;
    double             noise;
    double            *K;         /* [n x n], or NULL: computed for each product */
    double            *workspace; /* [some rows x n] when K is NULL              */
} cri_gp_operator;

/* P at the same hyper-parameters. */
typedef struct cri_gp_preconditioner {
    size_t        n, rank;
    const size_t *landmarks; /* [rank] rows                               */
    double       *D;         /* [n]                                       */
    double       *B;         /* [rank x rank] factor of K_mm              */
    double       *G;         /* [rank x n] B^-1 K_mn D^-1/2               */
    double       *L;         /* [rank x rank] factor of I + G G^T         */
    double        log_det;
} cri_gp_preconditioner;

/* How a run of conjugate gradients goes. */
typedef struct cri_gp_cg_run {
    size_t close; /* the first columns of this many have the tolerance, the rest the other */
    double tolerance,
        rest_tolerance; /* of the residual, relative to the right-hand side                      */
    size_t max_iter;
    bool
        warm; /* begins at X                                                                           */
    double *
        opt_steps; /* [max_iter x 2 t] lengths of the steps and ratios of the residuals of each column      */
    size_t *
        opt_count; /* [t] how many                                                                          */
    const char *
        what; /* for progress                                                                          */
} cri_gp_cg_run;

/* What it did. */
typedef struct cri_gp_cg_report {
    size_t iterations;
    double residual; /* the largest |B - C X| / |B| of the close columns */
} cri_gp_cg_report;

typedef struct cri_gp_cg_settings {
    size_t   rank; /* landmarks of P at the most; 0: by the number of rows */
    size_t   probes, max_iter;
    double   tolerance, probe_tolerance; /* of residuals: of y and H, of probes */
    uint64_t seed;
} cri_gp_cg_settings;

/* The settings for the result. */
cri_gp_cg_settings cri_gp_cg_defaults(uint64_t seed);
/* How many landmarks there are for n rows. */
size_t cri_gp_cg_rank(size_t n);

/* K where there is room for it, or workspace for some rows. */
cr_status cri_gp_operator_new(cr_ctx *cx, cr_scratch *s, const cri_gp_data *data,
                              const cr_kernel *k, double noise, cri_gp_operator *out);
/* out [n x t] = C B. */
cr_status cri_gp_multiply(cr_ctx *cx, const cri_gp_operator *op, const double *B, size_t t,
                          double *out);
/* Up to `most` landmarks for C [most]: some hundred among some thousand rows, each the one that
 * those before explain least, and fewer than `most` when these leave no more than the noise hides;
 * then rows at random, which are as good. */
cr_status cri_gp_cg_landmarks(cr_ctx *cx, const cri_gp_operator *op, size_t most, uint64_t seed,
                              size_t *out, size_t *out_rank);
/* P by the landmarks, which are borrowed.  O(n rank^2). */
cr_status cri_gp_preconditioner_new(cr_ctx *cx, cr_scratch *s, const cri_gp_operator *op,
                                    const size_t *landmarks, size_t rank,
                                    cri_gp_preconditioner *out);
/* out [n x t] = P^-1 B. */
cr_status cri_gp_precondition(cr_ctx *cx, const cri_gp_preconditioner *p, const double *B, size_t t,
                              double *out);
/* The columns `first` and on of B [n x t]: probes. */
void cri_gp_cg_probes(const cri_gp_preconditioner *p, uint64_t seed, size_t first, size_t t,
                      double *B);
/* gradient [theta + 1] += that of -(log det P - mean of u' P u) / 2, U [n x t] kept as it is.  O(n
 * rank^2). */
cr_status cri_gp_preconditioner_gradient(cr_ctx *cx, const cri_gp_operator *op,
                                         const cri_gp_preconditioner *p, const double *U, size_t t,
                                         double *gradient);
/* X [n x t] = C^-1 B.  Not converging is reported, not a failure. */
cr_status cri_gp_cg_solve(cr_ctx *cx, const cri_gp_operator *op, const cri_gp_preconditioner *p,
                          const double *B, size_t t, const cri_gp_cg_run *run, double *X,
                          cri_gp_cg_report *out_report);

/* Evidence and all that gives means; in memory of the caller. */
typedef struct cri_gp_cg {
    cri_gp_cg_settings settings;
    double             value, se;    /* log evidence, and its standard error from the probes */
    double            *alpha, *beta; /* [n] C^-1 (y - H b); [q]                              */
    double            *U, *A;        /* [n x q] C^-1 H; [q x q] factor of H^T C^-1 H         */
    cri_gp_cg_report   report;
    const size_t      *landmarks; /* [rank] as at other hyper-parameters; NULL: chosen    */
    size_t             rank;
    double *last; /* [n x (q + 1 + probes)] solutions to begin from, and the new ones; NULL: begins
                              * at 0.  With it there is no value. */
    const char *what; /* it does, for progress; NULL: conjugate gradients */
} cri_gp_cg;

/* opt_gradient [theta + 1]: unbiased as far as the solutions are. */
cr_status cri_gp_cg_evidence(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                             double noise, cri_gp_cg *cg, double *opt_gradient);
/* *out = e1' log(T) e1 of a symmetric tridiagonal matrix T, n > 0: its diagonal [n], and below it
 * off [n], of which the last is workspace; both are overwritten.  O(n^2). */
cr_status cri_gp_log_quadrature(cr_ctx *cx, double *diagonal, double *off, size_t n, double *out);
/* C^-1 ~ R R^T = S (S^T C S)^-1 S^T, S = P^-1 F, so that k(x,x) - |R^T k|^2 is never below the
 * variance; with W = C R also what the nearest inputs add (gp_nearest.h). */
typedef struct cri_gp_cg_root_of {
    double *R, *W; /* [n x rank], workspace for [n x most], of the caller         */
    size_t  rank;
    double  error,
        near_error; /* the largest relative error of the sd of a target at some places between
                                * the data: by the root alone, and with the nearest inputs */
    size_t near;    /* how many of these it takes */
} cri_gp_cg_root_of;

/* How many columns a root has for n rows when `inducing` are asked for: all, where that is no great
 * matter. */
size_t cri_gp_cg_root_rank(size_t n, size_t inducing);
/* The root of at most `most` columns: O(n^2 rank), and some solutions for the errors. */
cr_status cri_gp_cg_root(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                         double noise, const cri_gp_cg_settings *settings, size_t most,
                         cri_gp_cg_root_of *root);
/* Learns the hyper-parameters from where they are, by quasi-Newton steps to where the gradient
 * vanishes, with the same probes at every step. */
cr_status cri_gp_cg_learn(cr_ctx *cx, const cri_gp_learning *learning, cri_gp_cg *cg, cr_kernel *k,
                          double *noise, cri_gp_learned *learned);

#endif
