/* bayes_average.h -- the average over alpha, the prior precision of the slopes of a Bayesian logistic
 * regression.
 *   b ~ N(0, I/alpha),   t = sqrt(c signal / alpha) / (pi / sqrt 3) ~ half Student t, 4 degrees of freedom
 * signal = the sum of the mean squares of the columns of z, c = 1 with one vector of coefficients and 2
 * with one for each class: t is the sd of the log odds between two classes over rows, before any data, in
 * units of the sd of the standard logistic distribution, which is what stands for the noise here.  Its
 * median is 0.74, and it is above 2.8 with probability 0.05; four degrees of freedom leave the
 * coefficients of separated classes a mean and a variance.  Gelman (2006), Bayesian Analysis 1.
 *
 * The integral over x = - 2 log t, which is log alpha but for a constant, is taken by the trapezoid rule
 * (math/trapezoid.h): the prior of the slopes is then a mixture of normals, one for each node, and so is
 * the posterior of Laplace's approximation; draws are of the posterior under the mixture as prior.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LOGISTIC_BAYES_AVERAGE_H
#define CREDENCE_MODELS_LOGISTIC_BAYES_AVERAGE_H

#include "bayes_logistic.h"

/* The prior has `nodes` normals; the approximate posterior has `parts`, as many, or a single one with the
 * moments of all where so many matrices would be too large. */
typedef struct cri_alpha_average {
    size_t  nodes, parts, D, q;
    size_t  top;        /* the node of the largest share                                   */
    size_t  slopes;     /* coefficients whose prior precision is alpha                     */
    bool    held;       /* the first of each q coefficients has a prior of its own         */
    double  base;       /* f->l2 where the posterior is evaluated: the geometric mean      */
    double *alpha;      /* [nodes]                                                         */
    double *log_prior;  /* [nodes] log of the share that the prior gives                   */
    double *log_share;  /* [nodes] log of the share that the posterior gives               */
    double *mode;       /* [nodes x D]                                                     */
    double *share;      /* [parts], sums to one                                            */
    double *centre;     /* [parts x D]                                                     */
    double *covariance; /* [parts x D x D]                                                 */
    double *L;          /* [parts x D x D] lower: the inverse of covariance is L L'        */
    double *log_det;    /* [parts] of L L'                                                 */
    double  effective;  /* number of coefficients, averaged                                */
    double  log_evidence;
} cri_alpha_average;

/* Nodes, shares and the normals of the posterior by Laplace, of `arena`; w->f and w->s end at the node of
 * the largest share. */
cr_status cri_alpha_average_new(cri_alpha_search *w, cr_scratch *arena, cri_alpha_average *out);
/* The same with the normals of the bound, whose shares are those of the bounds. */
cr_status cri_alpha_average_bound(cri_alpha_search *w, cri_alpha_average *a, size_t *out_rounds);
/* mean [D], covariance [D x D] and its inverse A [D x D] of all parts together. */
cr_status cri_alpha_average_moments(cr_ctx *cx, const cri_alpha_average *a, double *mean,
                                    double *covariance, double *A);

/* The log of the prior at theta over that with alpha = base, of which gradient [D], if there is one, is
 * minus the gradient of the log posterior: it is corrected. */
double cri_alpha_average_prior(const cri_alpha_average *a, const double *theta, double *gradient);
/* The part that draw i is of: shares of any first draws are about those of the parts. */
size_t cri_alpha_average_part(const cri_alpha_average *a, size_t i);
/* The log density at theta of the mixture of Student t's at the parts, of normals where dof is INFINITY.
 * workspace [D + parts]. */
double cri_alpha_average_log(const cri_alpha_average *a, double dof, const double *theta,
                             double *workspace);

/* The log density of the spherical Student t in D dimensions at distance^2 `square`; of the normal where
 * dof is INFINITY. */
double cri_log_student(double square, size_t D, double dof);

#endif
