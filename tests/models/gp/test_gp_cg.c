/* test_gp_cg.c -- conjugate gradients against the Cholesky factor. */
#include "gp_problem.h"

#include "math/dense/decompose.h"
#include "models/gp/cg/gp_cg.h"
#include "models/core/model_internal.h"

enum { N = 120, D = 2 };
static const double NOISE = 0.02;

typedef struct bench {
    double          X[N * D], y[N], r[N], H[N], L[N * N], alpha[N], beta[1], U[N], A[1];
    double          ours_alpha[N], ours_beta[1], ours_U[N], ours_A[1];
    size_t          first[N];
    cri_gp_data     data;
    cri_gp_problem  problem;
    cri_gp_solution exact;
    cri_gp_cg       cg;
} bench;

static bench *draw(uint64_t seed)
{
    bench *b = calloc(1, sizeof *b);
    cr_rng r = cr_rng_stream(seed, 3);
    b->data = draw_rows(&r, N, 1, b->X, b->y, b->r, b->H, b->first);
    b->problem = (cri_gp_problem){ &b->data, 1, b->H };
    b->exact = (cri_gp_solution){ .alpha = b->alpha, .beta = b->beta, .U = b->U, .A = b->A };
    b->cg = (cri_gp_cg){ .settings = cri_gp_cg_defaults(seed),
                         .alpha = b->ours_alpha,
                         .beta = b->ours_beta,
                         .U = b->ours_U,
                         .A = b->ours_A };
    return b;
}

/* C X = B, with K kept and with K computed anew; P^-1 P = 1. */
TEST(solve)
{
    enum { T = 3 };
    cr_scratch            s = cr_scratch_begin(cx);
    bench                *b = draw(1);
    cr_kernel            *k = parse(cx, "1.4*matern32(l=[0.8,1.3])");
    cri_gp_operator       op, tiles;
    cri_gp_preconditioner p;
    cri_gp_cg_report      report;
    static double         B[N * T], X[N * T], Y[N * T], Z[N * T];
    cr_ctx_set_threads(cx, 1);
    assert_ok(cx, cri_gp_operator_new(cx, &s, &b->data, k, NOISE, &op));
    assert_non_null(op.K);
    tiles = op;
    tiles.K = NULL;
    tiles.workspace = cr_scratch_matrix(&s, N, N);
    size_t landmarks[20], rank;
    assert_ok(cx, cri_gp_cg_landmarks(cx, &op, 20, 3, landmarks, &rank));
    assert_int_equal(rank, 20);
    assert_ok(cx, cri_gp_preconditioner_new(cx, &s, &op, landmarks, rank, &p));
    cr_rng r = cr_rng_stream(4, 4);
    for (size_t i = 0; i < N * T; i++)
        B[i] = i % T == 1 ? 0 : cr_rng_normal(&r); /* one column of zeros */
    cri_gp_cg_run run = { .close = T, .tolerance = 1e-12, .max_iter = 400 };
    assert_ok(cx, cri_gp_cg_solve(cx, &op, &p, B, T, &run, X, &report));
    assert_true(report.residual < 1e-12 && report.iterations < 200);
    for (size_t i = 0; i < N * T; i++)
        Y[i] = X[i] * (1 + 1e-6 * cos((double)i)); /* begins near the end */
    run = (cri_gp_cg_run){
        .close = 1, .tolerance = 1e-9, .rest_tolerance = 1e-3, .max_iter = 400, .warm = true
    };
    size_t cold = report.iterations;
    assert_ok(cx, cri_gp_cg_solve(cx, &op, &p, B, T, &run, Y, &report));
    assert_true(report.residual < 1e-9 && report.iterations > 0 &&
                report.iterations < 2 * cold / 3);
    for (size_t i = 0; i < N; i++) {
        assert_close(Y[i * T], X[i * T], 1e-7);
        assert_close(Y[i * T + 2], X[i * T + 2],
                     1e-5 * fabs(X[i * T + 2])); /* was near enough, and kept */
    }
    assert_ok(cx, cri_gp_multiply(cx, &tiles, X, T, Y));
    for (size_t i = 0; i < N * T; i++) assert_close(Y[i], B[i], 1e-9);
    assert_ok(cx, cri_gp_multiply(cx, &op, X, T, Z));
    for (size_t i = 0; i < N * T; i++) assert_close(Y[i], Z[i], 1e-10);
    assert_ok(cx, cri_gp_precondition(cx, &p, B, T, Y)); /* P Y = D Y + F F^T Y, F = D^1/2 G^T */
    for (size_t c = 0; c < T; c++)
        for (size_t i = 0; i < N; i++) {
            double sum = p.D[i] * Y[i * T + c];
            for (size_t a = 0; a < p.rank; a++) {
                double product = 0;
                for (size_t j = 0; j < N; j++)
                    product += sqrt(p.D[j]) * p.G[a * N + j] * Y[j * T + c];
                sum += sqrt(p.D[i]) * p.G[a * N + i] * product;
            }
            assert_close(sum, B[i * T + c], 1e-9);
        }
    cr_kernel_free(cx, k);
    free(b);
    cr_scratch_end(&s);
}

