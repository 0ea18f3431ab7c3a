/* test_graphical_lasso.c -- sparse precision matrices: closed forms, the conditions that an optimum obeys, the values
 * of R's glasso, and corners. */
#include "support.h"

#include "base/context_internal.h"
#include "base/rng.h"
#include "math/dense/chol.h"
#include "math/optim/graphical_lasso.h"

#include <math.h>
#include <string.h>

enum { MOST = 30 };

static cri_graphical_lasso problem_of(const double *S, size_t p, double lambda)
{
    return (cri_graphical_lasso){ .S = S, .p = p, .lambda = lambda, .tol = 1e-12, .max_iter = 200 };
}

/* The covariance, divisor n, of n rows of columns that follow each other. */
static void make_covariance(size_t n, size_t p, uint64_t seed, double *S)
{
    cr_rng r = cr_rng_stream(seed, 0);
    double x[MOST], mean[MOST] = { 0 };
    memset(S, 0, p * p * sizeof *S);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < p; j++)
            x[j] = cr_rng_normal(&r) + (j > 0 ? 0.6 * x[j - 1] : 0) - (j > 3 ? 0.4 * x[j - 4] : 0);
        for (size_t j = 0; j < p; j++) {
            mean[j] += x[j] / (double)n;
            for (size_t k = 0; k < p; k++) S[j * p + k] += x[j] * x[k] / (double)n;
        }
    }
    for (size_t j = 0; j < p; j++)
        for (size_t k = 0; k < p; k++) S[j * p + k] -= mean[j] * mean[k];
}

/* The inverse of T by Gauss and Jordan, T being positive definite. */
static void invert(const double *T, size_t p, double *out)
{
    double A[MOST * MOST];
    memcpy(A, T, p * p * sizeof *A);
    memset(out, 0, p * p * sizeof *out);
    for (size_t i = 0; i < p; i++) out[i * p + i] = 1;
    for (size_t k = 0; k < p; k++) {
        double pivot = A[k * p + k];
        assert_true(pivot > 0);
        for (size_t j = 0; j < p; j++) A[k * p + j] /= pivot, out[k * p + j] /= pivot;
        for (size_t i = 0; i < p; i++) {
            double f = A[i * p + k];
            for (size_t j = 0; i != k && j < p; j++)
                A[i * p + j] -= f * A[k * p + j], out[i * p + j] -= f * out[k * p + j];
        }
    }
}

/* W_ii = S_ii, W_ij = S_ij + lambda sign T_ij, or within lambda of it where T_ij is 0. */
static void assert_optimal(const double *S, size_t p, double lambda, const double *T,
                           const double *W, double tolerance)
{
    double inverse[MOST * MOST];
    invert(T, p, inverse);
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) {
            double t = T[i * p + j], s = S[i * p + j], w = inverse[i * p + j];
            assert_close(T[j * p + i], t, 0);
            assert_close(W[i * p + j], w, 1e-9);
            if (i == j)
                assert_close(w, s, tolerance);
            else if (t != 0)
                assert_close(w, s + (t > 0 ? lambda : -lambda), tolerance);
            else
                assert_true(fabs(w - s) <= lambda + tolerance);
        }
}

/* Two columns: the covariance is drawn towards 0 by lambda, and no further. */
TEST(two_columns)
{
    double S[4] = { 2, 0.9, 0.9, 1 };
    for (double lambda = 0; lambda < 1.2; lambda += 0.25) {
        double                     T[4] = { 0 }, W[4], c = fmax(0.9 - lambda, 0);
        cri_graphical_lasso        a = problem_of(S, 2, lambda);
        cri_graphical_lasso_report r;
        assert_ok(cx, cri_graphical_lasso_solve(cx, &a, T, W, &r));
        assert_true(r.converged && r.edges == (c > 0) && r.groups == (c > 0 ? 1 : 2));
        assert_close(T[1], -c / (2 - c * c), 1e-6);
        assert_close(T[0], 1 / (2 - c * c), 1e-6);
        assert_close(r.objective, log(2 - c * c) + 2, 1e-10);
    }
}

