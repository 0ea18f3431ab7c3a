/* test_calibrate.c -- maps of probabilities: against enumeration, bisection and what they promise.
 */
#include "../study/fixture.h"
#include "life.h"
#include "data/table/subset.h"
#include "math/special/special.h"
#include "models/core/calibrate.h"

/* Probabilities of a class that is right in the share `truth` of its rows says: said [n]
 * overconfident. */
static void draw(cr_rng *r, size_t n, double sharpness, double *P, uint32_t *codes)
{
    for (size_t i = 0; i < n; i++) {
        double z = 1.5 * cr_rng_normal(r), truth = cr_sigmoid(z);
        codes[i] = cr_rng_uniform(r) < truth;
        P[2 * i + 1] = cr_sigmoid(sharpness * z);
        P[2 * i] = 1 - P[2 * i + 1];
    }
}

static double log_loss(const double *P, const uint32_t *codes, size_t n, size_t K)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum -= log(P[i * K + codes[i]]) / (double)n;
    return sum;
}

enum { N = 4000 };

TEST(overconfident)
{
    cr_rng    r = cr_rng_stream(1, 1);
    double   *P = calloc(2 * N, sizeof *P), *Q = calloc(2 * N, sizeof *Q);
    uint32_t *codes = calloc(N, sizeof *codes);
    draw(&r, N, 4, P, codes); /* four times too sure */
    for (size_t method = 1; method <= 2; method++) {
        cri_calibration *c = NULL;
        assert_ok(cx, cri_calibration_fit(cx, method, P, false, codes, NULL, N, 2, &c));
        draw(&r, N, 4, Q, codes); /* new rows */
        double before = log_loss(Q, codes, N, 2);
        cri_calibration_apply(c, Q, NULL, N);
        double after = log_loss(Q, codes, N, 2);
        assert_true(after < before - 0.1);
        if (method == CRI_CALIBRATE_PLATT) {
            assert_close(c->calibration_slope[0], 0.25, 0.02); /* what undoes the sharpness */
            assert_close(c->calibration_offset[0], 0, 0.1);
        }
        for (size_t i = 0; i < N; i++) assert_true(fabs(Q[2 * i] + Q[2 * i + 1] - 1) < 1e-15);
        cri_calibration_free(cx, c);
        draw(&r, N, 4, P, codes);
    }
    free(P);
    free(Q);
    free(codes);
}

/* Shares that come true as promised stay: exactly for steps, nearly for Platt. */
TEST(identity)
{
    double           P[2 * 1000], Q[2 * 1000];
    uint32_t         codes[1000];
    cri_calibration *c = NULL;
    for (size_t i = 0; i < 1000;
         i++) { /* ten levels 0.05 .. 0.95, each right as often as it says */
        double p = 0.05 + 0.1 * (double)(i / 100);
        P[2 * i + 1] = p, P[2 * i] = 1 - p;
        codes[i] = (double)(i % 100) < 100 * p - 0.5;
    }
    assert_ok(cx,
              cri_calibration_fit(cx, CRI_CALIBRATE_ISOTONIC, P, false, codes, NULL, 1000, 2, &c));
    memcpy(Q, P, sizeof P);
    cri_calibration_apply(c, Q, NULL, 1000);
    for (size_t i = 0; i < 2000; i++) assert_close(Q[i], P[i], 1e-12);
    double between[2] = { 1 - 0.1, 0.1 }, beyond[2] = { 0, 1 }, unknown[2] = { NAN, NAN };
    cri_calibration_apply(c, between, NULL,
                          1); /* straight lines between the steps, level beyond them */
    assert_close(between[1], 0.1, 1e-12);
    cri_calibration_apply(c, beyond, NULL, 1);
    assert_close(beyond[1], 0.95, 1e-12);
    cri_calibration_apply(c, unknown, NULL, 1);
    assert_true(isnan(unknown[1]));
    cri_calibration_free(cx, c);
    assert_ok(cx, cri_calibration_fit(cx, CRI_CALIBRATE_PLATT, P, false, codes, NULL, 1000, 2, &c));
    assert_close(c->calibration_slope[0], 1, 0.01);
    assert_close(c->calibration_offset[0], 0, 0.01);
    cri_calibration_free(cx, c);
}

/* Platt's likelihood is least at the fit: both derivatives vanish, by differences; weights repeat
 * rows. */
