/* test_rows_check.c -- every model that learns classes refuses one of them; every model that learns
 * numbers and cannot tell their noise from one row says so. */
#include "fixture.h"

static bool learns(const cr_model_class *c, unsigned task)
{
    return (cr_class_tasks(c) & task) != 0;
}

TEST(one_class_is_refused)
{
    cr_table *t = table_of_text(cx, "t.csv", "a,b,y\n1,4,n\n2,3,n\n3,5,n\n");
    cr_table *light = table_of_text(cx, "l.csv", "a,b,y,w\n1,4,n,1\n2,3,n,1\n3,5,y,0\n");
    cr_model *m = NULL;
    size_t    seen = 0;
    for (size_t k = 0; k < cr_class_count(); k++) {
        const cr_model_class *c = cr_class_at(k);
        if (!learns(c, CR_TASK_CLASSIFICATION)) continue;
        assert_fails_with(cx, try_fit(cx, cr_class_name(c), t, "target=y", &m), CR_EDATA,
                          "only one class, 'n'");
        assert_fails_with(cx, try_fit(cx, cr_class_name(c), light, "target=y weights=w", &m),
                          CR_EDATA, "only one class, 'n'");
        seen++;
    }
    assert_true(seen >= 10);
}

/* Numbers whose squares overflow are told by their column; in a row of no weight they do not
 * matter. */
TEST(huge_numbers)
{
    static const char *const names[] = { "nadaraya-watson", "adaboost", "tree", "linear" };
    cr_table *y = table_of_text(cx, "y.csv", "x,y,w\n1,2,1\n2,9e153,1\n3,1,1\n4,2,1\n");
    cr_table *light = table_of_text(cx, "l.csv", "x,y,w\n1,2,1\n9e153,9e153,0\n3,1,1\n4,2,1\n");
    cr_table *small = table_of_text(cx, "s.csv", "x,y,w\n1,2,1\n2,3e152,1\n3,1,1\n4,2,1\n");
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        cr_model *m = NULL;
        assert_fails_with(cx, try_fit(cx, names[k], y, "target=y features=x", &m), CR_ENUMERIC,
                          "the target 'y' is so large that its squares overflow");
        assert_ok(cx, try_fit(cx, names[k], light, "target=y features=x weights=w", &m));
        cr_model_free(cx, m);
        cr_status st = try_fit(cx, names[k], small, "target=y features=x", &m);
        assert_true(st == CR_OK || !strstr(cr_error(cx), "overflow"));
        if (st == CR_OK) cr_model_free(cx, m);
    }
}

/* Whatever the numbers of the target and the columns: a fit fails in a sentence, or its model can be
 * saved and read again. */
TEST(a_fitted_model_can_be_read)
{
    static const char *const rows[] = {
        "x,y\n1,1e308\n2,1e308\n3,-1e308\n4,1.5e308\n5,3\n",
        "x,y\n1,1e200\n2,2.1e200\n3,2.9e200\n4,4e200\n5,5.2e200\n",
        "x,y\n1e200,1\n2.1e200,2\n2.9e200,4\n4e200,3\n5e200,6\n",
        "x,y\n1e308,1\n-1e308,2\n1e308,4\n-1.5e308,3\n5,6\n",
        "x,y\n1e-300,1e-300\n2e-300,3e-300\n3e-300,2e-300\n5e-300,4e-300\n4e-300,5e-300\n",
        "x,y\n1,1e150\n2,3e150\n3,2e150\n4,5e150\n5,4e150\n",
    };
    size_t fitted = 0, refused = 0;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        cr_table *t = table_of_text(cx, "t.csv", rows[r]);
        for (size_t k = 0; k < cr_class_count(); k++) {
            cr_model *m = NULL, *again = NULL;
            char     *bytes = NULL;
            size_t    size = 0;
            bool      number = learns(cr_class_at(k), CR_TASK_REGRESSION);
            cr_status st = try_fit(cx, cr_class_name(cr_class_at(k)), t,
                                   number ? "target=y" : "features=x,y", &m);
            if (st != CR_OK) {
                refused++;
                continue;
            }
            assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
            assert_ok(cx, cr_model_from_bytes(cx, "again", bytes, size, &again));
            cr_free(cx, bytes, size, 1);
            cr_model_free(cx, again);
            cr_model_free(cx, m);
            fitted++;
        }
    }
    assert_true(fitted > 20 && refused > 20);
}

TEST(one_row_has_no_intervals)
{
    cr_table *t = table_of_text(cx, "one.csv", "x,y\n1,2\n");
    size_t    empty = 0;
    for (size_t k = 0; k < cr_class_count(); k++) {
        const char *name = cr_class_name(cr_class_at(k));
        warnings    heard = { { 0 }, 0 };
        cr_model   *m = NULL;
        if (!learns(cr_class_at(k), CR_TASK_REGRESSION)) continue;
        cr_ctx_set_log(cx, keep_warning, &heard);
        cr_status st = try_fit(cx, name, t, "target=y", &m);
        cr_ctx_set_log(cx, NULL, NULL);
        if (st != CR_OK) continue; /* refused, in a sentence */
        cr_prediction q = predict(cx, m, t);
        assert_close(q.mean[0], 2, 1e-9);
        if (!q.family && isnan(q.scale[0])) {
            if (heard.n == 0) print_error("%s is silent\n", name);
            assert_true(heard.n > 0);
            empty++;
        } else if (!q.family) {
            assert_true(q.scale[0] > 0);
        }
        cr_model_free(cx, m);
    }
    assert_true(empty >= 9);
}