/* R 4.2, glasso 1.11, glasso(S, 0.15, thr = 1e-13), without and with penalize.diagonal. */
TEST(values_of_r)
{
    const double S[25] = { 2,   .6,  -.5, .2,  .1,  .6, 1.5, .3, .05, .4,  -.5, .3, 1,
                           .25, -.3, .2,  .05, .25, 3,  .9,  .1, .4,  -.3, .9,  1.2 };
    const double expected[2][15] = {
        { 0.586021665, -0.198747273, 0.774405252, 0.235372816, -0.210114951, 1.153293645,
          -0.004531424, 0, -0.080739675, 0.401162550, 0, -0.162617451, 0.208812993, -0.260249480,
          1.055969518 },
        { 0.528405653, -0.160110384, 0.683112930, 0.182164053, -0.154481912, 0.970364761,
          -0.005301244, 0, -0.061407637, 0.369923990, 0, -0.127657500, 0.152326709, -0.211806323,
          0.898976388 }
    };
    for (int diagonal = 0; diagonal < 2; diagonal++) {
        double                     to[25], T[25] = { 0 };
        cri_graphical_lasso        a = problem_of(to, 5, 0.15);
        cri_graphical_lasso_report r;
        memcpy(to, S, sizeof S);
        for (size_t i = 0; i < 5; i++) to[i * 6] += diagonal ? 0.15 : 0;
        assert_ok(cx, cri_graphical_lasso_solve(cx, &a, T, NULL, &r));
        for (size_t i = 0, k = 0; i < 5; i++)
            for (size_t j = 0; j <= i; j++, k++)
                assert_close(T[i * 5 + j], expected[diagonal][k], 2e-7);
        assert_true(r.edges == 8);
    }
}

/* From nowhere and from the solution for a larger penalty, with more rows than columns and with fewer. */
TEST(optimality)
{
    enum { P = 24 };
    double S[P * P], warm[P * P] = { 0 }, W[P * P];
    for (size_t n = 12; n < 200; n += 150) {
        make_covariance(n, P, n, S);
        memset(warm, 0, sizeof warm);
        size_t last = 0;
        for (double lambda = 1; lambda > 0.02; lambda *= 0.7) {
            double                     cold[P * P] = { 0 };
            cri_graphical_lasso        a = problem_of(S, P, lambda);
            cri_graphical_lasso_report r, s;
            assert_ok(cx, cri_graphical_lasso_solve(cx, &a, cold, W, &r));
            assert_optimal(S, P, lambda, cold, W, 1e-5);
            assert_ok(cx, cri_graphical_lasso_solve(cx, &a, warm, W, &s));
            assert_optimal(S, P, lambda, warm, W, 1e-5);
            assert_true(r.converged && s.converged && r.gap >= 0 && r.gap <= 1e-10 * P);
            assert_true(r.iterations < 40);
            assert_close(s.objective, r.objective, 1e-10);
            for (size_t i = 0; i < P * P; i++) assert_close(warm[i], cold[i], 1e-4);
            last = r.edges;
        }
        assert_true(last > 2 * P);
    }
}

/* What is joined by no chain of large covariances is solved apart, to the same optimum. */
TEST(groups)
{
    enum { P = 12 };
    double S[P * P], T[P * P] = { 0 }, W[P * P];
    make_covariance(400, P, 7, S);
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j < P; j++)
            if (i % 3 != j % 3) S[i * P + j] *= 0.01;
    cri_graphical_lasso        a = problem_of(S, P, 0.02);
    cri_graphical_lasso_report r;
    assert_ok(cx, cri_graphical_lasso_solve(cx, &a, T, W, &r));
    assert_true(r.groups == 3 && r.largest == 4);
    assert_optimal(S, P, 0.02, T, W, 1e-6);
}

/* On a given graph: the covariances of its edges are met, and all other entries of T are 0.  On a chain the
 * likelihood has the closed form of a product of pairs over single columns. */
