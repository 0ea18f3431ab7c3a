/* gmm.h -- Gaussian mixtures: the state, and what the files of the model share.
 *   x | component c ~ N(mu_c, S_c),   P(c) = share_c,   c = 1 .. k,   x in R^d
 * All but the descriptor works on t = (x - centre) / scale, in which the numbers are of moderate size whatever the
 * offsets and units of the columns are.
 *
 *   1. gmm.c          options, answers, description, descriptor
 *   2. gmm_step.c     E-step and M-step: densities, expected statistics, the next state
 *   3. gmm_missing.c  the same of rows with missing cells
 *   4. gmm_forms.c    the covariances of each form from scatter matrices, free parameters
 *   5. gmm_start.c    starts: clusters of some rows, and short runs on these; gmm_tree.c, gmm_swap.c
 *   6. gmm_plan.c     before the starts: survey of all rows, some rows to start from
 *   7. gmm_vb.c       a posterior by variational Bayes
 *   8. gmm_search.c   the search: prior, candidates, rejected ends, the choice
 *   9. gmm_vector.c   a state as numbers without constraints, in which steps are extrapolated
 *  10. gmm_errors.c   standard errors, from the information
 *  11. gmm_directions.c  the directions in which the covariances of a form can move
 *  12. gmm_gibbs.c    draws from the posterior: one sweep; answers averaged over draws
 *  13. gmm_chains.c   chains of sweeps, which component is which, do they agree
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_GMM_H
#define CREDENCE_MODELS_LATENT_GMM_H

#include "models/core/em.h"

/* The forms of the covariances S_c = lambda_c D_c A_c D_c^T by volume (lambda), shape (A) and orientation (D): Equal
 * for all components, Variable, or Identity.  Banfield & Raftery (1993), Biometrics 49; Celeux & Govaert (1995),
 * Pattern Recognition 28.  Beside them factors: S_c = W_c W_c^T + s2_c I, W_c [d x factors], a mixture of probabilistic
 * principal components.  Tipping & Bishop (1999), Neural Computation 11. */
#define CRI_GMM_FORMS "EII|VII|EEI|VEI|EVI|VVI|EEE|VEE|EVE|VVE|EEV|VEV|EVV|VVV|ppca"
typedef enum cri_gmm_form {
    CRI_GMM_EII,
    CRI_GMM_VII,
    CRI_GMM_EEI,
    CRI_GMM_VEI,
    CRI_GMM_EVI,
    CRI_GMM_VVI,
    CRI_GMM_EEE,
    CRI_GMM_VEE,
    CRI_GMM_EVE,
    CRI_GMM_VVE,
    CRI_GMM_EEV,
    CRI_GMM_VEV,
    CRI_GMM_EVV,
    CRI_GMM_VVV,
    CRI_GMM_PPCA,
    CRI_GMM_FULL, /* from here on names that an option has for some of them */
    CRI_GMM_TIED,
    CRI_GMM_DIAG,
    CRI_GMM_SPHERICAL,
    CRI_GMM_AUTO
} cri_gmm_form;
enum { CRI_GMM_N_FORMS = CRI_GMM_PPCA }; /* by letters: those that auto tries */

/* As the choices of --infer. */
enum { CRI_GMM_INFER_EM, CRI_GMM_INFER_VB, CRI_GMM_INFER_GIBBS };

/* Whether a state has standard errors, and why not. */
typedef enum cri_gmm_errors {
    CRI_GMM_ERRORS_UNKNOWN, /* it was stored before there were any */
    CRI_GMM_ERRORS_FOUND,
    CRI_GMM_ERRORS_FLAT, /* the information has no inverse */
    CRI_GMM_ERRORS_MANY, /* too many parameters */
    CRI_GMM_ERRORS_LATE  /* the time limit was reached */
} cri_gmm_errors;

/* Draws from the posterior by Gibbs sampling, and what is said of them; absent of other states.  Parameters are in the
 * order of `error` below. */
/* clang-format off */
#define CRI_GMM_POSTERIOR_DRAWS(MEMBER)                                                                    \
    MEMBER(count,  made,              (),           ">0",  "draws after the warm-up, of all chains") \
    MEMBER(count,  chains,            (),           ">0",  "chains")                               \
    MEMBER(count,  warm_up,           (),           "",    "sweeps of each chain before its draws") \
    MEMBER(count,  relabelled,        (),           "",    "draws with another order of components") \
    MEMBER(count,  kept,              (),           ">0",  "draws that answers are averaged over") \
    MEMBER(count,  size,              (),           ">0",  "numbers of one of them")               \
    MEMBER(count,  listed,            (),           ">0",  "k + 2 k d")                            \
    MEMBER(real,   log_likelihood,    (),           "",    "its mean over the draws")              \
    MEMBER(real,   log_likelihood_sd, (),           ">=0", "its sd")                               \
    MEMBER(real,   likelihood_rhat,   (),           "any none", "R-hat of it")                     \
    MEMBER(real,   likelihood_ess,    (),           "any none", "its effective number of draws")   \
    MEMBER(matrix, draws,             (kept, size), "",    "shares, means and factors of each")    \
    MEMBER(vector, value,             (listed),     "",    "means of shares, and in t of means and sds") \
    MEMBER(vector, rhat,              (listed),     "any", "of each")                              \
    MEMBER(vector, ess,               (listed),     "any", "of each")
