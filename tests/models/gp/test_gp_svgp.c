/* test_gp_svgp.c -- the stochastic variational bound against the collapsed one, differences and
 * dense formulas. */
#include "gp_problem.h"
#include "gp_reference.h"

#include "math/dense/chol.h"
#include "models/gp/sparse/gp_svgp.h"

enum { N = 40, M = 6, D = 2, MOST_Q = 2 };

typedef struct bench {
    double         X[N * D], y[N], r[N], H[N * MOST_Q], Z[M * D];
    double         L[M * M], L2[M * M], g[M], beta[MOST_Q], U[M * MOST_Q], A[MOST_Q * MOST_Q];
    double         Phi[M * M], MM[M * (MOST_Q + 1)], S[(MOST_Q + 1) * (MOST_Q + 1)];
    size_t         first[N];
    cri_gp_data    data;
    cri_gp_problem problem;
    cri_gp_svgp    q;
} bench;

static bench *draw(uint64_t seed, size_t terms)
{
    bench *b = calloc(1, sizeof *b);
    cr_rng r = cr_rng_stream(seed, 3);
    b->data = draw_rows(&r, N, terms, b->X, b->y, b->r, b->H, b->first);
    for (size_t i = 0; i < M * D; i++) b->Z[i] = 3 * cr_rng_uniform(&r);
    b->problem = (cri_gp_problem){ &b->data, terms, b->H };
    b->q = (cri_gp_svgp){ .Z = { .n = M, .d = D, .X = b->Z },
                          .sums = { .m = M, .q = terms, .Phi = b->Phi, .M = b->MM, .S = b->S },
                          .L = b->L,
                          .L2 = b->L2,
                          .g = b->g,
                          .beta = b->beta,
                          .U = b->U,
                          .A = b->A };
    return b;
}

static double collapsed(cr_ctx *cx, const bench *b, const cr_kernel *k, double noise,
                        double *gradient, double *dZ)
{
    double        L[M * M], L2[M * M], alpha[M], beta[MOST_Q], U[M * MOST_Q], A[MOST_Q * MOST_Q];
    cri_gp_sparse sparse = { .approx = CRI_GP_VFE,
                             .Z = b->q.Z,
                             .L = L,
                             .L2 = L2,
                             .alpha = alpha,
                             .beta = beta,
                             .U = U,
                             .A = A };
    assert_ok(cx, cri_gp_sparse_solve(cx, &b->problem, k, noise, &sparse, gradient, dZ));
    return sparse.value;
}

/* One step of rate 1 on all rows is the optimal q: the bound and its gradients are those of vfe;
 * every other q is below. */
TEST(optimum)
{
    cr_ctx_set_threads(cx, 1);
    for (size_t terms = 0; terms <= MOST_Q; terms++) {
        bench     *b = draw(terms, terms);
        cr_kernel *k = parse(cx, "1.4*rbf(l=[0.8,1.3])");
        double     best, gradient[8], dZ[M * D], value, theirs[8], moves[M * D];
        best = collapsed(cx, b, k, 0.09, theirs, moves);
        assert_ok(cx, cri_gp_svgp_step(cx, &b->problem, k, 0.09, NULL, N, 1, &b->q));
        assert_ok(
            cx, cri_gp_svgp_bound(cx, &b->problem, k, 0.09, NULL, N, &b->q, &value, gradient, dZ));
        assert_close(value, best, 1e-8);
        for (size_t j = 0; j <= cr_kernel_theta_size(k); j++)
            assert_close(gradient[j], theirs[j], 1e-8);
        for (size_t i = 0; i < M * D; i++) assert_close(dZ[i], moves[i], 1e-8);
        for (size_t i = 0; i < M; i++) { /* off the optimum */
            double keep = b->g[i], below;
            b->g[i] = keep + 0.1;
            assert_ok(cx, cri_gp_svgp_bound(cx, &b->problem, k, 0.09, NULL, N, &b->q, &below, NULL,
                                            NULL));
            assert_true(below < best - 1e-6);
            b->g[i] = keep;
        }
        cr_kernel_free(cx, k);
        free(b);
    }
}

