/* test_few_rows.c -- classifiers by densities say where few rows make them surer than they may be: what is said is held
 * against fits to the rows without each one. */
#include "classes.h"

enum { MOST = 60, P = 2 };
static const char *const said = "its probabilities for rows left out are worse than the shares";

/* n rows; y = 1 with probability 0.69 whatever x is, or `apart` sds from the others in x1. */
static cr_table *draw(cr_ctx *cx, uint64_t seed, size_t n, double apart, size_t *out_ones)
{
    static double X[MOST * P], y[MOST];
    cr_rng        r = cr_rng_stream(seed, 31);
    draw_normals(&r, X, n * P);
    *out_ones = 0;
    for (size_t i = 0; i < n; i++) {
        y[i] = cr_rng_uniform(&r) < 0.69;
        X[i * P] += apart * y[i];
        *out_ones += y[i] > 0;
    }
    return make_table(cx, X, n, P, y, NULL);
}

static bool warns(cr_ctx *cx, const char *model, const cr_table *t, const char *settings)
{
    warnings heard = { 0 };
    cr_ctx_set_log(cx, keep_warning, &heard);
    fit(cx, model, t, settings);
    cr_ctx_set_log(cx, NULL, NULL);
    return strstr(heard.text, said) != NULL;
}

/* The same by fits to tables of n - 1 rows: how much more -log p(class) is than by the shares of the classes. */
static double excess_of(cr_ctx *cx, const char *model, const cr_table *t, size_t ones)
{
    size_t n = cr_table_rows(t), rest[MOST];
    double excess = 0, y[MOST];
    assert_ok(cx, cr_observed(cx, fit(cx, model, t, "target=y task=classification"), t, y, NULL));
    for (size_t i = 0; i < n; i++) {
        cr_table *others = NULL, *one = NULL;
        size_t    of = y[i] > 0 ? ones : n - ones, m = 0;
        if (of < 2) continue;
        for (size_t j = 0; j < n; j++)
            if (j != i) rest[m++] = j;
        assert_ok(cx, cri_table_subset(cx, t, rest, m, &others));
        assert_ok(cx, cri_table_subset(cx, t, &i, 1, &one));
        cr_model     *now = fit(cx, model, others, "target=y task=classification");
        cr_prediction p = predict(cx, now, one);
        excess += log((double)(of - 1) / (double)(n - 1)) - log(p.prob[(size_t)y[i]]);
        cr_prediction_free(cx, &p);
        cr_model_free(cx, now);
        cr_table_free(cx, others);
        cr_table_free(cx, one);
    }
    return excess;
}

/* Twelve rows that say nothing of their classes. */
TEST(noise)
{
    static const char *const models[] = { "naive-bayes", "lda", "fisher" };
    for (size_t k = 0; k < 3; k++) {
        size_t tables = 0, warned = 0;
        for (uint64_t seed = 0; seed < 40; seed++) {
            size_t    ones;
            cr_table *t = draw(cx, seed, 12, 0, &ones);
            if (ones < 3 || ones > 9) continue;
            bool heard = warns(cx, models[k], t, "target=y task=classification");
            assert_true(heard == (excess_of(cx, models[k], t, ones) > 0));
            tables++;
            warned += heard;
            assert_false(warns(cx, models[k], t, "target=y task=classification calibrate=platt"));
            assert_false(warns(cx, models[k], t, "target=y task=classification priors=uniform"));
        }
        if (tables < 25 || 10 * warned < 8 * tables)
            fail_msg("%s: %zu of %zu warn", models[k], warned, tables);
    }
}

/* Classes that are known apart, but for a row in a table or two that is far on the wrong side; and rows that are not
 * few. */
TEST(silence)
{
    static const char *const models[] = { "naive-bayes", "lda", "qda", "fisher" };
    for (size_t k = 0; k < 4; k++) {
        size_t warned = 0;
        for (uint64_t seed = 0; seed < 25; seed++) {
            size_t    ones;
            cr_table *t = draw(cx, seed, 30, 4, &ones), *noise = draw(cx, seed, MOST, 0, &ones);
            warned += warns(cx, models[k], t, "target=y task=classification");
            assert_false(warns(cx, models[k], noise, "target=y task=classification"));
        }
        if (warned > 1) fail_msg("%s: %zu of 25 warn", models[k], warned);
    }
}

/* A row of weight 2 is two rows. */
TEST(counted)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        double X[20 * P], y[20], w[10], twice[20 * P], of[20];
        cr_rng r = cr_rng_stream(seed, 32);
        draw_normals(&r, X, 10 * P);
        for (size_t i = 0; i < 10; i++) y[i] = (double)(i % 2), w[i] = 2, X[i * P] += 0.7 * y[i];
        for (size_t i = 0; i < 20; i++) {
            memcpy(twice + i * P, X + i / 2 * P, P * sizeof *X);
            of[i] = y[i / 2];
        }
        cr_table *a = make_table(cx, X, 10, P, y, w), *b = make_table(cx, twice, 20, P, of, NULL);
        assert_true(
            warns(cx, "naive-bayes", a, "target=y task=classification features=x* weights=w") ==
            warns(cx, "naive-bayes", b, "target=y task=classification features=x*"));
    }
}
