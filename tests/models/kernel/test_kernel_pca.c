/* test_kernel_pca.c -- kernel principal components against singular values, the definition by dense
 * centring, scikit-learn 1.2's KernelPCA. */
#include "../gp/gp_reference.h"

#include "math/dense/decompose.h"

enum { N = 24, P = 3, Q = 3, T = 6 };

typedef struct sample {
    double    X[N * P], y[N], w[N], Z[T * P];
    cr_table *t, *z;
} sample;

static sample draw(cr_ctx *cx, uint64_t seed)
{
    sample s;
    cr_rng r = cr_rng_stream(seed, 5);
    for (size_t i = 0; i < N * P; i++) s.X[i] = cr_rng_normal(&r) * (double)(1 + i % P) + 2;
    for (size_t i = 0; i < T * P; i++) s.Z[i] = 3 * cr_rng_normal(&r);
    for (size_t i = 0; i < N; i++) s.y[i] = 0, s.w[i] = (double)(i % 4);
    memcpy(s.X + 9 * P, s.X + 2 * P, sizeof(double[P])); /* a repeated row */
    s.t = make_table(cx, s.X, N, P, s.y, s.w);
    s.z = make_table(cx, s.Z, T, P, s.y, NULL);
    return s;
}

#define PLAIN "features=x* scale=none "

/* With the linear kernel it is principal component analysis: scores U diag(s) of the centred
 * columns. */
TEST(linear)
{
    sample        s = draw(cx, 1);
    cr_model     *m = fit(cx, "kernel-pca", s.t, PLAIN "kernel=linear components=0");
    cr_prediction p = predict(cx, m, s.t), q = predict(cx, m, s.z);
    double        C[N * P], U[N * P], V[P * P], sv[P], mean[P] = { 0 }, total = 0;
    json_t       *d = describe(cx, m);
    for (size_t i = 0; i < N * P; i++) mean[i % P] += s.X[i] / N;
    for (size_t i = 0; i < N * P; i++) C[i] = s.X[i] - mean[i % P];
    assert_ok(cx, cr_svd(cx, cr_cmat_of(C, N, P), cr_mat_of(U, N, P), sv, cr_mat_of(V, P, P)));
    assert_int_equal(p.n_classes, P);
    for (size_t j = 0; j < P; j++) total += sv[j] * sv[j];
    for (size_t j = 0; j < P; j++) {
        char   name[32];
        double most = 0, sign = 1;
        for (size_t i = 0; i < N; i++)
            if (fabs(U[i * P + j]) > most)
                most = fabs(U[i * P + j]), sign = U[i * P + j] < 0 ? -1 : 1;
        snprintf(name, sizeof name, "eigenvalue(z%zu)", j + 1);
        assert_relative(statistic(d, name), sv[j] * sv[j], 1e-10);
        snprintf(name, sizeof name, "share(z%zu)", j + 1);
        assert_relative(statistic(d, name), sv[j] * sv[j] / total, 1e-10);
        for (size_t i = 0; i < N; i++)
            assert_close(p.vector[i * P + j], sign * sv[j] * U[i * P + j], 1e-10);
        for (size_t i = 0; i < T; i++) {
            double z = 0;
            for (size_t k = 0; k < P; k++) z += (s.Z[i * P + k] - mean[k]) * V[k * P + j];
            assert_close(fabs(q.vector[i * P + j]), fabs(z), 1e-10);
        }
    }
    assert_close(statistic(d, "explained"), 1, 1e-12);
    cr_model_free(cx, m);
}

/* The definition: K centred twice with weights p, its eigenvectors, and centred rows of new
 * ones. */
