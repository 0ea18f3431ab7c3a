/* test_preimage.c -- the way back from coordinates of kernel-pca: principal components with the
 * linear kernel, the definition with dense matrices and the fixed point of Mika et al., a noisy
 * ring, laws and refusals. */
#include "../fixture.h"

#include "math/dense/decompose.h"
#include "models/kernel/preimage.h"
#include "models/core/parts.h"

enum { N = 24, P = 3, T = 7 };
#define PLAIN "features=x* scale=none "

typedef struct sample {
    double    X[N * P], w[N], Z[T * P];
    cr_table *t, *z;
} sample;

static sample draw(cr_ctx *cx, uint64_t seed)
{
    sample s;
    double y[N] = { 0 };
    cr_rng r = cr_rng_stream(seed, 6);
    for (size_t i = 0; i < N * P; i++) s.X[i] = cr_rng_normal(&r) * (double)(1 + i % P) + 2;
    for (size_t i = 0; i < T * P; i++) s.Z[i] = 2 + 1.5 * cr_rng_normal(&r);
    for (size_t i = 0; i < N; i++) s.w[i] = (double)(i % 4);
    s.t = make_table(cx, s.X, N, P, y, s.w);
    s.z = make_table(cx, s.Z, T, P, y, NULL);
    return s;
}

/* Rows to coordinates and back. */
static void go_back(cr_ctx *cx, const cr_model *m, const cr_table *t, double *out, double *distance)
{
    size_t q = 0, n = cr_table_rows(t);
    cr_transform_labels(m, &q);
    double *Z = malloc((n * q + 1) * sizeof *Z);
    assert_ok(cx, cr_transform(cx, m, t, Z));
    assert_ok(cx, cr_reconstruct(cx, m, Z, n, out, distance));
    free(Z);
}

/* With the linear kernel it is the mean and the first directions of principal component
 * analysis. */
TEST(linear)
{
    sample s = draw(cx, 1);
    for (int weighted = 0; weighted < 2; weighted++) {
        double    C[N * P], U[N * P], V[P * P], sv[P], mean[P] = { 0 }, out[T * P], sum = 0;
        cr_model *m = fit(cx, "kernel-pca", s.t,
                          weighted ? PLAIN "weights=w kernel=linear"
                                   : "features=x* scale=none kernel=centre(linear)");
        for (size_t i = 0; i < N; i++) sum += weighted ? s.w[i] : 1;
        for (size_t i = 0; i < N * P; i++)
            mean[i % P] += s.X[i] * (weighted ? s.w[i / P] : 1) / sum;
        for (size_t i = 0; i < N * P; i++)
            C[i] = (s.X[i] - mean[i % P]) * (weighted ? sqrt(s.w[i / P]) : 1);
        assert_ok(cx, cr_svd(cx, cr_cmat_of(C, N, P), cr_mat_of(U, N, P), sv, cr_mat_of(V, P, P)));
        go_back(cx, m, s.z, out, NULL);
        assert_int_equal(cr_model_reconstructs(m), P);
        assert_string_equal(cr_model_reconstruct_name(m, 1), "x2");
        for (size_t i = 0; i < T; i++)
            for (size_t k = 0; k < P; k++) {
                double want = mean[k];
                for (size_t j = 0; j < 2; j++)
                    for (size_t l = 0; l < P; l++)
                        want += (s.Z[i * P + l] - mean[l]) * V[l * P + j] * V[k * P + j];
                assert_close(out[i * P + k], want, 1e-8);
            }
    }
}

static double rbf(const double *x, const double *y)
{
    double t = 0;
    for (size_t k = 0; k < P; k++) t += (x[k] - y[k]) * (x[k] - y[k]);
    return exp(-t / 2 / 6.25);
}

