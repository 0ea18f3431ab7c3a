/* kmeans_rows.c -- the rows that k-means works on: distinct, in the order of their values, scaled, with mean 0.
 * Random numbers choose rows by their place in this order and as they weigh, so that a fit depends neither on the
 * order of the rows nor on whether a row is repeated or weighs more.  O(n log n + n p). */
#include "kmeans.h"
#include "models/core/passes.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum {
    LEAVES = 8,
    LEAST_ROWS = 1024
}; /* of a stream: as many numbers as so many leaves have bytes */

/* --- gathering -------------------------------------------------------------------------------- */

static cr_status grow(cr_ctx *cx, double **array, size_t *capacity, size_t n)
{
    size_t  more = n > 2 * *capacity ? n : 2 * *capacity;
    double *a = n <= *capacity ? *array : cr_resize(cx, *array, *capacity, more, sizeof *a);
    if (!a) return CR_ENOMEM;
    if (n > *capacity) *array = a, *capacity = more;
    return CR_OK;
}

static cr_status reserve(cr_ctx *cx, cri_kmeans_rows *d, size_t n)
{
    cr_status st = n <= SIZE_MAX / sizeof(double) / d->p ? grow(cx, &d->X, &d->room, n * d->p)
                                                         : cri_fail_memory(cx, SIZE_MAX);
    return st == CR_OK ? grow(cx, &d->w, &d->capacity, n) : st;
}

/* Adds the rows of a block, with those of no weight. */
static cr_status append(cr_ctx *cx, cri_kmeans_rows *d, const cri_rows *rows)
{
    cr_status st = reserve(cx, d, d->n + rows->n);
    if (st == CR_OK) st = cri_rows_matrix(cx, rows, d->X + d->n * d->p);
    if (st != CR_OK) return st;
    for (size_t i = 0; i < rows->n; i++) d->w[d->n + i] = rows->w ? rows->w[i] : 1;
    d->n += rows->n;
    return CR_OK;
}

static void drop_weightless(cri_kmeans_rows *d)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->n; i++) {
        if (!(d->w[i] > 0)) continue;
        if (kept < i) memcpy(d->X + kept * d->p, d->X + i * d->p, d->p * sizeof(double));
        d->w[kept++] = d->w[i];
    }
    d->n = kept;
}

/* --- scale ------------------------------------------------------------------------------------ */

/* Rows at a time; their sums are added in order. */
enum { BLOCK = 1024 };

/* For each column, of the differences from the first row: sum w e, and how many are not 0. */
static void sum_block(void *arg, cri_range range, double *acc)
{
    const cri_kmeans_rows *d = arg;
    for (size_t i = range.begin; i < range.end; i++)
        for (size_t j = 0; j < d->p; j++) {
            double e = d->X[i * d->p + j] - d->X[j];
            acc[j] += d->w[i] * e;
            acc[d->p + j] += e != 0;
        }
}

/* For each column, of the differences from the mean: sum w e^2, sum w e. */
static void spread_block(void *arg, cri_range range, double *acc)
{
    const cri_kmeans_rows *d = arg;
    for (size_t i = range.begin; i < range.end; i++)
        for (size_t j = 0; j < d->p; j++) {
            double e = d->X[i * d->p + j] - d->shift[j];
            acc[j] += d->w[i] * e * e;
            acc[d->p + j] += d->w[i] * e;
        }
}

static cr_status check_scale(cr_ctx *cx, const cr_design *design, size_t j, double mean, double sd)
{
    if (isfinite(mean) && isfinite(sd)) return CR_OK;
    return cr_fail(cx, CR_ENUMERIC,
                   "kmeans: the values of column '%s' are so large that their squares overflow",
                   cr_design_term_name(design, j));
}

