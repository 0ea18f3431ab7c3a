/* test_design.c -- choosing columns, one-hot coding and missing values, and what happens when
 * another table comes than the one that was learned. */
#include "design_fixture.h"

/* --- which columns --------------------------------------------------------------------------- */

TEST(choosing)
{
    cr_table         *t = table_of_text(cx, "t.csv", "x1,x2,y,x3,w,z\n1,2,3,4,5,6\n6,4,3,2,1,5\n");
    const char *const cases[][2] = {
        { "", "x1,x2,x3,z" },
        { "features=x*,!x3", "x1,x2" },
        { "features=!x3", "x1,x2,z" },
        { "features=!x*", "z" },
        { "features=!x1,!z", "x2,x3" },
        { "features=x*,!x?,x2", "x2" },
        { "features=z,x1", "x1,z" }, /* in the order of the table */
        { "features=[xz]*", "x1,x2,x3,z" },
        { "features=*", "x1,x2,x3,z" },
        { "features=x1 features=z", "x1,z" },
        { "features=,x1,,z,", "x1,z" },
        { "features=x1,x1", "x1" },
        { "features=x1,w", "x1" }, /* weights are never a feature */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char settings[128];
        snprintf(settings, sizeof settings, "target=y weights=w %s", cases[k][0]);
        cr_design *d = design_of(cx, t, settings, false);
        assert_string_equal(terms_of(d), cases[k][1]);
        assert_string_equal(cr_design_target(d), "y");
        assert_string_equal(cr_design_weights(d), "w");
        cri_design_free(cx, d);
    }
    cr_design *d = design_of(cx, t, "", false);
    assert_string_equal(terms_of(d), "x1,x2,y,x3,w,z");
    assert_null(cr_design_target(d));
    assert_null(cr_design_weights(d));
    assert_int_equal(cr_design_columns(d), 6);
    assert_string_equal(cr_design_column_name(d, 3), "x3");
    assert_int_equal(cr_design_column_type(d, 3), CR_INTEGER);
    cri_design_free(cx, d);
}

TEST(names_with_commas)
{
    cr_table         *t = table_of_text(cx, "t.csv", "\"k,1\",\"q\"\"\",x,y\n1,2,3,4\n6,4,3,2\n");
    const char *const cases[][2] = {
        { "features=\"k,1\"", "k,1" },    { "features=\"k,1\",x", "k,1,x" },
        { "features=!\"k,1\"", "q\",x" }, { "features=\"!k,1\"", "q\",x" },
        { "features=\"k,*\"", "k,1" },    { "features=q\"", "q\"" }
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char settings[128];
        snprintf(settings, sizeof settings, "target=y %s", cases[k][0]);
        cr_design *d = design_of(cx, t, settings, false);
        assert_string_equal(terms_of(d), cases[k][1]);
        cri_design_free(cx, d);
    }
}

TEST(choosing_wrongly)
{
    cr_table *t = table_of_text(cx, "t.csv", "area,rooms,price,w,c\n1,2,3,4,a\n6,4,3,2,b\n");
    const struct {
        const char *settings;
        cr_status   status;
        const char *text, *nearest;
    } cases[] = {
        { "target=prise", CR_EDATA, "column 'prise' not found in ", "price" },
        { "target=price weights=v", CR_EDATA, "column 'v' not found in ", NULL },
        { "target=price features=area,romms", CR_EDATA, "column 'romms' not found in ", "rooms" },
        { "target=price features=!aera", CR_EDATA, "column 'aera' not found in ", "area" },
        { "target=price features=q*", CR_EARG, "matches 'q*'", NULL },
        { "target=price features=price", CR_EARG, "column 'price' is the target", NULL },
        { "target=price features=!*", CR_EDATA, "no column left to use as a feature", NULL },
        { "target=price weights=w features=w", CR_EDATA, "no column left", NULL },
        { "target=price weights=c", CR_EDATA, "the weights 'c' are not numbers", NULL },
        { "target=price basis=poly", CR_EARG, "'poly' is not poly:K", NULL },
        { "target=price basis=poly:0", CR_EARG, "'poly:0' is not poly:K", NULL },
        { "target=price basis=poly:2.5", CR_EARG, "'poly:2.5' is not poly:K", NULL },
        { "target=price basis=poly:33", CR_EARG, "K from 1 to 32", NULL },
        { "target=price basis=poly:", CR_EARG, "is not poly:K", NULL },
        { "target=price basis=poly:nan", CR_EARG, "is not poly:K", NULL },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cr_design *d = NULL;
        assert_fails_with(cx, try_design(cx, t, cases[k].settings, false, &d), cases[k].status,
                          cases[k].text);
        assert_null(d);
        if (cases[k].nearest) assert_string_equal(cr_error_nearest(cx), cases[k].nearest);
    }
    char long_name[700] = "features=";
    memset(long_name + 9, 'a', 600);
    cr_design *d = NULL;
    assert_fails_with(cx, try_design(cx, t, long_name, false, &d), CR_EDATA, "not found");
}

