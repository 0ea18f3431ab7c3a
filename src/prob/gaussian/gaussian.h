/* gaussian.h -- Gaussians over d variables, in two forms, and their algebra.
 *   moment form     N(x; m, S) = exp(-(x - m)' S^-1 (x - m) / 2) / sqrt(det(2 pi S))
 *   canonical form  N(x; h, K) = exp(h' x - x' K x / 2 - A),   K = S^-1,  h = K m,
 *                   A = (h' K^-1 h - log det K + d log 2 pi) / 2
 * The canonical form is also called the information form.  Marginals are read off the moment form
 * and conditionals off the canonical one; the other way round each takes a Schur complement.
 * Products add canonical parameters.  Everything goes through Cholesky factors; an inverse is
 * formed only where it is itself the answer (a change of form).
 *
 *     cr_gaussian *joint = NULL, *rest = NULL;
 *     size_t       seen[] = { 2 };
 *     double       value[] = { 1.5 };
 *     cr_gaussian_new(cx, mean, cr_cmat_of(covariance, 3, 3), &joint);
 *     cr_gaussian_condition(cx, joint, seen, 1, value, &rest, NULL);
 *
 * A covariance may be singular (semidefinite): such a Gaussian has marginals, conditionals, affine
 * maps and draws, but no density, and what needs one is refused by naming the variable, x[i]
 * counted from 0, that is determined by those before it.  A canonical form may be improper, its K
 * not positive definite, as quotients are; it can still be multiplied, divided and conditioned.
 * Variances and pivots count as 0 when rounding alone could have made them (8 d 2^-52 of the
 * variance).  Results are new objects, to be freed; on failure outputs stay as they were.
 * Besides what is said below, all calls fail with CR_EARG when sizes do not fit or a number is not
 * finite, with CR_ENOMEM and with CR_EINTERRUPTED.
 * Bishop (2006), Pattern Recognition and Machine Learning, sec. 2.3; Koller & Friedman (2009),
 * Probabilistic Graphical Models, ch. 7 and sec. 14.2. */
#ifndef CREDENCE_PROB_GAUSSIAN_H
#define CREDENCE_PROB_GAUSSIAN_H

#include "base/context.h"
#include "base/rng.h"
#include "math/dense/view.h"

typedef struct cr_gaussian { /* owns its arrays: read them, change the mean at will */
    size_t  d;
    double *mean;       /* [d]                        */
    double *covariance; /* [d x d], exactly symmetric */
} cr_gaussian;

typedef struct cr_canonical { /* owns its arrays */
    size_t  d;
    double *h;         /* [d]                        */
    double *precision; /* [d x d], exactly symmetric */
} cr_canonical;

/* y | x ~ N(A x + b, R): how something seen depends on what is sought.  Borrows its arrays. */
typedef struct cr_linear_gaussian {
    cr_cmat       A; /* [k x d]                         */
    const double *b; /* [k]; NULL: 0                    */
    cr_cmat       R; /* [k x k]; R.a NULL: 0, no noise  */
} cr_linear_gaussian;

/* --- making them ----------------------------------------------------------------------------- */

/* A copy of mean [d] and covariance [d x d]; d may be 0.  Fails with CR_EARG when the covariance is
 * not symmetric, or not positive semidefinite.  O(d^3 / 3), for that check. */
CR_API cr_status cr_gaussian_new(cr_ctx *cx, const double *mean, cr_cmat covariance,
                                 cr_gaussian **out);
/* Frees it; NULL is allowed. */
CR_API void cr_gaussian_free(cr_ctx *cx, cr_gaussian *g);
/* A copy of h [d] and precision [d x d], symmetric; it need not be proper. */
CR_API cr_status cr_canonical_new(cr_ctx *cx, const double *h, cr_cmat precision,
                                  cr_canonical **out);
/* Frees it; NULL is allowed. */
CR_API void cr_canonical_free(cr_ctx *cx, cr_canonical *c);

