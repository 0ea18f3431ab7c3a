/* test_gp_function.c -- the function without noise: moments against dense formulas in long double,
 * slopes against differences of the mean, before and after the data. */
#include "gp_fixture.h"

#include "models/core/parts.h"

enum { N = 30, D = 2, T = 6 };

typedef struct sample {
    double    X[N * D], y[N], at[T * D], zero[T];
    cr_table *t, *rows;
} sample;

static sample draw(cr_ctx *cx, uint64_t seed)
{
    sample s = { 0 };
    cr_rng r = cr_rng_stream(seed, 5);
    for (size_t i = 0; i < N; i++) {
        s.X[i * D] = 3 * cr_rng_uniform(&r);
        s.X[i * D + 1] = 40 * cr_rng_uniform(&r) + 10;
        s.y[i] = 5 + sin(2 * s.X[i * D]) + 0.02 * s.X[i * D + 1] + 0.1 * cr_rng_normal(&r);
    }
    for (size_t i = 0; i < T; i++)
        s.at[i * D] = 3 * cr_rng_uniform(&r), s.at[i * D + 1] = 40 * cr_rng_uniform(&r) + 10;
    s.t = make_table(cx, s.X, N, D, s.y, NULL);
    s.rows = make_table(cx, s.at, T, D, s.zero, NULL);
    return s;
}

/* cov = k(x, z) - k_x C^-1 k_z + r_x P r_z with r = 1 - H^T C^-1 k; the mean function is a
 * constant. */
TEST(moments)
{
    sample    s = draw(cx, 1);
    double    noise[N], mean[T], sd[T], S[T * T], alone[T], f_mean, f_variance, one = 1;
    cr_model *m =
        fit(cx, "gp", s.t, "target=y optimize=none noise=0.02 kernel=1.5*rbf(l=[0.8,15])");
    definition g = {
        .n = N, .q = 1, .k = { D, 1.5L, { 0.8L, 15 } }, .X = s.X, .y = s.y, .noise = noise
    };
    for (size_t i = 0; i < N; i++) noise[i] = 0.02, g.H[i] = 1;
    assert_ok(cx, cr_predict_function(cx, m, s.rows, false, mean, sd, S));
    assert_ok(cx, cr_predict_function(cx, m, s.rows, false, alone, NULL, NULL));
    for (size_t i = 0; i < T; i++) {
        predict_definition(&g, s.at + i * D, &one, &f_mean, &f_variance);
        assert_close(mean[i], f_mean, 1e-9);
        assert_close(alone[i], f_mean, 1e-9);
        assert_close(sd[i], sqrt(f_variance), 1e-9);
        assert_close(S[i * T + i], f_variance, 1e-9);
    }
    static long double B[N * (T + 1)];
    long double        b[4], P[16], r[T];
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < T; j++)
            B[i * (T + 1) + j] = rbf_value(&g.k, s.X + i * D, s.at + j * D);
        B[i * (T + 1) + T] = 1;
    }
    solve_covariance(&g, B, T + 1);
    solve_definition(&g, b, P);
    for (size_t j = 0; j < T; j++) {
        r[j] = 1;
        for (size_t i = 0; i < N; i++) r[j] -= B[i * (T + 1) + j];
    }
    for (size_t j = 0; j < T; j++)
        for (size_t k = 0; k < T; k++) {
            long double c = rbf_value(&g.k, s.at + j * D, s.at + k * D) + r[j] * P[0] * r[k];
            for (size_t i = 0; i < N; i++)
                c -= rbf_value(&g.k, s.X + i * D, s.at + j * D) * B[i * (T + 1) + k];
            assert_close(S[j * T + k], (double)c, 1e-9);
        }
    assert_ok(cx, cr_predict_function(cx, m, s.rows, true, mean, sd, S)); /* before the data */
    for (size_t j = 0; j < T; j++) {
        assert_close(mean[j], (double)b[0], 1e-9);
        assert_close(sd[j], sqrt(1.5), 1e-12);
        for (size_t k = 0; k < T; k++)
            assert_close(S[j * T + k], (double)rbf_value(&g.k, s.at + j * D, s.at + k * D), 1e-12);
    }
    cr_model_free(cx, m);
}

/* Of every approximation: predictive variance = that of the function + noise, slopes =
 * differences. */
