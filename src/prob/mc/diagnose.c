/* diagnose.c -- R-hat, effective draws and Monte-Carlo errors by ranks. */
#include "diagnose.h"
#include "chains.h"
#include "base/sort.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

enum { LEAST = 4 }; /* draws of a chain whose halves have variances */

/* How many of sorted [n] are below x, or not above it. */
static size_t count(const double *sorted, size_t n, double x, bool or_equal)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] < x || (or_equal && sorted[middle] == x))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* x [n] becomes its normal scores, equal values those of their mean rank; sorted [n] is x in order. */
static void score(double *x, const double *sorted, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t first = count(sorted, n, x[i], false) + 1, last = count(sorted, n, x[i], true);
        double rank = 0.5 * (double)(first + last);
        x[i] = -M_SQRT2 * cr_erfcinv(2 * (rank - 0.375) / ((double)n + 0.25));
    }
}

/* Effective draws of chains of an even length, by their halves. */
static double effective(const double *x, size_t chains, size_t length)
{
    double rhat, ess;
    cri_chains_diagnose(x, 2 * chains, length / 2, 1, &rhat, &ess);
    return ess;
}

static double effective_below(const double *x, double limit, double *work, size_t chains,
                              size_t length)
{
    for (size_t i = 0; i < chains * length; i++) work[i] = x[i] <= limit;
    return effective(work, chains, length);
}

static double quantile_error(const double *sorted, size_t n, double p, double ess)
{
    const double LOW = 0.15865525393145705; /* Phi(-1) */
    double       a = ess * p + 1, b = ess * (1 - p) + 1;
    double       from = cr_betainc_inv(a, b, LOW), to = cr_betainc_inv(a, b, 1 - LOW);
    return 0.5 * (cri_sorted_quantile(sorted, n, to) - cri_sorted_quantile(sorted, n, from));
}

void cri_draws_summarise(const double *draws, size_t chains, size_t length, size_t stride,
                         double *work, cri_draws_summary *out)
{
    const double P[3] = { 0.05, 0.5, 0.95 };
    size_t       all = chains * length, even = length - length % 2, n = chains * even;
    double *x = work, *sorted = work + all, *z = work + 2 * all, variance, ess[3], q[3], folded;
    bool    finite = true;
    *out = (cri_draws_summary){ .r_hat = NAN };
    for (size_t i = 0; i < all; i++) {
        x[i] = draws[i * stride];
        finite = finite && isfinite(x[i]);
    }
    if (!finite || length < LEAST) {
        double mean = NAN;
        if (finite) cri_mean_variance(x, all, 1, &mean, &variance);
        *out = (cri_draws_summary){
            mean, finite ? sqrt(variance) : NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN
        };
        return;
    }
    cri_mean_variance(x, all, 1, &out->mean, &variance);
    out->sd = sqrt(variance);
    memcpy(sorted, x, all * sizeof *x);
    cri_sort_doubles(sorted, all);
    for (size_t k = 0; k < 3; k++) q[k] = cri_sorted_quantile(sorted, all, P[k]);
    out->q5 = q[0], out->q50 = q[1], out->q95 = q[2];
    if (even < length) { /* of an odd number the draw in the middle is in neither half */
        for (size_t c = 0; c < chains; c++) {
            memmove(x + c * even, x + c * length, even / 2 * sizeof *x);
            memmove(x + c * even + even / 2, x + c * length + even / 2 + 1, even / 2 * sizeof *x);
        }
        memcpy(sorted, x, n * sizeof *x);
        cri_sort_doubles(sorted, n);
    }
    memcpy(z, x, n * sizeof *x);
    score(z, sorted, n);
    out->r_hat = cri_chains_rhat(z, chains, even, 1);
    out->ess_bulk = effective(z, chains, even);
    for (size_t k = 0; k < 3; k++) {
        ess[k] = effective_below(x, q[k], z, chains, even);
        double error = quantile_error(sorted, n, P[k], ess[k]);
        *(k == 0 ? &out->mcse_q5 : k == 1 ? &out->mcse_q50 : &out->mcse_q95) = error;
    }
    out->ess_tail = fmin(ess[0], ess[2]);
    out->mcse = out->sd / sqrt(effective(x, chains, even));
    double median = cri_sorted_quantile(sorted, n, 0.5);
    for (size_t i = 0; i < n; i++) z[i] = fabs(x[i] - median);
    memcpy(sorted, z, n * sizeof *z);
    cri_sort_doubles(sorted, n);
    score(z, sorted, n);
    folded = cri_chains_rhat(z, chains, even, 1);
    if (folded > out->r_hat) out->r_hat = folded;
}

double cri_energy_bfmi(const double *energy, size_t chains, size_t length)
{
    double least = NAN;
    for (size_t c = 0; c < chains; c++) {
        const double *e = energy + c * length;
        double        mean, variance, steps = 0;
        cri_mean_variance(e, length, 1, &mean, &variance);
        for (size_t i = 1; i < length; i++) steps += (e[i] - e[i - 1]) * (e[i] - e[i - 1]);
        double square = variance * (double)(length - 1);
        if (square > 0 && !(steps / square >= least)) least = steps / square;
    }
    return least;
}