TEST(platt_optimum)
{
    enum { M = 30 };
    cr_rng           r = cr_rng_stream(7, 1);
    double           P[2 * M], P2[4 * M], w[M];
    uint32_t         codes[M], codes2[2 * M];
    cri_calibration *c = NULL, *d = NULL;
    draw(&r, M, 2, P, codes);
    double plus = 0;
    for (size_t i = 0; i < M; i++) plus += codes[i];
    assert_ok(cx, cri_calibration_fit(cx, CRI_CALIBRATE_PLATT, P, false, codes, NULL, M, 2, &c));
    double g[2] = { 0, 0 };
    for (size_t i = 0; i < M; i++) {
        double z = log(P[2 * i + 1] / P[2 * i]),
               t = codes[i] ? (plus + 1) / (plus + 2) : 1 / (M - plus + 2);
        double q = 1 / (1 + exp(-(c->calibration_slope[0] * z + c->calibration_offset[0])));
        g[0] += (q - t) * z, g[1] += q - t;
    }
    assert_close(g[0], 0, 1e-7);
    assert_close(g[1], 0, 1e-7);
    for (size_t i = 0; i < M; i++) {
        w[i] = 2;
        memcpy(P2 + 2 * i, P + 2 * i, 2 * sizeof *P),
            memcpy(P2 + 2 * (M + i), P + 2 * i, 2 * sizeof *P);
        codes2[i] = codes2[M + i] = codes[i];
    }
    cri_calibration_free(cx, c);
    for (size_t method = 1; method <= 2; method++) {
        assert_ok(cx, cri_calibration_fit(cx, method, P, false, codes, w, M, 2, &c));
        assert_ok(cx, cri_calibration_fit(cx, method, P2, false, codes2, NULL, 2 * M, 2, &d));
        double a[2] = { 0.3, 0.7 }, b[2] = { 0.3, 0.7 };
        cri_calibration_apply(c, a, NULL, 1);
        cri_calibration_apply(d, b, NULL, 1);
        assert_close(a[1], b[1], 1e-8);
        cri_calibration_free(cx, c);
        cri_calibration_free(cx, d);
    }
}

/* Perfect separation, one class only, extreme probabilities: finite answers between 0 and 1. */
TEST(corners)
{
    const double   P[] = { 1, 0, 0.9, 0.1, 0.2, 0.8, 0, 1 };
    const uint32_t apart[] = { 0, 0, 1, 1 }, one[] = { 0, 0, 0, 0 };
    for (size_t method = 1; method <= 2; method++)
        for (size_t k = 0; k < 2; k++) {
            cri_calibration *c = NULL;
            double           Q[8];
            memcpy(Q, P, sizeof P);
            assert_ok(cx,
                      cri_calibration_fit(cx, method, P, false, k ? one : apart, NULL, 4, 2, &c));
            cri_calibration_apply(c, Q, NULL, 4);
            for (size_t i = 0; i < 8; i++) assert_true(Q[i] >= 0 && Q[i] <= 1);
            for (size_t i = 0; i < 4; i++) assert_true(k || isfinite(log(Q[2 * i + apart[i]])));
            for (size_t i = 1; i < 4; i++)
                assert_true(Q[2 * i + 1] >= Q[2 * i - 1]); /* the order stays */
            if (method == CRI_CALIBRATE_ISOTONIC && !k) assert_close(Q[1], 1.0 / 6, 1e-15);
            cri_calibration_free(cx, c);
        }
}

/* --- in models ------------------------------------------------------------------------------- */

TEST(models)
{
    for (size_t K = 2; K <= 3; K++)
        for (size_t method = 0; method < 2; method++) {
            cr_table   *t = class_table(cx, 120, K, 9);
            const char *how =
                method ? "target=y features=x* lambda=0.01 calibrate=platt"
                       : "target=y features=x* lambda=0.01 calibrate=isotonic calibrate_folds=4";
            cr_model     *plain = fit(cx, "logistic", t, "target=y features=x* lambda=0.01");
            cr_model     *m = fit(cx, "logistic", t, how), *loaded = NULL;
            cr_prediction p = predict(cx, plain, t), q = predict(cx, m, t), l;
            char         *bytes = NULL;
            size_t        size = 0, moved = 0;
            for (size_t i = 0; i < 120; i++) {
                double sum = 0;
                for (size_t k = 0; k < K; k++) sum += q.prob[i * K + k];
                assert_close(sum, 1, 1e-14);
                moved += p.prob[i * K] != q.prob[i * K];
            }
            assert_true(moved > 100);
            assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
            assert_ok(cx, cr_model_from_bytes(cx, "m", bytes, size, &loaded));
            l = predict(cx, loaded, t);
            assert_memory_equal(l.prob, q.prob, 120 * K * sizeof(double));
            cr_free(cx, bytes, size, 1);
            cr_model_free(cx, loaded);
        }
    double X[20], y[20];
    draw_regression(1, 20, 1, 1, X, y);
    cr_table *t = make_table(cx, X, 20, 1, y, NULL);
    cr_model *m = NULL;
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y calibrate=platt", &m), CR_EARG,
                      "--calibrate platt needs a model that predicts classes");
    assert_null(m);
}