/* P = sum_i g_i phi(x_i) of a row by dense matrices, and |P|^2. */
static double project(cr_ctx *cx, const sample *s, const double *x, size_t q, double *g)
{
    double K[N * N], C[N * N], V[N * N], l[N], row[N] = { 0 }, k[N], all = 0, mean = 0, square = 0;
    for (size_t i = 0; i < N * N; i++) K[i] = rbf(s->X + i / N * P, s->X + i % N * P);
    for (size_t i = 0; i < N * N; i++) row[i / N] += K[i] / N;
    for (size_t i = 0; i < N; i++) all += row[i] / N;
    for (size_t i = 0; i < N * N; i++) C[i] = K[i] - row[i / N] - row[i % N] + all;
    assert_ok(cx, cr_eigen(cx, cr_cmat_of(C, N, N), l, cr_mat_of(V, N, N)));
    for (size_t i = 0; i < N; i++) k[i] = rbf(s->X + i * P, x), mean += k[i] / N, g[i] = 1.0 / N;
    for (size_t j = 0; j < q; j++) {
        double z = 0;
        for (size_t i = 0; i < N; i++)
            z += V[i * N + N - 1 - j] / sqrt(l[N - 1 - j]) * (k[i] - mean - row[i] + all);
        for (size_t i = 0; i < N; i++) g[i] += z * V[i * N + N - 1 - j] / sqrt(l[N - 1 - j]);
    }
    for (size_t i = 0; i < N * N; i++) square += g[i / N] * g[i % N] * K[i];
    return square;
}

static double distance_to(const sample *s, const double *g, double square, const double *x)
{
    double t = 1 + square;
    for (size_t i = 0; i < N; i++) t -= 2 * g[i] * rbf(s->X + i * P, x);
    return sqrt(fmax(t, 0));
}

/* What is told of the distance is so; no row of the data and no small step is nearer; Mika's
 * iteration stays. */
TEST(definition)
{
    sample    s = draw(cx, 2);
    cr_model *m = fit(cx, "kernel-pca", s.t, PLAIN "kernel=rbf(l=2.5) components=3");
    double    out[T * P], distance[T], g[N];
    go_back(cx, m, s.z, out, distance);
    for (size_t i = 0; i < T; i++) {
        double square = project(cx, &s, s.Z + i * P, 3, g), *x = out + i * P, next[P] = { 0 },
               sum = 0;
        assert_close(distance[i], distance_to(&s, g, square, x), 1e-7);
        for (size_t j = 0; j < N; j++) {
            assert_true(distance_to(&s, g, square, s.X + j * P) >= distance[i] - 1e-9);
            double a = g[j] * rbf(s.X + j * P, x);
            sum += a;
            for (size_t k = 0; k < P; k++) next[k] += a * s.X[j * P + k];
        }
        for (size_t k = 0; k < P; k++) {
            assert_close(next[k] / sum, x[k], 1e-5);
            for (int side = -1; side < 2; side += 2) {
                double at = x[k];
                x[k] += side * 1e-2;
                assert_true(distance_to(&s, g, square, x) >= distance[i] - 1e-9);
                x[k] = at;
            }
        }
    }
    cr_model_free(cx, m);
}

/* Where searches start, of a row of the data with all components: at the row, at the mean of the
 * ten nearest, and, of rbf, where the distances tell: at the row again. */
