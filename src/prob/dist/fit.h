/* fit.h -- what maximum-likelihood fits share: weighted moments, roots, a Newton ascent, refusals.
 * (Internal header.) */
#ifndef CREDENCE_PROB_DIST_FIT_H
#define CREDENCE_PROB_DIST_FIT_H

#include "dist_class.h"

static inline double cri_weight(const cri_sample *s, size_t i) { return s->w ? s->w[i] : 1; }

static inline double cri_point_weight(const cri_points *s, size_t i) { return s->w ? s->w[i] : 1; }

/* Weighted mean of f(x), f NULL for x itself; of (x - centre)^2; the least and largest value of
 * positive weight. */
double cri_sample_mean(const cri_sample *s, double (*f)(double));
double cri_sample_spread(const cri_sample *s, double centre);
void   cri_sample_range(const cri_sample *s, double *low, double *high);
/* The weighted median (the lower one of two).  Fails with CR_ENOMEM. */
cr_status cri_sample_median(cr_ctx *cx, const cri_sample *s, double *out);
/* The least value with at least this share of the weight at or below it.  Fails with CR_ENOMEM. */
cr_status cri_sample_quantile(cr_ctx *cx, const cri_sample *s, double share, double *out);

/* CR_EDATA when all values are equal, so that `what` has no estimate. */
cr_status cri_need_spread(cr_ctx *cx, const cri_sample *s, const char *name, const char *what);
/* CR_EDATA: no estimate, because `why`. */
cr_status cri_no_estimate(cr_ctx *cx, const char *name, const char *why);

/* x > 0 with f(x) = 0, f falling in x: bracketed in log x from `start`, then bisected and
 * polished by secants (Brent's idea).  NaN when f has one sign over 1e-300 .. 1e300. */
double cri_falling_root(double (*f)(double x, const void *user), const void *user, double start);

/* Climbs to a maximum of a function of k <= 3 unbounded variables from its gradient alone: Newton's
 * method with the Hessian by central differences, held to ascent by a ridge.  theta is start and
 * result.  Fails with CR_ENUMERIC when 200 steps do not do, CR_EINTERRUPTED. */
typedef double cri_objective(const double *theta, double *gradient, const void *user);
cr_status      cri_climb(cr_ctx *cx, const char *name, cri_objective *f, const void *user, size_t k,
                         double *theta);

#endif
