/* test_spline.c -- smoothing splines against the dense equations of Green & Silverman and against
 * the Gaussian process they are, both in long double; limits and laws. */
#include "../fixture.h"

enum { N = 14, MOST = 40 };

static const double ties_x[N] = { 0.7, 2.9,  0.7, 4.1, 3.3, 8.2, 2.9,
                                  6.6, 5.05, 0.1, 7.3, 2.9, 9.9, 1.4 };
static const double ties_y[N] = { 1.3, -0.4, 2.1, 0.2, -1.6, 3.3, 0.9,
                                  1.8, -0.7, 2.6, 2.2, -1.1, 0.4, 1.9 };
static const double ties_w[N] = { 1, 2, 0.5, 1, 3, 1, 1, 0, 1, 2, 0.25, 1, 1, 1.5 };

/* --- the dense oracle ------------------------------------------------------------------------ */

typedef struct dense {
    size_t      m;
    double      t[MOST];          /* different x                        */
    long double g[MOST], V[MOST]; /* fit, and diagonal of (W + lambda K)^-1 */
    long double rss, df, gcv, rough, n;
} dense;

static size_t find_x(const dense *o, double x)
{
    size_t k = 0;
    while (k < o->m && o->t[k] != x) k++;
    return k;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* K = Q R^-1 Q^T, so that g^T K g is the integral of f''^2 (Green & Silverman 1994, (2.3)-(2.5)).
 */
static void bending(const double *t, size_t m, long double *K)
{
    long double Q[MOST * MOST] = { 0 }, R[MOST * MOST] = { 0 }, S[MOST * MOST];
    size_t      r = m - 2;
    for (size_t j = 0; j < r; j++) {
        long double a = (long double)t[j + 1] - t[j], b = (long double)t[j + 2] - t[j + 1];
        Q[j * r + j] = 1 / a;
        Q[(j + 1) * r + j] = -1 / a - 1 / b;
        Q[(j + 2) * r + j] = 1 / b;
        R[j * r + j] = (a + b) / 3;
        if (j + 1 < r) R[j * r + j + 1] = R[(j + 1) * r + j] = b / 6;
    }
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < m; i++) S[j * m + i] = Q[i * r + j];
    solve_dense(r, R, S, m);
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < m; k++) {
            K[i * m + k] = 0;
            for (size_t j = 0; j < r; j++) K[i * m + k] += Q[i * r + j] * S[j * m + k];
        }
}

static dense solve_oracle(const double *x, const double *y, const double *opt_w, size_t n,
                          double lambda)
{
    dense       o = { 0 };
    long double K[MOST * MOST], A[MOST * MOST], I[MOST * MOST] = { 0 }, W[MOST] = { 0 },
                                                         b[MOST] = { 0 };
    for (size_t i = 0; i < n; i++)
        if ((!opt_w || opt_w[i] > 0) && find_x(&o, x[i]) == o.m) o.t[o.m++] = x[i];
    qsort(o.t, o.m, sizeof *o.t, compare_doubles);
    for (size_t i = 0; i < n; i++) {
        double w = opt_w ? opt_w[i] : 1;
        if (w == 0) continue;
        W[find_x(&o, x[i])] += w;
        b[find_x(&o, x[i])] += (long double)w * y[i];
        o.n += w;
    }
    bending(o.t, o.m, K);
    for (size_t i = 0; i < o.m; i++) {
        I[i * o.m + i] = 1;
        for (size_t j = 0; j < o.m; j++)
            A[i * o.m + j] = lambda * K[i * o.m + j] + (i == j ? W[i] : 0);
    }
    solve_dense(o.m, A, I, o.m);
    for (size_t i = 0; i < o.m; i++) {
        for (size_t j = 0; j < o.m; j++) o.g[i] += I[i * o.m + j] * b[j];
        o.V[i] = I[i * o.m + i];
        o.df += W[i] * o.V[i];
    }
    for (size_t i = 0; i < o.m; i++)
        for (size_t j = 0; j < o.m; j++) o.rough += o.g[i] * K[i * o.m + j] * o.g[j];
    for (size_t i = 0; i < n; i++) {
        if (opt_w && opt_w[i] == 0) continue;
        long double e = y[i] - o.g[find_x(&o, x[i])];
        o.rss += (opt_w ? opt_w[i] : 1) * e * e;
    }
    o.gcv = o.n * o.rss / ((o.n - o.df) * (o.n - o.df));
    return o;
}

