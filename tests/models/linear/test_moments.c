/* test_moments.c -- sufficient statistics against plain sums in long double; merging; the Gram
 * form. */
#include "../fixture.h"
#include "models/common/moments.h"

/* The rows of a table whose target is y, weights w, features x*. */
typedef struct opened {
    cr_table  *t;
    cr_design *d;
    cri_rows   rows;
} opened;

static opened open_rows(cr_ctx *cx, const double *X, size_t n, size_t p, const double *y,
                        const double *w)
{
    cr_design_options o;
    opened            a = { .t = make_table(cx, X, n, p, y, w) };
    assert_ok(cx, cr_options_init(cx, cr_design_table, &o));
    assert_ok(cx, cr_options_set(cx, cr_design_table, &o, "target", "y"));
    if (w) assert_ok(cx, cr_options_set(cx, cr_design_table, &o, "weights", "w"));
    assert_ok(cx, cri_design_fit(cx, a.t, &o, &(cri_design_needs){ 0 }, &a.d));
    assert_ok(cx, cri_rows_open(cx, a.d, a.t, CRI_TARGET_NEEDED, &a.rows));
    cr_options_free(cx, cr_design_table, &o);
    return a;
}

static void close_rows(cr_ctx *cx, opened *a)
{
    cri_rows_close(cx, &a->rows);
    cri_design_free(cx, a->d);
}

static long double cell(const double *X, const double *y, size_t p, size_t i, size_t j)
{
    return j < p ? X[i * p + j] : y[i];
}

static void check_moments(const cri_moments *m, const double *X, const double *y, const double *w,
                          size_t n, size_t p, double tolerance)
{
    size_t      q = p + 1, rows = 0;
    long double weight = 0, *mean = calloc(q, sizeof *mean);
    for (size_t i = 0; i < n; i++) weight += w ? w[i] : 1, rows += !w || w[i] > 0;
    for (size_t j = 0; j < q; j++)
        for (size_t i = 0; i < n; i++) mean[j] += (w ? w[i] : 1) * cell(X, y, p, i, j) / weight;
    assert_int_equal(m->p, p);
    assert_int_equal(m->rows, rows);
    assert_relative(m->weight, (double)weight, 1e-14);
    for (size_t j = 0; j < q; j++) {
        assert_close(m->mean[j], (double)mean[j], tolerance);
        for (size_t k = 0; k < q; k++) {
            long double S = 0, size = 1e-20L * weight * fabsl(mean[j] * mean[k]);
            for (size_t i = 0; i < n; i++) {
                long double a = cell(X, y, p, i, j) - mean[j], b = cell(X, y, p, i, k) - mean[k];
                S += (w ? w[i] : 1) * a * b;
                size += (w ? w[i] : 1) * fabsl(a * b);
            }
            if (fabsl(m->S[j * q + k] - S) > tolerance * size)
                fail_msg("S[%zu,%zu] is %.17g, expected %.17Lg", j, k, m->S[j * q + k], S);
            assert_true(fabs(m->S[j * q + k] - m->S[k * q + j]) <= 1e-15 * (double)size);
        }
    }
    free(mean);
}

TEST(against_sums)
{
    const size_t  sizes[] = { 1, 2, 511, 512, 513, 1700 };
    static double X[1700 * 3], y[1700], w[1700];
    cr_rng        r = cr_rng_stream(1, 2);
    draw_regression(1, 1700, 3, 1, X, y);
    for (size_t i = 0; i < 1700; i++) {
        w[i] = i % 7 == 3 ? 0 : cr_rng_uniform(&r);
        X[i * 3 + 1] += 1e6; /* a mean far from zero must not cost the spread its digits */
    }
    for (size_t s = 0; s < 12; s++) {
        size_t        n = sizes[s / 2];
        const double *weights = s % 2 ? w : NULL;
        opened        a = open_rows(cx, X, n, 3, y, weights);
        cri_moments   m;
        assert_ok(cx, cri_moments_of_rows(cx, &a.rows, &m));
        check_moments(&m, X, y, weights, n, 3, 2e-10);
        cri_moments_free(cx, &m);
        close_rows(cx, &a);
    }
}

