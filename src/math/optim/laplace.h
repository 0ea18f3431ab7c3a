/* laplace.h -- the Gaussian at the mode of a density (Laplace 1774; MacKay 2003, ch. 27).
 *   log p(x) ~ log p(x*) - (x - x*)^T A (x - x*) / 2,   A = -d2 log p at the mode x*,
 *   p ~ N(x*, A^-1),   log Z = log integral p ~ log p(x*) + (n/2) log 2 pi - log|A| / 2
 * Exact when p is a Gaussian, normalised or not. */
#ifndef CREDENCE_MATH_OPTIM_LAPLACE_H
#define CREDENCE_MATH_OPTIM_LAPLACE_H

#include "minimize.h"
#include "math/dense/view.h"

typedef struct cr_log_density {
    size_t           n;
    cr_objective_fn *log_density; /* *out_f = log p(x) up to a constant, and its gradient         */
    cr_hessian_fn   *hessian;     /* of log p; NULL: extrapolated central differences             */
    bool             no_gradient; /* log_density never gives one                                  */
    void            *user;
} cr_log_density;

typedef struct cr_laplace_report {
    double             log_density;    /* at the mode                                             */
    double             log_normaliser; /* the estimate of log Z                                   */
    double             log_det;        /* log|A|                                                  */
    cr_minimize_report search;         /* of the mode; minimises -log p                           */
} cr_laplace_report;

/* The mode from x [n] on, into x, and the covariance A^-1 into opt_covariance [n x n] (NULL or a =
 * NULL: not wanted) with one Newton step after the search, which brings the mode as near as the
 * Hessian allows.  `options` are those of the search (NULL: finer than the defaults); where the
 * density has no gradient, its differences limit the mode to about 1e-6 standard deviations.  Not
 * converging is a result: see the report.  Cost: the search, and 4 n gradients or 4 n^2 values for
 * the Hessian.  Fails with CR_ENUMERIC when the curvature at the mode is not positive definite (a
 * flat, ridged or unbounded density), else as cr_minimize does; outputs stay as they were. */
CR_API cr_status cr_laplace(cr_ctx *cx, const cr_log_density *density,
                            const cr_minimize_options *options, double *x,
                            const cr_mat *opt_covariance, cr_laplace_report *out_report);

#endif
