/* test_split.c -- laws of folds, holdout and bootstrap: every row once, even sizes, even
 * classes. */
#include "support.h"
#include "data/judge/split.h"
#include "data/table/table.h"

TEST(every_row_is_tested_once)
{
    const size_t sizes[][2] = {
        { 2, 2 }, { 3, 2 }, { 10, 3 }, { 10, 10 }, { 1000, 7 }, { 1001, 10 }
    };
    for (size_t c = 0; c < 6; c++) {
        size_t   n = sizes[c][0], k = sizes[c][1], total = 0;
        cr_folds folds;
        assert_ok(cx, cr_folds_new(cx, n, k, 42, &folds));
        size_t *test = calloc(n, sizeof *test), *train = calloc(n, sizeof *train);
        int    *seen = calloc(n, sizeof *seen);
        for (size_t f = 0; f < k; f++) {
            size_t a = cr_folds_test(&folds, f, test), b = cr_folds_train(&folds, f, train);
            assert_int_equal(a + b, n);
            assert_int_equal(a, cr_folds_test(&folds, f, NULL));
            assert_int_equal(b, cr_folds_train(&folds, f, NULL));
            assert_true(a == n / k || a == n / k + 1);
            char *mark = calloc(n, 1);
            for (size_t i = 0; i < a; i++) seen[test[i]]++, mark[test[i]]++;
            for (size_t i = 0; i < b; i++) mark[train[i]]++;
            for (size_t i = 0; i < n; i++) assert_int_equal(mark[i], 1);
            for (size_t i = 1; i < a; i++) assert_true(test[i] > test[i - 1]);
            for (size_t i = 1; i < b; i++) assert_true(train[i] > train[i - 1]);
            free(mark);
            total += a;
        }
        assert_int_equal(total, n);
        for (size_t i = 0; i < n; i++) assert_int_equal(seen[i], 1);
        free(test), free(train), free(seen);
        cr_folds_free(cx, &folds);
    }
}

TEST(seed_decides)
{
    cr_folds a, b, c;
    assert_ok(cx, cr_folds_new(cx, 100, 5, 1, &a));
    assert_ok(cx, cr_folds_new(cx, 100, 5, 1, &b));
    assert_ok(cx, cr_folds_new(cx, 100, 5, 2, &c));
    assert_memory_equal(a.block, b.block, 100 * sizeof(size_t));
    assert_memory_not_equal(a.block, c.block, 100 * sizeof(size_t));
    cr_folds_free(cx, &a), cr_folds_free(cx, &b), cr_folds_free(cx, &c);
}

/* Over many seeds each row must meet each fold about equally often: 4 folds, 2000 seeds, sd 19. */
TEST(folds_are_shuffled)
{
    size_t hits[8][4] = { { 0 } }, together = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        cr_folds folds;
        assert_ok(cx, cr_folds_new(cx, 8, 4, seed, &folds));
        for (size_t i = 0; i < 8; i++) hits[i][folds.block[i]]++;
        together += folds.block[0] == folds.block[1];
        cr_folds_free(cx, &folds);
    }
    for (size_t i = 0; i < 8; i++)
        for (size_t f = 0; f < 4; f++) assert_true(hits[i][f] > 400 && hits[i][f] < 600);
    assert_true(together > 220 && together < 352); /* 1/7 of 2000 = 286, sd 16 */
}

TEST(classes_are_even)
{
    uint32_t codes[997];
    enum { N = 997, K = 6, CLASSES = 5 };
    for (size_t i = 0; i < N; i++) { /* classes of very different sizes, one of a single row */
        codes[i] = i % 100 == 0 ? 3 : i % 7 == 0 ? 1 : 0;
        if (i == 500) codes[i] = 2;
        if (i % 50 == 3) codes[i] = CR_MISSING_CODE;
    }
    cr_folds folds;
    assert_ok(cx, cr_folds_new_stratified(cx, codes, N, K, 7, &folds));
    size_t count[CLASSES][K] = { { 0 } }, size[K] = { 0 };
    for (size_t i = 0; i < N; i++) {
        count[codes[i] == CR_MISSING_CODE ? 4 : codes[i]][folds.block[i]]++;
        size[folds.block[i]]++;
    }
    for (size_t c = 0; c <= CLASSES; c++) {
        const size_t *counts = c < CLASSES ? count[c] : size;
        size_t        least = N, most = 0;
        for (size_t f = 0; f < K; f++) {
            if (counts[f] < least) least = counts[f];
            if (counts[f] > most) most = counts[f];
        }
        assert_true(most - least <= 1);
    }
    cr_folds_free(cx, &folds);

    uint32_t same[6] = { 9, 9, 9, 9, 9, 9 }; /* one class of a large code: as without classes */
    cr_folds plain;
    assert_ok(cx, cr_folds_new_stratified(cx, same, 6, 3, 5, &folds));
    assert_ok(cx, cr_folds_new(cx, 6, 3, 5, &plain));
    assert_memory_equal(folds.block, plain.block, 6 * sizeof(size_t));
    cr_folds_free(cx, &folds), cr_folds_free(cx, &plain);
}

