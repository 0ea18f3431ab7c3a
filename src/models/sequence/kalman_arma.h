/* kalman_arma.h -- stationary autoregressions by their partial autocorrelations, and the adjoint of the covariance that
 * they have in the long run.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_KALMAN_ARMA_H
#define CREDENCE_MODELS_SEQUENCE_KALMAN_ARMA_H

#include <stdbool.h>
#include <stddef.h>

/* theta [n] to coefficients out [n] of a stationary autoregression: partial autocorrelations
 * r = theta / sqrt(1 + theta^2) and Durbin's recursion (Barndorff-Nielsen & Schou 1973).  jacobian [n x n]:
 * d out_i / d theta_j.  O(n^3). */
void cri_partials_to_ar(const double *theta, size_t n, double *out, double *jacobian);

/* The numbers r by theta and back. */
double cri_partial_of(double theta);
double cri_theta_of(double partial);

#endif