/* clang-format on */
CRI_RECORD(cri_gmm_posterior_draws, CRI_GMM_POSTERIOR_DRAWS);
extern const cri_member cri_gmm_posterior_draws_record[];

/* clang-format off */
#define CRI_GMM(MEMBER)                                                                            \
    MEMBER(count,  d,              (),      ">0",            "columns")                            \
    MEMBER(count,  k,              (),      ">0",            "components")                         \
    MEMBER(count,  kd,             (),      ">0",            "k d")                                \
    MEMBER(count,  width,          (),      ">0",            "of a factor: d, or 1 of a diagonal one") \
    MEMBER(choice, form,           (),      CRI_GMM_FORMS,   "of the covariances")                 \
    MEMBER(count,  factors,        (),      "spare",         "of each component, with ppca")       \
    MEMBER(vector, centre,         (d),     "",              "of the columns")                     \
    MEMBER(vector, scale,          (d),     ">0",            "what they are divided by")           \
    MEMBER(vector, share,          (k),     ">=0 sums",      "P(c)")                               \
    MEMBER(flag,   vb,             (),      "",              "a posterior, by variational Bayes")  \
    MEMBER(real,   alpha,          (),      ">=0",           "of the Dirichlet prior of the shares, with vb") \
    MEMBER(vector, rows,           (k),     ">=0",           "expected, of each component, with vb") \
    MEMBER(matrix, mean,           (k, d),  "",              "of t")                               \
    MEMBER(matrix, L,              (kd, width), "",          "Cholesky factors of the covariances of t") \
    MEMBER(real,   prior_rows,     (),      ">=0",           "that the prior of a covariance counts for; 0: no prior") \
    MEMBER(real,   prior_kappa,    (),      ">=0",           "the same of a mean")                   \
    MEMBER(matrix, prior_scale,    (d, width), "",           "Lambda of the prior, or its diagonal") \
    MEMBER(real,   prior_log_det,  (),      "",              "log|Lambda|, with vb")               \
    MEMBER(real,   weight,         (),      ">0",            "of the rows")                        \
    MEMBER(real,   log_likelihood, (),      "none",          "of the rows; NaN with vb")           \
    MEMBER(real,   log_certainty,  (),      "",              "sum of log p(cluster | row)")        \
    MEMBER(count,  rejected,       (),      "",              "starts whose end was")               \
    MEMBER(real,   best_rejected,  (),      "none",          "the highest objective of these")     \
    MEMBER(count,  tried,          (),      ">0",            "candidates")                         \
    MEMBER(vector, tried_k,        (tried), ">=1",           "their components")                   \
    MEMBER(vector, tried_form,     (tried), ">=0",           "and forms")                          \
    MEMBER(vector, tried_likelihood, (tried), "any",         "log likelihood, with vb the bound; NaN: every end was rejected") \
    MEMBER(count,  started,        (),      "spare",         "candidates, or 0: their starts were not kept") \
    MEMBER(vector, tried_starts,   (started), ">=0 full",    "their starts")                       \
    MEMBER(part,   em,             (cri_em_outcome), "inside", "how it was found")                 \
    MEMBER(count,  errors,         (),      "spare",         "cri_gmm_errors")                     \
    MEMBER(count,  listed,         (),      "spare",         "k + 2 k d, or 0")                    \
    MEMBER(vector, error,          (listed), "any none",     "sds of shares, and in t of means and of sds") \
    MEMBER(part,   sampled,        (cri_gmm_posterior_draws), "inside none", "with gibbs")         \
    MEMBER(matrix, U,              (kd, width), "made",      "inverses of the factors")            \
    MEMBER(matrix, b,              (k, d),  "made",          "U mean")                             \
    MEMBER(vector, constant,       (k),     "made",          "log of share and of all but the exponential") \
    MEMBER(real,   log_scale,      (),      "made",          "sum of log scale")
/* clang-format on */
/* `made` has the constants, b and U of each draw that is kept. */
CRI_RECORD(cri_gmm, CRI_GMM, bool lost; char *text; const char **names; double *made;);
extern const cri_member cri_gmm_record[];

