/* crf_chain.c -- forward and backward through a chain, scaled or in logarithms; the best path. */
#include "crf_chain.h"
#include "crf_lanes.h"
#include "base/context_internal.h"
#include "chain_entropy.h"
#include "math/kernel/array.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

void cri_crf_chain_begin(cr_scratch *s, size_t K, cri_crf_chain *out)
{
    size_t stride = (K + LANES - 1) / LANES * LANES;
    *out = (cri_crf_chain){ .cx = s->cx,
                            .K = K,
                            .stride = stride,
                            .T = cr_scratch_matrix(s, K, stride),
                            .M = cr_scratch_matrix(s, K, stride),
                            .Mt = cr_scratch_matrix(s, K, stride) };
}

void cri_crf_chain_set(cri_crf_chain *c, const double *T)
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
    c->scaled = c->top - least <= CRI_CRF_CHAIN_RANGE;
    for (size_t i = 0; i < c->K; i++)
        for (size_t j = 0; j < c->K; j++)
            c->M[i * c->stride + j] = c->Mt[j * c->stride + i] =
                exp(c->T[i * c->stride + j] - c->top);
}

size_t cri_crf_chain_work(const cri_crf_chain *c, size_t n)
{
    return n * (2 * c->stride + 1) + 3 * c->stride;
}

double cri_crf_chain_score(const cri_crf_chain *c, size_t n, const double *S, const uint32_t *y)
{
    double sum = n > 0 ? S[y[0]] : 0;
    for (size_t t = 1; t < n; t++)
        sum += S[t * c->stride + y[t]] + c->T[y[t - 1] * c->stride + y[t]];
    return sum;
}

/* --- scaled ---------------------------------------------------------------------------------- */

typedef enum chain_stage { FORWARD, BACKWARD, PAIRS } chain_stage;

typedef struct pass {
    const cri_crf_chain *c;
    size_t               n;
    size_t               from, to; /* the rows at hand */
    double               weight;
    double              *E;     /* [n x stride]: exp(S - maximum); then the marginals  */
    double              *A, *Q; /* [n x stride]: a_t; q_t = c_t E_t * b_t              */
    double              *scale; /* [n]: c_t                                            */
    double              *b;     /* [stride]                                            */
    double              *pairs; /* [K x stride] or NULL: plus weight sum_t a_(t-1) q_t^T */
} pass;

LANES_BODY void forward_body(const pass *p, size_t stride)
{
    for (size_t t = p->from; t < p->to; t++) {
        double       *a = p->A + t * stride, sum[LANES] = { 0 };
        const double *e = p->E + t * stride;
        if (t > 0) lanes_combine(a - stride, p->c->M, p->c->K, stride, a);
        for (size_t j = 0; j < stride; j++) a[j] = t > 0 ? a[j] * e[j] : e[j];
        for (size_t j = 0; j < stride; j += LANES)
            for (size_t l = 0; l < LANES; l++) sum[l] += a[j + l];
        double c = 1 / ((sum[0] + sum[2]) + (sum[1] + sum[3]));
        for (size_t j = 0; j < stride; j++) a[j] *= c;
        p->scale[t] = c;
    }
}

LANES_BODY void backward_body(const pass *p, size_t stride)
{
    double *b = p->b;
    for (size_t j = 0; p->to == p->n && j < stride; j++) b[j] = 1;
    for (size_t t = p->to; t-- > p->from;) {
        const double *a = p->A + t * stride, c = p->scale[t];
        double       *e = p->E + t * stride, *q = p->Q + t * stride;
        for (size_t j = 0; j < stride; j++) q[j] = c * e[j] * b[j];
        for (size_t j = 0; j < stride; j++) e[j] = a[j] * b[j];
        if (t > 0) lanes_combine(q, p->c->Mt, p->c->K, stride, b);
    }
}

