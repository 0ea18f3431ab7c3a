/* chains.c -- agreement of Markov chains and their effective number of draws. */
#include "chains.h"

#include <math.h>

void cri_mean_variance(const double *x, size_t n, size_t stride, double *out_mean,
                       double *out_variance)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        double delta = x[i * stride] - mean;
        mean += delta / (double)(i + 1);
        square += delta * (x[i * stride] - mean);
    }
    *out_mean = mean;
    *out_variance = n > 1 ? square / (double)(n - 1) : 0;
}

void cri_agreement_add(cri_agreement *a, double mean, double variance)
{
    double delta = mean - a->mean;
    a->mean += delta / (double)++a->parts;
    a->square += delta * (mean - a->mean);
    a->within += variance;
}

static double within(const cri_agreement *a) { return a->within / (double)a->parts; }

static double between(const cri_agreement *a)
{
    return a->parts > 1 ? a->square / (double)(a->parts - 1) : 0;
}

double cri_agreement_rhat(const cri_agreement *a, size_t length, double least)
{
    double W = fmax(within(a), least), B = between(a), n = (double)length;
    if (!(W > 0)) return B > 0 ? INFINITY : 1;
    return sqrt((n - 1) / n + B / W);
}

double cri_chains_rhat(const double *draws, size_t chains, size_t length, size_t stride)
{
    cri_agreement a = { 0 };
    size_t        half = length / 2;
    double        mean, variance;
    for (size_t c = 0; c < chains; c++)
        for (size_t h = 0; h < 2; h++) { /* of an odd number the one in the middle is in neither */
            size_t first = c * length + h * (length - half);
            cri_mean_variance(draws + first * stride, half, stride, &mean, &variance);
            cri_agreement_add(&a, mean, variance);
        }
    return cri_agreement_rhat(&a, half, 0);
}

/* c_t: the mean over the chains of the autocovariance at lag t. */
static double autocovariance(const double *draws, size_t chains, size_t length, size_t stride,
                             size_t lag)
{
    double all = 0;
    for (size_t c = 0; c < chains; c++) {
        const double *x = draws + c * length * stride;
        double        mean, variance, sum = 0;
        cri_mean_variance(x, length, stride, &mean, &variance);
        for (size_t i = 0; i + lag < length; i++)
            sum += (x[i * stride] - mean) * (x[(i + lag) * stride] - mean);
        all += sum / (double)length;
    }
    return all / (double)chains;
}

void cri_chains_diagnose(const double *draws, size_t chains, size_t length, size_t stride,
                         double *out_rhat, double *out_ess)
{
    cri_agreement a = { 0 };
    double        mean, variance, n = (double)length, all = n * (double)chains;
    double        even = 1, odd, tau = -1, before = INFINITY;
    *out_rhat = length < 4 ? NAN : cri_chains_rhat(draws, chains, length, stride);
    *out_ess = all;
    if (length < 4) return;
    for (size_t c = 0; c < chains; c++) {
        cri_mean_variance(draws + c * length * stride, length, stride, &mean, &variance);
        cri_agreement_add(&a, mean, variance);
    }
    double W = within(&a), total = (n - 1) / n * W + between(&a);
    if (!(total > 0)) return;
    for (size_t lag = 0; lag + 1 < length; lag += 2) {
        if (lag > 0) even = 1 - (W - autocovariance(draws, chains, length, stride, lag)) / total;
        odd = 1 - (W - autocovariance(draws, chains, length, stride, lag + 1)) / total;
        if (!(even + odd > 0)) break;
        before = fmin(before, even + odd);
        tau += 2 * before;
        even = 0; /* it has been counted */
    }
    tau += fmax(0, even);
    *out_ess = all / fmax(tau, 1 / log10(all));
}
