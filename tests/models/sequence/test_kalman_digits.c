/* Digits that the filter and the smoother keep where variances differ by many orders of magnitude, against recursions of one
 * state in which no two numbers of the same sign are subtracted. */
#include "../fixture.h"
#include "models/sequence/kalman_system.h"

enum { N = 40 };

typedef struct walk {
    double      phi, q, h, P1; /* a_{t+1} = phi a_t + n_t,  y_t = a_t + e_t */
    double      y[N];
    long double a[N], V[N]; /* given all rows */
    double mean, variance;  /* the largest errors: of means in their sd, of variances relative */
} walk;

/* Rauch, Tung & Striebel's smoother: every term is positive. */
static void solve(walk *w)
{
    long double a[N], P[N], next = 0, ahead = w->P1;
    for (size_t t = 0; t < N; t++) {
        a[t] = (w->h * next + ahead * w->y[t]) / (ahead + w->h);
        P[t] = ahead * w->h / (ahead + w->h);
        next = w->phi * a[t];
        ahead = (long double)w->phi * w->phi * P[t] + w->q;
    }
    w->a[N - 1] = a[N - 1];
    w->V[N - 1] = P[N - 1];
    for (size_t t = N - 1; t-- > 0;) {
        long double moved = (long double)w->phi * w->phi * P[t] + w->q, J = w->phi * P[t] / moved;
        w->a[t] = w->q / moved * a[t] + J * w->a[t + 1];
        w->V[t] = P[t] * w->q / moved + J * J * w->V[t + 1];
    }
}

static void compare_row(void *arg, const cri_kalman_row *row)
{
    walk       *w = arg;
    double      one = 1, got = cri_kalman_covariance(row, &one, &one);
    long double V = w->V[row->t], off = fabsl((long double)row->a[0] - w->a[row->t]);
    w->mean = fmax(w->mean, (double)(off / sqrtl(V)));
    w->variance = fmax(w->variance, (double)fabsl(got / V - 1));
}

TEST(variances_of_all_magnitudes)
{
    static const struct {
        double phi, q, h, P1, mean, variance;
    } cases[] = {
        { 1, 0.1, 1, 1, 1e-13, 1e-13 },           { 1, 0.1, 1e-8, 1, 1e-10, 1e-13 },
        { 1, 0.1, 1e-12, 1, 1e-8, 1e-13 },        { 1, 0.1, 1e-16, 1, 1e-6, 1e-13 },
        { 1, 0.1, 1e-20, 1, 1e-5, 1e-13 },        { 1, 1e10, 1, 1, 1e-9, 1e-13 },
        { 1, 1e14, 1, 1, 1e-7, 1e-13 },           { 1, 1e-14, 1, 1, 1e-12, 1e-12 },
        { 1, 0.1, 1, 1e6, 1e-12, 1e-12 },         { 1, 0.1, 1, 1e10, 1e-12, 1e-12 },
        { 1, 0.1, 1, 1e14, 1e-12, 1e-12 },        { 1 - 1e-8, 1, 1, 5e7, 1e-12, 1e-12 },
        { 1 - 1e-8, 1, 1e-8, 5e7, 1e-10, 1e-12 },
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        cr_scratch        s = cr_scratch_begin(cx);
        cri_kalman_system a;
        cri_kalman_path   path;
        size_t            start[] = { 0, N };
        cr_rng            r = cr_rng_stream(5, c);
        walk   w = { .phi = cases[c].phi, .q = cases[c].q, .h = cases[c].h, .P1 = cases[c].P1 };
        double level = 0;
        assert_int_equal(cri_kalman_new(&s, 1, 1, 0, &a), CR_OK);
        a.T[0] = w.phi, a.Q[0] = w.q, a.h[0] = w.h, a.P1[0] = w.P1, a.Z[0] = 1;
        cri_kalman_pack(&a);
        for (size_t t = 0; t < N; t++) {
            w.y[t] = level + sqrt(w.h) * cr_rng_normal(&r);
            level = w.phi * level + sqrt(w.q) * cr_rng_normal(&r);
        }
        solve(&w);
        cri_kalman_data data = { .n = N, .series = 1, .start = start, .y = w.y };
        assert_ok(cx, cri_kalman_filter(cx, &a, &data, true, &path));
        assert_ok(cx, cri_kalman_smooth(cx, &path, compare_row, &w));
        if (w.mean > cases[c].mean || w.variance > cases[c].variance)
            fail_msg("h = %g, q = %g, P1 = %g: means are off by %g sd, variances by %g", w.h, w.q,
                     w.P1, w.mean, w.variance);
        cri_kalman_path_free(cx, &path);
        cr_scratch_end(&s);
    }
}

/* A value without noise leaves nothing to learn from the same value again, whatever it is weighed by. */
TEST(a_value_again_is_known_for_sure)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        cr_scratch        s = cr_scratch_begin(cx);
        cri_kalman_system a;
        cri_kalman_path   path;
        cr_rng            r = cr_rng_stream(seed, 1);
        size_t            start[] = { 0, 1 };
        double            y[] = { 1, 1 };
        assert_int_equal(cri_kalman_new(&s, 1, 2, 0, &a), CR_OK);
        a.T[0] = 1, a.Z[0] = a.Z[1] = cr_rng_normal(&r), a.P1[0] = exp(cr_rng_normal(&r));
        cri_kalman_pack(&a);
        cri_kalman_data data = { .n = 1, .series = 1, .start = start, .y = y };
        assert_ok(cx, cri_kalman_filter(cx, &a, &data, true, &path));
        assert_int_equal(path.failed, 0);
        cri_kalman_path_free(cx, &path);
        cr_scratch_end(&s);
    }
}

/* Two values of a walk without noise at once, the second of which adds nothing, and one that contradicts it. */
TEST(what_is_known_for_sure_stays_so)
{
    cr_scratch        s = cr_scratch_begin(cx);
    cri_kalman_system a;
    cri_kalman_path   path;
    size_t            start[] = { 0, 3 };
    double            y[] = { 1, 1, 2, 2, 3, 3 };
    assert_int_equal(cri_kalman_new(&s, 2, 2, 0, &a), CR_OK);
    a.T[0] = a.T[3] = 1;
    a.Q[0] = 0.3, a.Q[3] = 0.7;
    a.Z[0] = a.Z[1] = a.Z[2] = a.Z[3] = 1; /* the sum of both, twice */
    a.P1[0] = a.P1[3] = 2;
    cri_kalman_pack(&a);
    cri_kalman_data data = { .n = 3, .series = 1, .start = start, .y = y };
    assert_ok(cx, cri_kalman_filter(cx, &a, &data, true, &path));
    assert_int_equal(path.failed, 0);
    cri_kalman_path_free(cx, &path);
    cr_scratch_end(&s);
}
