/* markov_gaps.c -- which symbols followed which, after which gaps of time. */
#include "base/scratch.h"
#include "data/table/table_internal.h"
#include "markov_time.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

cr_status cri_markov_gap(cr_ctx *cx, const cri_rows *rows, size_t row, double before, bool same,
                         double *out_gap)
{
    char   where[512];
    double gap = rows->sequences->time[row] - before;
    *out_gap = gap;
    if ((gap > 0 && gap < INFINITY) || (gap == 0 && same)) return CR_OK;
    cri_table_where(rows->table, rows->index ? rows->index[row] : row, where, sizeof where);
    return gap == 0
               ? cr_fail(cx, CR_EDATA,
                         "%s: the row has another symbol than one of its sequence at the same "
                         "time",
                         where)
               : cr_fail(cx, CR_EDATA,
                         "%s: the row is not later than those of its sequence before it", where);
}

typedef struct pair {
    double gap;
    size_t cell;
} pair;

static int compare(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->gap != y->gap) return x->gap < y->gap ? -1 : 1;
    return x->cell < y->cell ? -1 : x->cell > y->cell;
}

static cr_status list_pairs(cr_ctx *cx, const cri_rows *rows, const double *symbol, size_t k,
                            pair *out, size_t *out_n, double *out_latest)
{
    const cri_sequences *q = rows->sequences;
    size_t               n = 0;
    for (size_t s = 0; s < q->n; s++)
        for (size_t t = q->start[s] + 1; t < q->start[s + 1]; t++) {
            size_t    a = q->row[t - 1], b = q->row[t];
            cr_status st =
                cri_markov_gap(cx, rows, b, q->time[a], symbol[a] == symbol[b], &out[n].gap);
            if (st != CR_OK) return st;
            if (out[n].gap == 0) continue;
            out[n++].cell = (size_t)symbol[a] * k + (size_t)symbol[b];
            *out_latest = fmax(*out_latest, fabs(q->time[a]) + fabs(q->time[b]));
        }
    *out_n = n;
    return CR_OK;
}

/* Gaps that differ from the first of their like by no more than rounding become that one; how many are different. */
static size_t join_gaps(pair *pairs, size_t n, double latest)
{
    size_t different = 0;
    double first = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || pairs[i].gap - first > 1e-10 * first + 4 * DBL_EPSILON * latest) {
            first = pairs[i].gap;
            different++;
        }
        pairs[i].gap = first;
    }
    return different;
}

cr_status cri_markov_gaps_find(cr_ctx *cx, cr_scratch *s, const cri_rows *rows,
                               const double *symbol, size_t k, cri_markov_gaps *out)
{
    cr_status            st = CR_OK;
    cr_scratch           own = cr_scratch_begin(cx);
    const cri_sequences *q = rows->sequences;
    size_t               n = 0, different;
    pair                *pairs = cr_scratch_bytes(&own, q->rows + 1, sizeof *pairs);
    double               latest = 0;
    cri_markov_gaps      g = { 0 };
    CR_TRY(own.status);
    CR_TRY(list_pairs(cx, rows, symbol, k, pairs, &n, &latest));
    if (n == 0)
        CR_TRY(cr_fail(cx, CR_EDATA,
                       "markov: no sequence has rows at two times, so that nothing is known of the "
                       "time between jumps"));
    qsort(pairs, n, sizeof *pairs, compare);
    different = join_gaps(pairs, n, latest);
    qsort(pairs, n, sizeof *pairs, compare);
    g.gap = cr_scratch_f64(s, different);
    g.start = cr_scratch_index(s, different + 1);
    g.cell = cr_scratch_bytes(s, n, sizeof *g.cell);
    g.count = cr_scratch_f64(s, n);
    CR_TRY(s->status);
    for (size_t i = 0; i < n; i++) {
        bool first = i == 0 || pairs[i].gap != pairs[i - 1].gap;
        if (first) g.gap[g.n] = pairs[i].gap, g.start[g.n++] = g.cells;
        if (first || pairs[i].cell != pairs[i - 1].cell) {
            g.cell[g.cells] = (uint32_t)pairs[i].cell;
            g.count[g.cells++] = 0;
        }
        g.count[g.cells - 1] += 1;
        g.time += pairs[i].gap;
    }
    g.start[g.n] = g.cells;
    g.pairs = (double)n;
    *out = g;
done:
    cr_scratch_end(&own);
    return st;
}
