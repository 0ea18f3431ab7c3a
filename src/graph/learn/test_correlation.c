/* test_correlation.c -- Fisher's z of a partial correlation.
 * With S the others first, then x and y, and C = L L' their correlations, the last two rows of L hold
 * what S does not explain: r = L_yx / sqrt(L_yx^2 + L_yy^2). */
#include "independence.h"

#include <math.h>

static size_t workspace_size(const void *arg, size_t most_given)
{
    (void)arg;
    return (most_given + 2) * (most_given + 2) * sizeof(double);
}

/* L of the correlations of the m variables of `list`; one that the others explain to rounding gets a
 * zero column. */
static void factor(const cri_correlation_test *t, const size_t *given, size_t k, size_t x, size_t y,
                   double *L)
{
    size_t m = k + 2;
    for (size_t i = 0; i < m; i++) {
        size_t a = i < k ? given[i] : i == k ? x : y;
        for (size_t j = 0; j <= i; j++) {
            size_t b = j < k ? given[j] : j == k ? x : y;
            double sum = t->correlation[a * t->n + b];
            for (size_t l = 0; l < j; l++) sum -= L[i * m + l] * L[j * m + l];
            if (i == j)
                L[i * m + i] = sum > 1e-10 ? sqrt(sum) : 0;
            else
                L[i * m + j] = L[j * m + j] > 0 ? sum / L[j * m + j] : 0;
        }
    }
}

static cri_verdict fisher_z(const void *arg, void *workspace, size_t x, size_t y, size_t k,
                            const size_t *given)
{
    const cri_correlation_test *t = arg;
    double                     *L = workspace, free = t->rows - (double)k - 3;
    size_t                      m = k + 2;
    cri_verdict                 v = { true, 1, 0 };
    factor(t, given, k, x, y, L);
    double along = L[m * m - 2], rest = L[m * m - 1], length = hypot(along, rest);
    double r = length > 0 && L[k * m + k] > 0 ? fmin(fabs(along) / length, 1 - 1e-12) : 0;
    v.association = -0.5 * log1p(-r * r);
    if (free <= 0) return v;
    v.p = erfc(sqrt(free) * atanh(r) / sqrt(2));
    v.independent = v.p > t->alpha;
    return v;
}

cri_independence cri_independence_correlations(const cri_correlation_test *test)
{
    return (cri_independence){ test->n, test, workspace_size, fisher_z };
}
