/* crf_chain.c -- forward and backward through a chain, scaled or in logarithms; the best path.
 * The inner loops are written once and compiled for every x86-64 and for AVX2, without fused
 * multiplication and with sums in a fixed order, so that both give the same bits; and once more for
 * each small number of labels, whose vectors then stay in registers. */
#include "crf_chain.h"
#include "base/inner_loop.h"
#include "math/kernel/array.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_AVX2 1
#define AVX2 CRI_INNER_LOOP __attribute__((target("avx2")))
#else
#define HAS_AVX2 0
#define AVX2 CRI_INNER_LOOP
#endif
#define BODY CRI_INNER_LOOP static inline __attribute__((always_inline))

enum { LANES = CRI_CHAIN_LANES };

static bool use_avx2(void)
{
#if HAS_AVX2
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

void cri_chain_begin(cr_scratch *s, size_t K, cri_chain *out)
{
    size_t stride = (K + LANES - 1) / LANES * LANES;
    *out = (cri_chain){ .K = K,
                        .stride = stride,
                        .T = cr_scratch_matrix(s, K, stride),
                        .M = cr_scratch_matrix(s, K, stride),
                        .Mt = cr_scratch_matrix(s, K, stride) };
}

void cri_chain_set(cri_chain *c, const double *T)
{
    double least = INFINITY;
    c->top = -INFINITY;
    memset(c->T, 0, c->K * c->stride * sizeof *T);
    memset(c->M, 0, c->K * c->stride * sizeof *T);
    memset(c->Mt, 0, c->K * c->stride * sizeof *T);
    for (size_t i = 0; i < c->K; i++)
        for (size_t j = 0; j < c->K; j++) {
            double t = c->T[i * c->stride + j] = T[i * c->stride + j];
            c->top = fmax(c->top, t);
            least = fmin(least, t);
        }
    c->scaled = c->top - least <= CRI_CHAIN_RANGE;
    for (size_t i = 0; i < c->K; i++)
        for (size_t j = 0; j < c->K; j++)
            c->M[i * c->stride + j] = c->Mt[j * c->stride + i] =
                exp(c->T[i * c->stride + j] - c->top);
}

size_t cri_chain_work(const cri_chain *c, size_t n) { return n * (c->stride + 1) + 3 * c->stride; }

double cri_chain_score(const cri_chain *c, size_t n, const double *S, const uint32_t *y)
{
    double sum = n > 0 ? S[y[0]] : 0;
    for (size_t t = 1; t < n; t++)
        sum += S[t * c->stride + y[t]] + c->T[y[t - 1] * c->stride + y[t]];
    return sum;
}

/* --- scaled ---------------------------------------------------------------------------------- */

/* out [stride] = sum_i x[i] M[i], over K rows of M. */
BODY void combine(const double *x, const double *M, size_t K, size_t stride, double *restrict out)
{
    for (size_t j = 0; j < stride; j++) out[j] = x[0] * M[j];
    for (size_t i = 1; i < K; i++)
        for (size_t j = 0; j < stride; j++) out[j] += x[i] * M[i * stride + j];
}

/* A [n x stride], scale [n] = c_t; E [n x stride].  All in one pass: pure. */
BODY void forward_body(const cri_chain *c, size_t stride, size_t n, const double *E,
                       double *restrict A, double *restrict scale)
{
    for (size_t t = 0; t < n; t++) {
        double       *a = A + t * stride, sum[LANES] = { 0 };
        const double *e = E + t * stride;
        if (t == 0)
            for (size_t j = 0; j < stride; j++) a[j] = e[j];
        else {
            combine(a - stride, c->M, c->K, stride, a);
            for (size_t j = 0; j < stride; j++) a[j] *= e[j];
        }
        for (size_t j = 0; j < stride; j += LANES)
            for (size_t l = 0; l < LANES; l++) sum[l] += a[j + l];
        scale[t] = 1 / ((sum[0] + sum[2]) + (sum[1] + sum[3]));
        for (size_t j = 0; j < stride; j++) a[j] *= scale[t];
    }
}

/* The marginals into E; adds weight a_(t-1) q_t^T, q_t = c_t E_t * b_t, to pairs [K x stride].
 * b and q [stride]. */
BODY void backward_body(const cri_chain *c, size_t stride, size_t n, const double *A,
                        const double *scale, double weight, double *restrict E,
                        double *restrict pairs, double *restrict b, double *restrict q)
{
    for (size_t j = 0; j < stride; j++) b[j] = 1;
    for (size_t t = n; t-- > 0;) {
        const double *a = A + t * stride, *before = a - stride;
        double       *e = E + t * stride;
        for (size_t j = 0; j < stride; j++) q[j] = scale[t] * e[j] * b[j];
        for (size_t j = 0; j < stride; j++) e[j] = a[j] * b[j];
        if (t == 0) break;
        combine(q, c->Mt, c->K, stride, b);
        if (!pairs) continue;
        for (size_t i = 0; i < c->K; i++) {
            const double x = weight * before[i];
            for (size_t j = 0; j < stride; j++) pairs[i * stride + j] += x * q[j];
        }
    }
}

typedef struct pass {
    const cri_chain *c;
    size_t           n;
    double           weight, *E, *A, *scale, *pairs, *b, *q;
} pass;

BODY void both_body(const pass *p, size_t stride)
{
    forward_body(p->c, stride, p->n, p->E, p->A, p->scale);
    backward_body(p->c, stride, p->n, p->A, p->scale, p->weight, p->E, p->pairs, p->b, p->q);
}

BODY void any_body(const pass *p)
{
    switch (p->c->stride) {
    case 4:
        both_body(p, 4);
        break;
    case 8:
        both_body(p, 8);
        break;
    case 12:
        both_body(p, 12);
        break;
    case 16:
        both_body(p, 16);
        break;
    default:
        both_body(p, p->c->stride);
    }
}

AVX2 static void           pass_avx2(const pass *p) { any_body(p); }
CRI_INNER_LOOP static void pass_plain(const pass *p) { any_body(p); }

/* Scores to E = exp(S - row maximum), 0 between the rows; the sum of the maxima. */
static double exponentiate(const cri_chain *c, size_t n, double *S)
{
    double sum = 0;
    for (size_t t = 0; t < n; t++) {
        double *s = S + t * c->stride, most = s[0];
        for (size_t k = 1; k < c->K; k++) most = s[k] > most ? s[k] : most;
        for (size_t k = 0; k < c->K; k++) s[k] -= most;
        sum += most;
    }
    cri_exp_array(S, n * c->stride);
    for (size_t t = 0; t < n; t++)
        for (size_t k = c->K; k < c->stride; k++) S[t * c->stride + k] = 0;
    return sum;
}

/* -sum log c_t, a logarithm for many factors: each 1 / c_t is between e^-CRI_CHAIN_RANGE / K and K. */
static double log_of_scales(const double *scale, size_t n)
{
    double sum = 0, product = 1;
    for (size_t t = 0; t < n; t++) {
        product *= scale[t];
        if (product < 1e-30 || product > 1e30) sum -= log(product), product = 1;
    }
    return sum - log(product);
}

static double scaled_marginals(const cri_chain *c, size_t n, double *S, double weight,
                               double *opt_pairs, double *work)
{
    pass   p = { .c = c, .n = n, .weight = weight, .E = S, .pairs = opt_pairs };
    double log_Z = exponentiate(c, n, S) + (double)(n - 1) * c->top;
    p.A = work, p.scale = work + n * c->stride;
    p.b = p.scale + n, p.q = p.b + c->stride;
    cri_check_array(S, n * c->stride);
    cri_check_array(work, cri_chain_work(c, n));
    cri_check_array(c->M, c->K * c->stride);
    cri_check_array(c->Mt, c->K * c->stride);
    if (opt_pairs) cri_check_array(opt_pairs, c->K * c->stride);
    (use_avx2() ? pass_avx2 : pass_plain)(&p);
    return log_Z + log_of_scales(p.scale, n);
}

/* --- in logarithms --------------------------------------------------------------------------- */

/* log a_t, unnormalised, into A; log b_t on the way back in b. */
static double log_marginals(const cri_chain *c, size_t n, double *S, double weight,
                            double *opt_pairs, double *work)
{
    size_t  K = c->K, stride = c->stride;
    double *A = work, *b = work + n * (stride + 1), *q = b + stride, *sum = q + stride;
    for (size_t t = 0; t < n; t++) {
        double *a = A + t * stride;
        for (size_t j = 0; j < K; j++) {
            for (size_t i = 0; t > 0 && i < K; i++)
                sum[i] = A[(t - 1) * stride + i] + c->T[i * stride + j];
            a[j] = S[t * stride + j] + (t > 0 ? cr_logsumexp(sum, K) : 0);
        }
    }
    double log_Z = cr_logsumexp(A + (n - 1) * stride, K);
    for (size_t j = 0; j < K; j++) b[j] = 0;
    for (size_t t = n; t-- > 0;) {
        double *s = S + t * stride, *a = A + t * stride, *before = a - stride;
        for (size_t j = 0; j < K; j++) q[j] = s[j] + b[j];
        for (size_t j = 0; j < K; j++) s[j] = exp(a[j] + b[j] - log_Z);
        if (t == 0) break;
        for (size_t i = 0; i < K; i++) {
            for (size_t j = 0; j < K; j++) sum[j] = c->T[i * stride + j] + q[j];
            b[i] = cr_logsumexp(sum, K);
            for (size_t j = 0; opt_pairs && j < K; j++)
                opt_pairs[i * stride + j] += weight * exp(before[i] + sum[j] - log_Z);
        }
    }
    return log_Z;
}

double cri_chain_marginals(const cri_chain *c, size_t n, double *S, double weight,
                           double *opt_pairs, double *work)
{
    if (n == 0) return 0;
    return (c->scaled ? scaled_marginals : log_marginals)(c, n, S, weight, opt_pairs, work);
}

void cri_chain_pairs(const cri_chain *c, double *pairs)
{
    if (c->scaled) cri_multiply_array(pairs, c->M, c->K * c->stride, pairs);
}

/* --- the best path --------------------------------------------------------------------------- */

/* best [stride], from [K]: of each label j the best before it, the first of equal ones. */
BODY void step_body(const cri_chain *c, const double *before, double *restrict best,
                    double *restrict which)
{
    size_t K = c->K, stride = c->stride;
    for (size_t j = 0; j < stride; j++) best[j] = before[0] + c->T[j], which[j] = 0;
    for (size_t i = 1; i < K; i++)
        for (size_t j = 0; j < stride; j++) {
            double x = before[i] + c->T[i * stride + j];
            which[j] = x > best[j] ? (double)i : which[j];
            best[j] = x > best[j] ? x : best[j];
        }
}

AVX2 static void step_avx2(const cri_chain *c, const double *before, double *best, double *which)
{
    step_body(c, before, best, which);
}
CRI_INNER_LOOP static void step_plain(const cri_chain *c, const double *before, double *best,
                                      double *which)
{
    step_body(c, before, best, which);
}

double cri_chain_best(const cri_chain *c, size_t n, const double *S, uint32_t *path, uint32_t *from,
                      double *work)
{
    size_t  K = c->K, stride = c->stride, last = 0;
    double *now = work, *next = work + stride, *which = work + 2 * stride;
    bool    avx2 = use_avx2();
    if (n == 0) return 0;
    cri_check_array(work, 3 * stride);
    cri_check_array(c->T, K * stride);
    memset(work, 0, 3 * stride * sizeof *work);
    for (size_t k = 0; k < K; k++) now[k] = S[k];
    for (size_t t = 1; t < n; t++) {
        (avx2 ? step_avx2 : step_plain)(c, now, next, which);
        for (size_t k = 0; k < K; k++) {
            from[t * K + k] = (uint32_t)which[k];
            now[k] = next[k] + S[t * stride + k];
        }
    }
    for (size_t k = 1; k < K; k++)
        if (now[k] > now[last]) last = k;
    double score = now[last];
    for (size_t t = n; t-- > 0; last = from[t * K + last]) {
        path[t] = (uint32_t)last;
        if (t == 0) break;
    }
    return score;
}
