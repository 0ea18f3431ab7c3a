/* test_mixture_corners.c -- mixtures of mixed columns: weights, offsets, rows without cells, constant and repeated
 * columns, few rows, spurious ends, what cannot be described. */
#include "mixture_fixture.h"

/* A row of weight 2 is two rows, and one of weight 0 none. */
TEST(weights)
{
    enum { N = 90 };
    static double X[N * ALL], Xs[3 * N * ALL], w[N], ones[3 * N];
    char          settings[160];
    draw_all(6, N, X);
    leave_gaps(N, X);
    for (size_t i = 0; i < N; i++) w[i] = (double)(i % 3);
    size_t rows = repeat_rows(X, w, w, N, ALL, Xs, ones);
    for (size_t i = 0; i < rows; i++) ones[i] = 1;
    snprintf(settings, sizeof settings, "weights=w k=2 restarts=3 tol=1e-10 %s", all_kinds);
    cr_model *a = rising(cx, table_of_all(cx, X, N, w), settings);
    cr_model *b = rising(cx, table_of_all(cx, Xs, rows, ones), settings);
    assert_relative(a->report.log_likelihood, b->report.log_likelihood, 1e-8);
    for (size_t i = 0; i < 2 * ALL; i++)
        assert_close(state_of(a)->mean[i], state_of(b)->mean[i], 1e-4);
    assert_relative(state_of(a)->mean_error[0], state_of(b)->mean_error[0], 1e-3);
}

/* Numbers far from 0 and in other units: the same clusters, the likelihood less the log of the units. */
TEST(offsets)
{
    enum { N = 120 };
    static double X[N * 2], Y[N * 2];
    cr_rng        r = cr_rng_stream(8, 8);
    for (size_t i = 0; i < N; i++) {
        X[2 * i] = 4.0 * (double)(i % 2) + cr_rng_normal(&r);
        X[2 * i + 1] = cr_rng_normal(&r);
        Y[2 * i] = 1e9 + X[2 * i];
        Y[2 * i + 1] = 1e-3 * X[2 * i + 1];
    }
    cr_model *a = rising(cx, make_table(cx, X, N, 2, NULL, NULL), "k=2 restarts=4 tol=1e-9");
    cr_model *b = rising(cx, make_table(cx, Y, N, 2, NULL, NULL), "k=2 restarts=4 tol=1e-9");
    assert_close(a->report.log_likelihood, b->report.log_likelihood + N * log(1e-3), 1e-2);
    assert_close(state_of(a)->share[0], state_of(b)->share[0], 1e-4);
}

/* Constant yes-no columns and a column that is there twice do no harm. */
TEST(constant_and_repeated_columns)
{
    enum { N = 100 };
    static double X[N * 4];
    cr_rng        r = cr_rng_stream(12, 8);
    for (size_t i = 0; i < N; i++) {
        X[4 * i] = X[4 * i + 1] = 5.0 * (double)(i % 2) + cr_rng_normal(&r);
        X[4 * i + 2] = 0;
        X[4 * i + 3] = 1;
    }
    cr_table *t = make_table(cx, X, N, 4, NULL, NULL);
    for (size_t prior = 0; prior < 2; prior++) {
        cr_model *m = rising(cx, t, prior ? "k=2" : "k=2 prior=none");
        assert_close(state_of(m)->share[0], 0.5, 0.02);
        cr_prediction p = predict(cx, m, t);
        for (size_t i = 0; i < N; i++) assert_true(isfinite(p.log_density[i]));
    }
}