TEST(definition)
{
    sample        s = draw(cx, 2);
    cr_model     *m = fit(cx, "kernel-pca", s.t, PLAIN "weights=w kernel=rbf(l=2.5) components=3");
    cr_prediction p = predict(cx, m, s.z);
    double        K[N * N], V[N * N], l[N], sum = 0, row[N] = { 0 }, all = 0;
    for (size_t i = 0; i < N; i++) sum += s.w[i];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double d = 0;
            for (size_t k = 0; k < P; k++) d += pow(s.X[i * P + k] - s.X[j * P + k], 2);
            K[i * N + j] = exp(-d / 2 / 6.25);
            row[i] += s.w[j] / sum * K[i * N + j];
        }
    for (size_t i = 0; i < N; i++) all += s.w[i] / sum * row[i];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            K[i * N + j] = sqrt(s.w[i] * s.w[j]) * (K[i * N + j] - row[i] - row[j] + all);
    assert_ok(cx, cr_eigen(cx, cr_cmat_of(K, N, N), l, cr_mat_of(V, N, N)));
    for (size_t j = 0; j < Q; j++) {
        const double *u = V + (N - 1 - j);
        double        value = l[N - 1 - j];
        for (size_t t = 0; t < T; t++) {
            double k[N], mean = 0, z = 0;
            for (size_t i = 0; i < N; i++) {
                double d = 0;
                for (size_t c = 0; c < P; c++) d += pow(s.X[i * P + c] - s.Z[t * P + c], 2);
                k[i] = exp(-d / 2 / 6.25);
                mean += s.w[i] / sum * k[i];
            }
            for (size_t i = 0; i < N; i++)
                z += sqrt(s.w[i]) * u[i * N] / sqrt(value) * (k[i] - mean - row[i] + all);
            assert_close(fabs(p.vector[t * Q + j]), fabs(z), 1e-10);
        }
    }
    cr_model_free(cx, m);
}

TEST(sklearn)
{
    static const double X[] = { 0.3, 1.2, 1.7, -0.4, -0.6, 0.9, 2.2, 2.1, 0.1, -1.5, 1.1, 0.6 };
    static const double Z[] = { 0.5, 0.5, -1, 2 }, zero[6];
    static const struct {
        const char *settings;
        double      l[3], z[6];
    } cases[] = {
        { PLAIN "components=3 kernel=rbf(l=1.5)",
          { 1.1289939352039546, 0.9953480025632608, 0.6783834950945057 },
          { 0.1610353357230241, 0.20024094288712332, 0.23590507184028528, 0.396056777784367,
            0.3420601062766181, 0.2315926340685692 } },
        { PLAIN "components=3 kernel=poly(variance=0.5,degree=3,offset=1)",
          { 134.14252500780026, 12.629995813789673, 8.545509807404361 },
          { 2.185604759046395, 0.55921130858882, 0.5361644845582715, 2.4604813319977104,
            2.8636979629077537, 1.8044197178509744 } },
    };
    cr_table *t = make_table(cx, X, 6, 2, zero, NULL), *at = make_table(cx, Z, 2, 2, zero, NULL);
    for (size_t c = 0; c < 2; c++) {
        cr_model     *m = fit(cx, "kernel-pca", t, cases[c].settings);
        cr_prediction p = predict(cx, m, at);
        json_t       *d = describe(cx, m);
        for (size_t j = 0; j < 3; j++) {
            char name[32];
            snprintf(name, sizeof name, "eigenvalue(z%zu)", j + 1);
            assert_relative(statistic(d, name), cases[c].l[j], 1e-12);
            for (size_t i = 0; i < 2; i++)
                assert_relative(fabs(p.vector[i * 3 + j]), cases[c].z[i * 3 + j], 1e-11);
        }
    }
}

/* rbf, poly and linear as the file of reference answers writes them. */
static void peer_kernel(const json_t *k, char *text, size_t size)
{
    const char *name = json_string_value(json_object_get(k, "kernel"));
    if (strcmp(name, "rbf") == 0)
        snprintf(text, size, "rbf(l=%.17g)", sqrt(0.5 / number_of(k, "gamma")));
    else if (strcmp(name, "poly") == 0)
        snprintf(text, size, "poly(variance=%.17g,degree=%.0f,offset=%.17g)", number_of(k, "gamma"),
                 number_of(k, "degree"), number_of(k, "coef0"));
    else
        snprintf(text, size, "%s", name);
}

/* Coordinates of the first rows of a table against [rows x q]; the sign is one for a component,
 * where the largest of the training rows is one of several as large. */
static void compare_rows(const cr_prediction *p, const json_t *rows, size_t q, const double *sign,
                         double scale)
{
    for (size_t i = 0; i < json_array_size(rows); i++)
        for (size_t j = 0; j < q; j++)
            assert_true(fabs(sign[j] * p->vector[i * q + j] - element(json_array_get(rows, i), j)) <
                        1e-7 * scale);
}

