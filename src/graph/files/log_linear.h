/* log_linear.h -- the canonical parameterisation of a positive distribution.
 *
 *   log phi(x) = sum over D of eps_D(x_D),
 *
 *   eps_D(d) = sum over Z in D of (-1)^|D - Z| l(d_Z, r_-Z),
 *
 * with l the log of the product of all tables and r a reference assignment (Hammersley & Clifford).
 * eps_D is 0 wherever some variable of D is in its reference state, so that it is a list of
 * indicator features, and D is within the scope of some table.  Koller & Friedman (2009),
 * sec. 4.4.2.1. */
#ifndef CREDENCE_GRAPH_FILES_LOG_LINEAR_H
#define CREDENCE_GRAPH_FILES_LOG_LINEAR_H

#include "graph/network/cpd.h"

/* The same distribution as a Markov network of features, one table for each set D, small sets
 * first; the product of its tables is that of the tables of `net`, also unnormalised. opt_reference
 * [variables]: states; NULL: the first of each.  Weights that rounding alone could have made are
 * left out, and the constant eps_{} where its exp() would be no number.  Each table is gone over
 * once per variable of its scope.  Fails with CR_EDATA when a table has a 0, which no finite
 * weights give. */
CR_API cr_status cr_network_canonical(cr_ctx *cx, const cr_network *net,
                                      const size_t *opt_reference, cr_network **out_net);

/* Adds features over the same variables, in the same order, as one table, which remembers them. */
cr_status cri_network_add_log_linear(cr_ctx *cx, cr_network *net, size_t n,
                                     const cr_feature *feature);

#endif
