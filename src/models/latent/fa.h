/* fa.h -- factor analysis: a normal distribution of few hidden factors, with noise of its own in each column.
 *   t = (x - centre) / scale = W^T z + e,   z ~ N(0, I_q),   e ~ N(0, diag psi),   W [q x p]
 * psi_j is the uniqueness of column j, the rest of its variance its communality.  With R [p x p] the covariance of t
 * (divisor n) and S = W^T W + diag psi
 *   -2/n log L = p log 2 pi + f,   f = log|S| + tr(S^-1 R)
 * The maximum does not depend on the units of columns; here R is the matrix of correlations, and the units come last.
 *   1. fa.c             the model: how it learns and what it answers
 *   2. fa_number.c      how many factors
 *   3. fa_likelihood.c  the maximum of the likelihood for a matrix of correlations
 *   4. rotation.c       which axes to describe the factors by
 *   5. fa_errors.c      standard errors
 *   6. fa_gaps.c        rows with missing cells
 *   7. fa_describe.c    what a fit reports
 * Lawley & Maxwell (1971), Factor Analysis as a Statistical Method; Joreskog (1967), Psychometrika 32.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_FA_H
#define CREDENCE_MODELS_LATENT_FA_H

#include "factors.h"
#include "models/common/moments.h"

/* clang-format off */
#define CRI_FA_OPTIONS(X)                                                                          \
    X(text,   components, "auto", "",    "number of factors, all (as many as can be told apart), the share of the variance that they must explain, auto or bic: the number with the lowest BIC", "2") \
    X(choice, rotation,   "varimax", "none|varimax|promax", "axes of the factors: in the order of what they tell, at right angles, or at any", "promax") \
    X(real,   promax_power, "4", ">1", "power of the loadings that promax aims at", "3") \
    X(real,   least_uniqueness, "1e-5", "0<..<1", "share of the variance of a column that is its own at least", "0.005") \
    X(count,  restarts,   "20",   ">=1", "starts, of which the best result is kept; four will do where all of them end alike and at no bound", "50") \
    X(real,   tol,        "1e-9", ">=0", "where cells are missing: stop when a step of EM gains less than this per row", "1e-6") \
    X(count,  max_iter,   "2000", ">=1", "give up after this many steps", "100")
/* clang-format on */
enum cri_rotation { CRI_ROTATION_NONE, CRI_ROTATION_VARIMAX, CRI_ROTATION_PROMAX };
CR_OPTIONS_STRUCT(cri_fa_options, CRI_FA_OPTIONS);

/* clang-format off */
#define CRI_FA_STATE(MEMBER)                                                                       \
    MEMBER(part,   moments,        (cri_moments), "none inside", "for updates; absent where cells were missing") \
    MEMBER(part,   model,          (cri_factors), "",   "the distribution, by factors at right angles") \
    MEMBER(count,  k,              (),     ">0",        "factors, again")                           \
    MEMBER(count,  d,              (),     ">1",        "terms, again")                             \
    MEMBER(count,  tried,          (),     "",          "numbers of factors, from 1 on; 0: only one") \
    MEMBER(real,   n,              (),     ">0",        "rows, by weight")                          \
    MEMBER(real,   log_likelihood, (),     "",          "of the cells that are there")              \
    MEMBER(real,   chi2,           (),     "none",      "test of fit; NaN: there is none")          \
    MEMBER(choice, rotation,       (),     "none|varimax|promax", "of the factors that are shown")  \
    MEMBER(matrix, pattern,        (k, d), "",          "their loadings")                           \
    MEMBER(matrix, turn,           (k, k), "",          "turn z are the factors that are shown")    \
    MEMBER(matrix, pattern_sd,     (k, d), ">=0 any",   "infinite: not known")                      \
    MEMBER(vector, psi_sd,         (d),    ">=0 any",   "of the uniquenesses, likewise")            \
    MEMBER(matrix, correlation_sd, (k, k), ">=0 any",   "of the correlations of factors, likewise") \
    MEMBER(vector, at_bound,       (d),    "0..1",      "1: a uniqueness is as low as it may be")   \
    MEMBER(vector, likelihood_of,  (tried), "full",     "log likelihoods of the numbers tried")     \
    MEMBER(count,  starts,         (),     ">0",        "of the search")                            \
    MEMBER(count,  agreeing,       (),     ">0",        "starts that ended as the best")            \
    MEMBER(count,  iterations,     (),     "",          "of the best of them, or of EM over cells") \
    MEMBER(flag,   converged,      (),     "",          "it came to an end")                        \
    MEMBER(flag,   gaps,           (),     "",          "cells were missing")
/* clang-format on */
CRI_RECORD(cri_fa, CRI_FA_STATE);

/* --- the maximum (fa_likelihood.c) ------------------------------------------------------------ */

/* Starts that will do where they agree. */
enum { CRI_FA_FIRST = 4 };

