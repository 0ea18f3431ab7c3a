/* test_lasso_df.c -- the factor of the terms of a lasso from lambda to lambda: after any terms have
 * come and gone it is that of their products, and says when they depend on each other. */
#include "../fixture.h"
#include "models/linear/lasso_path.h"

enum { N = 60, P = 30, STEPS = 400 };

/* Products of P columns, the last of which is the sum of two others. */
static void draw_products(cr_ctx *cx, cri_gram *g)
{
    static double x[N][P + 1];
    cr_rng        r = cr_rng_stream(3, 9);
    cri_moments   m = { 0 };
    assert_ok(cx, cri_moments_new(cx, P, &m));
    m.weight = N, m.rows = N;
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j <= P; j++) x[i][j] = cr_rng_normal(&r);
        x[i][P - 1] = x[i][3] + x[i][7];
    }
    for (size_t j = 0; j <= P; j++)
        for (size_t i = 0; i < N; i++) m.mean[j] += x[i][j] / N;
    for (size_t i = 0; i < N; i++)
        for (size_t a = 0; a <= P; a++)
            for (size_t b = 0; b <= P; b++)
                m.S[a * (P + 1) + b] += (x[i][a] - m.mean[a]) * (x[i][b] - m.mean[b]);
    assert_ok(cx, cri_gram_new(cx, &m, true, true, g));
    cri_moments_free(cx, &m);
}

/* L L' of the factor is what the products of its terms are. */
static void check_factor(const cri_lasso_factor *f, const cri_descent *d)
{
    size_t place[P];
    double G[P * P];
    cri_descent_products(d, f->terms, 0, f->k, place, G);
    for (size_t a = 0; a < f->k; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = 0;
            for (size_t e = 0; e <= b; e++) sum += f->L[a * f->most + e] * f->L[b * f->most + e];
            assert_true(fabs(sum - G[a * f->k + b]) < 1e-11);
        }
}

TEST(factor_along_a_path)
{
    cr_scratch                 s = cr_scratch_begin(cx);
    const cri_descent_settings settings = { 1, 1e-9, 100, NULL };
    cri_gram                   g;
    cri_descent                d;
    bool                       in[P] = { false };
    cr_rng                     r = cr_rng_stream(4, 9);
    size_t                     refused = 0, grown = 0;
    draw_products(cx, &g);
    assert_ok(cx, cri_descent_of_gram(&s, &g, &settings, &d));
    cri_lasso_factor f = { .most = P,
                           .terms = cr_scratch_index(&s, P),
                           .L = cr_scratch_matrix(&s, P, P) };
    assert_ok(cx, s.status);
    for (size_t step = 0; step < STEPS; step++) {
        size_t     terms[P], k = 0, before = f.k, changes = cr_rng_below(&r, 4);
        cr_scratch workspace = cr_scratch_begin(cx);
        for (size_t c = 0; c < changes; c++) {
            size_t j = cr_rng_below(&r, P);
            in[j] = !in[j];
        }
        for (size_t j = 0; j < P; j++)
            if (in[j]) terms[k++] = j;
        bool dependent = in[3] && in[7] && in[P - 1];
        assert_true(cri_lasso_independent(&f, &workspace, &d, terms, k) == !dependent);
        assert_true(dependent ? f.k < k : f.k == k);
        check_factor(&f, &d);
        refused += dependent;
        grown += f.k > before;
        cr_scratch_end(&workspace);
    }
    assert_true(refused > 10 && grown > 50);
    cri_gram_free(cx, &g);
    cr_scratch_end(&s);
}
