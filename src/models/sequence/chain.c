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
    double *alpha;     /* [block x stride] */
    double *b;         /* [block x stride] densities, over the largest of each step        */
    double *next;      /* [block x stride] b_t+1 beta_t+1 / c_t+1, 0 behind the last step   */
    double *sum, *top; /* [block] c_t, log of what densities were divided by            */
    double *kept;      /* [blocks x stride] the filter before each block                    */
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
    m.sum = m.state + s;
    m.top = m.sum + n;
    m.pairs = m.top + n;
    return m;
}

/* Of steps with one symbol each. */
static void look_up_block(const cri_chain *c, size_t begin, size_t n, memory *m)
{
    size_t s = c->stride;
    for (size_t t = 0; t < n; t++) {
        double symbol = c->symbol[begin + t], *b = m->b + t * s;
        bool   missing = symbol != symbol;
        size_t at = missing ? 0 : (size_t)symbol;
        m->top[t] = missing ? 0 : c->table_top[at];
        memcpy(b, c->table + at * s, s * sizeof *b);
        for (size_t i = 0; i < c->k && missing; i++) b[i] = 1;
    }
}

/* Densities of the steps begin .. end-1 to m->b, relative to the largest of each step, which goes to m->top. */
static void emit_block(const cri_chain *c, size_t begin, size_t end, memory *m)
{
    size_t k = c->k, s = c->stride, n = end - begin;
    if (c->symbol) {
        look_up_block(c, begin, n, m);
        return;
    }
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

/* Filters a block from `before`; adds to *log_p. */
static void filter_block(const cri_chain *c, size_t begin, size_t end, const double *before,
                         memory *m, double *opt_log_density, double *log_p)
{
    size_t n = end - begin;
    emit_block(c, begin, end, m);
    if (c->stages)
        cri_stages_filter(c->stages, before, c->pi, c->stride, n, m->b, m->alpha, m->sum);
    else
        cri_chain_filter(before, c->pi, c->A, c->k, c->stride, n, m->b, m->alpha, m->sum);
    for (size_t t = 0; t < n; t++) {
        double log_density = m->sum[t] > 0 ? log(m->sum[t]) + m->top[t] : -INFINITY;
        *log_p += log_density;
        if (opt_log_density) opt_log_density[t] = log_density;
    }
}

static void copy_rows(const double *from, size_t stride, size_t k, size_t n, double *to)
{
    for (size_t t = 0; t < n; t++) memcpy(to + t * k, from + t * stride, k * sizeof *to);
}

/* m->b of a block becomes the smoothed probabilities; its transitions are added up. */
static void smooth_block(const cri_chain *c, size_t n, bool last, double *opt_pairs, memory *m)
{
    size_t k = c->k, s = c->stride;
    if (c->stages) {
        cri_stages_smooth(c->stages, s, n, last, m->sum, m->alpha, m->b, m->next, m->w, m->beta);
        if (opt_pairs) cri_stages_count(c->stages, s, n, m->alpha, m->next, opt_pairs);
        return;
    }
    cri_chain_smooth(c->At, k, s, n, last, m->sum, m->alpha, m->b, m->next, m->w, m->beta);
    if (opt_pairs)
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
        smooth_block(c, to - from, b + 1 == blocks, wish->pairs, &m);
        if (wish->smoothed) copy_rows(m.b, s, k, to - from, wish->smoothed + from * k);
        if (wish->visit) wish->visit(wish->arg, begin + from, to - from, m.b);
    }
    for (size_t i = 0; i < k && wish->begins; i++) wish->begins[i] += m.b[i];
    for (size_t i = 0; i < k && wish->pairs && !c->stages; i++)
        for (size_t j = 0; j < k; j++)
            wish->pairs[i * k + j] += c->A[i * s + j] * m.pairs[i * k + j];
    return log_p;
}

/* --- the most probable path ------------------------------------------------------------------ */

/* The best log p(path, x) by the state of each step; from [block x stride] says from where. */
static void viterbi_block(const cri_chain *c, const double *log_pi, const double *log_A,
                          size_t begin, size_t end, bool first, double *best, double *from,
                          memory *m)
{
    size_t  s = c->stride, k = c->k;
    double *nothing = m->beta; /* log densities of a missing symbol */
    memset(nothing, 0, s * sizeof *nothing);
    if (!c->symbol) c->emit(c->of, begin, end, m->b);
    for (size_t t = 0; t < end - begin; t++) {
        double        symbol = c->symbol ? c->symbol[begin + t] : 0;
        const double *b = !c->symbol         ? m->b + t * s
                          : symbol == symbol ? c->log_table + (size_t)symbol * c->log_stride
                                             : nothing;
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
