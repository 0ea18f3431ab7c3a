/* test_subset.c -- rows of a table as a table: any order, repeats, none. */
#include "support.h"
#include "data/table/subset.h"
#include "data/table/table_internal.h"

static cr_table *small_table(cr_ctx *cx)
{
    const double      matrix[] = { 1, 9, NAN, 8, 3, 7, 4, 6 };
    const double      flags[] = { 1, 0, 1, 1 };
    const char *const texts[] = { "b", "c", NULL, "a" };
    cr_table         *t = NULL;
    assert_ok(cx, cr_table_new(cx, "houses.csv", 4, &t));
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, matrix, 2)); /* strided */
    assert_ok(cx, cr_table_add_numbers(cx, t, "f", CR_BOOLEAN, flags, 1));
    assert_ok(cx, cr_table_add_texts(cx, t, "c", texts));
    return t;
}

static const char *text_at(const cr_column *c, size_t i)
{
    return c->codes[i] == CR_MISSING_CODE ? NULL : c->levels[c->codes[i]];
}

static void check_rows(const size_t *rows, size_t n)
{
    cr_ctx   *cx = test_context();
    cr_table *t = small_table(cx), *s = NULL;
    assert_ok(cx, cri_table_subset(cx, t, rows, n, &s));
    assert_int_equal(cr_table_rows(s), n);
    assert_int_equal(cr_table_columns(s), cr_table_columns(t));
    assert_string_equal(cr_table_source(s), "houses.csv");
    for (size_t k = 0; k < cr_table_columns(t); k++) {
        const cr_column *a = cr_table_column(t, k), *b = cr_table_column(s, k);
        size_t           missing = 0;
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->type, b->type);
        for (size_t i = 0; i < n; i++) {
            if (a->type == CR_CATEGORY) {
                const char *x = text_at(a, rows[i]), *y = text_at(b, i);
                assert_true(x ? y && strcmp(x, y) == 0 : !y);
                missing += !x;
            } else {
                double x = a->values[rows[i] * a->stride], y = b->values[i * b->stride];
                assert_true(x == y || (isnan(x) && isnan(y)));
                missing += isnan(x) ? 1 : 0;
            }
        }
        assert_int_equal(b->missing, missing);
        assert_int_equal(b->n_levels, a->n_levels); /* all of them, used or not */
        for (size_t l = 0; l < b->n_levels; l++) assert_string_equal(a->levels[l], b->levels[l]);
    }
    cr_table_free(cx, t); /* the subset is a table of its own */
    if (n) assert_non_null(cr_table_column(s, 0)->values);
    cr_table_free(cx, s);
    test_context_free(cx);
}

TEST(rows)
{
    check_rows((size_t[]){ 0, 1, 2, 3 }, 4);
    check_rows((size_t[]){ 3, 1 }, 2);
    check_rows((size_t[]){ 2 }, 1); /* all missing */
    check_rows((size_t[]){ 3, 3, 0, 3, 2, 0 }, 6);
    check_rows((size_t[]){ 0 }, 0);
}

/* Messages name the row in the whole table, also of a subset of a subset. */
TEST(places)
{
    cr_table    *t = small_table(cx), *s = NULL, *part = NULL;
    const size_t rows[] = { 3, 0, 2 }, again[] = { 2, 0 };
    char         where[64];
    assert_ok(cx, cri_table_subset(cx, t, rows, 3, &s));
    assert_string_equal(cri_table_where(s, 0, where, sizeof where), "houses.csv, row 4");
    assert_ok(cx, cri_table_subset(cx, s, again, 2, &part));
    assert_string_equal(cri_table_where(part, 0, where, sizeof where), "houses.csv, row 3");
    assert_string_equal(cri_table_where(part, 1, where, sizeof where), "houses.csv, row 4");
    cr_table_free(cx, part);
    cr_table_free(cx, s);
    cri_table_set_first_line(t, 2);
    assert_ok(cx, cri_table_subset(cx, t, rows, 3, &s));
    assert_string_equal(cri_table_where(s, 2, where, sizeof where), "houses.csv:4");
    cr_table_free(cx, s);
    cr_table_free(cx, t);
}

static cr_status take(cr_ctx *cx, void *arg)
{
    const size_t      rows[] = { 1, 0, 1 };
    const double      x[] = { 1, 2 };
    const char *const texts[] = { "b", "c" };
    cr_status         st = CR_OK;
    cr_table         *t = NULL, *s = NULL;
    (void)arg;
    CR_TRY(cr_table_new(cx, "t", 2, &t));
    CR_TRY(cr_table_borrow_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_add_texts(cx, t, "c", texts));
    CR_TRY(cri_table_subset(cx, t, rows, 3, &s));
done:
    if (st != CR_OK && s) fail_msg("the output was touched");
    cr_table_free(cx, t);
    cr_table_free(cx, s);
    return st;
}

TEST(allocations) { test_every_allocation_fails(take, NULL); }
