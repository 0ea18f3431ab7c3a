/* crf_objective.c -- both passes of the gradient. */
#include "crf_objective.h"
#include "crf_lanes.h"
#include "base/context_internal.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { BLOCK_ROWS = 512, BLOCK_ENTRIES = 8192 };

/* --- sums of rows ---------------------------------------------------------------------------- */

typedef void           sum_fn(const uint32_t *which, const double *value, size_t n, const double *M,
                              size_t stride, double *out);
LANES_AVX2 static void sum_avx2(const uint32_t *which, const double *value, size_t n,
                                const double *M, size_t stride, double *out)
{
    lanes_gather(which, value, n, M, stride, out);
}
CRI_INNER_LOOP static void sum_plain(const uint32_t *which, const double *value, size_t n,
                                     const double *M, size_t stride, double *out)
{
    lanes_gather(which, value, n, M, stride, out);
}

static void sum_rows(sum_fn *sum, const uint32_t *which, const double *value, size_t n,
                     const double *M, size_t stride, double *out)
{
    cri_check_bytes(which, n * sizeof *which);
    cri_check_array(value, value ? n : 0);
    cri_check_array(out, stride);
    sum(which, value, n, M, stride, out);
}

void cri_crf_scores(const cri_attribute_rows *r, size_t begin, size_t n, const double *W,
                    size_t stride, double *S)
{
    sum_fn *sum = lanes_use_avx2() ? sum_avx2 : sum_plain;
    for (size_t t = 0; t < n; t++) {
        size_t from = r->start[begin + t], entries = r->start[begin + t + 1] - from;
        sum_rows(sum, r->which + from, r->value ? r->value + from : NULL, entries, W, stride,
                 S + t * stride);
    }
}

/* --- opening --------------------------------------------------------------------------------- */

static cr_status cut_blocks(cr_scratch *s, cri_crf_problem *p)
{
    size_t filled = 0;
    p->block = cr_scratch_index(s, p->sequences + 1);
    if (!p->block) return s->status;
    p->blocks = 0;
    for (size_t k = 0; k < p->sequences; k++) {
        size_t length = p->begin[k + 1] - p->begin[k];
        if (filled == 0) p->block[p->blocks++] = k;
        filled = filled + length >= BLOCK_ROWS ? 0 : filled + length;
        p->longest = length > p->longest ? length : p->longest;
    }
    p->block[p->blocks] = p->sequences;
    return CR_OK;
}

/* The rows of each attribute, in their order. */
static cr_status transpose(cr_scratch *s, cri_crf_problem *p)
{
    const cri_attribute_rows *r = p->rows;
    size_t                    entries = r->start[p->n];
    p->start = cr_scratch_bytes(s, p->A + 2, sizeof *p->start);
    p->row = cr_scratch_bytes(s, entries, sizeof *p->row);
    p->value = r->value ? cr_scratch_f64(s, entries) : NULL;
    if (s->status != CR_OK) return s->status;
    for (size_t e = 0; e < entries; e++) p->start[r->which[e] + 2]++;
    for (size_t a = 0; a < p->A; a++) p->start[a + 2] += p->start[a + 1];
    for (size_t i = 0; i < p->n; i++)
        for (size_t e = r->start[i]; e < r->start[i + 1]; e++) {
            size_t at = p->start[r->which[e] + 1]++;
            p->row[at] = (uint32_t)i;
            if (p->value) p->value[at] = r->value[e];
        }
    return CR_OK;
}

/* Which weights are learned: all, or those of attributes and labels seen together. */
static cr_status place_weights(cr_scratch *s, cri_crf_problem *p, const uint8_t *opt_seen)
{
    size_t K = p->K;
    p->D = 0;
    p->place = cr_scratch_index(s, (p->A + K) * K);
    if (s->status != CR_OK) return s->status;
    for (size_t a = 0; a < p->A; a++)
        for (size_t k = 0; k < K; k++)
            if (!opt_seen || opt_seen[a * K + k]) p->place[p->D++] = a * p->stride + k;
    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < K; j++) p->place[p->D++] = (p->A + i) * p->stride + j;
    return CR_OK;
}

void cri_crf_problem_rows(cri_crf_problem *p, const cri_rows *rows, const cri_crf_rows *r)
{
    p->n = rows->n;
    p->sequences = rows->sequences->n;
    p->begin = rows->sequences->start;
    p->rows = &r->attributes;
    p->y = r->y;
    p->weight = r->weight;
}

cr_status cri_crf_problem_lay_out(cr_scratch *s, cri_crf_problem *p)
{
    cr_status st = CR_OK;
    p->longest = 0;
    CR_TRY(cut_blocks(s, p));
    CR_TRY(transpose(s, p));
done:
    return st;
}

cr_status cri_crf_problem_make_workspace(cr_scratch *s, cri_crf_problem *p)
{
    p->G = cr_scratch_bytes(s, (p->A + p->K) * p->stride, sizeof(double));
    p->R = cr_scratch_bytes(s, p->n * p->stride, sizeof(double));
    return s->status;
}

cr_status cri_crf_problem_open(cr_scratch *s, cri_crf_problem *p, const uint8_t *opt_seen)
{
    cr_status st = CR_OK;
    cri_crf_chain_begin(s, p->K, &p->chain);
    p->stride = p->chain.stride;
    CR_TRY(place_weights(s, p, opt_seen));
    p->W = cr_scratch_bytes(s, (p->A + p->K) * p->stride, sizeof(double));
    if (p->passes)
        p->G = cr_scratch_bytes(s, (p->A + p->K) * p->stride, sizeof(double));
    else {
        CR_TRY(cri_crf_problem_lay_out(s, p));
        CR_TRY(cri_crf_problem_make_workspace(s, p));
    }
    CR_TRY(s->status);
done:
    return st;
}

