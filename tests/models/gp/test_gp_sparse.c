/* test_gp_sparse.c -- sparse Gaussian processes against dense covariances, exact ones, differences
 * and reference answers. */
#include "gp_problem.h"
#include "reference_sparse.h"
#include "models/core/model_internal.h"

enum { N = 30, M = 7, D = 2, MOST_M = 60 };

typedef struct bench {
    double X[N * D], y[N], r[N], H[N * 2], Z[MOST_M * D];
    double L[MOST_M * MOST_M], L2[MOST_M * MOST_M], alpha[MOST_M], beta[2], U[MOST_M * 2], A[4];
    size_t first[N];
    cri_gp_data    data;
    cri_gp_problem problem;
    cri_gp_sparse  sparse;
} bench;

static bench *draw(uint64_t seed, cri_gp_approx approx, size_t m)
{
    bench *b = calloc(1, sizeof *b);
    cr_rng r = cr_rng_stream(seed, 3);
    b->data = draw_rows(&r, N, 2, b->X, b->y, b->r, b->H, b->first);
    for (size_t i = 0; i < m * D; i++) b->Z[i] = m == N ? b->X[i] : 3 * cr_rng_uniform(&r);
    b->data.count = 40;
    b->problem = (cri_gp_problem){ &b->data, 2, b->H };
    b->sparse = (cri_gp_sparse){ .approx = approx,
                                 .Z = { .n = m, .d = D, .X = b->Z },
                                 .L = b->L,
                                 .L2 = b->L2,
                                 .alpha = b->alpha,
                                 .beta = b->beta,
                                 .U = b->U,
                                 .A = b->A };
    return b;
}

static double value_at(cr_ctx *cx, bench *b, cr_kernel *k, const double *theta)
{
    size_t p = cr_kernel_theta_size(k);
    assert_ok(cx, cr_kernel_set_theta(cx, k, theta));
    assert_ok(cx, cri_gp_sparse_solve(cx, &b->problem, k, exp(theta[p]), &b->sparse, NULL, NULL));
    return b->sparse.value;
}

/* By theta, noise and inducing inputs, against central differences. */
TEST(gradients)
{
    cr_ctx_set_threads(cx, 1);
    static const char *const   kernels[] = { "1.4*rbf(l=[0.8,1.3])",
                                             "0.9*matern52(l=1.1) + 0.3*linear(x2)" };
    static const cri_gp_approx approx[] = { CRI_GP_DTC, CRI_GP_FITC, CRI_GP_VFE };
    for (size_t a = 0; a < 6; a++) {
        bench     *b = draw(a, approx[a % 3], M);
        cr_kernel *k;
        double     theta[8], gradient[8], dZ[M * D], weights[N];
        for (size_t i = 0; i < N; i++) weights[i] = 1 + (double)(i % 3);
        assert_ok(cx, cr_kernel_parse(cx, kernels[a / 3], NULL, NULL, 0, &k));
        size_t p = cr_kernel_theta_size(k);
        cr_kernel_theta(k, theta);
        theta[p] = log(0.09);
        if (a >= 3) b->data.w = weights; /* rows that are not merged, of weight 1, 2, 3 */
        assert_ok(cx, cri_gp_sparse_solve(cx, &b->problem, k, 0.09, &b->sparse, gradient, dZ));
        for (size_t j = 0; j <= p + M * D; j++) {
            double *at = j <= p ? &theta[j] : &b->Z[j - p - 1], keep = *at, h = 1e-5, up, down;
            *at = keep + h, up = value_at(cx, b, k, theta);
            *at = keep - h, down = value_at(cx, b, k, theta);
            *at = keep;
            assert_close(j <= p ? gradient[j] : dZ[j - p - 1], (up - down) / (2 * h), 2e-6);
        }
        cr_kernel_free(cx, k);
        free(b);
    }
}

/* Z = X gives the exact evidence; fewer inducing inputs a bound below it. */
TEST(exact_and_bound)
{
    cr_ctx_set_threads(cx, 1);
    cr_kernel      *k;
    double          L[N * N], alpha[N], beta[2], U[N * 2], A[4];
    cri_gp_solution exact = { .alpha = alpha, .beta = beta, .U = U, .A = A };
    assert_ok(cx, cr_kernel_parse(cx, "1.4*matern32(l=[0.8,1.3])", NULL, NULL, 0, &k));
    for (int a = CRI_GP_SOR; a <= CRI_GP_VFE; a++) {
        bench *b = draw(5, (cri_gp_approx)a, N);
        assert_ok(cx, cri_gp_solve(cx, &b->problem, k, 0.09, CRI_GP_NO_JITTER, L, &exact));
        assert_ok(cx, cri_gp_sparse_solve(cx, &b->problem, k, 0.09, &b->sparse, NULL, NULL));
        assert_relative(b->sparse.value, exact.log_evidence, 1e-9);
        assert_close(b->beta[1], beta[1], 1e-8);
        double below = exact.log_evidence;
        for (size_t m = N - 1; m >= 1 && a == CRI_GP_VFE; m -= 4) {
            b->sparse.Z.n = m;
            assert_ok(cx, cri_gp_sparse_solve(cx, &b->problem, k, 0.09, &b->sparse, NULL, NULL));
            assert_true(b->sparse.value <= below + 1e-9); /* nested: ever lower */
            below = b->sparse.value;
            if (m <= 4) break;
        }
        free(b);
    }
    cr_kernel_free(cx, k);
}