TEST(slopes)
{
    static const struct {
        const char *model, *settings;
    } kinds[] = {
        { "gp", "target=y hyper=map" },
        { "gp", "target=y hyper=map mean=poly:2 scale=standard scale_target=standard" },
        { "gp",
          "target=y optimize=none noise=0.1 mean=linear "
          "kernel=matern52(x1;l=1.5)*linear(x2;variance=0.001)+periodic(x1;p=2)+rbf(x2;l=9)" },
        { "gp", "target=y approx=vfe inducing=12 mean=linear" },
        { "gp", "target=y approx=fitc inducing=12" },
        { "gp", "target=y approx=rff inducing=20 mean=linear" },
        { "gp", "target=y approx=nystrom inducing=12" },
        { "gp", "target=y solver=cg" },
        { "gp-online", "target=y inducing=12" },
        { "gp-online", "target=y method=basis" },
    };
    cr_ctx_set_threads(cx, 1);
    sample s = draw(cx, 3);
    for (size_t q = 0; q < sizeof kinds / sizeof *kinds; q++) {
        cr_model *m = fit(cx, kinds[q].model, s.t, kinds[q].settings);
        double    slope[T * D], mean[T], sd[T], moved[T * D];
        assert_int_equal(cr_model_slopes(m), D);
        assert_string_equal(cr_model_slope_name(m, 1), "x2");
        assert_ok(cx, cr_predict_slopes(cx, m, s.rows, slope));
        for (size_t j = 0; j < D; j++) {
            static const double step[] = { -2, -1, 1, 2 }, weight[] = { 1, -8, 8, -1 };
            double              h = j ? 2e-2 : 1e-3, by[T] = { 0 };
            for (size_t k = 0; k < 4; k++) { /* of fourth order */
                memcpy(moved, s.at, sizeof moved);
                for (size_t i = 0; i < T; i++) moved[i * D + j] += step[k] * h;
                cr_table *t = make_table(cx, moved, T, D, s.zero, NULL);
                assert_ok(cx, cr_predict_mean(cx, m, t, mean));
                for (size_t i = 0; i < T; i++) by[i] += weight[k] * mean[i] / (12 * h);
            }
            for (size_t i = 0; i < T; i++) assert_close(slope[i * D + j], by[i], 2e-6);
        }
        cr_prediction p = predict(cx, m, s.rows);
        json_t       *d = describe(cx, m);
        double        noise = pow(statistic(d, "noise_sd"), 2);
        assert_ok(cx, cr_predict_function(cx, m, s.rows, false, mean, sd, NULL));
        for (size_t i = 0; i < T; i++) {
            double dof = p.dof[i], t = isinf(dof) ? 1 : dof / (dof - 2); /* of the variance of t */
            double wider = isinf(dof) ? 1 : N / dof; /* as hyper-parameters are not known */
            assert_close(mean[i], p.mean[i], 1e-12);
            assert_close(sd[i] * sd[i] + t * wider * noise, t * p.scale[i] * p.scale[i], 1e-9);
        }
    }
}

TEST(refusals)
{
    sample    s = draw(cx, 4);
    double    out[N * N], mean[N], gap[2 * D] = { 1, 20, NAN, 30 };
    cr_model *m = fit(cx, "ridge", s.t, "target=y"),
             *gp = fit(cx, "gp", s.t, "target=y missing=drop");
    cr_table *t = make_table(cx, gap, 2, D, s.zero, NULL);
    assert_int_equal(cr_model_slopes(m), 0);
    assert_fails_with(cx, cr_predict_slopes(cx, m, s.rows, out), CR_EUNSUPPORTED, "slopes");
    assert_fails_with(cx, cr_predict_function(cx, m, s.rows, false, mean, NULL, NULL),
                      CR_EUNSUPPORTED, "noise");
    assert_fails_with(cx, cr_predict_function(cx, gp, t, false, mean, NULL, out), CR_EDATA,
                      "1 of 2 rows");
    assert_ok(cx, cr_predict_function(cx, gp, t, false, mean, out, NULL));
    assert_true(isfinite(mean[0]) && isnan(mean[1]) && isnan(out[1]));
    assert_ok(cx, cr_predict_slopes(cx, gp, t, out));
    assert_true(isfinite(out[1]) && isnan(out[2]) && isnan(out[3]));
    cr_table_free(cx, t);
    cr_model_free(cx, m);
    cr_model_free(cx, gp);
}

static cr_status ask_all(cr_ctx *cx, void *arg)
{
    cr_status st = CR_OK;
    double    out[36], mean[6], sd[6];
    cr_table *t = arg;
    cr_model *m = NULL;
    CR_TRY(try_fit(cx, "gp", t, "target=y optimize=none noise=0.1", &m));
    CR_TRY(cr_predict_function(cx, m, t, false, mean, sd, out));
    CR_TRY(cr_predict_function(cx, m, t, true, mean, sd, NULL));
    CR_TRY(cr_sample_functions(cx, m, t, true, 2, 1, out));
    CR_TRY(cr_predict_slopes(cx, m, t, out));
done:
    cr_model_free(cx, m);
    return st;
}

TEST(allocations)
{
    double    X[] = { 0, 1, 1, 2, 3.5, 4 }, y[] = { 1, 2, 2.5, 3, 1, 0 };
    cr_table *t = make_table(cx, X, 6, 1, y, NULL);
    test_every_allocation_fails(ask_all, t);
}
