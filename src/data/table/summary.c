/* summary.c -- a column in a few numbers. */
#include "summary.h"
#include "table_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

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

/* --- a sparse block -------------------------------------------------------------------------- */

/* Sums of one sparse column, or of all; n counts entries that are there, missing those that are
 * NaN. */
typedef struct sums {
    double n, missing, scale, mean, rest, square;
} sums;

/* The zeros that are not kept count too: `cells` of the column less its entries. */
static double zeros_of(const sums *q, double cells) { return cells - q->n - q->missing; }

/* Column of an entry among the summaries: all entries belong to the first when together. */
static size_t place(const cr_csr *X, size_t e, bool together)
{
    return together ? 0 : X->column[e];
}

static void find_extremes(const cr_csr *X, bool together, sums *q, cr_summary *s)
{
    for (size_t e = 0; e < X->row_start[X->rows]; e++) {
        size_t j = place(X, e, together);
        double x = X->value[e];
        if (isnan(x)) {
            q[j].missing++;
            continue;
        }
        if (q[j].n++ == 0) s[j].min = s[j].max = x;
        s[j].min = x < s[j].min ? x : s[j].min;
        s[j].max = x > s[j].max ? x : s[j].max;
    }
}

/* As summarise_numbers, with the zeros added at once.  q and s [n] are zeroed and NaN. */
static void summarise_entries(const cr_csr *X, bool together, size_t n, double cells, sums *q,
                              cr_summary *s)
{
    find_extremes(X, together, q, s);
    for (size_t j = 0; j < n; j++) {
        s[j].present = (size_t)(cells - q[j].missing);
        if (zeros_of(&q[j], cells) > 0) s[j].min = fmin(s[j].min, 0), s[j].max = fmax(s[j].max, 0);
        q[j].scale = fmax(fabs(s[j].min), fabs(s[j].max)) > 1e150 ? 0x1p-600 : 1;
    }
    for (size_t e = 0; e < X->row_start[X->rows]; e++) {
        sums *k = &q[place(X, e, together)];
        if (!isnan(X->value[e])) k->mean += X->value[e] * k->scale;
    }
    for (size_t j = 0; j < n; j++) q[j].mean /= (double)s[j].present;
    for (size_t e = 0; e < X->row_start[X->rows]; e++) {
        sums  *k = &q[place(X, e, together)];
        double d = isnan(X->value[e]) ? 0 : X->value[e] * k->scale - k->mean;
        k->rest += d;
        k->square += d * d;
    }
    for (size_t j = 0; j < n; j++) {
        double m = (double)s[j].present, zeros = zeros_of(&q[j], cells);
        double rest = q[j].rest - zeros * q[j].mean;
        double square = q[j].square + zeros * q[j].mean * q[j].mean;
        if (s[j].present == 0) continue;
        s[j].mean = (q[j].mean + rest / m) / q[j].scale;
        if (s[j].present > 1) s[j].sd = sqrt((square - rest * rest / m) / (m - 1)) / q[j].scale;
    }
}

static cr_status summarise_sparse(cr_ctx *cx, const cr_table *t, bool together, cr_summary *out)
{
    cr_status     st = CR_OK;
    cr_scratch    sc = cr_scratch_begin(cx);
    const cr_csr *X = cr_table_csr(t);
    size_t        n = together ? 1 : X->columns;
    double        cells = (double)X->rows * (together ? (double)X->columns : 1);
    sums         *q = cr_scratch_bytes(&sc, n, sizeof *q);

    CR_TRY(sc.status);
    for (size_t j = 0; j < n; j++)
        out[j] = (cr_summary){ .min = NAN, .mean = NAN, .sd = NAN, .max = NAN };
    summarise_entries(X, together, n, cells, q, out);
done:
    cr_scratch_end(&sc);
    return st;
}

cr_status cr_summarise_csr(cr_ctx *cx, const cr_table *t, cr_summary *out)
{
    if (!cr_table_csr(t))
        return cr_fail(cx, CR_EARG, "%s has no sparse block to summarise", cr_table_source(t));
    return summarise_sparse(cx, t, true, out);
}

/* --- a table --------------------------------------------------------------------------------- */

typedef struct table_summary {
    const cr_table *table;
    cr_summary     *out;
} table_summary;

/* The summary of the k-th column that is not of the sparse block. */
static cr_summary *summary_of(const table_summary *w, size_t k)
{
    const cr_csr *X = cr_table_csr(w->table);
    return &w->out[X && k >= cr_table_csr_first(w->table) ? k + X->columns : k];
}

static void summarise_column(void *arg, size_t k)
{
    const table_summary *w = arg;
    const cr_column     *c = cri_table_ordinary_column(w->table, k);
    cr_summary          *s = summary_of(w, k);
    *s = (cr_summary){ .min = NAN, .mean = NAN, .sd = NAN, .max = NAN };
    if (c->type != CR_CATEGORY) summarise_numbers(c, cr_table_rows(w->table), s);
}

cr_status cr_summarise_table(cr_ctx *cx, const cr_table *t, cr_summary *out)
{
    cr_status     st = CR_OK;
    table_summary w = { t, out };
    CR_TRY(cri_parallel_for(cx, NULL, cri_table_ordinary(t), summarise_column, &w));
    for (size_t k = 0; k < cri_table_ordinary(t); k++) { /* counting levels takes memory */
        const cr_column *c = cri_table_ordinary_column(t, k);
        if (c->type == CR_CATEGORY)
            CR_TRY(cr_summarise(cx, c, cr_table_rows(t), summary_of(&w, k)));
    }
    if (cr_table_csr(t)) CR_TRY(summarise_sparse(cx, t, false, out + cr_table_csr_first(t)));
done:
    return st;
}
