/* test_gp_centre.c -- models whose kernel holds centre(...): what they are without it, on columns
 * less their mean; weights, files, threads, texts and categories; what is refused. */
#include "../fixture.h"

#include "models/core/parts.h"

enum { N = 30, P = 2, T = 7 };

typedef struct sample {
    double    X[N * P], C[N * P], y[N], w[N], Z[T * P], D[T * P];
    cr_table *t, *z;   /* as they are                          */
    cr_table *tc, *zc; /* less the mean of the columns by w    */
} sample;

#define NUMBERS "features=x* scale=none "
#define PLAIN NUMBERS "target=y "

static sample draw(cr_ctx *cx, bool weighted)
{
    sample s;
    cr_rng r = cr_rng_stream(41, weighted);
    double mean[P] = { 0 }, sum = 0;
    for (size_t i = 0; i < N * P; i++) s.X[i] = cr_rng_normal(&r) + 3 * (double)(1 + i % P);
    for (size_t i = 0; i < T * P; i++) s.Z[i] = 2 * cr_rng_normal(&r);
    for (size_t i = 0; i < N; i++) {
        s.w[i] = weighted ? (double)(i % 4) : 1;
        s.y[i] = s.X[i * P] - 0.5 * s.X[i * P + 1] + 0.1 * cr_rng_normal(&r);
        sum += s.w[i];
        for (size_t j = 0; j < P; j++) mean[j] += s.w[i] * s.X[i * P + j];
    }
    memcpy(s.X + 9 * P, s.X + 2 * P, sizeof(double[P])); /* a repeated row */
    for (size_t j = 0; j < P; j++) {
        mean[j] = 0;
        for (size_t i = 0; i < N; i++) mean[j] += s.w[i] * s.X[i * P + j] / sum;
    }
    for (size_t i = 0; i < N * P; i++) s.C[i] = s.X[i] - mean[i % P];
    for (size_t i = 0; i < T * P; i++) s.D[i] = s.Z[i] - mean[i % P];
    s.t = make_table(cx, s.X, N, P, s.y, s.w);
    s.tc = make_table(cx, s.C, N, P, s.y, s.w);
    s.z = make_table(cx, s.Z, T, P, s.y, NULL);
    s.zc = make_table(cx, s.D, T, P, s.y, NULL);
    return s;
}

/* The same predictions of two models, each of its own rows. */
static void assert_same(cr_ctx *cx, const cr_model *a, const cr_table *at, const cr_model *b,
                        const cr_table *bt, double tolerance)
{
    cr_prediction p = predict(cx, a, at), q = predict(cx, b, bt);
    for (size_t i = 0; i < T; i++) {
        assert_close(p.mean[i], q.mean[i], tolerance);
        assert_close(p.scale[i], q.scale[i], tolerance);
    }
}

/* A linear kernel centred is one of columns less their mean; so is its square. */
TEST(linear)
{
    static const struct {
        const char *centred, *plain;
    } kernels[] = {
        { "kernel=centre(linear) ", "kernel=linear " },
        { "kernel=1.5*centre(linear)^2+0.4*centre(linear(x1)) ",
          "kernel=1.5*linear^2+0.4*linear(x1) " },
    };
    static const char *const how[] = { "noise=0.3 optimize=none mean=zero",
                                       "noise=0.3 optimize=none",
                                       "noise=0.3 optimize=none mean=linear",
                                       "noise=0.3 optimize=none approx=vfe inducing=5",
                                       "noise=0.3 optimize=none approx=fitc inducing=5",
                                       "noise=0.3 optimize=none approx=nystrom inducing=5",
                                       "restarts=0" };
    for (int weighted = 0; weighted < 2; weighted++) {
        sample s = draw(cx, weighted);
        for (size_t k = 0; k < 2; k++)
            for (size_t h = 0; h < 7; h++) {
                char settings[2][200];
                bool learned = h == 6;
                if (learned && k == 1) continue;
                for (size_t side = 0; side < 2; side++)
                    snprintf(settings[side], sizeof settings[side], PLAIN "%s%s%s",
                             weighted ? "weights=w " : "",
                             side ? kernels[k].plain : kernels[k].centred, how[h]);
                cr_model *m = fit(cx, "gp", s.t, settings[0]),
                         *plain = fit(cx, "gp", s.tc, settings[1]);
                assert_same(cx, m, s.z, plain, s.zc, learned ? 1e-4 : 1e-8);
                assert_close(cr_model_get_report(m)->log_evidence,
                             cr_model_get_report(plain)->log_evidence, 1e-6);
                cr_model_free(cx, plain);
            }
    }
}

