/* test_classify_grid.c -- the mean of a softmax by a grid: laws, and draws of another kind. */
#include "support.h"
#include "base/rng.h"
#include "math/special.h"
#include "models/gp/classify_grid.h"

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

/* A certain f gives its softmax; probabilities add up to one; what is added to all functions, and the order
 * of the functions, do not matter. */
static void test_laws(void **state)
{
    (void)state;
    cr_ctx *cx = test_context();
    cr_rng  r = cr_rng_stream(1, 1);
    for (size_t F = 3; F <= 4; F++) {
        cr_scratch        s = cr_scratch_begin(cx);
        cri_classify_grid g;
        double            m[4], C[16], p[4], q[4], none[16] = { 0 };
        assert_ok(cx, cri_classify_grid_new(&s, F, &g));
        for (int round = 0; round < 5; round++) {
            double sum = 0, turned[4], T[16];
            draw_normal(F, 0.4 + 0.4 * round, &r, m, C);
            cri_classify_grid_mean(&g, m, none, p);
            cr_softmax(m, F, q);
            for (size_t k = 0; k < F; k++) assert_close(p[k], q[k], 1e-13);
            cri_classify_grid_mean(&g, m, C, p);
            for (size_t k = 0; k < F; k++) sum += p[k];
            assert_close(sum, 1, 1e-12);
            for (size_t i = 0; i < F; i++) { /* the functions moved on by one, and 3 more of a shared unknown */
                turned[(i + 1) % F] = m[i] + 100;
                for (size_t j = 0; j < F; j++) T[(i + 1) % F * F + (j + 1) % F] = C[i * F + j] + 3;
            }
            cri_classify_grid_mean(&g, turned, T, q);
            for (size_t k = 0; k < F; k++) assert_close(q[(k + 1) % F], p[k], F == 3 ? 1e-6 : 1e-4);
        }
        cr_scratch_end(&s);
    }
    test_context_free(cx);
}

/* Draws of the normal itself, as many as tell 1e-3. */
static void test_draws(void **state)
{
    (void)state;
    enum { DRAWS = 200000 };
    cr_ctx *cx = test_context();
    cr_rng  r = cr_rng_stream(2, 1);
    for (size_t F = 3; F <= 4; F++) {
        cr_scratch        s = cr_scratch_begin(cx);
        cri_classify_grid g;
        double            m[4], A[16], C[16] = { 0 }, p[4], mean[4] = { 0 };
        assert_ok(cx, cri_classify_grid_new(&s, F, &g));
        for (size_t i = 0; i < F * F; i++) A[i] = cr_rng_normal(&r);
        for (size_t i = 0; i < F; i++) m[i] = cr_rng_normal(&r);
        for (size_t i = 0; i < F; i++)
            for (size_t j = 0; j < F; j++)
                for (size_t k = 0; k < F; k++) C[i * F + j] += A[i * F + k] * A[j * F + k];
        for (size_t n = 0; n < DRAWS; n++) {
            double z[4], f[4];
            for (size_t k = 0; k < F; k++) z[k] = cr_rng_normal(&r);
            for (size_t i = 0; i < F; i++) {
                f[i] = m[i];
                for (size_t k = 0; k < F; k++) f[i] += A[i * F + k] * z[k];
            }
            cr_softmax(f, F, f);
            for (size_t k = 0; k < F; k++) mean[k] += f[k] / DRAWS;
        }
        cri_classify_grid_mean(&g, m, C, p);
        for (size_t k = 0; k < F; k++) assert_close(p[k], mean[k], 4e-3);
        cr_scratch_end(&s);
    }
    test_context_free(cx);
}

/* Cholesky's factor of the differences from the last function. */
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

/* Three functions by a plain sum over a fine grid of both dimensions, at most a logit a step. */
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
static void test_wide(void **state)
{
    (void)state;
    cr_ctx           *cx = test_context();
    cr_rng            r = cr_rng_stream(3, 1);
    cr_scratch        s = cr_scratch_begin(cx);
    cri_classify_grid g;
    const double      sizes[5] = { 1, 3, 8, 20, 40 };
    assert_ok(cx, cri_classify_grid_new(&s, 3, &g));
    for (size_t i = 0; i < 5; i++) {
        double m[3], C[9], p[3], q[3];
        draw_normal(3, sizes[i], &r, m, C);
        cri_classify_grid_mean(&g, m, C, p);
        sum_finely(m, C, q);
        for (size_t k = 0; k < 3; k++) assert_close(p[k], q[k], 1e-6);
    }
    cr_scratch_end(&s);
    test_context_free(cx);
}

/* Functions that nothing tells apart are equally probable, however wide. */
static void test_symmetry(void **state)
{
    (void)state;
    cr_ctx *cx = test_context();
    for (size_t F = 3; F <= 4; F++) {
        cr_scratch        s = cr_scratch_begin(cx);
        cri_classify_grid g;
        assert_ok(cx, cri_classify_grid_new(&s, F, &g));
        for (double sd = 0.5; sd < 300; sd *= 3) {
            double m[4] = { 7, 7, 7, 7 }, C[16] = { 0 }, p[4];
            for (size_t i = 0; i < F; i++) C[i * F + i] = sd * sd;
            cri_classify_grid_mean(&g, m, C, p);
            double most = F == 3 ? 1e-6 : 3e-4;
            for (size_t k = 0; k < F; k++) assert_close(p[k], 1 / (double)F, most);
        }
        cr_scratch_end(&s);
    }
    test_context_free(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_laws), cmocka_unit_test(test_draws),
                                        cmocka_unit_test(test_wide), cmocka_unit_test(test_symmetry) };
    return cmocka_run_group_tests_name("classify grid", tests, NULL, NULL);
}
