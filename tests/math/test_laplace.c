/* The Laplace approximation: exact on Gaussians; closed forms for the normal sample and the gamma
 * density; each with the Hessian, with the gradient, and with values alone. */
#include "support.h"

#include "math/optim/laplace.h"

static const double LOG_TWO_PI = 1.8378770664093454836;

/* --- a Gaussian of three variables with very different scales -------------------------------- */

static const double MEAN[3] = { 3, -2e4, 1e-5 };
static const double SD[3] = { 0.5, 40, 2e-6 };
static const double R01 = 0.6, R12 = -0.3; /* precision in units of the sds: 1, off-diagonals */

static double precision(size_t i, size_t j)
{
    double off = i + j == 1 ? R01 : i + j == 3 && i != j ? R12 : 0;
    return (i == j ? 1 : off) / (SD[i] * SD[j]);
}

static cr_status gaussian(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    double f = 0;
    for (size_t i = 0; i < n; i++) {
        double Ax = 0;
        for (size_t j = 0; j < n; j++) Ax += precision(i, j) * (x[j] - MEAN[j]);
        f -= (x[i] - MEAN[i]) * Ax / 2;
        if (opt_g) opt_g[i] = -Ax;
    }
    *out_f = f + *(double *)user;
    return CR_OK;
}

static cr_status gaussian_hessian(void *user, const double *x, size_t n, double *out_h)
{
    (void)user, (void)x;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) out_h[i * n + j] = -precision(i, j);
    return CR_OK;
}

TEST(exact_on_a_gaussian)
{
    static const double tolerance[] = { 1e-11, 1e-8, 1e-7 };
    double              constant = -17.5, det = 1 - R01 * R01 - R12 * R12; /* in units of the sds */
    double              known[3] = { (1 - R12 * R12) / det, 1 / det, (1 - R01 * R01) / det };
    for (int k = 0; k < 3; k++) {
        cr_log_density    p = { .n = 3,
                                .log_density = gaussian,
                                .no_gradient = k == 2,
                                .hessian = k == 0 ? gaussian_hessian : NULL,
                                .user = &constant };
        double            x[3] = { 2.7, -2.001e4, 1.1e-5 }, C[9];
        cr_mat            covariance = cr_mat_of(C, 3, 3);
        cr_laplace_report r;
        assert_ok(cx, cr_laplace(cx, &p, NULL, x, &covariance, &r));
        for (size_t i = 0; i < 3; i++) {
            assert_true(fabs(x[i] - MEAN[i]) < 1e-4 * SD[i]);
            assert_relative(C[i * 3 + i], known[i] * SD[i] * SD[i], tolerance[k]);
            for (size_t j = 0; j < 3; j++) assert_true(C[i * 3 + j] == C[j * 3 + i]);
        }
        assert_relative(C[1], -R01 / det * SD[0] * SD[1], 10 * tolerance[k]);
        double log_det = log(det) - 2 * log(SD[0] * SD[1] * SD[2]);
        assert_close(r.log_det, log_det, 10 * tolerance[k]);
        assert_close(r.log_density, constant, 1e-8);
        assert_close(r.log_normaliser, constant + 1.5 * LOG_TWO_PI - log_det / 2,
                     10 * tolerance[k]);
    }
}

/* --- the normal sample in (mu, log sigma) ---------------------------------------------------- */

enum { N = 12 };
static const double SAMPLE[N] = { 2.1, 3.4, -0.7, 5.9, 4.4, 2.2, 1.0, 3.3, 0.2, 7.5, 2.8, 3.9 };

static cr_status normal_sample(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    double sum = 0, square = 0, s2 = exp(2 * x[1]);
    (void)user, (void)n;
    for (size_t i = 0; i < N; i++) {
        sum += SAMPLE[i] - x[0];
        square += (SAMPLE[i] - x[0]) * (SAMPLE[i] - x[0]);
    }
    *out_f = -N * x[1] - square / (2 * s2) - N * LOG_TWO_PI / 2;
    if (opt_g) opt_g[0] = sum / s2, opt_g[1] = -N + square / s2;
    return CR_OK;
}

TEST(normal_sample)
{
    double mean = 0, s2 = 0;
    for (size_t i = 0; i < N; i++) mean += SAMPLE[i] / N;
    for (size_t i = 0; i < N; i++) s2 += (SAMPLE[i] - mean) * (SAMPLE[i] - mean) / N;
    for (int k = 0; k < 2; k++)
        for (int method = CR_METHOD_LBFGS; method <= CR_METHOD_SIMPLEX; method++) {
            cr_log_density      p = { .n = 2, .log_density = normal_sample, .no_gradient = k == 1 };
            cr_minimize_options o = cr_minimize_defaults();
            double              x[2] = { 0, 0 }, C[4];
            cr_mat              covariance = cr_mat_of(C, 2, 2);
            cr_laplace_report   r;
            o.method = method;
            assert_ok(cx, cr_laplace(cx, &p, &o, x, &covariance, &r));
            assert_close(x[0], mean, 1e-6);
            assert_close(x[1], log(s2) / 2, 1e-6);
            assert_relative(C[0], s2 / N, 2e-6);
            assert_relative(C[3], 1.0 / (2 * N), 2e-6);
            assert_true(fabs(C[1]) < 1e-6);
        }
}