#define CRI_GMM_OPTIONS(X)                                                                         \
    X(text, k, "1:9", "N", "number of components, or the first and last to choose from by BIC",    \
      "3")                                                                                         \
    X(choice, covariance, "full", CRI_GMM_FORMS "|full|tied|diag|spherical|auto",                  \
      "covariances of the components: each its own, one for all, without correlations, or round; " \
      "volume, shape and orientation by letters (E equal, V variable, I identity); ppca: few "     \
      "--factors and noise, ppca:2 is the same as ppca with --factors 2; or auto: the form by "    \
      "letters with the lowest BIC",                                                               \
      "VEV")                                                                                       \
    X(count, factors, "1", ">=1", "factors of each component with --covariance ppca", "2")         \
    X(choice, prior, "niw", "niw|none",                                                            \
      "weak normal-inverse-Wishart prior on means and covariances, or plain likelihood", "none")   \
    X(real, prior_rows, "0.1", ">0", "rows that the prior of a covariance counts for", "1")        \
    X(real, least_spread, "1e-3", ">=0",                                                           \
      "reject ends in which a component has a variance, in some direction, below this share of "   \
      "the smallest variance of all rows",                                                         \
      "1e-6")                                                                                      \
    X(choice, infer, "em", "em|vb|gibbs",                                                          \
      "estimates by EM; a posterior by variational Bayes, whose bound on the log evidence "        \
      "chooses the number of components; or draws from the posterior by Gibbs sampling",           \
      "vb")                                                                                        \
    X(real, alpha, "1", ">0",                                                                      \
      "of the Dirichlet prior of the shares with --infer vb or gibbs: small values empty "         \
      "components that are not needed",                                                            \
      "0.01")                                                                                      \
    X(count, draws, "2000", "20..1e6", "gibbs: number of draws of all chains together", "10000")   \
    X(count, chains, "4", "1..64", "gibbs: number of Markov chains", "2")                          \
    X(count, warm_up, "200", ">=0", "gibbs: sweeps of each chain before its first draw", "1000")   \
    CRI_EM_OPTIONS(X)
CR_OPTIONS_STRUCT(cri_gmm_options, CRI_GMM_OPTIONS);

static inline bool cri_gmm_is_diagonal(int form) { return form <= CRI_GMM_VVI; }

/* --- forms (gmm_forms.c) ---------------------------------------------------------------------- */

/* "VVV" */
const char *cri_gmm_form_name(int form);
/* Free parameters of k components of d columns: shares, means, covariances; `factors` counts with ppca alone. */
double cri_gmm_parameters(int form, size_t k, size_t d, size_t factors);

/* true when other units of the columns change nothing but the units of the covariances. */
bool cri_gmm_is_unit_free(int form);

/* The covariances C [k][d x width] of the form of m that maximise sum_c -N_c/2 log|S_c| - tr(W_c S_c^-1)/2, or increase
 * it from those of the state, for the scatter matrices W [k][d x width] and what they count, N [k]; 0 where there
 * are none. */
cr_status cri_gmm_covariances(cr_ctx *cx, const cri_gmm *m, const double *W, const double *N,
                              double *C);

/* --- steps (gmm_step.c) ----------------------------------------------------------------------- */

/* A state of its shape with nothing in it; `tried` candidates. */
cr_status cri_gmm_new(cr_ctx *cx, size_t k, size_t d, int form, size_t tried, cri_gmm **out);
/* Sets the factors to those of the covariances C [k][d x width]; false where one has none. */
bool cri_gmm_set_covariances(cri_gmm *m, const double *C);
/* What is made of shares, means and factors: U, b, constants. */
void cri_gmm_prepare(cri_gmm *m);
/* Statistics: the log likelihood, the sum of log p(cluster | row), and of each component the sum of its
 * responsibilities, of z and of z z^T (its lower triangle; diagonal: of z^2), z = U t - b. */
size_t cri_gmm_width(const void *state);
size_t cri_gmm_work(const void *state);
void   cri_gmm_gather(const void *state, const cri_rows *rows, cri_range range, double *sums,
                      double *work);
/* The same of n rows T [n x d] of t; w [n]. */
void cri_gmm_add(const cri_gmm *m, const double *T, const double *w, size_t n, double *sums,
                 double *work);
/* Responsibilities of n <= CRI_GMM_BLOCK rows X [n x d] of data, which are overwritten: out [n x k], and log densities
 * [n]. */
void      cri_gmm_respond(const cri_gmm *m, double *X, size_t n, double *out, double *log_density,
                          double *work);
cr_status cri_gmm_solve(cr_ctx *cx, const void *options, const double *sums, void *state);
double    cri_gmm_log_prior(const void *state);
enum { CRI_GMM_BLOCK = 128 }; /* rows at a time */