/* --- the Gaussian process -------------------------------------------------------------------- */

/* Covariance of the integrated Wiener process that starts at `from`. */
static long double wiener(long double from, long double s, long double t)
{
    long double a = s - from, b = t - from, low = a < b ? a : b, high = a < b ? b : a;
    return low * low * (3 * high - low) / 6;
}

/* log of the restricted likelihood at its best s^2, and mean and variance / s^2 at `at`: a line
 * with a flat prior + the process / lambda + noise of variance 1. */
static long double krige(const double *x, const double *y, size_t n, double lambda, double at,
                         long double *mean, long double *variance)
{
    long double from = 1e9, C[MOST * MOST], B[MOST * 4] = { 0 }, logdet, zero[MOST] = { 0 };
    for (size_t i = 0; i < n; i++) from = x[i] < from ? x[i] : from;
    if (at < from) from = at;
    long double V[MOST * MOST];
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            V[i * n + j] = C[i * n + j] = wiener(from, x[i], x[j]) / lambda + (i == j);
        B[i * 4] = 1, B[i * 4 + 1] = x[i], B[i * 4 + 2] = y[i];
        B[i * 4 + 3] = wiener(from, x[i], at) / lambda;
    }
    long double H[MOST * 4];
    memcpy(H, B, sizeof B);
    quadratic_form(n, C, zero, &logdet);
    solve_dense(n, V, B, 4);   /* B = V^-1 [1 x y c] */
    long double M[16] = { 0 }; /* H^T V^-1 H */
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < 4; b++)
            for (size_t i = 0; i < n; i++) M[a * 4 + b] += H[i * 4 + a] * B[i * 4 + b];
    long double det = M[0] * M[5] - M[1] * M[4];
    long double b0 = (M[5] * M[2] - M[1] * M[6]) / det, b1 = (M[0] * M[6] - M[4] * M[2]) / det;
    long double squares = M[10] - b0 * M[2] - b1 * M[6];
    long double d0 = 1 - M[3], d1 = at - M[7]; /* what the line does at `at` beyond the weights */
    *mean = b0 * d0 + b1 * d1 + M[11];
    *variance = wiener(from, at, at) / lambda - M[15] +
                (M[5] * d0 * d0 - 2 * M[1] * d0 * d1 + M[0] * d1 * d1) / det;
    long double left = (long double)n - 2, s2 = squares / left;
    return -0.5L * (left * (logl(2 * (long double)M_PI * s2) + 1) + logdet + logl(det));
}

/* --- one column ------------------------------------------------------------------------------ */

static void check_dense(cr_ctx *cx, const double *w, double lambda)
{
    char        settings[64];
    cr_table   *t = make_table(cx, ties_x, N, 1, ties_y, w);
    dense       o = solve_oracle(ties_x, ties_y, w, N, lambda);
    long double loo = 0;
    snprintf(settings, sizeof settings, "target=y lambda=%.17g%s", lambda, w ? " weights=w" : "");
    cr_model     *m = fit(cx, "spline", t, settings);
    json_t       *d = describe(cx, m);
    cr_prediction p = predict(cx, m, t);
    double        sigma2 = (double)(o.rss / (o.n - o.df));
    assert_close(statistic(d, "effective_df"), (double)o.df, 1e-11);
    assert_close(statistic(d, "rss"), (double)o.rss, 1e-11);
    assert_relative(statistic(d, "gcv"), (double)o.gcv, 1e-10);
    assert_close(lambda * statistic(d, "roughness"), lambda * (double)o.rough,
                 1e-10); /* of the objective */
    if (lambda < 1e3) assert_relative(statistic(d, "roughness"), (double)o.rough, 1e-8);
    assert_relative(statistic(d, "lambda"), lambda, 1e-12);
    assert_relative(statistic(d, "residual_sd"), sqrt(sigma2), 1e-10);
    for (size_t i = 0; i < N; i++) {
        size_t k = find_x(&o, ties_x[i]);
        if (k == o.m) continue;
        assert_close(p.mean[i], (double)o.g[k], 1e-11);
        assert_relative(p.scale[i], sqrt(sigma2 * (1 + (double)o.V[k])), 1e-10);
        assert_relative(p.dof[i], (double)(o.n - o.df), 1e-10);
        double left[N], own = w ? w[i] : 1; /* a real refit without one repetition of this row */
        for (size_t j = 0; j < N; j++) left[j] = w ? w[j] : 1;
        left[i] = own > 1 ? own - 1 : 1e-18;
        dense       l = solve_oracle(ties_x, ties_y, left, N, lambda);
        long double e = ties_y[i] - l.g[find_x(&l, ties_x[i])];
        loo += own * e * e / o.n;
    }
    assert_relative(statistic(d, "loocv"), (double)loo, 1e-8);
}

