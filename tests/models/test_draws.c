/* test_draws.c -- scores and draws of targets and rows: against the distributions they are of. */
#include "toys.h"
#include "math/special/special.h"
#include "models/core/model_internal.h"
#include "prob/dist/dist.h"

/* --- scores ---------------------------------------------------------------------------------- */

TEST(scores_of_numbers)
{
    double X[40 * 2], y[40], score[40];
    draw_regression(3, 40, 2, 0.5, X, y);
    cr_table *t = make_table(cx, X, 40, 2, y, NULL);
    const struct {
        const char *name, *settings;
    } cases[] = {
        { "linear", "target=y" },                            /* Student's t */
        { "bayes-linear", "target=y optimize=fixed-point" }, /* normal      */
        { "bayes-linear",
          "target=y optimize=fixed-point scale_target=standard" }, /* in units of y */
    };
    for (size_t k = 0; k < 3; k++) {
        cr_model     *m = fit(cx, cases[k].name, t, cases[k].settings);
        cr_prediction p = predict(cx, m, t);
        assert_ok(cx, cr_score(cx, m, t, score));
        for (size_t i = 0; i < 40; i++) {
            double z = (y[i] - p.mean[i]) / p.scale[i];
            double log_f = isinf(p.dof[i]) ? -0.5 * z * z - 0.5 * log(2 * M_PI)
                                           : lgamma(0.5 * p.dof[i] + 0.5) - lgamma(0.5 * p.dof[i]) -
                                                 0.5 * log(M_PI * p.dof[i]) -
                                                 (0.5 * p.dof[i] + 0.5) * log1p(z * z / p.dof[i]);
            assert_close(score[i], log_f - log(p.scale[i]), 1e-12);
        }
        assert_int_equal(isinf(p.dof[0]), k > 0);
    }
}

TEST(scores_of_families_and_classes)
{
    cr_table *t = table_of_text(cx, "t.csv", "x,n,y,c\n0,3,0.5,a\n1,0,1.25,b\n2,5,3,a\n,1,1,b\n");
    double    score[4];
    cr_model *m = fit(cx, "toy-smooth", t, "target=n features=x family=poisson missing=drop");
    cr_prediction p = predict(cx, m, t);
    assert_ok(cx, cr_score(cx, m, t, score));
    for (size_t i = 0; i < 3; i++) {
        double n = cr_table_find(t, "n")->values[i];
        assert_close(score[i], n * log(p.mean[i]) - p.mean[i] - lgamma(n + 1), 1e-12);
    }
    assert_true(isnan(score[3]));
    cr_model_free(cx, m);

    m = fit(cx, "toy-smooth", t, "target=y features=x family=gamma missing=drop");
    p = predict(cx, m, t);
    assert_ok(cx, cr_score(cx, m, t, score));
    for (size_t i = 0; i < 3; i++) { /* shape 4, rate 4 / mean */
        double y = cr_table_find(t, "y")->values[i], r = 4 / p.mean[i];
        assert_close(score[i], 4 * log(r) + 3 * log(y) - r * y - lgamma(4), 1e-12);
    }
    cr_model_free(cx, m);

    m = fit(cx, "toy-smooth", t, "target=c features=x missing=drop");
    p = predict(cx, m, t);
    assert_ok(cx, cr_score(cx, m, t, score));
    for (size_t i = 0; i < 3; i++) assert_close(score[i], log(p.prob[2 * i + (i == 1)]), 1e-15);
    cr_table *u = table_of_text(cx, "u.csv", "x,c\n0,z\n");
    score[0] = 17;
    assert_fails_with(cx, cr_score(cx, m, u, score), CR_EDATA,
                      "level 'z', which the model has not");
    assert_true(score[0] == 17);
    cr_table_free(cx, u);
    u = table_of_text(cx, "u.csv", "x\n0\n");
    assert_fails_with(cx, cr_score(cx, m, u, score), CR_EDATA, "column 'c' not found");
}

/* --- intervals of families ------------------------------------------------------------------- */

