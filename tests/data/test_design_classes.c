/* test_design_classes.c -- the classes of a target, as the design remembers them: levels of a
 * category, and numbers and truth values that name classes. */
#include "../models/fixture.h"
#include "data/design/design_internal.h"
#include "data/table/table_internal.h"

static cr_status try_classes(cr_ctx *cx, const cr_table *t, const char *target, bool classes,
                             cr_design **out)
{
    cr_design_options o;
    assert_ok(cx, cr_options_init(cx, cr_design_table, &o));
    assert_ok(cx, cr_options_set(cx, cr_design_table, &o, "target", target));
    cr_status st = cri_design_fit(cx, t, &o, &(cri_design_needs){ .classes = classes }, out);
    cr_options_free(cx, cr_design_table, &o);
    return st;
}

/* The classes of the target, with commas. */
static const char *classes_of(const cr_design *d)
{
    static char text[512];
    text[0] = '\0';
    for (size_t k = 0; k < cr_design_classes(d); k++) {
        if (k) strcat(text, ",");
        strcat(text, cr_design_class(d, k));
    }
    return text;
}

static void check_classes(const char *csv, const char *target, bool classes, const char *expected)
{
    cr_ctx    *cx = test_context();
    cr_table  *t = table_of_text(cx, "t.csv", csv);
    cr_design *d = NULL;
    assert_ok(cx, try_classes(cx, t, target, classes, &d));
    assert_string_equal(classes_of(d), expected);
    cri_design_free(cx, d);
    test_context_free(cx);
}

static const char data[] = "x,y,color,b,z\n1,2,red,true,0.5\n2,10,blue,false,-0\n3,2,red,true,0\n"
                           "4,-1,green,false,1e20\n";

TEST(levels)
{
    check_classes(data, "color", false, "blue,green,red");
    check_classes(data, "color", true, "blue,green,red");
    check_classes(data, "y", false, "");
    check_classes(data, "", true, "");
}

/* Sorted by bytes, as the levels of a category are; no class "-0". */
TEST(numbers_as_classes)
{
    check_classes(data, "y", true, "-1,10,2");
    check_classes(data, "b", true, "false,true");
    check_classes(data, "z", true, "0,0.5,1e+20");
    check_classes("x,y\n1,3\n2,3\n", "y", true, "3");
}

/* The rows see the index of the class, whatever type the table gives the numbers. */
TEST(rows_have_indices)
{
    cr_table  *t = table_of_text(cx, "t.csv", data);
    cr_design *d = NULL;
    cri_rows   r;
    assert_ok(cx, try_classes(cx, t, "y", true, &d));
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NEEDED, &r));
    for (size_t i = 0; i < 4; i++) assert_true(r.y[i] == ((double[]){ 2, 1, 2, 0 })[i]);
    cri_rows_close(cx, &r);

    cr_table *u =
        table_of_text(cx, "u.csv", "x,color,b,z,y\n1,red,true,0,10.0\n2,red,true,0,2.00\n");
    assert_ok(cx, cri_rows_open(cx, d, u, CRI_TARGET_NEEDED, &r));
    assert_true(r.y[0] == 1 && r.y[1] == 2);
    cri_rows_close(cx, &r);
    cr_table_free(cx, u);

    u = table_of_text(cx, "u.csv", "x,color,b,z,y\n1,red,true,0,2\n2,red,true,0,20\n");
    r.n = 4711;
    assert_fails_with(cx, cri_rows_open(cx, d, u, CRI_TARGET_NEEDED, &r), CR_EDATA,
                      "u.csv:3: column 'y' has the level '20', which the model has not seen");
    assert_int_equal(r.n, 4711);
    assert_ok(cx, cri_rows_open(cx, d, u, CRI_TARGET_NONE, &r)); /* predicting needs no target */
    cri_rows_close(cx, &r);
    cri_design_free(cx, d);
}

static cr_table *table_of_numbers(cr_ctx *cx, size_t rows, size_t different)
{
    double   *x = calloc(rows, sizeof *x), *y = calloc(rows, sizeof *y);
    cr_table *t = NULL;
    for (size_t i = 0; i < rows; i++) x[i] = (double)i, y[i] = (double)(i % different) + 0.5;
    assert_ok(cx, cr_table_new(cx, "t", rows, &t));
    test_own(cx, t, release_table);
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "y", CR_REAL, y, 1));
    free(x);
    free(y);
    return t;
}