LANES_BODY void pairs_body(const pass *p, size_t stride)
{
    size_t        K = p->c->K, first = p->from > 0 ? p->from : 1, n = p->to - first, i = 0;
    const double *A = p->A + (first - 1) * stride, *Q = p->Q + first * stride;
    for (; i + 2 <= K; i += 2)
        lanes_outer(A + i, Q, n, stride, true, p->weight, p->pairs + i * stride);
    if (i < K) lanes_outer(A + i, Q, n, stride, false, p->weight, p->pairs + i * stride);
}

LANES_BODY void stage_body(const pass *p, chain_stage stage, size_t stride)
{
    if (stage == FORWARD) forward_body(p, stride);
    if (stage == BACKWARD) backward_body(p, stride);
    if (stage == PAIRS) pairs_body(p, stride);
}

LANES_BODY void any_stage_body(const pass *p, chain_stage stage)
{
    switch (p->c->stride) { /* few labels: loops of known length */
    case LANES:
        stage_body(p, stage, LANES);
        break;
    case 2 * LANES:
        stage_body(p, stage, 2 * LANES);
        break;
    case 3 * LANES:
        stage_body(p, stage, 3 * LANES);
        break;
    default:
        stage_body(p, stage, p->c->stride);
    }
}

LANES_AVX2 static void stage_avx2(const pass *p, chain_stage stage) { any_stage_body(p, stage); }
CRI_INNER_LOOP static void stage_plain(const pass *p, chain_stage stage)
{
    any_stage_body(p, stage);
}

/* How many rows are gone through between two questions whether to stop: a millisecond's work. */
static size_t rows_at_once(const cri_crf_chain *c) { return 1 + 1000000 / (c->K * c->stride); }

/* All rows in parts, those of the way back from behind; false where it was told to stop. */
static bool run_stage(pass *p, chain_stage stage)
{
    size_t step = rows_at_once(p->c), parts = (p->n + step - 1) / step;
    for (size_t k = 0; k < parts; k++) {
        size_t part = stage == BACKWARD ? parts - 1 - k : k;
        p->from = part * step;
        p->to = part + 1 < parts ? p->from + step : p->n;
        if (k > 0 && cri_should_stop(p->c->cx)) return false;
        (lanes_use_avx2() ? stage_avx2 : stage_plain)(p, stage);
    }
    return true;
}

/* Scores to E = exp(S - row maximum), 0 between the rows; the sum of the maxima. */
static double exponentiate(const cri_crf_chain *c, size_t n, double *S)
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

/* -sum log c_t, a logarithm for many factors: each 1 / c_t is between e^-CRI_CRF_CHAIN_RANGE / K and K. */
static double log_of_scales(const double *scale, size_t n)
{
    double sum = 0, product = 1;
    for (size_t t = 0; t < n; t++) {
        product *= scale[t];
        if (product < 1e-30 || product > 1e30) sum -= log(product), product = 1;
    }
    return sum - log(product);
}

static double scaled_marginals(const cri_crf_chain *c, size_t n, double *S, double weight,
                               double *opt_pairs, double *work)
{
    pass   p = { .c = c, .n = n, .weight = weight, .E = S, .pairs = opt_pairs };
    double log_Z = exponentiate(c, n, S) + (double)(n - 1) * c->top;
    p.A = work, p.Q = p.A + n * c->stride, p.scale = p.Q + n * c->stride, p.b = p.scale + n;
    cri_check_array(S, n * c->stride);
    cri_check_array(work, cri_crf_chain_work(c, n));
    cri_check_array(c->M, c->K * c->stride);
    cri_check_array(c->Mt, c->K * c->stride);
    if (opt_pairs) cri_check_array(opt_pairs, c->K * c->stride);
    if (!run_stage(&p, FORWARD) || !run_stage(&p, BACKWARD)) return NAN;
    if (opt_pairs && !run_stage(&p, PAIRS)) return NAN;
    return log_Z + log_of_scales(p.scale, n);
}

/* --- in logarithms --------------------------------------------------------------------------- */

