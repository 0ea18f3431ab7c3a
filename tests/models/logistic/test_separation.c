/* test_separation.c -- classes that a column tells apart, and the other corners of logistic
 * regression. */
#include "../fixture.h"
#include "base/rng.h"

static double value_at(const cr_prediction *p, size_t i, size_t k)
{
    return p->prob[i * p->n_classes + k];
}

/* --- corners --------------------------------------------------------------------------------- */

static void check_separation(cr_ctx *cx, const char *csv, const char *settings, const char *kind,
                             const char *words)
{
    warnings  w = { .n = 0 };
    cr_table *t = table_of_text(cx, "separated.csv", csv);
    cr_ctx_set_log(cx, keep_warning, &w);
    cr_model *m = fit(cx, "logistic", t, settings);
    json_t   *d = describe(cx, m);
    cr_ctx_set_log(cx, NULL, NULL);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(d, "statistics"), "separation")), kind);
    const json_t *by = json_object_get(json_object_get(d, "statistics"), "separated_by");
    assert_true((by != NULL) == (words != NULL));
    if (words && !strstr(w.text, words)) fail_msg("'%s' is not in: %s", words, w.text);
    if (!words && (w.n > 1 || !strstr(w.text, "too sure"))) fail_msg("not of few rows: %s", w.text);
    assert_true((cr_model_get_report(m)->stop == CR_STOP_LIMIT) == (words != NULL));
    if (strcmp(kind, "perfect") == 0) {
        cr_prediction q = predict(cx, m, t);
        double        target[64];
        assert_ok(cx, cr_observed(cx, m, t, target, NULL));
        for (size_t i = 0; i < q.n; i++) assert_true(value_at(&q, i, (size_t)target[i]) > 0.99);
    }
}

TEST(separation)
{
    check_separation(cx, "a,b,y\n1,5,n\n2,3,n\n3,8,n\n4,1,n\n6,2,y\n7,9,y\n8,4,y\n9,6,y\n",
                     "target=y", "perfect", "separated perfectly by 'a':");
    /* no column alone, both together: y when a + b > 5 */
    check_separation(cx, "a,b,y\n1,3,n\n3,1,n\n2,2,n\n0,4.5,n\n1,5,y\n5,1,y\n3,3,y\n0.5,6,y\n",
                     "target=y", "perfect", "by 'a', 'b':");
    const char *quasi =
        "a,d,y\n1,0,n\n2,0,y\n3,0,n\n4,0,y\n5,1,y\n6,1,y\n2.5,1,y\n1.5,0,n\n3.5,0,y\n0.5,0,n\n";
    const char *const solvers[] = { "target=y", "target=y solver=newton-cg",
                                    "target=y solver=lbfgs" };
    for (size_t s = 0; s < 3; s++)
        check_separation(cx, quasi, solvers[s], "quasi-complete",
                         "separated quasi-completely by 'd':");
    check_separation(cx, "a,y\n1,n\n2,y\n3,n\n4,y\n5,y\n2.5,n\n", "target=y", "none", NULL);
    check_separation(cx, "a,y\n1,p\n2,p\n3,q\n4,q\n3.5,r\n2.9,q\n4.5,r\n3.2,r\n", "target=y",
                     "quasi-complete", "separated quasi-completely by 'a':");
}

/* Among many classes that nothing tells apart one stands aside: its coefficients have no estimate,
 * by whatever method, and those of the others stay. */
TEST(one_of_many)
{
    enum { ROWS = 160, CLASSES = 8 };
    static char       csv[ROWS * 48];
    const char *const solvers[] = { "target=y", "target=y solver=newton-cg",
                                    "target=y solver=newton-cg max_iter=4" };
    cr_rng            r = cr_rng_stream(7, 0);
    size_t            used = (size_t)snprintf(csv, sizeof csv, "a,b,y\n4,4.5,far\n");
    for (size_t i = 0; i < ROWS; i++)
        used += (size_t)snprintf(csv + used, sizeof csv - used, "%.6f,%.6f,c%d\n",
                                 cr_rng_normal(&r), cr_rng_normal(&r), (int)(i % CLASSES));
    cr_table *t = table_of_text(cx, "many.csv", csv);
    for (size_t s = 0; s < 3; s++) {
        warnings w = { .n = 0 };
        cr_ctx_set_log(cx, keep_warning, &w);
        cr_model *m = fit(cx, "logistic", t, solvers[s]);
        json_t   *d = describe(cx, m), *statistics = json_object_get(d, "statistics");
        cr_ctx_set_log(cx, NULL, NULL);
        assert_string_equal(json_string_value(json_object_get(statistics, "separation")),
                            "quasi-complete");
        assert_true(cr_model_get_report(m)->stop == CR_STOP_LIMIT);
        assert_true(w.n > 0);
        if (s == 2) {
            if (!strstr(
                    w.text,
                    "no maximum for 1 class, which the columns separate from the others: 'far';"))
                fail_msg("%s", w.text);
            assert_true(isnan(parameter(d, "far:a", "sd")));
            assert_true(isnan(parameter(d, "far:intercept", "sd")));
            assert_true(parameter(d, "c1:a", "sd") < 1);
        }
    }
}

