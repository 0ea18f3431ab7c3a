/* markov_gaps.c -- which symbols followed which, after which gaps of time. */
#include "base/scratch.h"
#include "data/table/table_internal.h"
#include "markov_time.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

cr_status cri_markov_gap(cr_ctx *cx, const cri_rows *rows, size_t row, double before,
                         double *out_gap)
{
    char   where[512];
    double gap = rows->sequences->time[row] - before;
    *out_gap = gap;
    if (gap > 0 && gap < INFINITY) return CR_OK;
    cr_fail(
        cx, CR_EDATA, "%s: the row is not later than the one before it in its sequence",
        cri_table_where(rows->table, rows->index ? rows->index[row] : row, where, sizeof where));
    return cr_fail_note(cx, "in continuous time each row of a sequence has a time of its own");
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
                            pair *out, double *out_latest)
{
    const cri_sequences *q = rows->sequences;
    for (size_t s = 0; s < q->n; s++)
        for (size_t t = q->start[s] + 1; t < q->start[s + 1]; t++, out++) {
            size_t    a = q->row[t - 1], b = q->row[t];
            cr_status st = cri_markov_gap(cx, rows, b, q->time[a], &out->gap);
            if (st != CR_OK) return st;
            out->cell = (size_t)symbol[a] * k + (size_t)symbol[b];
            *out_latest = fmax(*out_latest, fabs(q->time[a]) + fabs(q->time[b]));
        }
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
    size_t               n = q->rows - q->n, different;
    pair                *pairs = cr_scratch_bytes(&own, n + 1, sizeof *pairs);
    double               latest = 0;
    cri_markov_gaps      g = { 0 };
    CR_TRY(own.status);
    if (n == 0)
        CR_TRY(cr_fail(cx, CR_EDATA,
                       "markov: no sequence has two rows, so that nothing is known of the time "
                       "between jumps"));
    CR_TRY(list_pairs(cx, rows, symbol, k, pairs, &latest));
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
