/* test_gp_online.c -- streams against the sparse process of all rows by dense algebra in long
 * double, a basis with room for all against the exact process, gradients against differences, and
 * laws. */
#include "gp_fixture.h"

#include "base/scratch.h"
#include "models/gp/online/gp_stream.h"

enum { N = 36, D = 2, T = 5, Z = 9 };

typedef struct sample {
    double    X[N * D], y[N], w[N], at[T * D], zero[T];
    cr_table *all, *t;
} sample;

static sample draw(cr_ctx *cx, uint64_t seed)
{
    sample s = { 0 };
    cr_rng r = cr_rng_stream(seed, 5);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++) s.X[i * D + j] = 4 * cr_rng_uniform(&r);
        s.y[i] = sin(2 * s.X[i * D]) + 0.5 * s.X[i * D + 1] + 0.2 * cr_rng_normal(&r);
        s.w[i] = (double)(i % 3);
    }
    memcpy(s.X + 20 * D, s.X + 3 * D, sizeof(double[D])); /* a repeated input */
    for (size_t i = 0; i < T * D; i++) s.at[i] = 5 * cr_rng_uniform(&r) - 0.5;
    s.all = make_table(cx, s.X, N, D, s.y, s.w);
    s.t = make_table(cx, s.at, T, D, s.zero, NULL);
    return s;
}

static cr_table *rows_of(cr_ctx *cx, const sample *s, size_t begin, size_t end)
{
    return make_table(cx, s->X + begin * D, end - begin, D, s->y + begin, s->w + begin);
}

#define KERNEL "kernel=1.3*rbf(x1,x2;l=[0.9,1.7]) "
#define KEPT "target=y features=x1,x2 optimize=none noise=0.07 " KERNEL
static const rbf kernel = { 2, 1.3L, { 0.9L, 1.7L } };

/* A model of the rows in batches that end at cuts[0], cuts[1], ..., the last at N. */
static cr_model *stream(cr_ctx *cx, const sample *s, const char *settings, const size_t *cuts)
{
    cr_table *t = rows_of(cx, s, 0, cuts[0]);
    cr_model *m = fit(cx, "gp-online", t, settings), *next = NULL;
    cr_table_free(cx, t);
    for (size_t k = 0; cuts[k] < N; k++) {
        t = rows_of(cx, s, cuts[k], cuts[k + 1]);
        assert_ok(cx, cr_update(cx, m, t, &next));
        test_own(cx, next, release_model);
        cr_model_free(cx, m);
        m = next;
    }
    return m;
}

/* The sparse process with inducing inputs X[0 .. Z) of all rows: bound, means and variances of
 * f. */
static void define(const sample *s, double *bound, double *mean, double *variance)
{
    static long double Q[N * N], B[N * N], K[Z * Z], U[Z * N], S[Z * Z], R[Z * (T + 1)], W[Z * T],
        y[N];
    long double trace = 0, value = 0, logdet = 0;
    for (size_t i = 0; i < Z; i++) {
        for (size_t j = 0; j < Z; j++)
            K[i * Z + j] = rbf_value(&kernel, s->X + i * D, s->X + j * D);
        for (size_t j = 0; j < N; j++)
            U[i * N + j] = rbf_value(&kernel, s->X + i * D, s->X + j * D);
    }
    for (size_t i = 0; i < Z; i++) { /* S = K + U U^T / noise; R = (U y / noise, k) */
        for (size_t j = 0; j < Z; j++) {
            S[i * Z + j] = K[i * Z + j];
            for (size_t n = 0; n < N; n++) S[i * Z + j] += U[i * N + n] * U[j * N + n] / 0.07L;
        }
        R[i * (T + 1)] = 0;
        for (size_t n = 0; n < N; n++) R[i * (T + 1)] += U[i * N + n] * s->y[n] / 0.07L;
        for (size_t t = 0; t < T; t++)
            W[i * T + t] = R[i * (T + 1) + 1 + t] = rbf_value(&kernel, s->X + i * D, s->at + t * D);
    }
    long double k[Z * T], copy[Z * Z], V[Z * N];
    memcpy(k, W, sizeof k);
    memcpy(copy, K, sizeof copy);
    solve_dense(Z, copy, W, T); /* K^-1 k */
    solve_dense(Z, S, R, T + 1);
    for (size_t t = 0; t < T; t++) {
        long double m = 0, v = 1.3L;
        for (size_t i = 0; i < Z; i++) {
            m += k[i * T + t] * R[i * (T + 1)];
            v += k[i * T + t] * (R[i * (T + 1) + 1 + t] - W[i * T + t]);
        }
        mean[t] = (double)m, variance[t] = (double)v;
    }
    memcpy(V, U, sizeof V);
    memcpy(copy, K, sizeof copy);
    solve_dense(Z, copy, V, N);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            Q[i * N + j] = i == j ? 0.07L : 0;
            for (size_t z = 0; z < Z; z++) Q[i * N + j] += U[z * N + i] * V[z * N + j];
        }
        trace += (1.3L - (Q[i * N + i] - 0.07L)) / 0.07L;
        y[i] = s->y[i];
    }
    memcpy(B, Q, sizeof B);
    for (size_t p = 0; p < N; p++) { /* the determinant by elimination */
        logdet += logl(B[p * N + p]);
        for (size_t i = p + 1; i < N; i++) {
            long double f = B[i * N + p] / B[p * N + p];
            for (size_t j = p; j < N; j++) B[i * N + j] -= f * B[p * N + j];
        }
    }
    solve_dense(N, Q, y, 1);
    for (size_t i = 0; i < N; i++) value += y[i] * s->y[i];
    *bound = (double)(-0.5L * (value + logdet + N * logl(2 * 3.14159265358979323846L) + trace));
}