TEST(intervals_of_families)
{
    double mean[] = { 3, NAN, 40 }, scale[] = { sqrt(3), NAN, sqrt(40) };
    double dof[] = { INFINITY, NAN, INFINITY }, rate[] = { 3, NAN, 40 }, sd[3], low[3], high[3];
    cr_prediction p = { .kind = CR_ANSWER_NUMBER,
                        .n = 3,
                        .mean = mean,
                        .scale = scale,
                        .dof = dof,
                        .family = cr_dist_find(cx, "poisson"),
                        .n_params = 1,
                        .params = rate };
    assert_ok(cx, cr_prediction_intervals(cx, &p, 0.9, sd, low, high));
    assert_true(low[0] == 1 && high[0] == 6); /* scipy.stats.poisson(3).interval(0.9) */
    assert_true(low[2] == 30 && high[2] == 51);
    assert_true(sd[0] == sqrt(3) && isnan(sd[1]) && isnan(low[1]) && isnan(high[1]));
    for (size_t i = 0; i < 3; i += 2) { /* the definition: least counts that reach 5 % and 95 % */
        assert_true(cr_gamma_q(low[i] + 1, rate[i]) >= 0.05 && cr_gamma_q(low[i], rate[i]) < 0.05);
        assert_true(cr_gamma_q(high[i] + 1, rate[i]) >= 0.95 &&
                    cr_gamma_q(high[i], rate[i]) < 0.95);
    }
    double shapes[] = { 4, 2, NAN, NAN, 0.5, 1e-3 };
    mean[0] = 2, mean[2] = 500;
    p.family = cr_dist_find(cx, "gamma"), p.n_params = 2, p.params = shapes;
    assert_ok(cx, cr_prediction_intervals(cx, &p, 0.5, NULL, low, high));
    assert_close(cr_gamma_p(4, 2 * low[0]), 0.25, 1e-12);
    assert_close(cr_gamma_p(4, 2 * high[0]), 0.75, 1e-12);
    assert_close(cr_gamma_p(0.5, 1e-3 * high[2]), 0.75, 1e-12);
    shapes[0] = -1; /* what no class should give */
    assert_fails(cx, cr_prediction_intervals(cx, &p, 0.5, NULL, low, high), CR_EARG);
    p = (cr_prediction){ .kind = CR_ANSWER_DENSITY, .n = 1, .log_density = mean };
    assert_fails_with(cx, cr_prediction_intervals(cx, &p, 0.5, sd, low, high), CR_EARG,
                      "of numbers");
}

/* --- draws ----------------------------------------------------------------------------------- */

enum { DRAWS = 20000 };

/* The share of draws at or below x. */
static double share(const double *draws, size_t n, double x)
{
    size_t below = 0;
    for (size_t i = 0; i < n; i++) below += draws[i] <= x;
    return (double)below / (double)n;
}

/* Kolmogorov's distance to a distribution function; at 5 standard errors. */
static void check_draws(cr_ctx *cx, const double *draws, const char *family, const double *v,
                        size_t n)
{
    const cr_dist_class *c = cr_dist_find(cx, family);
    for (double u = 0.05; u < 1; u += 0.1) {
        double x, F;
        assert_ok(cx, cr_dist_quantile(cx, c, v, n, u, &x));
        assert_ok(cx, cr_dist_cdf(cx, c, v, n, x, &F));
        assert_close(share(draws, DRAWS, x), F, 5 * sqrt(0.25 / DRAWS));
    }
}

TEST(draws_of_numbers)
{
    double        X[6 * 1] = { 1, 2, 3, 4, 5, 6 }, y[] = { 1.1, 2.3, 2.8, 4.4, 4.9, 6.3 };
    cr_table     *t = make_table(cx, X, 6, 1, y, NULL);
    double       *out = calloc(6 * DRAWS, sizeof *out), *again = calloc(6 * 3, sizeof *again);
    cr_model     *m = fit(cx, "linear", t, "target=y"); /* 4 degrees of freedom */
    cr_prediction p = predict(cx, m, t);
    assert_ok(cx, cr_sample_targets(cx, m, t, DRAWS, 7, out));
    check_draws(cx, out + 2 * DRAWS, "student-t", (double[]){ p.dof[2], p.mean[2], p.scale[2] }, 3);
    assert_ok(cx, cr_sample_targets(cx, m, t, 3, 7, again)); /* the first of the same stream */
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 3; k++) assert_true(again[3 * i + k] == out[i * DRAWS + k]);
    assert_ok(cx, cr_sample_targets(cx, m, t, 3, 8, again));
    assert_true(again[0] != out[0]);
    assert_ok(cx, cr_sample_targets(cx, m, t, 0, 8, again));
    cr_model_free(cx, m);
    m = fit(cx, "bayes-linear", t, "target=y optimize=fixed-point");
    p = predict(cx, m, t);
    assert_ok(cx, cr_sample_targets(cx, m, t, DRAWS, 7, out));
    check_draws(cx, out, "normal", (double[]){ p.mean[0], p.scale[0] }, 2);
    free(out);
    free(again);
}

TEST(draws_of_families_and_classes)
{
    cr_table *t = table_of_text(cx, "t.csv", "x,n,c\n0,3,a\n1,0,b\n2,5,c\n,1,b\n");
    double   *out = calloc(4 * DRAWS, sizeof *out);
    cr_model *m =
        fit(cx, "toy-smooth", t, "target=n features=x family=poisson missing=drop width=2");
    cr_prediction p = predict(cx, m, t);
    assert_ok(cx, cr_sample_targets(cx, m, t, DRAWS, 1, out));
    check_draws(cx, out + DRAWS, "poisson", &p.mean[1], 1);
    for (size_t k = 0; k < DRAWS; k++) assert_true(isnan(out[3 * DRAWS + k])); /* left out */
    cr_model_free(cx, m);
    m = fit(cx, "toy-smooth", t, "target=c features=x missing=drop");
    p = predict(cx, m, t);
    assert_ok(cx, cr_sample_targets(cx, m, t, DRAWS, 1, out));
    double cdf = 0;
    for (size_t k = 0; k < 3; k++) {
        cdf += p.prob[3 + k];
        assert_close(share(out + DRAWS, DRAWS, (double)k), cdf, 5 * sqrt(0.25 / DRAWS));
    }
    assert_true(isnan(out[3 * DRAWS]));
    free(out);
}

