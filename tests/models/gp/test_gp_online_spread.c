/* test_gp_online_spread.c -- how sure an on-line process is with few rows: intervals that hold, degrees of freedom
 * that are left, and draws that have the same spread. */
#include "gp_fixture.h"
#include "math/special/special.h"
#include "models/core/parts.h"

enum { D = 2 };

/* n rows whose columns' sum is the target, with noise. */
static cr_table *sums(cr_ctx *cx, size_t n, uint64_t seed)
{
    static double X[100 * D], y[100];
    cr_rng        r = cr_rng_stream(seed, 1);
    for (size_t i = 0; i < n; i++) {
        y[i] = 3 + cr_rng_normal(&r);
        for (size_t j = 0; j < D; j++) y[i] += X[i * D + j] = cr_rng_normal(&r);
    }
    return make_table(cx, X, n, D, y, NULL);
}

/* The share of new rows inside their 95 % intervals. */
static double coverage(cr_ctx *cx, size_t n, const char *settings, size_t sets)
{
    enum { NEW = 50 };
    size_t held = 0;
    double y[NEW], lower[NEW], upper[NEW];
    for (size_t k = 0; k < sets; k++) {
        cr_table     *few = sums(cx, n, 100 + k), *new = sums(cx, NEW, 1000 + k);
        cr_model     *m = fit(cx, "gp-online", few, settings);
        cr_prediction p = predict(cx, m, new);
        assert_ok(cx, cr_observed(cx, m, new, y, NULL));
        assert_ok(cx, cr_prediction_intervals(cx, &p, 0.95, NULL, lower, upper));
        for (size_t i = 0; i < NEW; i++) held += y[i] >= lower[i] && y[i] <= upper[i];
    }
    return (double)held / (double)(sets * NEW);
}

TEST(intervals_hold_with_few_rows)
{
    size_t sets = simulation_size(8, 40);
    cr_ctx_set_threads(cx, 1);
    for (size_t n = 8; n <= 20; n += 12) {
        double stream = coverage(cx, n, "target=y", sets);
        double basis = coverage(cx, n, "target=y method=basis", sets);
        if (fmin(stream, basis) < 0.90 || fmax(stream, basis) > 0.99)
            fail_msg("%zu rows: %.3f and %.3f of 95 %% intervals", n, stream, basis);
    }
}

static double dof_of(cr_ctx *cx, const cr_model *m)
{
    cr_prediction p = predict(cx, m, sums(cx, 1, 9));
    return p.dof[0];
}

/* Each hyper-parameter but one, and the mean, costs one of the rows that it was learned from. */
TEST(degrees_of_freedom)
{
    cr_table *few = sums(cx, 12, 1), *more = sums(cx, 20, 2);
    static const struct {
        const char *settings;
        double      first, then;
    } kinds[] = {
        { "target=y", 12 - 4, 32 - 4 },
        { "target=y steps=0", 12 - 4, 12 - 4 }, /* hyper-parameters stay as they were */
        { "target=y method=basis", 12 - 4, 12 - 4 },
        { "target=y noise=1", 12 - 3, 32 - 3 },
        { "target=y mean=zero kernel=rbf", 12 - 2, 32 - 2 },
        { "target=y optimize=none noise=1", INFINITY, INFINITY },
    };
    cr_ctx_set_threads(cx, 1);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        cr_model *m = fit(cx, "gp-online", few, kinds[k].settings), *next = NULL;
        assert_true(dof_of(cx, m) == kinds[k].first);
        assert_ok(cx, cr_update(cx, m, more, &next));
        test_own(cx, next, release_model);
        assert_true(dof_of(cx, next) == kinds[k].then);
    }
    cr_model *m = fit(cx, "gp-online", sums(cx, 5, 3), "target=y"); /* 5 - 4 would be 1 */
    assert_close(dof_of(cx, m), 3, 1e-12);
}

/* Draws of targets and of functions have the spread that predictions say. */
TEST(draws_are_as_wide)
{
    enum { DRAWS = 20000 };
    static double out[DRAWS];
    cr_ctx_set_threads(cx, 1);
    cr_model     *m = fit(cx, "gp-online", sums(cx, 14, 4), "target=y");
    cr_table     *at = sums(cx, 1, 7);
    cr_prediction p = predict(cx, m, at);
    double        mean, sd, t = p.dof[0] / (p.dof[0] - 2);
    assert_ok(cx, cr_predict_function(cx, m, at, false, &mean, &sd, NULL));
    for (int function = 0; function < 2; function++) {
        double sum = 0, square = 0, inside = 0, scale = function ? sd / sqrt(t) : p.scale[0];
        assert_ok(cx, function ? cr_sample_functions(cx, m, at, false, DRAWS, 3, out)
                               : cr_sample_targets(cx, m, at, DRAWS, 3, out));
        for (size_t i = 0; i < DRAWS; i++) sum += out[i] - mean;
        for (size_t i = 0; i < DRAWS; i++) square += pow(out[i] - mean, 2);
        for (size_t i = 0; i < DRAWS; i++)
            inside += fabs(out[i] - mean) < cr_student_t_ppf(0.95, p.dof[0]) * scale;
        assert_close(sum / DRAWS, 0, 0.05 * scale);
        assert_close(square / DRAWS, t * scale * scale, 0.06 * scale * scale);
        assert_close(inside / DRAWS, 0.9, 0.01);
    }
}
