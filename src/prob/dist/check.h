/* check.h -- what the checked entry points share: parameters against their domains, and refusals in
 * the same words everywhere.  (Internal header.) */
#ifndef CREDENCE_PROB_DIST_CHECK_H
#define CREDENCE_PROB_DIST_CHECK_H

#include "dist_class.h"

bool cri_in_domain(const cri_domain *d, double x);
/* CR_EUNSUPPORTED: this distribution does not offer `what`. */
cr_status cri_not_offered(cr_ctx *cx, const cr_dist_class *c, const char *what);
/* CR_EUNSUPPORTED when a scalar call meets a distribution of vectors, or the other way round. */
cr_status cri_check_kind(cr_ctx *cx, const cr_dist_class *c, bool vector);
/* Stores a result; CR_ENUMERIC when it is NaN: `what` does not exist for these parameters. */
cr_status cri_keep(cr_ctx *cx, const cr_dist_class *c, const char *what, double value, double *out);
/* The same for entropies and divergences, which are sums for counts: those give up, with NaN, when
 * they are too long. */
cr_status cri_keep_sum(cr_ctx *cx, const cr_dist_class *c, const char *what, double value,
                       double *out);

#endif
