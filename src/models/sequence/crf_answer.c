/* crf_answer.c -- probabilities of labels, the best labelling, and draws. */
#include "crf_answer.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

/* --- predict --------------------------------------------------------------------------------- */

static void pad(const double *from, size_t rows, size_t K, size_t stride, double *to)
{
    for (size_t i = 0; i < rows; i++) memcpy(to + i * stride, from + i * K, K * sizeof *to);
}

cr_status cri_crf_answer_open(cr_ctx *cx, cr_scratch *s, const cri_crf *m, const cri_rows *rows,
                              cri_crf_answer *a)
{
    cr_status      st = CR_OK;
    cri_attributes find = m->find;
    *a = (cri_crf_answer){ .m = m, .q = rows->sequences };
    cri_crf_chain_begin(s, m->K, &a->chain);
    double *W = cr_scratch_bytes(s, m->A * a->chain.stride, sizeof *W);
    double *T = cr_scratch_bytes(s, m->K * a->chain.stride, sizeof *T);
    CR_TRY(s->status);
    pad(m->weight, m->A, m->K, a->chain.stride, W);
    pad(m->transition, m->K, m->K, a->chain.stride, T);
    cri_crf_chain_set(&a->chain, T);
    a->W = W;
    for (size_t k = 0; k < a->q->n; k++) {
        size_t length = a->q->start[k + 1] - a->q->start[k];
        a->longest = length > a->longest ? length : a->longest;
    }
    CR_TRY(cri_attribute_rows_open(cx, rows, m->list, m->templates, &find, false, &a->r));
done:
    return st;
}

/* work: scores [longest x stride], then that of the chain. */
static void answer_sequences(void *arg, cri_range range, double *work)
{
    const cri_crf_answer *a = arg;
    size_t                stride = a->chain.stride, K = a->m->K;
    for (size_t k = range.begin; k < range.end; k++) {
        const size_t *row = a->q->row + a->q->start[k];
        size_t        n = a->q->start[k + 1] - a->q->start[k];
        cri_crf_scores(&a->r, a->q->start[k], n, a->W, stride, work);
        cri_crf_chain_marginals(&a->chain, n, work, 1, NULL, work + a->longest * stride);
        for (size_t t = 0; t < n; t++) {
            double sum = 0, *p = work + t * stride;
            for (size_t l = 0; l < K; l++) sum += p[l]; /* 1 but for rounding */
            for (size_t l = 0; l < K; l++) a->prob[row[t] * K + l] = p[l] / sum;
        }
    }
}

cr_status cri_crf_fail_overflow(cr_ctx *cx)
{
    return cr_fail(cx, CR_ENUMERIC, "the values of a row are so large that its scores overflow");
}

cr_status cri_crf_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    cri_crf_answer a = { 0 };
    size_t         work;
    CR_TRY(cri_crf_answer_open(cx, &s, state, rows, &a));
    a.prob = out->prob;
    work = a.longest * a.chain.stride + cri_crf_chain_work(&a.chain, a.longest);
    CR_TRY(cri_parallel_rows(cx, "predicting", a.q->n, 16, work, answer_sequences, &a));
    CR_TRY(cr_check_interrupt(cx)); /* a chain may have stopped */
    for (size_t i = 0; i < rows->n * a.m->K; i++)
        if (isnan(out->prob[i])) CR_TRY(cri_crf_fail_overflow(cx));
done:
    cri_attribute_rows_free(cx, &a.r);
    cr_scratch_end(&s);
    return st;
}

/* --- decode ---------------------------------------------------------------------------------- */

typedef struct decoding {
    cri_crf_answer *a;
    double         *path, *log_probability;
    size_t          work; /* numbers of workspace before those of the path */
} decoding;