/* Rows in another order, with classes and a category: the same map; of few rows the folds hardly matter. */
TEST(order_and_seed)
{
    enum { FEW = 60 };
    const char *const how[] = { "target=k calibrate=platt", "target=k calibrate=isotonic",
                                "target=k weights=w calibrate=platt" };
    cr_table         *t = NULL, *other = NULL;
    cr_rng            r = cr_rng_stream(8, 2);
    double            x[FEW], w[FEW];
    uint32_t          g[FEW], k[FEW];
    size_t            order[FEW];
    for (size_t i = 0; i < FEW; i++) {
        x[i] = round(10 * cr_rng_normal(&r)) / 10, w[i] = 1 + (double)cr_rng_below(&r, 3);
        g[i] = (uint32_t)cr_rng_below(&r, 2);
        k[i] = x[i] + (g[i] == 1) + 1.5 * cr_rng_normal(&r) > 0;
    }
    assert_ok(cx, cr_table_new(cx, "t", FEW, &t));
    test_own(cx, t, release_table);
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    assert_ok(cx, cr_table_add_category(cx, t, "g", g, (const char *const[]){ "u", "v" }, 2));
    assert_ok(cx, cr_table_add_category(cx, t, "k", k, (const char *const[]){ "a", "b" }, 2));
    assert_ok(cx, cr_table_add_numbers(cx, t, "w", CR_INTEGER, w, 1));
    cr_rng_permutation(&r, FEW, order);
    assert_ok(cx, cri_table_subset(cx, t, order, FEW, &other));
    test_own(cx, other, release_table);
    for (size_t s = 0; s < 3; s++) {
        cr_prediction p = predict(cx, fit(cx, "naive-bayes", t, how[s]), t);
        cr_prediction q = predict(cx, fit(cx, "naive-bayes", other, how[s]), t);
        for (size_t i = 0; i < 2 * FEW; i++) assert_close(p.prob[i], q.prob[i], 1e-12);
    }
    double most = 0;
    for (size_t seed = 0; seed < 6; seed++) {
        char settings[64];
        snprintf(settings, sizeof settings, "%s seed=%zu", how[0], seed);
        cr_prediction p = predict(cx, fit(cx, "naive-bayes", t, how[0]), t);
        cr_prediction q = predict(cx, fit(cx, "naive-bayes", t, settings), t);
        for (size_t i = 0; i < 2 * FEW; i++) most = fmax(most, fabs(p.prob[i] - q.prob[i]));
    }
    assert_true(most < 0.04); /* 0.06 to 0.09 with a single split */
}

TEST(allocations)
{
    const double      x[] = { 1, 2, 3, 4, 7, 5, 8, 9 }, y[] = { 0, 1, 0, 1, 1, 1, 0, 1 };
    const char *const settings[] = { "target=y lambda=1 calibrate=isotonic calibrate_folds=2",
                                     "target=y lambda=1 calibrate=platt calibrate_folds=2", NULL };
    check_allocations_on(x, 8, 1, y, "logistic", settings);
}

/* Pairs that agree with shares p, r_ij = p_i / (p_i + p_j), give these; those that do not, the least squares of their
 * disagreement. */
TEST(pairs_are_coupled)
{
    enum { K = 4, PAIRS = 6 };
    const double     wanted[K] = { 0.5, 0.3, 0.15, 0.05 };
    double           f[PAIRS], p[K] = { 0 }, least = INFINITY;
    cri_calibration *c = cri_calibration_new(cx, CRI_CALIBRATE_PLATT, K, true, 0);
    for (size_t pair = 0; pair < PAIRS; pair++) {
        size_t i, j;
        cri_pair_classes(K, pair, &i, &j);
        c->calibration_slope[pair] = 2;
        f[pair] = 0.5 * log(wanted[j] / wanted[i]);
    }
    cri_calibration_apply(c, p, f, 1);
    for (size_t k = 0; k < K; k++) assert_close(p[k], wanted[k], 1e-9);
    f[0] += 0.7, f[3] -= 0.4;
    cri_calibration_apply(c, p, f, 1);
    cr_rng rng = cr_rng_stream(1, 0);
    for (int trial = 0; trial < 2000; trial++) { /* the answer, then others near it */
        double q[K], sum = 0, loss = 0;
        for (size_t k = 0; k < K; k++)
            sum += q[k] = p[k] * exp(trial ? 0.02 * cr_rng_normal(&rng) : 0);
        for (size_t pair = 0; pair < PAIRS; pair++) {
            size_t i, j;
            cri_pair_classes(K, pair, &i, &j);
            double rj = 1 / (1 + exp(-2 * f[pair])), d = (rj * q[i] - (1 - rj) * q[j]) / sum;
            loss += d * d;
        }
        if (trial == 0) least = loss;
        assert_true(loss >= least);
    }
    cri_calibration_free(cx, c);
}
