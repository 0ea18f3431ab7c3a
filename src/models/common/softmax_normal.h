/* softmax_normal.h -- the softmax averaged over a normal distribution of the scores.
 *   E softmax(mean + L x),   x ~ N(0, I) in M dimensions
 * by a lattice of points and their mirror images: powers of the generalised golden ratio, made
 * normal. The error falls about as 1 / count; with 4096 points and scores that spread by 1 it is
 * about 1e-4.  (Internal header.) */
#ifndef CREDENCE_MODELS_COMMON_SOFTMAX_NORMAL_H
#define CREDENCE_MODELS_COMMON_SOFTMAX_NORMAL_H

#include <stddef.h>

/* The points that intervals of probabilities are taken from, without mirror images. */
enum { CRI_INTERVAL_POINTS = 2048 };

/* How many points M scores are given, so that a row costs a millisecond or so.  Pure. */
size_t cri_softmax_count(size_t M);
/* points [count x M] := the lattice, without the mirror images.  Pure. */
void cri_softmax_points(size_t M, size_t count, double *points);
/* Linear in place: unit covariance of the points and their mirror images; left alone if 4 M >
 * count.  Pure. */
void cri_softmax_whiten(size_t M, size_t count, double *points);
/* Lower Cholesky factor in place of C [M x M]; what is not positive is taken as 0.  Pure. */
void cri_factor_small(double *C, size_t M);
/* out [M] := the mean over the points and their mirror images; L [M x M] lower, workspace [M].
 *  Pure. */
void cri_softmax_normal(const double *points, size_t count, size_t M, const double *mean,
                        const double *L, double *workspace, double *out);
/* values [M x stride], the first 2 count of each row := the softmax at the points and their mirror images by
 * turns; workspace [M].  Pure. */
void cri_softmax_values(const double *points, size_t count, size_t M, const double *mean,
                        const double *L, double *workspace, size_t stride, double *values);
/* low, high [M] := the central interval of mass `level` of each row of values [M x count], which are sorted in place.
 * Pure. */
void cri_central_intervals(double *values, size_t M, size_t count, double level, double *low,
                           double *high);

#endif
