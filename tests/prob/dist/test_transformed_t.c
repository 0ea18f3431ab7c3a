/* test_transformed_t.c -- numbers whose transform is Student's t: against quadrature, draws and closed forms. */
#include "support.h"
#include "math/quadrature.h"
#include "prob/dist/transformed_t.h"

#include <math.h>

typedef struct trial {
    cri_transform t;
    double        par[CRI_TRANSFORMED_PARAMS];
} trial;

static const trial trials[] = {
    { { CRI_TRANSFORM_LOG, 0 }, { 0.7, 0.4, 5, 0 } },
    { { CRI_TRANSFORM_SQRT, 0 }, { 1.9, 0.7, INFINITY, 0 } },
    { { CRI_TRANSFORM_SQRT, 0 }, { 0.5, 0.7, 6, 0 } },
    { { CRI_TRANSFORM_LOGIT, 0 }, { -0.6, 1.3, 4, 0 } },
    { { CRI_TRANSFORM_BOXCOX, 0.3 }, { 1.2, 0.8, INFINITY, 0.3 } },
    { { CRI_TRANSFORM_BOXCOX, -0.1 }, { 0.4, 0.5, INFINITY, -0.1 } },
    { { CRI_TRANSFORM_BOXCOX, 1.7 }, { 0.2, 0.9, 9, 1.7 } },
};
enum { TRIALS = sizeof trials / sizeof *trials };

/* The way back, and the slope by differences. */
TEST(functions)
{
    static const double ys[] = { 0.013, 0.21, 0.5, 0.77, 0.998 };
    for (size_t k = 0; k < TRIALS; k++)
        for (size_t i = 0; i < 5; i++) {
            cri_transform t = trials[k].t;
            double        y = ys[i] * (t.kind == CRI_TRANSFORM_LOGIT ? 1 : 13), h = 1e-6 * y;
            double        z = cri_transform_forward(t, y);
            assert_relative(cri_transform_back(t, z), y, 1e-12);
            double up = cri_transform_forward(t, y + h), down = cri_transform_forward(t, y - h);
            if (y + h < 1 || t.kind != CRI_TRANSFORM_LOGIT)
                assert_close(cri_transform_log_slope(t, y), log((up - down) / (2 * h)), 1e-6);
        }
    assert_false(cri_transform_takes((cri_transform){ CRI_TRANSFORM_LOG, 0 }, 0));
    assert_false(cri_transform_takes((cri_transform){ CRI_TRANSFORM_LOGIT, 0 }, 1));
    assert_close(cri_transform_back((cri_transform){ CRI_TRANSFORM_SQRT, 0 }, -2), 0, 0);
    assert_close(cri_transform_back((cri_transform){ CRI_TRANSFORM_BOXCOX, 0.5 }, -2.5), 0, 0);
    assert_true(isinf(cri_transform_back((cri_transform){ CRI_TRANSFORM_BOXCOX, -0.5 }, 2)));
}

static double density(double y, void *user)
{
    const trial *k = user;
    return exp(cri_dist_transformed(k->t.kind)->logpdf((cri_par){ k->par, 4 }, y));
}

/* What the density adds up to between two points is what the tails say; quantiles undo tails. */
TEST(density_tails_quantiles)
{
    for (size_t k = 0; k < TRIALS; k++) {
        trial                it = trials[k];
        const cr_dist_class *c = cri_dist_transformed(it.t.kind);
        size_t               n = cri_dist_transformed_params(it.t.kind);
        double               a, b, Fa, Fb, mass;
        assert_ok(cx, cr_dist_quantile(cx, c, it.par, n, 0.35, &a));
        assert_ok(cx, cr_dist_quantile(cx, c, it.par, n, 0.93, &b));
        assert_ok(cx, cr_dist_cdf(cx, c, it.par, n, a, &Fa));
        assert_ok(cx, cr_dist_cdf(cx, c, it.par, n, b, &Fb));
        assert_close(Fa, 0.35, 1e-12);
        assert_close(Fb, 0.93, 1e-12);
        assert_ok(cx, cr_integrate(cx, density, &it, a, b, 1e-12, 1e-10, &mass, NULL));
        assert_close(mass, 0.58, 1e-9);
    }
}

/* Mean, variance and score of a normal transform, from draws by equal shares. */
TEST(moments_and_score)
{
    enum { SHARES = 400000 };
    for (size_t k = 0; k < TRIALS; k++) {
        trial it = trials[k];
        it.par[2] = INFINITY;
        const cr_dist_class *c = cri_dist_transformed(it.t.kind);
        cri_par              par = { it.par, cri_dist_transformed_params(it.t.kind) };
        double               y = c->quantile(par, 0.8), mean = 0, square = 0, near = 0, ranked = 0;
        for (size_t i = 0; i < SHARES; i++) {
            double u = ((double)i + 0.5) / SHARES, x = c->quantile(par, u);
            mean += x / SHARES, square += x * x / SHARES, near += fabs(x - y) / SHARES;
            ranked += (2 * u - 1) * x / SHARES; /* half the mean distance of two draws */
        }
        assert_relative(c->mean(par), mean, 2e-4);
        assert_relative(c->variance(par), square - mean * mean, 5e-3);
        assert_relative(c->crps(par, y), near - ranked, 1e-3);
    }
    double log_normal[] = { 0.7, 0.4, INFINITY }, t[] = { 0.7, 0.4, 10 }, few[] = { 0.7, 0.4, 2 };
    const cr_dist_class *c = cri_dist_transformed(CRI_TRANSFORM_LOG);
    assert_relative(c->mean((cri_par){ log_normal, 3 }), exp(0.78), 1e-14);
    assert_relative(c->mean((cri_par){ t, 3 }), exp(0.7 + 0.08 * 10 / 8), 1e-14);
    assert_true(isnan(c->mean((cri_par){ few, 3 })));
}
