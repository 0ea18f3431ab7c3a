/* test_resample.c -- standard errors and intervals of parameters: all bootstrap samples of four
 * rows, closed forms of the jackknife, and a plain loop over refits. */
#include "fixture.h"
#include "data/judge/split.h"
#include "data/table/subset.h"
#include "study/resample.h"

static const cr_setting target[] = { { "target", "y" }, { "features", "x*" }, { "seed", "3" } };

static const cr_resampled_parameter *find(const cr_resampled *r, const char *name)
{
    for (size_t k = 0; k < r->n; k++)
        if (strcmp(r->parameters[k].name, name) == 0) return &r->parameters[k];
    fail_msg("no parameter %s", name);
    return NULL;
}

/* Two columns and a target that depends on the first. */
static cr_table *line(cr_ctx *cx, size_t n, bool classes, double *X, double *y)
{
    cr_rng r = cr_rng_stream(n, 8);
    for (size_t i = 0; i < n; i++) {
        X[2 * i] = cr_rng_normal(&r);
        X[2 * i + 1] = cr_rng_normal(&r);
        y[i] = 1.5 + 0.7 * X[2 * i] + cr_rng_normal(&r) * (1 + fabs(X[2 * i]));
        if (classes) y[i] = y[i] > 1.5;
    }
    return make_table(cx, X, n, 2, y, NULL);
}

/* --- all samples ----------------------------------------------------------------------------- */

/* The mean of four numbers is the intercept beside a constant column.  All 256 samples: their
 * variance is sum (y - mean)^2 / n^2; the ends of the intervals are those of the definition, which
 * scipy.stats.bootstrap (1.10, BCa, 99999 samples) gives too. */
TEST(every_sample)
{
    double X[4] = { 1, 1, 1, 1 }, y[4] = { 2.5, 3.25, 7, 4.5 };
    size_t drawn[256 * 4];
    for (size_t b = 0; b < 256; b++)
        for (size_t i = 0; i < 4; i++) drawn[4 * b + i] = b >> 2 * i & 3;
    cr_table     *t = make_table(cx, X, 4, 1, y, NULL);
    cr_model_spec spec = { "linear", target, 3 };
    cr_resampled  r;
    assert_ok(cx, cr_resample(cx, &spec, t, CR_PERCENTILE, 256, 0.9, drawn, &r));
    const cr_resampled_parameter *p = find(&r, "intercept");
    double                        mean = 4.3125, sum = 0;
    for (size_t i = 0; i < 4; i++) sum += (y[i] - mean) * (y[i] - mean);
    assert_close(p->value, mean, 1e-12);
    assert_close(p->bias, 0, 1e-12);
    assert_close(p->se * p->se * 255 / 256, sum / 16, 1e-12);
    assert_close(p->lower, 3, 1e-9);
    assert_close(p->upper, 5.78125, 1e-9);
    assert_int_equal(p->draws, 256);
    cr_resampled_free(cx, &r);
    assert_ok(cx, cr_resample(cx, &spec, t, CR_BCA, 256, 0.9, drawn, &r));
    p = find(&r, "intercept");
    assert_close(p->lower, 3.1875, 1e-9);
    assert_close(p->upper, 6.0625, 1e-9);
    cr_resampled_free(cx, &r);
    assert_ok(cx, cr_resample(cx, &spec, t, CR_JACKKNIFE, 0, 0.9, NULL, &r));
    p = find(&r, "intercept");
    assert_close(p->se, sqrt(sum / 3 / 4), 1e-12); /* the textbook's, of a mean */
    assert_close(p->bias, 0, 1e-12);
    assert_close(p->upper - p->lower, 2 * 2.3533634348018264 * p->se, 1e-9); /* t of 3, 0.95 */
    cr_resampled_free(cx, &r);
    drawn[5] = 4;
    assert_fails_with(cx, cr_resample(cx, &spec, t, CR_BCA, 256, 0.9, drawn, &r), CR_EARG,
                      "sample 2 contains row 5, but there are 4 rows");
    assert_fails_with(cx, cr_resample(cx, &spec, t, CR_PERCENTILE, 1, 0.9, NULL, &r), CR_EARG,
                      "at least two bootstrap samples");
}

/* --- closed forms ---------------------------------------------------------------------------- */

