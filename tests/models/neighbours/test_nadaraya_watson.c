/* test_nadaraya_watson.c -- kernel regression against its definition in long double, leave-one-out
 * by leaving out, and the reference answers. */
#include "../drawn.h"

static drawn_data data;

typedef struct oracle {
    bool   compact, linear;
    double h[8];
} oracle;

/* The mean at x without row `out`, and the shares v. */
static long double mean_at(const oracle *o, const drawn_data *d, const double *x, size_t out,
                           long double *v)
{
    long double sum = 0, mean = 0;
    size_t      p = d->p;
    for (size_t i = 0; i < d->n; i++) {
        long double u = 0;
        for (size_t j = 0; j < p; j++)
            u += powl(((long double)x[j] - d->X[i * p + j]) / o->h[j], 2);
        v[i] = i == out ? 0 : o->compact ? fmaxl(0, 1 - u) : expl(-u / 2);
        sum += v[i];
    }
    for (size_t i = 0; i < d->n; i++) v[i] /= sum;
    if (!o->linear) {
        for (size_t i = 0; i < d->n; i++) mean += v[i] * d->y[i];
        return mean;
    }
    long double A[81] = { 0 }, b[9] = { 0 }; /* weighted least squares, the intercept at x */
    for (size_t i = 0; i < d->n; i++) {
        long double z[9] = { 1 };
        for (size_t j = 0; j < p; j++) z[j + 1] = (long double)d->X[i * p + j] - x[j];
        for (size_t j = 0; j <= p; j++) {
            for (size_t k = 0; k <= p; k++) A[j * (p + 1) + k] += v[i] * z[j] * z[k];
            b[j] += v[i] * z[j] * d->y[i];
        }
    }
    solve_dense(p + 1, A, b, 1);
    return b[0];
}

static void check_definition(cr_ctx *cx, const oracle *o, const char *settings)
{
    static long double v[DRAWN_MOST];
    double             residual[DRAWN_MOST], mse = 0, Q[16];
    draw_data(o->compact, 80, 2, 0, &data);
    for (size_t i = 0; i < data.n; i++) {
        residual[i] = data.y[i] - (double)mean_at(o, &data, data.X + 2 * i, i, v);
        mse += residual[i] * residual[i] / (double)data.n;
    }
    cr_rng r = cr_rng_stream(8, 8);
    draw_normals(&r, Q, 16);
    for (size_t i = 0; i < 16; i++) Q[i] *= 0.5; /* where the rows are */
    cr_table     *t = make_table(cx, data.X, data.n, 2, data.y, NULL);
    cr_table     *at = make_table(cx, Q, 8, 2, Q, NULL);
    cr_model     *m = fit(cx, "nadaraya-watson", t, settings);
    cr_prediction q = predict(cx, m, at);
    json_t       *d = describe(cx, m);
    assert_relative(statistic(d, "loo_mse"), mse, 1e-9);
    for (size_t i = 0; i < 8; i++) {
        long double squares = 0, near = 0;
        double      mean = (double)mean_at(o, &data, Q + 2 * i, SIZE_MAX, v);
        for (size_t k = 0; k < data.n; k++) {
            squares += v[k] * v[k];
            near += v[k] * residual[k] * residual[k];
        }
        double count = 1 / (double)squares;
        assert_close(q.mean[i], mean, 1e-9);
        assert_close(q.dof[i], count + 1, 1e-10);
        assert_close(q.scale[i], sqrt((count * (double)near + mse) / (count + 1)), 1e-9);
    }
}

TEST(definition)
{
    const oracle cases[] = { { false, false, { 0.5, 0.5 } },
                             { false, true, { 0.7, 1.1 } },
                             { true, false, { 2.5, 2.5 } },
                             { true, true, { 2.9, 3.3 } } };
    for (size_t i = 0; i < 4; i++) {
        char settings[256];
        snprintf(settings, sizeof settings,
                 "target=y scale=none bandwidth=%g,%g kernel=%s order=%d", cases[i].h[0],
                 cases[i].h[1], cases[i].compact ? "epanechnikov" : "gaussian", cases[i].linear);
        check_definition(cx, &cases[i], settings);
    }
}