/* --- fitc by its definition ------------------------------------------------------------------ */

/* Rows [n] of one column under exp(-(x - z)^2 / 2), noise s, inducing inputs Z [m]:
 * C = Q + diag(K - Q) + s I, row by row, nothing merged.  The log density of y, and the mean at each
 * row, Q C^-1 y but for the correction on its own diagonal, which a new row has not. */
static double dense_fitc(size_t n, const double *x, const double *y, double s, size_t m,
                         const double *Z, double *out_mean)
{
    rbf         k = { .d = 1, .v = 1, .l = { 1 } };
    long double Kmm[MOST * MOST], T[MOST * MOST], Q[MOST * MOST], C[MOST * MOST], a[MOST], logdet;
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < m; j++) Kmm[i * m + j] = rbf_value(&k, Z + i, Z + j);
        for (size_t j = 0; j < n; j++) T[i * n + j] = rbf_value(&k, Z + i, x + j);
    }
    solve_dense(m, Kmm, T, n); /* K_mm^-1 K_mn */
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            Q[i * n + j] = 0;
            for (size_t c = 0; c < m; c++)
                Q[i * n + j] += rbf_value(&k, x + i, Z + c) * T[c * n + j];
            C[i * n + j] = i == j ? 1 + (long double)s : Q[i * n + j];
        }
    memcpy(Kmm, C, sizeof C);
    for (size_t i = 0; i < n; i++) a[i] = y[i];
    solve_dense(n, Kmm, a, 1);
    for (size_t i = 0; i < n; i++) {
        long double sum = 0;
        for (size_t j = 0; j < n; j++) sum += Q[i * n + j] * a[j];
        out_mean[i] = (double)sum;
    }
    for (size_t i = 0; i < n; i++) a[i] = y[i];
    long double square = quadratic_form(n, C, a, &logdet);
    return (double)(-0.5L * (square + logdet + (long double)n * logl(2 * M_PI)));
}

/* Inputs that come several times, as rows of their own and as rows of a weight. */
TEST(fitc_repeated)
{
    enum { ROWS = 24, TIMES = 3 };
    cr_rng      r = cr_rng_stream(4, 2);
    double      x[ROWS], y[ROWS], w[ROWS], mean[ROWS], all_x[MOST], all_y[MOST], all_mean[MOST];
    const char *settings =
        "target=y features=x1 kernel=rbf noise=0.05 mean=zero optimize=none approx=fitc inducing=4";
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = (double)(i / TIMES); /* three rows at each input */
        y[i] = sin(x[i]) + 0.5 * cr_rng_normal(&r);
        w[i] = i % 8 == 0 ? 3 : 1;
    }
    cr_table               *t = make_table(cx, x, ROWS, 1, y, NULL);
    cr_model               *plain = fit(cx, "gp", t, settings);
    const cri_gp_posterior *g = plain->state;
    cr_prediction           p = predict(cx, plain, t);
    assert_int_equal(g->at.n, 4);
    assert_close(cr_model_get_report(plain)->log_evidence,
                 dense_fitc(ROWS, x, y, 0.05, 4, g->at.X, mean), 1e-7);
    for (size_t i = 0; i < ROWS; i++) assert_close(p.mean[i], mean[i], 1e-8);

    size_t    n = repeat_rows(x, y, w, ROWS, 1, all_x, all_y);
    cr_table *weighted = make_table(cx, x, ROWS, 1, y, w);
    char      more[200];
    snprintf(more, sizeof more, "%s weights=w", settings);
    cr_model *heavy = fit(cx, "gp", weighted, more);
    g = heavy->state;
    assert_true(n > ROWS);
    assert_close(cr_model_get_report(heavy)->log_evidence,
                 dense_fitc(n, all_x, all_y, 0.05, 4, g->at.X, all_mean), 1e-7);
}

/* --- the model ------------------------------------------------------------------------------- */

static cr_table *wavy(cr_ctx *cx, size_t n, double *X, double *y)
{
    cr_rng r = cr_rng_stream(1, 1);
    for (size_t i = 0; i < n; i++) {
        X[i] = 10 * cr_rng_uniform(&r);
        y[i] = 50 + 4 * sin(X[i]) + 0.5 * cr_rng_normal(&r);
    }
    return make_table(cx, X, n, 1, y, NULL);
}

