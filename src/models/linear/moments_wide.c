/* moments_wide.c -- sufficient statistics of Gaussian linear models of many columns, in one pass.
 * Rows come in panels; each panel is written once as sqrt(w) (z - shift, 1), and every tile of the
 * matrix of products takes it in as a task of its own.  So a tile is summed over the rows in their
 * order whatever the number of threads, there is one matrix of products, and hardly anything beside
 * the multiplications.  The shift is the mean of some rows spread over all of them:
 *   mean = shift + s / weight,   S = sum w (z - shift)(z - shift)^T - s s^T / weight,
 * s = sum w (z - shift); where s s^T / weight is not small the digits it would cost are not spent:
 * the caller is told to use the mean itself. */
#include "moments.h"
#include "../../base/parallel.h"
#include "../../base/scratch.h"
#include "../../math/blas_internal.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { TILE = 256, SAMPLE = 256, CHUNK = 64 };

typedef struct wide {
    const cri_rows *rows;
    cri_moments    *m;
    size_t          q, width, tiles; /* p + 1; one more, for s; tiles in a row */
    size_t          begin, end;      /* the panel at hand                      */
    double         *Z;               /* [panel x width]                        */
    double         *P;               /* [width x width] products, below the diagonal of tiles */
    double         *shift;           /* [q]                                    */
} wide;

static double weight_of(const cri_rows *rows, size_t i) { return rows->w ? rows->w[i] : 1; }

/* shift = the mean of up to SAMPLE rows, evenly spread; 0 where none of them weighs anything. */
static void choose_shift(const cri_rows *rows, double *z, double *shift)
{
    size_t p = rows->p, n = rows->n, k = n < SAMPLE ? n : SAMPLE;
    double total = 0;
    memset(shift, 0, (p + 1) * sizeof(double));
    for (size_t a = 0; a < k; a++) {
        size_t i = a * n / k;
        double w = weight_of(rows, i);
        cri_rows_fill(rows, i, i + 1, z, p + 1);
        z[p] = rows->y[i];
        total += w;
        for (size_t j = 0; j <= p; j++) shift[j] += w * z[j];
    }
    for (size_t j = 0; j <= p; j++) shift[j] = total > 0 ? shift[j] / total : 0;
}

static void fill_chunk(void *arg, size_t c)
{
    const wide     *v = arg;
    const cri_rows *rows = v->rows;
    size_t          begin = v->begin + c * CHUNK;
    size_t          end = v->end - begin > CHUNK ? begin + CHUNK : v->end;
    double         *Z = v->Z + c * CHUNK * v->width;
    cri_rows_fill(rows, begin, end, Z, v->width);
    for (size_t i = begin; i < end; i++, Z += v->width) {
        double root = rows->w ? sqrt(rows->w[i]) : 1;
        Z[v->q - 1] = rows->y[i];
        for (size_t j = 0; j < v->q; j++) Z[j] = root * (Z[j] - v->shift[j]);
        Z[v->q] = root;
    }
}

/* Tile t of those on and below the diagonal, row after row. */
static void locate(size_t t, size_t *row, size_t *col)
{
    size_t r = 0;
    while (t > r) t -= ++r;
    *row = r, *col = t;
}

static void multiply_tile(void *arg, size_t t)
{
    const wide *v = arg;
    size_t      r, c, n = v->end - v->begin;
    double      beta = v->begin > 0;
    locate(t, &r, &c);
    cri_range i = cri_block_range(v->width, TILE, r), j = cri_block_range(v->width, TILE, c);
    double   *P = v->P + i.begin * v->width + j.begin;
    int       rows = (int)(i.end - i.begin), cols = (int)(j.end - j.begin), ld = (int)v->width;
    if (r == c)
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, rows, (int)n, 1, v->Z + i.begin, ld,
                    beta, P, ld);
    else
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, cols, (int)n, 1, v->Z + i.begin,
                    ld, v->Z + j.begin, ld, beta, P, ld);
}