/* --- categories ------------------------------------------------------------------------------ */

static const char colours[] = "c,b,y\nred,true,1\nblue,false,2\nred,true,3\ngreen,false,4\n";

TEST(one_hot)
{
    cr_table  *t = table_of_text(cx, "t.csv", colours);
    cr_design *d = design_of(cx, t, "target=y reference=first", false);
    assert_string_equal(terms_of(d), "c=green,c=red,b"); /* blue, the first by name, has none */
    check_matrix(cx, d, t, ((double[]){ 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0 }), 0);
    cri_design_free(cx, d);
    d = design_of(cx, t, "target=y reference=frequent", false);
    assert_string_equal(terms_of(d), "c=blue,c=green,b");
    check_matrix(cx, d, t, ((double[]){ 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0 }), 0);
    cri_design_free(cx, d);
    d = design_of(cx, t, "target=y reference=none basis=poly:3", false);
    assert_string_equal(terms_of(d), "c=blue,c=green,c=red,b"); /* a boolean has no powers */
    check_matrix(cx, d, t, ((double[]){ 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0 }), 0);

    /* fewer levels, in another order, among other columns: the same coding */
    cr_table *u = table_of_text(cx, "u.csv", "more,b,c\n9,true,red\n9,true,green\n");
    check_matrix(cx, d, u, ((double[]){ 0, 0, 1, 1, 0, 1, 0, 1 }), 0);
    cr_table_free(cx, u);
    cri_design_free(cx, d);
    cr_table_free(cx, t);
    t = table_of_text(cx, "t.csv", "c,y\nb,1\na,2\nb,3\na,4\nc,5\n"); /* of equals the first */
    d = design_of(cx, t, "target=y reference=frequent", false);
    assert_string_equal(terms_of(d), "c=b,c=c");
    cri_design_free(cx, d);
}

/* A name of any length is whole: cut inside a character it would not be UTF-8. */
TEST(long_names)
{
    enum { LETTERS = 600 };
    char text[4 * LETTERS + 64], level[2 * LETTERS + 1] = "", name[2 * LETTERS + 8];
    for (size_t i = 0; i < LETTERS; i++) strcat(level, "\xc3\xa9");
    snprintf(text, sizeof text, "k,y\na,1\n%s,2\na,4\n%s,7\n", level, level);
    cr_table *t = table_of_text(cx, "t.csv", text);
    cr_model *m = fit(cx, "linear", t, "target=y");
    snprintf(name, sizeof name, "k=%s", level);
    assert_string_equal(cr_design_term_name(cr_model_get_design(m), 0), name);
    json_t *d = describe(cx, m);
    assert_close(parameter(d, name, "value"), 2, 1e-12);
}

TEST(unseen_level)
{
    cr_table  *t = table_of_text(cx, "train.csv", colours);
    cr_design *d = design_of(cx, t, "target=y", false);
    cr_table  *u = table_of_text(cx, "new.csv", "c,b\nred,true\nblue,true\nbleu,false\n");
    check_open_fails(cx, d, u, CRI_TARGET_NONE,
                     "new.csv:4: column 'c' has the level 'bleu', which the model has not seen");
    assert_string_equal(cr_error_nearest(cx), "blue");
    assert_non_null(strstr(cr_error_notes(cx), "blue, green, red"));
    cr_table_free(cx, u);
    u = table_of_text(cx, "new.csv", "c,b\n1,true\n2,true\n"); /* read as numbers */
    check_open_fails(cx, d, u, CRI_TARGET_NONE, "new.csv:2: column 'c' has the level '1'");
    cri_design_free(cx, d);
}