TEST(dense_equations)
{
    static const double lambdas[] = { 1e-7, 0.003, 0.4, 7, 900, 1e7 };
    for (size_t k = 0; k < 6; k++) {
        check_dense(cx, NULL, lambdas[k]);
        check_dense(cx, ties_w, lambdas[k]);
    }
}

/* At, between and beyond the knots: mean, variance, and the restricted likelihood. */
TEST(gaussian_process)
{
    static double at[24] = { -3,  -0.4, 0.1, 0.11, 0.4, 0.7,  1, 1.4, 2,    2.9, 3,  3.3,
                             3.9, 4.6,  5.5, 6,    7,   7.31, 8, 9,   9.89, 9.9, 11, 25 };
    cr_table     *t = make_table(cx, ties_x, N, 1, ties_y, NULL),
             *new = make_table(cx, at, 24, 1, NULL, NULL);
    for (double lambda = 0.01; lambda < 200; lambda *= 9) {
        char settings[64];
        snprintf(settings, sizeof settings, "target=y lambda=%.17g", lambda);
        cr_model     *m = fit(cx, "spline", t, settings);
        json_t       *d = describe(cx, m);
        cr_prediction p = predict(cx, m, new);
        double        sd = statistic(d, "residual_sd");
        for (size_t i = 0; i < 24; i++) {
            long double mean, variance,
                likelihood = krige(ties_x, ties_y, N, lambda, at[i], &mean, &variance);
            assert_close(p.mean[i], (double)mean, 1e-10);
            assert_relative(p.scale[i], sd * sqrt(1 + (double)variance), 1e-10);
            assert_close(statistic(d, "log_restricted_likelihood"), (double)likelihood, 1e-10);
        }
    }
}

TEST(evidence_has_its_own_noise)
{
    cr_table     *t = make_table(cx, ties_x, N, 1, ties_y, NULL);
    cr_model     *m = fit(cx, "spline", t, "target=y choose=evidence");
    json_t       *d = describe(cx, m);
    cr_prediction p = predict(cx, m, t);
    double        lambda = statistic(d, "lambda");
    dense         o = solve_oracle(ties_x, ties_y, NULL, N, lambda);
    assert_relative(statistic(d, "residual_sd"), sqrt((double)(o.rss + lambda * o.rough) / (N - 2)),
                    1e-8);
    assert_true(p.dof[0] == N - 2);
}

/* --- laws ------------------------------------------------------------------------------------ */

/* Two fits, the same predictions at `at`. */
static void check_alike(cr_ctx *cx, const cr_table *a, const char *settings_a, const cr_table *b,
                        const char *settings_b, const char *other, const cr_table *at,
                        double tolerance)
{
    cr_model     *m = fit(cx, "spline", a, settings_a), *k = fit(cx, other, b, settings_b);
    cr_prediction p = predict(cx, m, at), q = predict(cx, k, at);
    for (size_t i = 0; i < p.n; i++) {
        assert_close(p.mean[i], q.mean[i], tolerance);
        assert_relative(p.scale[i], q.scale[i], tolerance);
        assert_relative(p.dof[i], q.dof[i], tolerance);
    }
}

