/* pareto_tail.h -- how heavy the upper tail of importance weights is.
 * Above a high threshold u weights follow a generalised Pareto distribution,
 *   P(w > u + x | w > u) ~ (1 + k x / s)^(-1/k),
 * which has moments up to 1/k: with k >= 0.5 the variance is infinite and the central limit theorem
 * fails, with k >= 1 even the mean.  In practice errors can be trusted while k < 0.7.
 * Vehtari, Simpson, Gelman, Yao & Gabry (2024), JMLR 25(72): tail of min(n / 5, 3 sqrt n) weights,
 * k drawn towards 0.5 as by ten more.  The fit is that of Zhang & Stephens (2009), Technometrics
 * 51: the mean of a posterior over a grid, O(m sqrt m) for m weights.  (Internal header.) */
#ifndef CREDENCE_PROB_PARETO_TAIL_H
#define CREDENCE_PROB_PARETO_TAIL_H

#include "base/context.h"

/* k of n weights, given by their logs (-INFINITY: 0), any scale.  NaN where fewer than five of the
 * tail lie above its threshold and they are not all the same, -INFINITY where they are: there is
 * no tail.  Fails with CR_ENOMEM. */
cr_status cri_pareto_tail(cr_ctx *cx, const double *log_w, size_t n, double *out_k);

#endif
