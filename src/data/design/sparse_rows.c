/* sparse_rows.c -- products and sums of sparse rows. */
#include "sparse_rows.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <string.h>

enum { BLOCK_ROWS = 512, MOST_SPANS = 16 };

void cri_sparse_free(cr_ctx *cx, cri_sparse_copy *c)
{
    cr_free(cx, c->start, c->rows + 1, sizeof *c->start);
    cr_free(cx, c->column, c->entries, sizeof *c->column);
    cr_free(cx, c->value, c->entries, sizeof *c->value);
    *c = (cri_sparse_copy){ 0 };
}

size_t cri_sparse_entries(const cri_sparse *X)
{
    size_t sum = 0, end;
    if (!X->index) return X->start[X->n];
    for (size_t i = 0; i < X->n; i++) {
        size_t begin = cri_sparse_row(X, i, &end);
        sum += end - begin;
    }
    return sum;
}

/* --- one row --------------------------------------------------------------------------------- */

double cri_sparse_dot(const cri_sparse *X, size_t i, const double *b)
{
    size_t end, begin = cri_sparse_row(X, i, &end);
    return cri_sparse_gather(X->column + begin, X->value + begin, end - begin, b);
}

void cri_sparse_axpy(const cri_sparse *X, size_t i, double a, double *out)
{
    size_t end;
    for (size_t e = cri_sparse_row(X, i, &end); e < end; e++) out[X->column[e]] += a * X->value[e];
}