/* A target far from 0 is learned as near 0: bound, predictions and the constant of the mean
 * shift. */
TEST(offset)
{
    sample       s = draw(cx, 7), far = s;
    const size_t cuts[] = { 14, 25, N };
    for (size_t i = 0; i < N; i++) far.y[i] += 1048576 * 8; /* exact in binary */
    /* the noise ends at its lowest, 1e-8 of the variance, so that the bound is all rest / noise:
     * 1e-4 in the lengths that two searches end at is 1e-4 of it */
    for (size_t k = 0; k < 2; k++) {
        const char   *settings = k ? "target=y features=x1,x2 weights=w method=basis inducing=30"
                                   : "target=y features=x1,x2 weights=w inducing=12";
        cr_model     *a = stream(cx, &s, settings, cuts), *b = stream(cx, &far, settings, cuts);
        cr_prediction pa = predict(cx, a, s.t), pb = predict(cx, b, s.t);
        json_t       *da = describe(cx, a), *db = describe(cx, b);
        assert_close(cr_model_get_report(b)->log_evidence, cr_model_get_report(a)->log_evidence,
                     1e-3);
        assert_relative(parameter(db, "noise", "value"), parameter(da, "noise", "value"), 1e-4);
        if (!k)
            assert_close(parameter(db, "mean.intercept", "value") - 8388608,
                         parameter(da, "mean.intercept", "value"), 1e-3);
        for (size_t i = 0; i < T; i++) {
            assert_close(pb.mean[i] - 8388608, pa.mean[i], 1e-3);
            assert_relative(pb.scale[i], pa.scale[i], 1e-3);
        }
    }
}

/* With fixed hyper-parameters and inducing inputs any cut into batches is the batch. */
TEST(cuts)
{
    static const size_t cuts[][8] = {
        { Z, N }, { Z, 10, 11, 12, 30, N }, { Z, 20, N }, { Z, 35, N }
    };
    sample s = draw(cx, 1);
    double bound, mean[T], variance[T];
    define(&s, &bound, mean, variance);
    for (size_t k = 0; k < 4; k++) {
        cr_model     *m = stream(cx, &s, KEPT "mean=zero move=false inducing=9", cuts[k]);
        cr_prediction p = predict(cx, m, s.t);
        assert_relative(cr_model_get_report(m)->log_evidence, bound, 1e-8);
        for (size_t t = 0; t < T; t++) {
            assert_close(p.mean[t], mean[t], 1e-8);
            assert_close(p.scale[t], sqrt(variance[t] + 0.07), 1e-8);
        }
    }
}

/* All rows as one batch: the same model as gp --approx vfe, with its mean functions and weights. */
TEST(one_batch)
{
    static const char *const how[] = { "mean=zero", "mean=constant weights=w",
                                       "mean=linear scale_target=standard" };
    sample                   s = draw(cx, 2);
    for (size_t k = 0; k < 3; k++) {
        char a[300], b[300];
        snprintf(a, sizeof a, KEPT "%s inducing=12", how[k]);
        snprintf(b, sizeof b, KEPT "%s inducing=12 approx=vfe", how[k]);
        cr_model     *m = fit(cx, "gp-online", s.all, a), *g = fit(cx, "gp", s.all, b);
        cr_prediction p = predict(cx, m, s.t), q = predict(cx, g, s.t);
        assert_relative(cr_model_get_report(m)->log_evidence, cr_model_get_report(g)->log_evidence,
                        1e-10);
        for (size_t t = 0; t < T; t++) {
            assert_close(p.mean[t], q.mean[t], 1e-9);
            assert_close(p.scale[t], q.scale[t], 1e-9);
        }
    }
}