/* Noise of known variances changes what a row tells, not how often it counts in the mean. */
TEST(noise_column)
{
    sample s = draw(cx, false);
    double v[N];
    for (size_t i = 0; i < N; i++) v[i] = 0.1 + 0.05 * (double)(i % 5);
    assert_ok(cx, cr_table_add_numbers(cx, s.t, "v", CR_REAL, v, 1));
    assert_ok(cx, cr_table_add_numbers(cx, s.tc, "v", CR_REAL, v, 1));
    assert_ok(cx, cr_table_add_numbers(cx, s.z, "v", CR_REAL, v, 1));
    assert_ok(cx, cr_table_add_numbers(cx, s.zc, "v", CR_REAL, v, 1));
    cr_model *m =
        fit(cx, "gp", s.t, PLAIN "kernel=centre(linear) noise-column=v optimize=none mean=zero");
    cr_model *plain =
        fit(cx, "gp", s.tc, PLAIN "kernel=linear noise-column=v optimize=none mean=zero");
    assert_same(cx, m, s.z, plain, s.zc, 1e-8);
    cr_model_free(cx, m);
    cr_model_free(cx, plain);
}

/* A constant in the mean function takes in what centring takes away: with a vague mean both are one
 * model. */
TEST(constant_mean)
{
    sample    s = draw(cx, false);
    cr_model *m = fit(cx, "gp", s.t,
                      PLAIN "kernel=centre(2*rbf(l=1.5)) noise=0.2 optimize=none mean=constant");
    cr_model *plain =
        fit(cx, "gp", s.t, PLAIN "kernel=2*rbf(l=1.5) noise=0.2 optimize=none mean=constant");
    assert_same(cx, m, s.t, plain, s.t, 1e-9);
    m = (cr_model_free(cx, m),
         fit(cx, "kernel-ridge", s.t, PLAIN "kernel=centre(rbf(l=1.5)) lambda=0.2"));
    plain = (cr_model_free(cx, plain),
             fit(cx, "kernel-ridge", s.t, PLAIN "kernel=rbf(l=1.5) lambda=0.2"));
    cr_prediction p = predict(cx, m, s.z), q = predict(cx, plain, s.z);
    for (size_t i = 0; i < T; i++) assert_close(p.mean[i], q.mean[i], 1e-9);
    cr_model_free(cx, m);
    cr_model_free(cx, plain);
}

/* Slopes of the predicted mean against differences of it. */
TEST(slopes)
{
    sample    s = draw(cx, true);
    cr_model *m =
        fit(cx, "gp", s.t,
            PLAIN "weights=w kernel=centre(rbf)*linear+centre(linear) noise=0.2 optimize=none");
    double slopes[T * P];
    assert_int_equal(cr_model_slopes(m), P);
    assert_ok(cx, cr_predict_slopes(cx, m, s.z, slopes));
    for (size_t j = 0; j < P; j++) {
        const double  h = 1e-5;
        double        moved[2][T * P];
        cr_prediction p[2];
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < T * P; i++)
                moved[side][i] = s.Z[i] + (i % P == j ? (side ? -h : h) : 0);
            cr_table *t = make_table(cx, moved[side], T, P, s.y, NULL);
            p[side] = predict(cx, m, t);
        }
        for (size_t i = 0; i < T; i++)
            assert_close(slopes[i * P + j], (p[0].mean[i] - p[1].mean[i]) / (2 * h), 1e-5);
        for (int side = 0; side < 2; side++) cr_prediction_free(cx, &p[side]);
    }
    cr_model_free(cx, m);
}

