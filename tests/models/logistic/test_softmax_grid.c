/* test_softmax_grid.c -- the mean of a softmax by a grid: laws, and draws of another kind. */
#include "support.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "math/special/special.h"
#include "models/common/softmax_grid.h"
#include "models/common/softmax_normal.h"

#include <math.h>

/* C [F x F] = A A^T and m [F]. */
static void draw_normal(size_t F, double size, cr_rng *r, double *m, double *C)
{
    double A[16];
    for (size_t i = 0; i < F * F; i++) A[i] = size * cr_rng_normal(r) / sqrt((double)F);
    for (size_t i = 0; i < F; i++) m[i] = cr_rng_normal(r);
    for (size_t i = 0; i < F; i++)
        for (size_t j = 0; j < F; j++) {
            C[i * F + j] = 0;
            for (size_t k = 0; k < F; k++) C[i * F + j] += A[i * F + k] * A[j * F + k];
        }
}

/* A certain f gives its softmax; probabilities add up to one; what is added to all functions, and
 * the order of the functions, do not matter. */
TEST(laws)
{
    cr_rng r = cr_rng_stream(1, 1);
    for (size_t F = 3; F <= 4; F++) {
        double m[4], C[16], p[4], q[4], none[16] = { 0 };
        for (int round = 0; round < 5; round++) {
            double sum = 0, turned[4], T[16];
            draw_normal(F, 0.4 + 0.4 * round, &r, m, C);
            cri_softmax_grid(F, m, none, p);
            cr_softmax(m, F, q);
            for (size_t k = 0; k < F; k++) assert_close(p[k], q[k], 1e-13);
            cri_softmax_grid(F, m, C, p);
            for (size_t k = 0; k < F; k++) sum += p[k];
            assert_close(sum, 1, 1e-12);
            for (size_t i = 0; i < F;
                 i++) { /* the functions moved on by one, and 3 more of a shared unknown */
                turned[(i + 1) % F] = m[i] + 100;
                for (size_t j = 0; j < F; j++) T[(i + 1) % F * F + (j + 1) % F] = C[i * F + j] + 3;
            }
            cri_softmax_grid(F, turned, T, q);
            for (size_t k = 0; k < F; k++) assert_close(q[(k + 1) % F], p[k], F == 3 ? 1e-6 : 1e-4);
        }
    }
}

/* Draws of the normal itself: narrow, wide, and so wide that the softmax is as good as a step. */
TEST(draws)
{
    const double sizes[] = { 1, 6, 20 };
    cr_rng       r = cr_rng_stream(2, 1);
    for (size_t round = 0; round < 4; round++) {
        size_t F = round < 3 ? 3 : 4, draws = round == 1 ? 1000000 : 200000;
        double size = sizes[round % 3], m[4], A[16], C[16] = { 0 }, p[4], mean[4] = { 0 };
        for (size_t i = 0; i < F * F; i++) A[i] = size * cr_rng_normal(&r);
        for (size_t i = 0; i < F; i++) m[i] = size * cr_rng_normal(&r);
        for (size_t i = 0; i < F; i++)
            for (size_t j = 0; j < F; j++)
                for (size_t k = 0; k < F; k++) C[i * F + j] += A[i * F + k] * A[j * F + k];
        for (size_t n = 0; n < draws; n++) {
            double z[4], f[4];
            for (size_t k = 0; k < F; k++) z[k] = cr_rng_normal(&r);
            for (size_t i = 0; i < F; i++) {
                f[i] = m[i];
                for (size_t k = 0; k < F; k++) f[i] += A[i * F + k] * z[k];
            }
            cr_softmax(f, F, f);
            for (size_t k = 0; k < F; k++) mean[k] += f[k] / (double)draws;
        }
        cri_softmax_grid(F, m, C, p);
        for (size_t k = 0; k < F; k++) /* four sds of the mean of the draws */
            assert_close(p[k], mean[k], 4 * sqrt(p[k] * (1 - p[k]) / (double)draws) + 1e-6);
    }
}

