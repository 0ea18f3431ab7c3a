/* test_info_tables.c -- information between tables and in many cells: integers are counted as
 * categories are, cells found by sorting are those of a naive loop, and what cannot be compared is
 * told. */
#include "study/info.h"
#include "support.h"

enum { N = 60 };

static cr_info_options plain(cr_ctx *cx)
{
    cr_info_options o;
    assert_ok(cx, cr_options_init(cx, cr_info_table, &o));
    o.bootstrap = 0;
    o.estimator = CR_INFO_PLUGIN;
    return o;
}

/* Numbers i * step % values, as a column of integers, of reals and of texts; rows from `gaps` on
 * have no value in any of them. */
static cr_table *table_of(cr_ctx *cx, const char *source, size_t step, size_t values, size_t gaps)
{
    static char texts[N][24];
    double      x[N];
    const char *t[N];
    cr_table   *table = NULL;
    assert_ok(cx, cr_table_new(cx, source, N, &table));
    for (size_t i = 0; i < N; i++) {
        size_t value = i * step % values;
        snprintf(texts[i], sizeof texts[i], "%zu", value);
        x[i] = i < gaps ? (double)value : NAN;
        t[i] = i < gaps ? texts[i] : NULL;
    }
    assert_ok(cx, cr_table_add_numbers(cx, table, "whole", CR_INTEGER, x, 1));
    assert_ok(cx, cr_table_add_numbers(cx, table, "real", CR_REAL, x, 1));
    assert_ok(cx, cr_table_add_texts(cx, table, "text", t));
    return table;
}

TEST(integers_are_counted)
{
    cr_info_options o = plain(cx);
    cr_table       *a = table_of(cx, "a.csv", 1, 3, N - 6), *b = table_of(cx, "b.csv", 1, 4, N);
    const char     *whole = "whole", *text = "text";
    cr_divergence   d, e;
    assert_ok(cx, cr_table_divergence(cx, a, b, &whole, 1, &o, 0, &d));
    assert_ok(cx, cr_table_divergence(cx, a, b, &text, 1, &o, 0, &e));
    assert_true(d.counted && e.counted);
    assert_close(d.entropy, log(3), 1e-12); /* 18 rows of 0, 1 and 2 */
    assert_close(d.cross_entropy, log(4), 1e-12);
    assert_close(d.kl, log(4.0 / 3), 1e-12);
    assert_close(e.kl, d.kl, 1e-12);
    assert_close(e.js, d.js, 1e-12);
    assert_true(d.rows[0] == N - 6 && d.dropped[0] == 6 && d.rows[1] == N && d.dropped[1] == 0);
    cr_table_free(cx, a), cr_table_free(cx, b);
    cr_options_free(cx, cr_info_table, &o);
}

TEST(what_cannot_be_compared)
{
    cr_info_options o = plain(cx);
    cr_divergence   d;
    cr_table       *a = table_of(cx, "a.csv", 7, 59, N), *b = table_of(cx, "b.csv", 1, 1, N);
    cr_table *none = table_of(cx, "none.csv", 1, 3, 0), *few = table_of(cx, "few.csv", 1, 59, 2);
    cr_table *other = NULL;
    double    x[N] = { 0 };
    const char *const twice[] = { "text", "text" }, *real = "real", *text = "text";
    assert_ok(cx, cr_table_new(cx, "other.csv", N, &other));
    assert_ok(cx, cr_table_add_numbers(cx, other, "text", CR_REAL, x, 1));
    assert_fails_with(cx, cr_table_divergence(cx, a, a, twice, 2, &o, 0, &d), CR_EARG,
                      "column 'text' is named twice");
    assert_fails_with(cx, cr_table_divergence(cx, a, other, &text, 1, &o, 0, &d), CR_EDATA,
                      "column 'text' is category in a.csv and real in other.csv");
    assert_non_null(strstr(cr_error_hint(cx), "--category text"));
    assert_fails_with(cx, cr_table_divergence(cx, a, none, &real, 1, &o, 0, &d), CR_EDATA,
                      "no row of none.csv has a value in 'real'");
    assert_fails_with(cx, cr_table_divergence(cx, b, b, &real, 1, &o, 0, &d), CR_EDATA,
                      "column 'real' is constant");
    assert_fails_with(cx, cr_table_divergence(cx, few, a, &real, 1, &o, 0, &d), CR_EDATA,
                      "2 rows against 60: neighbour 3 needs at least 4");
    cr_table_free(cx, a), cr_table_free(cx, b), cr_table_free(cx, none), cr_table_free(cx, few);
    cr_table_free(cx, other);
    cr_options_free(cx, cr_info_table, &o);
}

/* 400 rows in 200 cells of 200 x 199 possible ones: each twice. */
TEST(many_cells)
{
    enum { ROWS = 400, CELLS = 200 };
    static char       texts[2][ROWS][24];
    const char       *t[2][ROWS];
    const char *const names[] = { "a", "b" };
    cr_info_options   o = plain(cx);
    cr_table         *table = NULL;
    cr_information    both, one;
    assert_ok(cx, cr_table_new(cx, "cells.csv", ROWS, &table));
    for (size_t c = 0; c < 2; c++) {
        for (size_t i = 0; i < ROWS; i++) {
            snprintf(texts[c][i], sizeof texts[c][i], "%zu",
                     i % CELLS * (c ? 77 : 1) % (c ? 199 : 200));
            t[c][i] = texts[c][i];
        }
        assert_ok(cx, cr_table_add_texts(cx, table, names[c], t[c]));
    }
    assert_ok(cx, cr_table_entropy(cx, table, names, 2, NULL, 0, &o, 0, &both));
    assert_ok(cx, cr_table_entropy(cx, table, names, 1, NULL, 0, &o, 0, &one));
    assert_int_equal(both.cells, CELLS);
    assert_close(both.value, log(CELLS), 1e-12);
    assert_close(one.value, log(CELLS), 1e-12); /* a alone tells the cell */
    cr_table_free(cx, table);
    cr_options_free(cx, cr_info_table, &o);
}
