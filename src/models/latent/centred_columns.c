/* centred_columns.c -- few rows of many columns: tiles of columns, which stay in the cache while they are filled,
 * measured and scaled. */
#include "centred.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { TILE_NUMBERS = 1 << 15, MOST = 512, LEAST = 8 }; /* columns of a tile */

static size_t tile_of(size_t n)
{
    size_t tile = TILE_NUMBERS / n;
    return tile > MOST ? MOST : tile < LEAST ? LEAST : tile;
}

/* T [n x columns] = some columns of the rows, as they are. */
static void fill_tile(const cri_rows *rows, const cri_sparse *opt_columns, cri_range c, double *T,
                      size_t stride)
{
    size_t n = rows->n, width = c.end - c.begin;
    for (size_t i = 0; rows->matrix && i < n; i++)
        memcpy(T + i * stride, rows->matrix + i * rows->columns[0]->stride + c.begin,
               width * sizeof *T);
    for (size_t i = 0; opt_columns && i < n; i++) memset(T + i * stride, 0, width * sizeof *T);
    for (size_t j = c.begin; !rows->matrix && j < c.end; j++) {
        double *to = T + (j - c.begin);
        size_t  end, e = opt_columns ? cri_sparse_row(opt_columns, j, &end) : 0;
        if (!opt_columns)
            cri_rows_fill_term(rows, j, 0, n, to, stride);
        else
            for (; e < end; e++) to[opt_columns->column[e] * stride] = opt_columns->value[e];
    }
}

/* --- measuring -------------------------------------------------------------------------------- */

typedef struct measuring {
    const cri_rows   *rows;
    const cri_sparse *columns;
    double            weight, *mean, *variance;
} measuring;

/* Sums about 0, and then about the mean that they give, which take up what the first lost. */
static void measure_tile(void *arg, cri_range c, double *T)
{
    const measuring *m = arg;
    size_t           n = m->rows->n, width = c.end - c.begin;
    double           first[MOST] = { 0 }, off[MOST] = { 0 }, square[MOST] = { 0 };
    fill_tile(m->rows, NULL, c, T, width);
    for (size_t i = 0; i < n; i++) {
        double w = m->rows->w ? m->rows->w[i] : 1;
        for (size_t j = 0; j < width; j++) first[j] += w * T[i * width + j];
    }
    for (size_t j = 0; j < width; j++) first[j] /= m->weight;
    for (size_t i = 0; i < n; i++) {
        double w = m->rows->w ? m->rows->w[i] : 1;
        for (size_t j = 0; j < width; j++) {
            double d = T[i * width + j] - first[j];
            off[j] += w * d;
            square[j] += w * d * d;
        }
    }
    for (size_t j = 0; j < width; j++) {
        off[j] /= m->weight;
        m->mean[c.begin + j] = first[j] + off[j];
        m->variance[c.begin + j] = fmax(square[j] / m->weight - off[j] * off[j], 0);
    }
}

/* The same by entries; the rows without one are 0. */
static void measure_entries(void *arg, size_t b)
{
    const measuring  *m = arg;
    const cri_sparse *X = m->columns;
    const double     *w = m->rows->w;
    cri_range         r = cri_block_range(X->n, MOST, b);
    for (size_t j = r.begin; j < r.end; j++) {
        size_t end, begin = cri_sparse_row(X, j, &end);
        double weight = 0, first = 0, off = 0, square = 0;
        for (size_t e = begin; e < end; e++) {
            double one = w ? w[X->column[e]] : 1;
            weight += one;
            first += one * X->value[e];
        }
        double zeros = fmax(m->weight - weight, 0);
        first /= m->weight;
        for (size_t e = begin; e < end; e++)
            off += (w ? w[X->column[e]] : 1) * (X->value[e] - first);
        double mean = m->mean[j] = first + (off - zeros * first) / m->weight;
        for (size_t e = begin; e < end; e++)
            square += (w ? w[X->column[e]] : 1) * (X->value[e] - mean) * (X->value[e] - mean);
        m->variance[j] = (square + zeros * mean * mean) / m->weight;
    }
}

cr_status cri_centred_measure(cr_ctx *cx, const cri_rows *rows, const cri_sparse *opt_columns,
                              double weight, double *mean, double *variance)
{
    measuring m = { rows, opt_columns, weight, mean, variance };
    size_t    tile = tile_of(rows->n);
    if (opt_columns)
        return cri_parallel_for(cx, NULL, cri_block_count(rows->p, MOST), measure_entries, &m);
    return cri_parallel_rows(cx, "gathering variances", rows->p, tile, rows->n * tile, measure_tile,
                             &m);
}

/* --- filling ---------------------------------------------------------------------------------- */

typedef struct panel {
    const cri_centred *z;
    size_t             begin, width;
    double            *T;
} panel;

static void scale_tile(void *arg, size_t b)
{
    const panel       *q = arg;
    const cri_centred *z = q->z;
    cri_range          c = cri_block_range(q->width, tile_of(z->n), b);
    double            *T = q->T + c.begin;
    const double      *centre = z->centre + q->begin + c.begin;
    const double      *per_scale = z->per_scale + q->begin + c.begin;
    size_t             width = c.end - c.begin;
    fill_tile(z->rows, z->rows->sparse && z->columns.rows ? &z->columns.view : NULL,
              (cri_range){ q->begin + c.begin, q->begin + c.end }, T, q->width);
    for (size_t i = 0; i < z->n; i++, T += q->width) {
        double root = z->root ? z->root[i] : 1;
        for (size_t j = 0; j < width; j++) T[j] = root * (T[j] - centre[j]) * per_scale[j];
    }
}

cr_status cri_centred_columns(cr_ctx *cx, const cri_centred *z, size_t begin, size_t end, double *T)
{
    panel q = { z, begin, end - begin, T };
    return cri_parallel_for(cx, NULL, cri_block_count(end - begin, tile_of(z->n)), scale_tile, &q);
}
