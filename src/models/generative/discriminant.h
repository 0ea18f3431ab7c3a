/* discriminant.h -- Gaussian class densities, of one covariance or of one each: lda, qda.
 *   p(x | k) = N(m_k, S_k),   S_k = (1 - s) C_k + s diag(C_k),   C_k = (1 - r) own + r pooled,
 * own = scatter_k / (n_k - 1), pooled = sum of scatters / (n - K), n the sum of the weights.
 * The Bayesian predictive integrates over m_k and S_k with the prior |S|^-(p+1)/2: Student's t with
 * n_k - p degrees of freedom (n - K - p + 1 of a pooled covariance) and the scale
 * S_k (1 + 1/n_k) (n_k - 1) / (n_k - p)  (with n - K and n - K - p + 1).
 * Fisher (1936); Geisser (1964), J. Royal Stat. Soc. B 26; Friedman (1989), J. Am. Stat. Assoc. 84.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_GENERATIVE_DISCRIMINANT_H
#define CREDENCE_MODELS_GENERATIVE_DISCRIMINANT_H

#include "class_moments.h"

typedef struct cri_discriminant_options {
    bool        pooled;    /* one covariance for all classes                            */
    bool        bayes;     /* predictive, not plug-in                                   */
    double      shrinkage; /* s: 0 .. 1                                                 */
    double      pool;      /* r: 0 .. 1                                                 */
    const char *priors;    /* NULL: the shares of the classes; else see cri_priors_read */
} cri_discriminant_options;

/* The densities as they are used: S = L L^T, |L^-1 (x - m_k)|^2 the squared distance of
 * Mahalanobis. With one covariance, not Bayesian, the score is linear:  offset_k + slope_k . (x -
 * centre). */
/* clang-format off */
#define CRI_DISCRIMINANT(MEMBER)                                                                   \
    MEMBER(count,  K,         (),           "",     "classes")                                     \
    MEMBER(count,  p,         (),           "",     "terms")                                       \
    MEMBER(count,  pp,        (),           "",     "their square")                                \
    MEMBER(count,  groups,    (),           "",     "1 or K covariances")                          \
    MEMBER(flag,   bayes,     (),           "",     "predictive, not plug-in")                     \
    MEMBER(real,   shrinkage, (),           "0..1", "s")                                           \
    MEMBER(real,   pool,      (),           "0..1", "r")                                           \
    MEMBER(real,   jitter,    (),           ">=0",  "share of the pooled variances added where S was singular") \
    MEMBER(vector, log_prior, (K),          "any",  "-infinity of a class without rows")           \
    MEMBER(matrix, inverse,   (groups, pp), "",     "L^-1, lower")                                 \
    MEMBER(vector, log_det,   (groups),     "",     "log |S|")                                     \
    MEMBER(matrix, variance,  (groups, p),  ">=0",  "the diagonal of S")                           \
    MEMBER(vector, dof,       (K),          "",     "of the t: degrees of freedom")                \
    MEMBER(vector, spread,    (K),          "",     "of the t: scale^2 / S")                       \
    MEMBER(vector, centre,    (p),          "",     "of the rows")                                 \
    MEMBER(matrix, slope,     (K, p),       "",     "S^-1 (m_k - centre)")                         \
    MEMBER(vector, offset,    (K),          "any",  "log prior - (m_k - centre) . slope_k / 2")
/* clang-format on */

CRI_RECORD(cri_discriminant, CRI_DISCRIMINANT);
extern const cri_member cri_discriminant_record[];

/* From the moments.  Where a covariance is singular the first of 1e-8, 1e-6, 1e-4, 1e-2 and 1 of
 * the pooled variances that makes all regular is added to the diagonals, with a warning.  Fails
 * with CR_EDATA with fewer than two classes, for a class that has a prior but no rows, and for a
 * Bayesian predictive with too few rows. */
cr_status cri_discriminant_make(cr_ctx *cx, const cr_design *design, const cri_class_moments *m,
                                const cri_discriminant_options *o, cri_discriminant *out);
/* Frees the arrays. */
void cri_discriminant_free(cr_ctx *cx, cri_discriminant *d);
/* sum over the rows of log p(x, k) at the estimate, from the moments alone; workspace [pp]. */
cr_status cri_discriminant_log_likelihood(cr_ctx *cx, const cri_discriminant *d,
                                          const cri_class_moments *m, double *workspace,
                                          double *out);

/* Class probabilities of rows, [n x K], O(n p^2 groups + n p K); discriminant_predict.c. */
cr_status cri_discriminant_predict(cr_ctx *cx, const cri_discriminant *d, const double *mean,
                                   const cri_rows *rows, double *out);
/* log p(x, k) of rows, [n x K], O(n p^2 K). */
cr_status cri_discriminant_log_joint(cr_ctx *cx, const cri_discriminant *d, const double *mean,
                                     const cri_rows *rows, double *out);

/* Whether densities that were read are those of the moments. */
bool cri_discriminant_fits(const cri_discriminant *d, const cri_class_moments *m);

/* --- what generative classifiers share (priors.c) -------------------------------------------- */

/* Log priors from --priors: NULL for the shares of the weights, "uniform", or CLASS=P for each.
 * Fails with CR_EARG for a faulty text, with CR_EDATA where fewer than two classes have rows or one
 * without rows has a prior. */
cr_status cri_priors_read(cr_ctx *cx, const cr_design *design, const char *text,
                          const double *weight, double *out_log_prior);
/* Adds "rows(CLASS)" and "prior(CLASS)" of each class to the statistics. */
void cri_priors_describe(const cr_design *design, const double *weight, const double *log_prior,
                         cri_sheet *statistics);
#define CRI_PRIOR_FIELDS                                                                           \
    CR_NUMBER("rows(CLASS)", CR_FIELD_SOMETIMES, "of each class: its rows, weighted"),             \
        CR_NUMBER("prior(CLASS)", CR_FIELD_SOMETIMES, "prior probability of each class")

/* Probabilities from log joints in place: those of one row [K].  If none is finite, far(arg, out)
 * gives them in a wider range; a row so far away that even this fails gets the priors. */
void cri_class_probabilities(double *score, size_t K, const double *log_prior,
                             void (*far)(const void *arg, long double *out), const void *arg,
                             long double *workspace);
/* The log joints themselves: adds what all classes share to each.  One that is lost on its way is
 * taken from far; one too small for a double is -infinity. */
void cri_class_joints(double *score, size_t K, double shared,
                      void (*far)(const void *arg, long double *out), const void *arg,
                      long double *workspace);

#endif
