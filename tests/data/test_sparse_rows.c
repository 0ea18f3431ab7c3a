/* test_sparse_rows.c -- products, Gram matrices and moments of sparse rows against plain loops over
 * the dense matrix in long double, for every number of threads. */
#include "sparse_fixture.h"
#include "data/design/sparse_rows.h"

typedef struct rows_case {
    sparse_data d;
    size_t     *index; /* rows kept, in another order; NULL = all */
    size_t      n;
    cri_sparse  X;
    double     *shift, *scale;
} rows_case;

static rows_case make_case(uint64_t seed, size_t n, size_t p, double density, bool indexed)
{
    rows_case c = { .d = draw_sparse(seed, n, p, density), .n = n };
    cr_rng    r = cr_rng_stream(seed, 5);
    c.shift = calloc(p + 1, sizeof *c.shift);
    c.scale = calloc(p + 1, sizeof *c.scale);
    for (size_t j = 0; j < p; j++) {
        c.shift[j] = cr_rng_normal(&r);
        c.scale[j] = 0.5 + cr_rng_uniform(&r);
    }
    if (indexed) {
        c.n = n / 2;
        c.index = calloc(c.n + 1, sizeof *c.index);
        for (size_t i = 0; i < c.n; i++) c.index[i] = cr_rng_below(&r, n);
    }
    c.X = (cri_sparse){ .n = c.n,
                        .p = p,
                        .start = c.d.start,
                        .column = c.d.column,
                        .value = c.d.value,
                        .index = c.index,
                        .shift = c.shift,
                        .scale = c.scale };
    return c;
}

static void free_case(rows_case *c)
{
    free_sparse(&c->d);
    free(c->index), free(c->shift), free(c->scale);
}

static double at(const rows_case *c, size_t i, size_t j)
{
    return c->d.X[(c->index ? c->index[i] : i) * c->d.p + j];
}

static void check_case(rows_case *c)
{
    cr_ctx *cx = test_context();
    size_t  n = c->n, p = c->d.p;
    cr_rng  r = cr_rng_stream(3, 9);
    double *b = calloc(p + 1, 8), *v = calloc(p + 1, 8), *res = calloc(n + 1, 8);
    double *Xb = calloc(n + 1, 8), *Xr = calloc(p + 1, 8), *G = calloc(p * p + 1, 8);
    double *mean = calloc(p + 1, 8), *variance = calloc(p + 1, 8), *axpy = calloc(p + 1, 8);
    for (size_t j = 0; j < p; j++) b[j] = cr_rng_normal(&r);
    for (size_t i = 0; i < n; i++) res[i] = cr_rng_normal(&r);

    double sum_r = 0, folded = cri_sparse_fold(&c->X, b, v);
    assert_ok(cx, cri_sparse_times(cx, &c->X, b, Xb));
    for (size_t i = 0; i < n; i++) {
        long double x = 0, z = 0;
        double      size = 1e-300;
        sum_r += res[i];
        for (size_t j = 0; j < p; j++) {
            x += (long double)at(c, i, j) * b[j];
            z += ((long double)at(c, i, j) - c->shift[j]) / c->scale[j] * b[j];
            size += fabs(at(c, i, j) * b[j]) + fabs(c->shift[j] * b[j]);
            assert_true(cri_sparse_at(&c->X, i, j) == at(c, i, j));
        }
        assert_close(Xb[i], (double)x, 1e-14 * (1 + size));
        assert_true(cri_sparse_dot(&c->X, i, b) == Xb[i]);
        assert_close(cri_sparse_dot(&c->X, i, v) - folded, (double)z, 1e-13 * (1 + size));
        cri_sparse_axpy(&c->X, i, res[i], axpy);
    }
    assert_ok(cx, cri_sparse_transpose_times(cx, &c->X, res, Xr));
    assert_ok(cx, cri_sparse_gram(cx, &c->X, c->d.w, G));
    assert_ok(cx, cri_sparse_moments(cx, &c->X, c->d.w, mean, variance));
    for (size_t j = 0; j < p; j++) {
        long double x = 0, size = 1e-300L, w = 0, m = 0, s = 0;
        for (size_t i = 0; i < n; i++) {
            x += (long double)at(c, i, j) * res[i];
            size += fabsl((long double)at(c, i, j) * res[i]);
            w += c->d.w[i];
            m += (long double)c->d.w[i] * at(c, i, j);
        }
        m = w > 0 ? m / w : 0;
        for (size_t i = 0; i < n; i++) s += c->d.w[i] * (at(c, i, j) - m) * (at(c, i, j) - m);
        assert_close(Xr[j], (double)x, 1e-14 * (1 + (double)size));
        assert_close(axpy[j], (double)x, 1e-14 * (1 + (double)size));
        assert_close(mean[j], (double)m, 1e-14 * (1 + (double)p));
        assert_relative(variance[j], w > 0 ? (double)(s / w) : 0, 1e-13);
        for (size_t k = 0; k < p; k++) {
            long double g = 0, g_size = 0;
            for (size_t i = 0; i < n; i++) {
                g += (long double)c->d.w[i] * at(c, i, j) * at(c, i, k);
                g_size += fabsl((long double)c->d.w[i] * at(c, i, j) * at(c, i, k));
            }
            assert_close(G[j * p + k], (double)g, 1e-14 * (1 + (double)g_size));
            assert_true(G[j * p + k] == G[k * p + j]);
        }
    }
    cri_sparse_unfold(&c->X, sum_r, Xr); /* Z'r */
    for (size_t j = 0; j < p; j++) {
        long double z = 0, size = 0;
        for (size_t i = 0; i < n; i++) {
            z += ((long double)at(c, i, j) - c->shift[j]) / c->scale[j] * res[i];
            size += fabsl(((long double)at(c, i, j) - c->shift[j]) / c->scale[j] * res[i]);
        }
        assert_close(Xr[j], (double)z, 1e-13 * (1 + (double)size));
    }
    free(b), free(v), free(res), free(Xb), free(Xr), free(G), free(mean), free(variance),
        free(axpy);
    test_context_free(cx);
}

