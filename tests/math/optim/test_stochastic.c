/* Stochastic gradients on a small logistic regression whose optimum Newton's method gives. */
#include "support.h"

#include "base/rng.h"
#include "math/optim/minimize.h"
#include "math/optim/stochastic.h"

#include <time.h>

enum { N = 300, P = 4 };

typedef struct data {
    double  X[N][P], y[N];
    cr_ctx *stop_cx; /* interrupts after `left` batches */
    int     left;
    size_t  seen[N], batches, largest, first[8]; /* the first item of the first batches */
} data;

static void make_data(data *d)
{
    static const double truth[P] = { 0.5, 1.5, -2, 0.7 };
    memset(d, 0, sizeof *d);
    cr_rng r = cr_rng_stream(11, 0);
    for (size_t i = 0; i < N; i++) {
        double z = 0;
        for (size_t j = 0; j < P; j++) z += truth[j] * (d->X[i][j] = j ? cr_rng_normal(&r) : 1);
        d->y[i] = cr_rng_uniform(&r) < 1 / (1 + exp(-z)) ? 1 : -1;
    }
}

/* sum over the items of log(1 + exp(-y x.b)) + 0.005 |b|^2 */
static cr_status batch(void *user, const double *b, size_t n, const size_t *items, size_t n_items,
                       double *out_f, double *out_g)
{
    data  *d = user;
    double f = 0;
    if (d->stop_cx && d->left-- == 0) cr_interrupt(d->stop_cx);
    if (d->batches < 8 && n_items > 0) d->first[d->batches] = items[0];
    d->batches++;
    if (n_items > d->largest) d->largest = n_items;
    memset(out_g, 0, n * sizeof *out_g);
    for (size_t k = 0; k < n_items; k++) {
        size_t i = items[k];
        double z = 0, e;
        d->seen[i]++;
        for (size_t j = 0; j < n; j++) z += d->X[i][j] * b[j];
        e = exp(-d->y[i] * z);
        f += log1p(e);
        for (size_t j = 0; j < n; j++) {
            out_g[j] += -d->y[i] * e / (1 + e) * d->X[i][j] + 0.01 * b[j];
            f += 0.005 * b[j] * b[j];
        }
    }
    *out_f = f;
    return CR_OK;
}

static cr_status whole(void *user, const double *b, size_t n, double *out_f, double *opt_g)
{
    size_t all[N];
    double g[P];
    for (size_t i = 0; i < N; i++) all[i] = i;
    cr_status st = batch(user, b, n, all, N, out_f, g);
    *out_f /= N;
    for (size_t j = 0; opt_g && j < n; j++) opt_g[j] = g[j] / N;
    return st;
}

static double optimum(cr_ctx *cx, data *d, double *b)
{
    cr_problem          p = { .n = P, .objective = whole, .user = d };
    cr_minimize_options o = cr_minimize_defaults();
    cr_minimize_report  r;
    o.method = CR_METHOD_NEWTON;
    o.gradient_tolerance = 1e-12;
    memset(b, 0, P * sizeof *b);
    assert_ok(cx, cr_minimize(cx, &p, &o, b, &r));
    assert_true(r.gradient_norm < 1e-8);
    return r.f;
}