TEST(starts)
{
    sample        s = draw(cx, 5);
    static double K[N * N], V[N * N], weight[N * (N - 1)], place[N * (N - 1)];
    double     l[N], row[N] = { 0 }, share[N], beside[N] = { 0 }, square[N] = { 0 }, x[P], all = 0;
    cr_kernel *k = NULL;
    assert_ok(cx, cr_kernel_parse(cx, "1*centre(rbf(l=2.5))", NULL, NULL, 0, &k));
    for (size_t i = 0; i < N * N; i++) K[i] = rbf(s.X + i / N * P, s.X + i % N * P);
    for (size_t i = 0; i < N * N; i++) row[i / N] += K[i] / N;
    for (size_t i = 0; i < N; i++) all += row[i] / N, share[i] = 1.0 / N;
    for (size_t i = 0; i < N * N; i++) K[i] += all - row[i / N] - row[i % N];
    assert_ok(cx, cr_eigen(cx, cr_cmat_of(K, N, N), l, cr_mat_of(V, N, N)));
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N - 1; j++) {
            weight[i * (N - 1) + j] = V[i * N + 1 + j] / sqrt(l[1 + j]);
            place[i * (N - 1) + j] = V[i * N + 1 + j] * sqrt(l[1 + j]);
        }
    cri_preimage_space space = { .kernel = k,
                                 .at = cr_kernel_rows(cr_cmat_of(s.X, N, P)),
                                 .n = N,
                                 .d = P,
                                 .q = N - 1,
                                 .share = share,
                                 .weight = weight,
                                 .square = square,
                                 .place = place,
                                 .beside = beside };
    for (size_t i = 0; i < N; i++) {
        const double *z = place + i * (N - 1);
        assert_ok(cx, cri_preimage_start(cx, &space, z, 0, x));
        assert_memory_equal(x, s.X + i * P, sizeof x);
        assert_ok(cx, cri_preimage_start(cx, &space, z, 2, x));
        for (size_t j = 0; j < P; j++) assert_close(x[j], s.X[i * P + j], 1e-6);
        double nearest[N], sum = 0; /* the ten nearest in the space are the ten nearest */
        for (size_t j = 0; j < N; j++) nearest[j] = rbf(s.X + i * P, s.X + j * P);
        assert_ok(cx, cri_preimage_start(cx, &space, z, 1, x));
        for (size_t j = 0; j < N; j++) {
            size_t before = 0;
            for (size_t c = 0; c < N; c++) before += nearest[c] > nearest[j];
            if (before < 10) sum += s.X[j * P] / 10;
        }
        assert_close(x[0], sum, 1e-12);
    }
    cr_kernel_free(cx, k);
}

/* With all components a row of the data comes back as it was, whatever the kernel and the scale. */
TEST(all_components)
{
    static const char *const kernels[] = { "rbf(l=1.3)",         "2*rbf(l=[1,2,1.5])",
                                           "centre(rbf(l=1.3))", "poly(degree=3,c=1)",
                                           "matern52(l=2)",      "rq(l=1.5)+linear",
                                           "rbf(x1,x2)+rbf(x3)", "rbf(base=linear)" };
    sample                   s = draw(cx, 3);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (int scaled = 0; scaled < 2; scaled++) {
            char   settings[200];
            double out[N * P], distance[N];
            snprintf(settings, sizeof settings, "features=x* scale=%s components=0 kernel=%s",
                     scaled ? "standard" : "none", kernels[k]);
            cr_model *m = fit(cx, "kernel-pca", s.t, settings);
            go_back(cx, m, s.t, out, distance);
            for (size_t i = 0; i < N * P; i++) {
                if (!(fabs(out[i] - s.X[i]) < 2e-5))
                    fail_msg("%s: %g, not %g", settings, out[i], s.X[i]);
                assert_true(distance[i / P] < 1e-5);
            }
        }
}

/* A ring with noise: what comes back is nearer to the ring. */
TEST(ring)
{
    enum { RING = 90 };
    double X[2 * RING], y[RING] = { 0 }, out[2 * RING], distance[RING], before = 0, after = 0;
    cr_rng r = cr_rng_stream(9, 1);
    for (size_t i = 0; i < RING; i++) {
        double angle = 2 * M_PI * (double)i / RING;
        X[2 * i] = 5 + 2 * cos(angle) + 0.2 * cr_rng_normal(&r);
        X[2 * i + 1] = 2 * sin(angle) + 0.2 * cr_rng_normal(&r);
    }
    cr_table *t = make_table(cx, X, RING, 2, y, NULL);
    cr_model *m = fit(cx, "kernel-pca", t, PLAIN "kernel=rbf(l=2) components=4");
    go_back(cx, m, t, out, distance);
    for (size_t i = 0; i < RING; i++) {
        before += pow(hypot(X[2 * i] - 5, X[2 * i + 1]) - 2, 2);
        after += pow(hypot(out[2 * i] - 5, out[2 * i + 1]) - 2, 2);
    }
    if (!(after < 0.5 * before)) fail_msg("%g, from %g", after, before);
}

