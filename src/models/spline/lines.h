/* lines.h -- how the lines in a sum of splines go together.
 * With z_k = (x_k - centre_k) / spread_k, the columns brought to mean 0 and variance 1, and R their correlations, the
 * variance of level and lines that are fitted together is, in units of s^2,
 *   (1 + z^T R^-1 z) / n,    as if columns were not correlated:  (1 + z^T z) / n.
 * With few rows columns are correlated by chance: the variance grows as if there were n - p rows.  A direction in which
 * the rows do not vary counts as uncorrelated.  (Internal header.) */
#ifndef CREDENCE_MODELS_SPLINE_LINES_H
#define CREDENCE_MODELS_SPLINE_LINES_H

#include "component.h"

/* Beyond, the lines of so many columns are taken as uncorrelated. */
enum { CRI_MOST_LINES = 500 };

/* Of components c [p] of rows with weights w [n]: centre [p], spread [p], which is 1 for a constant column, and
 * excess [p x p] = R^-1 - I.  O(n p^2 + p^3). */
cr_status cri_lines_measure(cr_ctx *cx, const cri_component *c, size_t p, const double *w, size_t n,
                            double *out_centre, double *out_spread, double *out_excess);
/* z^T (R^-1 - I) z of a row x [p].  O(p^2). */
double cri_lines_excess(size_t p, const double *centre, const double *spread, const double *excess,
                        const double *x);

#endif
