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
 * has terms; G is given whole, or made of the columns for the working set as it grows.  Sets too
 * large for that are solved by columns, a step for as many operations as there are rows.  Where
 * descent is slow, the equations of the terms that are not 0 are solved as they stand (of very many
 * terms, by conjugate gradients), which ends it at once when their signs are right.
 *
 * One lambda:
 *   begin; do solve; while (not check)      descent.c
 *   solve: sweeps and direct solutions      descent_solve.c
 * where check wants the gradients of all terms, which is most of the work with many terms, and
 * which several descents on the same columns can have at once (columns.h).  The sweeps of a lambda
 * are bounded by the settings, the rounds that bring no new term by 3.
 *
 * Friedman, Hastie & Tibshirani (2010), J. Stat. Software 33(1); Tibshirani et al. (2012), "Strong
 * rules for discarding predictors", JRSS B 74.  Raw: nothing here allocates, but for _of_, or
 * fails.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_DESCENT_H
#define CREDENCE_MODELS_LINEAR_DESCENT_H

#include "known.h"
#include "models/common/moments.h"

typedef struct cri_descent_settings {
    double        l1_ratio;    /* r                                               */
    double        tolerance;   /* of the violation                                */
    size_t        most_sweeps; /* passes over the working set for one lambda      */
    const cr_ctx *cx;          /* asked whether to stop, after each pass; or NULL */
} cri_descent_settings;

enum { CRI_DESCENT_JOIN = 16 }; /* places whose products are made at once */

typedef struct cri_descent {
    cri_descent_settings settings;
    size_t               p, m;         /* terms; those in the working set                         */
    double               weight, unit; /* W; sd of the target (about its mean with an intercept)  */
    size_t              *order;        /* [p] place -> term                                       */
    double              *b, *c, *c0;   /* [p] by place; c0 = c at b = 0                           */
    double              *square;       /* [p] by place: |z|^2 / W; 0 of a constant term           */
    double              *G;            /* [stride x stride] by place, of the first `known` places */
    size_t               stride, known; /* p and p when it was given                              */
    const cri_columns   *X;             /* by term; NULL when G was given                         */
    double              *r, *z;         /* [X->residual_size] the residual, and room for a column */
    double *joining;       /* [CRI_DESCENT_JOIN x X->residual_size] columns that join the set */
    size_t *support, most; /* [p] places that are not 0; how many K has room for              */
    double *K, *d, *slope, *sign; /* [most x most], [p]: their equations               */
    double *left, *way, *product; /* [p] workspace for conjugate gradients             */
    double *before;               /* [p] by place: b at the lambda before              */
    cri_known_gradients known_at; /* of earlier residuals; by columns                  */
    bool                taken;    /* c is up to date wherever the check can turn on it */
    double              lambda, lambda_before, tt; /* tt = |t|^2 / W */
    /* about the last step */
    size_t sweeps, since, idle; /* since the last direct solution; rounds without a new term */
    size_t gradient_steps;      /* that conjugate gradients last took                        */
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

/* The same in parts.  begin chooses the working set for lambda; solve solves for it, and by columns
 * leaves the residual in d->r; wanted is a residual whose products with all columns the check must
 * have, or NULL where what is known of earlier ones will do; check takes these products, by term, at
 * c[j * stride] (NULL where none are wanted), and is true when nothing more is to be done. */
void          cri_descent_begin(cri_descent *d, double lambda);
void          cri_descent_solve(cri_descent *d);
const double *cri_descent_wanted(cri_descent *d);
bool          cri_descent_check(cri_descent *d, const double *c, size_t stride);

/* Goes back to a lambda it has been at, with the coefficients it had there by term, and finishes
 * them: the violation falls to about rounding. */
void cri_descent_finish(cri_descent *d, double lambda, const double *b);

/* (1/W) |t - Z b|^2. */
double cri_descent_mse(const cri_descent *d);

/* How many coefficients are not 0; and all of them by term, out [p]. */
size_t cri_descent_nonzero(const cri_descent *d);
void   cri_descent_coefficients(const cri_descent *d, double *out);

/* out [k x k] = z_i . z_j / W of k terms, in the rows and columns from `first` on; `place` [p] is
 * workspace. */
void cri_descent_products(const cri_descent *d, const size_t *terms, size_t first, size_t k,
                          size_t *place, double *out);

/* --- inside (descent_solve.c) ---------------------------------------------------------------- */

static inline double cri_descent_l1(const cri_descent *d)
{
    return d->lambda * d->settings.l1_ratio;
}
static inline double cri_descent_l2(const cri_descent *d)
{
    return d->lambda * (1 - d->settings.l1_ratio);
}
/* true while the working set is solved by cross-products: c of its places is up to date, and by
 * columns the residual is not. */
static inline bool cri_descent_by_products(const cri_descent *d) { return d->m <= d->stride; }
/* How far place i is from the conditions, from its c. */
double cri_descent_violation(const cri_descent *d, size_t i, double c);
/* The gradients of the working set, or the residual, anew from b. */
void cri_descent_refresh(cri_descent *d);
/* The terms that are not 0 into d->support; their number. */
size_t cri_descent_support(cri_descent *d);
/* A step towards the minimum over the support with the signs it has. */
void cri_descent_solve_directly(cri_descent *d, size_t k);

#endif