/* The weights are those of the factor; the evidence is within its error; its gradient has no bias.
 */
TEST(evidence)
{
    enum { SEEDS = 60, SIZE = 5 };
    bench     *b = draw(2);
    cr_kernel *k = parse(cx, "1.4*matern32(l=[0.8,1.3])");
    size_t     p = cr_kernel_theta_size(k);
    double     exact[SIZE], gradient[SIZE], mean[SIZE] = { 0 }, square[SIZE] = { 0 }, off = 0;
    cr_ctx_set_threads(cx, 1);
    assert_ok(cx, cri_gp_solve(cx, &b->problem, k, NOISE, CRI_GP_NO_JITTER, b->L, &b->exact));
    assert_ok(cx, cri_gp_gradient(cx, &b->problem, k, NOISE, &b->exact, b->L, exact));
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        b->cg.settings.seed = seed;
        b->cg.settings.rank = 10; /* far from C: the probes have work to do */
        b->cg.settings.probes = 4;
        assert_ok(cx, cri_gp_cg_evidence(cx, &b->problem, k, NOISE, &b->cg, gradient));
        for (size_t i = 0; i < N; i++)
            assert_close(b->ours_alpha[i], b->alpha[i], 1e-6 * (1 + fabs(b->alpha[i])));
        assert_close(b->ours_beta[0], b->beta[0], 1e-6);
        assert_close(b->ours_A[0], b->A[0], 1e-6);
        assert_true(b->cg.se > 0.01); /* a test that can fail */
        double z = (b->cg.value - b->exact.log_evidence) / b->cg.se;
        off += z * z / SEEDS;
        for (size_t j = 0; j <= p; j++) {
            mean[j] += gradient[j] / SEEDS;
            square[j] += pow(gradient[j] - exact[j], 2) / SEEDS;
        }
    }
    assert_true(off < 12); /* Student's t of 3 degrees of freedom: 3 */
    for (size_t j = 0; j <= p; j++)
        assert_true(fabs(mean[j] - exact[j]) < 4 * sqrt(square[j] / SEEDS) + 1e-9);
    b->cg.settings = cri_gp_cg_defaults(3); /* as it is used */
    assert_ok(cx, cri_gp_cg_evidence(cx, &b->problem, k, NOISE, &b->cg, gradient));
    assert_close(b->cg.value, b->exact.log_evidence, 4 * b->cg.se + 1e-6);
    for (size_t j = 0; j <= p; j++) assert_close(gradient[j], exact[j], 1e-5);
    cr_kernel_free(cx, k);
    free(b);
}

/* --- the model ------------------------------------------------------------------------------- */

TEST(model)
{
    const char *rest = "target=y noise=0.02 optimize=none kernel=1.4*matern52(l=[0.8,1.3])";
    bench      *b = draw(5);
    cr_table   *t = make_table(cx, b->X, N, D, b->y, NULL);
    char        settings[200];
    cr_ctx_set_threads(cx, 1);
    cr_model     *exact = fit(cx, "gp", t, rest), *none = NULL;
    cr_prediction p = predict(cx, exact, t);
    for (size_t few = 0; few < 2; few++) {
        snprintf(settings, sizeof settings, "%s solver=cg inducing=%d", rest, few ? 20 : 500);
        cr_model        *m = fit(cx, "gp", t, settings), *again = NULL;
        cr_prediction    q = predict(cx, m, t), r;
        const cr_report *report = cr_model_get_report(m);
        json_t          *d = describe(cx, m);
        char            *bytes;
        size_t           size;
        double           se = statistic(d, "log_evidence_se"), worst = statistic(d, "sd_error");
        assert_int_equal(report->evidence, CR_EVIDENCE_ESTIMATE);
        assert_close(report->log_evidence, cr_model_get_report(exact)->log_evidence, 4 * se + 1e-6);
        for (size_t i = 0; i < N; i++) {
            assert_close(q.mean[i], p.mean[i], 1e-6);
            assert_true(q.scale[i] > p.scale[i] * (1 - 1e-7)); /* never too sure */
            assert_true(q.scale[i] < p.scale[i] * (1 + 1e-6));
        }
        assert_true(worst < 1e-3); /* of 20 columns with the help of the nearest inputs, here all */
        assert_true(statistic(d, "sd_nearest") == (few ? N : 0));
        assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
        assert_ok(cx, cr_model_from_bytes(cx, "m", bytes, size, &again));
        r = predict(cx, again, t);
        assert_memory_equal(q.mean, r.mean, N * sizeof(double));
        assert_memory_equal(q.scale, r.scale, N * sizeof(double));
        cr_model_free(cx, again);
        cr_ctx_set_threads(cx, 3);
        again = fit(cx, "gp", t, settings);
        r = predict(cx, again, t);
        assert_memory_equal(q.scale, r.scale, N * sizeof(double));
        cr_ctx_set_threads(cx, 1);
        double draws[N * 2];
        assert_ok(cx, cr_sample_targets(cx, m, t, 2, 3, draws));
        assert_fails(cx, cr_update(cx, m, t, &none), CR_EUNSUPPORTED);
        cr_free(cx, bytes, size, 1);
    }
    assert_fails(cx, try_fit(cx, "gp", t, "target=y solver=cg approx=vfe", &none), CR_EARG);
    assert_fails(cx, try_fit(cx, "gp", t, "target=y solver=cg noise=0", &none), CR_EUNSUPPORTED);
    assert_fails(cx, try_fit(cx, "gp", t, "target=y solver=cg kernel=rbf+white", &none),
                 CR_EUNSUPPORTED);
    free(b);
}