static const char words[] =
    "word,g,x,y,c\nabba,u,1,2,p\nabab,v,2,1,q\nbbb,u,4,5,p\nba,w,3,2,q\nbab,v,1.5,3,q\n"
    "aab,u,2.5,4,p\nabb,w,0.5,1,q\nb,v,3.5,2.5,p\n";

/* Every model with a kernel: saved and loaded, and with any number of threads, the same bits. */
TEST(files)
{
    static const char *const models[][2] = {
        { "gp", "target=y noise=0.1 optimize=none" },
        { "gp", "target=y approx=vfe inducing=4 noise=0.1 optimize=none" },
        { "gp-classify", "target=c optimize=none" },
        { "gp-classify", "target=c approx=svgp inducing=4 optimize=none" },
        { "gp-online", "target=y noise=0.1 optimize=none" },
        { "gp-online", "target=y method=basis noise=0.1 optimize=none" },
        { "kernel-ridge", "target=y lambda=0.1" },
        { "kernel-pca", "components=3" },
        { "gp", "target=y hyper=mcmc draws-hyper=4 max-iter=2 kernel=centre(rbf(x)) features=x" },
    };
    cr_table *t = table_of_text(cx, "t.csv", words),
             *z = table_of_text(cx, "z.csv", "word,g,x\nzab,v,2\nab,u,9\n");
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        char settings[300];
        bool last = k + 1 == sizeof models / sizeof *models;
        snprintf(settings, sizeof settings, "%s%s", models[k][1],
                 last ? ""
                      : " features=word,g,x "
                        "kernel=centre(spectrum(word;k=2)+hamming(g)*rbf(x))+centre(linear(x))");
        double first[2 * 3];
        for (size_t threads = 1; threads < (last ? 2 : 8); threads += 3) {
            cr_ctx_set_threads(cx, threads);
            cr_model *m = fit(cx, models[k][0], t, settings), *again = NULL;
            char     *bytes = NULL;
            size_t    size = 0;
            assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
            assert_ok(cx, cr_model_from_bytes(cx, "m", bytes, size, &again));
            cr_prediction p = predict(cx, m, z), q = predict(cx, again, z);
            const double *a = p.mean ? p.mean : p.prob ? p.prob : p.vector;
            const double *b = q.mean ? q.mean : q.prob ? q.prob : q.vector;
            size_t        width = p.mean ? 1 : p.n_classes;
            assert_memory_equal(a, b, 2 * width * sizeof(double));
            if (p.scale) assert_memory_equal(p.scale, q.scale, 2 * sizeof(double));
            if (threads == 1)
                memcpy(first, a, 2 * width * sizeof(double));
            else
                assert_memory_equal(a, first, 2 * width * sizeof(double));
            cr_free(cx, bytes, size, 1);
            cr_model_free(cx, again);
        }
    }
}

/* The coordinates of kernel-pca are centred anyway. */
TEST(pca)
{
    static const char *const kernels[] = { "linear", "rbf(l=1.5)", "poly(degree=3,c=1)",
                                           "2*rbf+linear(x1)" };
    sample                   s = draw(cx, true);
    for (size_t k = 0; k < 4; k++) {
        char settings[2][200];
        snprintf(settings[0], sizeof settings[0], NUMBERS "weights=w components=2 kernel=%s",
                 kernels[k]);
        snprintf(settings[1], sizeof settings[1],
                 NUMBERS "weights=w components=2 kernel=centre(%s)", kernels[k]);
        cr_model     *m[2] = { fit(cx, "kernel-pca", s.t, settings[0]),
                               fit(cx, "kernel-pca", s.t, settings[1]) };
        json_t       *d[2] = { describe(cx, m[0]), describe(cx, m[1]) };
        cr_prediction p[2] = { predict(cx, m[0], s.z), predict(cx, m[1], s.z) };
        assert_relative(statistic(d[1], "total"), statistic(d[0], "total"), 1e-10);
        for (size_t i = 0; i < 2 * T; i++)
            assert_close(p[1].vector[i], p[0].vector[i], 1e-8 * fmax(1, fabs(p[0].vector[i])));
    }
}