double cri_sparse_at(const cri_sparse *X, size_t i, size_t j)
{
    size_t end, low = cri_sparse_row(X, i, &end), high = end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (X->column[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && X->column[low] == j ? X->value[low] : 0;
}

/* --- standardisation ------------------------------------------------------------------------- */

double cri_sparse_fold(const cri_sparse *X, const double *w, double *v)
{
    double c = 0;
    if (X->plain) {
        if (v != w) memcpy(v, w, X->p * sizeof *v);
        return 0;
    }
    for (size_t j = 0; j < X->p; j++) {
        v[j] = w[j] / X->scale[j];
        c += X->shift[j] * v[j];
    }
    return c;
}

void cri_sparse_unfold(const cri_sparse *X, double sum_r, double *g)
{
    for (size_t j = 0; !X->plain && j < X->p; j++)
        g[j] = (g[j] - X->shift[j] * sum_r) / X->scale[j];
}

/* --- all rows -------------------------------------------------------------------------------- */

typedef struct product {
    const cri_sparse *X;
    const double     *in;
    double           *out;
    size_t            span; /* rows per accumulator */
} product;

static void times_block(void *arg, size_t b)
{
    const product *q = arg;
    cri_range      rows = cri_block_range(q->X->n, BLOCK_ROWS, b);
    for (size_t i = rows.begin; i < rows.end; i++) q->out[i] = cri_sparse_dot(q->X, i, q->in);
}

cr_status cri_sparse_times(cr_ctx *cx, const cri_sparse *X, const double *b, double *out)
{
    product q = { X, b, out, 0 };
    return cri_parallel_for(cx, NULL, cri_block_count(X->n, BLOCK_ROWS), times_block, &q);
}

/* Asks for memory that is read soon; the answer does not depend on it. */
static inline void fetch_early(const double *at)
{
#ifdef __GNUC__
    __builtin_prefetch(at);
#else
    (void)at;
#endif
}

/* out [k] = sums over n entries, for a constant k.  Compiled for every x86-64 and for AVX2: there is no fused
 * multiplication in either, so that both give the same bits. */
static inline __attribute__((always_inline)) void gather(size_t k, const uint32_t *column,
                                                         const double *value, size_t n,
                                                         size_t behind, const double *B,
                                                         double *out)
{
    enum { AHEAD = 48 }; /* entries whose numbers are on their way */
    double sum[CRI_SPARSE_PANEL] = { 0 };
    for (size_t e = 0; e < n; e++) {
        const double *from = B + (size_t)column[e] * k, v = value[e];
        if (e + AHEAD < n + behind) fetch_early(B + (size_t)column[e + AHEAD] * k);
        for (size_t c = 0; c < k; c++) sum[c] += v * from[c];
    }
    memcpy(out, sum, k * sizeof *sum);
}

#if defined(__x86_64__) && defined(__GNUC__)
#define GATHER(name, k)                                                                            \
    __attribute__((target("avx2"))) static void name##_avx2(                                       \
        const uint32_t *column, const double *value, size_t n, size_t behind, const double *B,     \
        double *out)                                                                               \
    {                                                                                              \
        gather(k, column, value, n, behind, B, out);                                               \
    }                                                                                              \
    void name(const uint32_t *column, const double *value, size_t n, size_t behind,                \
              const double *B, double *out)                                                        \
    {                                                                                              \
        if (__builtin_cpu_supports("avx2"))                                                        \
            name##_avx2(column, value, n, behind, B, out);                                         \
        else                                                                                       \
            gather(k, column, value, n, behind, B, out);                                           \
    }
#else
#define GATHER(name, k)                                                                            \
    void name(const uint32_t *column, const double *value, size_t n, size_t behind,                \
              const double *B, double *out)                                                        \
    {                                                                                              \
        gather(k, column, value, n, behind, B, out);                                               \
    }
#endif

GATHER(cri_sparse_gather_panel, CRI_SPARSE_PANEL)
GATHER(cri_sparse_gather_few, CRI_SPARSE_FEW)

static void times_panel_block(void *arg, size_t b)
{
    const product    *q = arg;
    const cri_sparse *X = q->X;
    size_t            end;
    cri_range         rows = cri_block_range(X->n, BLOCK_ROWS, b);
    for (size_t i = rows.begin; i < rows.end; i++) {
        size_t begin = cri_sparse_row(X, i, &end), last = X->index ? end : X->start[X->n];
        cri_sparse_gather_panel(X->column + begin, X->value + begin, end - begin, last - end, q->in,
                                q->out + i * CRI_SPARSE_PANEL);
    }
}

cr_status cri_sparse_times_panel(cr_ctx *cx, const cri_sparse *X, const double *B, double *out)
{
    product q = { X, B, out, 0 };
    return cri_parallel_for(cx, NULL, cri_block_count(X->n, BLOCK_ROWS), times_panel_block, &q);
}

/* How many accumulators of p doubles pay: not more than the entries are worth. */
static size_t count_spans(const cri_sparse *X)
{
    size_t entries = cri_sparse_entries(X), spans = X->p ? entries / (4 * X->p) : 1;
    size_t most = cri_block_count(X->n, BLOCK_ROWS);
    if (spans > MOST_SPANS) spans = MOST_SPANS;
    if (spans > most) spans = most;
    return spans ? spans : 1;
}

static void add_span(void *arg, size_t k)
{
    const product *q = arg;
    cri_range      rows = cri_block_range(q->X->n, q->span, k);
    double        *acc = q->out + k * q->X->p;
    memset(acc, 0, q->X->p * sizeof *acc);
    for (size_t i = rows.begin; i < rows.end; i++) cri_sparse_axpy(q->X, i, q->in[i], acc);
}

cr_status cri_sparse_transpose_times(cr_ctx *cx, const cri_sparse *X, const double *r, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     spans = count_spans(X), p = X->p;
    double    *acc = cr_scratch_matrix(&s, spans, p);
    product    q = { X, r, acc, X->n / spans + 1 };

    CR_TRY(s.status);
    spans = cri_block_count(X->n, q.span);
    CR_TRY(cri_parallel_for(cx, NULL, spans, add_span, &q));
    memset(out, 0, p * sizeof *out);
    for (size_t k = 0; k < spans; k++)
        for (size_t j = 0; j < p; j++) out[j] += acc[k * p + j];
done:
    cr_scratch_end(&s);
    return st;
}

/* --- columns --------------------------------------------------------------------------------- */

void cri_sparse_rank_columns(const cri_sparse *X, size_t *rank, size_t *at)
{
    size_t end, n = X->n, p = X->p;
    memset(rank, 0, p * sizeof *rank); /* lengths, to begin with */
    for (size_t i = 0; i < n; i++)
        for (size_t e = cri_sparse_row(X, i, &end); e < end; e++) rank[X->column[e]]++;
    memset(at, 0, (n + 2) * sizeof *at);
    for (size_t j = 0; j < p; j++) at[n - rank[j] + 1]++;
    for (size_t i = 0; i <= n; i++) at[i + 1] += at[i];
    for (size_t j = 0; j < p; j++) rank[j] = at[n - rank[j]]++;
}

cr_status cri_sparse_transpose_ranked(cr_ctx *cx, const cri_sparse *X, const size_t *rank,
                                      cri_sparse_copy *out)
{
    cr_status       st = CR_OK;
    size_t          end, entries = cri_sparse_entries(X);
    cri_sparse_copy c = { .rows = X->p, .entries = entries };

    if (X->n > UINT32_MAX)
        return cr_fail(cx, CR_EUNSUPPORTED, "%zu sparse rows: at most %u can be transposed", X->n,
                       UINT32_MAX);
    c.start = cr_alloc(cx, X->p + 1, sizeof *c.start);
    c.column = c.start ? cr_resize(cx, NULL, 0, entries, sizeof *c.column) : NULL;
    c.value = c.column ? cr_resize(cx, NULL, 0, entries, sizeof *c.value) : NULL;
    if (!c.value) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < X->n; i++)
        for (size_t e = cri_sparse_row(X, i, &end); e < end; e++) {
            size_t j = X->column[e];
            c.start[(rank ? rank[j] : j) + 1]++;
        }
    for (size_t j = 0; j < X->p; j++) c.start[j + 1] += c.start[j];
    CR_TRY(cr_check_interrupt(cx));
    for (size_t i = 0; i < X->n; i++) /* start[j] runs to where column j + 1 begins ... */
        for (size_t e = cri_sparse_row(X, i, &end); e < end; e++) {
            size_t j = X->column[e], to = c.start[rank ? rank[j] : j]++;
            c.column[to] = (uint32_t)i;
            c.value[to] = X->value[e];
        }
    memmove(c.start + 1, c.start, X->p * sizeof *c.start); /* ... and is moved there */
    c.start[0] = 0;
    c.view = (cri_sparse){ .n = X->p,
                           .p = X->n,
                           .start = c.start,
                           .column = c.column,
                           .value = c.value,
                           .index = rank,
                           .plain = true };
    *out = c;
    c = (cri_sparse_copy){ 0 };
done:
    cri_sparse_free(cx, &c);
    return st;
}