static void assert_exact(cr_ctx *cx, const sample *s, const cr_model *m, const char *settings,
                         double tolerance)
{
    cr_model     *g = fit(cx, "gp", s->all, settings);
    cr_prediction p = predict(cx, m, s->t), q = predict(cx, g, s->t);
    assert_relative(cr_model_get_report(m)->log_evidence, cr_model_get_report(g)->log_evidence,
                    tolerance);
    for (size_t t = 0; t < T; t++) {
        assert_close(p.mean[t], q.mean[t], tolerance);
        assert_close(p.scale[t], q.scale[t], tolerance);
    }
}

/* Room for all inputs: inducing inputs that move along, and the basis, are the exact process. */
TEST(basis_for_all)
{
    static const size_t cuts[] = { 7, 15, 18, N };
    sample              s = draw(cx, 3);
#define SHORT "target=y features=x1,x2 optimize=none noise=0.07 kernel=1.3*matern12(l=0.8) "
    cr_model *m = stream(cx, &s, SHORT "mean=constant inducing=50", cuts);
    assert_exact(cx, &s, m, SHORT "mean=constant", 1e-6);
    cr_model_free(cx, m);
    m = stream(cx, &s, SHORT "mean=zero method=basis inducing=50", cuts);
    assert_exact(cx, &s, m, SHORT "mean=zero", 1e-8);
    cr_model_free(cx, m);
    static const char *const smooth[] = { /* K is singular in double precision */
                                          "noise=0.07 kernel=1.3*rbf(l=2) ",
                                          "noise=1e-4 kernel=2*rbf(l=1) "
    };
    for (size_t i = 0; i < 2; i++) {
        char online[300], batch[200];
        snprintf(batch, sizeof batch, "target=y features=x1,x2 optimize=none mean=zero %s",
                 smooth[i]);
        snprintf(online, sizeof online, "%s method=basis inducing=50", batch);
        m = stream(cx, &s, online, cuts);
        assert_exact(cx, &s, m, batch, i ? 1e-6 : 1e-8);
        cr_model_free(cx, m);
    }
    m = stream(cx, &s, SHORT "mean=zero method=basis inducing=50 weights=w",
               cuts); /* rows of weight 0, 2 */
    assert_exact(cx, &s, m, SHORT "mean=zero weights=w", 1e-8);
    cr_model_free(cx, m);
}

/* A bounded basis keeps its bound, and removal leaves the marginal of the others: taking in a row
 * and losing its input again is as good as any other order. */
TEST(bounded)
{
    static const size_t cuts[] = { 5, 12, 20, N };
    sample              s = draw(cx, 4);
    double              before = INFINITY;
    for (size_t most = 4; most <= 36; most += 8) {
        char settings[256];
        snprintf(settings, sizeof settings, KEPT "mean=constant method=basis inducing=%zu", most);
        cr_model     *m = stream(cx, &s, settings, cuts);
        json_t       *d = describe(cx, m);
        cr_prediction p = predict(cx, m, s.all);
        double        error = 0;
        assert_true(statistic(d, "inducing_inputs") <= (double)most);
        for (size_t i = 0; i < N; i++) error += pow(p.mean[i] - s.y[i], 2) / N;
        for (size_t i = 0; i < N; i++) assert_true(p.scale[i] * p.scale[i] >= 0.07 * (1 - 1e-9));
        assert_true(error < before * 1.3 + 0.01);
        before = error;
    }
    assert_true(before < 0.1);
}

/* --- the bound of the stream ----------------------------------------------------------------- */

typedef struct bench {
    double X[2][N * D], y[2][N], r[2][N], H[N], L[N * N], L2[N * N], alpha[N], beta[2], U[N * 2],
        A[4];
    size_t             first[N];
    double             Phi[N * N], M[N * 2], S[4];
    cri_gp_data        old, rows, next;
    cri_gp_sparse      sparse;
    cri_gp_stream_sums sums;
    cri_gp_problem     problem;
} bench;

static cri_gp_data inputs(double *X, double *y, double *r, size_t *first, size_t n)
{
    return (cri_gp_data){ .n = n,
                          .d = D,
                          .X = X,
                          .y = y,
                          .r = r,
                          .first = first,
                          .count = (double)n + 3,
                          .spread = 0.4,
                          .log_shares = 0 };
}