TEST(reaches_the_batch_optimum)
{
    static const struct {
        int    rule, schedule;
        size_t batch;
        double rate, decay;
        bool   average;
        double tolerance;
    } cases[] = {
        { CR_SGD_PLAIN, CR_SGD_CONSTANT, N, 1, 0, false, 1e-6 }, /* batch: exact      */
        { CR_SGD_MOMENTUM, CR_SGD_CONSTANT, N, 0.5, 0, false, 1e-6 },
        { CR_SGD_ADAM, CR_SGD_COSINE, N, 0.1, 0, false, 1e-4 },
        { CR_SGD_PLAIN, CR_SGD_INVERSE, 1, 0.5, 0.5, true, 2e-2 }, /* on-line, averaged */
        { CR_SGD_PLAIN, CR_SGD_ROOT, 16, 0.5, 1, true, 2e-2 },     /* mini-batches      */
        { CR_SGD_MOMENTUM, CR_SGD_COSINE, 16, 0.1, 0, true, 2e-2 },
        { CR_SGD_ADAM, CR_SGD_COSINE, 32, 0.03, 0, true, 2e-2 },
    };
    data   d;
    double best[P], f, there;
    make_data(&d);
    f = optimum(cx, &d, best);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        cr_stochastic_problem p = { .n = P, .items = N, .batch = batch, .user = &d };
        cr_stochastic_options o = cr_stochastic_defaults();
        cr_minimize_report    r;
        double                b[P] = { 0 };
        o.rule = cases[k].rule, o.schedule = cases[k].schedule, o.batch = cases[k].batch;
        o.rate = cases[k].rate, o.decay = cases[k].decay, o.average = cases[k].average;
        o.epochs = o.batch == N ? 2000 : 200;
        assert_ok(cx, cr_minimize_stochastic(cx, &p, &o, b, &r));
        assert_int_equal(r.stop, CR_END_MAX_ITER);
        assert_int_equal(r.iterations, o.epochs);
        assert_int_equal(r.f_evaluations, o.epochs * ((N + o.batch - 1) / o.batch));
        for (size_t j = 0; j < P; j++) assert_close(b[j], best[j], cases[k].tolerance);
        assert_ok(cx, whole(&d, b, P, &there, NULL));
        assert_true(there - f < cases[k].tolerance * cases[k].tolerance + 1e-9);
        assert_close(r.trace[r.trace_length - 1], f, 2e-2);
    }
}

/* One step of each rule by hand, and the schedules. */
TEST(first_steps)
{
    data   d;
    double zero[P] = { 0 }, g[P], f;
    make_data(&d);
    whole(&d, zero, P, &f, g);
    for (int rule = CR_SGD_PLAIN; rule <= CR_SGD_ADAM; rule++) {
        cr_stochastic_problem p = { .n = P, .items = N, .batch = batch, .user = &d };
        cr_stochastic_options o = cr_stochastic_defaults();
        cr_minimize_report    r;
        double                b[P] = { 0 }, g2[P], two[P];
        o.rule = rule, o.batch = N, o.order = CR_SGD_GIVEN, o.rate = 0.25, o.epochs = 1;
        assert_ok(cx, cr_minimize_stochastic(cx, &p, &o, b, &r));
        for (size_t j = 0; j < P; j++) /* the first step of adam has size rate */
            assert_close(b[j], -0.25 * (rule == CR_SGD_ADAM ? copysign(1, g[j]) : g[j]), 1e-6);
        assert_close(r.f, f, 1e-12);
        if (rule == CR_SGD_ADAM) continue;
        whole(&d, b, P, &f, g2);
        for (int schedule = CR_SGD_CONSTANT; schedule <= CR_SGD_COSINE; schedule++) {
            static const double second[] = { 1, 1 / 1.5, 0.81649658092772603, 0.5 };
            o.schedule = schedule, o.decay = 0.5, o.epochs = 2;
            memset(two, 0, sizeof two);
            assert_ok(cx, cr_minimize_stochastic(cx, &p, &o, two, &r));
            for (size_t j = 0; j < P; j++) {
                double direction = g2[j] + (rule == CR_SGD_MOMENTUM ? 0.9 * g[j] : 0);
                assert_close(two[j], b[j] - 0.25 * second[schedule] * direction, 1e-12);
            }
        }
        whole(&d, zero, P, &f, g);
    }
}

TEST(order_and_bits)
{
    data   d;
    double b[4][P] = { { 0 } };
    for (int k = 0; k < 4; k++) {
        cr_stochastic_problem p = { .n = P, .items = N, .batch = batch, .user = &d };
        cr_stochastic_options o = cr_stochastic_defaults();
        cr_minimize_report    r;
        make_data(&d);
        o.batch = 7, o.epochs = 3, o.seed = k == 2,
        o.order = k == 3 ? CR_SGD_GIVEN : CR_SGD_SHUFFLED;
        assert_ok(cx, cr_minimize_stochastic(cx, &p, &o, b[k], &r));
        for (size_t i = 0; i < N; i++) assert_int_equal(d.seen[i], 3); /* each once per epoch */
        assert_int_equal(d.largest, 7);
    }
    assert_memory_equal(b[0], b[1], sizeof b[0]);

    cr_stochastic_problem p = { .n = P, .items = N, .batch = batch, .user = &d };
    cr_stochastic_options o = cr_stochastic_defaults();
    cr_minimize_report    r;
    double                x[P] = { 0 };
    make_data(&d);
    o.batch = N, o.epochs = 3; /* another order in each epoch */
    assert_ok(cx, cr_minimize_stochastic(cx, &p, &o, x, &r));
    assert_true(d.first[0] != d.first[1] && d.first[1] != d.first[2]);
    assert_true(memcmp(b[0], b[2], sizeof b[0]) != 0 && memcmp(b[0], b[3], sizeof b[0]) != 0);
}

