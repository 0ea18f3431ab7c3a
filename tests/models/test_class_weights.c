/* test_class_weights.c -- rows that count by their class: balanced as scikit-learn has it, by name,
 * and the same as weights given by hand. */
#include "toys.h"

static const char data[] = "x,w,y\n0,1,spam\n1,2,spam\n2,1,ham\n3,3,ham\n4,1,ham\n5,1,a=b\n";

/* The probabilities of a fit with these settings are those of rows with weights [6] by hand. */
static void check_weights(const char *settings, const double *weights)
{
    cr_ctx     *cx = test_context();
    cr_table   *t = table_of_text(cx, "t.csv", data), *by_hand = NULL;
    const char *y[6];
    double      x[6];
    for (size_t i = 0; i < 6; i++) {
        x[i] = cr_table_find(t, "x")->values[i];
        y[i] = cr_table_find(t, "y")->levels[cr_table_find(t, "y")->codes[i]];
    }
    assert_ok(cx, cr_table_new(cx, "t", 6, &by_hand));
    assert_ok(cx, cr_table_add_numbers(cx, by_hand, "x", CR_REAL, x, 1));
    assert_ok(cx, cr_table_add_texts(cx, by_hand, "y", y));
    assert_ok(cx, cr_table_add_numbers(cx, by_hand, "w", CR_REAL, weights, 1));
    cr_model     *m = fit(cx, "toy-smooth", t, settings);
    cr_model     *n = fit(cx, "toy-smooth", by_hand, "target=y features=x width=2 weights=w");
    cr_prediction p = predict(cx, m, t), q = predict(cx, n, by_hand);
    assert_int_equal(p.n_classes, 3);
    for (size_t i = 0; i < 18; i++) assert_close(p.prob[i], q.prob[i], 1e-14);
    cr_table_free(cx, by_hand);
    test_context_free(cx);
}

TEST(by_name)
{
    check_weights("target=y features=x width=2", (double[]){ 1, 1, 1, 1, 1, 1 });
    check_weights("target=y features=x width=2 class_weights=spam=5,ham=0.5",
                  (double[]){ 5, 5, 0.5, 0.5, 0.5, 1 });
    check_weights("target=y features=x width=2 class_weights=a=b=3",
                  (double[]){ 1, 1, 1, 1, 1, 3 });
    check_weights("target=y features=x width=2 class_weights=ham=0",
                  (double[]){ 1, 1, 0, 0, 0, 1 });
    check_weights("target=y features=x width=2 weights=w class_weights=spam=2",
                  (double[]){ 2, 4, 1, 3, 1, 1 });
}

/* n_samples / (n_classes * bincount(y)); with weights, of their sums. */
TEST(balanced)
{
    double s = 6.0 / (3 * 2), h = 6.0 / (3 * 3), a = 6.0 / (3 * 1);
    check_weights("target=y features=x width=2 class_weights=balanced",
                  (double[]){ s, s, h, h, h, a });
    s = 9.0 / (3 * 3), h = 9.0 / (3 * 5), a = 9.0 / (3 * 1);
    check_weights("target=y features=x width=2 class_weights=balanced weights=w",
                  (double[]){ s, 2 * s, h, 3 * h, h, a });
}

static void check_refused(const char *name, const char *settings, const char *said,
                          const char *near)
{
    cr_ctx   *cx = test_context();
    cr_table *t = table_of_text(cx, "t.csv", data);
    cr_model *m = NULL;
    assert_fails_with(cx, try_fit(cx, name, t, settings, &m), CR_EARG, said);
    assert_string_equal(cr_error_nearest(cx), near);
    assert_null(m);
    test_context_free(cx);
}

TEST(refusals)
{
    check_refused("toy-smooth", "target=y class_weights=spma=2", "has no class 'spma'", "spam");
    check_refused("toy-smooth", "target=y class_weights=spam", "is not CLASS=WEIGHT", "");
    check_refused("toy-smooth", "target=y class_weights=spam=", "is not CLASS=WEIGHT", "");
    check_refused("toy-smooth", "target=y class_weights=spam=-1", "weight of 0 or more", "");
    check_refused("toy-smooth", "target=y class_weights=spam=inf", "weight of 0 or more", "");
    check_refused("toy-smooth", "target=y class_weights=spam=2x", "is not CLASS=WEIGHT", "");
    check_refused("toy-smooth", "target=y class_weights=balanced,spam=2", "'balanced' is not CLASS",
                  "");
    check_refused("toy-smooth", "target=y class_weights=spam=0,ham=0,a=b=0",
                  "gives every row a weight of 0", "");
    check_refused("ridge", "target=x features=w class_weights=balanced",
                  "needs a model that predicts", "");
    check_refused("toy-normal", "features=x class_weights=balanced", "needs a model that predicts",
                  "");
}

/* A class without rows, as a fold may have it, does not count among the classes. */
TEST(balanced_without_a_class)
{
    cr_table *t = table_of_text(cx, "t.csv", "x,y\n0,a\n1,a\n1,b\n,c\n2,b\n3,b\n");
    cr_model *m =
        fit(cx, "toy-smooth", t, "target=y missing=drop class_weights=balanced width=1e9");
    cr_prediction p = predict(cx, m, t); /* with this width all rows count the same */
    double        prior = 1e-3, each = 5.0 / 2;
    assert_close(p.prob[0], (prior + each) / (3 * prior + 5), 1e-12);
    assert_close(p.prob[1], (prior + each) / (3 * prior + 5), 1e-12);
    assert_close(p.prob[2], prior / (3 * prior + 5), 1e-12);
}

static cr_status fit_weighted(cr_ctx *cx, void *table)
{
    cr_model  *m = NULL;
    cr_setting s[] = { { "target", "y" }, { "class_weights", "spam=2,ham=1" } };
    cr_status  st = cr_fit(cx, "toy-smooth", table, s, 2, &m);
    cr_model_free(cx, m);
    return st;
}

TEST(allocations)
{
    cr_table *t = table_of_text(cx, "t.csv", data);
    test_every_allocation_fails(fit_weighted, t);
}