/* More scores, by the lattice: within 5e-4 of what draws say. */
TEST(lattice)
{
    enum { M = 6, DRAWS = 400000 };
    cr_scratch s = cr_scratch_begin(cx);
    cr_rng     r = cr_rng_stream(4, 1);
    size_t     count = cri_softmax_count(M);
    double    *points = cr_scratch_matrix(&s, count, M), L[M * M] = { 0 }, m[M], p[M], workspace[M];
    double     mean[M] = { 0 };
    assert_ok(cx, s.status);
    for (size_t i = 0; i < M; i++) {
        m[i] = cr_rng_normal(&r);
        for (size_t k = 0; k <= i; k++) L[i * M + k] = cr_rng_normal(&r);
    }
    for (size_t n = 0; n < DRAWS; n++) {
        double z[M], f[M];
        for (size_t k = 0; k < M; k++) z[k] = cr_rng_normal(&r);
        for (size_t i = 0; i < M; i++) {
            f[i] = m[i];
            for (size_t k = 0; k <= i; k++) f[i] += L[i * M + k] * z[k];
        }
        cr_softmax(f, M, f);
        for (size_t k = 0; k < M; k++) mean[k] += f[k] / DRAWS;
    }
    cri_softmax_points(M, count, points);
    cri_softmax_whiten(M, count, points);
    cri_softmax_normal(points, count, M, m, L, workspace, p);
    for (size_t k = 0; k < M; k++)
        assert_close(p[k], mean[k], 5e-4 + 4 * sqrt(p[k] * (1 - p[k]) / DRAWS));
    cr_scratch_end(&s);
}

/* Cholesky's factor of the differences from the last score. */
static void factor_differences(size_t F, const double *C, double *L)
{
    size_t D = F - 1;
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = C[i * F + j] - C[i * F + D] - C[D * F + j] + C[D * F + D];
            for (size_t k = 0; k < j; k++) sum -= L[i * D + k] * L[j * D + k];
            L[i * D + j] = i == j ? sqrt(fmax(sum, 0)) : sum / L[j * D + j];
        }
}

/* Three scores by a plain sum over a fine grid of both dimensions, at most a logit a step. */
static void sum_finely(const double *m, const double *C, double *out)
{
    double L[4], sd = 0, sum = 0;
    factor_differences(3, C, L);
    sd = fmax(fabs(L[0]), fmax(fabs(L[2]) + fabs(L[0]), L[3]));
    double h = fmin(0.05, 1.0 / sd);
    out[0] = out[1] = out[2] = 0;
    for (double a = -6; a <= 6; a += h)
        for (double b = -6; b <= 6; b += h) {
            double w = exp(-0.5 * (a * a + b * b)), x = m[0] - m[2] + L[0] * a;
            double y = m[1] - m[2] + L[2] * a + L[3] * b, top = fmax(0, fmax(x, y));
            double e = exp(x - top), f = exp(y - top), g = exp(-top), all = e + f + g;
            out[0] += w * e / all;
            out[1] += w * f / all;
            out[2] += w * g / all;
            sum += w;
        }
    for (size_t k = 0; k < 3; k++) out[k] /= sum;
}

/* Wide normals are as good as narrow ones. */
TEST(wide)
{
    cr_rng       r = cr_rng_stream(3, 1);
    const double sizes[5] = { 1, 3, 8, 20, 40 };
    for (size_t i = 0; i < 5; i++) {
        double m[3], C[9], p[3], q[3];
        draw_normal(3, sizes[i], &r, m, C);
        cri_softmax_grid(3, m, C, p);
        sum_finely(m, C, q);
        for (size_t k = 0; k < 3; k++) assert_close(p[k], q[k], 1e-6);
    }
}

/* Scores that nothing tells apart are equally probable, however wide. */
TEST(symmetry)
{
    for (size_t F = 3; F <= 4; F++)
        for (double sd = 0.5; sd < 300; sd *= 3) {
            double m[4] = { 7, 7, 7, 7 }, C[16] = { 0 }, p[4];
            for (size_t i = 0; i < F; i++) C[i * F + i] = sd * sd;
            cri_softmax_grid(F, m, C, p);
            double most = F == 3 ? 1e-6 : 3e-4;
            for (size_t k = 0; k < F; k++) assert_close(p[k], 1 / (double)F, most);
        }
}
