/* test_linear_weights.c -- weights of least squares: rows that repeat, precisions, rows of no
 * weight. */
#define _GNU_SOURCE /* M_PIl */
#include "same_linear.h"

enum { N = 23, P = 4 };

/* --- weights as precisions ------------------------------------------------------------------- */

/* By the definition in long double: n rows, Var e = s^2 / w; the likelihood; a new row of weight
 * 1. */
static void check_precisions(cr_ctx *cx, const json_t *d, const cr_prediction *q, const double *X,
                             const double *y, const double *w, double loglik)
{
    enum { Q = P + 1 };
    long double A[Q * Q] = { 0 }, B[Q * (Q + 1)] = { 0 }, rss = 0, logs = 0, n = 0, C[Q * Q];
    for (size_t i = 0; i < N; i++) {
        long double x[Q] = { 1 };
        for (size_t j = 0; j < P; j++) x[j + 1] = X[i * P + j];
        for (size_t a = 0; a < Q; a++) {
            for (size_t b = 0; b < Q; b++) A[a * Q + b] += w[i] * x[a] * x[b];
            B[a * (Q + 1) + Q] += w[i] * x[a] * y[i];
        }
    }
    for (size_t a = 0; a < Q; a++) B[a * (Q + 1) + a] = 1;
    solve_dense(Q, A, B, Q + 1);
    for (size_t a = 0; a < Q * Q; a++) C[a] = B[a / Q * (Q + 1) + a % Q];
    for (size_t i = 0; i < N; i++) {
        long double e = y[i] - B[Q];
        for (size_t j = 0; j < P; j++) e -= B[(j + 1) * (Q + 1) + Q] * X[i * P + j];
        rss += w[i] * e * e;
        if (w[i] > 0) n++, logs += logl(w[i]);
    }
    long double s2 = rss / (n - Q);
    assert_relative(statistic(d, "residual_sd"), sqrt((double)s2), 1e-11);
    assert_relative(statistic(d, "residual_dof"), (double)(n - Q), 1e-14);
    assert_relative(loglik, (double)(-n / 2 * (logl(2 * M_PIl * rss / n) + 1) + logs / 2), 1e-11);
    for (size_t a = 0; a < Q; a++) {
        assert_close(coefficient(d, a, "value"), (double)B[a * (Q + 1) + Q], 1e-11);
        assert_relative(coefficient(d, a, "sd"), sqrt((double)(s2 * C[a * Q + a])), 1e-10);
    }
    for (size_t i = 0; i < N; i++) {
        long double h = 0, x[Q] = { 1 };
        for (size_t j = 0; j < P; j++) x[j + 1] = X[i * P + j];
        for (size_t a = 0; a < Q * Q; a++) h += x[a / Q] * C[a] * x[a % Q];
        assert_relative(q->scale[i], sqrt((double)(s2 * (1 + h))), 1e-10);
        assert_close(q->dof[i], (double)(n - Q), 1e-12);
    }
    (void)cx;
}

TEST(weights_are_precisions)
{
    double X[N * P], y[N], w[N];
    draw_regression(4, N, P, 0.7, X, y);
    for (size_t i = 0; i < N; i++) w[i] = 0.003 * (double)(i % 5);
    cr_table *t = make_table(cx, X, N, P, y, w), *half[2];
    for (size_t k = 0; k < 2; k++)
        half[k] = make_table(cx, X + k * (N / 2) * P, k ? N - N / 2 : N / 2, P, y + k * (N / 2),
                             w + k * (N / 2));
    const char *const kinds[] = { "target=y weights=w weights-are=precisions solver=qr",
                                  "target=y weights=w weights-are=precisions solver=gram" };
    for (size_t k = 0; k < 3; k++) {
        cr_model *m = fit(cx, "linear", k < 2 ? t : half[0], kinds[k % 2]), *next = NULL;
        if (k == 2) { /* an update, by a file in between */
            char  *bytes = NULL;
            size_t size = 0;
            assert_ok(cx, cr_update(cx, m, half[1], &next));
            cr_model_free(cx, m);
            assert_ok(cx, cr_model_to_bytes(cx, next, &bytes, &size));
            assert_ok(cx, cr_model_from_bytes(cx, "it", bytes, size, &m));
            cr_free(cx, bytes, size, 1);
            cr_model_free(cx, next);
        }
        json_t       *d = describe(cx, m);
        cr_prediction q = predict(cx, m, t);
        check_precisions(cx, d, &q, X, y, w, cr_model_get_report(m)->log_likelihood);
        cr_model_free(cx, m);
    }
    cr_model *none = NULL;
    assert_fails_with(
        cx,
        try_fit(cx, "linear", t, "target=y select=best weights=w weights-are=precisions", &none),
        CR_EARG, "--select treats weights as repetitions");
}

TEST(zero_weight_removes_a_row)
{
    double X[(N + 1) * P], y[N + 1], w[N + 1];
    draw_regression(2, N, P, 0.7, X, y);
    for (size_t i = 0; i < N; i++) w[i] = 0.5 + 0.1 * (double)i;
    for (size_t j = 0; j < P; j++) X[N * P + j] = 1e3;
    y[N] = -1e6, w[N] = 0;
    cr_table *with = make_table(cx, X, N + 1, P, y, w), *without = make_table(cx, X, N, P, y, w);
    cr_model *a = fit(cx, "linear", with, "target=y weights=w");
    cr_model *b = fit(cx, "linear", without, "target=y weights=w");
    check_same(cx, a, b, without, P, 1e-11);
    json_t *da = describe(cx, a), *db = describe(cx, b);
    assert_close(statistic(da, "loocv"), statistic(db, "loocv"), 1e-11);
    assert_close(statistic(da, "max_leverage"), statistic(db, "max_leverage"), 1e-11);
}
