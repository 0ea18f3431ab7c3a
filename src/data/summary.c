/* summary.c -- one pass over a column (Welford 1962 for mean and sd). */
#include "summary.h"
#include "../base/scratch.h"

#include <math.h>

static void summarise_numbers(const cr_column *c, size_t rows, cr_summary *s)
{
    double mean = 0, square = 0;
    s->min = INFINITY, s->max = -INFINITY;
    for (size_t i = 0; i < rows; i++) {
        double x = c->values[i * c->stride];
        if (isnan(x)) continue;
        double delta = x - mean;
        mean += delta / (double)++s->present;
        square += delta * (x - mean);
        if (x < s->min) s->min = x;
        if (x > s->max) s->max = x;
    }
    if (s->present == 0) s->min = s->max = mean = NAN;
    s->mean = mean;
    s->sd = s->present > 1 ? sqrt(square / (double)(s->present - 1)) : NAN;
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