/* Leaving out row i of a line through x moves its slope by -d_i e_i / (Sxx (1 - h_i)). */
TEST(slope_without_a_row)
{
    enum { N = 30 };
    double    X[2 * N], y[N], mx = 0, my = 0, sxx = 0, sxy = 0, move[N], mean = 0, square = 0;
    cr_table *t = line(cx, N, false, X, y);
    for (size_t i = 0; i < N; i++) mx += X[2 * i] / N, my += y[i] / N;
    for (size_t i = 0; i < N; i++) {
        sxx += (X[2 * i] - mx) * (X[2 * i] - mx);
        sxy += (X[2 * i] - mx) * (y[i] - my);
    }
    for (size_t i = 0; i < N; i++) {
        double d = X[2 * i] - mx, e = y[i] - my - sxy / sxx * d, h = 1.0 / N + d * d / sxx;
        move[i] = -d * e / (sxx * (1 - h));
        mean += move[i] / N;
    }
    for (size_t i = 0; i < N; i++) square += (move[i] - mean) * (move[i] - mean);
    const cr_setting one[] = { { "target", "y" }, { "features", "x1" } };
    cr_model_spec    spec = { "linear", one, 2 };
    cr_resampled     r;
    assert_ok(cx, cr_resample(cx, &spec, t, CR_JACKKNIFE, 0, 0.95, NULL, &r));
    const cr_resampled_parameter *p = find(&r, "x1");
    assert_close(p->value, sxy / sxx, 1e-10);
    assert_relative(p->se, sqrt((N - 1.0) / N * square), 1e-9);
    assert_relative(p->bias, (N - 1) * mean, 1e-7);
    assert_close((p->lower + p->upper) / 2, p->value - p->bias, 1e-9);
    cr_resampled_free(cx, &r);
}

/* --- refits by hand -------------------------------------------------------------------------- */

/* The samples are those of cr_bootstrap by number, whatever the model and the threads. */
TEST(refits)
{
    enum { N = 60, B = 37 };
    static const char *const models[] = { "linear", "ridge", "glm", "logistic" };
    double                   X[2 * N], y[N];
    for (size_t m = 0; m < 4; m++) {
        bool          classes = m == 3;
        cr_table     *t = line(cx, N, classes, X, y);
        cr_setting    s[] = { { "target", "y" },
                              { "features", "x*" },
                              { "seed", "3" },
                              { "task", classes ? "classification" : "regression" } };
        size_t        settings = classes ? 4 : 3, drawn[N], left[N], n_left;
        cr_model_spec spec = { models[m], s, settings };
        cr_resampled  r[3];
        double        sum = 0, square = 0;
        cr_table     *part = NULL;
        cr_model     *model = NULL;
        for (size_t k = 0; k < 3; k++) {
            cr_ctx_set_threads(cx, (size_t)1 << k);
            assert_ok(cx, cr_resample(cx, &spec, t, CR_BCA, B, 0.8, NULL, &r[k]));
        }
        for (size_t b = 0; b < B; b++) {
            cr_bootstrap(N, 3, b, drawn, left, &n_left);
            assert_ok(cx, cri_table_subset(cx, t, drawn, N, &part));
            assert_ok(cx, cr_fit(cx, models[m], part, s, settings, &model));
            json_t *list = json_object_get(describe(cx, model), "parameters"), *item;
            size_t  i;
            json_array_foreach(list, i, item)
            {
                const char *name = json_string_value(json_object_get(item, "name"));
                size_t      length = strlen(name);
                if (length < 2 || strcmp(name + length - 2, "x1") != 0) continue;
                double x = number_of(item, "value");
                sum += x, square += x * x;
            }
            cr_model_free(cx, model);
            cr_table_free(cx, part);
        }
        for (size_t k = 0; k < r[0].n; k++) {
            const cr_resampled_parameter *p = &r[0].parameters[k];
            size_t                        length = strlen(p->name);
            if (length >= 2 && strcmp(p->name + length - 2, "x1") == 0) {
                double mean = sum / B, variance = (square - B * mean * mean) / (B - 1);
                assert_relative(p->se, sqrt(variance), 1e-7);
                assert_close(p->bias, mean - p->value, 1e-7);
                assert_true(p->lower < p->value && p->value < p->upper);
            }
            for (size_t other = 1; other < 3; other++) {
                const cr_resampled_parameter *q = &r[other].parameters[k];
                assert_memory_equal(&p->value, &q->value, 5 * sizeof(double));
            }
        }
        for (size_t k = 0; k < 3; k++) cr_resampled_free(cx, &r[k]);
    }
}

/* A sample of one class only is left out. */
TEST(samples_that_cannot_be_fitted)
{
    cr_table *t =
        table_of_text(cx, "few.csv", "x1,g,y\n0.1,a,no\n1.2,a,yes\n0.3,b,no\n0.4,a,yes\n2,c,no\n");
    const cr_setting s[] = { { "target", "y" }, { "lambda", "1" } };
    cr_model_spec    spec = { "logistic", s, 2 };
    cr_resampled     r;
    assert_ok(cx, cr_resample(cx, &spec, t, CR_PERCENTILE, 100, 0.9, NULL, &r));
    assert_true(r.failed > 0 && r.failed < 50);
    assert_int_equal(r.made + r.failed, 100);
    for (size_t k = 0; k < r.n; k++) assert_int_equal(r.parameters[k].draws, r.made);
    cr_resampled_free(cx, &r);
}

static cr_status resample_small(cr_ctx *cx, void *arg)
{
    cr_model_spec spec = { "linear", target, 2 };
    cr_resampled  r = { 0 };
    cr_status     st = cr_resample(cx, &spec, arg, CR_BCA, 3, 0.9, NULL, &r);
    cr_resampled_free(cx, &r);
    return st;
}

TEST(allocations)
{
    double X[16], y[8];
    test_every_allocation_fails(resample_small, line(cx, 8, false, X, y));
}
