/* test_copies.c -- a row of weight 2 is that row twice; but where something is learned from rows held out, no row is
 * foretold by its twin, unless the table is one of counts, in which each copy is an observation of its own. */
#include "fixture.h"

enum { N = 40, NEW = 60 };
static const char *const models[] = { "spline", "nadaraya-watson", "knn",
                                      "tree",   "adaboost",        "kernel-ridge" };
static const char *const said = "an observation is held out with all its copies";

typedef struct rows_of {
    double x[2 * N], y[2 * N], w[2 * N];
} rows_of;

/* A curve with noise, at N places or at N / 4 of them. */
static void draw(rows_of *r, uint64_t seed, bool counts)
{
    cr_rng rng = cr_rng_stream(seed, 12);
    for (size_t i = 0; i < N; i++) {
        r->x[i] = counts ? (double)(i % (N / 4)) : 10 * cr_rng_uniform(&rng);
        r->y[i] = sin(r->x[i]) + 0.5 * cr_rng_normal(&rng);
        r->w[i] = 2;
        r->x[N + i] = r->x[i], r->y[N + i] = r->y[i], r->w[N + i] = 2;
    }
}

static void answer(cr_ctx *cx, const char *model, cr_table *t, const char *settings, double *mean,
                   double *scale, bool *out_said)
{
    double   at[NEW];
    warnings heard = { 0 };
    for (size_t i = 0; i < NEW; i++) at[i] = 0.2 + 9.6 * (double)i / NEW;
    cr_ctx_set_log(cx, keep_warning, &heard);
    cr_model *m = fit(cx, model, t, settings);
    cr_ctx_set_log(cx, NULL, NULL);
    cr_prediction p = predict(cx, m, make_table(cx, at, NEW, 1, NULL, NULL));
    memcpy(mean, p.mean, sizeof at);
    memcpy(scale, p.scale, sizeof at);
    *out_said = strstr(heard.text, said) != NULL;
}

static void check_same(const char *model, const char *what, const double *a, const double *b)
{
    for (size_t i = 0; i < NEW; i++)
        if (!(fabs(a[i] - b[i]) <= 1e-6 * (1 + fabs(b[i]))))
            fail_msg("%s %s: %g, and %g without copies", model, what, a[i], b[i]);
}

/* Weights of 2, and rows that are there twice, are as if they were there once. */
TEST(copies_are_held_out_together)
{
    static rows_of r;
    draw(&r, 4, false);
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        double    mean[3][NEW], scale[3][NEW];
        bool      heard[3];
        cr_table *t = make_table(cx, r.x, N, 1, r.y, r.w);
        answer(cx, models[k], t, "target=y features=x1", mean[0], scale[0], &heard[0]);
        answer(cx, models[k], t, "target=y features=x1 weights=w", mean[1], scale[1], &heard[1]);
        answer(cx, models[k], make_table(cx, r.x, 2 * N, 1, r.y, NULL), "target=y", mean[2],
               scale[2], &heard[2]);
        for (size_t v = 1; v < 3; v++) {
            check_same(models[k], "mean", mean[v], mean[0]);
            check_same(models[k], "sd", scale[v], scale[0]);
            assert_true(heard[v]);
        }
        assert_false(heard[0]);
    }
}

/* Weights of 1 to 3: intervals of new rows hold, which they did in three of ten where twins stayed in. */
TEST(intervals_hold_with_weights)
{
    static rows_of r;
    for (size_t k = 0; k < 3; k++) {
        double inside = 0, rows = 0;
        for (uint64_t seed = 0; seed < 12; seed++) {
            cr_rng rng = cr_rng_stream(seed, 13);
            double x[NEW], lower, upper, sd;
            draw(&r, seed, false);
            for (size_t i = 0; i < N; i++) r.w[i] = (double)(1 + cr_rng_below(&rng, 3));
            for (size_t i = 0; i < NEW; i++) x[i] = 10 * cr_rng_uniform(&rng);
            cr_model *m =
                fit(cx, models[k], make_table(cx, r.x, N, 1, r.y, r.w), "target=y weights=w");
            cr_prediction p = predict(cx, m, make_table(cx, x, NEW, 1, NULL, NULL));
            for (size_t i = 0; i < NEW; i++, rows++) {
                double y = sin(x[i]) + 0.5 * cr_rng_normal(&rng);
                cr_prediction_interval(cx, &p, i, 0.95, &sd, &lower, &upper);
                inside += y >= lower && y <= upper;
            }
        }
        if (!(inside / rows > 0.9)) fail_msg("%s: %.3f inside", models[k], inside / rows);
    }
}

/* Where rows of equal features differ, or the target is a class, copies are rows: as the same rows twice, and not as once. */
TEST(copies_of_counts_are_rows)
{
    static rows_of r;
    draw(&r, 5, true);
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        double    mean[3][NEW], scale[3][NEW], apart = 0;
        bool      heard[3];
        cr_table *t = make_table(cx, r.x, N, 1, r.y, r.w);
        answer(cx, models[k], t, "target=y features=x1", mean[0], scale[0], &heard[0]);
        answer(cx, models[k], t, "target=y features=x1 weights=w", mean[1], scale[1], &heard[1]);
        answer(cx, models[k], make_table(cx, r.x, 2 * N, 1, r.y, NULL), "target=y", mean[2],
               scale[2], &heard[2]);
        check_same(models[k], "mean", mean[2], mean[1]);
        check_same(models[k], "sd", scale[2], scale[1]);
        for (size_t i = 0; i < NEW; i++) apart = fmax(apart, fabs(scale[1][i] - scale[0][i]));
        assert_true(apart > 1e-3 && !heard[0] && !heard[1] && !heard[2]);
    }
}

static double cv_error(cr_ctx *cx, cr_table *t, const char *settings)
{
    setting_list  list;
    cr_cv_options o = cv_of(cx, "folds=5");
    cr_cv         cv = { 0 };
    split_settings(settings, &list);
    assert_ok(cx, cr_cross_validate(cx, "knn", t, list.list, list.n, &o, &cv));
    double rmse = metric_of(&cv.mean, "rmse");
    cr_cv_free(cx, &cv);
    cr_options_free(cx, cr_cv_table, &o);
    return rmse;
}

/* Cross-validation divides no observation, and tells no fold of the twins in another. */
TEST(folds_hold_copies_together)
{
    static rows_of r;
    draw(&r, 6, false);
    cr_table *t = make_table(cx, r.x, N, 1, r.y, r.w);
    double    once = cv_error(cx, t, "target=y features=x1 k=3");
    assert_close(cv_error(cx, t, "target=y features=x1 k=3 weights=w"), once, 1e-9);
    double twice = cv_error(cx, make_table(cx, r.x, 2 * N, 1, r.y, NULL), "target=y k=3");
    assert_true(fabs(twice - once) < 0.15 * once); /* other folds */
    draw(&r, 6, true);
    t = make_table(cx, r.x, N, 1, r.y, r.w);
    once = cv_error(cx, t, "target=y features=x1 k=3");
    assert_true(cv_error(cx, t, "target=y features=x1 k=3 weights=w") < 0.95 * once);
}