/* --- Stirling's formula ---------------------------------------------------------------------- */

/* t^(a+1) exp(-t) in log t: log Z = log Gamma(a + 1), the approximation is Stirling's formula. */
static cr_status log_gamma(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    double a = *(double *)user + 1;
    (void)n;
    *out_f = a * x[0] - exp(x[0]);
    if (opt_g) opt_g[0] = a - exp(x[0]);
    return CR_OK;
}

TEST(stirling)
{
    for (double a = 0.5; a < 2e6; a *= 37) {
        cr_log_density    p = { .n = 1, .log_density = log_gamma, .user = &a };
        double            x[1] = { 0.3 }, b = a + 1, variance;
        cr_mat            covariance = cr_mat_of(&variance, 1, 1);
        cr_laplace_report r;
        assert_ok(cx, cr_laplace(cx, &p, NULL, x, &covariance, &r));
        assert_close(x[0], log(b), 1e-8);
        assert_relative(variance, 1 / b, 1e-6);
        assert_relative(r.log_normaliser, b * log(b) - b + LOG_TWO_PI / 2 - log(b) / 2, 1e-7);
        assert_relative(r.log_normaliser, lgamma(b), 0.2 / (b * fabs(lgamma(b))));
    }
}

/* --- corners --------------------------------------------------------------------------------- */

static cr_status ridge(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    double s = x[0] + x[1];
    (void)user, (void)n;
    *out_f = -s * s;
    if (opt_g) opt_g[0] = opt_g[1] = -2 * s;
    return CR_OK;
}

static cr_status ridge_hessian(void *user, const double *x, size_t n, double *out_h)
{
    (void)user, (void)x, (void)n;
    for (int i = 0; i < 4; i++) out_h[i] = -2;
    return CR_OK;
}

static cr_status flat(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    (void)user, (void)x;
    *out_f = 1.5;
    for (size_t i = 0; opt_g && i < n; i++) opt_g[i] = 0;
    return CR_OK;
}

TEST(refusals_and_none)
{
    cr_log_density    p = { .n = 2, .log_density = ridge, .hessian = ridge_hessian };
    double            x[2] = { 1, 2 }, C[4] = { 7, 7, 7, 7 };
    cr_mat            covariance = cr_mat_of(C, 2, 2), wrong = cr_mat_of(C, 1, 2);
    cr_laplace_report r = { .log_det = 77 };
    assert_fails_with(cx, cr_laplace(cx, &p, NULL, x, &covariance, &r), CR_ENUMERIC, "definite");
    p.hessian = NULL;
    assert_fails_with(cx, cr_laplace(cx, &p, NULL, x, &covariance, &r), CR_ENUMERIC, "definite");
    p.no_gradient = true;
    assert_fails_with(cx, cr_laplace(cx, &p, NULL, x, &covariance, &r), CR_ENUMERIC, "definite");
    p = (cr_log_density){ .n = 2, .log_density = flat };
    assert_fails_with(cx, cr_laplace(cx, &p, NULL, x, &covariance, &r), CR_ENUMERIC, "x[0]");
    assert_fails(cx, cr_laplace(cx, &p, NULL, x, &wrong, &r), CR_EARG);
    cr_interrupt(cx);
    p.log_density = normal_sample;
    assert_fails(cx, cr_laplace(cx, &p, NULL, x, &covariance, &r), CR_EINTERRUPTED);
    cr_interrupt_clear(cx);
    assert_true(x[0] == 1 && x[1] == 2 && C[0] == 7 && r.log_det == 77);
    p = (cr_log_density){ .n = 0, .log_density = flat };
    assert_ok(cx, cr_laplace(cx, &p, NULL, NULL, NULL, &r));
    assert_true(r.log_normaliser == 1.5);
}

static cr_status run(cr_ctx *cx, void *arg)
{
    cr_log_density    p = { .n = 2, .log_density = normal_sample, .no_gradient = *(bool *)arg };
    double            x[2] = { 0, 0 }, C[4];
    cr_mat            covariance = cr_mat_of(C, 2, 2);
    cr_laplace_report r;
    return cr_laplace(cx, &p, NULL, x, &covariance, &r);
}

TEST(allocations_fail)
{
    for (int k = 0; k < 2; k++) {
        bool no_gradient = k;
        test_every_allocation_fails(run, &no_gradient);
    }
}