TEST(against_dense)
{
    const struct {
        size_t n, p;
        double density;
    } sizes[] = { { 1, 1, 1 },      { 1, 40, 0.1 },   { 300, 7, 0.4 }, { 1300, 20, 0.05 },
                  { 3000, 3, 0.9 }, { 50, 60, 0.02 }, { 200, 10, 0.0 } };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int indexed = 0; indexed < 2; indexed++) {
            rows_case c = make_case(k, sizes[k].n, sizes[k].p, sizes[k].density, indexed);
            check_case(&c);
            c.X.plain = true; /* standardisation switched off: 0 and 1 */
            for (size_t j = 0; j < c.d.p; j++) c.shift[j] = 0, c.scale[j] = 1;
            check_case(&c);
            free_case(&c);
        }
}

TEST(transpose)
{
    for (int indexed = 0; indexed < 2; indexed++) {
        cr_ctx         *own = test_context();
        rows_case       c = make_case(21, 90, 33, 0.2, indexed);
        cri_sparse_copy t;
        assert_ok(own, cri_sparse_transpose(own, &c.X, &t));
        assert_int_equal(t.view.n, 33);
        assert_int_equal(t.view.p, c.n);
        assert_int_equal(t.entries, cri_sparse_entries(&c.X));
        for (size_t j = 0; j < 33; j++)
            for (size_t i = 0; i < c.n; i++)
                assert_true(cri_sparse_at(&t.view, j, i) == at(&c, i, j));
        cri_sparse_free(own, &t);
        free_case(&c);
        test_context_free(own);
    }
}

/* Columns by falling lengths, equal ones as they stand; each is found by its index. */
TEST(transpose_ranked)
{
    for (int indexed = 0; indexed < 2; indexed++) {
        cr_ctx         *own = test_context();
        rows_case       c = make_case(21, 90, 33, 0.2, indexed);
        size_t          rank[33], workspace[200], end, last = SIZE_MAX, column[33];
        cri_sparse_copy t;
        cri_sparse_rank_columns(&c.X, rank, workspace);
        assert_ok(own, cri_sparse_transpose_ranked(own, &c.X, rank, &t));
        for (size_t j = 0; j < 33; j++) {
            column[rank[j]] = j;
            for (size_t i = 0; i < c.n; i++)
                assert_true(cri_sparse_at(&t.view, j, i) == at(&c, i, j));
        }
        for (size_t k = 0; k < 33; k++) {
            size_t length = t.start[k + 1] - t.start[k];
            assert_int_equal(rank[column[k]], k);
            assert_int_equal(cri_sparse_row(&t.view, column[k], &end), t.start[k]);
            assert_true(length < last || (length == last && column[k] > column[k - 1]));
            last = length;
        }
        cri_sparse_free(own, &t);
        free_case(&c);
        test_context_free(own);
    }
}

/* All results of one run, to be compared bit by bit. */
static void run_all(cr_ctx *cx, const cri_sparse *X, const double *w, double *out)
{
    size_t n = X->n, p = X->p;
    for (size_t i = 0; i < n; i++) out[i] = 1 / (1 + (double)i);
    double *b = out + n;
    for (size_t j = 0; j < p; j++) b[j] = sin((double)j);
    assert_ok(cx, cri_sparse_times(cx, X, b, b + p));
    assert_ok(cx, cri_sparse_transpose_times(cx, X, out, b + p + n));
    assert_ok(cx, cri_sparse_gram(cx, X, w, b + 2 * p + n));
    assert_ok(cx, cri_sparse_moments(cx, X, w, b + 2 * p + n + p * p, b + 3 * p + n + p * p));
}

TEST(threads_give_the_same_bits)
{
    rows_case c = make_case(31, 20000, 12, 0.3, false);
    size_t    size = 2 * c.n + 5 * c.d.p + c.d.p * c.d.p;
    double   *one = calloc(size, 8), *many = calloc(size, 8);
    cr_ctx_set_threads(cx, 1);
    run_all(cx, &c.X, c.d.w, one);
    for (size_t threads = 2; threads <= 5; threads++) {
        cr_ctx_set_threads(cx, threads);
        run_all(cx, &c.X, c.d.w, many);
        assert_memory_equal(one, many, size * sizeof *one);
    }
    free(one), free(many);
    free_case(&c);
}

static cr_status use_rows(cr_ctx *cx, void *arg)
{
    cr_status       st = CR_OK;
    rows_case      *c = arg;
    double          out[16], G[256];
    cri_sparse_copy t = { 0 };
    CR_TRY(cri_sparse_transpose_times(cx, &c->X, c->d.y, out));
    CR_TRY(cri_sparse_gram(cx, &c->X, NULL, G));
    CR_TRY(cri_sparse_moments(cx, &c->X, NULL, out, G));
    CR_TRY(cri_sparse_transpose(cx, &c->X, &t));
done:
    cri_sparse_free(cx, &t);
    return st;
}

TEST(allocations_fail)
{
    rows_case c = make_case(41, 20, 16, 0.3, false);
    test_every_allocation_fails(use_rows, &c);
    free_case(&c);
}