/* 20 are classes in any case, more when each has four rows, and never more than 1000. */
TEST(too_many)
{
    const struct {
        size_t rows, different;
        bool   good;
    } cases[] = { { 20, 20, true },     { 21, 21, false },    { 100, 25, true },
                  { 100, 26, false },   { 4000, 1000, true }, { 8000, 1001, false },
                  { 9000, 3000, false } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cr_table  *t = table_of_numbers(cx, cases[k].rows, cases[k].different);
        cr_design *d = NULL;
        cr_status  st = try_classes(cx, t, "y", true, &d);
        check_status(cx, st, cases[k].good ? CR_OK : CR_EDATA,
                     cases[k].good ? NULL : "too many for classes", "classes", __FILE__, __LINE__);
        if (cases[k].different == 1001) assert_non_null(strstr(cr_error(cx), "1000 and more"));
        if (cases[k].different == 26) assert_non_null(strstr(cr_error(cx), "has 26 different"));
        if (st == CR_OK)
            assert_int_equal(cr_design_classes(d), cases[k].different);
        else
            assert_null(d);
        cri_design_free(cx, d);
        cr_table_free(cx, t);
    }
}

/* --- a table whose target is a category ------------------------------------------------------ */

TEST(table_with_classes)
{
    cr_table *t = table_of_text(cx, "t.csv", data), *u = NULL;
    char      where[256];
    assert_ok(cx, cri_table_with_classes(cx, t, "y", &u));
    assert_int_equal(cr_table_rows(u), 4);
    assert_int_equal(cr_table_columns(u), 5);
    const cr_column *y = cr_table_find(u, "y"), *z = cr_table_find(u, "z");
    assert_int_equal(y->type, CR_CATEGORY);
    assert_int_equal(y->n_levels, 3);
    assert_string_equal(y->levels[y->codes[1]], "10");
    assert_string_equal(y->levels[y->codes[3]], "-1");
    assert_int_equal(z->type, CR_REAL);
    assert_true(z->values[3 * z->stride] == 1e20);
    assert_int_equal(cr_table_find(u, "color")->n_levels, 3);
    assert_non_null(strstr(cri_table_where(u, 2, where, sizeof where), "t.csv:4"));
    cr_table_free(cx, u);
    cr_table_free(cx, t);

    t = table_of_text(cx, "t.csv", "b\ntrue\nfalse\n\"\"\n");
    assert_ok(cx, cri_table_with_classes(cx, t, "b", &u)); /* a gap stays one */
    assert_int_equal(cr_table_find(u, "b")->codes[2], CR_MISSING_CODE);
    assert_string_equal(cr_table_find(u, "b")->levels[0], "false");
    cr_table_free(cx, u);
    cr_table_free(cx, t);

    t = table_of_numbers(cx, 40, 40);
    u = NULL;
    assert_fails_with(cx, cri_table_with_classes(cx, t, "y", &u), CR_EDATA, "too many for classes");
    assert_null(u);
}

static cr_status make_both(cr_ctx *cx, void *arg)
{
    cr_status         st = CR_OK;
    cr_table         *t = NULL, *u = NULL;
    cr_design        *d = NULL;
    cr_design_options o = { 0 };
    const double      x[] = { 1, 2, 3, 4 }, y[] = { 1, 2, 1, NAN };
    const char *const c[] = { "a", "b", "a", "a" };
    (void)arg;
    CR_TRY(cr_table_new(cx, "t", 4, &t));
    CR_TRY(cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_add_numbers(cx, t, "y", CR_INTEGER, y, 1));
    CR_TRY(cr_table_add_texts(cx, t, "c", c));
    CR_TRY(cr_options_init(cx, cr_design_table, &o));
    CR_TRY(cr_options_set(cx, cr_design_table, &o, "target", "y"));
    CR_TRY(cri_design_fit(cx, t, &o, &(cri_design_needs){ .classes = true }, &d));
    CR_TRY(cri_table_with_classes(cx, t, "y", &u));
done:
    cr_options_free(cx, cr_design_table, &o);
    cri_design_free(cx, d);
    cr_table_free(cx, u);
    cr_table_free(cx, t);
    return st;
}

TEST(allocations) { test_every_allocation_fails(make_both, NULL); }
