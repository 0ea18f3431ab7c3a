/* likelihood.h -- the penalised negative log likelihood of linear classifiers, and its derivatives.
 *   F(theta) = sum_i w_i nll(y_i, eta_i) + l2/2 |b|^2 + l2_0/2 |b0|^2,   eta_im = theta_m . z_i
 * theta [M x q], m = 0 .. M-1, D = M q; b are the slopes, b0 the intercepts, free where l2_0 is 0.
 *   logit, M = 1      P(y = 0) = 1 / (1 + exp(-eta)); y = 1 is the other class
 *   softmax, M > 1    P(y = m) = exp(eta_m) / sum; y = M is a class whose eta is 0 (the reference),
 *                     where there is one (not full)
 *   probit, M = 1     P(y = 0) = Phi(eta)
 * A full softmax with free intercepts is shift-invariant in them: F then has 1/2 (sum_m b0_m)^2
 * added, which is 0 at the minimum and makes it unique.  Passes run over fixed blocks of rows: the
 * same bits for any number of threads.  O(n q M) for value and gradient, O(n (M q)^2 / 2) with the
 * Hessian. (Internal header.) */
#ifndef CREDENCE_MODELS_LOGISTIC_LIKELIHOOD_H
#define CREDENCE_MODELS_LOGISTIC_LIKELIHOOD_H

#include "classifier_rows.h"

typedef enum cri_link { CRI_LINK_LOGIT, CRI_LINK_PROBIT } cri_link;

typedef struct cri_likelihood {
    const cri_classifier_rows *x;
    const uint32_t            *y; /* [n] 0 .. M-1, or M */
    size_t                     M;
    cri_link                   link;
    bool          expected; /* the Hessian is the expected information: differs for probit only  */
    double        l2, intercept_l2;
    bool          full; /* softmax without a reference class                                  */
    size_t        step; /* only every step-th row counts; 1 = all                             */
    const size_t *sub;  /* [n_sub] places in z that the Hessian is taken of, ascending; NULL: all */
    size_t        n_sub;
    /* Where x is the first block of a stream: values, gradients and Hessians are sums over all of them, whose
     * classes have these places [classes].  NULL: x is all. */
    struct cri_passes *passes;
    const double      *place;
} cri_likelihood;

/* The length of theta. */
size_t cri_likelihood_size(const cri_likelihood *f);
/* The edge of the Hessian. */
size_t cri_likelihood_edge(const cri_likelihood *f);

typedef struct cri_likelihood_value {
    double  f;         /* penalty included                                                      */
    double  nll;       /* sum of w nll                                                          */
    double  wrong;     /* rows of positive weight whose class has not the largest score; ties too */
    double *gradient;  /* [D] or NULL: not wanted                                               */
    double *hessian;   /* [edge x edge], both triangles, or NULL                                */
    double *curvature; /* [n x M] or NULL: what products with the Hessian need                  */
} cri_likelihood_value;

/* Fills what is asked for.  Fails with CR_ENOMEM, CR_EINTERRUPTED. */
cr_status cri_likelihood_at(cr_ctx *cx, const cri_likelihood *f, const double *theta,
                            cri_likelihood_value *out);
/* out [D] = H v, from the curvature at theta.  Two passes over Z in one. */
cr_status cri_likelihood_product(cr_ctx *cx, const cri_likelihood *f, const double *curvature,
                                 const double *v, double *out);
/* out [D] = the diagonal of H. */
cr_status cri_likelihood_diagonal(cr_ctx *cx, const cri_likelihood *f, const double *curvature,
                                  double *out);
/* How far each score moves along theta: *out_largest = the largest |eta_im| over rows of positive
 * weight, *out_least = the least margin eta_y - max of the others. */
cr_status cri_likelihood_margins(cr_ctx *cx, const cri_likelihood *f, const double *theta,
                                 double *out_least, double *out_largest);

/* body(cx, arg, part) for the rows of f: once with f itself, or with each block of a stream, standardised
 * as f->x is; until one fails. */
typedef cr_status cri_part_fn(cr_ctx *cx, void *arg, const cri_likelihood *part);
cr_status cri_likelihood_each(cr_ctx *cx, const cri_likelihood *f, cri_part_fn *body, void *arg);
/* weight [M + 1] = that of each class, *out_rows = how many rows there are. */
cr_status cri_likelihood_classes(cr_ctx *cx, const cri_likelihood *f, double *weight,
                                 double *out_rows);

/* One row: eta [M]; *nll, r [M] = d nll / d eta, c [M] = the curvature (M = 1: d2 nll / d eta2;
 * else the probabilities), all without weight.  Returns the margin. */
double cri_likelihood_row(const cri_likelihood *f, const double *eta, uint32_t y, double *nll,
                          double *r, double *c);

#endif
