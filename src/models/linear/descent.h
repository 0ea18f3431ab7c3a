/* descent.h -- coordinate descent for the elastic net, from one lambda to the next.
 *   minimise  (1/2W) |t - Z b|^2 + lambda (r |b|_1 + (1 - r)/2 |b|^2)
 * with W the sum of the weights.  Notation: c_j = z_j . (t - Z b) / W, minus the gradient of the
 * sum of squares; l1 = lambda r, l2 = lambda (1 - r).  b is a solution where (Karush, Kuhn &
 * Tucker)
 *   c_j - l2 b_j = l1 sign b_j  where b_j is not 0,   |c_j| <= l1  where it is.
 * The violation of this is measured in units of |z_j| / sqrt W times the sd of the target.
 *
 * Terms stand in places; those of the working set, which alone may be other than 0, come first.
 * The set grows by the strong rule, and by every term that violates the conditions after all: none
 * is left out wrongly.  By cross-products G = Z^T Z / W a step costs as many operations as the set
 * has terms; by columns as many as there are rows.  Where descent is slow, the equations of the
 * terms that are not 0 are solved as they stand, which ends it at once when their signs are right.
 *
 * Friedman, Hastie & Tibshirani (2010), J. Stat. Software 33(1); Tibshirani et al. (2012), "Strong
 * rules for discarding predictors", JRSS B 74.  Raw: nothing here allocates, but for _new, or
 * fails.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_DESCENT_H
#define CREDENCE_MODELS_LINEAR_DESCENT_H

#include "columns.h"
#include "moments.h"

typedef struct cri_descent_settings {
    double l1_ratio;    /* r                                               */
    double tolerance;   /* of the violation                                */
    size_t most_sweeps; /* passes over the working set for one lambda      */
} cri_descent_settings;

typedef struct cri_descent {
    cri_descent_settings settings;
    size_t               p, m;    /* terms; those in the working set                             */
    double  weight, unit;         /* W; sd of the target (about its mean with an intercept)      */
    size_t *order;                /* [p] place -> term                                           */
    double *b, *c, *c0;           /* [p] by place; c0 = c at b = 0                               */
    double *square;               /* [p] by place: |z|^2 / W; 0 of a constant term               */
    double *G;                    /* [p x p] by place; NULL when solved by columns               */
    const cri_columns *X;         /* by term; NULL when solved by cross-products                 */
    double            *r, *z;     /* [X->room] the residual, and room for a column               */
    double *K, *d, *slope, *sign; /* [most x most], [most] equations of the terms not 0  */
    size_t *support, most;
    double *before; /* [p] by place: b at the lambda before                        */
    double  lambda, lambda_before, tt; /* tt = |t|^2 / W                                 */
    /* about the last step */
    size_t sweeps;
    double violation;
    bool   converged;
} cri_descent;

/* Ready to start at b = 0, in the arena; from cross-products, whose G is divided by W and then
 * reordered in place, and must live as long, or from columns. */
cr_status cri_descent_of_gram(cr_scratch *s, cri_gram *gram, const cri_descent_settings *settings,
                              cri_descent *out);
cr_status cri_descent_of_columns(cr_scratch *s, const cri_columns *X,
                                 const cri_descent_settings *settings, cri_descent *out);

/* The least lambda for which all b are 0 (of r = 0, for which there is none: that of r = 0.001). */
double cri_descent_lambda_max(const cri_descent *d);

/* Moves to the solution at lambda, best from a lambda that is a little larger. */
void cri_descent_step(cri_descent *d, double lambda);

/* Goes back to a lambda it has been at, with the coefficients it had there by term, and finishes
 * them: the violation falls to about rounding. */
void cri_descent_finish(cri_descent *d, double lambda, const double *b);

/* (1/W) |t - Z b|^2. */
double cri_descent_mse(const cri_descent *d);

/* How many coefficients are not 0; and all of them by term, out [p]. */
size_t cri_descent_nonzero(const cri_descent *d);
void   cri_descent_coefficients(const cri_descent *d, double *out);

/* out [k x k] = z_i . z_j / W of k terms; `place` [p] is room. */
void cri_descent_products(const cri_descent *d, const size_t *terms, size_t k, size_t *place,
                          double *out);

#endif
