/* test_gp_parts.c -- the parts of a sum against the conditional of a joint normal, draws against
 * moments, the evidence against fits at the same values. */
#include "gp_fixture.h"

#include "data/design/design_internal.h"
#include "models/core/parts.h"

enum { N = 14, T = 4 };

typedef struct sample {
    double    x[N], y[N], z[T], zero[T];
    cr_table *t, *at;
} sample;

static sample draw(cr_ctx *cx)
{
    sample s = { 0 };
    cr_rng r = cr_rng_stream(3, 5);
    for (size_t i = 0; i < N; i++) {
        s.x[i] = 5 * cr_rng_uniform(&r);
        s.y[i] = 3 + s.x[i] + sin(6 * s.x[i]) + 0.2 * cr_rng_normal(&r);
    }
    for (size_t i = 0; i < T; i++) s.z[i] = 1.7 * (double)i - 0.3;
    s.t = make_table(cx, s.x, N, 1, s.y, NULL);
    s.at = make_table(cx, s.z, T, 1, s.zero, NULL);
    return s;
}

static long double smooth(double a, double b)
{
    long double d = ((long double)a - b) / 1.3L;
    return 2.5L * expl(-d * d / 2);
}

static long double season(double a, double b)
{
    long double v =
        sinl(3.14159265358979323846264338327950288L * ((long double)a - b) / 1.1L) / 0.8L;
    return 0.7L * expl(-2 * v * v);
}

/* A := A^-1 by Gauss and Jordan. */
static void invert(long double *A, size_t n)
{
    for (size_t p = 0; p < n; p++) {
        long double pivot = A[p * n + p];
        A[p * n + p] = 1;
        for (size_t j = 0; j < n; j++) A[p * n + j] /= pivot;
        for (size_t i = 0; i < n; i++) {
            if (i == p) continue;
            long double f = A[i * n + p];
            A[i * n + p] = 0;
            for (size_t j = 0; j < n; j++) A[i * n + j] -= f * A[p * n + j];
        }
    }
}

#define KERNEL "kernel=2.5*rbf(l=1.3)+0.7*periodic(l=0.8,p=1.1) "
#define KEPT "target=y features=x1 optimize=none noise=0.05 "

/* f_j | y by the formula of conditional normals, with the covariance of f_j and y. */
TEST(conditional)
{
    sample      s = draw(cx);
    cr_model   *m = fit(cx, "gp", s.t, KEPT KERNEL "mean=zero");
    long double C[N * N];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            C[i * N + j] = smooth(s.x[i], s.x[j]) + season(s.x[i], s.x[j]) + (i == j ? 0.05L : 0);
    invert(C, N);
    for (size_t part = 0; part < 2; part++) {
        long double (*k)(double, double) = part == 0 ? smooth : season;
        double  mean[T], sd[T];
        cr_part p;
        assert_ok(cx, cr_model_part(cx, m, part, &p));
        assert_string_equal(p.column, "x1");
        assert_non_null(
            strstr(p.name, part == 0 ? "2.5*rbf(l=1.3)" : "0.7*periodic(l=0.8, p=1.1)"));
        assert_ok(cx, cr_predict_part(cx, m, s.at, part, mean, sd));
        for (size_t t = 0; t < T; t++) {
            long double e = 0, v = k(s.z[t], s.z[t]);
            for (size_t i = 0; i < N; i++)
                for (size_t j = 0; j < N; j++) {
                    e += k(s.z[t], s.x[i]) * C[i * N + j] * s.y[j];
                    v -= k(s.z[t], s.x[i]) * C[i * N + j] * k(s.z[t], s.x[j]);
                }
            assert_close(mean[t], (double)e, 1e-9);
            assert_close(sd[t], (double)sqrtl(v), 1e-8);
        }
    }
    cr_part none;
    assert_ok(cx, cr_model_part(cx, m, 2, &none));
    assert_string_equal(none.name, "");
    double a[T], b[T];
    assert_fails_with(cx, cr_predict_part(cx, m, s.at, 2, a, b), CR_EARG, "no part number 3");
    cr_model_free(cx, m);
}

