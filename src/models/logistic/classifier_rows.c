/* classifier_rows.c -- measuring and keeping the rows of a linear classifier. */
#include "classifier_rows.h"
#include "models/common/moments.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 512 };

/* --- measuring ------------------------------------------------------------------------------- */

typedef struct measure_work {
    const cri_rows *rows;
    const double   *w;
    const double   *pivot; /* [p] */
} measure_work;

/* sum += w (x - pivot), square += w (x - pivot)^2; returns how many of x are not 0. */
static size_t measure_row(const double *x, const double *pivot, double w, size_t p,
                          double *restrict sum, double *restrict square)
{
    size_t filled = 0;
    for (size_t j = 0; j < p; j++) filled += x[j] != 0;
    for (size_t j = 0; w > 0 && j < p; j++) {
        double d = x[j] - pivot[j];
        sum[j] += w * d;
        square[j] += w * d * d;
    }
    return filled;
}

static void measure_block(void *arg, cri_range range, double *acc, double *workspace)
{
    const measure_work *m = arg;
    const cri_rows     *rows = m->rows;
    size_t              p = rows->p, filled = 0, stride = p;
    const double       *x = workspace;

    if (rows->matrix)
        stride = rows->columns[0]->stride, x = rows->matrix + range.begin * stride;
    else
        cri_rows_fill(rows, range.begin, range.end, workspace, p);
    for (size_t i = range.begin; i < range.end; i++, x += stride) {
        double w = m->w ? m->w[i] : 1;
        filled += measure_row(x, m->pivot, w, p, acc + 2, acc + 2 + p);
        acc[0] += w;
    }
    acc[1] += (double)filled;
}

static cr_status set_scales(cr_ctx *cx, cri_classifier_rows *x, const cri_column_sums *sums,
                            bool standardise)
{
    cr_status     st = CR_OK;
    const double *acc = sums->sums, *pivot = sums->pivot;
    x->weight = acc[0];
    if (!(x->weight > 0)) CR_TRY(cr_fail(cx, CR_EDATA, "no row has a positive weight"));
    for (size_t j = 0; j < x->p; j++) {
        double shift = acc[2 + j] / x->weight, mean = pivot[j] + shift;
        double variance = acc[2 + x->p + j] / x->weight - shift * shift;
        double size = fabs(mean) + sqrt(fabs(variance));
        bool   constant = !(variance > 1e-26 * mean * mean);
        CR_TRY(cri_check_squares(cx, j, x->p, variance + mean * mean, size));
        if (constant) mean = pivot[j]; /* z is then exactly 0 */
        x->centre[j] = x->intercept ? mean : 0;
        x->scale[j] = standardise && !constant ? sqrt(variance) : 1;
        x->inverse[j] = 1 / x->scale[j];
    }
done:
    return st;
}

/* The weights, or NULL where all are 1: the same bits either way. */
static const double *weights_of(const cri_rows *rows)
{
    size_t ones = 0;
    while (rows->w && ones < rows->n && rows->w[ones] == 1) ones++;
    return ones < rows->n ? rows->w : NULL;
}

static bool is_plain(const cri_rows *rows) { return rows->sparse && rows->sparse->plain; }

static cri_entries entries_of(const cri_sparse *X)
{
    return (cri_entries){ X->start, X->column, X->value, X->index };
}

/* What is mostly zeros has no large mean: its pivot is 0. */
cr_status cri_column_sums_new(cr_scratch *s, const cri_rows *first, cri_column_sums *out)
{
    size_t p = first->p, i = 0;
    *out = (cri_column_sums){ .pivot = cr_scratch_bytes(s, p, sizeof(double)),
                              .sums = cr_scratch_bytes(s, 2 + 2 * p, sizeof(double)) };
    if (s->status != CR_OK) return s->status;
    while (first->w && i < first->n && !(first->w[i] > 0)) i++;
    if (!is_plain(first) && i < first->n) cri_rows_fill(first, i, i + 1, out->pivot, p);
    return CR_OK;
}

static void add_entries(const cri_entries *e, const double *opt_w, size_t n, size_t p, double *acc)
{
    for (size_t i = 0; i < n; i++) {
        double w = opt_w ? opt_w[i] : 1;
        size_t end, a = cri_entries_row(e, i, &end);
        acc[0] += w;
        for (; w > 0 && a < end; a++) {
            double value = e->value[a];
            acc[2 + e->column[a]] += w * value;
            acc[2 + p + e->column[a]] += w * value * value;
        }
    }
}

