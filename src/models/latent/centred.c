/* centred.c -- rows, centred and scaled without being written down: measuring, and products with filled panels. */
#include "centred.h"
#include "models/common/moments.h"
#include "base/parallel.h"
#include "math/dense/blas_internal.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { CHUNK = 16, TILE = 512, SHORT = 4096 }; /* SHORT: columns of which fit into the cache */

/* --- measuring -------------------------------------------------------------------------------- */

static double weight_of(const cri_rows *rows, size_t i) { return rows->w ? rows->w[i] : 1; }

typedef struct measuring {
    const cri_rows *rows;
    const double   *mean; /* [p]; NULL: it is not known yet */
} measuring;

/* Adds w x to acc [p]; or, about a mean, w (x - mean) and w (x - mean)^2 to acc [2 p].  X [CHUNK x p] is workspace. */
static void measure_block(void *arg, cri_range range, double *acc, double *X)
{
    const measuring *m = arg;
    size_t           p = m->rows->p;
    cri_rows_fill(m->rows, range.begin, range.end, X, p);
    for (size_t i = range.begin; i < range.end; i++, X += p) {
        double w = weight_of(m->rows, i);
        for (size_t j = 0; !m->mean && j < p; j++) acc[j] += w * X[j];
        for (size_t j = 0; m->mean && j < p; j++) {
            double d = X[j] - m->mean[j];
            acc[j] += w * d;
            acc[p + j] += w * d * d;
        }
    }
}

/* Means and population variances of filled rows: the second pass takes up what the first lost. */
static cr_status measure_filled(cr_ctx *cx, const cri_rows *rows, double weight, double *mean,
                                double *variance)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = rows->p, block = p < 4096 ? 256 : CHUNK;
    double    *first = cr_scratch_f64(&s, p), *sums = cr_scratch_f64(&s, 2 * p);
    measuring  m = { rows, NULL };

    CR_TRY(s.status);
    CR_TRY(cri_parallel_sum_in(cx, "gathering means", rows->n, block, p, block * p, measure_block,
                               &m, first));
    for (size_t j = 0; j < p; j++) first[j] /= weight;
    m.mean = first;
    CR_TRY(cri_parallel_sum_in(cx, "gathering variances", rows->n, block, 2 * p, block * p,
                               measure_block, &m, sums));
    for (size_t j = 0; j < p; j++) {
        double off = sums[j] / weight;
        mean[j] = first[j] + off;
        variance[j] = fmax(sums[p + j] / weight - off * off, 0);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Scales and the total from the variances; true where some column is far from 0 for what it varies. */
static cr_status set_scales(cr_ctx *cx, bool standardise, const double *variance, cri_centred *z,
                            bool *out_far)
{
    cr_status st = CR_OK;
    *out_far = false;
    for (size_t j = 0; j < z->p; j++) {
        double mean = z->centre[j], v = variance[j], raw = mean * mean;
        bool   constant = !(v > 1e-26 * raw);
        CR_TRY(
            cri_check_squares(cx, j, z->p, z->weight * (v + raw), fabs(mean) + sqrt(fmax(v, 0))));
        z->scale[j] = standardise && !constant ? sqrt(v) : 1;
        z->per_scale[j] = constant ? 0 : 1 / z->scale[j];
        z->total += z->weight * v * z->per_scale[j] * z->per_scale[j] / z->divisor;
        *out_far = *out_far || (!constant && raw > 1e4 * v);
    }
done:
    return st;
}

cr_status cri_centred_open(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, bool standardise,
                           cri_centred *out)
{
    cr_status   st = CR_OK;
    size_t      n = rows->n, p = rows->p;
    double     *variance = cr_scratch_f64(s, p);
    bool        sparse = rows->sparse && rows->sparse->plain, far;
    cri_centred z = { .rows = rows,
                      .n = n,
                      .p = p,
                      .centre = cr_scratch_f64(s, p),
                      .scale = cr_scratch_f64(s, p),
                      .per_scale = cr_scratch_f64(s, p),
                      .root = rows->w ? cr_scratch_f64(s, n) : NULL };

    *out = (cri_centred){ 0 };
    CR_TRY(s->status);
    CR_TRY(cri_blas_reserve(cx));
    for (size_t i = 0; i < n; i++) {
        z.weight += weight_of(rows, i);
        if (z.root) z.root[i] = sqrt(rows->w[i]);
    }
    z.divisor = fmax(z.weight - 1, 1);
    if (sparse) CR_TRY(cri_sparse_transpose(cx, rows->sparse, &z.columns));
    CR_TRY(sparse || n <= SHORT ? cri_centred_measure(cx, rows, sparse ? &z.columns.view : NULL,
                                                      z.weight, z.centre, variance)
                                : measure_filled(cx, rows, z.weight, z.centre, variance));
    CR_TRY(set_scales(cx, standardise, variance, &z, &far));
    z.by_entries = sparse && !far;
    *out = z;
    z.columns = (cri_sparse_copy){ 0 };
done:
    cri_sparse_free(cx, &z.columns);
    return st;
}

void cri_centred_close(cr_ctx *cx, cri_centred *z) { cri_sparse_free(cx, &z->columns); }

/* --- filled panels ---------------------------------------------------------------------------- */

/* T [rows x p] = the rows [begin, end) of Z. */
static void fill_rows(const cri_centred *z, size_t begin, size_t end, double *T)
{
    cri_rows_fill(z->rows, begin, end, T, z->p);
    for (size_t i = begin; i < end; i++, T += z->p) {
        double root = z->root ? z->root[i] : 1;
        for (size_t j = 0; j < z->p; j++) T[j] = root * (T[j] - z->centre[j]) * z->per_scale[j];
    }
}

typedef struct filling {
    const cri_centred *z;
    const double      *B; /* [k x p] */
    size_t             k, begin, end;
    double            *T; /* [panel x p] */
    double            *Y; /* [panel x k] T B' */
    double            *out;
} filling;

static cri_range chunk_of(const filling *f, size_t c)
{
    cri_range r = cri_block_range(f->end - f->begin, CHUNK, c);
    return (cri_range){ f->begin + r.begin, f->begin + r.end };
}

static void fill_and_multiply(void *arg, size_t c)
{
    const filling *f = arg;
    cri_range      r = chunk_of(f, c);
    size_t         at = r.begin - f->begin, p = f->z->p;
    fill_rows(f->z, r.begin, r.end, f->T + at * p);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)(r.end - r.begin), (int)f->k, (int)p,
                1, f->T + at * p, (int)p, f->B, (int)p, 0, f->Y + at * f->k, (int)f->k);
}