/* S of a tile and of its mirror image from the products about the shift. */
static void finish_tile(void *arg, size_t t)
{
    const wide   *v = arg;
    size_t        r, c, q = v->q;
    const double *s = v->P + q * v->width;
    double        weight = v->m->weight;
    locate(t, &r, &c);
    cri_range i = cri_block_range(v->width, TILE, r), j = cri_block_range(v->width, TILE, c);
    for (size_t a = i.begin; a < i.end && a < q; a++)
        for (size_t b = j.begin; b < j.end && b <= a; b++) {
            double S = v->P[a * v->width + b] - s[a] * (s[b] / weight);
            v->m->S[a * q + b] = v->m->S[b * q + a] = a == b ? fmax(S, 0) : S;
        }
}

/* Every column is either spread at least a tenth as far as the shift is off, or constant. */
static bool shift_was_good(const wide *v)
{
    const cri_moments *m = v->m;
    for (size_t j = 0; j < v->q; j++) {
        double s = v->P[v->q * v->width + j], raw = v->P[j * (v->width + 1)];
        double S = m->S[j * (v->q + 1)], mean = m->mean[j];
        if (s * (s / m->weight) > 100 * S && raw > 1e-26 * m->weight * mean * mean) return false;
        if (!isfinite(raw)) return false;
    }
    return true;
}

static cr_status multiply(cr_ctx *cx, wide *v, size_t panel)
{
    size_t    n = v->rows->n, tiles = v->tiles * (v->tiles + 1) / 2;
    cr_status st = CR_OK;
    for (v->begin = 0; v->begin < n && st == CR_OK; v->begin = v->end) {
        v->end = n - v->begin > panel ? v->begin + panel : n;
        st = cri_parallel_for(cx, NULL, cri_block_count(v->end - v->begin, CHUNK), fill_chunk, v);
        if (st == CR_OK) st = cri_parallel_for(cx, NULL, tiles, multiply_tile, v);
        if (st == CR_OK) cr_progress(cx, "gathering moments", (double)v->end, (double)n);
    }
    return st;
}

cr_status cri_moments_of_wide(cr_ctx *cx, const cri_rows *rows, cri_moments *out, bool *out_good)
{
    enum { PANEL = 1024, PANEL_NUMBERS = 1 << 23 };
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cri_moments m = { 0 };
    size_t      q = rows->p + 1, width = q + 1, panel = PANEL_NUMBERS / width;
    wide        v = { .rows = rows, .m = &m, .q = q, .width = width };

    panel = panel > PANEL ? PANEL : panel < 256 ? 256 : panel;
    if (panel > rows->n) panel = rows->n;
    v.tiles = cri_block_count(width, TILE);
    v.Z = cr_scratch_matrix(&s, panel, width);
    v.P = cr_scratch_matrix(&s, width, width);
    v.shift = cr_scratch_f64(&s, q);
    CR_TRY(s.status);
    CR_TRY(cri_blas_reserve(cx));
    CR_TRY(cri_moments_new(cx, rows->p, &m));
    for (size_t i = 0; i < rows->n; i++) {
        m.weight += weight_of(rows, i);
        m.rows += weight_of(rows, i) > 0;
    }
    *out_good = m.weight > 0;
    if (!*out_good) goto done;
    choose_shift(rows, v.Z, v.shift);
    cri_blas_enter();
    st = multiply(cx, &v, panel);
    cri_blas_leave();
    CR_TRY(st);
    for (size_t j = 0; j < q; j++) m.mean[j] = v.shift[j] + v.P[q * width + j] / m.weight;
    CR_TRY(cri_parallel_for(cx, NULL, v.tiles * (v.tiles + 1) / 2, finish_tile, &v));
    *out_good = shift_was_good(&v);
    if (!*out_good) goto done;
    *out = m;
    m = (cri_moments){ 0 };
done:
    cri_moments_free(cx, &m);
    cr_scratch_end(&s);
    return st;
}