/* 64 blocks in 32 spans, by one thread in one workspace: besides the moments of the spans, one block is held
 * and its moments, whatever the number of spans. */
TEST(one_thread_works_in_one_block)
{
    enum { n = 64 * 512, p = 20, q = p + 1, block = 512 * q, spans = 32 };
    static double X[n * p], y[n];
    draw_regression(5, n, p, 1, X, y);
    opened      a = open_rows(cx, X, n, p, y, NULL);
    cri_moments one, two;
    cr_ctx_set_threads(cx, 1);
    size_t before = cr_ctx_peak_memory(
        cx); /* of opening the rows: what follows is on top of what stays of it */
    assert_ok(cx, cri_moments_of_rows(cx, &a.rows, &one));
    assert_true(cr_ctx_peak_memory(cx) <
                before + (3 * block + 2 * spans * q * (q + 1)) * sizeof(double));
    cr_ctx_set_threads(cx, 7);
    assert_ok(cx, cri_moments_of_rows(cx, &a.rows, &two));
    assert_memory_equal(one.S, two.S, q * q * sizeof(double));
    check_moments(&one, X, y, NULL, n, p, 1e-12);
    cri_moments_free(cx, &one);
    cri_moments_free(cx, &two);
    close_rows(cx, &a);
}

/* However the rows are cut, the moments of the parts merge to those of the whole. */
TEST(merge)
{
    enum { n = 60, p = 2 };
    double       X[n * p], y[n], w[n];
    const size_t cuts[][3] = { { 0, 30, 60 }, { 0, 1, 60 }, { 59, 59, 60 }, { 0, 20, 40 } };
    draw_regression(3, n, p, 1, X, y);
    for (size_t i = 0; i < n; i++) w[i] = (double)(i % 4), X[i * p] = 1e3 + X[i * p];
    for (size_t c = 0; c < 4; c++) {
        size_t      begin = 0, end;
        cri_moments all;
        assert_ok(cx, cri_moments_new(cx, p, &all)); /* nothing yet */
        for (size_t k = 0; k <= 3; k++) {
            end = k < 3 ? cuts[c][k] : n;
            if (end == begin) continue;
            opened      a = open_rows(cx, X + begin * p, end - begin, p, y + begin,
                                 begin == 0 && end == 1 ? NULL : w + begin);
            cri_moments part;
            assert_ok(cx, cri_moments_of_rows(cx, &a.rows, &part));
            if (begin == 0 && end == 1) part.weight = 0, part.rows = 0; /* row 0 weighs nothing */
            cri_moments_merge(&all, &part);
            cri_moments_free(cx, &part);
            close_rows(cx, &a);
            begin = end;
        }
        check_moments(&all, X, y, w, n, p, 1e-12);
        cri_moments_free(cx, &all);
    }
}

