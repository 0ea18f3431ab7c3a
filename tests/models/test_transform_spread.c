/* test_transform_spread.c -- how sure models of a transformed target are: a learned power counts, intervals hold with
 * few rows, and rows far away have an answer. */
#include "../study/fixture.h"
#include "life.h"
#include "prob/dist/dist.h"

enum { MOST = 60 };

/* y^power, or log y for 0, is linear in two columns, with noise. */
static cr_table *draw(cr_ctx *cx, size_t n, double power, uint64_t seed)
{
    static double x[2 * MOST], y[MOST];
    cr_rng        r = cr_rng_stream(seed, 1);
    for (size_t i = 0; i < n; i++) {
        x[2 * i] = cr_rng_normal(&r), x[2 * i + 1] = cr_rng_normal(&r);
        double z = 0.5 * x[2 * i] + 0.3 * x[2 * i + 1] + 0.6 * cr_rng_normal(&r);
        y[i] = power == 0 ? exp(z) : pow(fmax(6 + z, 0.1), 1 / power);
    }
    return make_table(cx, x, n, 2, y, NULL);
}

/* As one more coefficient would: one degree of freedom less, and a scale that is larger by that; in a file too. */
TEST(a_learned_power_is_a_parameter)
{
    enum { LOCATION, SCALE, DOF, LAMBDA };
    cr_table     *t = draw(cx, 20, 0, 3);
    cr_model     *learned = fit(cx, "linear", t, "target=y transform_target=boxcox"), *loaded;
    cr_prediction p = predict(cx, learned, t);
    char          settings[80], *bytes;
    size_t        size;
    snprintf(settings, sizeof settings, "target=y transform_target=boxcox:%.10g", p.params[LAMBDA]);
    cr_prediction q = predict(cx, fit(cx, "linear", t, settings), t);
    for (size_t i = 0; i < 20; i++) {
        const double *a = p.params + i * p.n_params, *b = q.params + i * q.n_params;
        assert_relative(a[LOCATION], b[LOCATION], 1e-12);
        assert_close(b[DOF], 17, 1e-12);
        assert_close(a[DOF], 16, 1e-12);
        assert_relative(a[SCALE], b[SCALE] * sqrt(17.0 / 16), 1e-12);
    }
    assert_ok(cx, cr_model_to_bytes(cx, learned, &bytes, &size));
    assert_ok(cx, cr_model_from_bytes(cx, "m.cred", bytes, size, &loaded));
    test_own(cx, loaded, release_model);
    cr_prediction again = predict(cx, loaded, t);
    assert_memory_equal(p.params, again.params, 20 * p.n_params * sizeof(double));
    cr_free(cx, bytes, size, 1);
    cr_model     *gp = fit(cx, "gp", t, "target=y kernel=rbf hyper=map transform_target=boxcox");
    cr_prediction g = predict(cx, gp, t);
    snprintf(settings, sizeof settings,
             "target=y kernel=rbf hyper=map transform_target=boxcox:%.10g", g.params[LAMBDA]);
    cr_prediction h = predict(cx, fit(cx, "gp", t, settings), t);
    assert_relative(g.params[SCALE], h.params[SCALE] * sqrt(20.0 / 19),
                    1e-9); /* without dof: rows */
}

TEST(intervals_hold_with_few_rows)
{
    static const double powers[] = { 0, 0.5, 1 };
    for (size_t k = 0; k < 3; k++) {
        size_t held = 0, sets = simulation_size(60, 600);
        double y[MOST], lower[MOST], upper[MOST];
        for (uint64_t i = 0; i < sets; i++) {
            cr_table *new = draw(cx, MOST, powers[k], 9000 + i), *few = draw(cx, 10, powers[k], i);
            cr_model     *m = fit(cx, "linear", few, "target=y transform_target=boxcox");
            cr_prediction p = predict(cx, m, new);
            assert_ok(cx, cr_observed(cx, m, new, y, NULL));
            assert_ok(cx, cr_prediction_intervals(cx, &p, 0.9, NULL, lower, upper));
            for (size_t j = 0; j < MOST; j++) held += y[j] >= lower[j] && y[j] <= upper[j];
            cr_prediction_free(cx, &p);
            cr_model_free(cx, m);
            cr_table_free(cx, few);
            cr_table_free(cx, new);
        }
        double share = (double)held / (double)(sets * MOST);
        if (share < 0.88 || share > 0.93)
            fail_msg("power %g: %.3f of 90 %% intervals", powers[k], share);
    }
}

/* Rows far away have a median where the mean overflows, or infinity; the others are as without them. */
TEST(far_rows_do_not_end_the_others)
{
    const double at[] = { 0, 0, 200, 0, 1e5, 0, -1e5, 0, 0.5, 0.5 };
    cr_table    *t = draw(cx, 20, 0, 3);
    warnings     heard = { { 0 }, 0 };
    double       sd[5], low[5], high[5];
    cr_ctx_set_log(cx, keep_warning, &heard);
    cr_model     *m = fit(cx, "linear", t, "target=y transform_target=log");
    cr_prediction p = predict(cx, m, make_table(cx, at, 5, 2, NULL, NULL));
    assert_non_null(strstr(heard.text, "3 of 5 rows lie so far from those of the fit"));
    cr_prediction alone = predict(cx, m, make_table(cx, at, 1, 2, NULL, NULL));
    assert_true(p.mean[0] == alone.mean[0] && p.scale[0] == alone.scale[0]);
    assert_ok(cx, cr_prediction_intervals(cx, &p, 0.9, sd, low, high));
    for (size_t i = 1; i < 4; i++) { /* exp(2 sd^2) overflows, and one median too */
        double median;
        assert_ok(cx, cr_dist_quantile(cx, p.family, p.params + i * p.n_params, p.n_params, 0.5,
                                       &median));
        assert_true(p.mean[i] == median && isinf(sd[i]));
        assert_true(low[i] <= p.mean[i] && p.mean[i] <= high[i]);
    }
    assert_true(isinf(p.mean[2]) && p.mean[3] < 1e-100);
    assert_true(isfinite(p.mean[4]) && isfinite(sd[4]));
}
