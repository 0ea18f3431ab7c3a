/* test_unreliable.c -- what cannot be relied on is said: perfect fits, groups of zeros, new classes, numbers
 * taken for classes. */
#include "fixture.h"

TEST(perfect_fits_are_told)
{
    static const char *const names[] = { "linear", "glm", "spline" };
    cr_table *t = table_of_text(cx, "t.csv", "x,y\n1,2\n2,4\n3,6\n4,8\n5,10\n6,12\n");
    cr_table *u = table_of_text(cx, "u.csv", "x,y\n1,2\n2,4.1\n3,6\n4,7.9\n5,10\n6,12.2\n");
    warnings  w;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        assert_non_null(
            strstr(fit_and_hear(cx, names[k], t, "target=y", &w), "essentially perfect"));
        assert_null(strstr(fit_and_hear(cx, names[k], u, "target=y", &w), "essentially perfect"));
    }
}

TEST(groups_of_zeros_are_told)
{
    cr_table *t = table_of_text(cx, "t.csv",
                                "g,y\na,3\na,8\na,5\na,4\na,6\na,7\nb,0\nb,0\nb,0\nb,0\nb,0\n"
                                "b,0\nc,1\nc,3\nc,2\nc,1\nc,2\nc,3\n");
    cr_table *none = table_of_text(cx, "n.csv", "x,y\n1,0\n2,0\n3,0\n4,0\n5,0\n");
    cr_table *some = table_of_text(cx, "s.csv", "x,y\n1,0\n2,0\n3,1\n4,0\n5,2\n6,3\n");
    warnings  w;
    fit_and_hear(cx, "glm", t, "target=y family=poisson", &w);
    assert_non_null(strstr(w.text, "the counts of a group are all 0"));
    assert_non_null(strstr(w.text, "g=b"));
    assert_null(strstr(w.text, "g=c"));
    cr_model *m = fit(cx, "glm", t, "target=y family=poisson");
    assert_true(isnan(parameter(describe(cx, m), "g=b", "sd")));
    assert_true(parameter(describe(cx, m), "g=c", "sd") < 1);
    assert_true(cr_model_get_report(m)->stop != CR_STOP_TOLERANCE);
    assert_non_null(strstr(fit_and_hear(cx, "glm", none, "target=y family=poisson", &w), "all 0"));
    assert_null(strstr(fit_and_hear(cx, "glm", some, "target=y family=poisson", &w), "all 0"));
}

TEST(new_classes_of_an_update_are_told)
{
    cr_table *t = table_of_text(cx, "t.csv", "x,y\n1,a\n2,b\n3,a\n4,b\n2.5,a\n3.5,b\n");
    cr_table *u = table_of_text(cx, "u.csv", "x,y\n1,a\n2,newclass\n");
    cr_table *v = table_of_text(cx, "v.csv", "x,y\n1,a\n2,b\n");
    cr_model *m = fit(cx, "lda", t, "target=y"), *next = NULL;
    warnings  w = { { 0 }, 0 };
    cr_ctx_set_log(cx, keep_warning, &w);
    assert_ok(cx, cr_update(cx, m, v, &next));
    assert_null(strstr(w.text, "new to the model"));
    cr_model_free(cx, next);
    assert_ok(cx, cr_update(cx, m, u, &next));
    cr_ctx_set_log(cx, NULL, NULL);
    assert_non_null(strstr(w.text, "new to the model, 'newclass', in 1 row"));
    cr_model_free(cx, next);
}

TEST(numbers_with_decimals_are_no_classes)
{
    static const char *const names[] = { "bayes-logistic", "lda", "fisher", "logistic" };
    cr_table                *t = table_of_text(cx, "t.csv",
                                               "x,y\n1,0.5\n2,1.5\n3,2\n4,3.5\n5,4.5\n6,5.5\n7,6.5\n"
                                                              "8,7.5\n9,8.5\n3,9.5\n4,10.5\n5,11.5\n6,12.5\n");
    cr_table *few = table_of_text(cx, "few.csv", "x,y\n1,0.5\n2,1.5\n3,0.5\n4,1.5\n2,0.5\n3,1.5\n");
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        cr_model *m = NULL;
        assert_fails_with(cx, try_fit(cx, names[k], t, "target=y", &m), CR_EDATA,
                          "different numbers with decimals");
        assert_ok(cx, try_fit(cx, names[k], few, "target=y", &m));
        cr_model_free(cx, m);
    }
}