/* work: scores and that of the chain as above, then the path and where it comes from as codes. */
static void decode_sequences(void *arg, cri_range range, double *work)
{
    const decoding       *d = arg;
    const cri_crf_answer *a = d->a;
    size_t                stride = a->chain.stride;
    double               *rest = work + a->longest * stride;
    uint32_t             *path = (uint32_t *)(void *)(work + d->work), *from = path + a->longest;
    for (size_t k = range.begin; k < range.end; k++) {
        const size_t *row = a->q->row + a->q->start[k];
        size_t        n = a->q->start[k + 1] - a->q->start[k];
        cri_crf_scores(&a->r, a->q->start[k], n, a->W, stride, work);
        double score = cri_crf_chain_best(&a->chain, n, work, path, from, rest);
        double log_Z = cri_crf_chain_marginals(&a->chain, n, work, 1, NULL, rest);
        d->log_probability[k] = fmin(score - log_Z, 0);
        for (size_t t = 0; t < n; t++) d->path[row[t]] = path[t];
    }
}

cr_status cri_crf_decode(cr_ctx *cx, const void *state, const cri_rows *rows, double *path,
                         double *log_probability)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    cri_crf_answer a = { 0 };
    decoding       d = { .a = &a, .path = path, .log_probability = log_probability };
    CR_TRY(cri_crf_answer_open(cx, &s, state, rows, &a));
    d.work = a.longest * a.chain.stride + cri_crf_chain_work(&a.chain, a.longest);
    size_t codes = a.longest * (a.m->K + 1); /* two to a number */
    CR_TRY(cri_parallel_rows(cx, "decoding", a.q->n, 16, d.work + codes / 2 + 1, decode_sequences,
                             &d));
    CR_TRY(cr_check_interrupt(cx));
    for (size_t k = 0; k < a.q->n; k++)
        if (isnan(log_probability[k])) CR_TRY(cri_crf_fail_overflow(cx));
done:
    cri_attribute_rows_free(cx, &a.r);
    cr_scratch_end(&s);
    return st;
}

/* --- draws ----------------------------------------------------------------------------------- */

typedef struct drawing {
    const cri_crf_answer *a;
    size_t                count;
    uint64_t              seed;
    double               *out;
    size_t                work; /* numbers of workspace before those of the path */
} drawing;

/* A sequence draws from a stream of its own. */
static void draw_sequences(void *arg, cri_range range, double *work)
{
    const drawing        *d = arg;
    const cri_crf_answer *a = d->a;
    size_t                stride = a->chain.stride;
    double               *rest = work + a->longest * stride;
    uint32_t             *path = (uint32_t *)(void *)(work + d->work);
    for (size_t k = range.begin; k < range.end; k++) {
        const size_t *row = a->q->row + a->q->start[k];
        size_t        n = a->q->start[k + 1] - a->q->start[k];
        cr_rng        rng = cr_rng_stream(d->seed, k);
        cri_crf_scores(&a->r, a->q->start[k], n, a->W, stride, work);
        if (isnan(cri_crf_chain_marginals(&a->chain, n, work, 1, NULL, rest))) {
            for (size_t t = 0; t < n; t++) d->out[row[t] * d->count] = NAN;
            continue;
        }
        for (size_t c = 0; c < d->count && !cri_should_stop(a->chain.cx); c++) {
            cri_crf_chain_draw(&a->chain, n, rest, &rng, path);
            for (size_t t = 0; t < n; t++) d->out[row[t] * d->count + c] = path[t];
        }
    }
}

cr_status cri_crf_sample(cr_ctx *cx, const void *state, const cr_design *design,
                         const cri_rows *rows, size_t count, uint64_t seed, double *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    cri_crf_answer a = { 0 };
    drawing        d = { .a = &a, .count = count, .seed = seed, .out = out };
    (void)design;
    if (count == 0) goto done;
    CR_TRY(cri_crf_answer_open(cx, &s, state, rows, &a));
    d.work = a.longest * a.chain.stride + cri_crf_chain_work(&a.chain, a.longest);
    CR_TRY(cri_parallel_rows(cx, "drawing", a.q->n, 16, d.work + a.longest / 2 + 1, draw_sequences,
                             &d));
    CR_TRY(cr_check_interrupt(cx));
    for (size_t i = 0; i < rows->n; i++)
        if (isnan(out[i * count])) CR_TRY(cri_crf_fail_overflow(cx));
done:
    cri_attribute_rows_free(cx, &a.r);
    cr_scratch_end(&s);
    return st;
}
