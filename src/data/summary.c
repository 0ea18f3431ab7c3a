/* summary.c -- a column in a few numbers. */
#include "summary.h"
#include "../base/parallel.h"
#include "../base/scratch.h"

#include <math.h>

/* Two passes: the sum and extremes, then the squares about the mean, which take up what the first
 * mean lost to rounding. */
static void summarise_numbers(const cr_column *c, size_t rows, cr_summary *s)
{
    double n, mean, scale, sum = 0, rest = 0, square = 0;
    s->min = INFINITY, s->max = -INFINITY;
    for (size_t i = 0; i < rows; i++) {
        double x = c->values[i * c->stride];
        if (isnan(x)) continue;
        s->present++;
        s->min = x < s->min ? x : s->min;
        s->max = x > s->max ? x : s->max;
    }
    n = (double)s->present;
    scale = fmax(fabs(s->min), fabs(s->max)) > 1e150 ? 0x1p-600 : 1; /* no sum may overflow */
    for (size_t i = 0; i < rows; i++) {
        double x = c->values[i * c->stride];
        sum += isnan(x) ? 0 : x * scale;
    }
    mean = sum / n;
    for (size_t i = 0; i < rows; i++) {
        double x = c->values[i * c->stride], d = isnan(x) ? 0 : x * scale - mean;
        rest += d;
        square += d * d;
    }
    if (s->present == 0) {
        s->min = s->max = NAN;
        return;
    }
    s->mean = (mean + rest / n) / scale;
    s->sd = s->present > 1 ? sqrt((square - rest * rest / n) / (n - 1)) / scale : NAN;
}

cr_status cr_summarise(cr_ctx *cx, const cr_column *c, size_t rows, cr_summary *out)
{
    cr_status  st = CR_OK;
    cr_scratch sc = cr_scratch_begin(cx);
    cr_summary s = { .min = NAN, .mean = NAN, .sd = NAN, .max = NAN };

    if (c->type == CR_CATEGORY) {
        size_t *count = cr_scratch_bytes(&sc, c->n_levels, sizeof *count);
        CR_TRY(sc.status);
        for (size_t i = 0; i < rows; i++)
            if (c->codes[i] != CR_MISSING_CODE) s.present++, count[c->codes[i]]++;
        for (size_t k = 0; k < c->n_levels; k++)
            if (count[k] > s.frequent_count) s.frequent = k, s.frequent_count = count[k];
    } else {
        summarise_numbers(c, rows, &s);
    }
    *out = s;
done:
    cr_scratch_end(&sc);
    return st;
}

typedef struct table_summary {
    const cr_table *table;
    cr_summary     *out;
} table_summary;

static void summarise_column(void *arg, size_t i)
{
    const table_summary *w = arg;
    const cr_column     *c = cr_table_column(w->table, i);
    w->out[i] = (cr_summary){ .min = NAN, .mean = NAN, .sd = NAN, .max = NAN };
    if (c->type != CR_CATEGORY) summarise_numbers(c, cr_table_rows(w->table), &w->out[i]);
}

cr_status cr_summarise_table(cr_ctx *cx, const cr_table *t, cr_summary *out)
{
    cr_status     st = CR_OK;
    table_summary w = { t, out };
    CR_TRY(cri_parallel_for(cx, NULL, cr_table_columns(t), summarise_column, &w));
    for (size_t i = 0; i < cr_table_columns(t); i++) /* counting levels takes memory */
        if (cr_table_column(t, i)->type == CR_CATEGORY)
            CR_TRY(cr_summarise(cx, cr_table_column(t, i), cr_table_rows(t), &out[i]));
done:
    return st;
}
