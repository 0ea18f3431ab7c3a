/* sparse_fixture.h -- one random matrix with many zeros as a dense and as a sparse table. */
#ifndef CREDENCE_TEST_DATA_SPARSE_FIXTURE_H
#define CREDENCE_TEST_DATA_SPARSE_FIXTURE_H

#include "support.h"
#include "base/rng.h"
#include "data/table/table.h"

typedef struct sparse_data {
    size_t    n, p, entries;
    double   *X; /* [n x p], row-major */
    size_t   *start;
    uint32_t *column;
    double   *value;
    double   *y, *w; /* [n] */
} sparse_data;

/* Fills the CSR from X. */
static inline void compress(sparse_data *d)
{
    d->entries = 0;
    for (size_t i = 0; i < d->n; i++) {
        d->start[i] = d->entries;
        for (size_t j = 0; j < d->p; j++) {
            if (d->X[i * d->p + j] == 0) continue;
            d->column[d->entries] = (uint32_t)j;
            d->value[d->entries++] = d->X[i * d->p + j];
        }
    }
    d->start[d->n] = d->entries;
}

/* Normal entries of different sizes with this density; some rows and columns are all 0. */
static inline sparse_data draw_sparse(uint64_t seed, size_t n, size_t p, double density)
{
    sparse_data d = { .n = n, .p = p };
    cr_rng      r = cr_rng_stream(seed, 4711);
    d.X = calloc(n * p + 1, sizeof *d.X);
    d.start = calloc(n + 1, sizeof *d.start);
    d.column = calloc(n * p + 1, sizeof *d.column);
    d.value = calloc(n * p + 1, sizeof *d.value);
    d.y = calloc(n + 1, sizeof *d.y);
    d.w = calloc(n + 1, sizeof *d.w);
    for (size_t i = 0; i < n; i++) {
        d.y[i] = cr_rng_normal(&r);
        d.w[i] = (double)cr_rng_below(&r, 4);
        for (size_t j = 0; j < p; j++) {
            bool there = cr_rng_uniform(&r) < density && i % 17 != 5 && j % 13 != 7;
            d.X[i * p + j] = there ? (1 + (double)j) * cr_rng_normal(&r) + (double)(j % 3) : 0;
        }
    }
    compress(&d);
    return d;
}

static inline void free_sparse(sparse_data *d)
{
    free(d->X), free(d->start), free(d->column), free(d->value), free(d->y), free(d->w);
}

static inline cr_csr csr_of(const sparse_data *d)
{
    return (cr_csr){ d->n, d->p, d->start, d->column, d->value };
}

/* x1 ... xp, y and w; the x sparse or ordinary columns. */
static inline cr_table *table_of(cr_ctx *cx, const sparse_data *d, bool sparse)
{
    cr_table *t = NULL;
    assert_ok(cx, cr_table_new(cx, "data.svm", d->n, &t));
    if (sparse)
        assert_ok(cx, cr_table_borrow_csr(cx, t, CR_REAL, csr_of(d)));
    else
        assert_ok(cx, cr_table_borrow_matrix(cx, t, CR_REAL, cr_cmat_of(d->X, d->n, d->p), NULL));
    assert_ok(cx, cr_table_borrow_numbers(cx, t, "y", CR_REAL, d->y, 1));
    assert_ok(cx, cr_table_borrow_numbers(cx, t, "w", CR_REAL, d->w, 1));
    return t;
}

static inline bool same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

#endif