/* Shift and scale by the rows themselves: their weighted means and standard deviations (divisor: the weight). */
static cr_status find_scale(cr_ctx *cx, const cr_design *design, bool standardise,
                            cri_kmeans_rows *d)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *sum = cr_scratch_f64(&s, 2 * d->p), *spread = cr_scratch_f64(&s, 2 * d->p);
    CR_TRY(s.status);
    CR_TRY(cri_parallel_sum(cx, NULL, d->n, BLOCK, 2 * d->p, sum_block, d, sum));
    for (size_t j = 0; j < d->p; j++)
        d->shift[j] = sum[d->p + j] == 0 ? d->X[j] : d->X[j] + sum[j] / d->weight;
    CR_TRY(cri_parallel_sum(cx, NULL, d->n, BLOCK, 2 * d->p, spread_block, d, spread));
    for (size_t j = 0; j < d->p; j++) {
        double squares = spread[j], rest = spread[d->p + j], sd = 0;
        if (sum[d->p + j] != 0) sd = sqrt((squares - rest * (rest / d->weight)) / d->weight);
        d->scale[j] = standardise && sd > 0 ? sd : 1;
        CR_TRY(check_scale(cx, design, j, d->shift[j], sd));
    }
done:
    cr_scratch_end(&s);
    return st;
}

static void scale_block(void *arg, cri_range range, double *acc)
{
    const cri_kmeans_rows *d = arg;
    for (size_t i = range.begin; i < range.end; i++) {
        double *x = d->X + i * d->p, norm = 0;
        for (size_t j = 0; j < d->p; j++) {
            x[j] = (x[j] - d->shift[j]) / d->scale[j];
            norm += x[j] * x[j];
        }
        d->norm[i] = norm;
        acc[0] += d->w[i] * norm;
    }
}

static cr_status apply_scale(cr_ctx *cx, cri_kmeans_rows *d)
{
    cr_status st = cri_parallel_sum(cx, NULL, d->n, BLOCK, 1, scale_block, d, &d->total);
    if (st != CR_OK || isfinite(d->total)) return st;
    return cr_fail(cx, CR_ENUMERIC, "kmeans: the rows are so far apart that distances overflow");
}

/* --- rows of a stream ------------------------------------------------------------------------- */

/* Rows are kept as long as there is room for all; when there is not, sums take their place, for shift and scale, and a
 * second pass takes a sample: one row at random of every stretch of the same weight. */
typedef struct survey {
    cri_kmeans_rows *d;
    size_t           most; /* rows there is room for */
    bool             over;
    double          *from, *sum, *square; /* [p] of x - from, from the first row */
    double           step, next, passed;  /* of the sample: weights              */
    cr_rng           rng;
} survey;

static cr_status survey_block(cr_ctx *cx, void *arg, const cri_rows *rows)
{
    cr_status        st = CR_OK;
    survey          *s = arg;
    cri_kmeans_rows *d = s->d;
    cr_scratch       scratch = cr_scratch_begin(cx);
    double          *x = cr_scratch_f64(&scratch, d->p);

    CR_TRY(scratch.status);
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1;
        cri_rows_fill(rows, i, i + 1, x, d->p);
        if (d->all_weight == 0) memcpy(s->from, x, d->p * sizeof *x);
        d->all_weight += w;
        for (size_t j = 0; j < d->p; j++) {
            double e = x[j] - s->from[j];
            s->sum[j] += w * e, s->square[j] += w * e * e;
        }
    }
    s->over |= d->n + rows->n > s->most;
    if (!s->over) CR_TRY(append(cx, d, rows));
done:
    cr_scratch_end(&scratch);
    return st;
}

static cr_status sample_block(cr_ctx *cx, void *arg, const cri_rows *rows)
{
    survey          *s = arg;
    cri_kmeans_rows *d = s->d;
    (void)cx;
    for (size_t i = 0; i < rows->n && d->n < s->most; i++) {
        double times = 0;
        s->passed += rows->w ? rows->w[i] : 1;
        for (; s->passed >= s->next && times < (double)s->most; times++) {
            double stretch = floor(s->next / s->step) + 1;
            s->next = (stretch + cr_rng_uniform(&s->rng)) * s->step;
        }
        if (times == 0) continue;
        cri_rows_fill(rows, i, i + 1, d->X + d->n * d->p, d->p);
        d->w[d->n++] = times * s->step;
    }
    return CR_OK;
}