/* z [d] = U_c (t - mu_c). */
void cri_gmm_whiten(const cri_gmm *m, size_t c, const double *t, double *z);
/* From the statistics of component c: the mean of its mean, and W and N of its scatter and the prior's; tmp [d width + d]. */
void cri_gmm_posterior(const cri_gmm *m, size_t c, const double *part, double *mean, double *W,
                       double *N, double *tmp);

/* out [d x d] = the covariance of component c in t. */
void cri_gmm_covariance(const cri_gmm *m, size_t c, double *out);

/* Whether a component has a variance below `least` in some direction. */
cr_status cri_gmm_is_flat(cr_ctx *cx, const cri_gmm *m, double least, bool *out);

/* --- variational Bayes (gmm_vb.c) ------------------------------------------------------------ */

/* The posterior with the shares, means and covariances of a start, of rows that weigh so much; false where the prior of
 * the covariances has no determinant. */
bool cri_gmm_vb_begin(cri_gmm *m, double alpha, double weight);
/* Shares from the expected rows of the components. */
void cri_gmm_vb_shares(cri_gmm *m);
/* E log share_c + E log|S_c^-1| / 2 - d / (2 beta_c): what stands in place of log share_c + log|U_c|. */
double cri_gmm_vb_constant(const cri_gmm *m, size_t c);
/* Minus the divergence of the posterior of all parameters from their prior. */
double cri_gmm_vb_log_prior(const cri_gmm *m);
/* log p(t_O, c | data) of a row of which q columns are known, from -|z|^2/2 and log|U_c| of these columns. */
double cri_gmm_vb_predictive(const cri_gmm *m, size_t c, size_t q, double half_square,
                             double log_det);
/* The degrees of freedom of Student's t, and what its scale matrix is of S_c. */
double cri_gmm_vb_dof(const cri_gmm *m, size_t c, double *out_stretch);
/* Posterior sds of the share of component c, of column j of its mean and of its sd, in t; NaN where there are none. */
double cri_gmm_vb_share_sd(const cri_gmm *m, size_t c);
double cri_gmm_vb_mean_sd(const cri_gmm *m, size_t c, size_t j);
double cri_gmm_vb_spread_sd(const cri_gmm *m, size_t c, size_t j);

/* --- missing cells (gmm_missing.c) ------------------------------------------------------------ */

size_t cri_gmm_missing_work(const cri_gmm *m);
/* Adds the statistics of the rows index[0 .. n) of T, in which cells are missing; those without any cell add nothing. */
void cri_gmm_add_missing(const cri_gmm *m, const double *T, const double *w, size_t n,
                         const size_t *index, double *sums, double *work);
/* Responsibilities [k] and log density of one such row t [d]. */
void cri_gmm_respond_missing(const cri_gmm *m, const double *t, double *out, double *log_density,
                             double *work);

/* A row with missing cells as the components see it: z = E z_c [k][d]; but with diagonal covariances Y_c by its
 * columns, [k][d x d] of which `missing` are there; r [k] = p(c | what is observed). */
typedef struct cri_gmm_seen {
    const double *z, *Y, *r;
    size_t        missing;
} cri_gmm_seen;
/* *out refers to work [cri_gmm_missing_work]. */
void cri_gmm_see_missing(const cri_gmm *m, const double *t, cri_gmm_seen *out, double *work);

/* --- standard errors (gmm_errors.c) ----------------------------------------------------------- */

/* Sets `errors` and, where there are any, the standard errors of shares, means and sds; `late`: there is no time. */
cr_status cri_gmm_find_errors(cr_ctx *cx, const cri_rows *rows, bool late, cri_gmm *m);

/* --- chains (gmm_chains.c) ------------------------------------------------------------------ */

/* The greatest R-hat and the least effective number of draws, of the log likelihood and all parameters. */
double cri_gmm_worst_rhat(const cri_gmm *m);
double cri_gmm_least_ess(const cri_gmm *m);

/* --- a state as a vector (gmm_vector.c) ------------------------------------------------------- */

size_t    cri_gmm_dimension(const void *state);
void      cri_gmm_to_vector(const void *state, double *out);
cr_status cri_gmm_from_vector(cr_ctx *cx, const double *vector, void *state, bool *out_valid);

/* --- starts (gmm_start.h) --------------------------------------------------------------------- */

/* Some rows, that starts are made of. */
typedef struct cri_gmm_rows {
    size_t  n, d;
    double *T, *w;       /* [n x d] of t, [n] weights */
    double  weight;      /* of all of them */
    double  least;       /* a component that varies less in some direction is flat */
    double  least_share; /* one with less of the rows is spurious */
} cri_gmm_rows;

/* --- the search (gmm_search.c) ---------------------------------------------------------------- */

extern const cri_em_search cri_gmm_search;

/* --- the model (gmm.c) ------------------------------------------------------------------------ */

/* The names of the clusters, "1", "2", ... */
cr_status cri_gmm_name(cr_ctx *cx, cri_gmm *m);

#endif