/* Whether the precision is positive definite, so that it is a distribution.  O(d^3 / 3). */
CR_API cr_status cr_canonical_is_proper(cr_ctx *cx, const cr_canonical *c, bool *out);
/* The same distribution in the other form.  O(d^3).  CR_ENUMERIC: the covariance is singular. */
CR_API cr_status cr_gaussian_to_canonical(cr_ctx *cx, const cr_gaussian *g, cr_canonical **out);
/* And back.  O(d^3).  CR_ENUMERIC: it is improper. */
CR_API cr_status cr_canonical_to_gaussian(cr_ctx *cx, const cr_canonical *c, cr_gaussian **out);
/* out [d] = the mean K^-1 h, by solving.  O(d^3 / 3).  CR_ENUMERIC: it is improper. */
CR_API cr_status cr_canonical_mean(cr_ctx *cx, const cr_canonical *c, double *out);

/* --- density, entropy, divergence, draws ----------------------------------------------------- */

/* Log densities of `count` points, x [count x d].  O(d^3 / 3 + count d^2).  CR_ENUMERIC: the
 * covariance is singular. */
CR_API cr_status cr_gaussian_logpdf(cr_ctx *cx, const cr_gaussian *g, const double *x, size_t count,
                                    double *out);
/* The same.  CR_ENUMERIC: it is improper. */
CR_API cr_status cr_canonical_logpdf(cr_ctx *cx, const cr_canonical *c, const double *x,
                                     size_t count, double *out);
/* log of the integral of exp(-(x - m)' S^-1 (x - m) / 2): log det(2 pi S) / 2. */
CR_API cr_status cr_gaussian_log_normaliser(cr_ctx *cx, const cr_gaussian *g, double *out);
/* log of the integral of exp(h' x - x' K x / 2): the log-partition A above. */
CR_API cr_status cr_canonical_log_partition(cr_ctx *cx, const cr_canonical *c, double *out);
/* Entropy in nats, log det(2 pi e S) / 2. */
CR_API cr_status cr_gaussian_entropy(cr_ctx *cx, const cr_gaussian *g, double *out);
/* The same. */
CR_API cr_status cr_canonical_entropy(cr_ctx *cx, const cr_canonical *c, double *out);
/* Kullback-Leibler divergence E_p[log p / q], >= 0.  CR_ENUMERIC: either covariance is singular. */
CR_API cr_status cr_gaussian_kl(cr_ctx *cx, const cr_gaussian *p, const cr_gaussian *q,
                                double *out);
/* The same.  CR_ENUMERIC: either is improper. */
CR_API cr_status cr_canonical_kl(cr_ctx *cx, const cr_canonical *p, const cr_canonical *q,
                                 double *out);
/* Draws `count` points, out [count x d]; the covariance may be singular. */
CR_API cr_status cr_gaussian_sample(cr_ctx *cx, const cr_gaussian *g, cr_rng *rng, size_t count,
                                    double *out);
/* The same, from the factor of the precision.  CR_ENUMERIC: it is improper. */
CR_API cr_status cr_canonical_sample(cr_ctx *cx, const cr_canonical *c, cr_rng *rng, size_t count,
                                     double *out);

/* --- some of the variables ------------------------------------------------------------------- */

/* The distribution of the variables keep [k], in that order; a change of order is k = d. */
CR_API cr_status cr_gaussian_marginal(cr_ctx *cx, const cr_gaussian *g, const size_t *keep,
                                      size_t k, cr_gaussian **out);
/* The same by the Schur complement K_aa - K_ab K_bb^-1 K_ba.  CR_ENUMERIC: K_bb is not positive
 * definite, so that the integral over the others does not exist. */
CR_API cr_status cr_canonical_marginal(cr_ctx *cx, const cr_canonical *c, const size_t *keep,
                                       size_t k, cr_canonical **out);
/* The distribution of the others, in rising order, when the variables seen [k] have these values:
 *   m_a + S_ab S_bb^-1 (values - m_b),   S_aa - S_ab S_bb^-1 S_ba
 * and *opt_log_density = log p(values).  O(k^3 / 3 + k d^2).  A variable that the others determine
 * gets variance 0.  A variable without variance may be seen at its mean, which tells nothing and
 * has density 1; elsewhere it is impossible: CR_EDATA.  CR_ENUMERIC: S_bb is singular otherwise. */
