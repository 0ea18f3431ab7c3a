/* neighbours.h -- the points nearest to a point: k nearest, and how many within a radius.
 * Distances are Euclid's or the largest coordinate difference (max norm).  Up to 20 dimensions a
 * k-d tree of boxes serves (Friedman, Bentley & Finkel 1977), split at the median of the widest
 * side, with at most 16 points in a leaf; beyond, every point is looked at, in blocks.  Both give
 * the same bits: a distance is one sum over the coordinates in their order, and because rounding
 * keeps order, no point is nearer, as computed, than the box around it.
 * Among equal distances the smaller index comes first, so that the answer depends on nothing but
 * the points. */
#ifndef CREDENCE_MATH_NEIGHBOURS_H
#define CREDENCE_MATH_NEIGHBOURS_H

#include "base/context.h"
#include "math/dense/view.h"

typedef enum cr_norm { CR_NORM_EUCLID, CR_NORM_MAX } cr_norm;

typedef struct cr_neighbours cr_neighbours; /* const once built: threads may share it */

/* Makes ready for queries among the rows of X, which is copied.  O(n log n d) time, about three
 * times the memory of X.  Fails with CR_EARG for no rows or no columns, CR_EDATA for a coordinate
 * that is not finite, CR_ENOMEM or CR_EINTERRUPTED; then *out is left as it was. */
CR_API cr_status cr_neighbours_new(cr_ctx *cx, cr_cmat X, cr_norm norm, cr_neighbours **out);
/* Frees it; NULL is allowed. */
CR_API void cr_neighbours_free(cr_ctx *cx, cr_neighbours *nb);

/* The k nearest points of each query, nearest first: out_index [q x k], out_distance [q x k].  The
 * queries are the rows of *opt_Q; NULL means the points themselves, each of which then leaves
 * itself out.  In few dimensions O(log n + k) each, roughly.  Fails with CR_EARG when there are
 * fewer than k points (others) or the columns differ, CR_EDATA for a query that is not finite. */
CR_API cr_status cr_neighbours_nearest(cr_ctx *cx, const cr_neighbours *nb, const cr_cmat *opt_Q,
                                       size_t k, size_t *out_index, double *out_distance);
/* How many points are nearer than radius[i] to query i, or as near (closed): out_count [q].
 * Queries as above. */
CR_API cr_status cr_neighbours_count(cr_ctx *cx, const cr_neighbours *nb, const cr_cmat *opt_Q,
                                     const double *radius, bool closed, size_t *out_count);

#endif
