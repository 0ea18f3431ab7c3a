/* test_summary.c -- columns in a few numbers, against two passes in long double. */
#include "support.h"
#include "base/rng.h"
#include "data/table/summary.h"

static cr_summary summary_of(const double *values, size_t stride, size_t n)
{
    cr_ctx    *cx = test_context();
    cr_table  *t = NULL;
    cr_summary s;
    assert_ok(cx, cr_table_new(cx, "t", n, &t));
    assert_ok(cx, cr_table_borrow_numbers(cx, t, "x", CR_REAL, values, stride));
    assert_ok(cx, cr_summarise(cx, cr_table_column(t, 0), n, &s));
    cr_table_free(cx, t);
    test_context_free(cx);
    return s;
}

TEST(numbers)
{
    enum { n = 500, stride = 3 };
    static double a[n * stride];
    cr_rng        r = cr_rng_stream(1, 0);
    for (size_t shift = 0; shift < 2; shift++) {
        long double mean = 0, square = 0;
        double      least = INFINITY, most = -INFINITY;
        size_t      present = 0;
        for (size_t i = 0; i < n; i++) {
            double x = a[i * stride] = i % 9 == 4 ? NAN : (shift ? 1e8 : 0) + cr_rng_normal(&r);
            if (isnan(x)) continue;
            present++;
            mean += x;
            least = fmin(least, x), most = fmax(most, x);
        }
        mean /= (long double)present;
        for (size_t i = 0; i < n; i++)
            if (!isnan(a[i * stride])) square += powl(a[i * stride] - mean, 2);
        cr_summary s = summary_of(a, stride, n);
        assert_int_equal(s.present, present);
        assert_close(s.mean, (double)mean, 1e-14);
        assert_relative(s.sd, (double)sqrtl(square / (long double)(present - 1)),
                        shift ? 1e-9 : 1e-13);
        assert_true(s.min == least && s.max == most);
    }
}

TEST(corners)
{
    const double none[] = { NAN, NAN }, one[] = { NAN, -3 }, same[] = { 0.1, 0.1, 0.1 };
    cr_summary   s = summary_of(none, 1, 2);
    assert_int_equal(s.present, 0);
    assert_true(isnan(s.min) && isnan(s.mean) && isnan(s.sd) && isnan(s.max));
    s = summary_of(none, 1, 0);
    assert_int_equal(s.present, 0);
    s = summary_of(one, 1, 2);
    assert_int_equal(s.present, 1);
    assert_true(s.min == -3 && s.mean == -3 && s.max == -3 && isnan(s.sd));
    s = summary_of(same, 1, 3);
    assert_true(s.mean == 0.1 && s.sd == 0);
}

static cr_status summarise_category(cr_ctx *cx, void *arg)
{
    const char *const texts[] = { "b", "a", NULL, "c", "b", "c" };
    size_t            n = *(const size_t *)arg;
    cr_status         st = CR_OK;
    cr_table         *t = NULL;
    cr_summary        s;
    CR_TRY(cr_table_new(cx, "t", n, &t));
    CR_TRY(cr_table_add_texts(cx, t, "c", texts));
    CR_TRY(cr_summarise(cx, cr_table_column(t, 0), n, &s));
    assert_true(isnan(s.min) && isnan(s.mean) && isnan(s.sd) && isnan(s.max));
    assert_int_equal(s.present, n > 2 ? n - 1 : n);
    assert_int_equal(s.frequent_count, n == 0 ? 0 : n == 6 ? 2 : 1);
    assert_int_equal(s.frequent, n == 6 ? 1 : 0); /* a, b, c by name; the first of equals */
done:
    cr_table_free(cx, t);
    return st;
}

TEST(categories)
{
    size_t sizes[] = { 6, 2, 0 };
    for (size_t k = 0; k < 3; k++) assert_ok(cx, summarise_category(cx, &sizes[k]));
    test_every_allocation_fails(summarise_category, &sizes[0]);
}

/* A whole table at once: the same as column by column. */
TEST(table)
{
    const double      x[3] = { 1, NAN, 4 };
    const char *const texts[3] = { "b", "a", "b" };
    cr_table         *t = NULL;
    cr_summary        all[2], one;
    assert_ok(cx, cr_table_new(cx, "t", 3, &t));
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    assert_ok(cx, cr_table_add_texts(cx, t, "c", texts));
    assert_ok(cx, cr_summarise_table(cx, t, all));
    assert_ok(cx, cr_summarise(cx, cr_table_column(t, 0), 3, &one));
    assert_int_equal(all[0].present, 2);
    assert_true(all[0].mean == one.mean && all[0].sd == one.sd && all[0].max == 4);
    assert_int_equal(all[1].frequent, 1);
    assert_int_equal(all[1].frequent_count, 2);
    cr_table_free(cx, t);
}
