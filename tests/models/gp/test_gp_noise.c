/* test_gp_noise.c -- noise whose logarithm is linear in columns: evidence, gradient and predictions by the density of
 * all rows, and coverage where the noise grows. */
#include "gp_fixture.h"

enum { N = 40 };

/* y = sin(3 x1) + exp(-1.2 + 0.7 x1) e, x1 far from 0. */
static void draw_rows(uint64_t seed, size_t n, double *X, double *y)
{
    cr_rng r = cr_rng_stream(seed, 17);
    for (size_t i = 0; i < n; i++) {
        double x = 2 * cr_rng_uniform(&r) - 1;
        X[2 * i] = 100 + x, X[2 * i + 1] = cr_rng_normal(&r);
        y[i] = sin(3 * x) + exp(-1.2 + 0.7 * x) * cr_rng_normal(&r);
    }
}

/* The process that a description shows, of x1 alone. */
typedef struct shown {
    double v, l, noise, g, mean, sd;
} shown;

static shown read_shown(const json_t *d, const double *X, size_t n)
{
    shown s = { .v = parameter(d, "rbf.variance", "value"),
                .l = parameter(d, "rbf.l", "value"),
                .noise = parameter(d, "noise", "value"),
                .g = parameter(d, "noise.x1", "value") };
    for (size_t i = 0; i < n; i++) s.mean += X[2 * i] / (double)n;
    for (size_t i = 0; i < n; i++) s.sd += pow(X[2 * i] - s.mean, 2) / (double)n;
    s.sd = sqrt(s.sd);
    return s;
}

static double noise_at(const shown *s, double x)
{
    return s->noise * exp(2 * s->g * (x - s->mean));
}

/* What it is by its definition; x [n], noise [n] and H are set. */
static definition define(const shown *s, const double *X, const double *y, double *x, double *noise)
{
    definition g = { .n = N, .q = 1, .k = { 1, s->v, { s->l } }, .X = x, .y = y, .noise = noise };
    for (size_t i = 0; i < N; i++) {
        x[i] = X[2 * i];
        noise[i] = noise_at(s, x[i]);
        g.H[i] = 1;
    }
    return g;
}

static double density_at(const shown *s, const double *X, const double *y)
{
    double     x[N], noise[N];
    definition g = define(s, X, y, x, noise);
    return log_density(&g);
}

TEST(evidence_and_predictions)
{
    double X[2 * N], y[N], x[N], noise[N], U[] = { 99.1, 0, 99.8, 0, 100.6, 0, 101.4, 0 };
    draw_rows(1, N, X, y);
    cr_table *t = make_table(cx, X, N, 2, y, NULL);
    cr_model *m = fit(cx, "gp", t, "target=y features=x1 noise_model=x1 hyper=map");
    json_t   *d = describe(cx, m);
    shown     s = read_shown(d, X, N);
    assert_close(statistic(d, "log_evidence_at_hyper"), density_at(&s, X, y), 1e-7);
    assert_close(statistic(d, "noise_sd"), sqrt(s.noise), 1e-12);
    assert_close(s.g, 0.7, 4 * parameter(d, "noise.x1", "sd"));
    assert_true(parameter(d, "noise.x1", "sd") > 0.05 && parameter(d, "noise.x1", "sd") < 0.5);

    definition    g = define(&s, X, y, x, noise);
    cr_prediction p = predict(cx, m, make_table(cx, U, 4, 2, NULL, NULL));
    for (size_t i = 0; i < 4; i++) {
        double mean, variance, one = 1;
        predict_definition(&g, &U[2 * i], &one, &mean, &variance);
        assert_close(p.mean[i], mean, 1e-7);
        assert_close(p.scale[i], sqrt(variance + noise_at(&s, U[2 * i])), 1e-7);
    }
}

/* A search that ends half-way, where no derivative is 0. */
TEST(gradient_by_differences)
{
    double X[2 * N], y[N];
    draw_rows(2, N, X, y);
    cr_model *m = fit(cx, "gp", make_table(cx, X, N, 2, y, NULL),
                      "target=y features=x1 noise_model=x1 hyper=best max_iter=2 gradient=true");
    json_t   *d = describe(cx, m);
    shown     s = read_shown(d, X, N);
    const struct {
        const char *name;
        double     *value;
        bool        log;
    } each[] = { { "rbf.variance", &s.v, true },
                 { "rbf.l", &s.l, true },
                 { "noise", &s.noise, true },
                 { "noise.x1", &s.g, false } };
    for (size_t i = 0; i < 4; i++) {
        double at = *each[i].value, h = 1e-5, up, down;
        *each[i].value = each[i].log ? at * exp(h) : at + h / s.sd; /* by an sd of the column */
        up = density_at(&s, X, y);
        *each[i].value = each[i].log ? at * exp(-h) : at - h / s.sd;
        down = density_at(&s, X, y);
        *each[i].value = at;
        double slope = (up - down) / (2 * h);
        assert_close(parameter(d, each[i].name, "gradient"), slope, 1e-4 * (1 + fabs(slope)));
    }
}

