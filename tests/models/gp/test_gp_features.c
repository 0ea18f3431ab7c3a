/* test_gp_features.c -- random Fourier and Nystroem features against kernels, dense covariances and
 * differences. */
#include "gp_problem.h"
#include "gp_reference.h"

#include "models/gp/exact/gp_pivoted_cholesky.h"
#include "models/gp/sparse/gp_rff.h"
#include "models/core/model_internal.h"

enum { N = 40, D = 2, FEATURES = 2000 };

typedef struct bench {
    double         X[N * D], y[N], r[N], H[N];
    size_t         first[N];
    cri_gp_data    data;
    cri_gp_problem problem;
} bench;

static bench *draw(uint64_t seed)
{
    bench *b = calloc(1, sizeof *b);
    cr_rng r = cr_rng_stream(seed, 3);
    b->data = draw_rows(&r, N, 1, b->X, b->y, b->r, b->H, b->first);
    b->problem = (cri_gp_problem){ &b->data, 1, b->H };
    return b;
}

static const struct {
    const char *text;
    double      error; /* with FEATURES features */
} kernels[] = {
    { "1.4*rbf(l=[0.8,1.3])", 0.02 },
    { "0.7*matern12(l=[2,1.5])", 0.03 },
    { "matern(nu=1.7, l=1.1)", 0.03 },
    { "2*rq(l=0.9, alpha=0.8)", 0.03 },
    { "3*periodic(x1; l=0.7, p=2.5)", 1e-4 },
    { "periodic(l=[1.1,0.9], p=[2,1.7])", 0.08 },
    { "1.2*rbf(l=1)*periodic(x1; l=0.8, p=0.9)", 0.03 },
    { "rbf(x1; l=0.5)^2 * cosine(x2; p=1.5)", 0.04 },
    { "cosine(x1; p=2) * cosine(x2; p=1.5)", 0.04 },
    { "0.5*rbf(x1) + 0.3*linear(x2) + 2", 0.02 },
    { "(rbf(x1) + 0.2)*(matern52(x2) + 0.1)", 0.03 },
    { "0.3*linear + 1.5", 1e-14 },
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

typedef struct memory {
    double *W, *weight, *phase, *L2, *g, beta[1], *U, A[1];
} memory;

static cri_gp_rff rff_new(const cri_gp_spectrum *sp, memory *o)
{
    size_t m = sp->m;
    o->W = calloc(m * D, sizeof(double)), o->weight = calloc(m, sizeof(double));
    o->phase = calloc(m, sizeof(double)), o->L2 = calloc(m * m, sizeof(double));
    o->g = calloc(m, sizeof(double)), o->U = calloc(m, sizeof(double));
    return (cri_gp_rff){ .spectrum = sp,
                         .W = o->W,
                         .weight = o->weight,
                         .phase = o->phase,
                         .L2 = o->L2,
                         .g = o->g,
                         .beta = o->beta,
                         .U = o->U,
                         .A = o->A };
}

static void memory_free(memory *o)
{
    free(o->W), free(o->weight), free(o->phase), free(o->L2), free(o->g), free(o->U);
}

static double error_of(cr_ctx *cx, const bench *b, const cr_kernel *k, size_t m, uint64_t seed)
{
    cr_scratch      s = cr_scratch_begin(cx);
    cri_gp_spectrum sp;
    memory          o;
    double          error;
    assert_ok(cx, cri_gp_spectrum_new(cx, &s, k, m, D, seed, &sp));
    assert_true(sp.m <= m);
    cri_gp_rff rff = rff_new(&sp, &o);
    cri_gp_spectrum_fill(&sp, k, rff.W, rff.weight, rff.phase);
    assert_ok(cx, cri_gp_rff_error(cx, &b->data, k, &rff, &error));
    memory_free(&o);
    cr_scratch_end(&s);
    return error;
}

/* Products of features come near to the kernel, as 1 / sqrt(m) or faster. */
TEST(kernels)
{
    bench *b = draw(1);
    cr_ctx_set_threads(cx, 1);
    for (size_t i = 0; i < KERNELS; i++) {
        cr_kernel *k = parse(cx, kernels[i].text);
        double     many = 0, few = 0;
        for (uint64_t seed = 0; seed < 3; seed++) {
            many = fmax(many, error_of(cx, b, k, FEATURES, seed));
            few = fmax(few, error_of(cx, b, k, FEATURES / 16, seed));
        }
        if (many > kernels[i].error) fail_msg("%s: %g", kernels[i].text, many);
        if (kernels[i].error > 1e-3) assert_true(many < 0.45 * few);
        cr_kernel_free(cx, k);
    }
    free(b);
}

/* Over draws that do not know each other, products of features are a sum of D pairs of cosines and
 * sines whose mean is the kernel and whose variance is (1 - k^2)^2 / (2 D): the rows and the kernel
 * of reference answers.  D = 1, as draws within one set of features are spread on purpose. */
TEST(distribution)
{
    enum { DRAWS = 4000, ROWS = 4, COLUMNS = 3 };
    json_t *root = load_reference(), *item, *one = NULL;
    size_t  c;
    double  X[ROWS * COLUMNS], sum[ROWS * ROWS] = { 0 }, square[ROWS * ROWS] = { 0 };
    char    text[100];
    json_array_foreach(json_object_get(root, "cases"), c, item)
    {
        if (strcmp(json_string_value(json_object_get(item, "id")), "rff/fixed") == 0) one = item;
    }
    assert_non_null(one);
    double v = number_of(one, "variance");
    snprintf(text, sizeof text, "%.17g*rbf(l=%.17g)", v, number_of(one, "lengthscale"));
    cr_kernel *k = parse(cx, text);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        X[i] = element(json_array_get(json_object_get(one, "x"), i / COLUMNS), i % COLUMNS);
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        cr_scratch      s = cr_scratch_begin(cx);
        cri_gp_spectrum sp;
        double          W[2 * COLUMNS], weight[2], phase[2], F[2 * ROWS];
        assert_ok(cx, cri_gp_spectrum_new(cx, &s, k, 2, COLUMNS, seed, &sp));
        assert_int_equal(sp.m, 2);
        cri_gp_spectrum_fill(&sp, k, W, weight, phase);
        assert_ok(cx, cri_gp_waves(cx, W, weight, phase, 2, X, ROWS, COLUMNS, F, NULL));
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < ROWS; j++) {
                double product = (F[i] * F[j] + F[ROWS + i] * F[ROWS + j]) / v;
                sum[i * ROWS + j] += product / DRAWS;
                square[i * ROWS + j] += product * product / DRAWS;
            }
        cr_scratch_end(&s);
    }
    for (size_t i = 0; i < ROWS * ROWS; i++) {
        double exact =
            element(json_array_get(json_object_get(one, "gram_exact"), i / ROWS), i % ROWS) / v;
        double variance = pow(1 - exact * exact, 2) / 2;
        assert_true(fabs(sum[i] - exact) <= 4.5 * sqrt(variance / DRAWS) + 1e-12);
        assert_true(fabs(square[i] - sum[i] * sum[i] - variance) <=
                    4.5 / sqrt(DRAWS) * variance + 1e-12);
    }
    cr_kernel_free(cx, k);
    json_decref(root);
}

