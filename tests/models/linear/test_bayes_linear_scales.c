/* test_bayes_linear_scales.c -- both scales averaged over, against brute force: a grid over log lambda
 * and log s2 with the marginal density of contrasts of the targets, from which the evidence and the
 * moments of coefficients and predictions follow by the definition. */
#define _GNU_SOURCE /* M_PIl */
#include "../fixture.h"

enum { MOST_N = 12, MOST_P = 6, NEW = 4 };

/* What the grid sums: the mass, the mean of w, and E[s2 (Z'Z + l)^-1] + E[m m']. */
typedef struct brute {
    size_t      n, p;
    long double Z[MOST_N * MOST_P], t[MOST_N];              /* standardised and centred        */
    long double H[MOST_N * MOST_N];                         /* contrasts [n - 1 x n]           */
    long double mass, mean[MOST_P], second[MOST_P][MOST_P]; /* over the grid                   */
    long double noise;                                      /* E[s2]                           */
} brute;

static void standardise(brute *b, const double *X, const double *y, double *centre, double *scale)
{
    long double mean = 0;
    for (size_t i = 0; i < b->n; i++) mean += y[i] / (long double)b->n;
    for (size_t i = 0; i < b->n; i++) b->t[i] = y[i] - mean;
    for (size_t j = 0; j < b->p; j++) {
        long double c = 0, square = 0;
        for (size_t i = 0; i < b->n; i++) c += X[i * b->p + j] / (long double)b->n;
        for (size_t i = 0; i < b->n; i++) square += powl(X[i * b->p + j] - c, 2);
        long double s = sqrtl(square / (long double)b->n);
        for (size_t i = 0; i < b->n; i++) b->Z[i * b->p + j] = (X[i * b->p + j] - c) / s;
        centre[j] = (double)c, scale[j] = (double)s;
    }
}

/* Helmert's: orthonormal, each of sum 0. */
static void set_contrasts(brute *b)
{
    for (size_t k = 1; k < b->n; k++)
        for (size_t i = 0; i < b->n; i++)
            b->H[(k - 1) * b->n + i] = (i < k    ? 1
                                        : i == k ? -(long double)k
                                                 : 0) /
                                       sqrtl((long double)(k * (k + 1)));
}

/* The density of the contrasts of t at l with s2 = 1: |I + H Z Z' H' / l| and the quadratic form. */
static long double contrast_form(const brute *b, long double l, long double *out_logdet)
{
    size_t      n = b->n - 1;
    long double C[MOST_N * MOST_N], v[MOST_N], A[MOST_N * MOST_P];
    for (size_t k = 0; k < n; k++) {
        v[k] = 0;
        for (size_t i = 0; i < b->n; i++) v[k] += b->H[k * b->n + i] * b->t[i];
        for (size_t j = 0; j < b->p; j++) {
            A[k * b->p + j] = 0;
            for (size_t i = 0; i < b->n; i++)
                A[k * b->p + j] += b->H[k * b->n + i] * b->Z[i * b->p + j];
        }
    }
    for (size_t k = 0; k < n; k++)
        for (size_t q = 0; q < n; q++) {
            C[k * n + q] = k == q;
            for (size_t j = 0; j < b->p; j++) C[k * n + q] += A[k * b->p + j] * A[q * b->p + j] / l;
        }
    return quadratic_form(n, C, v, out_logdet);
}

/* S = (Z'Z + l)^-1 and m = S Z't. */
static void posterior_at(const brute *b, long double l, long double *S, long double *m)
{
    size_t      p = b->p;
    long double A[MOST_P * MOST_P];
    for (size_t j = 0; j < p; j++)
        for (size_t k = 0; k < p; k++) {
            A[j * p + k] = j == k ? l : 0;
            S[j * p + k] = j == k;
            for (size_t i = 0; i < b->n; i++) A[j * p + k] += b->Z[i * p + j] * b->Z[i * p + k];
        }
    solve_dense(p, A, S, p);
    for (size_t j = 0; j < p; j++) {
        m[j] = 0;
        for (size_t k = 0; k < p; k++)
            for (size_t i = 0; i < b->n; i++) m[j] += S[j * p + k] * b->Z[i * p + k] * b->t[i];
    }
}

static void add_up(brute *b)
{
    const long double step_l = 0.125L, step_s = 0.125L, n = (long double)b->n;
    long double       tt = 0;
    for (size_t i = 0; i < b->n; i++) tt += b->t[i] * b->t[i];
    for (long double x = -40; x <= 60; x += step_l) { /* sqrt(p / l) is half-Cauchy */
        long double l = (long double)b->p * expl(x), logdet, S[MOST_P * MOST_P], m[MOST_P];
        long double form = contrast_form(b, l, &logdet), here = 0, square = 0;
        long double prior = step_l / (2 * M_PIl * coshl(x / 2));
        posterior_at(b, l, S, m);
        for (long double u = -60; u <= 45; u += step_s) { /* log s2 is flat */
            long double s2 = tt / n * expl(u);
            long double f = prior * step_s *
                            expl(-0.5L * (form / s2 + logdet + (n - 1) * logl(2 * M_PIl * s2)));
            here += f;
            square += f * s2;
        }
        b->mass += here;
        b->noise += square;
        for (size_t j = 0; j < b->p; j++) {
            b->mean[j] += here * m[j];
            for (size_t k = 0; k < b->p; k++)
                b->second[j][k] += square * S[j * b->p + k] + here * m[j] * m[k];
        }
    }
    for (size_t j = 0; j < b->p; j++) b->mean[j] /= b->mass;
    for (size_t j = 0; j < b->p; j++)
        for (size_t k = 0; k < b->p; k++)
            b->second[j][k] = b->second[j][k] / b->mass - b->mean[j] * b->mean[k];
    b->noise /= b->mass;
}

