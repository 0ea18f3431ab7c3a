/* kalman_arma.c -- Durbin's recursion and its derivative. */
#include "kalman_arma.h"

#include <math.h>
#include <string.h>

enum { MOST = 50 };

double cri_partial_of(double theta) { return theta / sqrt(1 + theta * theta); }

double cri_theta_of(double r) { return r / sqrt((1 - r) * (1 + r)); }

void cri_partials_to_ar(const double *theta, size_t n, double *out, double *jacobian)
{
    double old[MOST], change[MOST];
    memset(jacobian, 0, n * n * sizeof *jacobian);
    for (size_t k = 0; k < n; k++) { /* a_j = a_j - r a_{k-1-j}, a_k = r */
        double r = cri_partial_of(theta[k]), slope = pow(1 + theta[k] * theta[k], -1.5);
        memcpy(old, out, k * sizeof *old);
        for (size_t j = 0; j < k; j++) out[j] = old[j] - r * old[k - 1 - j];
        out[k] = r;
        for (size_t l = 0; l < k; l++) {
            for (size_t j = 0; j < k; j++) change[j] = jacobian[j * n + l];
            for (size_t j = 0; j < k; j++) jacobian[j * n + l] = change[j] - r * change[k - 1 - j];
        }
        for (size_t j = 0; j < k; j++) jacobian[j * n + k] = -old[k - 1 - j] * slope;
        jacobian[k * n + k] = slope;
    }
}