/* The evidence is the log density under C = Phi Phi^T + D. */
TEST(evidence)
{
    enum { M = 24 };
    bench             *b = draw(2);
    cr_scratch         s = cr_scratch_begin(cx);
    cr_kernel         *k = parse(cx, "1.4*matern32(l=[0.8,1.3]) + 0.2*linear(x1)");
    static long double C[N * N];
    long double        t[N], logdet;
    double             noise = 0.09;
    cri_gp_spectrum    sp;
    memory             o;
    cr_ctx_set_threads(cx, 1);
    assert_ok(cx, cri_gp_spectrum_new(cx, &s, k, M, D, 5, &sp));
    cri_gp_rff rff = rff_new(&sp, &o);
    assert_ok(cx, cri_gp_rff_solve(cx, &b->problem, k, noise, &rff, NULL));
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            long double sum = i == j ? noise * b->r[i] : 0;
            for (size_t f = 0; f < sp.m; f++) {
                long double u = 0, v = 0;
                for (size_t c = 0; c < D; c++) {
                    u += rff.W[f * D + c] * (long double)b->X[i * D + c];
                    v += rff.W[f * D + c] * (long double)b->X[j * D + c];
                }
                bool        line = rff.phase[f] == CRI_GP_STRAIGHT;
                long double p = line ? u : cosl(u - rff.phase[f]),
                            q = line ? v : cosl(v - rff.phase[f]);
                sum += rff.weight[f] * rff.weight[f] * p * q;
            }
            C[i * N + j] = sum;
        }
        t[i] = b->y[i] - o.beta[0];
    }
    long double square = quadratic_form(N, C, t, &logdet);
    double      value = (double)(-0.5L * (square + logdet + N * logl(2 * 3.14159265358979323846L)));
    assert_relative(rff.value, value + cri_gp_merged(&b->data, noise), 1e-11);
    memory_free(&o);
    cr_kernel_free(cx, k);
    free(b);
    cr_scratch_end(&s);
}

