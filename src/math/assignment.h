/* assignment.h -- the assignment problem: each row of a square matrix gets a column of its own at the least total cost.
 * Shortest augmenting paths with dual prices, O(k^3).  Kuhn (1955), Naval Research Logistics 2; Jonker & Volgenant
 * (1987), Computing 38.  (Internal header.) */
#ifndef CREDENCE_MATH_ASSIGNMENT_H
#define CREDENCE_MATH_ASSIGNMENT_H

#include "base/context.h"

/* out [k]: the column of each row of cost [k x k], whose numbers are finite. */
cr_status cri_assign(cr_ctx *cx, const double *cost, size_t k, size_t *out);

#endif
