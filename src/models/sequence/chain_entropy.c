/* chain_entropy.c -- see chain_entropy.h. */
#include "chain_entropy.h"
#include "base/context_internal.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

void cri_chain_weigh_logs(const double *M, size_t k, size_t stride, double *out)
{
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < stride; j++) {
            double m = j < k ? M[i * stride + j] : 0;
            out[i * stride + j] = m > 0 ? m * log(m) : 0;
        }
}

/* Whether to stop, which is asked at some steps. */
static bool is_time(const cr_ctx *cx, size_t k, size_t t)
{
    size_t step = 1 + 4000000 / (k * k);
    return t % step == step - 1 && cri_should_stop(cx);
}

/* sum_j p_j (H_j - log p_j); rounding may take it below 0. */
static double total(const double *p, const double *H, size_t k)
{
    double sum = 0;
    for (size_t j = 0; j < k; j++)
        if (p[j] != 0) sum += p[j] * (H[j] - log(p[j]));
    return sum < 0 ? 0 : sum;
}

double cri_chain_entropy(const cr_ctx *cx, size_t k, size_t stride, const double *M,
                         const double *M_log_M, size_t n, const double *alpha, size_t apart,
                         double *work)
{
    double *H = work, *sum = work + k, *norm = sum + k;
    memset(H, 0, k * sizeof *H);
    if (n == 0) return 0;
    for (size_t t = 1; t < n; t++) {
        const double *a = alpha + (t - 1) * apart;
        if (is_time(cx, k, t)) return NAN;
        memset(sum, 0, k * sizeof *sum);
        memset(norm, 0, k * sizeof *norm);
        for (size_t i = 0; i < k; i++) {
            const double *m = M + i * stride, *l = M_log_M + i * stride;
            if (a[i] == 0) continue;
            double own = a[i] * (H[i] - log(a[i]));
            for (size_t j = 0; j < k; j++) {
                norm[j] += a[i] * m[j];
                sum[j] += own * m[j] - a[i] * l[j];
            }
        }
        for (size_t j = 0; j < k; j++) H[j] = norm[j] != 0 ? sum[j] / norm[j] + log(norm[j]) : 0;
    }
    return total(alpha + (n - 1) * apart, H, k);
}

double cri_chain_entropy_of_logs(const cr_ctx *cx, size_t k, size_t stride, const double *T,
                                 size_t n, const double *log_alpha, size_t apart, double *work)
{
    double *H = work, *next = work + k, *p = next + k;
    memset(H, 0, k * sizeof *H);
    if (n == 0) return 0;
    for (size_t t = 1; t < n; t++) {
        const double *a = log_alpha + (t - 1) * apart;
        if (is_time(cx, k, t)) return NAN;
        for (size_t j = 0; j < k; j++) {
            for (size_t i = 0; i < k; i++) p[i] = a[i] + T[i * stride + j];
            double norm = cr_logsumexp(p, k);
            next[j] = 0;
            for (size_t i = 0; i < k; i++) {
                double log_p = p[i] - norm;
                if (log_p != -INFINITY) next[j] += exp(log_p) * (H[i] - log_p);
            }
        }
        memcpy(H, next, k * sizeof *H);
    }
    double norm = cr_logsumexp(log_alpha + (n - 1) * apart, k);
    for (size_t j = 0; j < k; j++) p[j] = exp(log_alpha[(n - 1) * apart + j] - norm);
    return total(p, H, k);
}
