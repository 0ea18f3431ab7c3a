/* chain.c -- forward-backward and Viterbi over blocks of steps. */
#include "chain.h"
#include "math/kernel/array.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* Numbers of an array of a block: such blocks stay in the memory of a thread, and most sequences are one. */
static const size_t BLOCK_NUMBERS = (size_t)1 << 21;
enum { LEAST_BLOCK = 64 };

void cri_chain_pad(const double *m, size_t k, bool transpose, double pad, double *out)
{
    size_t stride = cri_chain_stride(k);
    for (size_t i = 0; i < stride; i++)
        for (size_t j = 0; j < stride; j++) {
            bool there = i < k && j < k;
            out[i * stride + j] = there ? m[transpose ? j * k + i : i * k + j] : pad;
        }
}

size_t cri_chain_block(size_t longest, size_t k)
{
    size_t steps = BLOCK_NUMBERS / cri_chain_stride(k);
    if (longest <= steps) return longest > 0 ? longest : 1;
    steps = steps / 8; /* of a long one: what stays near the processor */
    return steps > LEAST_BLOCK ? steps : LEAST_BLOCK;
}

static size_t blocks_of(size_t steps, size_t block) { return (steps + block - 1) / block; }

size_t cri_chain_work(size_t longest, size_t k)
{
    size_t stride = cri_chain_stride(k), block = cri_chain_block(longest, k);
    return (3 * block + blocks_of(longest, block) + 6) * stride + 2 * block + k * k;
}

/* The memory of a run. */
typedef struct memory {
    size_t  block;
    double *alpha;         /* [block x stride] */
    double *b;             /* [block x stride] densities, over the largest of each step        */
    double *next;          /* [block x stride] b_t+1 beta_t+1 / c_t+1, 0 behind the last step   */
    double *inverse, *top; /* [block] 1 / c_t, log of what densities were divided by            */
    double *kept;          /* [blocks x stride] the filter before each block                    */
    double *beta, *w, *state; /* [stride] */
    double *pairs;            /* [k x k] */
} memory;

static memory cut(const cri_chain *c, size_t longest, double *work)
{
    size_t n = cri_chain_block(longest, c->k), s = c->stride;
    memory m = { .block = n, .alpha = work };
    m.b = m.alpha + n * s;
    m.next = m.b + n * s;
    m.kept = m.next + n * s;
    m.beta = m.kept + blocks_of(longest, n) * s;
    m.w = m.beta + s;
    m.state = m.w + s;
    m.inverse = m.state + s;
    m.top = m.inverse + n;
    m.pairs = m.top + n;
    return m;
}

/* Densities of the steps begin .. end-1 to m->b, relative to the largest of each step, which goes to m->top. */
static void emit_block(const cri_chain *c, size_t begin, size_t end, memory *m)
{
    size_t k = c->k, s = c->stride, n = end - begin;
    c->emit(c->of, begin, end, m->b);
    for (size_t t = 0; t < n; t++) {
        double *b = m->b + t * s, top = b[0];
        for (size_t i = 1; i < k; i++) top = b[i] > top ? b[i] : top;
        m->top[t] = top;
        if (top == -INFINITY) top = 0;
        for (size_t i = 0; i < k; i++) b[i] -= top;
        for (size_t i = k; i < s; i++) b[i] = -INFINITY;
    }
    cri_exp_array(m->b, n * s);
}

/* The filter of a step from `before`, NULL of the first, to alpha [stride].  c_t over the largest density; 0 where no
 * state can emit it: the step is passed over then. */
static double filter_step(const cri_chain *c, const double *before, double *b, double *alpha)
{
    size_t s = c->stride;
    double sum = 0, inverse;
    if (before)
        cri_chain_multiply(before, c->A, c->k, s, alpha);
    else
        memcpy(alpha, c->pi, s * sizeof *alpha);
    double part[CRI_CHAIN_LANES] = { 0 };
    for (size_t j = 0; j < s; j += CRI_CHAIN_LANES)
        for (size_t l = 0; l < CRI_CHAIN_LANES; l++) part[l] += alpha[j + l] * b[j + l];
    sum = (part[0] + part[1]) + (part[2] + part[3]);
    if (!(sum > 0)) {
        for (size_t j = 0; j < c->k; j++) b[j] = 1;
        return 0;
    }
    inverse = 1 / sum;
    for (size_t j = 0; j < s; j++) alpha[j] *= b[j] * inverse;
    return sum;
}

/* Filters a block from `before`; adds to *log_p. */
static void filter_block(const cri_chain *c, size_t begin, size_t end, const double *before,
                         memory *m, double *opt_log_density, double *log_p)
{
    size_t s = c->stride;
    emit_block(c, begin, end, m);
    for (size_t t = 0; t < end - begin; t++) {
        double sum = filter_step(c, before, m->b + t * s, m->alpha + t * s);
        double log_density = sum > 0 ? log(sum) + m->top[t] : -INFINITY;
        m->inverse[t] = sum > 0 ? 1 / sum : 1;
        *log_p += log_density;
        if (opt_log_density) opt_log_density[t] = log_density;
        before = m->alpha + t * s;
    }
}

static void copy_rows(const double *from, size_t stride, size_t k, size_t n, double *to)
{
    for (size_t t = 0; t < n; t++) memcpy(to + t * k, from + t * stride, k * sizeof *to);
}

/* m->alpha of a block becomes the smoothed probabilities; beta [stride] and w [stride], those of the step behind it,
 * become those of its first. */
