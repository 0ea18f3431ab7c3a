/* test_table.c -- typed columns: names, strides, categories sorted and trimmed, missing counts. */
#include "support.h"
#include "data/table/table_internal.h"

static cr_table *new_table(cr_ctx *cx, const char *source, size_t rows)
{
    cr_table *t = NULL;
    assert_ok(cx, cr_table_new(cx, source, rows, &t));
    return t;
}

static void close_table(cr_ctx *cx, cr_table *t)
{
    cr_table_free(cx, t);
    test_context_free(cx);
}

/* --- names ----------------------------------------------------------------------------------- */

TEST(names)
{
    const double x[] = { 1, 2 };
    cr_table    *t = new_table(cx, "houses.csv", 2);
    assert_ok(cx, cr_table_add_numbers(cx, t, "price", CR_REAL, x, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "Price", CR_INTEGER, x, 1));
    assert_fails_with(cx, cr_table_add_numbers(cx, t, "price", CR_REAL, x, 1), CR_EDATA,
                      "houses.csv: two columns are called 'price'");
    assert_fails_with(cx, cr_table_borrow_numbers(cx, t, "", CR_REAL, x, 1), CR_EDATA,
                      "houses.csv: column 3 has no name");
    assert_fails(cx, cr_table_borrow_numbers(cx, t, NULL, CR_REAL, x, 1), CR_EDATA);
    const char *const texts[] = { "a", "b" };
    assert_fails(cx, cr_table_add_texts(cx, t, "price", texts), CR_EDATA);
    assert_int_equal(cr_table_columns(t), 2);
    assert_int_equal(cr_table_rows(t), 2);
    assert_string_equal(cr_table_source(t), "houses.csv");
    assert_ptr_equal(cr_table_find(t, "Price"), cr_table_column(t, 1));
    assert_null(cr_table_find(t, "pric"));
    assert_int_equal(cr_table_column(t, 1)->type, CR_INTEGER);

    assert_fails_with(cx, cri_table_no_column(cx, t, "prise"), CR_EDATA,
                      "column 'prise' not found in houses.csv");
    assert_string_equal(cr_error_nearest(cx), "price");
    assert_string_equal(cr_error_notes(cx), "columns: price, Price");
    close_table(cx, t);
    assert_string_equal(cr_type_name(CR_REAL), "real");
    assert_string_equal(cr_type_name(CR_CATEGORY), "category");
}

/* More columns than the first allocation holds; the table keeps its own copy of names. */
TEST(many_columns)
{
    cr_table *t = new_table(cx, NULL, 1);
    for (int i = 0; i < 100; i++) {
        char   name[16];
        double value = i;
        snprintf(name, sizeof name, "c%d", i);
        assert_ok(cx, cr_table_add_numbers(cx, t, name, CR_REAL, &value, 1));
    }
    for (size_t i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%zu", i);
        assert_string_equal(cr_table_column(t, i)->name, name);
        assert_true(cr_table_find(t, name)->values[0] == (double)i);
    }
    assert_string_equal(cr_table_source(t), "the data");
    close_table(cx, t);
}

TEST(where)
{
    char      out[64];
    cr_table *t = new_table(cx, "houses.csv", 20);
    assert_string_equal(cri_table_where(t, 10, out, sizeof out), "houses.csv, row 11");
    cri_table_set_first_line(t, 2);
    assert_string_equal(cri_table_where(t, 10, out, sizeof out), "houses.csv:12");
    close_table(cx, t);
}

/* --- numbers --------------------------------------------------------------------------------- */

TEST(strides_and_missing)
{
    double    grid[3][2] = { { 1, NAN }, { 2, 5 }, { NAN, NAN } };
    cr_table *t = new_table(cx, "grid", 3);
    assert_ok(cx, cr_table_borrow_numbers(cx, t, "first", CR_REAL, &grid[0][0], 2));
    assert_ok(cx, cr_table_borrow_numbers(cx, t, "second", CR_REAL, &grid[0][1], 2));
    assert_ok(cx, cr_table_add_numbers(cx, t, "copy", CR_BOOLEAN, &grid[0][1], 2));
    const cr_column *first = cr_table_column(t, 0), *second = cr_table_column(t, 1);
    const cr_column *copy = cr_table_find(t, "copy");
    assert_ptr_equal(first->values, grid);
    assert_true(first->stride == 2 && first->missing == 1 && second->missing == 2);
    assert_true(second->values[1 * second->stride] == 5);
    assert_true(copy->stride == 1 && copy->missing == 2 && copy->type == CR_BOOLEAN);
    grid[1][1] = 6; /* a copy is a copy */
    assert_true(copy->values[1] == 5 && isnan(copy->values[0]) && isnan(copy->values[2]));
    assert_null(first->codes);
    close_table(cx, t);
}