/* Leave-one-out by leaving out, where the widths are so small that the nearest row is many widths
 * away, and so large that all rows count alike; the shares are relative to the nearest. */
static double leave_one_out(const drawn_data *d, bool compact, double h)
{
    long double mse = 0;
    for (size_t q = 0; q < d->n; q++) {
        long double u[DRAWN_MOST], least = INFINITY, sum = 0, mean = 0;
        for (size_t i = 0; i < d->n; i++) {
            u[i] = 0;
            for (size_t j = 0; j < d->p; j++)
                u[i] += powl(((long double)d->X[q * d->p + j] - d->X[i * d->p + j]) / h, 2);
            if (i != q) least = fminl(least, u[i]);
        }
        for (size_t i = 0; i < d->n; i++) {
            long double k = expl(-(u[i] - least) / 2);
            if (compact) k = least >= 1 ? u[i] <= least : fmaxl(0, 1 - u[i]);
            if (i != q) sum += k, mean += k * d->y[i];
        }
        mse += powl(d->y[q] - mean / sum, 2) / d->n;
    }
    return (double)mse;
}

TEST(widths)
{
    const double widths[] = { 1e-4, 0.004, 0.02, 0.1, 0.6, 4, 50, 1e5 };
    draw_data(71, 60, 2, 0, &data);
    cr_table *t = make_table(cx, data.X, data.n, 2, data.y, NULL);
    for (size_t i = 0; i < 16; i++) {
        char   settings[128];
        double h = widths[i / 2];
        snprintf(settings, sizeof settings, "target=y scale=none bandwidth=%g kernel=%s", h,
                 i % 2 ? "epanechnikov" : "gaussian");
        cr_model     *m = fit(cx, "nadaraya-watson", t, settings);
        cr_prediction q = predict(cx, m, t);
        json_t       *d = describe(cx, m);
        assert_relative(statistic(d, "loo_mse"), leave_one_out(&data, i % 2, h), 1e-9);
        for (size_t k = 0; k < data.n; k++) assert_true(isfinite(q.scale[k]) && q.scale[k] > 0);
    }
}

/* What auto reports is the error of leaving out at its width, and no width of a fine grid is
 * better by more than the grid of the search can tell. */
TEST(auto_is_the_least)
{
    for (size_t i = 0; i < 6; i++) {
        double least = INFINITY;
        draw_data(80 + i, 40 + 30 * i, 1 + i % 3, 0, &data);
        cr_table *t = make_table(cx, data.X, data.n, data.p, data.y, NULL);
        cr_model *m =
            fit(cx, "nadaraya-watson", t,
                i % 2 ? "target=y scale=none kernel=epanechnikov" : "target=y scale=none");
        json_t *d = describe(cx, m);
        double  h =
            json_number_value(json_object_get(json_object_get(d, "statistics"), "bandwidth"));
        assert_relative(statistic(d, "loo_mse"), leave_one_out(&data, i % 2, h), 1e-9);
        for (double at = 0.005; at < 50; at *= 1.2)
            least = fmin(least, leave_one_out(&data, i % 2, at));
        assert_true(statistic(d, "loo_mse") <= least * (1 + (i % 2 ? 0.02 : 1e-6)));
    }
}

/* Order 1 has no error on a plane, whatever the width. */
TEST(plane)
{
    draw_data(3, 60, 3, 0, &data);
    for (size_t i = 0; i < data.n; i++)
        data.y[i] = 3 + 2 * data.X[3 * i] - data.X[3 * i + 1] + 0.5 * data.X[3 * i + 2];
    cr_table     *t = make_table(cx, data.X, data.n, 3, data.y, NULL);
    cr_prediction q =
        fit_and_predict(cx, "nadaraya-watson", t, "target=y bandwidth=0.8 order=1", t);
    for (size_t i = 0; i < data.n; i++) assert_close(q.mean[i], data.y[i], 1e-7);
}

