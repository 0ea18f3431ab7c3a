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
    static const char *const names[] = { "nadaraya-watson", "adaboost" };
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
