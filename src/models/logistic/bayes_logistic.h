/* bayes_logistic.h -- the posterior of logistic regression under a Gaussian prior.
 *   b_m ~ N(0, I/alpha),  b0_m ~ N(0, intercept_sd^2);  z standardised;  D = M q coefficients
 * One vector of coefficients for two classes, one for each class for more.  The intercepts have a
 * prior of their own, wide and fixed: were they held back with the slopes, the probabilities of
 * rare classes would be too large.  alpha is averaged over (bayes_average.h), or the one of largest
 * evidence, or given.  By Laplace's approximation N(mode, A^-1), A = prior precisions
 * + information, and from there by importance sampling or by Hamiltonian Markov chains.  Importance
 * sampling draws from the Student t with 8 degrees of freedom at the mode; where that is worth
 * little (classes nearly separated, whose posterior leans outwards), from the one with the moments
 * of a short run of the chains.  MacKay (1992), Neural Comp. 4, 720-736; Bishop (2006), sec. 4.5;
 * Neal (2011), "MCMC using Hamiltonian dynamics".  (Internal header.) */
#ifndef CREDENCE_MODELS_LOGISTIC_BAYES_LOGISTIC_H
#define CREDENCE_MODELS_LOGISTIC_BAYES_LOGISTIC_H

#include "classifier.h"

/* As the choices of --infer; no model is AUTO, but what that came to. */
enum { CRI_INFER_LAPLACE, CRI_INFER_IMPORTANCE, CRI_INFER_MCMC, CRI_INFER_BOUND, CRI_INFER_AUTO };
enum { CRI_KEPT_DRAWS = 1000 };

/* clang-format off */
#define CRI_BAYES_LOGISTIC(MEMBER)                                                                  \
    MEMBER(count,  p,            (),      "",     "terms")                                          \
    MEMBER(count,  q,            (),      "",     "of z: p, and an intercept")                      \
    MEMBER(count,  q1,           (),      ">0",   "p + 1")                                          \
    MEMBER(count,  K,            (),      "",     "classes")                                        \
    MEMBER(count,  M,            (),      ">0",   "vectors of coefficients")                        \
    MEMBER(count,  D,            (),      "",     "M q")                                            \
    MEMBER(count,  R,            (),      "",     "draws that are kept; 0 for a normal")            \
    MEMBER(count,  infer,        (),      "",     "cri_infer")                                      \
    MEMBER(flag,   intercept,    (),      "",     "whether there is one")                           \
    MEMBER(flag,   learned,      (),      "",     "alpha maximises the evidence")                   \
    MEMBER(real,   alpha,        (),      ">0",   "prior precision of the slopes")                  \
    MEMBER(real,   log_joint,    (),      "any none", "at the mode")                                \
    MEMBER(real,   log_evidence, (),      "any none", "by the method of `infer`")                   \
    MEMBER(real,   laplace,      (),      "any none", "log evidence of Laplace's normal")           \
    MEMBER(real,   evidence_se,  (),      "any none", "of log_evidence")                            \
    MEMBER(real,   effective,    (),      "any none", "number of coefficients")                     \
    MEMBER(real,   ess,          (),      "any none", "effective number of draws")                  \
    MEMBER(real,   rhat,         (),      "any none", "of the draws")                               \
    MEMBER(real,   nll,          (),      "any none", "minus the log likelihood at the mode")       \
    MEMBER(vector, centre,       (p),     "",     "z = (x - centre) / scale")                       \
    MEMBER(vector, scale,        (p),     ">0",   "of z")                                           \
    MEMBER(vector, place,        (K),     ">=-1", "as in a classifier")                             \
    MEMBER(matrix, mode,         (M, q),  "any",  "of z")                                           \
    MEMBER(matrix, covariance,   (D, D),  "any",  "of the mode")                                    \
    MEMBER(matrix, draws,        (R, D),  "any",  "of theta, all of the same weight")               \
    MEMBER(matrix, mean,         (M, q1), "any",  "of the coefficients, in the units of the data")  \
    MEMBER(matrix, sd,           (M, q1), "any",  "of them")                                        \
    MEMBER(real,   intercept_sd, (),      "any none later", "NaN: the intercepts have the prior of the slopes") \
    MEMBER(count,  averaged,     (),      "spare", "1: over alpha, which is then the geometric mean; mode and covariance are moments") \
    MEMBER(count,  parts,        (),      "spare", "normals whose mixture the posterior is; 0: one, of mode and covariance") \
    MEMBER(count,  PD,           (),      "spare", "parts D")                                       \
    MEMBER(vector, share,        (parts), ">=0 sums full", "of the parts")                          \
    MEMBER(matrix, part_mean,    (parts, D), "any full", "of the parts")                            \
    MEMBER(matrix, part_covariance, (PD, D), "any full", "of the parts")
