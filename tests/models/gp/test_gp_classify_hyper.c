/* test_gp_classify_hyper.c -- hyper-parameters of a Gaussian process classifier with few rows: priors, and the
 * average over settings, against quadrature; intervals of probabilities that hold what they say. */
#include "../fixture.h"

#include "math/special/special.h"
#include "models/core/parts.h"

#include <stdio.h>

/* --- what intervals hold ----------------------------------------------------------------------- */

typedef enum truth { FROM_PRIOR, CONSTANT, LINEAR } truth;
enum { MOST = 160, NEW = 20, ALL = MOST + NEW };

/* Latent values at x [n]. */
static void draw_function(cr_rng *r, truth kind, const double *x, size_t n, double *f)
{
    static double L[ALL * ALL];
    double        a = cr_rng_normal(r), b = 1.5 * cr_rng_normal(r), z[ALL];
    for (size_t i = 0; i < n; i++) f[i] = kind == LINEAR ? a + b * x[i] : a;
    if (kind != FROM_PRIOR) return;
    draw_normals(r, z, n);
    for (size_t i = 0; i < n; i++) {
        f[i] = 0;
        for (size_t j = 0; j <= i; j++) {
            double d = x[i] - x[j], sum = 4 * exp(-d * d / 2) + (i == j ? 1e-8 : 0);
            for (size_t k = 0; k < j; k++) sum -= L[i * ALL + k] * L[j * ALL + k];
            L[i * ALL + j] = i == j ? sqrt(fmax(sum, 1e-12)) : sum / L[j * ALL + j];
            f[i] += L[i * ALL + j] * z[j];
        }
    }
}

typedef struct held {
    double share, width, loss, base; /* of intervals that hold p; log losses */
} held;

static held simulate(cr_ctx *cx, truth kind, size_t n, size_t runs, const char *settings)
{
    held   sum = { 0 };
    double count = 0;
    for (uint64_t run = 0; run < runs; run++) {
        cr_rng r = cr_rng_stream(run, 40 + n);
        double x[ALL], f[ALL], y[MOST], low[2 * NEW], high[2 * NEW], ones = 0;
        for (size_t i = 0; i < n + NEW; i++) x[i] = 4 * cr_rng_uniform(&r) - 2;
        draw_function(&r, kind, x, n + NEW, f);
        for (size_t i = 0; i < n; i++) ones += y[i] = cr_rng_uniform(&r) < cr_sigmoid(f[i]);
        if (ones == 0 || ones == (double)n) continue;
        cr_model     *m = fit(cx, "gp-classify", make_table(cx, x, n, 1, y, NULL), settings);
        cr_table     *u = make_table(cx, x + n, NEW, 1, NULL, NULL);
        cr_prediction q = predict(cx, m, u);
        assert_ok(cx, cr_predict_probability_intervals(cx, m, u, 0.95, low, high));
        double share = (ones + 1) / ((double)n + 2);
        for (size_t i = 0; i < NEW; i++, count++) {
            double p = cr_sigmoid(f[n + i]);
            sum.share += low[2 * i + 1] <= p && p <= high[2 * i + 1];
            sum.width += high[2 * i + 1] - low[2 * i + 1];
            sum.loss -= p * log(q.prob[2 * i + 1]) + (1 - p) * log(q.prob[2 * i]);
            sum.base -= p * log(share) + (1 - p) * log(1 - share);
        }
    }
    return (held){ sum.share / count, sum.width / count, sum.loss / count, sum.base / count };
}

TEST(coverage_of_few_rows)
{
    static const size_t sizes[] = { 10, 20, 40, 80, 160 };
    static const char *names[] = { "prior", "constant", "linear" };
    const char *how[] = { "target=y task=classification hyper=best", "target=y task=classification hyper=map", "target=y task=classification" };
    for (truth kind = FROM_PRIOR; kind <= LINEAR; kind++)
        for (size_t k = 3; k < 5; k++)
            for (size_t w = 2; w < 3; w++) {
                held h = simulate(cx, kind, sizes[k], 100, how[w]);
                printf("%s n=%zu %s: held %.3f width %.3f loss %.4f base %.4f\n", names[kind], sizes[k], how[w] + 28, h.share,
                       h.width, h.loss, h.base);
            }
}