TEST(refusals)
{
    sample    s = draw(cx, false);
    cr_model *m = NULL, *more = NULL;
    assert_fails_with(cx, try_fit(cx, "gp", s.t, PLAIN "kernel=centre(rbf) approx=rff", &m),
                      CR_EUNSUPPORTED, "--approx rff");
    assert_non_null(strstr(cr_error_hint(cx), "--approx vfe"));
    assert_fails_with(cx, try_fit(cx, "gp", s.t, PLAIN "kernel=centre(rbf) approx=svgp", &m),
                      CR_EUNSUPPORTED, "--approx svgp");
    assert_fails_with(cx, try_fit(cx, "gp", s.t, PLAIN "kernel=centre(rbf) solver=cg", &m),
                      CR_EUNSUPPORTED, "--solver cg");
    assert_fails_with(cx, try_fit(cx, "gp", s.t, PLAIN "kernel=centre(sigmoid)", &m), CR_EARG,
                      "not positive semi-definite");
    m = fit(cx, "gp", s.t, PLAIN "kernel=centre(rbf) noise=0.1 optimize=none");
    assert_fails_with(cx, cr_update(cx, m, s.z, &more), CR_EUNSUPPORTED,
                      "there is no exact update");
    cr_model_free(cx, m);
    m = fit(cx, "gp-online", s.t, PLAIN "kernel=centre(rbf) noise=0.1 optimize=none");
    assert_ok(cx, cr_update(cx, m, s.z, &more)); /* its rows are those of the first batch */
    cr_model_free(cx, m);
    cr_model_free(cx, more);
}

/* Amplitudes inside count as such; parameters inside are learned. */
TEST(amplitudes)
{
    sample      s = draw(cx, false);
    cr_model   *m = fit(cx, "gp", s.t, PLAIN "kernel=centre(rbf)+centre(2*rbf(x1)) max-iter=3");
    json_t     *d = describe(cx, m);
    const char *text =
        json_string_value(json_object_get(json_object_get(d, "statistics"), "kernel"));
    size_t stars = 0;
    for (const char *at = text; *at; at++) stars += *at == '*';
    assert_int_equal(stars, 2); /* a*centre(rbf) + centre(b*rbf) */
    assert_true(isfinite(parameter(d, "1.rbf.l", "value")));
    cr_model_free(cx, m);
}

static cr_status all_of_it(cr_ctx *cx, void *arg)
{
    static const double x[] = { 1, 2, 3, 4, 7 }, y[] = { 1, 3, 2, 4, 4 };
    cr_status           st = CR_OK;
    cr_table           *t = arg;
    cr_model           *m = NULL, *again = NULL;
    cr_prediction       p = { 0 };
    char               *bytes = NULL;
    size_t              size = 0;
    setting_list        list;
    split_settings("target=y kernel=centre(rbf) noise=0.1 optimize=none", &list);
    CR_TRY(cr_table_new(cx, "t", 5, &t));
    CR_TRY(cr_table_borrow_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_borrow_numbers(cx, t, "y", CR_REAL, y, 1));
    CR_TRY(cr_fit(cx, "gp", t, list.list, list.n, &m));
    CR_TRY(cr_model_to_bytes(cx, m, &bytes, &size));
    CR_TRY(cr_model_from_bytes(cx, "m", bytes, size, &again));
    CR_TRY(cr_predict(cx, again, t, &p));
done:
    cr_free(cx, bytes, size, 1);
    cr_prediction_free(cx, &p);
    cr_model_free(cx, m);
    cr_model_free(cx, again);
    cr_table_free(cx, t);
    return st;
}

TEST(memory) { test_every_allocation_fails(all_of_it, NULL); }
