/* differences.h -- derivatives by finite differences.
 *   f'(x) = (f(x + h) - f(x - h)) / 2h + O(h^2),  rounding error about eps |f| / h
 * Extrapolation to h = 0 removes the leading terms of the error (Richardson 1911; Ridders 1982,
 * Adv. Eng. Software 4).  In all functions x [n] is changed and put back.  (Internal header.) */
#ifndef CREDENCE_MATH_OPTIM_DIFFERENCES_H
#define CREDENCE_MATH_OPTIM_DIFFERENCES_H

#include "base/context.h"

typedef cr_status cri_value_fn(void *arg, const double *x, double *out_f);
typedef cr_status cri_gradient_fn(void *arg, const double *x, double *out_g);

typedef struct cri_box {
    const double *lower, *upper; /* [n] or NULL */
} cri_box;

/* out_g [n]: central differences of f, one-sided where the box or a value that is not finite leaves
 * one side only.  2 n values. */
cr_status cri_difference_gradient(cr_ctx *cx, cri_value_fn *f, void *arg, size_t n, double *x,
                                  double f_at_x, cri_box box, double *out_g);
/* out_h [n x n]: forward differences of the gradient g at x, made symmetric; work [n].
 * n gradients. */
cr_status cri_difference_hessian(cr_ctx *cx, cri_gradient_fn *gradient, void *arg, size_t n,
                                 double *x, const double *g, double *work, double *out_h);

/* df/dx_i at x by Ridders' method; at most 20 values. */
cr_status cri_ridders(cri_value_fn *f, void *arg, double *x, size_t i, double *out_derivative);

/* out_step [n]: steps over which f rises from its minimum at x by about 1e-3: a few hundredths of
 * the standard deviation when f is minus a log density.  Some 10 n values. */
cr_status cri_curvature_steps(cr_ctx *cx, cri_value_fn *f, void *arg, size_t n, double *x,
                              double f_at_x, double *out_step);
/* out_h [n x n]: central differences of the gradient over these steps, extrapolated once, error
 * O(step^4); work [3 n].  4 n gradients. */
cr_status cri_extrapolated_hessian(cr_ctx *cx, cri_gradient_fn *gradient, void *arg, size_t n,
                                   double *x, const double *step, double *work, double *out_h);
/* The same from values alone: second differences.  4 n^2 values. */
cr_status cri_second_differences(cr_ctx *cx, cri_value_fn *f, void *arg, size_t n, double *x,
                                 double f_at_x, const double *step, double *out_h);

#endif