/* clang-format on */
CRI_RECORD(cri_bayes_logistic, CRI_BAYES_LOGISTIC);

/* The posterior as a function, at its mode; with `average`, that with alpha integrated out, at the mean of
 * its approximation. */
typedef struct cri_posterior {
    const cri_likelihood           *f;
    double                          log_prior; /* of theta = 0, whose density is the largest */
    size_t                          D;
    const double                   *mode;
    double                         *L; /* [D x D] lower: A = L L' */
    double                          log_det;
    const struct cri_alpha_average *average; /* or NULL: alpha is f->l2 */
} cri_posterior;

/* *out = log likelihood + log prior at theta. */
cr_status cri_posterior_log(cr_ctx *cx, const cri_posterior *post, const double *theta,
                            double *out);
/* *out = minus that, but for log_prior; opt_gradient [D] its gradient. */
cr_status cri_posterior_cost(cr_ctx *cx, const cri_posterior *post, const double *theta,
                             double *opt_gradient, double *out);
/* theta = mode + L'^-1 u. */
void cri_posterior_place(const cri_posterior *post, const double *u, double *theta);

/* --- alpha (bayes_alpha.c) -------------------------------------------------------------------- */

typedef struct cri_alpha_search {
    cr_ctx            *cx;
    cri_likelihood    *f;
    cri_solve_options *o;
    cri_solution      *s;
    double            *L;      /* [D x D] */
    bool               shared; /* the intercepts have the prior of the slopes */
    double             log_evidence, log_det;
    size_t             iterations;
} cri_alpha_search;

/* Mode, factor and Laplace's evidence at alpha. */
cr_status cri_alpha_at(cri_alpha_search *w, double alpha);
/* The alpha of the largest evidence; warns where there is none. */
cr_status cri_alpha_learn(cri_alpha_search *w, double *out_alpha);
/* The log density of the prior at 0, where it is the largest. */
double cri_log_prior_at_zero(const cri_likelihood *f);

/* --- the posterior ---------------------------------------------------------------------------- */

/* How far the posterior is from Laplace's normal, or mixture of normals: *out = the sd of the log of their
 * ratio over 64 draws of the normal.  0 where they agree; above 2 or so the draws are worth few of the
 * posterior. */
cr_status cri_bayes_logistic_misfit(cr_ctx *cx, const cri_posterior *post, uint64_t seed,
                                    double *out);
/* Draws by importance or MCMC: fills draws, mean, sd, ess, and evidence_se and log_evidence or
 * rhat. */
cr_status cri_bayes_logistic_draw(cr_ctx *cx, const cri_posterior *post, size_t count,
                                  uint64_t seed, cri_bayes_logistic *m);
/* Warns of draws that are worth few, and of chains that disagree. */
void cri_bayes_logistic_warn(cr_ctx *cx, const cri_bayes_logistic *m);
/* The normal of the best bound on the evidence, of two classes (bayes_bound.c), from the one in mode
 * and covariance on: these, A [q x q] = its precision, log_evidence = the bound.  It ends after `limit`
 * rounds (0: a thousand), and without opt_bounds [limit], the bound after each, where it no longer
 * rises. */
cr_status cri_bayes_logistic_bound(cr_ctx *cx, const cri_likelihood *f, size_t limit,
                                   double *opt_bounds, double *A, cri_bayes_logistic *m,
                                   size_t *out_rounds);
/* Central intervals of the probabilities under the posterior, lower and upper [n x K]: with two classes the ends of that
 * of the score, mapped; else quantiles over draws, or over a lattice of Laplace's normal. */
cr_status cri_bayes_logistic_intervals(cr_ctx *cx, const cri_bayes_logistic *m,
                                       const cri_rows *rows, double level, double *lower,
                                       double *upper);
/* The predictive probabilities. */
cr_status cri_bayes_logistic_predict(cr_ctx *cx, const cri_bayes_logistic *m, const cri_rows *rows,
                                     cr_prediction *out);

/* The integral of 1 / (1 + exp(-x)) over N(mean, sd^2): by the trapezoid rule over the normal, or,
 * for sd > 2, over the logistic density with the roles exchanged.  Both converge geometrically:
 * error below 1e-12.  Pure. */
double cri_logistic_normal(double mean, double sd);

#endif
