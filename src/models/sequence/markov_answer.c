/* markov_answer.c -- what a chain says of rows, in discrete time; in continuous time markov_time_answer.c does. */
#include "base/rng.h"
#include "base/scratch.h"
#include "markov_follow.h"
#include "markov_time.h"

#include <math.h>
#include <string.h>

/* Each row given those before it; places [sequences x place] or NULL. */
static cr_status answer(cr_ctx *cx, const cri_markov *m, const cri_rows *rows, double *opt_places,
                        cr_prediction *out)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const cri_sequences *of = rows->sequences;
    double              *symbol = cr_scratch_f64(&s, rows->n);
    if (m->rate) {
        CR_TRY(cri_markov_time_answer(cx, m, rows, opt_places, out));
        goto done;
    }
    CR_TRY(s.status);
    cri_rows_fill_term(rows, 0, 0, rows->n, symbol, 1);
    for (size_t i = 0; i < of->n; i++) {
        double  *place = opt_places ? opt_places + i * m->place : NULL;
        follower f = place ? follow_from(m, place) : follow(m->k, m->order);
        if (i % 256 == 0) CR_TRY(cr_check_interrupt(cx));
        for (size_t t = of->start[i]; t < of->start[i + 1]; t++) {
            size_t  row = of->row[t], c = context_of(&f), b = (size_t)symbol[row];
            double *p = out->prob + row * m->k;
            for (size_t j = 0; j < m->k; j++) p[j] = cri_markov_p(m, c, j);
            out->log_density[row] = log(p[b]);
            take(&f, b);
        }
        if (place) keep_place(m, &f, place);
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_markov_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    return answer(cx, state, rows, NULL, out);
}

cr_status cri_markov_filter(cr_ctx *cx, const void *state, const cri_rows *rows, double *places,
                            cr_prediction *out)
{
    return answer(cx, state, rows, places, out);
}

size_t cri_markov_place(const void *state) { return ((const cri_markov *)state)->place; }

/* Where a symbol leads to from a context of l symbols, given by its number among those. */
static size_t lead(const cri_markov *m, size_t context, size_t l, size_t b)
{
    size_t own = context - cri_markov_first(m->k, l), power = 1;
    for (size_t i = 0; i < m->order; i++) power *= m->k;
    if (l < m->order) return cri_markov_first(m->k, l + 1) + own * m->k + b;
    return cri_markov_first(m->k, l) + (own * m->k + b) % power;
}

/* One more symbol: the distribution over contexts goes on, and p [k] is that of the symbol. */
static void step(const cri_markov *m, const double *before, double *after, double *p)
{
    size_t l = 0, next = cri_markov_first(m->k, 1);
    memset(after, 0, m->contexts * sizeof *after);
    memset(p, 0, m->k * sizeof *p);
    for (size_t c = 0; c < m->contexts; c++) {
        while (c >= next && l < m->order) l++, next = cri_markov_first(m->k, l + 1);
        if (before[c] == 0) continue;
        for (size_t b = 0; b < m->k; b++) {
            double mass = before[c] * cri_markov_p(m, c, b);
            after[lead(m, c, l, b)] += mass;
            p[b] += mass;
        }
    }
}

cr_status cri_markov_forecast(cr_ctx *cx, const void *state, const cr_design *design,
                              const double *places, size_t n, size_t ahead, cr_prediction *out)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    const cri_markov *m = state;
    double           *a = cr_scratch_f64(&s, m->contexts), *b = cr_scratch_f64(&s, m->contexts);
    (void)design;
    if (m->rate) {
        CR_TRY(cri_markov_time_forecast(cx, m, places, n, ahead, out));
        goto done;
    }
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) {
        follower f = follow_from(m, places + i * m->place);
        memset(a, 0, m->contexts * sizeof *a);
        a[context_of(&f)] = 1;
        for (size_t h = 0; h < ahead; h++) {
            CR_TRY(cr_check_interrupt(cx));
            step(m, a, b, out->prob + (i * ahead + h) * m->k);
            double *swap = a;
            a = b, b = swap;
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* One sequence. */
cr_status cri_markov_sample(cr_ctx *cx, const void *state, const cr_design *design,
                            const cri_rows *opt_rows, size_t count, uint64_t seed, double *out)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    const cri_markov *m = state;
    follower          f = follow(m->k, m->order);
    double           *p = cr_scratch_f64(&s, m->k);
    (void)design, (void)opt_rows;
    if (m->rate) {
        CR_TRY(cri_markov_time_sample(cx, m, count, seed, out));
        goto done;
    }
    CR_TRY(s.status);
    for (size_t i = 0; i < count; i++) {
        cr_rng r = cr_rng_stream(seed, i);
        size_t c = context_of(&f);
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        for (size_t b = 0; b < m->k; b++) p[b] = cri_markov_p(m, c, b);
        size_t b = cr_rng_categorical(&r, p, m->k);
        out[i] = (double)b;
        take(&f, b);
    }
done:
    cr_scratch_end(&s);
    return st;
}
