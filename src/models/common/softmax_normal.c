/* softmax_normal.c -- the softmax averaged over a normal distribution. */
#include "softmax_normal.h"
#include "base/sort.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

size_t cri_softmax_count(size_t M) { return M <= 8 ? 4096 : M <= 16 ? 2048 : 1024; }

void cri_softmax_points(size_t M, size_t count, double *points)
{
    double ratio = 2, power = 1;
    for (int i = 0; i < 60; i++)
        ratio = pow(1 + ratio, 1 / ((double)M + 1)); /* ratio^(M+1) = ratio + 1 */
    for (size_t k = 0; k < M; k++) {
        power /= ratio;
        for (size_t i = 0; i < count; i++) {
            double u = 0.5 + (double)(i + 1) * power;
            u -= floor(u);
            points[i * M + k] = cr_norm_ppf(fmin(fmax(u, 1e-9), 1 - 1e-9));
        }
    }
}

/* Gram and Schmidt's method on the columns, from the first on. */
void cri_softmax_whiten(size_t M, size_t count, double *points)
{
    for (size_t k = 0; 4 * M <= count && k < M; k++) {
        double norm = 0;
        for (size_t l = 0; l < k; l++) {
            double dot = 0;
            for (size_t i = 0; i < count; i++) dot += points[i * M + k] * points[i * M + l];
            dot /= (double)count;
            for (size_t i = 0; i < count; i++) points[i * M + k] -= dot * points[i * M + l];
        }
        for (size_t i = 0; i < count; i++)
            norm += points[i * M + k] * points[i * M + k] / (double)count;
        for (size_t i = 0; i < count; i++) points[i * M + k] /= sqrt(norm);
    }
}

void cri_factor_small(double *C, size_t M)
{
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = C[i * M + j];
            for (size_t k = 0; k < j; k++) sum -= C[i * M + k] * C[j * M + k];
            if (i == j)
                C[i * M + i] = sum > 0 ? sqrt(sum) : 0;
            else
                C[i * M + j] = C[j * M + j] > 0 ? sum / C[j * M + j] : 0;
        }
}

/* out [M] := the softmax at mean + L x, x point i / 2, or its mirror image where i is odd. */
static void softmax_at(const double *points, size_t M, const double *mean, const double *L,
                       size_t i, double *out)
{
    const double *x = points + i / 2 * M;
    for (size_t k = 0; k < M; k++) {
        double move = 0;
        for (size_t l = 0; l <= k; l++) move += L[k * M + l] * x[l];
        out[k] = i % 2 ? mean[k] - move : mean[k] + move;
    }
    cr_softmax(out, M, out);
}

void cri_softmax_normal(const double *points, size_t count, size_t M, const double *mean,
                        const double *L, double *workspace, double *out)
{
    memset(out, 0, M * sizeof(double));
    for (size_t i = 0; i < 2 * count; i++) {
        softmax_at(points, M, mean, L, i, workspace);
        for (size_t k = 0; k < M; k++) out[k] += workspace[k] / (2 * (double)count);
    }
}

void cri_softmax_values(const double *points, size_t count, size_t M, const double *mean,
                        const double *L, double *workspace, size_t stride, double *values)
{
    for (size_t i = 0; i < 2 * count; i++) {
        softmax_at(points, M, mean, L, i, workspace);
        for (size_t k = 0; k < M; k++) values[k * stride + i] = workspace[k];
    }
}

void cri_central_intervals(double *values, size_t M, size_t count, double level, double *low,
                           double *high)
{
    double tail = (1 - level) / 2;
    for (size_t k = 0; k < M; k++) {
        double *row = values + k * count;
        cri_sort_doubles(row, count);
        low[k] = cri_sorted_quantile(row, count, tail);
        high[k] = cri_sorted_quantile(row, count, 1 - tail);
    }
}
