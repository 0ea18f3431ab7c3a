/* gp_posterior.h -- a fitted Gaussian process: what is common to all methods, and the part of one.
 * `at` holds the inputs that predictions rest on: all distinct ones of the data, or the inducing
 * ones of a sparse approximation.  For a new row with k = k(at, x):
 *   w = L^-1 k,  v = L2^-1 w (without L2: w),  mean = h . b + k . alpha,
 *   var f = k(x, x) - |w|^2 [+ |v|^2 with L2] + |A^-1 (h - U^T v)|^2
 * exact: L L^T = C; by conjugate gradients (gp_cg.h) v = root^T k, and U = C^-1 H with k in place
 * of v.  Sparse: L L^T = K(at, at), L2 L2^T = I + V V^T (gp_sparse.h); subset of regressors: var f
 * = |v|^2 + ...; so do Nystroem features L^-1 k.  Random Fourier features have no L: in the place
 * of k stands phi_f(x) = at.y_f cos(at.X_f . x - at.r_f) (gp_spectrum.h).  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_POSTERIOR_GP_POSTERIOR_H
#define CREDENCE_MODELS_GP_POSTERIOR_GP_POSTERIOR_H

#include "models/kernel/inputs/gp_centre.h"
#include "models/gp/exact/gp_approx.h"
#include "models/gp/exact/gp_exact.h"

/* The form of small rank of gp_lowrank.h. */
/* clang-format off */
#define CRI_GP_LOWRANK(MEMBER)                                                                      \
    MEMBER(count,  rank,            (),            ">0",  "pivots")                                 \
    MEMBER(count,  terms,           (),            "",    "of the mean")                            \
    MEMBER(index,  pivots,          (rank),        "",    "inputs of the process")                  \
    MEMBER(matrix, pivot_factor,    (rank, rank),  "",    "L, lower")                               \
    MEMBER(matrix, inner_factor,    (rank, rank),  "",    "M, lower")                               \
    MEMBER(vector, pivot_weights,   (rank),        "",    "F^T alpha")                              \
    MEMBER(matrix, pivot_terms,     (terms, rank), "",    "H^T C^-1 F")                             \
    MEMBER(real,   residual,        (),            ">=0", "rho")                                    \
    MEMBER(real,   pull,            (),            ">=0", "no less than sqrt(alpha^T R alpha)")     \
    MEMBER(real,   rounding,        (),            ">=0", "of |D^-1/2 e|, by kappa sqrt(k(x, x))")  \
    MEMBER(real,   weight_rounding, (),            ">=0", "of e . alpha, likewise")                 \
    MEMBER(real,   least_noise,     (),            ">0",  "the least of D")
/* clang-format on */
CRI_RECORD(cri_gp_lowrank, CRI_GP_LOWRANK);
extern const cri_member cri_gp_lowrank_record[];

/* What conjugate gradients (gp_cg.h) leave in the place of a factor. */
/* clang-format off */
#define CRI_GP_INVERSE(MEMBER)                                                                       \
    MEMBER(count,  rank,          (),        "as:root_rank",        "of the root")                   \
    MEMBER(count,  near,          (),        "later",               "inputs near a row that help the root (gp_nearest.h), or 0") \
    MEMBER(count,  cg_iterations, (),        "",                    "of the solution")               \
    MEMBER(real,   residual,      (),        ">=0 none as:cg_residual", "likewise")                  \
    MEMBER(real,   evidence_se,   (),        ">=0 none",            "standard error of the evidence") \
    MEMBER(real,   sd_error,      (),        "none",                "of predicted sds, a share")     \
    MEMBER(count,  n,             (),        "found",               "inputs")                        \
    MEMBER(matrix, root,          (n, rank), "",                    "C^-1 ~ root root^T")            \
    MEMBER(matrix, image,         (n, rank), "none",                "C root; absent without near")
CRI_RECORD(cri_gp_inverse, CRI_GP_INVERSE);
extern const cri_member cri_gp_inverse_record[];

