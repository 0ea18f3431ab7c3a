/* smoother.h -- the cubic smoothing spline of one column in O(m), with its posterior variance.
 *   minimise  sum_k W_k (y_k - f(x_k))^2 + lambda integral f''^2
 * over all functions f.  The answer is the posterior mean of f = a line with a flat prior + an
 * integrated Wiener process of variance s^2 / lambda, seen with noise s^2 / W_k (Wahba 1978).  The
 * pair (f, f') is a Markov chain, so a filter from the first to the last knot and a smoother back
 * give f, f' and their covariance at every knot (Wecker & Ansley 1983, JASA 78, 81-89; Kohn &
 * Ansley 1987, SIAM J. Sci. Stat. Comput. 8, 33-48), and between two knots f is the cubic through
 * both pairs.
 *
 * Of the 2 x 2 covariances the determinants are carried along beside the elements, and a sum of
 * covariances is never undone by a difference: nothing cancels, however large or small lambda, the
 * gaps or m.  (Banded equations for the second derivatives lose all digits when lambda is near
 * (m / df)^4 >= 10^16 spacings.)
 *
 * Units: u = (x - origin) / scale with knots one apart on average, weights one on average, noise
 * variance one.  (Internal header.) */
#ifndef CREDENCE_MODELS_SPLINE_SMOOTHER_H
#define CREDENCE_MODELS_SPLINE_SMOOTHER_H

#include "base/context.h"

/* What is kept of a knot: its place; f and f'; their posterior covariance; and that given the knots
 * up to this one only, with its determinant. */
enum {
    CRI_KNOT_U,
    CRI_KNOT_F,
    CRI_KNOT_SLOPE,
    CRI_KNOT_VFF,
    CRI_KNOT_VFS,
    CRI_KNOT_VSS,
    CRI_KNOT_PFF,
    CRI_KNOT_PFS,
    CRI_KNOT_PSS,
    CRI_KNOT_DET,
    CRI_KNOT_SIZE
};

/* What the innovations say: sum of v^2 / S and of log S over the knots 3 .. m. */
typedef struct cri_spline_evidence {
    double squares, log_variance;
} cri_spline_evidence;

/* Fits m >= 2 knots [m x CRI_KNOT_SIZE], whose U is set and increases, to y [m] with weights W [m];
 * q = 1 / lambda > 0.  Pure. */
cri_spline_evidence cri_spline_smooth(double *knots, size_t m, const double *y, const double *W,
                                      double q);
/* f at u, and its variance unless opt_variance is NULL; beyond the ends f goes on as a line and the
 * variance grows with the cube of the distance.  O(log m).  Pure. */
double cri_spline_at(const double *knots, size_t m, double q, double u, double *opt_variance);
/* The integral of f''^2 over u.  Pure. */
double cri_spline_roughness(const double *knots, size_t m);

#endif