TEST(gram)
{
    enum { n = 30, p = 3 };
    double X[n * p], y[n], w[n];
    draw_regression(4, n, p, 1, X, y);
    for (size_t i = 0; i < n; i++) w[i] = 0.5 + (double)(i % 3), X[i * p + 2] = 0.1;
    opened      a = open_rows(cx, X, n, p, y, w);
    cri_moments m;
    assert_ok(cx, cri_moments_of_rows(cx, &a.rows, &m));
    for (unsigned bits = 0; bits < 4; bits++) {
        bool        intercept = bits & 1, standardise = bits & 2;
        cri_gram    g;
        long double weight = 0, mean[p + 1] = { 0 }, scale[p + 1], tt = 0;
        assert_ok(cx, cri_gram_new(cx, &m, intercept, standardise, &g));
        for (size_t i = 0; i < n; i++) weight += w[i];
        for (size_t j = 0; j <= p; j++) {
            long double square = 0;
            for (size_t i = 0; i < n; i++) mean[j] += w[i] * cell(X, y, p, i, j) / weight;
            for (size_t i = 0; i < n; i++) square += w[i] * powl(cell(X, y, p, i, j) - mean[j], 2);
            scale[j] = standardise && j < 2 ? sqrtl(square / weight) : 1; /* x3 is constant */
            if (!intercept) mean[j] = 0;
        }
        for (size_t j = 0; j < p; j++) {
            long double sum = 0;
            assert_close(g.centre[j], (double)mean[j], 1e-13);
            assert_close(g.scale[j], (double)scale[j], 1e-13);
            for (size_t i = 0; i < n; i++)
                sum += w[i] * (X[i * p + j] - mean[j]) / scale[j] * (y[i] - mean[p]);
            assert_close(g.g[j], (double)sum, 1e-12);
            for (size_t k = 0; k < p; k++) {
                sum = 0;
                for (size_t i = 0; i < n; i++)
                    sum += w[i] * (X[i * p + j] - mean[j]) / scale[j] * (X[i * p + k] - mean[k]) /
                           scale[k];
                assert_close(g.G[j * p + k], (double)sum, 1e-12);
                if (intercept && (j == 2 || k == 2)) assert_true(g.G[j * p + k] == 0);
            }
        }
        for (size_t i = 0; i < n; i++) tt += w[i] * powl(y[i] - mean[p], 2);
        assert_close(g.tt, (double)tt, 1e-13);
        assert_close(g.offset, (double)mean[p], 1e-13);
        assert_close(g.weight, (double)weight, 1e-15);
        assert_int_equal(g.rows, n);
        cri_gram_free(cx, &g);
    }
    cri_moments_free(cx, &m);
    close_rows(cx, &a);
}

/* The same bits for 1, 2 and 4 threads. */
TEST(threads)
{
    enum { n = 5000, p = 7 };
    static double X[n * p], y[n];
    cri_moments   kept = { 0 };
    draw_regression(5, n, p, 1, X, y);
    opened a = open_rows(cx, X, n, p, y, NULL);
    for (size_t threads = 1; threads <= 4; threads *= 2) {
        cri_moments m;
        cr_ctx_set_threads(cx, threads);
        assert_ok(cx, cri_moments_of_rows(cx, &a.rows, &m));
        if (threads == 1) {
            kept = m;
            continue;
        }
        assert_memory_equal(m.mean, kept.mean, (p + 1) * sizeof(double));
        assert_memory_equal(m.S, kept.S, (p + 1) * (p + 1) * sizeof(double));
        cri_moments_free(cx, &m);
    }
    cri_moments_free(cx, &kept);
    close_rows(cx, &a);
}

/* Many columns are gathered tile by tile: against sums in long double for some of the cells,
 * whatever the rows that the shift is taken from are like, and the same bits for any number of
 * threads. */
