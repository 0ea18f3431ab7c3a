/* classify_cavity.c -- the evidence of three or more classes from the normal of a variational bound. */
#include "classify_cavity.h"
#include "math/dense/chol.h"
#include "math/special/special.h"

#include <math.h>

/* log E p(c | f), f_c ~ N(mean_c, sd_c^2), over the lattice; f [F] is workspace. */
static double log_mean(size_t F, const double *counts, const double *points, size_t n_points,
                       const double *mean, const double *sd, double *f)
{
    double top = -INFINITY, sum = 0;
    for (size_t k = 0; k < 2 * n_points; k++) {
        const double *x = points + k / 2 * F;
        double        log_p = 0, weight = 0;
        for (size_t c = 0; c < F; c++) {
            f[c] = mean[c] + (k % 2 ? -x[c] : x[c]) * sd[c];
            log_p += counts[c] > 0 ? counts[c] * f[c] : 0;
            weight += counts[c];
        }
        log_p -= weight * cr_logsumexp(f, F);
        if (log_p > top) {
            sum = sum * exp(top - log_p) + 1;
            top = log_p;
        } else
            sum += exp(log_p - top);
    }
    return top + log(sum / (2 * (double)n_points));
}

/* log E p(c_i | f_i) / sites_i at input i: over the cavity, the normal without them. */
static double cavity(const cri_svgp *v, size_t i, const double *points, size_t n_points,
                     const double *nu, double *workspace)
{
    size_t  n = v->data->at->n, F = v->data->F;
    double *mean = workspace, *sd = mean + F, log_ratio = 0;
    for (size_t c = 0; c < F; c++) {
        double m = v->mean[c * n + i], s2 = v->variance[c * n + i];
        double left = 1 - v->lambda[c * n + i] * s2; /* s2 by the variance of the cavity */
        if (!(left > 0)) return -INFINITY;
        mean[c] = (m - s2 * nu[c]) / left;
        sd[c] = sqrt(s2 / left);
        log_ratio += 0.5 * (mean[c] * mean[c] * left - m * m) / s2 - 0.5 * log(left);
    }
    return log_ratio + log_mean(F, v->data->counts + i * F, points, n_points, mean, sd, sd + F);
}

double cri_svgp_evidence(const cri_svgp *v, const double *points, size_t n_points,
                         double *workspace)
{
    size_t n = v->data->at->n, m = v->m, F = v->data->F;
    double sum = 0, *nu = workspace;
    for (size_t c = 0; c < F; c++)
        sum -= 0.5 * cr_chol_logdet(cr_cmat_of(v->factor + c * m * m, m, m));
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < F; c++) {
            double mean = v->mean[c * n + i];
            nu[c] = v->slope[c * n + i] + v->lambda[c * n + i] * mean; /* slope = (K^-1 mean) */
            sum += 0.5 * nu[c] * mean;
        }
        sum += cavity(v, i, points, n_points, nu, workspace + F);
    }
    return sum;
}
