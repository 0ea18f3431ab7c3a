/* discriminant.h -- Gaussian class densities, of one covariance or of one each: lda, qda, fisher.
 *   p(x | k) = N(m_k, S_k),   S_k = (1 - s) C_k + s diag(C_k),   C_k = (1 - r) own + r pooled,
 * own = scatter_k / (n_k - 1), pooled = sum of scatters / (n - K).  (Internal header.) */
#ifndef CREDENCE_MODELS_GENERATIVE_DISCRIMINANT_H
#define CREDENCE_MODELS_GENERATIVE_DISCRIMINANT_H

#include "class_moments.h"

typedef struct cri_discriminant_options {
    bool        pooled;    /* one covariance for all classes                    */
    double      shrinkage; /* s: 0 .. 1                                         */
    double      pool;      /* r: 0 .. 1                                         */
    const char *priors;    /* NULL: the shares of the classes; else see cri_priors_read */
} cri_discriminant_options;

/* The densities as they are used: S = L L^T, |L^-1 (x - m_k)|^2 the Mahalanobis distance. */
typedef struct cri_discriminant {
    size_t  K, p, pp, groups; /* groups: 1 or K covariances       */
    double *log_prior;        /* [K]                              */
    double *mean;             /* [K x p]                          */
    double *inverse;          /* [groups x pp] L^-1, lower        */
    double *log_det;          /* [groups] log |S|                 */
    double  shrinkage;        /* as used: more than asked for where S was singular */
} cri_discriminant;

/* From the moments.  Where a covariance is singular s is raised to the first of 1e-6, 1e-4, 1e-2, 0.1
 * and 1 that makes it regular, with a warning.  CR_EDATA with fewer than two classes. */
cr_status cri_discriminant_make(cr_ctx *cx, const cr_design *design, const cri_class_moments *m,
                                const cri_discriminant_options *o, cri_discriminant *out);
void      cri_discriminant_free(cr_ctx *cx, cri_discriminant *d);
/* Class probabilities of rows, O(n p^2 groups + n p K). */
cr_status cri_discriminant_predict(cr_ctx *cx, const cri_discriminant *d, const cri_rows *rows,
                                   cr_prediction *out);
/* sum over the training rows of log p(x, k), from the moments alone. */
double cri_discriminant_log_likelihood(const cri_discriminant *d, const cri_class_moments *m);

/* Log priors from --priors: NULL for the shares of the weights, "uniform", or CLASS=P,... */
cr_status cri_priors_read(cr_ctx *cx, const cr_design *design, const char *text,
                          const double *weight, double *out_log_prior);
/* "parameters": the mean of each term in each class with its standard error; "classes": their number
 * of rows and priors. */
cr_status cri_discriminant_describe(cr_ctx *cx, const cri_discriminant *d,
                                    const cri_class_moments *m, const cr_design *design,
                                    json_t *out);

#endif