/* Few degrees of freedom: the gamma variate below the root underflows, its logarithm does not. */
static cr_status few_degrees(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    (void)cx, (void)state;
    for (size_t i = 0; i < rows->n; i++) out->mean[i] = 0, out->scale[i] = 1, out->dof[i] = 0.004;
    return CR_OK;
}

TEST(draws_with_long_tails)
{
    cr_table             *t = table_of_text(cx, "t.csv", "x,y\n0,3\n1,0\n2,5\n");
    cr_model             *m = fit(cx, "linear", t, "target=y");
    cr_model_class        odd = *cr_model_get_class(m);
    cri_rows_face         rows = *odd.rows;
    const cr_model_class *own = m->class;
    double               *out = calloc(3 * DRAWS, sizeof *out);
    rows.predict = few_degrees, odd.rows = &rows;
    m->class = &odd;
    assert_ok(cx, cr_sample_targets(cx, m, t, DRAWS, 3, out));
    size_t lost = 0;
    for (size_t i = 0; i < DRAWS; i++) lost += isnan(out[i]) != 0;
    assert_int_equal(lost, 0);
    assert_close(share(out, DRAWS, 0), 0.5, 5 * sqrt(0.25 / DRAWS));
    for (double x = 1e50; x < 1e300; x *= 1e50)
        assert_close(share(out, DRAWS, x), cr_student_t_cdf(x, 0.004), 5 * sqrt(0.25 / DRAWS));
    m->class = own;
    free(out);
}

/* Rows of a model of densities: numbers as they are, a level as its code. */
TEST(rows)
{
    cr_table     *t = table_of_text(cx, "t.csv", "c,x\nb,1\na,2\nb,6\nb,3\n");
    cr_model     *m = fit(cx, "toy-normal", t, "shape=3");
    cr_prediction p = { 0 };
    double       *out = calloc(2 * DRAWS, sizeof *out), *x = calloc(DRAWS, sizeof *x), again[4];
    size_t        b = 0;
    assert_ok(cx, cr_next(cx, m, &p));
    assert_ok(cx, cr_sample(cx, m, DRAWS, 5, out));
    for (size_t i = 0; i < DRAWS; i++) {
        assert_true(out[2 * i] == 0 || out[2 * i] == 1);
        b += out[2 * i] == 1;
        x[i] = out[2 * i + 1];
    }
    assert_close((double)b / DRAWS, 4.0 / 6, 5 * sqrt(0.25 / DRAWS));
    check_draws(cx, x, "student-t", (double[]){ p.dof[0], p.mean[0], p.scale[0] }, 3);
    assert_ok(cx, cr_sample(cx, m, 2, 5, again));
    assert_memory_equal(out, again, sizeof again);
    assert_fails_with(cx, cr_sample_targets(cx, m, t, 1, 5, again), CR_EUNSUPPORTED, "no target");
    cr_prediction_free(cx, &p);
    cr_model_free(cx, m);
    m = fit(cx, "linear", t, "target=x");
    assert_fails_with(cx, cr_sample(cx, m, 1, 5, again), CR_EUNSUPPORTED, "does not draw rows");
    free(out);
    free(x);
}

/* --- failing allocations --------------------------------------------------------------------- */

static cr_status score_and_draw(cr_ctx *cx, void *arg)
{
    cr_status         st = CR_OK;
    cr_table         *t = NULL;
    cr_model         *m = NULL, *n = NULL;
    cr_prediction     next = { 0 };
    const double      x[] = { 1, 2, NAN, 4 }, y[] = { 1, 2, 3, 5 };
    const char *const c[] = { "a", "b", "a", "a" };
    double            out[16];
    cr_setting        s[] = { { "target", "y" }, { "missing", "drop" }, { "family", "poisson" } };
    (void)arg;
    CR_TRY(cr_table_new(cx, "t", 4, &t));
    CR_TRY(cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_add_numbers(cx, t, "y", CR_INTEGER, y, 1));
    CR_TRY(cr_table_add_texts(cx, t, "c", c));
    CR_TRY(cr_fit(cx, "toy-smooth", t, s, 3, &m));
    CR_TRY(cr_score(cx, m, t, out));
    CR_TRY(cr_sample_targets(cx, m, t, 2, 1, out));
    CR_TRY(cr_fit(cx, "toy-normal", t, NULL, 0, &n));
    CR_TRY(cr_score(cx, n, t, out));
    CR_TRY(cr_next(cx, n, &next));
    CR_TRY(cr_sample(cx, n, 2, 1, out));
done:
    cr_prediction_free(cx, &next);
    cr_model_free(cx, m);
    cr_model_free(cx, n);
    cr_table_free(cx, t);
    return st;
}

TEST(allocations) { test_every_allocation_fails(score_and_draw, NULL); }