/* The same bits from a saved model and any number of threads; rows left out stay so. */
TEST(same)
{
    sample    s = draw(cx, 4);
    cr_model *m = fit(cx, "kernel-pca", s.t, "features=x* weights=w components=3"), *again = NULL;
    double    out[2][T * P], distance[2][T], Z[T * 3];
    char     *bytes = NULL;
    size_t    size = 0;
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
    assert_ok(cx, cr_model_from_bytes(cx, "m", bytes, size, &again));
    cr_ctx_set_threads(cx, 1);
    go_back(cx, m, s.z, out[0], distance[0]);
    for (size_t threads = 1; threads < 8; threads += 2) {
        cr_ctx_set_threads(cx, threads);
        go_back(cx, threads == 3 ? again : m, s.z, out[1], distance[1]);
        assert_memory_equal(out[1], out[0], sizeof out[0]);
        assert_memory_equal(distance[1], distance[0], sizeof distance[0]);
    }
    assert_ok(cx, cr_transform(cx, m, s.z, Z));
    Z[2 * 3 + 1] = NAN;
    assert_ok(cx, cr_reconstruct(cx, m, Z, T, out[1], distance[1]));
    for (size_t i = 0; i < T; i++) {
        assert_true(isnan(distance[1][i]) == (i == 2) && isnan(out[1][i * P]) == (i == 2));
        if (i != 2) assert_close(out[1][i * P], out[0][i * P], 1e-6);
    }
    assert_ok(cx, cr_reconstruct(cx, m, Z, 0, out[1], NULL));
    cr_free(cx, bytes, size, 1);
    cr_model_free(cx, m);
    cr_model_free(cx, again);
}

/* Kernels that are not smooth, or have values for some numbers only; one row; rows all alike;
 * columns that the kernel does not read. */
TEST(corners)
{
    static const char *const kernels[] = { "chi2",          "intersection", "matern12",
                                           "rbf(warp=log)", "brownian(x1)", "1",
                                           "rbf(x2)" };
    cr_table *t = table_of_text(cx, "t.csv", "x1,x2\n1,2\n2,1\n4,3\n3,5\n2.5,2\n1,4\n");
    double    out[12], distance[6];
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        char settings[100];
        snprintf(settings, sizeof settings, "scale=none kernel=%s", kernels[k]);
        cr_model *m = fit(cx, "kernel-pca", t, settings);
        go_back(cx, m, t, out, distance);
        for (size_t i = 0; i < 12; i++) {
            assert_true(isfinite(out[i]) && distance[i / 2] >= 0);
            if (k < 2 || k == 3) assert_true(out[i] >= 1 && out[i] <= 5);
        }
    }
    cr_table_free(cx, t);
    t = table_of_text(cx, "t.csv", "x\n3\n3\n");
    cr_model *m = fit(cx, "kernel-pca", t, "scale=none");
    go_back(cx, m, t, out, distance);
    assert_true(out[0] == 3 && out[1] == 3 && distance[0] == 0);
}

TEST(refusals)
{
    cr_table *t = table_of_text(cx, "t.csv", "g,x,y\na,1,2\nb,2,3\na,4,1\nc,2,2\n");
    double    Z[8] = { 0 }, out[8];
    cr_model *m = fit(cx, "kernel-pca", t, "features=g,x kernel=rbf(x)+hamming(g)");
    assert_fails_with(cx, cr_reconstruct(cx, m, Z, 1, out, NULL), CR_EUNSUPPORTED,
                      "reads categories or text");
    cr_model_free(cx, m);
    m = fit(cx, "kernel-pca", t, "features=g,x kernel=rbf(x)"); /* as the hint says */
    assert_ok(cx, cr_reconstruct(cx, m, Z, 1, out, NULL));
    cr_model_free(cx, m);
    m = fit(cx, "linear", t, "target=y features=x");
    assert_int_equal(cr_model_reconstructs(m), 0);
    assert_fails_with(cx, cr_reconstruct(cx, m, Z, 1, out, NULL), CR_EUNSUPPORTED,
                      "linear cannot reconstruct rows");
}

static cr_status back_again(cr_ctx *cx, void *arg)
{
    static const double Z[] = { 0.1, 0.2, -0.1, 0.3 };
    double              out[2], distance[2];
    return cr_reconstruct(cx, arg, Z, 2, out, distance);
}

TEST(memory)
{
    cr_table *t = table_of_text(cx, "t.csv", "x\n1\n2\n4\n7\n");
    cr_model *m = fit(cx, "kernel-pca", t, "components=2");
    cr_table_free(cx, t);
    test_every_allocation_fails(back_again, m);
}