static void smooth_block(const cri_chain *c, size_t n, bool last, bool pairs, memory *m)
{
    size_t k = c->k, s = c->stride;
    for (size_t t = n; t-- > 0;) {
        double *alpha = m->alpha + t * s, *b = m->b + t * s, *next = m->next + t * s;
        bool    end = last && t + 1 == n;
        if (end)
            memset(next, 0, s * sizeof *next);
        else
            memcpy(next, m->w, s * sizeof *next);
        if (end)
            for (size_t i = 0; i < s; i++) m->beta[i] = 1;
        else
            cri_chain_multiply(next, c->At, k, s, m->beta);
        for (size_t i = 0; i < s; i++) m->w[i] = b[i] * m->beta[i] * m->inverse[t];
        for (size_t i = 0; i < s; i++) b[i] = alpha[i] * m->beta[i]; /* gamma */
    }
    if (pairs)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)k, (int)k, (int)n, 1, m->alpha,
                    (int)s, m->next, (int)s, 1, m->pairs, (int)k);
}

double cri_chain_run(const cri_chain *c, size_t begin, size_t end, size_t longest,
                     const cri_chain_wish *wish, double *work)
{
    memory m = cut(c, longest, work);
    size_t T = end - begin, s = c->stride, k = c->k, blocks = blocks_of(T, m.block);
    bool   back = wish->smoothed || wish->begins || wish->pairs || wish->visit;
    double log_p = 0, again = 0;

    memset(m.state, 0, s * sizeof *m.state);
    if (wish->before) memcpy(m.state, wish->before, k * sizeof *m.state);
    for (size_t b = 0; b < blocks; b++) {
        size_t from = b * m.block, to = from + m.block < T ? from + m.block : T;
        memcpy(m.kept + b * s, m.state, s * sizeof *m.state);
        filter_block(c, begin + from, begin + to, b > 0 || wish->before ? m.kept + b * s : NULL, &m,
                     wish->log_density ? wish->log_density + from : NULL, &log_p);
        memcpy(m.state, m.alpha + (to - from - 1) * s, s * sizeof *m.state);
        if (wish->filtered) copy_rows(m.alpha, s, k, to - from, wish->filtered + from * k);
    }
    if (wish->last) memcpy(wish->last, m.state, k * sizeof *m.state);
    if (!back || T == 0) return log_p;
    memset(m.pairs, 0, k * k * sizeof *m.pairs);
    for (size_t b = blocks; b-- > 0;) {
        size_t from = b * m.block, to = from + m.block < T ? from + m.block : T;
        if (blocks > 1)
            filter_block(c, begin + from, begin + to, b > 0 || wish->before ? m.kept + b * s : NULL,
                         &m, NULL, &again);
        smooth_block(c, to - from, b + 1 == blocks, wish->pairs != NULL, &m);
        if (wish->smoothed) copy_rows(m.b, s, k, to - from, wish->smoothed + from * k);
        if (wish->visit) wish->visit(wish->arg, begin + from, to - from, m.b);
    }
    for (size_t i = 0; i < k && wish->begins; i++) wish->begins[i] += m.b[i];
    for (size_t i = 0; i < k && wish->pairs; i++)
        for (size_t j = 0; j < k; j++)
            wish->pairs[i * k + j] += c->A[i * s + j] * m.pairs[i * k + j];
    return log_p;
}

/* --- the most probable path ------------------------------------------------------------------- */

/* The best log p(path, x) by the state of each step; from [block x stride] says from where. */
static void viterbi_block(const cri_chain *c, const double *log_pi, const double *log_A,
                          size_t begin, size_t end, bool first, double *best, double *from,
                          memory *m)
{
    size_t s = c->stride, k = c->k;
    c->emit(c->of, begin, end, m->b);
    for (size_t t = 0; t < end - begin; t++) {
        const double *b = m->b + t * s;
        if (first && t == 0) {
            memcpy(m->w, log_pi, s * sizeof *best);
            memset(from, 0, s * sizeof *from);
        } else {
            cri_chain_maximise(best, log_A, k, s, m->w, from + t * s);
        }
        for (size_t j = 0; j < k; j++) best[j] = m->w[j] + b[j];
    }
}

double cri_chain_viterbi(const cri_chain *c, const double *log_pi, const double *log_A,
                         size_t begin, size_t end, size_t longest, double *path, double *work)
{
    memory m = cut(c, longest, work);
    size_t T = end - begin, s = c->stride, blocks = blocks_of(T, m.block), at = 0;
    double log_p;
    if (T == 0) return 0;
    for (size_t b = 0; b < blocks; b++) {
        size_t from = b * m.block, to = from + m.block < T ? from + m.block : T;
        if (b > 0) memcpy(m.kept + b * s, m.state, s * sizeof *m.state);
        viterbi_block(c, log_pi, log_A, begin + from, begin + to, b == 0, m.state, m.next, &m);
    }
    for (size_t j = 1; j < c->k; j++) at = m.state[j] > m.state[at] ? j : at;
    log_p = m.state[at];
    for (size_t b = blocks; b-- > 0;) {
        size_t from = b * m.block, to = from + m.block < T ? from + m.block : T;
        if (blocks > 1) {
            if (b > 0) memcpy(m.state, m.kept + b * s, s * sizeof *m.state);
            viterbi_block(c, log_pi, log_A, begin + from, begin + to, b == 0, m.state, m.next, &m);
        }
        for (size_t t = to - from; t-- > 0;) {
            path[from + t] = (double)at;
            at = (size_t)m.next[t * s + at];
        }
    }
    return log_p;
}
