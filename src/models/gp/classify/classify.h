/* classify.h -- a fitted Gaussian process classifier: what predicts, and how it was learned.
 * gp holds inputs, kernel and how they were learned.  For a new row with k = k(at, x), for each
 * latent function c:  mean_c = k . alpha_c, and
 *   Laplace, EP, one f       var = k(x, x) - |L^-1 (root k)|^2                              L: the factor of B
 *   Laplace, more            cov_cd = [c = d] (k(x, x) - |v_c|^2) + r_c . r_d,  v_c = factor_c^-1 (root_c k),
 *                            r_c = L^-1 (root_c factor_c^-T v_c)                            L: the factor of O
 *   sparse                   var_c = k(x, x) - |w|^2 + |factor_c^-1 w|^2,  w = L^-1 k       L: the factor of K_mm
 * The probabilities are those of the likelihood averaged over that normal.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_H
#define CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_H

#include "classify_laplace.h"
#include "models/gp/posterior/gp_posterior.h"

/* As the choices of --infer; no model is AUTO, but what that came to. */
typedef enum cri_classify_infer {
    CRI_CLASSIFY_LAPLACE,
    CRI_CLASSIFY_EP,
    CRI_CLASSIFY_BOUND,
    CRI_CLASSIFY_AUTO
} cri_classify_infer;

/* clang-format off */
#define CRI_CLASSIFY(MEMBER)                                                                        \
    MEMBER(count,  K,              (),     "",       "classes of the design")                       \
    MEMBER(count,  F,              (),     ">0",     "latent functions")                            \
    MEMBER(count,  n,              (),     ">0",     "inputs that predictions lean on: gp.at.n")   \
    MEMBER(count,  link,           (),     "0..2",   "cri_classify_link")                           \
    MEMBER(flag,   sparse,         (),     "",       "by inducing inputs")                          \
    MEMBER(real,   distinct,       (),     ">0",     "distinct inputs of the data")                 \
    MEMBER(real,   log_likelihood, (),     "none",   "at the mode (EP: at the mean; sparse: expected)") \
    MEMBER(real,   steps,          (),     ">=0",    "of Newton's, or sweeps of EP")                \
    MEMBER(vector, place,          (K),    ">=-1",   "of a class among those in the data, -1: not there; of two, 0 is that of f > 0") \
    MEMBER(matrix, latent,         (F, n), "",       "alpha_c")                                     \
    MEMBER(matrix, root,           (F, n), "",       "zeros when sparse")                           \
    MEMBER(part,   gp,             (cri_gp_posterior), "", "L as above; its own alpha is not used") \
    MEMBER(count,  fn,             (),     "found",  "F n, where there is a factor")                \
    MEMBER(matrix, factor,         (fn, n), "triangle none", "of each function; absent for Laplace and EP, F = 1") \
    MEMBER(count,  infer,          (),     "0..2 spare", "cri_classify_infer; of a bound of before 0") \
    MEMBER(count,  settings,       (),     "spare as:hyper_settings", "of the hyper-parameters that predictions average over (classify_mixture.h); 0: one") \
    MEMBER(count,  n_theta,        (),     "found",  "of the kernel, where there are settings")     \
    MEMBER(vector, shares,         (settings), ">0 sums none as:hyper_shares", "")                \
    MEMBER(matrix, thetas,         (settings, n_theta), "none as:hyper_theta", "as of the kernel") \
    MEMBER(count,  n_values,       (),     "found",  "F n, where there are settings")              \
    MEMBER(matrix, latents,        (settings, n_values), "none as:hyper_latent", "alpha_c of each") \
    MEMBER(matrix, roots,          (settings, n_values), ">=0 none as:hyper_root", "root_c of each; of a bound through all inputs, lambda_c^1/2")
/* clang-format on */
CRI_RECORD(cri_classify, CRI_CLASSIFY, char **labels;
           /* [2 F] of the latent means and their sds */);
extern const cri_member cri_classify_record[];

/* Workspace for everything by F, K and gp.at; with_factor: factor too. */
cr_status cri_classify_allocate(cr_ctx *cx, cri_classify *m, bool with_factor);
/* The names "latent_mean", "latent_sd" or "latent_mean:class", ... */
cr_status cri_classify_name(cr_ctx *cx, cri_classify *m, const cr_design *design);

/* The weight of the rows of each class at each input, group [rows], in memory of the arena.  CR_EDATA
 * where a class is none of the fit. */
cr_status cri_classify_count(cr_scratch *s, const cri_classify *m, const cri_gp_data *at,
                             const cri_rows *rows, const size_t *group, cri_classify_data *out);

/* The functions of the model class. */
cr_status cri_classify_hyper(cr_ctx *cx, const void *state, size_t k, cr_hyper *out_hyper);
cr_status cri_classify_evidence_at(cr_ctx *cx, const void *state, const cri_rows *rows,
                                   const size_t *which, size_t n, const double *values,
                                   size_t count, double *out);
cr_status cri_classify_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                               cr_prediction *out);
cr_status cri_classify_intervals(cr_ctx *cx, const void *state, const cri_rows *rows, double level,
                                 double *lower, double *upper);
cr_status cri_classify_latent(cr_ctx *cx, const void *state, const cri_rows *rows, double *out);
const char *const    *cri_classify_labels(const void *state, size_t *out_n);
cr_status             cri_classify_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                            cri_sheet *out);
extern const cr_field cri_classify_statistics[];
cr_status             cri_classify_ready(cr_ctx *cx, void *state, const cr_design *design);
void                  cri_classify_release(cr_ctx *cx, void *state);

#endif
