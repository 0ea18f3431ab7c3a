/* test_kernel_fisher.c -- Fisher kernels by scores from differences of the log density and
 * information from quadrature; products of densities by quadrature. */
#include "rows.h"

enum { POINTS = 6, MOST = 9 };

/* Gauss-Hermite nodes for the weight exp(-u^2 / 2): exact for polynomials up to degree 9. */
static const double node[5] = { -2.856970013872806, -1.355626179974266, 0, 1.355626179974266,
                                2.856970013872806 };
static const double weight[5] = { 0.011257411327720689, 0.22207592200561266, 0.53333333333333333,
                                  0.22207592200561266, 0.011257411327720689 };

/* A normal in one or two columns: theta is the means, then the sds, or S11, S21, S22. */
typedef struct normal {
    size_t d, n;
    bool   full;
} normal;

static double log_density(const normal *m, const double *theta, const double *x)
{
    double z[2], sum = 0, s11 = theta[m->d];
    z[0] = (x[0] - theta[0]) / s11;
    sum = -0.5 * z[0] * z[0] - log(s11);
    if (m->d == 1) return sum;
    double s21 = m->full ? theta[3] : 0, s22 = theta[m->full ? 4 : 3];
    z[1] = (x[1] - theta[1] - s21 * z[0]) / s22;
    return sum - 0.5 * z[1] * z[1] - log(s22);
}

static void score(const normal *m, const double *theta, const double *x, double *U)
{
    double t[MOST], h = 1e-3;
    memcpy(t, theta, m->n * sizeof *t);
    for (size_t j = 0; j < m->n; j++) {
        double d[2];
        for (size_t s = 0; s < 2; s++) {
            double step = h / (double)(s + 1), high, low;
            t[j] = theta[j] + step, high = log_density(m, t, x);
            t[j] = theta[j] - step, low = log_density(m, t, x);
            d[s] = (high - low) / (2 * step);
        }
        t[j] = theta[j];
        U[j] = (4 * d[1] - d[0]) / 3;
    }
}

/* E U U^T under the model. */
static void information(const normal *m, const double *theta, double *I)
{
    double U[MOST], s21 = m->full ? theta[3] : 0, s22 = m->d == 1 ? 0 : theta[m->full ? 4 : 3];
    memset(I, 0, m->n * m->n * sizeof *I);
    for (size_t a = 0; a < 5; a++)
        for (size_t b = 0; b < (m->d == 2 ? 5u : 1u); b++) {
            double u = node[a], v = m->d == 2 ? node[b] : 0,
                   w = weight[a] * (m->d == 2 ? weight[b] : 1);
            double x[2] = { theta[0] + theta[m->d] * u, theta[1] + s21 * u + s22 * v };
            score(m, theta, x, U);
            for (size_t i = 0; i < m->n; i++)
                for (size_t j = 0; j < m->n; j++) I[i * m->n + j] += w * U[i] * U[j];
        }
}

/* B := I^-1 B by elimination; I is positive definite. */
static void solve(size_t n, double *A, double *B)
{
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++) {
            double f = A[i * n + k] / A[k * n + k];
            if (i == k) continue;
            for (size_t j = 0; j < n; j++) A[i * n + j] -= f * A[k * n + j];
            B[i] -= f * B[k];
        }
    for (size_t i = 0; i < n; i++) B[i] /= A[i * n + i];
}

static void check_normal(cr_ctx *cx, const normal *m, const double *theta, const char *text)
{
    static const double X[POINTS * 2] = {
        0.3, -1.2, 2.2, 0.4, -0.7, 1.9, 0, 0, 1.1, 1.3, -2.4, 0.6
    };
    double          K[POINTS * POINTS], I[MOST * MOST], U[POINTS][MOST], V[MOST];
    cr_kernel      *k = parse(cx, text);
    cr_kernel_input in = cr_kernel_rows((cr_cmat){ X, POINTS, m->d, 2 });
    assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K, POINTS, POINTS)));
    for (size_t i = 0; i < POINTS; i++) score(m, theta, X + 2 * i, U[i]);
    for (size_t i = 0; i < POINTS; i++) {
        information(m, theta, I);
        memcpy(V, U[i], sizeof V);
        solve(m->n, I, V);
        for (size_t j = 0; j < POINTS; j++) {
            double sum = 0;
            for (size_t e = 0; e < m->n; e++) sum += V[e] * U[j][e];
            assert_close(K[i * POINTS + j], sum, 1e-7);
        }
    }
    cr_kernel_free(cx, k);
}