TEST(wide)
{
    enum { n = 300, p = 520, q = p + 1 };
    double *X = malloc(n * p * sizeof *X), y[n], w[n];
    bool    good = false;
    draw_regression(6, n, p, 1, X, y);
    for (size_t i = 0; i < n; i++) {
        w[i] = i % 5 == 2 ? 0 : 0.25 + (double)(i % 3);
        X[i * p + 7] += 1e6;
        X[i * p + 519] = 0.3;                         /* constant       */
        X[i * p + 300] = (double)i;                   /* follows the row */
        if (i % 2) X[i * p + 8] = 1e5 + X[i * p + 8]; /* two humps       */
    }
    opened      a = open_rows(cx, X, n, p, y, w);
    cri_moments kept = { 0 };
    for (size_t threads = 1; threads <= 7; threads += 2) {
        cri_moments m;
        cr_ctx_set_threads(cx, threads);
        assert_ok(cx, cri_moments_of_wide(cx, &a.rows, &m, &good));
        assert_true(good);
        if (threads == 1) {
            kept = m;
            continue;
        }
        assert_memory_equal(m.mean, kept.mean, q * sizeof(double));
        assert_memory_equal(m.S, kept.S, q * q * sizeof(double));
        cri_moments_free(cx, &m);
    }
    const size_t which[] = { 0, 7, 8, 255, 256, 300, 511, 512, 519, 520 };
    long double  weight = 0, mean[10] = { 0 };
    for (size_t i = 0; i < n; i++) weight += w[i];
    assert_int_equal(kept.rows, n * 4 / 5);
    assert_relative(kept.weight, (double)weight, 1e-14);
    for (size_t j = 0; j < 10; j++)
        for (size_t i = 0; i < n; i++) mean[j] += w[i] * cell(X, y, p, i, which[j]) / weight;
    for (size_t j = 0; j < 10; j++) {
        assert_relative(kept.mean[which[j]], (double)mean[j], 1e-13);
        for (size_t k = 0; k < 10; k++) {
            long double S = 0, size = 1e-20L * weight * fabsl(mean[j] * mean[k]);
            for (size_t i = 0; i < n; i++) {
                long double u = cell(X, y, p, i, which[j]) - mean[j];
                long double v = cell(X, y, p, i, which[k]) - mean[k];
                S += w[i] * u * v;
                size += w[i] * fabsl(u * v);
            }
            double got = kept.S[which[j] * q + which[k]];
            if (fabsl(got - S) > 1e-10L * size)
                fail_msg("S[%zu,%zu] is %.17g, expected %.17Lg", which[j], which[k], got, S);
            assert_true(got == kept.S[which[k] * q + which[j]]);
        }
    }
    cri_moments_free(cx, &kept);
    close_rows(cx, &a);

    /* the rows looked at first weigh next to nothing and lie far off: not by this road, but
     * right */
    for (size_t i = 0; i < n; i++) {
        bool seen = false;
        for (size_t k = 0; k < 256; k++) seen = seen || k * n / 256 == i;
        w[i] = seen ? 1e-12 : 1;
        X[i * p + 3] = (seen ? 1e9 : 1e3) + (double)(i % 4);
    }
    a = open_rows(cx, X, n, p, y, w);
    assert_ok(cx, cri_moments_of_wide(cx, &a.rows, &kept, &good));
    assert_false(good);
    assert_ok(cx, cri_moments_of_rows(cx, &a.rows, &kept));
    mean[0] = weight = 0;
    for (size_t i = 0; i < n; i++) weight += w[i], mean[0] += w[i] * X[i * p + 3];
    assert_relative(kept.mean[3], (double)(mean[0] / weight), 1e-12);
    cri_moments_free(cx, &kept);
    close_rows(cx, &a);
    free(X);
}

/* Large tiles, and the halves of each panel in matrices of their own; the last panel has one row. */
TEST(wide_halves)
{
    enum { n = 1025, p = 800, q = p + 1 };
    const size_t which[] = { 0, 1, 511, 512, 513, 799, 800 };
    double      *X = malloc(n * p * sizeof *X), y[n], w[n];
    cri_moments  kept = { 0 };
    bool         good = false;
    draw_regression(7, n, p, 1, X, y);
    for (size_t i = 0; i < n; i++) w[i] = 0.5 + (double)(i % 3);
    opened a = open_rows(cx, X, n, p, y, w);
    for (size_t threads = 1; threads <= 4; threads *= 2) {
        cri_moments m;
        cr_ctx_set_threads(cx, threads);
        assert_ok(cx, cri_moments_of_wide(cx, &a.rows, &m, &good));
        assert_true(good);
        if (threads == 1) {
            kept = m;
            continue;
        }
        assert_memory_equal(m.mean, kept.mean, q * sizeof(double));
        assert_memory_equal(m.S, kept.S, q * q * sizeof(double));
        cri_moments_free(cx, &m);
    }
    for (size_t j = 0; j < 7; j++)
        for (size_t k = 0; k < 7; k++) {
            long double weight = 0, u = 0, v = 0, S = 0, size = 0;
            for (size_t i = 0; i < n; i++) {
                weight += w[i];
                u += w[i] * cell(X, y, p, i, which[j]);
                v += w[i] * cell(X, y, p, i, which[k]);
            }
            for (size_t i = 0; i < n; i++) {
                long double of = w[i] * (cell(X, y, p, i, which[j]) - u / weight) *
                                 (cell(X, y, p, i, which[k]) - v / weight);
                S += of;
                size += fabsl(of);
            }
            assert_relative(kept.weight, (double)weight, 1e-14);
            assert_true(fabsl(kept.S[which[j] * q + which[k]] - S) < 1e-13L * size);
            assert_true(fabsl(kept.mean[which[j]] - u / weight) < 1e-13L);
        }
    cri_moments_free(cx, &kept);
    close_rows(cx, &a);
    free(X);
}