cr_status cri_sparse_transpose(cr_ctx *cx, const cri_sparse *X, cri_sparse_copy *out)
{
    return cri_sparse_transpose_ranked(cx, X, NULL, out);
}

typedef struct gram {
    const cri_sparse *X, *columns;
    const double     *w;
    double           *out;
} gram;

/* Row j of the lower half: each row of X that has column j adds its entries up to j. */
static void gram_row(void *arg, size_t j)
{
    const gram *g = arg;
    double     *out = g->out + j * g->X->p;
    memset(out, 0, (j + 1) * sizeof *out);
    for (size_t c = g->columns->start[j]; c < g->columns->start[j + 1]; c++) {
        size_t i = g->columns->column[c], end;
        double a = g->columns->value[c] * (g->w ? g->w[i] : 1);
        for (size_t e = cri_sparse_row(g->X, i, &end); e < end && g->X->column[e] <= j; e++)
            out[g->X->column[e]] += a * g->X->value[e];
    }
}

cr_status cri_sparse_gram(cr_ctx *cx, const cri_sparse *X, const double *opt_w, double *out)
{
    cr_status       st = CR_OK;
    cri_sparse_copy columns = { 0 };
    size_t          p = X->p;
    CR_TRY(cri_sparse_transpose(cx, X, &columns));
    gram g = { X, &columns.view, opt_w, out };
    CR_TRY(cri_parallel_for(cx, NULL, p, gram_row, &g));
    for (size_t j = 0; j < p; j++)
        for (size_t k = 0; k < j; k++) out[k * p + j] = out[j * p + k];
done:
    cri_sparse_free(cx, &columns);
    return st;
}

/* --- moments --------------------------------------------------------------------------------- */

/* out [p] = sum over rows of w (x - mean)^power, power 1 or 2, where the zeros that are not kept
 * add theirs at the end; weight_of_zeros[j] is the weight of the rows without column j. */
static void sum_powers(const cri_sparse *X, const double *opt_w, const double *mean, int power,
                       const double *weight_of_zeros, double *out)
{
    size_t end;
    for (size_t j = 0; j < X->p; j++)
        out[j] = weight_of_zeros[j] * (power == 1 ? -mean[j] : mean[j] * mean[j]);
    for (size_t i = 0; i < X->n; i++) {
        double w = opt_w ? opt_w[i] : 1;
        for (size_t e = cri_sparse_row(X, i, &end); e < end; e++) {
            double z = X->value[e] - mean[X->column[e]];
            out[X->column[e]] += w * (power == 1 ? z : z * z);
        }
    }
}

/* The weight of all rows, and of those without column j: zeros [p]. */
static double weigh(const cri_sparse *X, const double *opt_w, double *zeros)
{
    size_t end;
    double all = 0;
    memset(zeros, 0, X->p * sizeof *zeros);
    for (size_t i = 0; i < X->n; i++) {
        double w = opt_w ? opt_w[i] : 1;
        all += w;
        for (size_t e = cri_sparse_row(X, i, &end); e < end; e++) zeros[X->column[e]] += w;
    }
    for (size_t j = 0; j < X->p; j++) zeros[j] = all > zeros[j] ? all - zeros[j] : 0;
    return all;
}

cr_status cri_sparse_moments(cr_ctx *cx, const cri_sparse *X, const double *opt_w, double *mean,
                             double *variance)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *zeros = cr_scratch_f64(&s, X->p), all;

    CR_TRY(s.status);
    all = weigh(X, opt_w, zeros);
    memset(mean, 0, X->p * sizeof *mean);
    memset(variance, 0, X->p * sizeof *variance);
    for (int pass = 0; pass < 2 && all > 0; pass++) {
        CR_TRY(cr_check_interrupt(cx));
        sum_powers(X, opt_w, mean, 1, zeros, variance);
        for (size_t j = 0; j < X->p; j++) mean[j] += variance[j] / all;
    }
    if (all > 0) sum_powers(X, opt_w, mean, 2, zeros, variance);
    for (size_t j = 0; j < X->p && all > 0; j++) variance[j] /= all;
done:
    cr_scratch_end(&s);
    return st;
}
