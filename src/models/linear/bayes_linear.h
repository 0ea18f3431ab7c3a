/* bayes_linear.h -- what the files of Bayesian linear regression share: its options and its state.
 *   1. bayes_linear.c      the model: its faces, what it says of a fit, the class
 *   2. bayes_scales.c      alpha and beta, or a and b, and the evidence, given the spectrum
 *   3. bayes_posterior.c   from moments or rows to the posterior of the coefficients
 *   4. bayes_varying.c     the same with varying intercepts, whose scale is learned too
 *   5. bayes_noise.c       the same where the noise depends on columns
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_BAYES_LINEAR_H
#define CREDENCE_MODELS_LINEAR_BAYES_LINEAR_H

#include "dual.h"
#include "models/common/moments.h"
#include "models/common/varying.h"
#include "noise_model.h"
#include "scales.h"

/* clang-format off */
#define CRI_BAYES_OPTIONS(X)                                                                         \
    X(choice, prior,          "normal",      "normal|nig",                                           \
      "normal: given alpha and noise; nig: normal-inverse-gamma, with the noise integrated out", "nig")   \
    X(choice, optimize,       "auto",        "auto|integrate|fixed-point|em|none",                   \
      "auto: integrate, or fixed-point if alpha or noise is given; integrate: average over alpha and noise; fixed-point, em: use the values of highest evidence as if known; none: keep them as given", "em") \
    X(real,   alpha,          "",            ">0", "prior precision of each coefficient (start, or fixed)", "1") \
    X(real,   noise,          "",            ">0", "variance of the observations (start, or fixed)", "0.25") \
    X(real,   prior_variance, "10",          ">0", "nig: prior variance of a coefficient over the noise variance", "100") \
    X(real,   shape,          "1",           ">0", "nig: shape a of the inverse gamma on the noise variance", "0.5") \
    X(real,   rate,           "1",           ">0", "nig: rate b of the inverse gamma on the noise variance", "0.5") \
    X(flag,   intercept,      "true",        "", "fit an intercept", "false")                        \
    X(choice, intercept_prior, "flat",       "centre|flat",                                          \
      "centre: predictions and evidence treat the mean of the target as known; flat: it has a flat prior and is integrated out", \
      "centre")                                                                                        \
    X(list,   noise_model,    "",            "COLUMN",                                               \
      "columns in which the logarithm of the noise sd is linear; default: the same noise everywhere", "x") \
    X(choice, solver,         "auto",        "auto|primal|dual",                                     \
      "work with p x p or n x n matrices; auto uses the dual if there are more terms than rows and more than 1000 terms", "dual") \
    X(real,   tol,            "1e-12",       ">0", "stop when the log evidence gains less than this, relatively", "1e-6") \
    X(count,  max_iter,       "10000",       ">=1", "give up after this many steps", "100")
/* clang-format on */
enum { CRI_BAYES_PRIOR_NORMAL, CRI_BAYES_PRIOR_NIG };
enum {
    CRI_BAYES_OPTIMIZE_AUTO,
    CRI_BAYES_OPTIMIZE_INTEGRATE,
    CRI_BAYES_OPTIMIZE_FIXED_POINT,
    CRI_BAYES_OPTIMIZE_EM,
    CRI_BAYES_OPTIMIZE_NONE
};
enum { CRI_BAYES_INTERCEPT_CENTRE, CRI_BAYES_INTERCEPT_FLAT };
enum { CRI_BAYES_SOLVER_AUTO, CRI_BAYES_SOLVER_PRIMAL, CRI_BAYES_SOLVER_DUAL };

CR_OPTIONS_STRUCT(cri_bayes_options, CRI_BAYES_OPTIONS);

/* clang-format off */
#define CRI_BAYES(MEMBER)                                                                           \
    MEMBER(flag, nig,     (),              "",         "normal-inverse-gamma prior, not normal")    \
    MEMBER(flag, dual,    (),              "",         "n x n equations")                           \
    MEMBER(count, averaged, (),            "spare",    "1: over alpha and beta, which are then means")\
    MEMBER(real, alpha,   (),              "any none", "normal prior: its precision")               \
    MEMBER(real, beta,    (),              "any none", "normal prior: precision of the noise")      \
    MEMBER(real, a,       (),              "any none", "nig: posterior shape")                      \
    MEMBER(real, b,       (),              "any none", "nig: posterior rate")                       \
    MEMBER(real, v,       (),              "any none", "nig: prior variance")                       \
    MEMBER(real, gamma,   (),              "any none", "effective number of coefficients")          \
    MEMBER(real, rss,     (),              "any none", "|t - Z m|^2")                               \
    MEMBER(part, fit,     (cri_predictor), "",         "")                                          \
    MEMBER(part, moments, (cri_moments),   "none",     "for updates; absent after a fit in the dual, or with fit.diagonal") \
    MEMBER(part, kept,    (cri_kept_rows), "none",     "of a fit in the dual to sparse rows")         \
    MEMBER(part, varying, (cri_varying),   "none",     "of varying intercepts")                       \
    MEMBER(part, noise,   (cri_noise_model), "",       "with --noise-model")
/* clang-format on */

CRI_RECORD(cri_bayes, CRI_BAYES);

/* Values that the user gives are where a search begins; without any, all scales are averaged over. */
bool cri_bayes_averages(const cri_bayes_options *o);
/* The intercept has a flat prior. */
bool cri_bayes_is_flat(const cri_bayes_options *o);

/* What is known of the scales: the ratio lambda of the prior's precision to the noise's, or an
 * average over it (nodes > 0). */
typedef struct cri_bayes_scales {
    double     lambda;
    cri_scales average;
} cri_bayes_scales;

/* alpha, beta or a, b, and the evidence: `s` is set except what no w can explain, of which `left` is
 * known. */
cr_status cri_bayes_learn(cr_ctx *cx, cr_scratch *arena, cri_bayes *m, cri_shrinkage *s,
                          double left, const cri_bayes_options *o, double weight,
                          double target_scale, cr_report *report, cri_bayes_scales *out);

/* The posterior in the eigenbasis V diag(d) V' of the cross-products, of which the data say u (which
 * is overwritten): out_w [p] the mean, and the factor of the predictor. */
cr_status cri_bayes_condition(cr_ctx *cx, const cri_bayes_scales *scales, const double *d,
                              const double *V, double *u, cri_predictor *fit, double *out_w);

/* From the moments to the posterior: of the class. */
cr_status cri_bayes_solve(cr_ctx *cx, const cr_design *design, const void *options, void *state,
                          cr_report *report);
/* From the rows to the posterior, without a p x p matrix. */
cr_status cri_bayes_solve_dual(cr_ctx *cx, cri_bayes *m, const cri_rows *rows,
                               const cri_bayes_options *o, cr_report *report);
/* From rows to the posterior, with noise that depends on columns. */
cr_status cri_bayes_solve_noise(cr_ctx *cx, cri_bayes *m, const cri_rows *rows,
                                const cri_bayes_options *o, cr_report *report);
/* From rows to the posterior: one category of many levels. */
cr_status cri_bayes_solve_levels(cr_ctx *cx, cri_bayes *m, const cri_rows *rows,
                                 const cri_bayes_options *o, cr_report *report);
/* From rows to the posterior: groups with varying intercepts. */
cr_status cri_bayes_solve_varying(cr_ctx *cx, cri_bayes *m, const cri_rows *rows,
                                  const cri_bayes_options *o, cr_report *report);

#endif