TEST(weights_rows_and_units)
{
    static const char *const ways[] = { "target=y", "target=y choose=evidence",
                                        "target=y choose=loo", "target=y df=5" };
    double                   whole[N], x[MOST], y[MOST], back_x[N], back_y[N], far_x[N], far_y[N];
    size_t                   n = 0;
    for (size_t i = 0; i < N; i++) {
        whole[i] = (double)(i * 7 % 4);
        for (double k = 0; k < whole[i]; k++) x[n] = ties_x[i], y[n++] = ties_y[i];
        back_x[i] = ties_x[N - 1 - i], back_y[i] = ties_y[N - 1 - i];
        far_x[i] = 1e6 + 1e-3 * ties_x[i], far_y[i] = ties_y[i];
    }
    cr_table *a = make_table(cx, ties_x, N, 1, ties_y, whole),
             *b = make_table(cx, x, n, 1, y, NULL);
    cr_table *c = make_table(cx, ties_x, N, 1, ties_y, NULL),
             *d = make_table(cx, back_x, N, 1, back_y, NULL);
    for (size_t k = 0; k < 4; k++) {
        char weighted[64];
        snprintf(weighted, sizeof weighted, "%s weights=w", ways[k]);
        check_alike(cx, a, weighted, b, ways[k], "spline", c, 2e-6);
        check_alike(cx, c, ways[k], d, ways[k], "spline", c, 1e-7);
    }
    check_alike(cx, a, "target=y weights=w lambda=2", b, "target=y lambda=2", "spline", c, 1e-12);
    cr_table *far = make_table(cx, far_x, N, 1, far_y, NULL); /* lambda goes with the cube of x */
    cr_model *m = fit(cx, "spline", c, "target=y lambda=2"),
             *f = fit(cx, "spline", far, "target=y lambda=2e-9");
    cr_prediction p = predict(cx, m, c), q = predict(cx, f, far);
    for (size_t i = 0; i < N; i++) assert_close(p.mean[i], q.mean[i], 1e-6);
    cr_model_free(cx, m);
    cr_model_free(cx, f);
    check_alike(cx, c, "target=y lambda=2", c, "target=y lambda=2 scale_target=standard", "spline",
                c, 1e-12);
}

TEST(limits)
{
    static double at[5] = { -2, 0.7, 3.1, 9.9, 20 };
    cr_table     *t = make_table(cx, ties_x, N, 1, ties_y, NULL),
             *new = make_table(cx, at, 5, 1, NULL, NULL);
    check_alike(cx, t, "target=y lambda=1e14", t, "target=y", "linear", new, 1e-8);
    cr_model     *m = fit(cx, "spline", t, "target=y lambda=1e-12");
    cr_prediction p = predict(cx, m, t);
    assert_close(p.mean[1], (-0.4 + 0.9 - 1.1) / 3,
                 1e-8); /* through the mean of rows that share x */
    assert_close(p.mean[12], 0.4, 1e-8);
}

/* f, f' and f'' are continuous at the knots, f is a line outside, and the sd grows there. */
TEST(smoothness)
{
    enum { M = 2 * 4 * 12 };
    dense     o = solve_oracle(ties_x, ties_y, NULL, N, 0.5);
    double    at[M], h = 0.003;
    cr_table *t = make_table(cx, ties_x, N, 1, ties_y, NULL);
    for (size_t k = 0; k < o.m; k++)
        for (int i = 0; i < 8; i++) at[k * 8 + (size_t)i] = o.t[k] + h * (i < 4 ? i - 4 : i - 3);
    cr_table *new = make_table(cx, at, 8 * o.m, 1, NULL, NULL);
    cr_model     *m = fit(cx, "spline", t, "target=y lambda=0.5");
    cr_prediction p = predict(cx, m, new);
    for (size_t k = 0; k < o.m; k++) {
        const double *l = p.mean + k * 8,
                     *r = l + 4; /* at -4h..-h and h..4h: extrapolated cubics */
        assert_close(4 * l[3] - 6 * l[2] + 4 * l[1] - l[0], 4 * r[0] - 6 * r[1] + 4 * r[2] - r[3],
                     1e-10);
        double left2 = (3 * l[3] - 8 * l[2] + 7 * l[1] - 2 * l[0]) / h / h;
        double right2 = (3 * r[0] - 8 * r[1] + 7 * r[2] - 2 * r[3]) / h / h;
        assert_close(left2, right2, 1e-6);
        if (k == 0 || k + 1 == o.m) assert_close(left2, 0, 1e-6);
    }
    assert_true(p.scale[0] > p.scale[1] && p.scale[8 * o.m - 1] > p.scale[8 * o.m - 2]);
}