/* All parts add up to the prediction, whatever the approximation, the mean and the scale. */
TEST(sum)
{
    sample                   s = draw(cx);
    static const char *const settings[] = {
        KEPT KERNEL "mean=zero",
        KEPT KERNEL "mean=poly:2",
        KEPT KERNEL "mean=linear approx=vfe inducing=6",
        KEPT KERNEL "mean=constant approx=fitc inducing=5",
        KEPT KERNEL "mean=zero approx=sor inducing=5",
        "target=y features=x1 optimize=none kernel=2*rbf+linear+white(0.1) mean=constant",
        KEPT KERNEL "scale_target=standard",
        KEPT KERNEL "mean=linear solver=cg",
        KEPT KERNEL "mean=constant approx=svgp inducing=6",
        KEPT KERNEL "mean=linear approx=nystrom inducing=8",
    };
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        cr_model *m = fit(cx, "gp", s.t, settings[k]);
        double    sum[T] = { 0 }, whole[T], mean[T], sd[T];
        double    shift = cr_model_get_design(m)->target_shift;
        for (size_t part = 0;; part++) {
            cr_part p;
            assert_ok(cx, cr_model_part(cx, m, part, &p));
            if (!p.name[0]) break;
            assert_ok(cx, cr_predict_part(cx, m, s.at, part, mean, sd));
            for (size_t t = 0; t < T; t++) sum[t] += mean[t];
            for (size_t t = 0; t < T; t++) assert_true(sd[t] >= 0);
            assert_null(strstr(p.name, "white"));
        }
        assert_ok(cx, cr_predict_mean(cx, m, s.at, whole));
        for (size_t t = 0; t < T; t++) assert_close(sum[t] + shift, whole[t], 1e-9);
    }
}

/* A mean that is learned is a constant of boundless prior variance. */
TEST(mean_as_kernel)
{
    sample    s = draw(cx);
    cr_model *m = fit(cx, "gp", s.t, KEPT KERNEL "mean=constant");
    cr_model *wide =
        fit(cx, "gp", s.t, KEPT "kernel=1e7+2.5*rbf(l=1.3)+0.7*periodic(l=0.8,p=1.1) mean=zero");
    for (size_t part = 0; part < 3; part++) { /* both have the constant first */
        double a[T], b[T], c[T], d[T];
        assert_ok(cx, cr_predict_part(cx, m, s.at, part, a, b));
        assert_ok(cx, cr_predict_part(cx, wide, s.at, part, c, d));
        for (size_t t = 0; t < T; t++) {
            assert_close(a[t], c[t], 1e-5);
            assert_close(b[t], d[t], 1e-5);
        }
    }
    cr_model_free(cx, m);
    cr_model_free(cx, wide);
}

/* Draws have the mean of the prediction, its variance less the noise, and are smooth together. */
TEST(functions)
{
    enum { M = 20000 };
    sample                   s = draw(cx);
    static const char *const settings[] = { KEPT KERNEL "mean=linear",
                                            KEPT KERNEL "mean=constant approx=vfe inducing=6",
                                            KEPT KERNEL "mean=linear solver=cg",
                                            KEPT KERNEL "mean=constant approx=svgp inducing=6",
                                            KEPT KERNEL "mean=linear approx=nystrom inducing=8",
                                            KEPT KERNEL "mean=constant approx=rff inducing=40" };
    double                  *f = calloc(T * M, sizeof *f);
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        cr_model     *m = fit(cx, "gp", s.t, settings[k]);
        cr_prediction p = predict(cx, m, s.at);
        assert_ok(cx, cr_sample_functions(cx, m, s.at, false, M, 7, f));
        for (size_t t = 0; t < T; t++) {
            double sum = 0, square = 0, variance = p.scale[t] * p.scale[t] - 0.05;
            for (size_t c = 0; c < M; c++) sum += f[t * M + c] / M;
            for (size_t c = 0; c < M; c++) square += pow(f[t * M + c] - sum, 2) / M;
            assert_close((sum - p.mean[t]) / sqrt(variance), 0, 0.03);
            assert_relative(square, variance, 0.05);
        }
    }
    free(f);
}