/* Some rows through one set of inducing inputs; then others through other ones. */
TEST(gradient)
{
    cr_scratch sc = cr_scratch_begin(cx);
    sample     s = draw(cx, 5);
    bench     *b = calloc(1, sizeof *b);
    cr_kernel *k = NULL;
    for (size_t i = 0; i < N; i++) b->r[0][i] = 1 + 0.1 * (double)(i % 3), b->H[i] = 1;
    assert_ok(cx,
              cr_kernel_parse(cx, "1.3*rbf(x1,x2;l=[0.9,1.7]) + 0.4*linear", NULL, NULL, 0, &k));
    b->old = inputs(s.X, s.y, b->r[0], b->first, 6);
    b->rows = inputs(s.X + 6 * D, s.y + 6, b->r[0], b->first, 12);
    b->next = inputs(s.X + 11 * D, s.y, b->r[0], b->first, 8);
    b->problem = (cri_gp_problem){ &b->rows, 1, b->H };
    b->sparse = (cri_gp_sparse){ .approx = CRI_GP_VFE,
                                 .Z = b->old,
                                 .L = b->L,
                                 .L2 = b->L2,
                                 .alpha = b->alpha,
                                 .beta = b->beta,
                                 .U = b->U,
                                 .A = b->A };
    b->sums = (cri_gp_stream_sums){ 6, 1, 2, b->Phi, b->M, b->S, 0, 0, 0 };
    cri_gp_pseudo none = { 0 }, pseudo;
    cri_gp_stream first = { &none, &b->sparse, &b->sums };
    assert_ok(cx, cri_gp_stream_solve(cx, &b->problem, k, 0.1, &first, NULL));
    assert_ok(cx, cri_gp_pseudo_new(&sc, &b->sums, 0.1, b->L, &b->old, &pseudo));
    b->rows = inputs(s.X + 18 * D, s.y + 18, b->r[0], b->first, 15);
    b->sparse.Z = b->next;
    cri_gp_stream second = { &pseudo, &b->sparse, NULL };
    size_t        p = cr_kernel_theta_size(k);
    double        theta[8], gradient[9], up, down;
    cr_kernel_theta(k, theta);
    theta[1] += 0.2; /* not where the first batch was */
    assert_ok(cx, cr_kernel_set_theta(cx, k, theta));
    assert_ok(cx, cri_gp_stream_objective(cx, &second, &b->problem, k, 0.15, &up, gradient));
    for (size_t j = 0; j <= p; j++) {
        double h = 1e-5, noise[2] = { 0.15, 0.15 };
        for (int side = 0; side < 2; side++) {
            double moved[8];
            memcpy(moved, theta, sizeof moved);
            if (j < p)
                moved[j] += side ? -h : h;
            else
                noise[side] *= exp(side ? -h : h);
            assert_ok(cx, cr_kernel_set_theta(cx, k, moved));
            assert_ok(cx, cri_gp_stream_objective(cx, &second, &b->problem, k, noise[side],
                                                  side ? &down : &up, NULL));
        }
        assert_close(gradient[j], (up - down) / (2 * h), 1e-6);
    }
    cr_kernel_free(cx, k);
    free(b);
    cr_scratch_end(&sc);
}

/* Learned on the way, inducing inputs moving: not far from the process that saw all rows at
 * once. */
TEST(learning)
{
    enum { M = 160 };
    double x[M], y[M];
    cr_rng r = cr_rng_stream(8, 5);
    for (size_t i = 0; i < M; i++) {
        x[i] = 10 * (double)i / M + 0.02 * cr_rng_normal(&r); /* a series: batches do not overlap */
        y[i] = sin(1.5 * x[i]) + 0.1 * cr_rng_normal(&r);
    }
    cr_table *all = make_table(cx, x, M, 1, y, NULL);
    cr_table *t = make_table(cx, x, 40, 1, y, NULL);
    cr_model *m = fit(cx, "gp-online", t, "target=y features=x1 inducing=25 kernel=rbf"),
             *next = NULL;
    cr_table_free(cx, t);
    for (size_t k = 1; k < 4; k++) {
        t = make_table(cx, x + 40 * k, 40, 1, y + 40 * k, NULL);
        assert_ok(cx, cr_update(cx, m, t, &next));
        test_own(cx, next, release_model);
        cr_model_free(cx, m);
        m = next;
    }
    cr_prediction p = predict(cx, m, all);
    double        error = 0, inside = 0;
    for (size_t i = 0; i < M; i++) {
        error += pow(p.mean[i] - sin(1.5 * x[i]), 2) / M;
        inside += fabs(y[i] - p.mean[i]) < 1.96 * p.scale[i];
    }
    assert_true(sqrt(error) < 0.07);
    assert_true(inside / M > 0.88);
    json_t *d = describe(cx, m);
    assert_true(statistic(d, "batches") == 4 && statistic(d, "inducing_inputs") <= 25);
    assert_true(fabs(log(parameter(d, "noise", "value") / 0.01)) < 0.8);
}