/* Residuals are orthogonal to lines, for many rows and any lambda, where banded equations fail. */
TEST(many_rows)
{
    enum { ROWS = 20000 };
    static double x[ROWS], y[ROWS];
    cr_rng        r = cr_rng_stream(4, 4);
    for (size_t i = 0; i < ROWS; i++)
        x[i] = cr_rng_uniform(&r), y[i] = cos(9 * x[i]) + cr_rng_normal(&r);
    cr_table *t = make_table(cx, x, ROWS, 1, y, NULL);
    double    last = INFINITY;
    for (double lambda = 1e-6; lambda < 1e6; lambda *= 1000) {
        char settings[64];
        snprintf(settings, sizeof settings, "target=y lambda=%.17g", lambda);
        cr_model     *m = fit(cx, "spline", t, settings);
        json_t       *d = describe(cx, m);
        cr_prediction p = predict(cx, m, t);
        long double   sum = 0, moment = 0;
        for (size_t i = 0; i < ROWS; i++)
            sum += y[i] - p.mean[i], moment += (y[i] - p.mean[i]) * x[i];
        assert_close((double)sum / ROWS, 0, 1e-12);
        assert_close((double)moment / ROWS, 0, 1e-12);
        assert_true(statistic(d, "effective_df") < last && statistic(d, "effective_df") > 2);
        last = statistic(d, "effective_df");
    }
    assert_close(last, 2, 0.05);
}

/* --- several columns ------------------------------------------------------------------------- */

/* The whole objective at once: unknowns are the values of both splines at their knots; the sum of
 * the second is held at 0, which the level makes free. */
TEST(backfitting_is_the_joint_minimum)
{
    enum { ROWS = 16 };
    double      X[ROWS * 2], y[ROWS];
    dense       o[2] = { { 0 }, { 0 } };
    long double A[MOST * MOST] = { 0 }, b[MOST] = { 0 }, K[MOST * MOST];
    cr_rng      r = cr_rng_stream(6, 1);
    for (size_t i = 0; i < ROWS; i++) {
        X[2 * i] = floor(10 * cr_rng_uniform(&r)) / 2;
        X[2 * i + 1] = 0.4 * X[2 * i] + cr_rng_uniform(&r);
        y[i] = sin(X[2 * i]) + X[2 * i + 1] * X[2 * i + 1] + 0.1 * cr_rng_normal(&r);
    }
    for (size_t j = 0; j < 2; j++) {
        for (size_t i = 0; i < ROWS; i++)
            if (find_x(&o[j], X[2 * i + j]) == o[j].m) o[j].t[o[j].m++] = X[2 * i + j];
        qsort(o[j].t, o[j].m, sizeof *o[j].t, compare_doubles);
    }
    size_t n = o[0].m + o[1].m;
    assert_true(n <= MOST);
    for (size_t j = 0; j < 2; j++) {
        size_t at = j ? o[0].m : 0;
        bending(o[j].t, o[j].m, K);
        for (size_t i = 0; i < o[j].m; i++)
            for (size_t k = 0; k < o[j].m; k++)
                A[(at + i) * n + at + k] = 0.3L * K[i * o[j].m + k] + (j == 1);
    }
    for (size_t i = 0; i < ROWS; i++) {
        size_t k[2] = { find_x(&o[0], X[2 * i]), o[0].m + find_x(&o[1], X[2 * i + 1]) };
        for (int s = 0; s < 2; s++) {
            b[k[s]] += y[i];
            for (int u = 0; u < 2; u++) A[k[s] * n + k[u]] += 1;
        }
    }
    solve_dense(n, A, b, 1);
    cr_table     *t = make_table(cx, X, ROWS, 2, y, NULL);
    cr_model     *m = fit(cx, "spline", t, "target=y lambda=0.3 tol=1e-12 max_iter=20000");
    cr_prediction p = predict(cx, m, t);
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
    for (size_t i = 0; i < ROWS; i++)
        assert_close(p.mean[i],
                     (double)(b[find_x(&o[0], X[2 * i])] + b[o[0].m + find_x(&o[1], X[2 * i + 1])]),
                     1e-8);
    cr_model_free(cx, m);
    m = fit(cx, "spline", t, "target=y lambda=0.3 max_iter=2");
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_LIMIT);
}