cr_status cri_column_sums_add(cr_ctx *cx, const cri_rows *rows, cri_column_sums *sums)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    size_t       p = rows->p, length = 2 + 2 * p;
    measure_work w = { .rows = rows, .w = weights_of(rows), .pivot = sums->pivot };
    if (is_plain(rows)) {
        const cri_entries e = entries_of(rows->sparse);
        add_entries(&e, w.w, rows->n, p, sums->sums);
        goto done;
    }
    double *part = cr_scratch_f64(&s, length);
    CR_TRY(s.status);
    CR_TRY(
        cri_parallel_sum_in(cx, NULL, rows->n, BLOCK, length, BLOCK * p, measure_block, &w, part));
    for (size_t k = 0; k < length; k++) sums->sums[k] += part[k];
done:
    cr_scratch_end(&s);
    return st;
}

/* --- keeping --------------------------------------------------------------------------------- */

static void standardise_block(const cri_classifier_rows *x, size_t count, double *Z)
{
    size_t one = x->intercept;
    for (size_t i = 0; i < count; i++) {
        double *z = Z + i * x->q;
        if (one) z[0] = 1;
        for (size_t j = 0; j < x->p; j++) z[one + j] = (z[one + j] - x->centre[j]) * x->inverse[j];
    }
}

/* The same from a matrix that lies in one piece, without a copy between. */
static const double *standardise_matrix(const cri_classifier_rows *x, size_t begin, size_t count,
                                        size_t step, double *Z)
{
    size_t one = x->intercept, stride = x->rows->columns[0]->stride;
    for (size_t i = 0; i < count; i++) {
        const double *from = x->rows->matrix + (begin + i) * step * stride;
        double       *z = Z + i * x->q;
        if (one) z[0] = 1;
        for (size_t j = 0; j < x->p; j++) z[one + j] = (from[j] - x->centre[j]) * x->inverse[j];
    }
    return Z;
}

const double *cri_classifier_rows_block(const cri_classifier_rows *x, size_t begin, size_t count,
                                        size_t step, double *workspace)
{
    if (x->Z && step == 1) return x->Z + begin * x->q;
    if (!x->Z && x->rows->matrix) return standardise_matrix(x, begin, count, step, workspace);
    for (size_t i = 0; i < count && step > 1; i++) {
        size_t row = (begin + i) * step;
        if (x->Z)
            memcpy(workspace + i * x->q, x->Z + row * x->q, x->q * sizeof(double));
        else
            cri_rows_fill(x->rows, row, row + 1, workspace + i * x->q + x->intercept, x->q);
    }
    if (step == 1) cri_rows_fill(x->rows, begin, begin + count, workspace + x->intercept, x->q);
    if (!x->Z) standardise_block(x, count, workspace);
    return workspace;
}

static void keep_block(void *arg, size_t b)
{
    cri_classifier_rows *x = arg;
    cri_range            r = cri_block_range(x->n, BLOCK, b);
    double              *Z = x->Z + r.begin * x->q;
    cri_rows_fill(x->rows, r.begin, r.end, Z + x->intercept, x->q);
    standardise_block(x, r.end - r.begin, Z);
}

/* Z in memory, unless X is there in one piece already or it would take more than a quarter of what
 * is left. */
static cr_status keep_dense(cr_ctx *cx, cri_classifier_rows *x)
{
    size_t bytes = x->n * x->q * sizeof(double);
    if (bytes > cri_memory_left(cx) / 4) return CR_OK;
    if (x->rows->matrix && bytes > (size_t)1 << 22) return CR_OK;
    x->Z = cr_resize(cx, NULL, 0, x->n * x->q, sizeof(double));
    if (!x->Z) return CR_ENOMEM;
    return cri_parallel_for(cx, NULL, cri_block_count(x->n, BLOCK), keep_block, x);
}