/* "1", "2.5" were texts when the model was fitted; here they were read as numbers. */
TEST(numbers_that_were_categories)
{
    const char *const texts[] = { "1", "2.5", "10", "1e+300", "1", NULL };
    const double      numbers[] = { 10, 1, 2.5, NAN, 1e300, 3 };
    cr_table         *t = NULL, *u = NULL;
    assert_ok(cx, cr_table_new(cx, "t", 5, &t));
    assert_ok(cx, cr_table_add_texts(cx, t, "c", texts));
    cr_design *d = design_of(cx, t, "reference=none missing=impute", false);
    assert_string_equal(terms_of(d), "c=1,c=10,c=1e+300,c=2.5");
    assert_ok(cx, cr_table_new(cx, "u", 5, &u));
    assert_ok(cx, cr_table_add_numbers(cx, u, "c", CR_REAL, numbers, 1));
    check_matrix(cx, d, u, ((double[]){ 0, 1, 0, 0, 1, 0, 0, 0,
                                        0, 0, 0, 1, 1, 0, 0, 0, /* missing: the most frequent */
                                        0, 0, 1, 0 }),
                 0);
    cr_table_free(cx, u);
    assert_ok(cx, cr_table_new(cx, "u", 6, &u));
    assert_ok(cx, cr_table_add_numbers(cx, u, "c", CR_REAL, numbers, 1));
    check_open_fails(cx, d, u, CRI_TARGET_NONE, "u, row 6: column 'c' has the level '3'");
    cr_table_free(cx, u);
    cri_design_free(cx, d);
    cr_table_free(cx, t);
}

/* The target as the index of its level, also where its texts were read as numbers. */
TEST(category_target)
{
    const char *const texts[] = { "2", "1", "2", "7" };
    const double      x[] = { 1, 2, 3, 4 }, numbers[] = { 7, 2, 1, 1 }, wrong[] = { 7, 2, 1, 3 };
    cr_table         *t = NULL, *u = NULL;
    cri_rows          r;
    assert_ok(cx, cr_table_new(cx, "t", 4, &t));
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    assert_ok(cx, cr_table_add_texts(cx, t, "y", texts));
    cr_design *d = design_of(cx, t, "target=y", false);
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NEEDED, &r));
    for (size_t i = 0; i < 4; i++) assert_true(r.y[i] == ((double[]){ 1, 0, 1, 2 })[i]);
    cri_rows_close(cx, &r);
    assert_ok(cx, cr_table_new(cx, "u", 4, &u));
    assert_ok(cx, cr_table_add_numbers(cx, u, "x", CR_REAL, x, 1));
    assert_ok(cx, cr_table_add_numbers(cx, u, "y", CR_INTEGER, numbers, 1));
    assert_ok(cx, cri_rows_open(cx, d, u, CRI_TARGET_NEEDED, &r));
    for (size_t i = 0; i < 4; i++) assert_true(r.y[i] == ((double[]){ 2, 1, 0, 0 })[i]);
    cri_rows_close(cx, &r);
    cr_table_free(cx, u);
    assert_ok(cx, cr_table_new(cx, "u", 4, &u));
    assert_ok(cx, cr_table_add_numbers(cx, u, "x", CR_REAL, x, 1));
    assert_ok(cx, cr_table_add_numbers(cx, u, "y", CR_INTEGER, wrong, 1));
    check_open_fails(cx, d, u, CRI_TARGET_NEEDED, "u, row 4: column 'y' has the level '3'");
    cr_table_free(cx, u);
    cri_design_free(cx, d);
    cr_table_free(cx, t);
}

/* --- missing and infinite values ------------------------------------------------------------- */

static const char gaps[] = "x,c,y,w\n1,a,1,1\n,b,2,1\n4,,3,1\n7,b,,1\n8,b,5,\n";