TEST(evidence)
{
    sample                   s = draw(cx);
    static const char *const how[] = { "mean=linear", "mean=constant approx=vfe inducing=6",
                                       "mean=zero scale_target=standard" };
    for (size_t k = 0; k < 3; k++) {
        char settings[256];
        snprintf(settings, sizeof settings, KEPT KERNEL "%s", how[k]);
        cr_model    *m = fit(cx, "gp", s.t, settings);
        cr_hyper     h;
        const size_t which[] = { 1, 5 }; /* l of rbf; the noise */
        const double values[] = { 1.3, 0.05, 0.6, 0.3 };
        double       out[2];
        assert_ok(cx, cr_model_hyper(cx, m, 1, &h));
        assert_string_equal(h.name, "rbf.l");
        assert_ok(cx, cr_model_hyper(cx, m, 5, &h));
        assert_string_equal(h.name, "noise");
        assert_ok(cx, cr_model_hyper(cx, m, 6, &h));
        assert_string_equal(h.name, "");
        assert_ok(cx, cr_evidence_at(cx, m, s.t, which, 2, values, 2, out));
        snprintf(settings, sizeof settings,
                 "target=y features=x1 optimize=none noise=0.3 "
                 "kernel=2.5*rbf(l=0.6)+0.7*periodic(l=0.8,p=1.1) %s",
                 how[k]);
        cr_model *other = fit(cx, "gp", s.t, settings);
        assert_relative(out[0], cr_model_get_report(m)->log_evidence, 1e-10);
        assert_relative(out[1], cr_model_get_report(other)->log_evidence, 1e-10);
        assert_true(fabs(out[0] - out[1]) > 0.1);
    }
}

TEST(refusals)
{
    sample    s = draw(cx);
    cr_model *m = fit(cx, "ridge", s.t, "target=y features=x1");
    double    a[N], b[N];
    cr_part   p;
    assert_false(cr_model_shows(m, "parts") || cr_model_shows(m, "functions") ||
                 cr_model_shows(m, "evidence"));
    assert_ok(cx, cr_model_part(cx, m, 0, &p));
    assert_string_equal(p.name, "");
    assert_fails_with(cx, cr_predict_part(cx, m, s.t, 0, a, b), CR_EUNSUPPORTED,
                      "not a sum of parts");
    assert_fails_with(cx, cr_sample_functions(cx, m, s.t, false, 1, 0, a), CR_EUNSUPPORTED,
                      "does not draw");
    assert_fails_with(cx, cr_evidence_at(cx, m, s.t, NULL, 0, NULL, 1, a), CR_EUNSUPPORTED,
                      "no evidence");
    cr_model_free(cx, m);
}

static cr_status look_inside(cr_ctx *cx, void *arg)
{
    static const double x[] = { 1, 2, 3, 4, 7 }, y[] = { 0, 1, 0, 1, 1 };
    cr_setting          s[] = { { "target", "y" },
                                { "kernel", "rbf+linear" },
                                { "optimize", "none" },
                                { "approx", arg },
                                { "inducing", "3" } };
    cr_status           st = CR_OK;
    cr_table           *t = NULL;
    cr_model           *m = NULL;
    double              a[5], b[5];
    CR_TRY(cr_table_new(cx, "t", 5, &t));
    CR_TRY(cr_table_borrow_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_borrow_numbers(cx, t, "y", CR_REAL, y, 1));
    CR_TRY(cr_fit(cx, "gp", t, s, 5, &m));
    CR_TRY(cr_predict_part(cx, m, t, 1, a, b));
    CR_TRY(cr_sample_functions(cx, m, t, false, 1, 0, a));
    CR_TRY(cr_evidence_at(cx, m, t, (const size_t[]){ 1 }, 1, x, 1, a));
done:
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    return st;
}