TEST(gradients)
{
    bench *b = draw(3);
    cr_ctx_set_threads(cx, 1);
    for (size_t i = 0; i < KERNELS; i++) {
        cr_scratch      s = cr_scratch_begin(cx);
        cr_kernel      *k = parse(cx, kernels[i].text);
        size_t          p = cr_kernel_theta_size(k);
        double          theta[16], gradient[16], up, down, h = 1e-5;
        cri_gp_spectrum sp;
        memory          o;
        assert_ok(cx, cri_gp_spectrum_new(cx, &s, k, 30, D, 5, &sp));
        cri_gp_rff rff = rff_new(&sp, &o);
        assert_ok(cx, cri_gp_rff_solve(cx, &b->problem, k, 0.09, &rff, gradient));
        cr_kernel_theta(k, theta);
        theta[p] = log(0.09);
        for (size_t j = 0; j <= p; j++) {
            double keep = theta[j];
            theta[j] = keep + h;
            assert_ok(cx, cr_kernel_set_theta(cx, k, theta));
            assert_ok(cx, cri_gp_rff_objective(cx, &rff, &b->problem, k, exp(theta[p]), &up, NULL));
            theta[j] = keep - h;
            assert_ok(cx, cr_kernel_set_theta(cx, k, theta));
            assert_ok(cx,
                      cri_gp_rff_objective(cx, &rff, &b->problem, k, exp(theta[p]), &down, NULL));
            theta[j] = keep;
            assert_close(gradient[j], (up - down) / (2 * h), 1e-5 * (1 + fabs(gradient[j])));
        }
        memory_free(&o);
        cr_kernel_free(cx, k);
        cr_scratch_end(&s);
    }
    free(b);
}

/* --- pivots ---------------------------------------------------------------------------------- */

/* F F^T is K at full rank; the trace that is left is told; pivots differ, and stop at the rank. */
TEST(pivots)
{
    bench          *b = draw(4);
    cr_kernel      *k = parse(cx, "1.4*matern32(l=[0.8,1.3])"), *line = parse(cx, "linear");
    cr_kernel_input in = cri_gp_inputs(&b->data);
    double          K[N * N], F[N * N], left;
    size_t          pivots[N], rank;
    cr_ctx_set_threads(cx, 1);
    assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K, N, N)));
    for (size_t most = 1; most <= N; most += 13) {
        double trace = 0;
        assert_ok(cx, cri_gp_pivots(cx, &b->data, k, most, 1e-12, pivots, F, &rank, &left));
        assert_int_equal(rank, most);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++) {
                double sum = 0;
                for (size_t c = 0; c < most; c++) sum += F[i * most + c] * F[j * most + c];
                if (i == j) trace += K[i * N + i] - sum;
                for (size_t c = 0; c < most; c++) /* pivots are met exactly */
                    if (i == pivots[c]) assert_close(sum, K[i * N + j], 1e-12);
            }
        assert_close(left, trace, 1e-11);
    }
    assert_ok(cx, cri_gp_pivots(cx, &b->data, line, 10, 1e-12, pivots, F, &rank, &left));
    assert_int_equal(rank, 2);
    assert_close(left, 0, 1e-12);
    cr_kernel_free(cx, k);
    cr_kernel_free(cx, line);
    free(b);
}

/* --- the model ------------------------------------------------------------------------------- */

static cr_table *table_of(cr_ctx *cx, const bench *b)
{
    return make_table(cx, b->X, N, D, b->y, NULL);
}

/* Nystroem: mean and variance are those of the covariance Q = K_nm K_mm^-1 K_mn. */
TEST(nystrom)
{
    bench    *b = draw(6);
    cr_table *t = table_of(cx, b);
    cr_ctx_set_threads(cx, 1);
    cr_model               *m = fit(cx, "gp", t,
                                    "target=y approx=nystrom inducing=9 noise=0.09 optimize=none mean=zero "
                                                  "kernel=1.4*rbf(l=[0.8,1.3])");
    cr_prediction           p = predict(cx, m, t);
    const cri_gp_posterior *g = m->state;
    size_t                  c = g->at.n;
    static long double      Kmm[MOST * MOST], B[MOST * MOST], Q[MOST * MOST], C[MOST * MOST],
        S[MOST * (MOST + 1)];
    rbf k = { .d = D, .v = 1.4L, .l = { 0.8L, 1.3L } };
    assert_int_equal(c, 9);
    for (size_t i = 0; i < c; i++) {
        for (size_t j = 0; j < c; j++)
            Kmm[i * c + j] = rbf_value(&k, g->at.X + i * D, g->at.X + j * D);
        for (size_t j = 0; j < N; j++) B[i * N + j] = rbf_value(&k, g->at.X + i * D, b->X + j * D);
    }
    static long double R[MOST * MOST];
    memcpy(R, B, sizeof R);
    solve_dense(c, Kmm, R, N);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            long double sum = 0;
            for (size_t a = 0; a < c; a++) sum += B[a * N + i] * R[a * N + j];
            Q[i * N + j] = sum;
            C[i * N + j] = sum + (i == j ? 0.09L : 0);
            S[i * (N + 1) + j] = sum;
        }
    for (size_t i = 0; i < N; i++) S[i * (N + 1) + N] = b->y[i];
    solve_dense(N, C, S, N + 1);
    for (size_t i = 0; i < N; i++) {
        long double mean = 0, variance = Q[i * N + i] + 0.09L;
        for (size_t j = 0; j < N; j++) {
            mean += Q[i * N + j] * S[j * (N + 1) + N];
            variance -= Q[i * N + j] * S[j * (N + 1) + i];
        }
        assert_close(p.mean[i], (double)mean, 1e-9);
        assert_close(p.scale[i], (double)sqrtl(variance), 1e-9);
    }
    free(b);
}