TEST(missing_is_an_error)
{
    cr_table  *t = table_of_text(cx, "gaps.csv", gaps);
    cr_design *d = design_of(cx, t, "target=y", false);
    check_open_fails(cx, d, t, CRI_TARGET_NONE,
                     "gaps.csv:3: the column 'x' has no value (it is missing in 1 of 5 rows)");
    assert_non_null(strstr(cr_error_hint(cx), "--missing drop"));
    assert_non_null(strstr(cr_error_hint(cx), "--missing impute"));
    cri_design_free(cx, d);
    d = design_of(cx, t, "target=y features=c", false);
    check_open_fails(cx, d, t, CRI_TARGET_NONE, "gaps.csv:4: the column 'c' has no value");
    cri_design_free(cx, d);
    d = design_of(cx, t, "target=y missing=impute weights=w", false);
    check_open_fails(cx, d, t, CRI_TARGET_NEEDED, "gaps.csv:6: the weight 'w' has no value");
    assert_null(strstr(cr_error_hint(cx), "impute"));
    cri_design_free(cx, d);
    d = design_of(cx, t, "weights=w target=x features=c missing=drop", false);
    cri_design_free(cx, d);
    cr_table_free(cx, t);

    const double x[2] = { 1, 2 }, w[2] = { 1, NAN };
    assert_ok(cx, cr_table_new(cx, "memory", 2, &t));
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "y", CR_REAL, x, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "w", CR_REAL, w, 1));
    d = design_of(cx, t, "target=y weights=w", false);
    check_open_fails(cx, d, t, CRI_TARGET_NEEDED, "memory, row 2: the weight 'w' has no value");
    cri_design_free(cx, d);
    cr_table_free(cx, t);
}

TEST(missing_is_dropped)
{
    cr_table  *t = table_of_text(cx, "gaps.csv", gaps);
    cr_design *d = design_of(cx, t, "target=y weights=w missing=drop", false);
    cri_rows   r;
    double     X[10];
    assert_string_equal(terms_of(d), "x,c=b");
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NEEDED, &r)); /* only the first is whole */
    assert_int_equal(r.n, 1);
    assert_int_equal(r.index[0], 0);
    assert_int_equal(r.imputed, 0);
    assert_true(r.y[0] == 1 && r.w[0] == 1);
    cri_rows_close(cx, &r);
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NONE,
                                &r)); /* gaps of target and weight do no harm */
    assert_int_equal(r.n, 3);
    assert_ok(cx, cri_rows_matrix(cx, &r, X));
    for (size_t i = 0; i < 6; i++) assert_true(X[i] == ((double[]){ 1, 0, 7, 1, 8, 1 })[i]);
    assert_true(r.index[1] == 3 && r.index[2] == 4);
    cri_rows_close(cx, &r);
    cri_design_free(cx, d);
}

/* Numbers get the mean of the training data, categories their most frequent level; the first of
 * equals.  Also where only the new data have gaps. */
TEST(missing_is_imputed)
{
    cr_table  *t = table_of_text(cx, "gaps.csv", "x,c,y\n1,a,1\n,b,2\n4,,3\n7,b,4\n");
    cr_table  *whole = table_of_text(cx, "whole.csv", "x,c,y\n1,a,1\n5,b,2\n6,b,3\n");
    cr_table  *other = table_of_text(cx, "other.csv", "x,c\n,a\n2,\n");
    cr_design *d = design_of(cx, t, "target=y missing=impute basis=poly:2 reference=none", false);
    cri_rows   r;
    check_matrix(cx, d, t, ((double[]){ 1, 1, 1, 0, 4, 16, 0, 1, 4, 16, 0, 1, 7, 49, 0, 1 }), 0);
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NEEDED, &r));
    assert_int_equal(r.imputed, 2);
    cri_rows_close(cx, &r);
    check_matrix(cx, d, other, ((double[]){ 4, 16, 1, 0, 2, 4, 0, 1 }), 0);
    cri_design_free(cx, d);
    d = design_of(cx, whole, "target=y missing=impute", false);
    check_matrix(cx, d, other, ((double[]){ 4, 0, 2, 1 }), 0);
    cri_design_free(cx, d);
}