/* At any q, by theta, noise and inducing inputs, with q(v) held. */
TEST(gradient)
{
    static const char *const kernels[] = { "1.4*rbf(l=[0.8,1.3])",
                                           "0.9*matern52(l=1.1) + 0.3*linear(x2)" };
    cr_ctx_set_threads(cx, 1);
    for (size_t a = 0; a < 2; a++) {
        bench       *b = draw(a, 1);
        cr_kernel   *k = parse(cx, kernels[a]);
        size_t       p = cr_kernel_theta_size(k);
        const size_t items[] = { 3, 17, 8, 30, 21, 2, 39 };
        double       theta[8], gradient[8], dZ[M * D], value, up, down;
        assert_ok(cx, cri_gp_svgp_step(cx, &b->problem, k, 0.09, items, 7, 0.6, &b->q));
        assert_ok(
            cx, cri_gp_svgp_bound(cx, &b->problem, k, 0.09, items, 7, &b->q, &value, gradient, dZ));
        cr_kernel_theta(k, theta);
        theta[p] = log(0.09);
        for (size_t j = 0; j <= p + M * D; j++) {
            double *at = j <= p ? &theta[j] : &b->Z[j - p - 1], keep = *at, h = 1e-5;
            *at = keep + h;
            assert_ok(cx, cr_kernel_set_theta(cx, k, theta));
            assert_ok(cx, cri_gp_svgp_bound(cx, &b->problem, k, exp(theta[p]), items, 7, &b->q, &up,
                                            NULL, NULL));
            *at = keep - h;
            assert_ok(cx, cr_kernel_set_theta(cx, k, theta));
            assert_ok(cx, cri_gp_svgp_bound(cx, &b->problem, k, exp(theta[p]), items, 7, &b->q,
                                            &down, NULL, NULL));
            *at = keep;
            assert_close(j <= p ? gradient[j] : dZ[j - p - 1], (up - down) / (2 * h), 1e-5);
        }
        cr_kernel_free(cx, k);
        free(b);
    }
}

/* The mean of the bound over all batches of a partition is the bound; steps of rate 1/t over a
 * partition end at the optimum. */
TEST(batches)
{
    enum { PARTS = 5, SIZE = N / PARTS };
    cr_kernel *k = parse(cx, "1.4*matern32(l=[0.8,1.3])");
    bench     *b = draw(9, 2);
    size_t     items[N];
    double     all, some, sum = 0, best;
    cr_ctx_set_threads(cx, 1);
    for (size_t i = 0; i < N; i++) items[i] = (i * 7) % N; /* 7 and 40 share no factor */
    for (size_t t = 0; t < PARTS; t++)
        assert_ok(cx, cri_gp_svgp_step(cx, &b->problem, k, 0.09, items + t * SIZE, SIZE,
                                       1 / (double)(t + 1), &b->q));
    best = collapsed(cx, b, k, 0.09, NULL, NULL);
    assert_ok(cx, cri_gp_svgp_bound(cx, &b->problem, k, 0.09, NULL, N, &b->q, &all, NULL, NULL));
    assert_close(all, best, 1e-8);
    for (size_t t = 0; t < PARTS; t++) {
        assert_ok(cx, cri_gp_svgp_bound(cx, &b->problem, k, 0.09, items + t * SIZE, SIZE, &b->q,
                                        &some, NULL, NULL));
        sum += some / PARTS;
    }
    assert_close(sum, all, 1e-9 * fabs(all));
    cr_kernel_free(cx, k);
    free(b);
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

/* Mini-batches come near to what all rows give; the bound is below the evidence; files and threads
 * change nothing. */
TEST(model)
{
    enum { ROWS = 200 };
    static double X[ROWS], y[ROWS];
    cr_table     *t = wavy(cx, ROWS, X, y);
    const char   *settings = "target=y approx=svgp inducing=12 batch=50 epochs=6";
    cr_ctx_set_threads(cx, 1);
    cr_model     *all = fit(cx, "gp", t, "target=y approx=vfe inducing=12");
    cr_model     *m = fit(cx, "gp", t, settings), *again = NULL, *none = NULL;
    cr_prediction p = predict(cx, all, t), q = predict(cx, m, t), r;
    char         *bytes;
    size_t        size;
    double        best = cr_model_get_report(all)->log_evidence,
           ours = cr_model_get_report(m)->log_evidence;
    assert_int_equal(cr_model_get_report(m)->evidence, CR_EVIDENCE_BOUND);
    assert_true(ours <= best + 0.5 && ours > best - 5);
    for (size_t i = 0; i < ROWS; i++) {
        assert_close(q.mean[i], p.mean[i], 0.1);
        assert_relative(q.scale[i], p.scale[i], 0.05);
    }
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
    assert_ok(cx, cr_model_from_bytes(cx, "m", bytes, size, &again));
    r = predict(cx, again, t);
    assert_memory_equal(q.mean, r.mean, sizeof y);
    assert_memory_equal(q.scale, r.scale, sizeof y);
    cr_model_free(cx, again);
    assert_fails(cx, cr_update(cx, m, t, &none), CR_EUNSUPPORTED);
    cr_ctx_set_threads(cx, 3);
    again = fit(cx, "gp", t, settings);
    assert_true(cr_model_get_report(again)->log_evidence == ours);
    cr_model_free(cx, again);
    again = fit(cx, "gp", t, "target=y approx=svgp inducing=12 batch=200"); /* all rows: vfe */
    assert_close(cr_model_get_report(again)->log_evidence, best, 1e-8);
    cr_free(cx, bytes, size, 1);
}

static cr_status all_of_it(cr_ctx *cx, void *arg)
{
    cr_status       st = CR_OK;
    bench          *b = draw(3, 1);
    cr_kernel      *k = NULL;
    cri_gp_learned  learned = { 0 };
    cri_gp_learning learning = { .problem = &b->problem, .variance = 1, .learn_noise = true };
    cri_gp_sparse   sparse = {
          .Z = b->q.Z, .L = b->L, .L2 = b->L2, .alpha = b->g, .beta = b->beta, .U = b->U, .A = b->A
    };
    double noise = 0.09;
    (void)arg;
    cr_ctx_set_threads(cx, 1);
    CR_TRY(cr_kernel_parse(cx, "1.4*rbf", NULL, NULL, 0, &k));
    CR_TRY(cri_gp_svgp_learn(cx, &learning, &(cri_gp_svgp_options){ 20, 1, true }, &sparse, k,
                             &noise, &learned));
done:
    cr_kernel_free(cx, k);
    free(b);
    return st;
}

TEST(allocations) { test_every_allocation_fails(all_of_it, NULL); }

/* --- reference answers ----------------------------------------------------------------------- */

/* q(u) = N(mean, C C^T) as q(v), u = L v: g = L^-1 mean, and L2 L2^T the inverse of B B^T, B = L^-1
 * C. */
static void set_q(cr_ctx *cx, const json_t *item, const cr_kernel *k, cri_gp_svgp *q)
{
    size_t        m = q->Z.n;
    double        jitter, *B = calloc(m * m, sizeof *B), *I = calloc(m * m, sizeof *I);
    const json_t *mean = json_object_get(item, "q_mean"), *C = json_object_get(item, "q_chol");
    assert_ok(cx, cri_gp_inducing_factor(cx, k, &q->Z, q->L, &jitter));
    for (size_t i = 0; i < m; i++) {
        q->g[i] = element(mean, i);
        I[i * m + i] = 1;
        for (size_t j = 0; j < m; j++) B[i * m + j] = element(json_array_get(C, i), j);
    }
    assert_ok(cx, cr_chol_forward(cx, cr_cmat_of(q->L, m, m), cr_mat_of(q->g, m, 1)));
    assert_ok(cx, cr_chol_forward(cx, cr_cmat_of(q->L, m, m), cr_mat_of(B, m, m)));
    assert_ok(cx, cr_chol_forward(cx, cr_cmat_of(B, m, m), cr_mat_of(I, m, m))); /* B^-1 */
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            long double sum = 0;
            for (size_t a = 0; a < m; a++) sum += (long double)I[a * m + i] * I[a * m + j];
            q->L2[i * m + j] = (double)sum;
        }
    assert_ok(cx, cr_chol(cx, cr_mat_of(q->L2, m, m)));
    free(B);
    free(I);
}