static cr_status explodes(void *user, const double *x, size_t n, const size_t *items, size_t k,
                          double *out_f, double *out_g)
{
    (void)user, (void)items, (void)n;
    *out_f = x[0] * x[0] * (double)k;
    out_g[0] = 2 * x[0] * (double)k;
    return CR_OK;
}

TEST(stops)
{
    cr_stochastic_problem p = { .n = 1, .items = 5, .batch = explodes };
    cr_stochastic_options o = cr_stochastic_defaults();
    cr_minimize_report    r;
    double                x[1] = { 1 }, lower[1] = { 0.5 };
    o.rule = CR_SGD_PLAIN, o.schedule = CR_SGD_CONSTANT, o.rate = 100, o.epochs = 1000;
    assert_ok(cx, cr_minimize_stochastic(cx, &p, &o, x, &r));
    assert_int_equal(r.stop, CR_END_NOT_FINITE);
    assert_true(isfinite(x[0]));
    x[0] = 1, o.rate = 0.1, o.f_tolerance = 1e-9;
    assert_ok(cx, cr_minimize_stochastic(cx, &p, &o, x, &r));
    assert_int_equal(r.stop, CR_END_F);
    assert_close(x[0], 0, 1e-4);
    x[0] = -3, p.lower = lower;
    assert_ok(cx, cr_minimize_stochastic(cx, &p, &o, x, &r));
    assert_true(x[0] == 0.5);
    o.f_tolerance = 0, o.time_limit = 1e-9;
    assert_ok(cx, cr_minimize_stochastic(cx, &p, &o, x, &r));
    assert_int_equal(r.stop, CR_END_TIME);
    p.items = 0, o.time_limit = NAN;
    assert_ok(cx, cr_minimize_stochastic(cx, &p, &o, x, &r));
    assert_int_equal(r.iterations, 0);
    p = (cr_stochastic_problem){ .n = 1, .items = 5, .batch = explodes };
    o.batch = 0;
    assert_fails(cx, cr_minimize_stochastic(cx, &p, &o, x, &r), CR_EARG);
    o = cr_stochastic_defaults(), o.rate = NAN;
    assert_fails(cx, cr_minimize_stochastic(cx, &p, &o, x, &r), CR_EARG);
    o = cr_stochastic_defaults(), o.momentum = 1;
    assert_fails(cx, cr_minimize_stochastic(cx, &p, &o, x, &r), CR_EARG);
    x[0] = NAN;
    assert_fails(cx, cr_minimize_stochastic(cx, &p, NULL, x, &r), CR_EARG);
}

TEST(interrupt)
{
    data                  d;
    cr_stochastic_problem p = { .n = P, .items = N, .batch = batch, .user = &d };
    cr_minimize_report    r;
    double                b[P] = { 1, 2, 3, 4 };
    make_data(&d);
    d.stop_cx = cx, d.left = 5;
    assert_fails(cx, cr_minimize_stochastic(cx, &p, NULL, b, &r), CR_EINTERRUPTED);
    assert_int_equal(d.batches, 6);
    assert_true(b[0] == 1 && b[3] == 4);
}

static cr_status run(cr_ctx *cx, void *arg)
{
    cr_stochastic_problem p = { .n = P, .items = N, .batch = batch, .user = arg };
    cr_minimize_report    r;
    double                b[P] = { 0 };
    return cr_minimize_stochastic(cx, &p, NULL, b, &r);
}

TEST(allocations_fail)
{
    data d;
    make_data(&d);
    test_every_allocation_fails(run, &d);
}