/* Rows without a target are dropped then, and only those: what their gaps are filled with does not count. */
TEST(a_target_is_not_imputed)
{
    cr_table  *t = table_of_text(cx, "gaps.csv", "x,y\n1,1\n,\n,3\n7,\n8,5\n");
    cr_design *d = design_of(cx, t, "target=y missing=impute", false);
    cri_rows   r;
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NEEDED, &r));
    assert_int_equal(r.n, 3);
    assert_true(r.index[0] == 0 && r.index[1] == 2 && r.index[2] == 4);
    assert_int_equal(r.imputed, 1);
    cri_rows_close(cx, &r);
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NONE, &r));
    assert_int_equal(r.n, 5);
    assert_int_equal(r.imputed, 2);
    cri_rows_close(cx, &r);
    cri_design_free(cx, d);
}

TEST(infinite_is_refused)
{
    cr_table         *t = table_of_text(cx, "t.csv", "x,y,w\n1,2,3\n2,3,4\n");
    cr_design        *d = design_of(cx, t, "target=y weights=w missing=impute", false);
    const char *const files[][2] = {
        { "x,y,w\n1,2,3\ninf,3,4\n", "new.csv:3: column 'x' is infinite" },
        { "x,y,w\n,2,3\n-inf,3,4\n", "new.csv:3: column 'x' is infinite" },
        { "x,y,w\n1,-inf,3\n2,3,4\n", "new.csv:2: column 'y' is infinite" },
        { "x,y,w\n1,2,3\n2,3,inf\n", "new.csv:3: column 'w' is infinite" },
        { "x,y,w\n1,2,3\n2,3,-1\n", "new.csv:3: the weight 'w' is negative" },
        { "x,y,w\n1,2,0\n2,3,0\n", "the weights 'w' are all zero" },
        { "x,y,w\n1,2,a\n2,3,b\n", "the weights 'w' are not numbers" },
    };
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        cr_table *u = table_of_text(cx, "new.csv", files[k][0]);
        check_open_fails(cx, d, u, CRI_TARGET_NEEDED, files[k][1]);
    }
    cri_design_free(cx, d);
    d = design_of(cx, t, "target=y features=x basis=poly:3", false);
    cr_table *u = table_of_text(cx, "new.csv", "x,y\n1e103,1\n-1e110,1\n"); /* its cube overflows */
    check_open_fails(cx, d, u, CRI_TARGET_NONE, "new.csv:3: column 'x' to the power 3 overflows");
    cr_table_free(cx, u);
    u = table_of_text(cx, "new.csv", "x,y\n1e102,1\n-1e102,1\n");
    check_matrix(cx, d, u,
                 ((double[]){ 1e102, 1e204, pow(1e102, 3), -1e102, 1e204, -pow(1e102, 3) }), 1e-15);
    cri_design_free(cx, d);
}

/* --- other tables ---------------------------------------------------------------------------- */

TEST(columns_by_name)
{
    cr_table    *t = table_of_text(cx, "t.csv", "a,b,y\n1,2,3\n3,5,4\n");
    cr_table    *u = table_of_text(cx, "u.csv", "junk,b,y,more,a\nx,2,,z,1\nx,5,4,z,3\n");
    cr_design   *d = design_of(cx, t, "target=y basis=poly:2", false);
    const double X[] = { 1, 1, 2, 4, 3, 9, 5, 25 };
    assert_string_equal(terms_of(d), "a,a^2,b,b^2");
    check_matrix(cx, d, t, X, 0);
    check_matrix(cx, d, u, X, 0);
    cr_table_free(cx, u);
    u = table_of_text(cx, "u.csv", "a,bb,y\n1,2,3\n");
    check_open_fails(cx, d, u, CRI_TARGET_NONE, "column 'b' not found in ");
    cr_table_free(cx, u);
    u = table_of_text(cx, "u.csv", "a,b\n1,2\n");
    check_open_fails(cx, d, u, CRI_TARGET_NEEDED, "column 'y' not found in ");
    cr_table_free(cx, u);
    u = table_of_text(cx, "u.csv", "a,b,y\n,2,3\nthree,2,3\n");
    check_open_fails(cx, d, u, CRI_TARGET_NONE,
                     "u.csv:3: column 'a' contains text ('three'), but the model needs numbers");
    cri_design_free(cx, d);
}