/* At fixed hyper-parameters many features predict as the exact process; files and threads change
 * nothing; draws have the spread that is told. */
TEST(model)
{
    static const char *const approx[] = { "rff", "nystrom" };
    bench                   *b = draw(7);
    cr_table                *t = table_of(cx, b);
    const char *rest = "target=y noise=0.09 optimize=none kernel=1.4*matern52(l=[0.8,1.3])";
    cr_ctx_set_threads(cx, 1);
    cr_model     *exact = fit(cx, "gp", t, rest);
    cr_prediction p = predict(cx, exact, t);
    for (size_t a = 0; a < 2; a++) {
        double errors[2] = { 0, 0 };
        for (size_t more = 0; more < 2; more++) {
            char settings[300];
            snprintf(settings, sizeof settings, "%s approx=%s inducing=%d", rest, approx[a],
                     a == 0 ? (more ? 1200 : 60) : (more ? 40 : 12));
            cr_model     *m = fit(cx, "gp", t, settings), *again = NULL, *none = NULL;
            cr_prediction q = predict(cx, m, t), r;
            char         *bytes;
            size_t        size;
            double        draws[N * 2];
            for (size_t i = 0; i < N; i++)
                errors[more] = fmax(errors[more], fabs(q.mean[i] - p.mean[i]));
            assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
            assert_ok(cx, cr_model_from_bytes(cx, "m", bytes, size, &again));
            cr_ctx_set_threads(cx, 3);
            r = predict(cx, again, t);
            assert_memory_equal(q.mean, r.mean, N * sizeof(double));
            assert_memory_equal(q.scale, r.scale, N * sizeof(double));
            cr_ctx_set_threads(cx, 1);
            assert_ok(cx, cr_sample_targets(cx, m, t, 2, 3, draws));
            assert_fails(cx, cr_update(cx, m, t, &none), CR_EUNSUPPORTED);
            cr_free(cx, bytes, size, 1);
            cr_model_free(cx, again);
        }
        assert_true(errors[1] < (a ? 1e-6 : 0.08) && errors[1] < 0.5 * errors[0]);
    }
    cr_model *learned =
        fit(cx, "gp", t, "target=y approx=rff inducing=60"); /* finds what exact finds */
    cr_model *other = fit(cx, "gp", t, "target=y");
    assert_close(cr_model_get_report(learned)->log_evidence,
                 cr_model_get_report(other)->log_evidence, 3);
    free(b);
}

TEST(refusals)
{
    cr_scratch               s = cr_scratch_begin(cx);
    static const char *const without[] = { "polynomial", "brownian(x1)", "rbf(base=linear)",
                                           "rbf*linear", "hamming(c1)",  "rbf(x1, warp=log)",
                                           "rbf + white" };
    cri_gp_spectrum          sp;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        cr_kernel *k = parse(cx, without[i]);
        assert_fails(cx, cri_gp_spectrum_new(cx, &s, k, 100, D, 1, &sp), CR_EUNSUPPORTED);
        cr_kernel_free(cx, k);
    }
    cr_kernel *k = parse(cx, "rbf + matern12 + 1");
    assert_fails(cx, cri_gp_spectrum_new(cx, &s, k, 4, D, 1, &sp), CR_EARG);
    assert_ok(cx, cri_gp_spectrum_new(cx, &s, k, 5, D, 1, &sp));
    assert_int_equal(sp.m, 5);
    cr_kernel_free(cx, k);
    cr_scratch_end(&s);
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

TEST(allocations)
{
    test_every_allocation_fails(all_of_it,
                                (char[]){ "target=y approx=rff inducing=8 max_iter=1 mean=zero" });
    test_every_allocation_fails(
        all_of_it,
        (char[]){ "target=y approx=nystrom inducing=3 optimize=none noise=0.1 mean=linear" });
}
