/* test_mmd.c -- the two-sample test against naive sums, all relabellings by bit masks, its level
 * and power. */
#include "../models/fixture.h"

#include "study/mmd.h"

static const char *const names[] = { "x1", "x2" };

static cr_table *table_of(cr_ctx *cx, const double *X, size_t n, size_t p)
{
    double   *y = calloc(n, sizeof *y);
    cr_table *t = make_table(cx, X, n, p, y, NULL);
    free(y);
    return t;
}

static long double rbf(const double *a, const double *b, size_t p, long double l)
{
    long double d = 0;
    for (size_t j = 0; j < p; j++) d += ((long double)a[j] - b[j]) * ((long double)a[j] - b[j]);
    return expl(-d / (2 * l * l));
}

/* Both statistics by double sums; first[i] says which rows are of the first table. */
static void naive(const double *X, size_t n, size_t p, long double l, const bool *first,
                  long double *biased, long double *unbiased)
{
    long double within[2] = { 0 }, own[2] = { 0 }, between = 0, count[2] = { 0 };
    for (size_t i = 0; i < n; i++) {
        count[first[i]]++;
        for (size_t j = 0; j < n; j++) {
            long double k = rbf(X + i * p, X + j * p, p, l);
            if (first[i] != first[j])
                between += k / 2;
            else if (i == j)
                own[first[i]] += k;
            else
                within[first[i]] += k;
        }
    }
    *biased = *unbiased = -2 * between / (count[0] * count[1]);
    for (size_t s = 0; s < 2; s++) {
        *biased += (within[s] + own[s]) / (count[s] * count[s]);
        *unbiased += within[s] / (count[s] * (count[s] - 1));
    }
}

TEST(sums)
{
    enum { M = 17, N = 90, P = 2 };
    double X[N * P];
    bool   first[N];
    cr_rng r = cr_rng_stream(1, 5);
    draw_normals(&r, X, N * P);
    for (size_t i = 0; i < N; i++) first[i] = i < M, X[i * P] += i < M ? 0.7 : 0;
    cr_table      *a = table_of(cx, X, M, P), *b = table_of(cx, X + M * P, N - M, P);
    cr_mmd_options o = { .kernel = "rbf(l=1.3)", .permutations = 200 };
    cr_mmd         g, again;
    long double    biased, unbiased;
    naive(X, N, P, 1.3L, first, &biased, &unbiased);
    assert_ok(cx, cr_table_mmd(cx, a, b, names, 2, &o, 3, &g));
    assert_relative(g.biased, (double)biased, 1e-11);
    assert_relative(g.unbiased, (double)unbiased, 1e-11);
    assert_int_equal(g.rows[0], M);
    assert_int_equal(g.rows[1], N - M);
    assert_int_equal(g.permutations, 200);
    assert_false(g.exact);
    assert_string_equal(g.kernel, "rbf(l=1.3)");
    assert_close(g.p_se, sqrt(g.p * (1 - g.p) / 200), 1e-12);
    for (size_t threads = 1; threads < 8; threads += 2) {
        cr_ctx_set_threads(cx, threads);
        assert_ok(cx, cr_table_mmd(cx, a, b, names, 2, &o, 3, &again));
        assert_memory_equal(&again.unbiased, &g.unbiased, sizeof(double));
        assert_memory_equal(&again.p, &g.p, sizeof(double));
    }
    assert_ok(cx, cr_table_mmd(cx, b, a, names, 2, &o, 3, &again)); /* the other way round */
    assert_relative(again.unbiased, g.unbiased, 1e-11);
}