/* All rows equal, or more components than rows that differ: an answer, or a sentence. */
TEST(few_different_rows)
{
    static const double same[8 * 2] = { 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0 };
    static const double two[8 * 2] = { 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1 };
    cr_table           *a = make_table(cx, same, 8, 2, NULL, NULL);
    cr_table           *b = make_table(cx, two, 8, 2, NULL, NULL);
    cr_model           *none = NULL, *m = rising(cx, a, "k=1:3 restarts=3");
    assert_int_equal(state_of(m)->k, 1);
    assert_close(m->report.log_likelihood, 0, 0.2);
    m = rising(cx, a, "k=1:3 prior=none restarts=3");
    assert_close(m->report.log_likelihood, 0, 1e-9);
    m = rising(cx, b, "k=1:3 prior=none restarts=3");
    assert_int_equal(state_of(m)->k, 2);
    assert_close(m->report.log_likelihood, -8 * M_LN2, 1e-6);
    assert_fails_with(cx, try_fit(cx, "mixture", a, "k=3", &none), CR_EDATA,
                      "starts ended with a component on fewer than 2.5 rows");
    assert_fails_with(cx, try_fit(cx, "mixture", b, "k=4", &none), CR_EDATA,
                      "4 components need more rows than 8");
    assert_fails_with(cx,
                      try_fit(cx, "mixture", make_table(cx, two, 1, 2, NULL, NULL), "k=2", &none),
                      CR_EDATA, "2 components need more rows than 1");
    m = rising(cx, make_table(cx, two, 1, 2, NULL, NULL), "k=1");
    assert_true(isfinite(m->report.log_likelihood));
}

/* A component on one far row, or on rows that are equal in a real column, is never the answer. */
TEST(spurious_ends_are_rejected)
{
    enum { N = 60 };
    static double X[N * 2];
    cr_rng        r = cr_rng_stream(13, 8);
    for (size_t i = 0; i < N * 2; i++) X[i] = cr_rng_normal(&r);
    X[0] = 60, X[1] = -40; /* far from all */
    for (size_t i = 40; i < 45; i++) X[2 * i] = 0.123;
    cr_table *t = make_table(cx, X, N, 2, NULL, NULL);
    for (size_t prior = 0; prior < 2; prior++) {
        char settings[128];
        snprintf(settings, sizeof settings, "k=1:3 restarts=10%s", prior ? "" : " prior=none");
        cr_model          *m = rising(cx, t, settings);
        const cri_mixture *s = state_of(m);
        for (size_t c = 0; s->k > 1 && c < s->k; c++) {
            assert_true(s->share[c] * N >= 2.5);
            for (size_t j = 0; j < 2; j++) assert_true(s->sd[c * 2 + j] > sqrt(1e-3));
        }
    }
    cr_model *m = NULL;
    assert_fails_with(
        cx, try_fit(cx, "mixture", t, "k=2 prior=none restarts=1 seed=1 least_spread=0.9", &m),
        CR_EDATA, "starts ended with a component on fewer than 2.5 rows");
}

/* What has no place in a column is refused with its place, in a fit and in a prediction. */
TEST(refusals)
{
    cr_model *m = NULL;
    cr_table *t = table_of_text(cx, "counts.csv", "a,b\n1,2\n0,3\n4,2\n2,5\n3,1\n");
    cr_table *broken = table_of_text(cx, "broken.csv", "a,b\n1,2\n0.5,-3\n");
    assert_fails_with(cx, try_fit(cx, "mixture", broken, "k=1 numbers=poisson", &m), CR_EDATA,
                      "poisson counts are");
    assert_fails_with(cx, try_fit(cx, "mixture", broken, "k=1 numbers=lognormal", &m), CR_EDATA,
                      "lognormal numbers are above 0");
    assert_fails_with(cx, try_fit(cx, "mixture", t, "k=1 numbers=possion", &m), CR_EARG,
                      "there is no distribution 'possion'");
    assert_fails_with(cx, try_fit(cx, "mixture", t, "k=0", &m), CR_EARG, "--k is '0'");
    assert_fails_with(cx, try_fit(cx, "mixture", t, "k=2 target=a", &m), CR_EARG,
                      "it has no target");
    m = fit(cx, "mixture", t, "k=1 numbers=poisson");
    cr_prediction p = { 0 };
    assert_fails_with(cx, cr_predict(cx, m, broken, &p), CR_EDATA, "poisson counts are");
    cr_table *constant = table_of_text(cx, "constant.csv", "a,b\n5,2\n5,3\n5,2\n");
    cr_model *none = NULL;
    assert_fails_with(cx, try_fit(cx, "mixture", constant, "k=1", &none), CR_EDATA,
                      "column 'a' is the same in all rows");
    cr_table *colours = table_of_text(cx, "colours.csv", "c\nred\nblue\nred\nblue\nred\n");
    cr_table *others = table_of_text(cx, "others.csv", "c\nred\ngreen\n");
    m = fit(cx, "mixture", colours, "k=1");
    assert_fails_with(cx, cr_predict(cx, m, others, &p), CR_EDATA, "green");
}