/* 95 % intervals hold where the noise is small and where it is large. */
TEST(coverage_in_bins)
{
    enum { NEW = 400, ROWS = 60, BINS = 4 };
    double   held[BINS] = { 0 }, rows[BINS] = { 0 }, mean = 0;
    uint64_t trials = simulation_size(8, 25);
    for (uint64_t trial = 0; trial < trials; trial++) {
        double X[2 * ROWS], y[ROWS], U[2 * NEW], v[NEW], low[NEW], high[NEW];
        draw_rows(10 + trial, ROWS, X, y);
        draw_rows(1000 + trial, NEW, U, v);
        cr_model     *m = fit(cx, "gp", make_table(cx, X, ROWS, 2, y, NULL),
                              "target=y features=x1 noise_model=x1");
        cr_prediction p = predict(cx, m, make_table(cx, U, NEW, 2, NULL, NULL));
        assert_ok(cx, cr_prediction_intervals(cx, &p, 0.95, NULL, low, high));
        for (size_t i = 0; i < NEW; i++) {
            size_t b = (size_t)fmin((U[2 * i] - 99) / 2 * BINS, BINS - 1);
            rows[b]++, held[b] += low[i] <= v[i] && v[i] <= high[i];
        }
    }
    for (size_t b = 0; b < BINS; b++) { /* one spread for all: 0.999 to 0.80 */
        assert_true(held[b] / rows[b] > 0.9);
        assert_true(held[b] / rows[b] < 0.975);
        mean += held[b] / rows[b] / BINS;
    }
    assert_true(mean > 0.92);
}

/* Draws of the hyper-parameters, and more rows, carry it along. */
TEST(draws_and_updates)
{
    double X[2 * N], y[N], U[] = { 99.1, 0, 101, 0 };
    draw_rows(4, N, X, y);
    cr_table *t = make_table(cx, X, N, 2, y, NULL), *new = make_table(cx, U, 2, 2, NULL, NULL);
    cr_table *head = make_table(cx, X, N - 10, 2, y, NULL),
             *tail = make_table(cx, X + 2 * (N - 10), 10, 2, y + N - 10, NULL);
    cr_model *m = fit(cx, "gp", t, "target=y features=x1 noise_model=x1 hyper=mcmc draws_hyper=40");
    json_t   *d = describe(cx, m);
    cr_prediction p = predict(cx, m, new);
    assert_close(parameter(d, "noise.x1", "value"), 0.7, 4 * parameter(d, "noise.x1", "sd"));
    assert_true(p.scale[1] > 1.5 * p.scale[0]);

    cr_model *half = fit(cx, "gp", head, "target=y features=x1 noise_model=x1 hyper=map"),
             *more = NULL;
    shown s = read_shown(describe(cx, half), X, N - 10);
    assert_ok(cx, cr_update(cx, half, tail, &more));
    double        mean = s.mean, noise[N], x[N];
    definition    g = define(&s, X, y, x, noise);
    cr_prediction q = predict(cx, more, new);
    double        want, variance, one = 1;
    assert_true(mean != 100);
    predict_definition(&g, &U[2], &one, &want, &variance);
    assert_close(q.mean[1], want, 1e-7);
    assert_close(q.scale[1], sqrt(variance + noise_at(&s, 101)), 1e-7);
    cr_model_free(cx, more);
}

TEST(refusals)
{
    double    X[2 * N], y[N], w[N];
    cr_model *m = NULL;
    draw_rows(3, N, X, y);
    for (size_t i = 0; i < N; i++) w[i] = 1 + (double)(i % 2);
    cr_table *t = make_table(cx, X, N, 2, y, w);
    static const struct {
        const char *settings;
        cr_status   status;
        const char *says;
    } each[] = {
        { "target=y noise_model=q", CR_EARG, "'q' is not a feature" },
        { "target=y features=x1,x2 noise_model=x1 weights=w", CR_EUNSUPPORTED, "--noise-model" },
        { "target=y noise_model=x1 noise=0.1", CR_EARG, "--noise-model and --noise" },
        { "target=y noise_model=x1 kernel=rbf+white", CR_EARG, "both are the noise" },
        { "target=y noise_model=x1 approx=vfe", CR_EUNSUPPORTED, "for an exact process" },
        { "target=y noise_model=x1 solver=cg", CR_EUNSUPPORTED, "for an exact process" },
        { "target=y noise_model=x1 optimize=none", CR_EARG, "optimize" },
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        assert_fails_with(cx, try_fit(cx, "gp", t, each[i].settings, &m), each[i].status,
                          each[i].says);
    for (size_t i = 0; i < N; i++) X[2 * i + 1] = 3;
    assert_fails_with(cx,
                      try_fit(cx, "gp", make_table(cx, X, N, 2, y, NULL),
                              "target=y features=x1,x2 noise_model=x2 max_iter=2", &m),
                      CR_ENUMERIC, "or constant");
}