/* The bound at the q of others, and at the best q, where it is that of vfe. */
static void check_bound(cr_ctx *cx, const json_t *root, const json_t *item)
{
    split         s = read_split(cx, root, item);
    const json_t *hyper = json_object_get(item, "hyper");
    const json_t *set = json_object_get(json_object_get(root, "inducing_sets"),
                                        json_string_value(json_object_get(item, "inducing")));
    size_t        m = json_array_size(set);
    double        noise = number_of(hyper, "noise"), value, S[1] = { 0 };
    char          text[256] = "";
    double       *Z = calloc(m * s.d, sizeof *Z), *r = calloc(s.n, sizeof *r),
           *L = calloc(m * m, sizeof *L);
    double *L2 = calloc(m * m, sizeof *L2), *Phi = calloc(m * m, sizeof *Phi);
    double *M1 = calloc(m, sizeof *M1), *g = calloc(m, sizeof *g);
    for (size_t i = 0; i < m * s.d; i++) Z[i] = element(json_array_get(set, i / s.d), i % s.d);
    for (size_t i = 0; i < s.n; i++) r[i] = 1;
    kernel_text(json_object_get(item, "kernel"), hyper, text);
    cr_kernel     *k = parse(cx, text);
    cri_gp_data    data = { .n = s.n, .d = s.d, .X = s.X, .y = s.y, .r = r, .count = (double)s.n };
    cri_gp_problem problem = { .data = &data };
    cri_gp_svgp    q = { .Z = { .n = m, .d = s.d, .X = Z },
                         .sums = { .m = m, .Phi = Phi, .M = M1, .S = S },
                         .L = L,
                         .L2 = L2,
                         .g = g };
    assert_ok(cx, cri_gp_svgp_step(cx, &problem, k, noise, NULL, s.n, 1, &q));
    assert_ok(cx, cri_gp_svgp_bound(cx, &problem, k, noise, NULL, s.n, &q, &value, NULL, NULL));
    assert_relative(value, number_of(item, "elbo_at_optimal_q"), 1e-7);
    assert_relative(value, number_of(item, "vfe_bound"), 1e-7);
    set_q(cx, item, k, &q);
    assert_ok(cx, cri_gp_svgp_bound(cx, &problem, k, noise, NULL, s.n, &q, &value, NULL, NULL));
    assert_relative(value, number_of(item, "elbo"), 1e-6);
    cr_kernel_free(cx, k);
    free(Z), free(r), free(L), free(L2), free(Phi), free(M1), free(g);
    drop_split(&s);
}

TEST(reference) { check_cases("svgp/gaussian/", "", 450, 2, check_bound); }