/* e1' log(T) e1 against all eigenvectors, of some tridiagonal matrices, one that splits among
 * them. */
TEST(quadrature)
{
    enum { SIZES = 40 };
    cr_rng r = cr_rng_stream(7, 7);
    for (size_t n = 1; n <= SIZES; n += n < 4 ? 1 : 9) {
        double d[SIZES], e[SIZES] = { 0 }, T[SIZES * SIZES] = { 0 }, V[SIZES * SIZES], w[SIZES],
                         sum = 0, ours;
        for (size_t i = 0; i < n; i++) d[i] = 3 + cr_rng_uniform(&r), T[i * n + i] = d[i];
        for (size_t i = 0; i + 1 < n; i++) {
            e[i] = i == 20 ? 0 : 0.2 + cr_rng_uniform(&r);
            T[i * n + i + 1] = T[(i + 1) * n + i] = e[i];
        }
        assert_ok(cx, cr_eigen(cx, cr_cmat_of(T, n, n), w, cr_mat_of(V, n, n)));
        for (size_t j = 0; j < n; j++) sum += V[j] * V[j] * log(w[j]);
        assert_ok(cx, cri_gp_log_quadrature(cx, d, e, n, &ours));
        assert_close(ours, sum, 1e-12);
    }
}

/* From a poor start with all rows, to an exact evidence that is as good as that of the factor's own
 * search; the same bits with any number of threads. */
TEST(learning)
{
    bench     *b = draw(6);
    cr_kernel *k = parse(cx, "1*rbf(l=[1,1])"), *start = parse(cx, "0.7*rbf(l=[1.5,0.7])");
    cri_gp_exact_workspace workspace = { b->L, b->exact };
    cri_gp_learned         learned = { 0 };
    double                 best, noise = 0.1, ours[3] = { 0.1, 0.1, 0.1 }, theta[3][3];
    cri_gp_learning        learning = { .problem = &b->problem,
                                        .objective = cri_gp_exact_objective,
                                        .workspace = &workspace,
                                        .variance = 1,
                                        .learn_noise = true,
                                        .max_iter = 100,
                                        .search_rows = N };
    assert_ok(cx, cri_gp_learn(cx, &learning, k, &noise, &learned));
    best = learned.value;
    for (size_t i = 0; i < 3; i++) {
        cr_kernel *own;
        b->cg.settings.rank = 15; /* far from C: the probes have work to do */
        cr_ctx_set_threads(cx, i == 0 ? 1 : 2 * i + 1);
        assert_ok(cx, cr_kernel_copy(cx, start, &own));
        learned = (cri_gp_learned){ 0 };
        assert_ok(cx, cri_gp_cg_learn(cx, &learning, &b->cg, own, &ours[i], &learned));
        assert_true(learned.stop == CR_STOP_TOLERANCE && learned.evaluations < 30);
        assert_ok(cx,
                  cri_gp_solve(cx, &b->problem, own, ours[i], CRI_GP_NO_JITTER, b->L, &b->exact));
        assert_true(best - b->exact.log_evidence < 0.2);
        cr_kernel_theta(own, theta[i]);
        cr_kernel_free(cx, own);
    }
    assert_memory_equal(theta[0], theta[1], sizeof theta[0]);
    assert_memory_equal(theta[0], theta[2], sizeof theta[0]);
    assert_true(ours[0] == ours[1] && ours[0] == ours[2]);
    cr_kernel_free(cx, k);
    cr_kernel_free(cx, start);
    free(b);
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

static cr_status learn(cr_ctx *cx, void *arg)
{
    cr_status       st = CR_OK;
    bench          *b = draw(3);
    cr_kernel      *k = NULL;
    cri_gp_learned  learned = { 0 };
    cri_gp_learning learning = {
        .problem = &b->problem, .variance = 1, .learn_noise = true, .max_iter = 1
    };
    double noise = 0.09;
    (void)arg;
    cr_ctx_set_threads(cx, 1);
    b->data.n = 6;
    b->cg.settings.probes = 2;
    b->cg.settings.max_iter = 2;
    b->cg.settings.rank = 1;
    CR_TRY(cr_kernel_parse(cx, "1.4*rbf", NULL, NULL, 0, &k));
    CR_TRY(cri_gp_cg_learn(cx, &learning, &b->cg, k, &noise, &learned));
done:
    cr_kernel_free(cx, k);
    free(b);
    return st;
}

TEST(allocations)
{
    test_every_allocation_fails(all_of_it,
                                (char[]){ "target=y solver=cg optimize=none noise=0.1" });
    test_every_allocation_fails(learn, NULL);
}