#define CRI_GP_POSTERIOR(MEMBER, INNER)                                                              \
    MEMBER(text,   formula,       (),                "as:kernel",   "the kernel, when all is learned") \
    MEMBER(choice, approx,        (),                "auto|exact|sor|dtc|fitc|vfe|svgp|nystrom|rff", "cri_gp_approx, not auto") \
    MEMBER(text,   at_bound,      (),                "",            "parameters at their bounds, or nothing") \
    INNER(count,   at.n,          (),                ">0 as:inputs", "that predictions rest on")     \
    INNER(count,   mean.q,        (),                "as:mean_terms", "of the mean function")        \
    MEMBER(count,  starts,        (),                "",            "of the search")                 \
    MEMBER(count,  agreed,        (),                "",            "of them")                       \
    MEMBER(count,  evaluations,   (),                "",            "likewise")                      \
    MEMBER(flag,   noise_learned, (),                "",            "whether it is")                 \
    MEMBER(flag,   noise_column,  (),                "",            "whether a column has it")       \
    MEMBER(flag,   white,         (),                "",            "whether the kernel has white terms") \
    MEMBER(real,   noise,         (),                ">=0",         "variance")                      \
    MEMBER(real,   jitter,        (),                ">=0",         "added to the diagonal")         \
    MEMBER(real,   rows,          (),                ">=0",         "sum of weights")                \
    INNER(real,    at.count,      (),                ">=0 as:count", "of the inputs")                \
    INNER(real,    at.spread,     (),                "as:spread",   "of rows of equal inputs")         \
    INNER(real,    at.log_shares, (),                "as:log_shares", "of the noise")                \
    MEMBER(real,   evidence,      (),                "none",        "its log, in the units of the design") \
    MEMBER(count,  hyper,         (),                "0..3 spare",  "cri_gp_hyper_kind") \
    MEMBER(real,   occam,         (),                "spare",       "what log evidence loses to the hyper-parameters that were learned; 0: none were") \
    MEMBER(count,  n_draws,       (),                "spare as:hyper_draws", "of hyper-parameters (gp_mcmc.h); 0: at their best") \
    INNER(count,   at.d,          (),                "found",       "columns of numbers")            \
    INNER(count,   at.c,          (),                "found",       "categories")                    \
    INNER(count,   mean.d,        (),                "found",       "at.d")                          \
    INNER(matrix,  at.X,          (at.n, at.d),      "as:X",        "inputs")                        \
    INNER(codes,   at.codes,      (at.n, at.c),      "full as:codes", "likewise")                    \
    INNER(vector,  at.y,          (at.n),            "as:y",        "averages")                      \
    INNER(vector,  at.r,          (at.n),            "as:r",        "their noise")                   \
    INNER(index,   at.first,      (at.n),            "made",        "")                              \
    INNER(vector,  at.w,          (at.n),            "none made",   "")                              \
    INNER(vector,  mean.centre,   (mean.d),          "as:mean_centre", "of the mean function")       \
    INNER(vector,  mean.scale,    (mean.d),          ">0 as:mean_scale", "likewise")                 \
    INNER(vector,  mean.column,   (mean.q),          ">=0 as:mean_column", "likewise")               \
    INNER(vector,  mean.power,    (mean.q),          "0..9 as:mean_power", "likewise")               \
    MEMBER(matrix, L,             (at.n, at.n),      "triangle none", "absent for rff and with an inverse") \
    MEMBER(matrix, L2,            (at.n, at.n),      "triangle none", "absent for exact")            \
    MEMBER(part,   inverse,       (cri_gp_inverse),  "none",        "by conjugate gradients: instead of L; U = C^-1 H") \
    MEMBER(count,  n_hyper,       (),                "found",       "n_theta + 1: theta and log noise") \
    MEMBER(matrix, draws,         (n_draws, n_hyper), "none as:hyper_draws", "theta and log noise")  \
    MEMBER(real,   loo_score,     (),                "none",        "leave-one-out")                 \
    MEMBER(real,   loo_rmse,      (),                ">=0 none",    "likewise")                      \
    MEMBER(real,   kernel_error,  (),                "none",        "of nystrom and rff, relative to k(x, x)") \
    MEMBER(vector, alpha,         (at.n),            "",            "")                              \
    MEMBER(vector, beta,          (mean.q),          "",            "")                              \
    MEMBER(matrix, U,             (at.n, mean.q),    "",            "")                              \
    MEMBER(matrix, A,             (mean.q, mean.q),  "triangle",    "")                              \
    MEMBER(vector, sd,            (n_hyper),         ">=0 minus any", "of theta and log noise; NaN: not known")\
    MEMBER(vector, gradient,      (n_hyper),         "any none listed", "of the evidence by them")   \
    MEMBER(part,   centre,        (cri_gp_centre_rows), "none",     "of the kernel")                 \
    MEMBER(part,   low,           (cri_gp_lowrank),  "inside none as:lowrank", "absent with draws, of sparse ones, ..")