/* A sample in place of the rows, and the scale of all of them. */
static cr_status take_sample(cr_ctx *cx, const cri_rows *rows, bool standardise, survey *s)
{
    cr_status        st = CR_OK;
    cri_kmeans_rows *d = s->d;
    d->n = 0, d->sampled = true;
    CR_TRY(reserve(cx, d, s->most));
    s->step = d->all_weight / (double)s->most;
    s->next = cr_rng_uniform(&s->rng) * s->step;
    CR_TRY(cri_passes_each(cx, rows->passes, sample_block, s));
    for (size_t j = 0; j < d->p; j++) {
        double mean = s->sum[j] / d->all_weight;
        double variance = fmax(s->square[j] / d->all_weight - mean * mean, 0);
        bool   constant = variance <= 1e-14 * s->square[j] / d->all_weight;
        d->shift[j] = s->from[j] + mean;
        d->scale[j] = standardise && !constant ? sqrt(variance) : 1;
        d->all_total += d->all_weight * variance / (d->scale[j] * d->scale[j]);
        CR_TRY(check_scale(cx, rows->design, j, d->shift[j], variance));
    }
done:
    return st;
}

static cr_status gather_stream(cr_ctx *cx, const cri_rows *rows, bool standardise, uint64_t seed,
                               cri_kmeans_rows *d)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    size_t     numbers = LEAVES * cri_leaf_bytes(cx) / sizeof(double);
    survey     s = { .d = d, .rng = cr_rng_stream(seed, UINT64_MAX) };
    s.most = numbers / d->p > LEAST_ROWS ? numbers / d->p : LEAST_ROWS;
    s.from = cr_scratch_f64(&scratch, d->p);
    s.sum = cr_scratch_bytes(&scratch, d->p, sizeof(double));
    s.square = cr_scratch_bytes(&scratch, d->p, sizeof(double));
    CR_TRY(scratch.status);
    CR_TRY(cri_passes_each(cx, rows->passes, survey_block, &s));
    if (s.over) CR_TRY(take_sample(cx, rows, standardise, &s));
done:
    cr_scratch_end(&scratch);
    return st;
}

/* --- all of it -------------------------------------------------------------------------------- */

cr_status cri_kmeans_rows_open(cr_ctx *cx, const cri_rows *rows, bool standardise, uint64_t seed,
                               cri_kmeans_rows *out)
{
    cr_status       st = CR_OK;
    cri_kmeans_rows d = { .p = rows->p };

    if (rows->p == 0) return cr_fail(cx, CR_EDATA, "kmeans: there are no columns to cluster by");
    d.shift = cr_alloc(cx, d.p, sizeof(double));
    d.scale = cr_alloc(cx, d.p, sizeof(double));
    if (!d.shift || !d.scale) CR_TRY(CR_ENOMEM);
    CR_TRY(rows->passes ? gather_stream(cx, rows, standardise, seed, &d) : append(cx, &d, rows));
    drop_weightless(&d);
    if (d.n == 0) CR_TRY(cri_rows_fail_weight(cx, rows));
    CR_TRY(cri_kmeans_put_in_order(cx, &d));
    for (size_t i = 0; i < d.n; i++) d.weight += d.w[i];
    d.norm = cr_alloc(cx, d.capacity, sizeof(double));
    if (!d.norm) CR_TRY(CR_ENOMEM);
    if (!d.sampled) CR_TRY(find_scale(cx, rows->design, standardise, &d));
    CR_TRY(apply_scale(cx, &d));
    *out = d;
    d = (cri_kmeans_rows){ 0 };
done:
    cri_kmeans_rows_close(cx, &d);
    return st;
}

void cri_kmeans_rows_close(cr_ctx *cx, cri_kmeans_rows *d)
{
    cr_free(cx, d->X, d->room, sizeof(double));
    cr_free(cx, d->w, d->capacity, sizeof(double));
    cr_free(cx, d->norm, d->capacity, sizeof(double));
    cr_free(cx, d->shift, d->p, sizeof(double));
    cr_free(cx, d->scale, d->p, sizeof(double));
    *d = (cri_kmeans_rows){ 0 };
}