/* Weights that are not in the new table: every row counts once. */
TEST(absent_weights)
{
    cr_table  *t = table_of_text(cx, "t.csv", "a,y,w\n1,2,3\n3,5,4\n");
    cr_table  *u = table_of_text(cx, "u.csv", "a,y\n1,2\n3,5\n");
    cr_design *d = design_of(cx, t, "target=y weights=w", false);
    cri_rows   r;
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NEEDED, &r));
    assert_true(r.w[0] == 3 && r.w[1] == 4);
    cri_rows_close(cx, &r);
    warnings said = { .n = 0 };
    cr_ctx_set_log(cx, keep_warning, &said);
    assert_ok(cx, cri_rows_open(cx, d, u, CRI_TARGET_NEEDED, &r));
    assert_null(r.w);
    cri_rows_close(cx, &r);
    assert_int_equal(said.n, 1);
    assert_non_null(strstr(said.text, "u.csv has no weights 'w'"));
    assert_ok(cx, cri_rows_open(cx, d, u, CRI_TARGET_NONE, &r)); /* predicting needs none */
    cri_rows_close(cx, &r);
    assert_int_equal(said.n, 1);
    cri_design_free(cx, d);
}

/* Models without a target have weights too. */
TEST(weights_without_target)
{
    cr_table  *t = table_of_text(cx, "t.csv", "a,w\n1,3\n5,1\n");
    cr_table  *bad = table_of_text(cx, "bad.csv", "a,w\n1,3\n5,-1\n");
    cr_design *d = design_of(cx, t, "weights=w", true);
    cri_rows   r;
    assert_close(d->shift[0], 2, 1e-15);
    assert_close(d->scale[0], sqrt(3), 1e-15);
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NEEDED, &r));
    assert_null(r.y);
    assert_true(r.w && r.w[0] == 3 && r.w[1] == 1);
    cri_rows_close(cx, &r);
    check_open_fails(cx, d, bad, CRI_TARGET_NEEDED, "bad.csv:3: the weight 'w' is negative");
    cri_design_free(cx, d);
}

/* --- no memory ------------------------------------------------------------------------------- */

static cr_status design_and_open(cr_ctx *cx, void *arg)
{
    const char *const texts[] = { "a", "b", NULL, "a" };
    const double      x[] = { 1, 2, 3, NAN }, y[] = { 1, 2, 3, 4 };
    char              target[] = "y", weights[] = "w", basis[] = "poly:2";
    cr_design_options o = {
        .target = target, .weights = weights, .basis = basis, .missing = *(const int *)arg
    };
    cr_status  st = CR_OK;
    cr_table  *t = NULL;
    cr_design *d = NULL;
    cri_rows   r = { 0 };
    double     X[12];
    CR_TRY(cr_table_new(cx, "t", 4, &t));
    CR_TRY(cr_table_add_texts(cx, t, "c", texts));
    CR_TRY(cr_table_borrow_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_borrow_numbers(cx, t, "y", CR_REAL, y, 1));
    CR_TRY(cr_table_borrow_numbers(cx, t, "w", CR_REAL, y, 1));
    CR_TRY(cri_design_fit(
        cx, t, &o, &(cri_design_needs){ .standardise = true, .standardise_target = true }, &d));
    CR_TRY(cri_rows_open(cx, d, t, CRI_TARGET_NEEDED, &r));
    CR_TRY(cri_rows_matrix(cx, &r, X));
done:
    cri_rows_close(cx, &r);
    cri_design_free(cx, d);
    cr_table_free(cx, t);
    return st;
}

TEST(allocations)
{
    int drop = CR_MISSING_DROP, impute = CR_MISSING_IMPUTE;
    test_every_allocation_fails(design_and_open, &drop);
    test_every_allocation_fails(design_and_open, &impute);
}