/* What the table takes over is freed by it, also when the name is refused. */
TEST(ownership)
{
    cr_table *t = new_table(cx, "owned", 2);
    double   *x = cr_alloc(cx, 2, sizeof *x), *y = cr_alloc(cx, 2, sizeof *y);
    uint32_t *codes = cr_alloc(cx, 2, sizeof *codes);
    assert_true(x && y && codes);
    const char *const levels[] = { "a" };
    assert_ok(cx, cri_table_own_numbers(cx, t, "x", CR_REAL, x));
    assert_ptr_equal(cr_table_column(t, 0)->values, x);
    assert_fails(cx, cri_table_own_numbers(cx, t, "x", CR_REAL, y), CR_EDATA);
    assert_fails(cx, cri_table_own_category(cx, t, "x", codes, levels, 1), CR_EDATA);
    close_table(cx, t); /* checks that nothing is left */
}

TEST(no_rows)
{
    cr_table *t = new_table(cx, "empty", 0);
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, NULL, 1));
    assert_ok(cx, cr_table_add_texts(cx, t, "c", NULL));
    assert_ok(cx, cr_table_add_category(cx, t, "d", NULL, NULL, 0));
    assert_true(cr_table_column(t, 0)->missing == 0 && cr_table_column(t, 1)->n_levels == 0);
    assert_null(cr_table_find(t, "e"));
    close_table(cx, t);
    cr_table_free(NULL, NULL);
}

/* --- categories ------------------------------------------------------------------------------ */

static void check_category(const cr_column *c, const char *const *texts, size_t rows)
{
    size_t missing = 0;
    assert_int_equal(c->type, CR_CATEGORY);
    assert_null(c->values);
    for (size_t k = 1; k < c->n_levels; k++)
        assert_true(strcmp(c->levels[k - 1], c->levels[k]) < 0);
    for (size_t k = 0; k < c->n_levels; k++) {
        bool used = false;
        for (size_t i = 0; i < rows; i++) used |= c->codes[i] == k;
        assert_true(used);
    }
    for (size_t i = 0; i < rows; i++) {
        missing += texts[i] == NULL;
        if (!texts[i])
            assert_true(c->codes[i] == CR_MISSING_CODE);
        else
            assert_string_equal(c->levels[c->codes[i]], texts[i]);
    }
    assert_int_equal(c->missing, missing);
}

TEST(texts)
{
    const char *const texts[] = { "pear", NULL,    "apple",    "Pear", "",
                                  "pear", "apple", "\xc3\xa4", NULL };
    cr_table         *t = new_table(cx, "fruit", 9);
    assert_ok(cx, cr_table_add_texts(cx, t, "fruit", texts));
    const cr_column *c = cr_table_find(t, "fruit");
    check_category(c, texts, 9);
    assert_int_equal(c->n_levels, 5); /* "" is a level; bytes decide the order */
    assert_string_equal(c->levels[0], "");
    assert_string_equal(c->levels[1], "Pear");
    assert_string_equal(c->levels[4], "\xc3\xa4");
    const char *const none[9] = { NULL };
    assert_ok(cx, cr_table_add_texts(cx, t, "none", none));
    check_category(cr_table_find(t, "none"), none, 9);
    close_table(cx, t);
}

TEST(codes)
{
    const char *const levels[] = { "z", "unused", "m", "a", "never" };
    const uint32_t    codes[] = { 0, 3, CR_MISSING_CODE, 2, 0, 3 };
    const char *const texts[] = { "z", "a", NULL, "m", "z", "a" };
    cr_table         *t = new_table(cx, "codes", 6);
    assert_ok(cx, cr_table_add_category(cx, t, "c", codes, levels, 5));
    check_category(cr_table_find(t, "c"), texts, 6);
    assert_int_equal(cr_table_find(t, "c")->n_levels, 3);
    assert_int_equal(codes[0], 0); /* the caller's stay as they were */
    const uint32_t wrong[] = { 0, 1, 2, 5, 0, 0 };
    assert_fails_with(cx, cr_table_add_category(cx, t, "w", wrong, levels, 5), CR_EARG,
                      "column 'w': code 5 in row 4, but there are 5 levels");
    assert_int_equal(cr_table_columns(t), 1);
    close_table(cx, t);
}

/* --- failures -------------------------------------------------------------------------------- */

static cr_status build(cr_ctx *cx, void *arg)
{
    (void)arg;
    const double      x[] = { 1, NAN, 3 };
    const char *const texts[] = { "b", "a", NULL }, *const levels[] = { "y", "x" };
    const uint32_t codes[] = { 1, 0, 1 };
    cr_table      *t = NULL;
    cr_status      st = CR_OK;
    CR_TRY(cr_table_new(cx, "t", 3, &t));
    for (int i = 0; i < 17; i++) { /* one more than the first room for columns */
        char name[16];
        snprintf(name, sizeof name, "x%d", i);
        CR_TRY(cr_table_borrow_numbers(cx, t, name, CR_REAL, x, 1));
    }
    CR_TRY(cr_table_add_numbers(cx, t, "y", CR_REAL, x, 1));
    CR_TRY(cr_table_add_texts(cx, t, "a", texts));
    CR_TRY(cr_table_add_category(cx, t, "b", codes, levels, 2));
    assert_int_equal(cr_table_columns(t), 20);
done:
    cr_table_free(cx, t);
    return st;
}

TEST(allocations) { test_every_allocation_fails(build, NULL); }
