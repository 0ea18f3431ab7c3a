/* mean_field.h -- the product of independent distributions that is nearest to the posterior.
 *   log Z >= F(q) = sum_f E_q[log f] + sum_i H(q_i)
 *   q_i(x_i) ~ exp( sum_{f with i} E_q[log f | x_i] )      one variable after another: F never
 * falls log 0 is first replaced by a penalty that grows, so that q finds its way out of what is
 * impossible; at the end it is -INFINITY again, with 0 log 0 = 0, and the bound holds.  If q still
 * has a part in something impossible, a single assignment takes its place. Wainwright & Jordan
 * (2008), sec. 5; Bishop (2006), sec. 10.1.  (Internal header.) */
#ifndef CREDENCE_GRAPH_APPROXIMATE_MEAN_FIELD_H
#define CREDENCE_GRAPH_APPROXIMATE_MEAN_FIELD_H

#include "approximate.h"
#include "factor_graph.h"

/* q [start[n]] is where it begins (all > 0 is usual) and ends; opt_trace [max_iter] gets F after
 * each sweep of the last penalty.  *out_bound: F, -INFINITY if q touches the impossible. */
cr_status cri_mean_field(cr_ctx *cx, const cri_fgraph *g, const cr_approximate_options *o,
                         double *inout_q, double *opt_trace, double *out_bound,
                         cr_approximate_report *report);

#endif