TEST(model)
{
    enum { ROWS = 90 };
    static const char *const approx[] = { "sor", "dtc", "fitc", "vfe" };
    double                   X[ROWS], y[ROWS];
    cr_ctx_set_threads(cx, 1);
    cr_table     *t = wavy(cx, ROWS, X, y);
    cr_model     *exact = fit(cx, "gp", t, "target=y");
    cr_prediction p = predict(cx, exact, t);
    for (size_t a = 0; a < 4; a++) {
        char settings[200];
        snprintf(settings, sizeof settings, "target=y approx=%s inducing=22", approx[a]);
        cr_model     *m = fit(cx, "gp", t, settings), *again = NULL, *none = NULL;
        cr_prediction q = predict(cx, m, t), r;
        char         *bytes;
        size_t        size;
        for (size_t i = 0; i < ROWS; i++) {
            assert_close(q.mean[i], p.mean[i], 2e-3);
            assert_relative(q.scale[i], p.scale[i], 0.05);
        }
        const cr_report *report = cr_model_get_report(m);
        assert_int_equal(report->evidence, a == 3 ? CR_EVIDENCE_BOUND : CR_EVIDENCE_ESTIMATE);
        if (a == 3)
            assert_true(report->log_evidence <= cr_model_get_report(exact)->log_evidence + 1e-6);
        assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
        assert_ok(cx, cr_model_from_bytes(cx, "m", bytes, size, &again));
        r = predict(cx, again, t);
        assert_memory_equal(q.mean, r.mean, sizeof y);
        assert_memory_equal(q.scale, r.scale, sizeof y);
        assert_fails(cx, cr_update(cx, m, t, &none), CR_EUNSUPPORTED);
        double *draws = malloc(ROWS * 2 * sizeof *draws);
        assert_ok(cx, cr_sample_targets(cx, m, t, 2, 3, draws));
        free(draws);
        cr_free(cx, bytes, size, 1);
        cr_model_free(cx, again);
    }
}

static cr_status all_of_it(cr_ctx *cx, void *arg)
{
    cr_status st = CR_OK;
    cr_model *m = NULL;
    cr_table *t = NULL;
    double    X[] = { 0, 1, 1.3, 2, 3.5, 4 }, y[] = { 1, 2, 2.5, 3, 1, 0 };
    cr_ctx_set_threads(cx, 1);
    CR_TRY(cr_table_new(cx, "t", 6, &t));
    CR_TRY(cr_table_add_numbers(cx, t, "x", CR_REAL, X, 1));
    CR_TRY(cr_table_add_numbers(cx, t, "y", CR_REAL, y, 1));
    CR_TRY(try_fit(cx, "gp", t, arg, &m));
done:
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    return st;
}

/* One step of the inducing inputs. */
static cr_status move_inputs(cr_ctx *cx, void *arg)
{
    cr_status       st = CR_OK;
    bench          *b = draw(3, CRI_GP_VFE, 4);
    cr_kernel      *k = NULL;
    cri_gp_learned  learned = { 0 };
    cri_gp_learning learning = {
        .problem = &b->problem, .variance = 1, .learn_noise = true, .max_iter = 1
    };
    double noise = 0.09;
    (void)arg;
    cr_ctx_set_threads(cx, 1);
    CR_TRY(cr_kernel_parse(cx, "1.4*rbf", NULL, NULL, 0, &k));
    CR_TRY(cri_gp_learn_inducing(cx, &learning, &b->sparse, k, &noise, &learned));
done:
    cr_kernel_free(cx, k);
    free(b);
    return st;
}

/* A target far from 0 is learned as near 0, by every approximation. */
TEST(offset)
{
    static const char *const approx[] = { "sor", "dtc", "fitc", "vfe", "svgp", "nystrom", "rff" };
    bench                   *b = draw(5, CRI_GP_VFE, M);
    double                   far[N];
    for (size_t i = 0; i < N; i++)
        far[i] = b->y[i] + 8388608; /* exact in binary, up to its last digits */
    for (size_t i = 0; i < N; i++) b->y[i] = far[i] - 8388608;
    cr_table *near_table = make_table(cx, b->X, N, D, b->y, NULL),
             *far_table = make_table(cx, b->X, N, D, far, NULL);
    for (size_t k = 0; k < 7; k++) {
        char settings[160];
        snprintf(settings, sizeof settings,
                 "target=y features=x1,x2 kernel=rbf inducing=10 approx=%s", approx[k]);
        cr_model *a = fit(cx, "gp", near_table, settings), *c = fit(cx, "gp", far_table, settings);
        cr_prediction pa = predict(cx, a, near_table), pc = predict(cx, c, near_table);
        json_t       *da = describe(cx, a), *dc = describe(cx, c);
        assert_close(cr_model_get_report(c)->log_evidence, cr_model_get_report(a)->log_evidence,
                     1e-4);
        assert_close(parameter(dc, "mean.intercept", "value") - 8388608,
                     parameter(da, "mean.intercept", "value"), 1e-3);
        for (size_t i = 0; i < N; i++) assert_close(pc.mean[i] - 8388608, pa.mean[i], 1e-3);
    }
    free(b);
}

TEST(allocations)
{
    test_every_allocation_fails(
        all_of_it,
        (char[]){ "target=y approx=fitc inducing=3 optimize=none noise=0.1 mean=linear" });
    test_every_allocation_fails(move_inputs, NULL);
}

/* --- reference answers ----------------------------------------------------------------------- */

TEST(reference)
{
    check_cases("sparse/", "", 450, 24, check_sparse);
    check_cases("krr/", "", 600, 10, check_nystrom_ridge);
}