static cr_status keep_entries(cr_ctx *cx, cri_classifier_rows *x, size_t count)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *row = cr_scratch_f64(&s, BLOCK * x->p);
    size_t     k = 0;

    CR_TRY(s.status);
    x->own_count = count;
    x->own_start = cr_alloc(cx, x->n + 1, sizeof *x->own_start);
    x->own_column = cr_alloc(cx, count, sizeof *x->own_column);
    x->own_value = cr_alloc(cx, count, sizeof *x->own_value);
    if (!x->own_start || !x->own_column || !x->own_value) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < x->n; i++) {
        if (i % BLOCK == 0)
            cri_rows_fill(x->rows, i, x->n - i < BLOCK ? x->n : i + BLOCK, row, x->p);
        for (size_t j = 0; j < x->p; j++) {
            double value = row[(i % BLOCK) * x->p + j];
            if (value != 0) x->own_column[k] = (uint32_t)j, x->own_value[k++] = value;
        }
        x->own_start[i + 1] = k;
    }
    x->entries = (cri_entries){ x->own_start, x->own_column, x->own_value, NULL };
    x->sparse = true;
done:
    cr_scratch_end(&s);
    return st;
}

/* Room for what is measured. */
static cr_status begin(cr_ctx *cx, const cri_rows *rows, bool intercept, cri_classifier_rows *x)
{
    *x = (cri_classifier_rows){ .rows = rows,
                                .n = rows->n,
                                .p = rows->p,
                                .q = rows->p + intercept,
                                .intercept = intercept,
                                .w = weights_of(rows),
                                .centre = cr_alloc(cx, rows->p, sizeof(double)),
                                .scale = cr_alloc(cx, rows->p, sizeof(double)),
                                .inverse = cr_alloc(cx, rows->p, sizeof(double)) };
    return x->centre && x->scale && x->inverse ? CR_OK : CR_ENOMEM;
}

cr_status cri_classifier_rows_of_entries(cr_ctx *cx, const cri_rows *rows, cri_entries entries,
                                         bool intercept, bool standardise, cri_classifier_rows *out)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    cri_classifier_rows x = { 0 };
    cri_column_sums     sums = { .pivot = cr_scratch_bytes(&s, rows->p, sizeof(double)),
                                 .sums = cr_scratch_bytes(&s, 2 + 2 * rows->p, sizeof(double)) };
    CR_TRY(s.status);
    CR_TRY(begin(cx, rows, intercept, &x));
    x.entries = entries;
    x.sparse = true;
    add_entries(&entries, x.w, x.n, x.p, sums.sums);
    CR_TRY(set_scales(cx, &x, &sums, standardise));
    *out = x;
    x = (cri_classifier_rows){ 0 };
done:
    cri_classifier_rows_free(cx, &x);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_classifier_rows_new(cr_ctx *cx, const cri_rows *rows, bool intercept,
                                  bool standardise, cri_classifier_rows *out)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    double              cells = (double)rows->n * (double)rows->p;
    cri_column_sums     sums;
    cri_classifier_rows x = { 0 };
    if (is_plain(rows))
        return cri_classifier_rows_of_entries(cx, rows, entries_of(rows->sparse), intercept,
                                              standardise, out);
    CR_TRY(begin(cx, rows, intercept, &x));
    CR_TRY(cri_column_sums_new(&s, rows, &sums));
    CR_TRY(cri_column_sums_add(cx, rows, &sums));
    CR_TRY(set_scales(cx, &x, &sums, standardise));
    if (x.p >= 16 && sums.sums[1] < 0.2 * cells)
        CR_TRY(keep_entries(cx, &x, (size_t)sums.sums[1]));
    else
        CR_TRY(keep_dense(cx, &x));
    *out = x;
    x = (cri_classifier_rows){ 0 };
done:
    cri_classifier_rows_free(cx, &x);
    cr_scratch_end(&s);
    return st;
}

/* The rows as they are standardised now. */
static cr_status keep(cr_ctx *cx, cri_classifier_rows *x)
{
    if (!is_plain(x->rows)) return keep_dense(cx, x);
    x->entries = entries_of(x->rows->sparse);
    x->sparse = true;
    return CR_OK;
}

cr_status cri_classifier_rows_of_sums(cr_ctx *cx, const cri_rows *rows, const cri_column_sums *sums,
                                      bool intercept, bool standardise, cri_classifier_rows *out)
{
    cr_status           st = CR_OK;
    cri_classifier_rows x = { 0 };
    CR_TRY(begin(cx, rows, intercept, &x));
    CR_TRY(set_scales(cx, &x, sums, standardise));
    CR_TRY(keep(cx, &x));
    *out = x;
    x = (cri_classifier_rows){ 0 };
done:
    cri_classifier_rows_free(cx, &x);
    return st;
}