typedef struct cri_fa_maximum {
    double *psi, *W; /* [p], [q x p]; W diag(psi)^-1 W^T diagonal, descending */
    double  f;
    size_t  iterations;       /* of the best start                     */
    size_t  starts, agreeing; /* made, and those that ended as the best */
    bool    converged, cut;   /* cut: by the time limit                 */
} cri_fa_maximum;

/* The lowest f for correlations R [p x p], psi >= options->least_uniqueness, from several starts or, where *opt_from
 * [p] is given, from these psi alone, and then not above f there.  psi and W of `out` are the caller's.
 * Each step is O(p^3). */
cr_status cri_fa_maximise(cr_ctx *cx, const double *R, size_t p, size_t q,
                          const cri_fa_options *options, const double *opt_from,
                          cri_fa_maximum *out);
/* true where a uniqueness is as low as it may be. */
bool cri_fa_at_bound(double psi, double least);

/* --- how many factors (fa_number.c) ----------------------------------------------------------- */

/* Correlations of n rows, and what turns f into a log likelihood. */
typedef struct cri_fa_rows {
    const double *R; /* [p x p] */
    size_t        p;
    double        n, log_units; /* sum of log sds */
} cri_fa_rows;

double cri_fa_log_likelihood(const cri_fa_rows *rows, double f);
/* Free parameters of a distribution of p columns: means, uniquenesses, and loadings less rotations; or all covariances,
 * where those are fewer. */
double cri_fa_parameters(size_t p, size_t q);
/* The degrees of freedom that q factors leave to the covariances: below 0, they cannot be told. */
double cri_fa_freedom(size_t p, size_t q);
/* The most factors that leave some or none; 1 for two columns. */
size_t cri_fa_most(size_t p);

/* The number that was chosen and its maximum, and what others had that were tried.  The arrays are the caller's, with
 * memory for as many factors as can be. */
typedef struct cri_fa_choice {
    size_t         q, tried;
    double        *log_likelihood; /* [most] of 1 .. tried factors */
    cri_fa_maximum best;           /* psi [p], W [most x p]        */
} cri_fa_choice;
/* Fails with CR_EARG, in words, where more are asked for than can be told apart. */
cr_status cri_fa_choose(cr_ctx *cx, const cri_fa_rows *rows, const cri_fa_options *options,
                        cri_fa_choice *out);

/* --- standard errors (fa_errors.c) ------------------------------------------------------------ */

/* What was fitted, in units of sds of columns: W [q x p] as rotated at right angles, psi [p]. */
typedef struct cri_fa_fitted {
    size_t        p, q;
    const double *W, *psi;
    const double *at_bound; /* [p] 1: psi is at its bound, and taken as known */
    int           rotation; /* enum cri_rotation */
    double        power;
    bool
        standardised; /* loadings are shown for columns divided by their sds, which are not known either */
} cri_fa_fitted;

/* How many numbers the information has on a side: of each column q loadings, then its uniqueness. */
static inline size_t cri_fa_width(size_t p, size_t q) { return p * (q + 1); }
/* false where the errors would take too many operations: O(width^3). */
bool cri_fa_affordable(size_t p, size_t q);
/* Adds Fisher's information of `weight` rows in which the columns at [n] are there to I [width x width]. */
cr_status cri_fa_add_information(cr_ctx *cx, const cri_fa_fitted *of, const size_t *at, size_t n,
                                 double weight, double *I);
/* From the information I, which is overwritten: sds of the loadings as shown [q x p], of psi [p] and of the
 * correlations of factors [q x q], to first order for normal rows; infinite where they are not known. */
cr_status cri_fa_errors(cr_ctx *cx, const cri_fa_fitted *of, double *I, double *loading_sd,
                        double *psi_sd, double *correlation_sd);

/* --- missing cells (fa_gaps.c) ---------------------------------------------------------------- */

/* A covariance without any bound: C [p x p] by EM in scaled terms, of rows that miss cells, with the log likelihood of
 * the cells that are there; centre [p] and scale [p]. */
typedef struct cri_fa_any {
    double *C, *centre, *scale;
    double  log_likelihood;
} cri_fa_any;
cr_status cri_fa_fit_any(cr_ctx *cx, const cri_rows *rows, const cri_fa_options *options,
                         cri_fa_any *out);
/* EM for m, whose p, q, loading and psi are set, from the centre and scale of `any` on; C of `out` is the caller's. */
cr_status cri_fa_fit_gaps(cr_ctx *cx, const cri_rows *rows, const cri_fa_options *options,
                          const cri_fa_any *any, cri_factors *m, cri_gaps_report *out);
/* The information of the cells that are there; *out_known = false where it would take too long. */
cr_status cri_fa_gaps_information(cr_ctx *cx, const cri_rows *rows, const cri_fa_fitted *of,
                                  double *I, bool *out_known);
/* The weight of the rows that have a cell at all, and the first column whose cells are all the same; p: none. */
cr_status cri_fa_survey(cr_ctx *cx, const cri_rows *rows, size_t *out_constant, double *out_n);

/* --- what a fit reports (fa_describe.c) ------------------------------------------------------- */

extern const cr_field cri_fa_statistics[], cri_fa_tables[];
cr_status cri_fa_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out);

#endif