/* Whether to stop, which is asked at some rows. */
static bool is_time(const cri_crf_chain *c, size_t t)
{
    size_t step = rows_at_once(c) / 16 + 1;
    return t % step == step - 1 && cri_should_stop(c->cx);
}

/* log a_t, unnormalised, into A; log b_t on the way back in b. */
static double log_marginals(const cri_crf_chain *c, size_t n, double *S, double weight,
                            double *opt_pairs, double *work)
{
    size_t  K = c->K, stride = c->stride;
    double *A = work, *b = work + n * (2 * stride + 1), *q = b + stride, *sum = q + stride;
    for (size_t t = 0; t < n; t++) {
        double *a = A + t * stride;
        if (is_time(c, t)) return NAN;
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
        if (is_time(c, t)) return NAN;
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

double cri_crf_chain_marginals(const cri_crf_chain *c, size_t n, double *S, double weight,
                               double *opt_pairs, double *work)
{
    if (n == 0) return 0;
    return (c->scaled ? scaled_marginals : log_marginals)(c, n, S, weight, opt_pairs, work);
}

void cri_crf_chain_pairs(const cri_crf_chain *c, double *pairs)
{
    if (c->scaled) cri_multiply_array(pairs, c->M, c->K * c->stride, pairs);
}

/* --- draws ----------------------------------------------------------------------------------- */

void cri_crf_chain_draw(const cri_crf_chain *c, size_t n, double *work, cr_rng *rng, uint32_t *path)
{
    size_t  K = c->K, stride = c->stride;
    double *p = work + n * (2 * stride + 1);
    for (size_t t = n; t-- > 0;) {
        const double *a = work + t * stride;
        size_t        next = t + 1 < n ? path[t + 1] : 0;
        double        most = -INFINITY;
        for (size_t i = 0; i < K; i++) {
            double M = t + 1 == n ? 1 : c->Mt[next * stride + i];
            double T = t + 1 == n ? 0 : c->T[i * stride + next];
            p[i] = c->scaled ? a[i] * M : a[i] + T;
            most = fmax(most, p[i]);
        }
        for (size_t i = 0; i < K; i++) p[i] = c->scaled ? p[i] / most : exp(p[i] - most);
        path[t] = (uint32_t)cr_rng_categorical(rng, p, K);
    }
}

double cri_crf_chain_entropy(const cri_crf_chain *c, size_t n, const double *log_weights,
                             const double *work, double *rest)
{
    size_t K = c->K, stride = c->stride;
    return c->scaled ? cri_chain_entropy(c->cx, K, stride, c->M, log_weights, n, work, stride, rest)
                     : cri_chain_entropy_of_logs(c->cx, K, stride, c->T, n, work, stride, rest);
}

/* --- the best path --------------------------------------------------------------------------- */

/* best [stride], from [K]: of each label j the best before it, the first of equal ones. */
LANES_BODY void step_body(const cri_crf_chain *c, const double *before, double *restrict best,
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

LANES_AVX2 static void step_avx2(const cri_crf_chain *c, const double *before, double *best,
                                 double *which)
{
    step_body(c, before, best, which);
}
CRI_INNER_LOOP static void step_plain(const cri_crf_chain *c, const double *before, double *best,
                                      double *which)
{
    step_body(c, before, best, which);
}

double cri_crf_chain_best(const cri_crf_chain *c, size_t n, const double *S, uint32_t *path,
                          uint32_t *from, double *work)
{
    size_t  K = c->K, stride = c->stride, last = 0;
    double *now = work, *next = work + stride, *which = work + 2 * stride;
    bool    avx2 = lanes_use_avx2();
    if (n == 0) return 0;
    cri_check_array(work, 3 * stride);
    cri_check_array(c->T, K * stride);
    memset(work, 0, 3 * stride * sizeof *work);
    for (size_t k = 0; k < K; k++) now[k] = S[k];
    for (size_t t = 1; t < n; t++) {
        if (is_time(c, t)) return NAN;
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
