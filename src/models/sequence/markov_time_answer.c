/* markov_time_answer.c -- what a chain in continuous time says of rows: the distribution of each symbol given the one
 * before it and the time between them. */
#include "base/rng.h"
#include "base/scratch.h"
#include "markov_expm.h"
#include "markov_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row, and what is known before it. */
typedef struct step {
    double gap;
    size_t row, before; /* the symbol before it */
} step;

static int compare(const void *a, const void *b)
{
    const step *x = a, *y = b;
    if (x->gap != y->gap) return x->gap < y->gap ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Fills in the rows that are the first of their sequences, and lists the others. */
static cr_status list_steps(cr_ctx *cx, const cri_markov *m, const cri_rows *rows,
                            const double *symbol, double *opt_places, step *out, size_t *out_n,
                            double *prob)
{
    const cri_sequences *q = rows->sequences;
    size_t               n = 0;
    for (size_t s = 0; s < q->n; s++) {
        double *place = opt_places ? opt_places + s * CRI_MARKOV_TIME_PLACE : NULL;
        bool    known = place && place[0] > 0;
        double  before = known ? place[1] : 0, time = known ? place[2] : 0;
        for (size_t t = q->start[s]; t < q->start[s + 1]; t++) {
            size_t row = q->row[t];
            if (known) {
                double    gap;
                cr_status st = cri_markov_gap(cx, rows, row, time, symbol[row] == before, &gap);
                if (st != CR_OK) return st;
                out[n++] = (step){ gap, row, (size_t)before };
            } else {
                for (size_t b = 0; b < m->k; b++) prob[row * m->k + b] = cri_markov_p(m, 0, b);
            }
            known = true, before = symbol[row], time = q->time[row];
        }
        if (!place) continue;
        place[0] += (double)(q->start[s + 1] - q->start[s]);
        place[1] = before, place[2] = time;
    }
    *out_n = n;
    return CR_OK;
}

cr_status cri_markov_time_answer(cr_ctx *cx, const cri_markov *m, const cri_rows *rows,
                                 double *opt_places, cr_prediction *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     k = m->k, n = 0;
    double    *symbol = cr_scratch_f64(&s, rows->n), *P = cr_scratch_matrix(&s, k, k);
    double    *work = cr_scratch_f64(&s, cri_generator_work(k));
    step      *steps = cr_scratch_bytes(&s, rows->n + 1, sizeof *steps);
    CR_TRY(s.status);
    cri_rows_fill_term(rows, 0, 0, rows->n, symbol, 1);
    CR_TRY(list_steps(cx, m, rows, symbol, opt_places, steps, &n, out->prob));
    qsort(steps, n, sizeof *steps, compare);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || steps[i].gap != steps[i - 1].gap) {
            CR_TRY(cr_check_interrupt(cx));
            cri_generator_exponential(m->rate, k, steps[i].gap, NULL, P, NULL, work);
        }
        memcpy(out->prob + steps[i].row * k, P + steps[i].before * k, k * sizeof *P);
    }
    for (size_t i = 0; i < rows->n; i++)
        out->log_density[i] = log(out->prob[i * k + (size_t)symbol[i]]);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_markov_time_forecast(cr_ctx *cx, const cri_markov *m, const double *places, size_t n,
                                   size_t ahead, cr_prediction *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     k = m->k;
    double    *P = cr_scratch_matrix(&s, k, k);
    double    *work = cr_scratch_f64(&s, cri_generator_work(k));
    CR_TRY(s.status);
    cri_generator_exponential(m->rate, k, 1, NULL, P, NULL, work);
    for (size_t i = 0; i < n; i++) {
        const double *place = places + i * CRI_MARKOV_TIME_PLACE;
        for (size_t h = 0; h < ahead; h++) {
            double *p = out->prob + (i * ahead + h) * k, *before = p - k;
            if (h % 64 == 0) CR_TRY(cr_check_interrupt(cx));
            memset(p, 0, k * sizeof *p);
            for (size_t a = 0; a < k; a++) {
                double mass = h > 0 ? before[a] : a == (size_t)place[1];
                for (size_t b = 0; b < k; b++) p[b] += mass * P[a * k + b];
            }
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_markov_time_sample(cr_ctx *cx, const cri_markov *m, size_t count, uint64_t seed,
                                 double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     k = m->k;
    double    *P = cr_scratch_matrix(&s, k, k), *first = cr_scratch_f64(&s, k);
    double    *work = cr_scratch_f64(&s, cri_generator_work(k));
    CR_TRY(s.status);
    cri_generator_exponential(m->rate, k, 1, NULL, P, NULL, work);
    for (size_t b = 0; b < k; b++) first[b] = cri_markov_p(m, 0, b);
    for (size_t i = 0; i < count; i++) {
        cr_rng r = cr_rng_stream(seed, i);
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        out[i] = (double)cr_rng_categorical(&r, i > 0 ? P + (size_t)out[i - 1] * k : first, k);
    }
done:
    cr_scratch_end(&s);
    return st;
}