TEST(fisher)
{
    check_normal(cx, &(normal){ 1, 2, false }, (double[]){ 0.4, 1.3 },
                 "fisher(x1; mean=0.4, sd=1.3)");
    check_normal(cx, &(normal){ 2, 4, false }, (double[]){ 0.4, -0.2, 1.3, 0.8 },
                 "fisher(x1, x2; mean=[0.4,-0.2], sd=[1.3,0.8])");
    check_normal(cx, &(normal){ 2, 5, true }, (double[]){ 0.4, -0.2, 1.3, 0.5, 0.8 },
                 "fisher(x1, x2; mean=[0.4,-0.2], sd=[1.3,0,0.5,0.8])");
}

/* One natural parameter: U = (x - m) a, I = a^2 var x, whatever a is. */
TEST(fisher_counts)
{
    double     X[] = { 0, 1, 5, 2.5 }, K[16];
    cr_kernel *k = parse(cx, "fisher(x1; mean=2, sd=1.4142135623730951, order=1)"); /* Poisson(2) */
    cr_kernel_input in = cr_kernel_rows(cr_cmat_of(X, 4, 1));
    assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K, 4, 4)));
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) /* theta = rate: U = x / 2 - 1, I = 1 / 2 */
            assert_close(K[i * 4 + j], (X[i] / 2 - 1) * (X[j] / 2 - 1) * 2, 1e-14);
    assert_int_equal(cr_kernel_theta_size(k), 0);
    cr_kernel_fix(k, 0, false);
    assert_int_equal(cr_kernel_theta_size(k), 0);
    cr_kernel_free(cx, k);
}

static double density(double u, double m, double s)
{
    return exp(-0.5 * (u - m) * (u - m) / (s * s)) / (s * sqrt(2 * M_PI));
}

TEST(product)
{
    static const double X[] = { 0.2, 0.5, 1.1, 0.8, -0.4, 1.7, 0.2, 0.05 };
    static const double rhos[] = { 0.5, 1, 0.3, 2 };
    double              K[16];
    for (size_t r = 0; r < 4; r++) {
        char text[64];
        snprintf(text, sizeof text, "product(rho=%g)", rhos[r]);
        cr_kernel      *k = parse(cx, text);
        cr_kernel_input in = cr_kernel_rows(cr_cmat_of(X, 4, 2));
        assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K, 4, 4)));
        for (size_t i = 0; i < 4; i++)
            for (size_t j = 0; j < 4; j++) { /* the trapezoid rule, exact for such functions */
                double sum = 0, h = 0.002;
                for (double u = -30; u < 30; u += h)
                    sum += h * pow(density(u, X[2 * i], X[2 * i + 1]) *
                                       density(u, X[2 * j], X[2 * j + 1]),
                                   rhos[r]);
                assert_relative(K[i * 4 + j], sum, 1e-9);
            }
        if (r == 0)
            for (size_t i = 0; i < 4; i++) assert_close(K[i * 5], 1, 1e-14);
        cr_kernel_free(cx, k);
    }
}

TEST(refusals)
{
    cr_kernel *k = NULL;
    double     X[] = { 1, 2, 3, -1 }, K[4];
    static const struct {
        const char *text, *sentence;
    } wrong[] = {
        { "fisher(x1, x2; sd=[1,2,3])", "sd has 3 values, but there are 2 columns" },
        { "fisher(x1, x2; mean=[1,2,3])", "mean has 3 values" },
        { "fisher(x1; sd=0)", "sd must be positive" },
        { "fisher(x1, x2; sd=[1,0.5,0,1])", "is 0 above its diagonal" },
        { "fisher(x1; mean=1 fixed)", "mean is not learned" },
        { "fisher(x1; file=\"a.cred\")", "there are no model files here" },
        { "rbf(file=\"a.cred\")", "rbf has no parameter 'file'" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails_with(cx, cr_kernel_parse(cx, wrong[i].text, &test_columns, NULL, 0, &k),
                          CR_EARG, wrong[i].sentence);
    k = parse(cx, "product");
    cr_kernel_input in = cr_kernel_rows(cr_cmat_of(X, 2, 2));
    assert_fails_with(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K, 2, 2)), CR_EDATA,
                      "positive, as an sd");
    in = cr_kernel_rows(cr_cmat_of(X, 1, 3));
    assert_fails_with(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K, 1, 1)), CR_EARG,
                      "alternating columns of mean and sd");
    cr_kernel_free(cx, k);
}
