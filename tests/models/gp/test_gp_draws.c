/* test_gp_draws.c -- draws with singular covariances: their moments, and functions known without
 * noise. */
#include "gp_fixture.h"

#include "models/gp/posterior/gp_draws.h"

enum { N = 6, DRAWS = 40000 };

/* A covariance F F^T of rank 3 in which two values are equal and one is known, and one of full
 * rank. */
TEST(moments)
{
    static double out[N * DRAWS];
    double        mean[N], S[N * N], F[N * 3], prior[N];
    cr_rng        r = cr_rng_stream(3, 5);
    for (size_t full = 0; full < 2; full++) {
        draw_normals(&r, F, N * 3);
        for (size_t j = 0; j < 3; j++) F[2 * 3 + j] = F[j], F[4 * 3 + j] = 0;
        for (size_t i = 0; i < N; i++) {
            mean[i] = (double)i, prior[i] = 2;
            for (size_t k = 0; k < N; k++) {
                S[i * N + k] = full && i == k ? 0.5 : 0;
                for (size_t j = 0; j < 3; j++) S[i * N + k] += F[i * 3 + j] * F[k * 3 + j];
            }
        }
        assert_ok(cx, cri_gp_draw(cx, mean, S, N, prior, DRAWS, 9, out));
        for (size_t i = 0; i < N; i++) {
            double average = 0;
            for (size_t c = 0; c < DRAWS; c++) average += out[i * DRAWS + c] / DRAWS;
            assert_close(average, mean[i], 5 * sqrt(S[i * N + i] / DRAWS) + 1e-9);
            for (size_t k = 0; k <= i; k++) {
                double both = 0,
                       se = sqrt((S[i * N + i] * S[k * N + k] + S[i * N + k] * S[i * N + k]) /
                                 DRAWS);
                for (size_t c = 0; c < DRAWS; c++)
                    both += (out[i * DRAWS + c] - mean[i]) * (out[k * DRAWS + c] - mean[k]) / DRAWS;
                assert_close(both, S[i * N + k], 5 * se + 1e-9);
            }
        }
        for (size_t c = 0; !full && c < DRAWS; c += 1000) {
            assert_close(out[2 * DRAWS + c] - mean[2], out[c] - mean[0], 1e-7);
            assert_close(out[4 * DRAWS + c], mean[4], 1e-7);
        }
    }
}

/* Without noise the draws go through the targets, and between them they are functions near the
 * mean. */
TEST(noise_free)
{
    enum { K = 12, G = 90, C = 3 };
    double X[K], y[K], grid[G], zero[G] = { 0 }, out[G * C];
    for (size_t i = 0; i < K; i++) X[i] = 0.25 * (double)i, y[i] = sin(X[i]);
    for (size_t i = 0; i < G; i++) grid[i] = 2.75 * (double)i / (G - 1);
    cr_table *t = make_table(cx, X, K, 1, y, NULL), *at = make_table(cx, grid, G, 1, zero, NULL);
    cr_model *m = fit(cx, "gp", t, "target=y features=x1 noise=0");
    cr_prediction p = predict(cx, m, at);
    assert_ok(cx, cr_sample_targets(cx, m, t, C, 1, out));
    for (size_t i = 0; i < K * C; i++) assert_close(out[i], y[i / C], 1e-5);
    assert_ok(cx, cr_sample_targets(cx, m, at, C, 1, out));
    for (size_t i = 0; i < G * C; i++)
        assert_close(out[i], p.mean[i / C], 6 * p.scale[i / C] + 1e-6);
}

static cr_status draw_all(cr_ctx *cx, void *user)
{
    double mean[2] = { 0, 1 }, S[4] = { 1, 1, 1, 1 }, prior[2] = { 1, 1 }, out[8];
    (void)user;
    return cri_gp_draw(cx, mean, S, 2, prior, 4, 1, out);
}

TEST(allocations) { test_every_allocation_fails(draw_all, NULL); }