/* All 35 ways to take 3 of 7. */
TEST(enumeration)
{
    enum { N = 7, M = 3 };
    for (uint64_t seed = 0; seed < 6; seed++) {
        double      X[N];
        bool        first[N];
        cr_rng      r = cr_rng_stream(seed, 5);
        long double biased, observed, other;
        size_t      reached = 0, all = 0;
        draw_normals(&r, X, N);
        for (size_t i = 0; i < N; i++) first[i] = i < M, X[i] += i < M ? 0.8 : 0;
        naive(X, N, 1, 0.9L, first, &biased, &observed);
        for (unsigned mask = 0; mask < 1u << N; mask++) {
            size_t count = 0;
            for (size_t i = 0; i < N; i++) first[i] = mask >> i & 1, count += first[i];
            if (count != M) continue;
            naive(X, N, 1, 0.9L, first, &biased, &other);
            all++;
            reached += other >= observed - 1e-12L;
        }
        cr_table      *a = table_of(cx, X, M, 1), *b = table_of(cx, X + M, N - M, 1);
        cr_mmd_options o = { .kernel = "rbf(l=0.9)", .permutations = 35 };
        cr_mmd         g;
        assert_ok(cx, cr_table_mmd(cx, a, b, names, 1, &o, seed, &g));
        assert_true(g.exact && g.permutations == 35 && all == 35 && g.p_se == 0);
        assert_close(g.p, (double)reached / 35, 1e-14);
        o.permutations = 34; /* too few for all */
        assert_ok(cx, cr_table_mmd(cx, a, b, names, 1, &o, seed, &g));
        assert_true(!g.exact && g.permutations == 34);
    }
}

/* Every labelling of a table and itself has the statistics of some that take equal rows from either
 * side; with all rows equal all labellings tie. */
TEST(ties)
{
    enum { N = 41 };
    double X[N], same[N];
    for (size_t i = 0; i < N; i++) X[i] = 0.1 * (double)(i % 3), same[i] = 0.3;
    for (size_t k = 0; k < 2; k++) {
        cr_table      *a = table_of(cx, k ? same : X, N, 1);
        cr_mmd_options o = { .kernel = "rbf(l=0.7)", .permutations = 300 };
        cr_mmd         g;
        assert_ok(cx, cr_table_mmd(cx, a, a, names, 1, &o, 4, &g));
        assert_close(g.p, 1, 1e-14); /* nothing is nearer than a table to itself */
    }
}

/* How often p <= 0.05 in `trials` pairs of samples that differ by `shift`. */
static double rejections(cr_ctx *cx, size_t n, double shift, bool linear, size_t trials)
{
    double *X = calloc(2 * n, sizeof *X), hits = 0;
    for (size_t k = 0; k < trials; k++) {
        cr_rng r = cr_rng_stream(100 + k, 5);
        draw_normals(&r, X, 2 * n);
        for (size_t i = 0; i < n; i++) X[i] += shift;
        cr_table      *a = table_of(cx, X, n, 1), *b = table_of(cx, X + n, n, 1);
        cr_mmd_options o = { .permutations = 39, .linear = linear };
        cr_mmd         g;
        assert_ok(cx, cr_table_mmd(cx, a, b, names, 1, &o, k, &g));
        assert_true(g.p >= 0 && g.p <= 1);
        hits += g.p <= 0.05;
    }
    free(X);
    return hits / (double)trials;
}

TEST(level_and_power)
{
    double level = rejections(cx, 10, 0, false, 300), fast = rejections(cx, 120, 0, true, 200);
    assert_true(level > 0.02 && level < 0.085); /* 0.05 +- 2.5 standard errors */
    assert_true(fast > 0.01 && fast < 0.1);
    assert_true(rejections(cx, 40, 1.2, false, 40) > 0.85);
    assert_true(rejections(cx, 200, 1.2, true, 40) > 0.85);
}