/* A saved model predicts and learns on as the one in memory; any number of threads gives the same
 * bits. */
TEST(files_and_threads)
{
    sample                   s = draw(cx, 6);
    static const char *const how[] = { "target=y features=x1,x2 inducing=10",
                                       "target=y features=x1,x2 method=basis inducing=10" };
    for (size_t k = 0; k < 2; k++) {
        cr_table     *a = rows_of(cx, &s, 0, 20), *b = rows_of(cx, &s, 20, N);
        cr_prediction kept = { 0 };
        for (size_t threads = 1; threads < 8; threads += 2) {
            char     *bytes = NULL;
            size_t    size = 0;
            cr_model *loaded = NULL, *more = NULL;
            cr_ctx_set_threads(cx, threads);
            cr_model *m = fit(cx, "gp-online", a, how[k]);
            assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
            assert_ok(cx, cr_model_from_bytes(cx, "m", bytes, size, &loaded));
            assert_ok(cx, cr_update(cx, threads == 1 ? m : loaded, b, &more));
            cr_prediction p = predict(cx, more, s.t);
            if (threads > 1) {
                assert_memory_equal(p.mean, kept.mean, T * sizeof(double));
                assert_memory_equal(p.scale, kept.scale, T * sizeof(double));
            } else
                kept = p;
            cr_free(cx, bytes, size, 1);
            cr_model_free(cx, loaded);
            cr_model_free(cx, more);
        }
        cr_prediction_free(cx, &kept);
    }
}

TEST(corners)
{
    cr_model *m = NULL;
    cr_table *one = table_of_text(cx, "t.csv", "x,g,y\n1,a,2\n");
    for (size_t k = 0; k < 2; k++) {
        m = fit(cx, "gp-online", one, k ? "target=y method=basis" : "target=y");
        cr_prediction p = predict(cx, m, one);
        assert_close(p.mean[0], 2, 0.2);
    }
    cr_table *flat = table_of_text(cx, "f.csv", "x,y\n1,5\n2,5\n3,5\n"),
             *none = table_of_text(cx, "n.csv", "x,w,y\n1,0,1\n2,0,1\n");
    m = fit(cx, "gp-online", flat, "target=y");
    cr_prediction p = predict(cx, m, flat);
    assert_close(p.mean[1], 5, 1e-6);
    cr_model_free(cx, m);
    assert_fails_with(cx, try_fit(cx, "gp-online", one, "target=y kernel=rbf(x)+white", &m),
                      CR_EUNSUPPORTED, "white");
    assert_fails_with(cx, try_fit(cx, "gp-online", flat, "target=y method=basis mean=linear", &m),
                      CR_EUNSUPPORTED, "no mean function");
    assert_true(try_fit(cx, "gp-online", none, "target=y weights=w features=x", &m) != CR_OK);
}

static cr_status all_of_it(cr_ctx *cx, void *arg)
{
    static const double x[] = { 1, 2, 3, 4, 7 }, y[] = { 0, 1, 0, 1, 1 };
    cr_setting          s[] = {
                 { "target", "y" }, { "optimize", "none" }, { "method", arg }, { "inducing", "2" }
    };
    cr_status     st = CR_OK;
    cr_table     *t = NULL;
    cr_model     *m = NULL, *more = NULL;
    cr_prediction p = { 0 };
    CR_TRY(cr_table_new(cx, "t", 5, &t));
    CR_TRY(cr_table_borrow_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_borrow_numbers(cx, t, "y", CR_REAL, y, 1));
    CR_TRY(cr_fit(cx, "gp-online", t, s, 4, &m));
    CR_TRY(cr_update(cx, m, t, &more));
    CR_TRY(cr_predict(cx, more, t, &p));
done:
    cr_prediction_free(cx, &p);
    cr_model_free(cx, m);
    cr_model_free(cx, more);
    cr_table_free(cx, t);
    return st;
}

TEST(memory)
{
    test_every_allocation_fails(all_of_it, (void *)(uintptr_t) "stream");
    test_every_allocation_fails(all_of_it, (void *)(uintptr_t) "basis");
}