/* clang-format on */

/* What became of the hyper-parameters: given or at the maximum of the evidence, at that of evidence
 * times priors, or averaged over draws, of Laplace's approximation or of Markov chains. */
typedef enum cri_gp_hyper_kind {
    CRI_GP_HYPER_BEST,
    CRI_GP_HYPER_MAP,
    CRI_GP_HYPER_LAPLACE,
    CRI_GP_HYPER_MCMC
} cri_gp_hyper_kind;

typedef struct cri_gp_posterior {
    cri_gp_data at;
    cri_gp_mean mean;
    CRI_GP_POSTERIOR(CRI_RECORD_MEMBER, CRI_RECORD_INNER)
    cr_kernel *kernel;
    size_t     q, n_theta; /* mean.q; parameters of the kernel          */
} cri_gp_posterior;
extern const cri_member cri_gp_posterior_record[];

/* The Cholesky factors that a method keeps. */
enum { CRI_GP_L = 1, CRI_GP_L2 = 2 };
/* Memory for everything by at.n and mean.q (both made before), with these factors. */
cr_status cri_gp_posterior_allocate(cr_ctx *cx, cri_gp_posterior *m, unsigned factors);
/* Keeps what a file has of the kernel, which changes no more. */
cr_status cri_gp_posterior_keep(cr_ctx *cx, cri_gp_posterior *m);
/* The solution that points into it. */
cri_gp_solution cri_gp_posterior_solution(const cri_gp_posterior *m);

/* The rows of a file as inducing inputs, in the units of the design, whose columns it has by name.
 * Fails with CR_EDATA where it lacks one, a value is missing or does not suit the kernel, or a text
 * is none of the data's; and as cr_table_read does. */
cr_status cri_gp_inducing_read(cr_ctx *cx, const cr_kernel *k, const cr_design *design,
                               const char *path, cri_gp_data *out_Z);

/* The functions of the model class. */
cr_status cri_gp_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out);
cr_status cri_gp_sample(cr_ctx *cx, const void *state, const cr_design *design,
                        const cri_rows *opt_rows, size_t count, uint64_t seed, double *out);
cr_status cri_gp_function(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                          double *mean, double *opt_sd, double *opt_covariance);
cr_status cri_gp_functions(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                           size_t count, uint64_t seed, double *out);
cr_status cri_gp_mean_spread(cr_ctx *cx, const void *state, const cri_rows *rows, double *out_scale,
                             double *out_dof);
cr_status cri_gp_slopes(cr_ctx *cx, const void *state, const cri_rows *rows, double *out);
cr_status cri_gp_part(cr_ctx *cx, const void *state, const cr_design *design, size_t k,
                      const cri_rows *opt_rows, cr_part *out_part, double *mean, double *sd);
cr_status cri_gp_hyper(cr_ctx *cx, const void *state, size_t k, cr_hyper *out_hyper);
cr_status cri_gp_evidence_at(cr_ctx *cx, const void *state, const cri_rows *rows,
                             const size_t *which, size_t n, const double *values, size_t count,
                             double *out);
cr_status cri_gp_inducing_report(cr_ctx *cx, const void *state, const cr_design *design,
                                 double **out_X, size_t *out_n);
cr_status cri_gp_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out);
extern const cr_field cri_gp_statistics[];
cr_status             cri_gp_ready(cr_ctx *cx, void *state, const cr_design *design);
void                  cri_gp_release(cr_ctx *cx, void *state);

/* The parameters of the kernel, and statistics of the search for them. */
void cri_gp_describe_kernel(const cri_gp_posterior *m, cri_sheet *list);
void cri_gp_describe_search(const cri_gp_posterior *m, cri_sheet *out);
/* Which units the kernel and its parameters are in: those of the data, or standardised ones. */
const char *cri_gp_units(const cr_design *design);

#endif