/* Far from all rows the nearest one speaks; so it does where no row is within h. */
TEST(far_away)
{
    double X[3] = { 0, 1, 3 }, y[3] = { 5, 6, 9 };
    double Q[6] = {
        1e6, -400, -0.12, 1e200, -1e170, 1.5e308
    }; /* squares overflow from the fourth on */
    const char *const settings[] = { "target=y scale=none bandwidth=0.1",
                                     "target=y scale=none bandwidth=0.1 kernel=epanechnikov",
                                     "target=y scale=none bandwidth=0.1 order=1" };
    cr_table         *t = make_table(cx, X, 3, 1, y, NULL), *at = make_table(cx, Q, 6, 1, Q, NULL);
    for (size_t s = 0; s < 3; s++) {
        cr_prediction q = fit_and_predict(cx, "nadaraya-watson", t, settings[s], at);
        for (size_t i = 3; i < 6; i++) { /* all rows are as near */
            assert_close(q.mean[i], 20.0 / 3, 1e-12);
            assert_true(q.scale[i] > 0 && isfinite(q.scale[i]));
        }
        assert_close(q.mean[0], 9, 1e-12);
        assert_close(q.mean[1], 5, 1e-12);
        assert_close(q.mean[2], 5, 1e-12);
        assert_true(q.scale[0] > 0 && isfinite(q.scale[0]));
    }
}

/* The width that auto finds is at least as good as any of a fine grid; one for each column is
 * better still, and wide for a column that does not matter. */
TEST(bandwidth)
{
    double least = INFINITY;
    draw_data(20, 90, 2, 0, &data);
    for (size_t i = 0; i < data.n; i++) data.y[i] = sin(2 * data.X[2 * i]);
    cr_table *t = make_table(cx, data.X, data.n, 2, data.y, NULL);
    for (size_t i = 0; i <= 60; i++) {
        char settings[128];
        snprintf(settings, sizeof settings, "target=y bandwidth=%g", 0.02 * pow(1.1, (double)i));
        cr_model *m = fit(cx, "nadaraya-watson", t, settings);
        json_t   *d = describe(cx, m);
        least = fmin(least, statistic(d, "loo_mse"));
    }
    cr_model *one = fit(cx, "nadaraya-watson", t, "target=y");
    cr_model *each = fit(cx, "nadaraya-watson", t, "target=y per_column=true");
    json_t   *a = describe(cx, one), *b = describe(cx, each);
    assert_true(statistic(a, "loo_mse") <= least * (1 + 1e-9));
    assert_true(statistic(b, "loo_mse") < statistic(a, "loo_mse") / 2);
    assert_true(parameter(b, "x2", "value") > 5 * parameter(b, "x1", "value"));
}

TEST(corners)
{
    double        X[4] = { 1, 2, 3, 4 }, y[4] = { 5, 6, 7, 8 };
    cr_model     *m = NULL;
    cr_table     *one = make_table(cx, X, 1, 1, y, NULL), *t = make_table(cx, X, 4, 1, y, NULL);
    cr_prediction q = fit_and_predict(cx, "nadaraya-watson", one, "target=y", one);
    assert_close(q.mean[0], 5, 1e-15);
    assert_true(isnan(q.scale[0]));
    assert_fails_with(cx, try_fit(cx, "nadaraya-watson", t, "target=y bandwidth=1,2", &m), CR_EARG,
                      "2 numbers, but the design has 1 terms");
    assert_fails_with(cx, try_fit(cx, "nadaraya-watson", t, "target=y bandwidth=-1", &m), CR_EARG,
                      "not auto or a number above 0");
    assert_fails_with(cx, try_fit(cx, "nadaraya-watson", t, "target=y bandwidth=x", &m), CR_EARG,
                      "not auto or a number above 0");
    double    constant[4] = { 2, 2, 2, 2 };
    cr_table *flat = make_table(cx, constant, 4, 1, y, NULL);
    q = fit_and_predict(cx, "nadaraya-watson", flat, "target=y", flat);
    for (size_t i = 0; i < 4; i++) assert_close(q.mean[i], 6.5, 1e-15);
}