/* Of rows apart the noise is learned; of classes there is an evidence, too. */
static cr_status learn_apart(cr_ctx *cx, void *arg)
{
    static const double x[] = { 1, 2, 3, 4, 5 }, y[] = { 2, 3, 4, 3, 6 };
    cr_setting s[] = { { "target", "y" }, { "kernel", "rbf(l=0.01 fixed)" }, { "max_iter", "1" } };
    cr_status  st = CR_OK;
    cr_table  *t = NULL;
    cr_model  *m = NULL;
    (void)arg;
    CR_TRY(cr_table_new(cx, "t", 5, &t));
    CR_TRY(cr_table_borrow_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_borrow_numbers(cx, t, "y", CR_REAL, y, 1));
    CR_TRY(cr_fit(cx, "gp", t, s, 3, &m));
done:
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    return st;
}

static cr_table *table_of_levels(cr_ctx *cx)
{
    static const double      x[] = { 1, 2, 3, 4, 7, 8 }, y[] = { 0, 1, 0, 1, 1, 3 };
    static const uint32_t    codes[] = { 0, 1, 0, 1, 1, 0 };
    static const char *const levels[] = { "a", "b" };
    cr_table                *t = NULL;
    if (cr_table_new(cx, "t", 6, &t) == CR_OK &&
        cr_table_borrow_numbers(cx, t, "x", CR_REAL, x, 1) == CR_OK &&
        cr_table_borrow_numbers(cx, t, "y", CR_REAL, y, 1) == CR_OK &&
        cr_table_add_category(cx, t, "z", codes, levels, 2) == CR_OK)
        return t;
    cr_table_free(cx, t);
    return NULL;
}

/* A part looks at one column of numbers, at one category, or at neither alone. */
TEST(columns)
{
    static const struct {
        const char *name, *column;
        bool        category;
    } wanted[] = { { "mean", NULL, false },
                   { "1*rbf(x", "x", false },
                   { "1*hamming(z", "z", true },
                   { "1*rbf(x", NULL, false } };
    cr_table *t = table_of_levels(cx);
    cr_model *m =
        fit(cx, "gp", t, "target=y optimize=none kernel=rbf(x)+hamming(z)+rbf(x)*hamming(z)");
    for (size_t k = 0; k < 4; k++) {
        cr_part p;
        assert_ok(cx, cr_model_part(cx, m, k, &p));
        assert_int_equal(strncmp(p.name, wanted[k].name, strlen(wanted[k].name)), 0);
        assert_true((p.column == NULL) == (wanted[k].column == NULL));
        if (p.column) assert_string_equal(p.column, wanted[k].column);
        assert_int_equal(p.category, wanted[k].category);
    }
    cr_table_free(cx, t);
}

static cr_status look_at_classes(cr_ctx *cx, void *arg)
{
    cr_setting s[] = { { "target", "z" },
                       { "kernel", "rbf" },
                       { "optimize", "none" },
                       { "approx", arg },
                       { "inducing", "3" } };
    cr_status  st = CR_OK;
    cr_table  *t = table_of_levels(cx);
    cr_model  *m = NULL;
    double     out;
    if (!t) CR_TRY(CR_ENOMEM);
    CR_TRY(cr_fit(cx, "gp-classify", t, s, 5, &m));
    CR_TRY(cr_evidence_at(cx, m, t, (const size_t[]){ 1 }, 1, (const double[]){ 2 }, 1, &out));
done:
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    return st;
}

TEST(memory)
{
    test_every_allocation_fails(learn_apart, NULL);
    test_every_allocation_fails(look_at_classes, (void *)(uintptr_t) "laplace");
    test_every_allocation_fails(look_at_classes, (void *)(uintptr_t) "svgp");
    test_every_allocation_fails(look_inside, (void *)(uintptr_t) "exact");
    test_every_allocation_fails(look_inside, (void *)(uintptr_t) "vfe");
}
