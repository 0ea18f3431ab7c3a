/* test_dealt.c -- rows divided by their weights: all copies are there, each fold has its share, as single rows would. */
#include "support.h"
#include "data/judge/dealt.h"
#include "data/table/table_internal.h"

#include <math.h>

static cr_table *counts_table(cr_ctx *cx, const double *w, size_t n)
{
    cr_table *t;
    double    x[64];
    for (size_t i = 0; i < n; i++) x[i] = (double)i;
    assert_ok(cx, cr_table_new(cx, "counts", n, &t));
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "w", CR_INTEGER, w, 1));
    return t;
}

TEST(all_copies_are_there)
{
    const double w[] = { 3, 0, 1, 100, 7, 1, 25 };
    cr_table    *t = counts_table(cx, w, 7);
    cri_dealt    d;
    cr_folds     folds;
    assert_ok(cx, cri_dealt_open(cx, t, NULL, "w", 5, 11, &d));
    assert_non_null(d.table);
    const cr_column *x = cr_table_find(d.table, "x"), *weight = cr_table_find(d.table, "w");
    assert_ok(cx, cri_dealt_folds(cx, &d, NULL, 5, 3, &folds));
    for (size_t i = 0; i < 7; i++) {
        double sum = 0;
        bool   used[5] = { false };
        for (size_t k = d.first[i]; k < d.first[i + 1]; k++) {
            assert_true(x->values[k] == (double)i);
            assert_true(w[i] == 0 || weight->values[k] >= 1);
            assert_false(used[folds.block[k]]); /* parts of a row are in different folds */
            used[folds.block[k]] = true;
            sum += weight->values[k];
        }
        assert_true(sum == w[i]);
    }
    cr_folds_free(cx, &folds);
    cri_dealt_free(cx, &d);
    cr_table_free(cx, t);
}

/* The share of a fold varies as that of single rows: mean w / k, variance w (1/k) (1 - 1/k). */
TEST(as_copies_would_fall)
{
    const double w[] = { 40, 12 };
    cr_table    *t = counts_table(cx, w, 2);
    enum { TRIES = 4000, K = 4 };
    double mean[2] = { 0 }, square[2] = { 0 };
    for (uint64_t seed = 0; seed < TRIES; seed++) {
        cri_dealt d;
        cr_folds  folds;
        assert_ok(cx, cri_dealt_open(cx, t, NULL, "w", K, seed, &d));
        assert_ok(cx, cri_dealt_folds(cx, &d, NULL, K, seed + 7, &folds));
        const cr_column *weight = cr_table_find(d.table, "w");
        for (size_t i = 0; i < 2; i++) {
            double own = 0;
            for (size_t k = d.first[i]; k < d.first[i + 1]; k++)
                if (folds.block[k] == 2) own += weight->values[k];
            mean[i] += own / TRIES, square[i] += own * own / TRIES;
        }
        cr_folds_free(cx, &folds);
        cri_dealt_free(cx, &d);
    }
    for (size_t i = 0; i < 2; i++) {
        double variance = w[i] / K * (1 - 1.0 / K), se = sqrt(variance / TRIES);
        assert_true(fabs(mean[i] - w[i] / K) < 5 * se);
        assert_true(fabs(square[i] - mean[i] * mean[i] - variance) < 0.15 * variance);
    }
    cr_table_free(cx, t);
}

TEST(what_is_no_count_stays)
{
    const double kinds[][3] = { { 1, 1, 1 }, { 0.5, 2, 3 }, { 0, 1, 0 }, { -1, 2, 2 } };
    for (size_t k = 0; k < 4; k++) {
        cr_table *t = counts_table(cx, kinds[k], 3);
        cri_dealt d;
        assert_ok(cx, cri_dealt_open(cx, t, NULL, "w", 2, 0, &d));
        assert_null(d.table);
        assert_ok(cx, cri_dealt_open(cx, t, NULL, NULL, 2, 0, &d));
        assert_null(d.table);
        cr_table_free(cx, t);
    }
}

static cr_status deal_table(cr_ctx *cx, void *table)
{
    cri_dealt d = { 0 };
    cr_folds  folds = { 0 };
    cr_status st = cri_dealt_open(cx, table, NULL, "w", 3, 1, &d);
    if (st == CR_OK) st = cri_dealt_folds(cx, &d, NULL, 3, 1, &folds);
    cr_folds_free(cx, &folds);
    cri_dealt_free(cx, &d);
    return st;
}

TEST(every_allocation_may_fail)
{
    const double w[] = { 3, 2, 9 };
    cr_table    *t = counts_table(cx, w, 3);
    test_every_allocation_fails(deal_table, t);
    cr_table_free(cx, t);
}