TEST(a_given_graph)
{
    enum { P = 6 };
    double S[P * P], T[P * P] = { 0 }, W[P * P], graph[P * P] = { 0 }, expected = (double)P;
    make_covariance(30, P, 3, S);
    for (size_t i = 0; i + 1 < P; i++) graph[i * P + i + 1] = graph[(i + 1) * P + i] = 1;
    cri_graphical_lasso a = problem_of(S, P, 0.3);
    a.opt_graph = graph;
    cri_graphical_lasso_report r;
    assert_ok(cx, cri_graphical_lasso_solve(cx, &a, T, W, &r));
    assert_true(r.converged);
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j < P; j++)
            if (i == j || graph[i * P + j] != 0)
                assert_close(W[i * P + j], S[i * P + j], 1e-6);
            else
                assert_close(T[i * P + j], 0, 0);
    for (size_t i = 0; i + 1 < P; i++) {
        double c = S[i * P + i + 1];
        expected += log(S[i * (P + 1)] * S[(i + 1) * (P + 1)] - c * c);
        if (i > 0) expected -= log(S[i * (P + 1)]);
    }
    assert_close(r.objective, expected, 1e-10);
}

/* Four columns that are an undirected ring: no directed graph says the same, and both pairs across are independent. */
TEST(a_ring)
{
    const double truth[16] = { 2, .8, 0, -.6, .8, 2, .5, 0, 0, .5, 2, .7, -.6, 0, .7, 2 };
    double       S[16], T[16] = { 0 }, ring[16];
    invert(truth, 4, S);
    for (size_t i = 0; i < 16; i++) ring[i] = truth[i] != 0;
    cri_graphical_lasso a = problem_of(S, 4, 0);
    a.opt_graph = ring;
    cri_graphical_lasso_report r;
    assert_ok(cx, cri_graphical_lasso_solve(cx, &a, T, NULL, &r));
    for (size_t i = 0; i < 16; i++) assert_close(T[i], truth[i], 1e-6);
}

/* Copies of a column, and more columns than rows: an optimum with any penalty, and none without. */
TEST(singular)
{
    double                     S[9] = { 1, 1, .5, 1, 1, .5, .5, .5, 1 }, T[9] = { 0 }, W[9];
    cri_graphical_lasso        a = problem_of(S, 3, 0.01);
    cri_graphical_lasso_report r;
    assert_ok(cx, cri_graphical_lasso_solve(cx, &a, T, W, &r));
    assert_optimal(S, 3, 0.01, T, W, 1e-5);
    a.lambda = 0;
    assert_fails_with(cx, cri_graphical_lasso_solve(cx, &a, T, W, &r), CR_ENUMERIC, "singular");
    S[0] = 0;
    assert_fails_with(cx, cri_graphical_lasso_solve(cx, &a, T, W, &r), CR_EDATA, "does not vary");
}

/* A time limit gives the point that was reached, which is a precision matrix, and says so. */
TEST(late)
{
    enum { P = 20 };
    double S[P * P], T[P * P] = { 0 }, W[P * P], inverse[P * P];
    make_covariance(40, P, 11, S);
    cri_graphical_lasso        a = problem_of(S, P, 0.05);
    cri_graphical_lasso_report whole, cut;
    cri_ctx_run_out_at(cx, 2);
    assert_ok(cx, cri_graphical_lasso_solve(cx, &a, T, W, &cut));
    cri_ctx_run_out_at(cx, 0);
    invert(T, P, inverse);
    for (size_t i = 0; i < P * P; i++) assert_close(W[i], inverse[i], 1e-9);
    memset(T, 0, sizeof T);
    assert_ok(cx, cri_graphical_lasso_solve(cx, &a, T, W, &whole));
    assert_true(cut.late && !cut.converged && !whole.late && whole.converged);
    assert_true(cut.objective > whole.objective && cut.gap >= cut.objective - whole.objective);
}