TEST(a_constant_column_changes_nothing)
{
    double X[2 * N];
    for (size_t i = 0; i < N; i++) X[2 * i] = ties_x[i], X[2 * i + 1] = 3;
    cr_table *a = make_table(cx, X, N, 2, ties_y, NULL);
    check_alike(cx, a, "target=y", a, "target=y features=x1", "spline", a, 1e-14);
}

/* --- corners --------------------------------------------------------------------------------- */

TEST(corners)
{
    double x[N], y[N];
    for (size_t n = 1; n <= 3; n++) { /* few rows: a point, a line */
        cr_table     *t = make_table(cx, ties_x + 3, n, 1, ties_y + 3, NULL);
        cr_model     *m = fit(cx, "spline", t, "target=y");
        cr_prediction p = predict(cx, m, t);
        assert_true(isfinite(p.mean[0]));
        if (n < 3) assert_close(p.mean[n - 1], ties_y[2 + n], 1e-12);
        assert_true(isnan(p.scale[0]) == (n < 3));
    }
    for (double unit = 1e-150; unit < 1e151; unit *= 1e100) { /* any units */
        for (size_t i = 0; i < N; i++) x[i] = unit * ties_x[i], y[i] = ties_y[i];
        cr_table *t = make_table(cx, x, N, 1, y, NULL),
                 *plain = make_table(cx, ties_x, N, 1, ties_y, NULL);
        cr_model *m = fit(cx, "spline", t, "target=y"), *k = fit(cx, "spline", plain, "target=y");
        cr_prediction p = predict(cx, m, t), q = predict(cx, k, plain);
        for (size_t i = 0; i < N; i++) assert_close(p.mean[i], q.mean[i], 1e-7);
    }
    for (size_t i = 0; i < N; i++) y[i] = 3 - 2 * ties_x[i]; /* a line is found exactly */
    cr_table     *t = make_table(cx, ties_x, N, 1, y, NULL);
    cr_model     *m = fit(cx, "spline", t, "target=y"), *none = NULL;
    cr_prediction p = predict(cx, m, t);
    for (size_t i = 0; i < N; i++) assert_close(p.mean[i], y[i], 1e-12);
    cr_model_free(cx, m);
    assert_fails_with(cx, try_fit(cx, "spline", t, "target=y lambda=1 df=3", &none), CR_EARG,
                      "give only one of them");
    assert_fails_with(cx, try_fit(cx, "spline", t, "target=y df=30", &none), CR_EARG,
                      "only 11 different values");
    assert_fails_with(cx, try_fit(cx, "spline", t, "target=y lambda=0", &none), CR_EARG, "lambda");
    cr_table_free(cx, t);
    for (size_t i = 0; i < N; i++) y[i] = 1e200 * ties_y[i];
    t = make_table(cx, ties_x, N, 1, y, NULL);
    assert_fails_with(cx, try_fit(cx, "spline", t, "target=y", &none), CR_ENUMERIC, "overflow");
    m = fit(cx, "spline", t, "target=y scale_target=standard");
}