/* Adds Y' T to a tile of columns. */
static void add_tile(void *arg, size_t t)
{
    const filling *f = arg;
    size_t         p = f->z->p;
    cri_range      c = cri_block_range(p, TILE, t);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)f->k, (int)(c.end - c.begin),
                (int)(f->end - f->begin), 1, f->Y, (int)f->k, f->T + c.begin, (int)p, 1,
                f->out + c.begin, (int)p);
}

/* A panel of rows stays in the cache for both of its products. */
static cr_status inner_filled(cr_ctx *cx, const cri_centred *z, const double *B, size_t k,
                              double *out)
{
    enum { PANEL_NUMBERS = 1 << 19, MOST = 1024, LEAST = 64 };
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     panel = PANEL_NUMBERS / z->p;
    filling    f = { .z = z, .B = B, .k = k, .out = out };

    panel = panel > MOST ? MOST : panel < LEAST ? LEAST : panel;
    f.T = cr_scratch_matrix(&s, panel, z->p);
    f.Y = cr_scratch_matrix(&s, panel, k);
    CR_TRY(s.status);
    memset(out, 0, k * z->p * sizeof *out);
    cri_blas_enter();
    for (f.begin = 0; f.begin < z->n && st == CR_OK; f.begin = f.end) {
        f.end = z->n - f.begin > panel ? f.begin + panel : z->n;
        st = cri_parallel_for(cx, NULL, cri_block_count(f.end - f.begin, CHUNK), fill_and_multiply,
                              &f);
        if (st == CR_OK) st = cri_parallel_for(cx, NULL, cri_block_count(z->p, TILE), add_tile, &f);
    }
    cri_blas_leave();
done:
    cr_scratch_end(&s);
    return st;
}

/* --- both ways -------------------------------------------------------------------------------- */

cr_status cri_centred_inner(cr_ctx *cx, const cri_centred *z, const double *B, size_t k,
                            double *out)
{
    return z->by_entries ? cri_centred_over_rows(cx, z, B, k, out) : inner_filled(cx, z, B, k, out);
}
