/* normal_mixture.c -- quantiles of mixtures of normals. */
#include "normal_mixture.h"
#include "math/special/special.h"

#include <math.h>

double cri_normal_mixture_quantile(size_t n, const double *share, const double *mean,
                                   const double *sd, double p)
{
    enum { HALVINGS = 200 }; /* until rounding, from anywhere */
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < n; k++) {
        double at = mean[k] + cr_norm_ppf(p) * sd[k];
        low = fmin(low, at), high = fmax(high, at);
    }
    for (int i = 0; i < HALVINGS && low < high; i++) {
        double middle = low + (high - low) / 2, below = 0;
        if (middle <= low || middle >= high) break;
        for (size_t k = 0; k < n; k++)
            below += share[k] * (sd[k] > 0 ? cr_norm_cdf((middle - mean[k]) / sd[k])
                                           : (double)(mean[k] <= middle));
        *(below < p ? &low : &high) = middle;
    }
    return low + (high - low) / 2;
}
