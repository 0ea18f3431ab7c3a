/* moments_wide.c -- sufficient statistics of Gaussian linear models of many columns, in one pass.
 * Rows come in panels; each panel is written once as sqrt(w) (z - shift, 1), and every tile of the
 * matrix of products takes it in as a task of its own.  So a tile is summed over the rows in their
 * order whatever the number of threads, and there is hardly anything beside the multiplications.
 * Large tiles copy less; where a matrix has few of them, the two halves of each panel go to
 * matrices of products of their own, so that there is work for more threads.  The shift is the mean of some rows spread over all of them:
 *   mean = shift + s / weight,   S = sum w (z - shift)(z - shift)^T - s s^T / weight,
 * s = sum w (z - shift); where s s^T / weight is not small the digits it would cost are not spent:
 * the caller is told to use the mean itself. */
#include "moments.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { SAMPLE = 256, CHUNK = 64, PANEL = 1024 };

typedef struct wide {
    const cri_rows *rows;
    cri_moments    *m;
    size_t          q, width;    /* p + 1; one more, for s                 */
    size_t          tile, tiles; /* width of a tile, and tiles in a row    */
    size_t          halves;      /* matrices of products: 1 or 2           */
    size_t          begin, end;  /* the panel at hand                      */
    double         *Z;           /* [panel x width]                        */
    double         *P;         /* [halves x width x width] products, below the diagonal of tiles */
    double         *shift, *s; /* [q], [width] the last row of products  */
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
        z[p] = cri_target_of(rows, i);
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
        Z[v->q - 1] = cri_target_of(rows, i);
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

static size_t count_tiles(const wide *v) { return v->tiles * (v->tiles + 1) / 2; }

/* One tile of one half of the panel. */
static void multiply_tile(void *arg, size_t task)
{
    const wide *v = arg;
    size_t      r, c, half = task / count_tiles(v), n = v->end - v->begin;
    double      beta = v->begin > 0;
    locate(task % count_tiles(v), &r, &c);
    cri_range i = cri_block_range(v->width, v->tile, r), j = cri_block_range(v->width, v->tile, c);
    size_t    begin = half * n / v->halves, end = (half + 1) * n / v->halves;
    double   *P = v->P + (half * v->width + i.begin) * v->width + j.begin;
    double   *Z = v->Z + begin * v->width;
    int       rows = (int)(i.end - i.begin), cols = (int)(j.end - j.begin), ld = (int)v->width;
    if (r == c)
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, rows, (int)(end - begin), 1, Z + i.begin,
                    ld, beta, P, ld);
    else
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, cols, (int)(end - begin), 1,
                    Z + i.begin, ld, Z + j.begin, ld, beta, P, ld);
}

static double product_at(const wide *v, size_t a, size_t b)
{
    double sum = v->P[a * v->width + b];
    return v->halves == 1 ? sum : sum + v->P[(v->width + a) * v->width + b];
}

/* S of a tile and of its mirror image from the products about the shift. */
static void finish_tile(void *arg, size_t t)
{
    const wide   *v = arg;
    size_t        r, c, q = v->q;
    const double *s = v->s;
    double        weight = v->m->weight;
    locate(t, &r, &c);
    cri_range i = cri_block_range(v->width, v->tile, r), j = cri_block_range(v->width, v->tile, c);
    for (size_t a = i.begin; a < i.end && a < q; a++)
        for (size_t b = j.begin; b < j.end && b <= a; b++) {
            double S = product_at(v, a, b) - s[a] * (s[b] / weight);
            v->m->S[a * q + b] = v->m->S[b * q + a] = a == b ? fmax(S, 0) : S;
        }
}

/* Every column is either spread at least a tenth as far as the shift is off, or constant. */
static bool shift_was_good(const wide *v)
{
    const cri_moments *m = v->m;
    for (size_t j = 0; j < v->q; j++) {
        double s = v->s[j], raw = product_at(v, j, j);
        double S = m->S[j * (v->q + 1)], mean = m->mean[j];
        if (s * (s / m->weight) > 100 * S && raw > 1e-26 * m->weight * mean * mean) return false;
        if (!isfinite(raw)) return false;
    }
    return true;
}

static cr_status multiply(cr_ctx *cx, wide *v, size_t panel)
{
    size_t    n = v->rows->n;
    cr_status st = CR_OK;
    for (v->begin = 0; v->begin < n && st == CR_OK; v->begin = v->end) {
        v->end = n - v->begin > panel ? v->begin + panel : n;
        st = cri_parallel_for(cx, NULL, cri_block_count(v->end - v->begin, CHUNK), fill_chunk, v);
        if (st == CR_OK)
            st = cri_parallel_for(cx, NULL, v->halves * count_tiles(v), multiply_tile, v);
        if (st == CR_OK) cr_progress(cx, "gathering moments", (double)v->end, (double)n);
    }
    return st;
}

/* By the width alone, and whether there are rows enough for both halves. */
static void choose_tiles(wide *v)
{
    enum { SMALL = 256, LARGE = 512, MANY = 4096 };
    bool large = v->width > LARGE + SMALL;
    v->tile = large ? LARGE : SMALL;
    v->tiles = cri_block_count(v->width, v->tile);
    v->halves = large && v->width <= MANY && v->rows->n >= PANEL ? 2 : 1;
}

cr_status cri_moments_of_wide(cr_ctx *cx, const cri_rows *rows, cri_moments *out, bool *out_good)
{
    enum { PANEL_NUMBERS = 1 << 23 };
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      q = rows->p + 1, width = q + 1, panel = PANEL_NUMBERS / width;
    cri_moments m = { .p = rows->p, .q = q, .S = cr_resize(cx, NULL, 0, q * q, sizeof(double)) };
    wide        v = { .rows = rows, .m = &m, .q = q, .width = width };

    panel = panel > PANEL ? PANEL : panel < 256 ? 256 : panel;
    if (panel > rows->n) panel = rows->n;
    choose_tiles(&v);
    v.Z = cr_scratch_matrix(&s, panel, width);
    v.P = cr_scratch_matrix(&s, v.halves * width, width);
    v.shift = cr_scratch_f64(&s, q);
    v.s = cr_scratch_f64(&s, width);
    CR_TRY(s.status);
    CR_TRY(cri_blas_reserve(cx));
    if (!m.S) CR_TRY(CR_ENOMEM);
    CR_TRY(cri_record_allocate(cx, cri_moments_record, &m)); /* S is there: all of it is written */
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
    for (size_t j = 0; j < width; j++) v.s[j] = product_at(&v, q, j);
    for (size_t j = 0; j < q; j++) m.mean[j] = v.shift[j] + v.s[j] / m.weight;
    CR_TRY(cri_parallel_for(cx, NULL, count_tiles(&v), finish_tile, &v));
    *out_good = shift_was_good(&v);
    if (!*out_good) goto done;
    *out = m;
    m = (cri_moments){ 0 };
done:
    cri_moments_free(cx, &m);
    cr_scratch_end(&s);
    return st;
}