CR_API cr_status cr_gaussian_condition(cr_ctx *cx, const cr_gaussian *g, const size_t *seen,
                                       size_t k, const double *values, cr_gaussian **out,
                                       double *opt_log_density);
/* The same, h_a - K_ab values with K_aa: nothing to solve, and improper forms will do, except for
 * the density, which needs a proper one (CR_ENUMERIC). */
CR_API cr_status cr_canonical_condition(cr_ctx *cx, const cr_canonical *c, const size_t *seen,
                                        size_t k, const double *values, cr_canonical **out,
                                        double *opt_log_density);

/* --- products -------------------------------------------------------------------------------- */

/* a(x) b(x) = exp(*opt_log_constant) N(x; out), where the constant is N(m_a; m_b, S_a + S_b).
 * O(d^3).  One of the two may be singular.  CR_ENUMERIC: S_a + S_b is singular. */
CR_API cr_status cr_gaussian_product(cr_ctx *cx, const cr_gaussian *a, const cr_gaussian *b,
                                     cr_gaussian **out, double *opt_log_constant);
/* The same by adding parameters, O(d^2); the constant, if asked for, needs three proper forms. */
CR_API cr_status cr_canonical_product(cr_ctx *cx, const cr_canonical *a, const cr_canonical *b,
                                      cr_canonical **out, double *opt_log_constant);
/* a(x) / b(x) = exp(*opt_log_constant) N(x; out).  O(d^3).  CR_ENUMERIC: the quotient is improper,
 * because b is not wider than a in every direction (S_b - S_a is not positive definite). */
CR_API cr_status cr_gaussian_divide(cr_ctx *cx, const cr_gaussian *a, const cr_gaussian *b,
                                    cr_gaussian **out, double *opt_log_constant);
/* The same by subtracting parameters.  The quotient may be improper: *out_proper says so, and the
 * result is still there to be multiplied.  The constant is NaN when anything is improper. */
CR_API cr_status cr_canonical_divide(cr_ctx *cx, const cr_canonical *a, const cr_canonical *b,
                                     cr_canonical **out, bool *out_proper,
                                     double *opt_log_constant);

/* --- linear-Gaussian models ------------------------------------------------------------------ */

/* The distribution of A x + b, A [k x d], opt_b NULL for 0; singular when k > d. */
CR_API cr_status cr_gaussian_affine(cr_ctx *cx, const cr_gaussian *g, cr_cmat A,
                                    const double *opt_b, cr_gaussian **out);
/* The marginal of y: N(A m + b, A P A' + R), for x ~ N(m, P). */
CR_API cr_status cr_gaussian_predictive(cr_ctx *cx, const cr_gaussian *x,
                                        const cr_linear_gaussian *y_given_x, cr_gaussian **out);
/* The distribution of (x, y), x first. */
CR_API cr_status cr_gaussian_joint(cr_ctx *cx, const cr_gaussian *x,
                                   const cr_linear_gaussian *y_given_x, cr_gaussian **out);
/* Bayes' rule: the distribution of x given y [k], and the log evidence log p(y).  With C = A P A' +
 * R and G = P A' C^-1 it is N(m + G (y - A m - b), (I - G A) P (I - G A)' + G R G') (Joseph's form,
 * which stays positive semidefinite).  O(d^3 + k^3).  CR_ENUMERIC: C is singular. */
CR_API cr_status cr_gaussian_posterior(cr_ctx *cx, const cr_gaussian *x,
                                       const cr_linear_gaussian *y_given_x, const double *y,
                                       cr_gaussian **out, double *opt_log_evidence);
/* The same in canonical form, h + A' R^-1 (y - b) and K + A' R^-1 A: R must be positive definite
 * (CR_ENUMERIC); the prior may be improper, if the evidence is not asked for. */
CR_API cr_status cr_canonical_posterior(cr_ctx *cx, const cr_canonical *x,
                                        const cr_linear_gaussian *y_given_x, const double *y,
                                        cr_canonical **out, double *opt_log_evidence);

#endif
