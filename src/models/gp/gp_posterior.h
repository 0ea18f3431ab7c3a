/* gp_posterior.h -- a fitted Gaussian process: what predicts, and what is told of it.
 * `at` holds the inputs that predictions lean on: all distinct ones of the data, or the inducing
 * ones of a sparse approximation.  For a new row with k = k(at, x):
 *   w = L^-1 k,  v = L2^-1 w (without L2: w),  mean = h . b + k . alpha,
 *   var f = k(x, x) - |w|^2 [+ |v|^2 with L2] + |A^-1 (h - U^T v)|^2
 * exact: L L^T = C; by conjugate gradients (gp_cg.h) v = root^T k, and U = C^-1 H with k in place
 * of v.  Sparse: L L^T = K(at, at), L2 L2^T = I + V V^T (gp_sparse.h); subset of regressors: var f
 * = |v|^2 + ...; so do Nystroem features L^-1 k.  Random Fourier features have no L: in the place
 * of k stands phi_f(x) = at.y_f cos(at.X_f . x - at.r_f) (gp_spectrum.h).  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_GP_POSTERIOR_H
#define CREDENCE_MODELS_GP_GP_POSTERIOR_H

#include "gp_exact.h"

typedef enum cri_gp_approx {
    CRI_GP_AUTO,
    CRI_GP_EXACT,
    CRI_GP_SOR,
    CRI_GP_DTC,
    CRI_GP_FITC,
    CRI_GP_VFE,
    CRI_GP_SVGP,
    CRI_GP_NYSTROM,
    CRI_GP_RFF,
    CRI_GP_APPROXIMATIONS
} cri_gp_approx;

typedef struct cri_gp_posterior {
    cri_gp_data at;
    cri_gp_mean mean;
    cr_kernel  *kernel;
    size_t      q;      /* terms of the mean                                        */
    size_t      approx; /* cri_gp_approx, not AUTO                                  */
    bool        noise_learned, noise_column, white;
    double      noise, jitter;
    double     *L, *L2;               /* [n x n] lower triangles; L2 NULL for exact, L for rff    */
    double     *alpha, *beta, *U, *A; /* [n], [q], [n x q], [q x q]                         */
    double     *gradient; /* [n_theta + 1] of the evidence by theta and log noise; or NULL     */
    size_t      n_theta;
    double     *sd;             /* [n_theta + 1] of theta and log noise; NaN: not known     */
    double      rows, evidence; /* sum of weights; log evidence in the units of the design  */
    double      loo_score, loo_rmse;
    double      kernel_error; /* of nystrom and rff, relative to k(x, x); else NaN        */
    bool        cg;           /* by conjugate gradients: root instead of L, U = C^-1 H    */
    size_t      rank;
    double     *root;  /* [n x rank] C^-1 ~ root root^T                            */
    size_t      near;  /* inputs near a row that help the root (gp_near.h), or 0   */
    double     *image; /* [n x rank] C root; NULL without near                     */
    double      evidence_se, residual, sd_error; /* of cg (gp_cg.h)                         */
    size_t      cg_iterations;
    size_t      n_draws; /* of hyper-parameters (gp_mcmc.h); 0: at their best        */
    double     *draws;   /* [n_draws x (n_theta + 1)] theta and log noise            */
    size_t      starts, agreed, evaluations;
    char       *at_bound; /* "" for none; owned                                       */
    struct cri_gp_lowrank
        *low; /* gp_lowrank.h: predictions of a small rank; NULL with draws, of sparse ones, .. */
} cri_gp_posterior;

/* Its name; NULL beyond the last. */
const char *cri_gp_approx_name(size_t approx);
/* Room for everything by at.n and mean.q (both made before), with_second: L2 too. */
cr_status cri_gp_posterior_allocate(cr_ctx *cx, cri_gp_posterior *m, bool with_second);
/* true when f is a linear model of features: nothing is known beyond them. */
bool cri_gp_has_features(const cri_gp_posterior *m);
/* Frees what cri_gp_posterior_allocate made. */
void cri_gp_posterior_drop(cr_ctx *cx, cri_gp_posterior *m);
/* The solution that points into it. */
cri_gp_solution cri_gp_posterior_solution(const cri_gp_posterior *m);
/* Frees it all, itself too. */
void cri_gp_posterior_free(cr_ctx *cx, void *state);

/* The functions of the model class. */
cr_status cri_gp_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out);
cr_status cri_gp_sample(cr_ctx *cx, const void *state, const cr_design *design,
                        const cri_rows *opt_rows, size_t count, uint64_t seed, double *out);
cr_status cri_gp_function(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                          double *mean, double *opt_sd, double *opt_covariance);
cr_status cri_gp_functions(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                           size_t count, uint64_t seed, double *out);
cr_status cri_gp_slopes(cr_ctx *cx, const void *state, const cri_rows *rows, double *out);
cr_status cri_gp_describe(cr_ctx *cx, const void *state, const cr_design *design, json_t *out);
cr_status cri_gp_write(cr_ctx *cx, const void *state, cri_store *store, json_t *out);
cr_status cri_gp_read(cr_ctx *cx, const cri_store *store, const json_t *in, const cr_design *design,
                      void **out_state);

/* Which units the kernel and its parameters are in: those of the data, or standardised ones. */
const char *cri_gp_units(const cr_design *design);

#endif