TEST(order_of_time)
{
    cr_folds folds;
    size_t   rows[11];
    assert_ok(cx, cr_folds_new_ordered(cx, 11, 3, &folds)); /* blocks of 3, 3, 3, 2 rows */
    const size_t trained[] = { 3, 6, 9 }, tested[] = { 3, 3, 2 };
    for (size_t f = 0; f < 3; f++) {
        assert_int_equal(cr_folds_train(&folds, f, rows), trained[f]);
        for (size_t i = 0; i < trained[f]; i++) assert_int_equal(rows[i], i);
        assert_int_equal(cr_folds_test(&folds, f, rows), tested[f]);
        for (size_t i = 0; i < tested[f]; i++) assert_int_equal(rows[i], trained[f] + i);
    }
    cr_folds_free(cx, &folds);
    assert_ok(cx, cr_folds_new_ordered(cx, 2, 1, &folds));
    assert_int_equal(cr_folds_test(&folds, 0, rows), 1);
    assert_int_equal(rows[0], 1);
    cr_folds_free(cx, &folds);
}

TEST(holdout)
{
    size_t       rows[50], train = 0;
    const double fractions[] = { 0.2, 0.5, 1e-9, 0.999999, 0.33 };
    const size_t tests[] = { 10, 25, 1, 49, 17 }; /* round(0.33 50) = round(16.5) */
    for (size_t c = 0; c < 5; c++) {
        bool seen[50] = { false };
        assert_ok(cx, cr_holdout(cx, 50, fractions[c], 3, rows, &train));
        assert_int_equal(50 - train, tests[c]);
        for (size_t i = 0; i < 50; i++) {
            assert_true(rows[i] < 50 && !seen[rows[i]]);
            seen[rows[i]] = true;
            if (i > 0 && i != train) assert_true(rows[i] > rows[i - 1]);
        }
    }
    size_t hits[5] = { 0 }; /* every row is held out equally often: 2 of 5, sd 35 of 5000 */
    for (uint64_t seed = 0; seed < 5000; seed++) {
        assert_ok(cx, cr_holdout(cx, 5, 0.4, seed, rows, &train));
        assert_int_equal(train, 3);
        hits[rows[3]]++, hits[rows[4]]++;
    }
    for (size_t i = 0; i < 5; i++) assert_true(hits[i] > 1860 && hits[i] < 2140);
}

TEST(bootstrap)
{
    enum { N = 2000 };
    static size_t drawn[N], left[N], again[N], other[N];
    size_t        n_left = 99, n_again;
    bool          seen[N] = { false };
    cr_bootstrap(N, 11, 0, drawn, left, &n_left);
    for (size_t i = 0; i < N; i++) {
        assert_true(drawn[i] < N);
        seen[drawn[i]] = true;
    }
    size_t expected = 0;
    for (size_t i = 0; i < N; i++)
        if (!seen[i]) assert_int_equal(left[expected++], i);
    assert_int_equal(n_left, expected);
    assert_true(n_left > 660 && n_left < 810); /* N/e = 735.8, sd 14 */
    cr_bootstrap(N, 11, 0, again, left, &n_again);
    assert_memory_equal(drawn, again, sizeof drawn);
    cr_bootstrap(N, 11, 1, other, left, &n_again);
    assert_memory_not_equal(drawn, other, sizeof drawn);
    cr_bootstrap(1, 5, 0, drawn, left, &n_left);
    assert_true(drawn[0] == 0 && n_left == 0);
    cr_bootstrap(0, 5, 0, drawn, left, &n_left);
    assert_int_equal(n_left, 0);
}

TEST(refusals)
{
    cr_folds folds = { .n = 77 };
    size_t   rows[4], train = 5;
    assert_fails_with(cx, cr_folds_new(cx, 5, 1, 0, &folds), CR_EARG, "1 folds: at least 2");
    assert_fails_with(cx, cr_folds_new(cx, 5, 6, 0, &folds), CR_EARG, "6 folds of 5 rows");
    assert_fails_with(cx, cr_folds_new(cx, 0, 2, 0, &folds), CR_EARG, "2 folds of 0 rows");
    assert_fails_with(cx, cr_folds_new_ordered(cx, 3, 3, &folds), CR_EARG,
                      "at least 4 rows, not 3");
    assert_fails_with(cx, cr_folds_new_ordered(cx, 3, 0, &folds), CR_EARG, "at least 2 rows");
    assert_fails_with(cx, cr_holdout(cx, 1, 0.5, 0, rows, &train), CR_EARG, "1 rows cannot");
    assert_fails_with(cx, cr_holdout(cx, 4, 0, 0, rows, &train), CR_EARG, "between 0 and 1");
    assert_fails_with(cx, cr_holdout(cx, 4, 1, 0, rows, &train), CR_EARG, "between 0 and 1");
    assert_fails_with(cx, cr_holdout(cx, 4, (double)NAN, 0, rows, &train), CR_EARG,
                      "between 0 and 1");
    assert_true(folds.n == 77 && train == 5);
}

static cr_status make_folds(cr_ctx *cx, void *arg)
{
    cr_folds  a = { 0 }, b = { 0 };
    cr_status st = CR_OK;
    CR_TRY(cr_folds_new_stratified(cx, arg, 4, 2, 0, &a));
    CR_TRY(cr_folds_new_ordered(cx, 4, 2, &b));
done:
    cr_folds_free(cx, &a), cr_folds_free(cx, &b);
    return st;
}

TEST(allocation_failures)
{
    uint32_t codes[4] = { 0, 1, 1, 0 };
    test_every_allocation_fails(make_folds, codes);
}