static cr_status gather(cr_ctx *cx, void *arg)
{
    const double     *X = arg, y[3] = { 1, 2, 4 };
    cr_table         *t = NULL;
    cr_design        *d = NULL;
    cri_rows          rows = { 0 };
    cri_moments       m = { 0 };
    cri_gram          g = { 0 };
    char              target[] = "y";
    cr_design_options o = { .target = target };
    cr_status         st = CR_OK;
    CR_TRY(cr_table_new(cx, "t", 3, &t));
    CR_TRY(cr_table_borrow_numbers(cx, t, "x", CR_REAL, X, 1));
    CR_TRY(cr_table_borrow_numbers(cx, t, "y", CR_REAL, y, 1));
    CR_TRY(cri_design_fit(
        cx, t, &o, &(cri_design_needs){ .standardise = true, .standardise_target = true }, &d));
    CR_TRY(cri_rows_open(cx, d, t, CRI_TARGET_NEEDED, &rows));
    CR_TRY(cri_moments_of_rows(cx, &rows, &m));
    CR_TRY(cri_gram_new(cx, &m, true, true, &g));
done:
    cri_gram_free(cx, &g);
    cri_moments_free(cx, &m);
    cri_rows_close(cx, &rows);
    cri_design_free(cx, d);
    cr_table_free(cx, t);
    return st;
}

TEST(allocations)
{
    double X[3] = { 1, 2, 5 };
    test_every_allocation_fails(gather, X);
}

/* So many columns that the products are taken about the mean of all rows, in spans of some
 * blocks. */
TEST(many_columns)
{
    enum { ROWS = 800, COLUMNS = 260, Q = COLUMNS + 1 };
    double *X = malloc(ROWS * COLUMNS * sizeof *X), y[ROWS], w[ROWS];
    cr_rng  r = cr_rng_stream(3, 1);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < COLUMNS; j++)
            X[i * COLUMNS + j] = 1e4 * (double)(j % 3) + (double)(i / 200) + cr_rng_normal(&r);
        y[i] = cr_rng_normal(&r);
        w[i] = (double)(i % 4) / 2;
    }
    opened a = open_rows(cx, X, ROWS, COLUMNS, y, w);
    for (size_t threads = 1; threads <= 3; threads++) {
        cri_moments m = { 0 };
        long double weight = 0;
        cr_ctx_set_threads(cx, threads);
        assert_ok(cx, cri_moments_of_rows(cx, &a.rows, &m));
        for (size_t i = 0; i < ROWS; i++) weight += w[i];
        assert_relative(m.weight, (double)weight, 1e-15);
        assert_int_equal(m.rows, ROWS / 4 * 3);
        for (size_t j = 0; j < Q; j += 13)
            for (size_t k = 0; k < Q; k += 20) {
                long double S = 0, u = 0, v = 0;
                for (size_t i = 0; i < ROWS; i++) {
                    u += w[i] * cell(X, y, COLUMNS, i, j) / weight;
                    v += w[i] * cell(X, y, COLUMNS, i, k) / weight;
                }
                for (size_t i = 0; i < ROWS; i++)
                    S += w[i] * (cell(X, y, COLUMNS, i, j) - u) * (cell(X, y, COLUMNS, i, k) - v);
                assert_relative(m.mean[j], (double)u, 1e-13);
                assert_true(fabs(m.S[j * Q + k] - (double)S) < 1e-9 * ROWS);
                assert_true(m.S[j * Q + k] == m.S[k * Q + j]);
            }
        cri_moments_free(cx, &m);
    }
    close_rows(cx, &a);
    free(X);
}