static void check_against_brute_force(cr_ctx *cx, uint64_t seed, size_t n, size_t p,
                                      const char *settings)
{
    brute  b = { .n = n, .p = p };
    double X[MOST_N * MOST_P], y[MOST_N], T[NEW * MOST_P], v[NEW], centre[MOST_P], scale[MOST_P];
    draw_regression(seed, n, p, 0.7, X, y);
    draw_regression(seed + 100, NEW, p, 0.7, T, v);
    standardise(&b, X, y, centre, scale);
    set_contrasts(&b);
    add_up(&b);
    cr_table *t = make_table(cx, X, n, p, y, NULL), *new = make_table(cx, T, NEW, p, NULL, NULL);
    cr_model *m = fit(cx, "bayes-linear", t, settings);
    json_t   *d = describe(cx, m);
    cr_prediction q = predict(cx, m, new);
    long double   tt = 0, mean = 0;
    for (size_t i = 0; i < n; i++) tt += b.t[i] * b.t[i], mean += y[i] / (long double)n;

    /* a flat intercept and a flat log s2 of the height that one row's worth of either has */
    double evidence = (double)(logl(b.mass) - 0.5L * logl((long double)n) -
                               0.5L * logl(2 * M_PIl * tt / n) - 0.5L * logl(4 * M_PIl));
    assert_close(cr_model_get_report(m)->log_evidence, evidence, 1e-6);
    for (size_t j = 0; j < p; j++) {
        assert_relative(coefficient(d, j + 1, "value"), (double)b.mean[j] / scale[j], 1e-6);
        assert_relative(coefficient(d, j + 1, "sd"), (double)sqrtl(b.second[j][j]) / scale[j],
                        1e-6);
    }
    for (size_t i = 0; i < NEW; i++) {
        long double at = mean, variance = b.noise * (1 + 1 / (long double)n);
        double      sd, lower, upper;
        for (size_t j = 0; j < p; j++) {
            long double z = (T[i * p + j] - centre[j]) / scale[j];
            at += z * b.mean[j];
            for (size_t k = 0; k < p; k++)
                variance += z * (T[i * p + k] - centre[k]) / scale[k] * b.second[j][k];
        }
        cr_prediction_interval(cx, &q, i, 0.95, &sd, &lower, &upper);
        assert_relative(q.mean[i], (double)at, 1e-6);
        assert_relative(sd, (double)sqrtl(variance), 1e-6);
        assert_true(q.dof[i] == (double)n - 1);
    }
}

TEST(brute_force)
{
    check_against_brute_force(cx, 1, 6, 2, "target=y");
    check_against_brute_force(cx, 2, 12, 3, "target=y");
    check_against_brute_force(cx, 3, 7, 1, "target=y");
    check_against_brute_force(cx, 4, 6, 6, "target=y"); /* more columns than contrasts */
    check_against_brute_force(cx, 4, 6, 6, "target=y solver=dual");
    check_against_brute_force(cx, 5, 9, 3, "target=y solver=dual");
}

/* The least rows: wide intervals, none of them empty; a line through all points, no noise at all. */
TEST(least_rows)
{
    const double x[5] = { 1, 2, 4, 7, 9 }, y[5] = { 2, 1, 5, 4, 9 }, line[5] = { 3, 5, 9, 15, 19 };
    for (size_t n = 2; n <= 5; n++) {
        cr_table     *t = make_table(cx, x, n, 1, y, NULL);
        cr_model     *m = fit(cx, "bayes-linear", t, "target=y");
        cr_prediction q = predict(cx, m, t);
        double        sd, lower, upper;
        cr_prediction_interval(cx, &q, 0, 0.95, &sd, &lower, &upper);
        assert_true(isfinite(cr_model_get_report(m)->log_evidence));
        assert_true(upper - lower > 1 && upper - lower < 100);
    }
    cr_table     *t = make_table(cx, x, 5, 1, line, NULL);
    cr_model     *m = fit(cx, "bayes-linear", t, "target=y");
    cr_prediction q = predict(cx, m, t);
    assert_close(q.mean[1], 5, 1e-6);
    assert_true(q.scale[1] > 0 && q.scale[1] < 1e-2);
}

/* With many rows both scales are as good as known: the values of highest evidence. */
TEST(many_rows)
{
    enum { n = 4000, p = 3 };
    static double X[n * p], y[n];
    draw_regression(9, n, p, 0.7, X, y);
    cr_table     *t = make_table(cx, X, n, p, y, NULL);
    cr_model     *a = fit(cx, "bayes-linear", t, "target=y");
    cr_model     *b = fit(cx, "bayes-linear", t, "target=y optimize=fixed-point");
    cr_prediction f = predict(cx, a, t), g = predict(cx, b, t);
    for (size_t i = 0; i < n; i++) {
        assert_close(f.mean[i], g.mean[i], 1e-3);
        assert_relative(f.scale[i], g.scale[i], 1e-3);
    }
    assert_relative(statistic(describe(cx, a), "noise_sd"), statistic(describe(cx, b), "noise_sd"),
                    1e-3);
}