/* The linear statistic where every order of the rows gives the same: two points. */
TEST(linear)
{
    const double   zero[9] = { 0 }, one[] = { 1, 1, 1, 1, 1, 1 };
    cr_table      *a = table_of(cx, zero, 9, 1), *b = table_of(cx, one, 6, 1);
    cr_mmd_options o = { .kernel = "rbf(l=2)", .linear = true };
    cr_mmd         g;
    assert_ok(cx, cr_table_mmd(cx, a, b, names, 1, &o, 0, &g));
    assert_int_equal(g.pairs, 3);
    assert_close(g.unbiased, 2 - 2 * exp(-1 / 8.), 1e-12);
    assert_true(g.se == 0 && isnan(g.biased) && isnan(g.p));
    cr_table_free(cx, a);
    cr_table_free(cx, b);

    enum { N = 4000 }; /* near the discrepancy of two normals, which is known in closed form */
    double *X = calloc(2 * N, sizeof *X);
    cr_rng  r = cr_rng_stream(9, 5);
    draw_normals(&r, X, 2 * N);
    for (size_t i = 0; i < N; i++) X[i] += 1;
    a = table_of(cx, X, N, 1), b = table_of(cx, X + N, N, 1);
    o.kernel = "rbf(l=1)";
    assert_ok(cx, cr_table_mmd(cx, a, b, names, 1, &o, 0, &g));
    double expected =
        2 / sqrt(3) * (1 - exp(-1 / 6.)); /* E k = (1 + 2)^-1/2 exp(-shift^2 / (2 (1 + 2))) */
    assert_true(fabs(g.unbiased - expected) < 4 * g.se && g.se < 0.02);
    free(X);
}

TEST(tables)
{
    cr_table      *a = table_of_text(cx, "a.csv", "x,g\n1,u\n,v\n2,u\n4,w\n1,v\n");
    cr_table      *b = table_of_text(cx, "b.csv", "g,x\nv,2\nz,3\nz,\nz,1\n");
    cr_table      *c = table_of_text(cx, "c.csv", "x\nlow\nhigh\n");
    const char    *both[] = { "x", "g" }, *none[] = { "q" };
    cr_mmd_options o = { .permutations = 20 };
    cr_mmd         g;
    assert_ok(cx, cr_table_mmd(cx, a, b, both, 2, &o, 0, &g));
    assert_true(g.rows[0] == 4 && g.dropped[0] == 1 && g.rows[1] == 3 && g.dropped[1] == 1);
    assert_non_null(strstr(g.kernel, "hamming"));
    assert_true(g.biased >= 0);
    assert_ok(cx, cr_table_mmd(cx, a, a, both, 2, &o, 0, &g));
    assert_close(g.biased, 0, 1e-12);
    assert_fails_with(cx, cr_table_mmd(cx, a, c, both, 1, &o, 0, &g), CR_EDATA,
                      "categories in the other");
    assert_fails_with(cx, cr_table_mmd(cx, a, b, none, 1, &o, 0, &g), CR_EDATA, "'q' not found");
    assert_fails_with(cx, cr_table_mmd(cx, a, b, both, 0, &o, 0, &g), CR_EARG, "no column");
    o.kernel = "rbf(y)";
    assert_fails(cx, cr_table_mmd(cx, a, b, both, 2, &o, 0, &g), CR_EARG);
    cr_table *one = table_of_text(cx, "one.csv", "x,g\n1,u\n");
    o.kernel = NULL;
    assert_fails_with(cx, cr_table_mmd(cx, a, one, both, 2, &o, 0, &g), CR_EDATA,
                      "the second file has 1 complete row");
}

static cr_status compare(cr_ctx *cx, void *arg)
{
    static const double x[] = { 1, 2, 3, 4, 7 };
    cr_status           st = CR_OK;
    cr_table           *a = NULL, *b = NULL;
    cr_mmd_options      o = { .permutations = 5, .linear = arg != NULL };
    const char         *name = "x";
    cr_mmd              g;
    CR_TRY(cr_table_new(cx, "a", 5, &a));
    CR_TRY(cr_table_borrow_numbers(cx, a, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_new(cx, "b", 4, &b));
    CR_TRY(cr_table_borrow_numbers(cx, b, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_mmd(cx, a, b, &name, 1, &o, 0, &g));
done:
    cr_table_free(cx, a);
    cr_table_free(cx, b);
    return st;
}

TEST(memory)
{
    test_every_allocation_fails(compare, NULL);
    test_every_allocation_fails(compare, (void *)(uintptr_t) "linear");
}