/* --- the passes ------------------------------------------------------------------------------ */

/* acc: minus the log likelihood, then the sums of pairs less the pairs that are there. */
static void pass_sequences(void *arg, cri_range range, double *acc, double *work)
{
    const cri_crf_problem *p = arg;
    size_t                 stride = p->stride;
    for (size_t k = p->block[range.begin]; k < p->block[range.end]; k++) {
        size_t          begin = p->begin[k], n = p->begin[k + 1] - begin;
        double         *R = p->R + begin * stride, v = p->weight ? p->weight[k] : 1;
        const uint32_t *y = p->y + begin;
        cri_crf_scores(p->rows, begin, n, p->W, stride, R);
        double score = cri_crf_chain_score(&p->chain, n, R, y);
        double log_Z = cri_crf_chain_marginals(&p->chain, n, R, v, acc + 1, work);
        acc[0] += v * (log_Z - score);
        for (size_t t = 0; t < n; t++) R[t * stride + y[t]] -= 1;
        for (size_t j = 0; v != 1 && j < n * stride; j++) R[j] *= v;
    }
}

typedef struct attribute_pass {
    const cri_crf_problem *p;
    sum_fn                *sum;
} attribute_pass;

static void pass_attributes(void *arg, cri_range range, double *work)
{
    const attribute_pass  *w = arg;
    const cri_crf_problem *p = w->p;
    (void)work;
    for (size_t a = range.begin; a < range.end; a++) {
        size_t from = p->start[a], n = p->start[a + 1] - from;
        sum_rows(w->sum, p->row + from, p->value ? p->value + from : NULL, n, p->R, p->stride,
                 p->G + a * p->stride);
    }
}

/* The observed transitions, once for all values: into the gradient. */
static void subtract_observed(const cri_crf_problem *p, double *pairs)
{
    for (size_t k = 0; k < p->sequences; k++) {
        double v = p->weight ? p->weight[k] : 1;
        for (size_t i = p->begin[k] + 1; i < p->begin[k + 1]; i++)
            pairs[p->y[i - 1] * p->stride + p->y[i]] -= v;
    }
}

/* W, and the chain, from theta. */
static void set_weights(cri_crf_problem *p, const double *theta)
{
    for (size_t d = 0; d < p->D; d++) p->W[p->place[d]] = theta[d];
    cri_crf_chain_set(&p->chain, p->W + p->A * p->stride);
}

static bool all_finite(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * 0;
    return sum == 0;
}

cr_status cri_crf_sum_rows(cri_crf_problem *p, bool gradient)
{
    cr_status      st = CR_OK;
    size_t         width = 1 + p->K * p->stride, entries = p->rows->start[p->n];
    size_t         block = 1 + p->A * BLOCK_ENTRIES / (entries + 1);
    cr_scratch     s = cr_scratch_begin(p->cx);
    double        *sums = cr_scratch_f64(&s, width);
    attribute_pass w = { p, lanes_use_avx2() ? sum_avx2 : sum_plain };

    CR_TRY(s.status);
    CR_TRY(cri_parallel_sum_in(p->cx, NULL, p->blocks, 1, width,
                               cri_crf_chain_work(&p->chain, p->longest), pass_sequences, p, sums));
    CR_TRY(cr_check_interrupt(p->cx)); /* a chain may have stopped */
    p->nll = sums[0];
    if (!gradient) goto done;
    CR_TRY(cri_parallel_rows(p->cx, NULL, p->A, block, 1, pass_attributes, &w));
    double *pairs = p->G + p->A * p->stride;
    memcpy(pairs, sums + 1, p->K * p->stride * sizeof *pairs);
    cri_crf_chain_pairs(&p->chain, pairs);
    subtract_observed(p, pairs);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_crf_value(void *problem, const double *theta, size_t D, double *out_f,
                        double *opt_gradient)
{
    cri_crf_problem *p = problem;
    double           penalty = 0;
    bool             gradient = opt_gradient != NULL;

    if (!all_finite(theta, D)) {
        *out_f = NAN;
        for (size_t d = 0; opt_gradient && d < D; d++) opt_gradient[d] = NAN;
        return CR_OK;
    }
    set_weights(p, theta);
    cr_status st = p->passes ? cri_crf_sum_blocks(p, gradient) : cri_crf_sum_rows(p, gradient);
    if (st != CR_OK) return st;
    for (size_t d = 0; d < D; d++) penalty += theta[d] * theta[d];
    *out_f = p->nll + p->lambda / 2 * penalty;
    for (size_t d = 0; gradient && d < D; d++)
        opt_gradient[d] = p->G[p->place[d]] + p->lambda * theta[d];
    return CR_OK;
}

cr_status cri_crf_split_value(void *problem, const double *x, size_t D2, double *out_f,
                              double *opt_gradient)
{
    cr_status        st = CR_OK;
    cri_crf_problem *p = problem;
    size_t           D = D2 / 2;
    cr_scratch       s = cr_scratch_begin(p->cx);
    double          *theta = cr_scratch_f64(&s, D), sum = 0;

    CR_TRY(s.status);
    for (size_t d = 0; d < D; d++) theta[d] = x[d] - x[D + d];
    CR_TRY(cri_crf_value(p, theta, D, out_f, opt_gradient));
    for (size_t d = 0; d < D2; d++) sum += x[d];
    *out_f += p->l1 * sum;
    for (size_t d = 0; opt_gradient && d < D; d++) {
        opt_gradient[D + d] = p->l1 - opt_gradient[d];
        opt_gradient[d] += p->l1;
    }
done:
    cr_scratch_end(&s);
    return st;
}