static void check_peer(cr_ctx *cx, const json_t *root, const json_t *item)
{
    split         s = read_split(cx, root, item);
    const json_t *values = json_object_get(item, "eigenvalues"),
                 *train = json_object_get(item, "train_projection_first10");
    size_t q = json_array_size(values);
    char   kernel[128], settings[256], name[64];
    peer_kernel(json_object_get(item, "kernel"), kernel, sizeof kernel);
    snprintf(settings, sizeof settings, PLAIN "components=%zu kernel=%s", q, kernel);
    cr_table *t = make_table(cx, s.X, s.n, s.d, NULL, NULL),
             *z = make_table(cx, s.Z, s.tests, s.d, NULL, NULL);
    cr_model     *m = fit(cx, "kernel-pca", t, settings);
    cr_prediction p = predict(cx, m, t);
    json_t       *d = describe(cx, m);
    double        sign[16], scale = 0;
    assert_int_equal(p.n_classes, q);
    for (size_t j = 0; j < q; j++) {
        snprintf(name, sizeof name, "eigenvalue(z%zu)", j + 1);
        assert_relative(statistic(d, name), element(values, j), 1e-9);
        sign[j] = p.vector[j] * element(json_array_get(train, 0), j) < 0 ? -1 : 1;
        scale = fmax(scale, sqrt(element(values, j)));
    }
    compare_rows(&p, train, q, sign, scale);
    if (s.tests > 0) {
        p = predict(cx, m, z);
        compare_rows(&p, json_object_get(item, "test_projection_first20"), q, sign, scale);
    }
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    cr_table_free(cx, z);
    drop_split(&s);
}

/* Eigenvalues, and coordinates of old and new rows, of the 12 cases of scikit-learn's KernelPCA. */
TEST(peers) { check_cases("kpca/", "", 500, 12, check_peer); }

/* The squares of the coordinates of the data add up to the eigenvalues, their products to 0. */
TEST(coordinates)
{
    sample        s = draw(cx, 3);
    cr_model     *m = fit(cx, "kernel-pca", s.t, "features=x* weights=w components=4");
    cr_prediction p = predict(cx, m, s.t);
    json_t       *d = describe(cx, m);
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < 4; b++) {
            double sum = 0;
            char   name[32];
            for (size_t i = 0; i < N; i++)
                sum += s.w[i] * p.vector[i * 4 + a] * p.vector[i * 4 + b];
            snprintf(name, sizeof name, "eigenvalue(z%zu)", a + 1);
            assert_close(sum, a == b ? statistic(d, name) : 0, 1e-10);
        }
}

/* Categories, one row, rows all alike, a white kernel, more components than there are. */
TEST(corners)
{
    cr_table     *t = table_of_text(cx, "t.csv", "g,x\na,1\nb,2\na,4\nc,2\nb,1\n");
    cr_model     *m = fit(cx, "kernel-pca", t, "kernel=rbf(x)+hamming(g) components=9");
    cr_prediction p = predict(cx, m, t);
    assert_int_equal(p.n_classes, 4);
    for (size_t j = 0; j < 4; j++) {
        double sum = 0;
        for (size_t i = 0; i < 5; i++) sum += p.vector[i * 4 + j];
        assert_close(sum, 0, 1e-10);
    }
    cr_model_free(cx, m);
    m = fit(cx, "kernel-pca", t, "features=x kernel=rbf+white(3)"); /* not of the function */
    cr_model     *n = fit(cx, "kernel-pca", t, "features=x kernel=rbf");
    cr_prediction q = predict(cx, m, t), r = predict(cx, n, t);
    for (size_t i = 0; i < 10; i++) assert_close(q.vector[i], r.vector[i], 1e-12);
    cr_model_free(cx, m);
    cr_model_free(cx, n);
    cr_table_free(cx, t);
    t = table_of_text(cx, "t.csv", "x\n3\n3\n3\n");
    m = fit(cx, "kernel-pca", t, "components=2");
    p = predict(cx, m, t);
    assert_int_equal(p.n_classes, 1);
    for (size_t i = 0; i < 3; i++) assert_true(p.vector[i] == 0);
}
