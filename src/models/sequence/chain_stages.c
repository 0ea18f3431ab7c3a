/* chain_stages.c -- the steps of a chain whose states last: a node knows its state and how long that has lasted, so that
 * most nodes lead to two places, the next node of the state and out of it.  O(k D + k^2) for a step, where nodes without
 * structure take (k D)^2.  The same sums as in chain_kernel.c otherwise; the last D leads to itself.
 * Yu (2010), Hidden semi-Markov models, Artificial Intelligence 174. */
#include "chain.h"

#include <string.h>

/* out[dk + i] = x[dk + i] from the stage before it: what stays; and out[j] += what leaves. */
static void go_on(const cri_chain_stages *g, const double *x, double *out)
{
    size_t k = g->k, last = (g->D - 1) * k;
    for (size_t i = 0; i < k; i++) out[i] = 0;
    for (size_t a = 0; a < last; a++) out[a + k] = x[a] * g->stay[a];
    for (size_t a = last; a < last + k; a++) out[a] += x[a] * g->stay[a];
    for (size_t i = 0; i < k; i++) {
        double left = 0;
        for (size_t a = i; a <= last + i; a += k) left += x[a] * g->leave[a];
        for (size_t j = 0; j < k; j++) out[j] += left * g->A[i * k + j];
    }
}

/* onward [k] = sum_j A_ij x[j], of the first nodes; out = the transposed step. */
static void go_back(const cri_chain_stages *g, const double *x, double *onward, double *out)
{
    size_t k = g->k, last = (g->D - 1) * k;
    for (size_t i = 0; i < k; i++) {
        onward[i] = 0;
        for (size_t j = 0; j < k; j++) onward[i] += g->A[i * k + j] * x[j];
    }
    for (size_t a = 0; a < last; a++) out[a] = g->stay[a] * x[a + k];
    for (size_t a = last; a < last + k; a++) out[a] = g->stay[a] * x[a];
    for (size_t d = 0; d < g->D; d++)
        for (size_t i = 0; i < k; i++) out[d * k + i] += g->leave[d * k + i] * onward[i];
}

void cri_stages_filter(const cri_chain_stages *g, const double *opt_before, const double *first,
                       size_t stride, size_t n, double *b, double *alpha, double *sum)
{
    size_t        nodes = g->k * g->D;
    const double *before = opt_before;
    memset(alpha, 0, n * stride * sizeof *alpha);
    for (size_t t = 0; t < n; t++, b += stride, alpha += stride) {
        if (before)
            go_on(g, before, alpha);
        else
            memcpy(alpha, first, nodes * sizeof *alpha);
        sum[t] = 0;
        for (size_t a = 0; a < nodes; a++) sum[t] += alpha[a] * b[a];
        before = alpha;
        if (!(sum[t] > 0)) { /* passed over */
            sum[t] = 0;
            for (size_t a = 0; a < nodes; a++) b[a] = 1;
            continue;
        }
        double inverse = 1 / sum[t];
        for (size_t a = 0; a < nodes; a++) alpha[a] *= b[a] * inverse;
    }
}

void cri_stages_smooth(const cri_chain_stages *g, size_t stride, size_t n, bool last,
                       const double *sum, const double *alpha, double *b, double *next, double *w,
                       double *beta)
{
    size_t nodes = g->k * g->D;
    for (size_t t = n; t-- > 0;) {
        const double *a = alpha + t * stride;
        double       *bt = b + t * stride, *behind = next + t * stride;
        bool          end = last && t + 1 == n;
        double        inverse = sum[t] > 0 ? 1 / sum[t] : 1;
        for (size_t j = 0; j < stride; j++) behind[j] = end ? 0 : w[j];
        if (end)
            for (size_t j = 0; j < nodes; j++) beta[j] = 1;
        else
            go_back(g, behind, g->work, beta);
        for (size_t j = 0; j < nodes; j++) {
            w[j] = bt[j] * beta[j] * inverse;
            bt[j] = a[j] * beta[j]; /* gamma */
        }
    }
}

void cri_stages_count(const cri_chain_stages *g, size_t stride, size_t n, const double *alpha,
                      const double *next, double *counts)
{
    size_t  k = g->k, nodes = k * g->D, last = nodes - k;
    double *stays = counts, *leaves = stays + nodes, *moves = leaves + nodes, *onward = g->work;
    for (size_t t = 0; t < n; t++, alpha += stride, next += stride) {
        for (size_t a = 0; a < last; a++) stays[a] += alpha[a] * g->stay[a] * next[a + k];
        for (size_t a = last; a < nodes; a++) stays[a] += alpha[a] * g->stay[a] * next[a];
        for (size_t i = 0; i < k; i++) {
            double left = 0;
            onward[i] = 0;
            for (size_t a = i; a < nodes; a += k) left += alpha[a] * g->leave[a];
            for (size_t j = 0; j < k; j++) {
                double to = g->A[i * k + j] * next[j];
                onward[i] += to;
                moves[i * k + j] += left * to;
            }
        }
        for (size_t d = 0; d < g->D; d++)
            for (size_t i = 0; i < k; i++)
                leaves[d * k + i] += alpha[d * k + i] * g->leave[d * k + i] * onward[i];
    }
}