/* The estimate of what is not separated stays right beside what is. */
TEST(beside_separation)
{
    cr_table *t = table_of_text(
        cx, "quasi.csv",
        "a,d,y\n1,0,n\n2,0,y\n3,0,n\n4,0,y\n5,1,y\n6,1,y\n2.5,1,y\n1.5,0,n\n3.5,0,y\n0.5,0,n\n");
    cr_table *rest = table_of_text(
        cx, "rest.csv", "a,y\n1,n\n2,y\n3,n\n4,y\n1.5,n\n3.5,y\n0.5,n\n"); /* where d = 0 */
    cr_model *m = fit(cx, "logistic", t, "target=y"), *r = fit(cx, "logistic", rest, "target=y");
    json_t   *dm = describe(cx, m), *dr = describe(cx, r);
    assert_close(parameter(dm, "a", "value"), parameter(dr, "a", "value"), 1e-6);
    assert_close(parameter(dm, "a", "sd"), parameter(dr, "a", "sd"), 1e-6);
    assert_true(isnan(parameter(dm, "d", "sd")));
    assert_true(parameter(dm, "d", "value") > 10);
}

TEST(corners)
{
    cr_model *m = NULL;
    warnings  w = { .n = 0 };
    cr_table *one = table_of_text(cx, "one.csv", "a,y\n1,n\n2,n\n"),
             *row = table_of_text(cx, "row.csv", "a,y\n1,n\n");
    assert_fails_with(cx, try_fit(cx, "logistic", one, "target=y", &m), CR_EDATA,
                      "only one class, 'n'");
    assert_fails_with(cx, try_fit(cx, "logistic", row, "target=y", &m), CR_EDATA,
                      "only one class, 'n'");
    cr_table_free(cx, one);
    cr_table_free(cx, row);

    cr_table *zero = table_of_text(cx, "zero.csv", "a,w,y\n1,0,n\n2,0,y\n3,0,n\n");
    assert_fails(cx, try_fit(cx, "logistic", zero, "target=y weights=w features=a", &m), CR_EDATA);
    cr_table_free(cx, zero);

    /* a class that has no weight has no probability */
    cr_table *t = table_of_text(cx, "t.csv", "a,w,y\n1,1,n\n2,1,y\n3,1,n\n4,1,y\n9,0,z\n2.5,1,n\n");
    m = fit(cx, "logistic", t, "target=y weights=w features=a");
    cr_prediction q = predict(cx, m, t);
    assert_int_equal(q.n_classes, 3);
    for (size_t i = 0; i < q.n; i++) assert_close(value_at(&q, i, 2), 0, 0);
    cr_model_free(cx, m);
    cr_table_free(cx, t);

    /* constant and dependent columns */
    t = table_of_text(cx, "t.csv", "a,k,b,y\n1,7,2,n\n2,7,4,y\n3,7,6,n\n4,7,8,y\n2,7,4,n\n");
    cr_ctx_set_log(cx, keep_warning, &w);
    m = fit(cx, "logistic", t, "target=y");
    cr_ctx_set_log(cx, NULL, NULL);
    assert_non_null(strstr(w.text, "was set to 0: 'k', 'b'"));
    cr_model_free(cx, m);
    m = fit(cx, "logistic", t, "target=y lambda=0.2");
    json_t *d = describe(cx, m);
    assert_close(parameter(d, "k", "value"), 0, 1e-12);
    assert_close(parameter(d, "a", "value"), 2 * parameter(d, "b", "value"), 1e-9);
    cr_model_free(cx, m);
    cr_table_free(cx, t);

    /* no columns but the target: the shares of the classes */
    t = table_of_text(cx, "t.csv", "a,y\n1,n\n1,y\n1,n\n1,n\n");
    m = fit(cx, "logistic", t, "target=y");
    q = predict(cx, m, t);
    assert_close(value_at(&q, 0, 1), 0.25, 1e-9);
}