cr_status cri_classifier_rows_scaled(cr_ctx *cx, const cri_rows *rows, bool intercept,
                                     const double *centre, const double *scale,
                                     cri_classifier_rows *out)
{
    cr_status           st = CR_OK;
    cri_classifier_rows x = { 0 };
    CR_TRY(begin(cx, rows, intercept, &x));
    for (size_t j = 0; j < x.p; j++) {
        x.centre[j] = centre[j];
        x.scale[j] = scale[j];
        x.inverse[j] = 1 / scale[j];
    }
    for (size_t i = 0; i < x.n; i++) x.weight += x.w ? x.w[i] : 1;
    CR_TRY(keep(cx, &x));
    *out = x;
    x = (cri_classifier_rows){ 0 };
done:
    cri_classifier_rows_free(cx, &x);
    return st;
}

typedef struct sample_work {
    const cri_classifier_rows *x;
    size_t                     n, step;
    double                    *Z;
} sample_work;

static void gather_block(void *arg, size_t b)
{
    const sample_work *w = arg;
    cri_range          r = cri_block_range(w->n, BLOCK, b);
    cri_classifier_rows_block(w->x, r.begin, r.end - r.begin, w->step, w->Z + r.begin * w->x->q);
}

cr_status cri_classifier_rows_sample(cr_ctx *cx, cr_scratch *s, const cri_classifier_rows *x,
                                     size_t *step, cri_classifier_rows *out)
{
    sample_work w = { .x = x, .n = cri_block_count(x->n, *step), .step = *step };
    double     *weight = NULL;
    *out = *x;
    if (x->sparse || *step == 1 || w.n * x->q > cri_memory_left(cx) / 4 / sizeof(double))
        return CR_OK;
    w.Z = cr_scratch_matrix(s, w.n, x->q);
    if (x->w) weight = cr_scratch_f64(s, w.n);
    if (s->status != CR_OK) return s->status;
    cr_status st = cri_parallel_for(cx, NULL, cri_block_count(w.n, BLOCK), gather_block, &w);
    out->weight = 0;
    for (size_t i = 0; i < w.n; i++) {
        if (weight) weight[i] = x->w[i * *step];
        out->weight += weight ? weight[i] : 1;
    }
    out->n = w.n, out->Z = w.Z, out->w = weight;
    *step = 1;
    return st;
}

const double *cri_classifier_rows_one(const cri_classifier_rows *x, size_t i, double *z)
{
    if (!x->sparse) return cri_classifier_rows_block(x, i, 1, 1, z);
    if (x->intercept) z[0] = 1;
    for (size_t j = 0; j < x->p; j++) z[x->intercept + j] = -x->centre[j] * x->inverse[j];
    size_t end, a = cri_entries_row(&x->entries, i, &end);
    for (; a < end; a++)
        z[x->intercept + x->entries.column[a]] +=
            x->entries.value[a] * x->inverse[x->entries.column[a]];
    return z;
}

void cri_classifier_rows_free(cr_ctx *cx, cri_classifier_rows *x)
{
    cr_free(cx, x->centre, x->p, sizeof(double));
    cr_free(cx, x->scale, x->p, sizeof(double));
    cr_free(cx, x->inverse, x->p, sizeof(double));
    cr_free(cx, x->Z, x->n * x->q, sizeof(double));
    if (x->own_start) cr_free(cx, x->own_start, x->n + 1, sizeof *x->own_start);
    cr_free(cx, x->own_column, x->own_count, sizeof *x->own_column);
    cr_free(cx, x->own_value, x->own_count, sizeof *x->own_value);
    *x = (cri_classifier_rows){ 0 };
}

/* --- raw coordinates ------------------------------------------------------------------------- */

void cri_to_raw(const cri_classifier_rows *x, const double *theta, double *raw)
{
    size_t one = x->intercept;
    raw[0] = one ? theta[0] : 0;
    for (size_t j = 0; j < x->p; j++) {
        raw[1 + j] = theta[one + j] / x->scale[j];
        raw[0] -= x->centre[j] * raw[1 + j];
    }
}

void cri_from_raw(const cri_classifier_rows *x, const double *raw, double *out)
{
    size_t one = x->intercept;
    if (one) out[0] = raw[0];
    for (size_t j = 0; j < x->p; j++)
        out[one + j] = (raw[1 + j] - x->centre[j] * raw[0]) / x->scale[j];
}