/* --- reference answers ----------------------------------------------------------------------- */

/* The rows of a split, standardised or not, as a table of their own. */
static cr_table *part_of(cr_ctx *cx, const cr_table *t, const json_t *rows)
{
    size_t    n = json_array_size(rows), i;
    double   *a = malloc(n * sizeof *a);
    cr_table *out = NULL;
    json_t   *row;
    assert_ok(cx, cr_table_new(cx, "part.csv", n, &out));
    test_own(cx, out, release_table);
    for (size_t j = 0; j < cr_table_columns(t); j++) {
        const cr_column *c = cr_table_column(t, j);
        json_array_foreach(rows, i, row) a[i] =
            c->values[(size_t)json_integer_value(row) * c->stride];
        assert_ok(cx, cr_table_add_numbers(cx, out, c->name, CR_REAL, a, 1));
    }
    free(a);
    return out;
}

static void check_reference(cr_ctx *cx, const json_t *item, const json_t *split)
{
    char        path[256], settings[256];
    const char *target = json_string_value(json_object_get(split, "target"));
    size_t      i, k;
    json_t     *step;
    snprintf(path, sizeof path, "tabular/%s", json_string_value(json_object_get(split, "dataset")));
    cr_table *t = read_table(cx, test_data(path));
    cr_table *train = part_of(cx, t, json_object_get(split, "train"));
    cr_table *test = part_of(cx, t, json_object_get(split, "test"));
    if (!target) target = cr_table_column(t, cr_table_columns(t) - 1)->name;
    size_t n = cr_table_rows(train);
    double mean = 0, square = 0, *y = malloc(n * sizeof *y);
    for (i = 0; i < n; i++) {
        const cr_column *c = cr_table_find(train, target);
        y[i] = c->values[i * c->stride];
        mean += y[i] / (double)n;
    }
    for (i = 0; i < n; i++) square += (y[i] - mean) * (y[i] - mean) / (double)n;
    free(y);
    json_array_foreach(json_object_get(item, "by_h"), i, step)
    {
        snprintf(settings, sizeof settings, "target=%s bandwidth=%.17g", target,
                 number_of(step, "h"));
        cr_model     *m = fit(cx, "nadaraya-watson", train, settings);
        cr_prediction q = predict(cx, m, test);
        json_t       *d = describe(cx, m), *wanted = json_object_get(step, "predicted_first20");
        for (k = 0; k < json_array_size(wanted); k++)
            assert_close((q.mean[k] - mean) / sqrt(square), element(wanted, k), 1e-9);
        assert_relative(statistic(d, "loo_mse") / square, number_of(step, "loo_mse_std"), 1e-9);
    }
    if (n < 200) {
        snprintf(settings, sizeof settings, "target=%s", target);
        cr_model *m = fit(cx, "nadaraya-watson", train, settings);
        json_t   *d = describe(cx, m);
        assert_true(statistic(d, "loo_mse") / square <=
                    number_of(item, "best_loo_mse_std") * (1 + 1e-4));
    }
    cr_table_free(cx, train);
    cr_table_free(cx, test);
}

TEST(reference)
{
    const char *path = test_data("tabular/reference.json");
    size_t      i, checked = 0;
    json_t     *root = json_load_file(path, 0, NULL), *item;
    json_array_foreach(json_object_get(root, "cases"), i, item)
    {
        if (strncmp(json_string_value(json_object_get(item, "id")), "nw/", 3) != 0) continue;
        json_t *split = json_object_get(json_object_get(root, "splits"),
                                        json_string_value(json_object_get(item, "split")));
        if (json_array_size(json_object_get(split, "train")) > 800)
            continue; /* slow, nothing new */
        check_reference(cx, item, split);
        checked++;
    }
    assert_true(checked >= 3);
    json_decref(root);
}
