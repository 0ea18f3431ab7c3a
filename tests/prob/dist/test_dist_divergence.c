/* test_dist_divergence.c -- entropies and divergences that are sums over all points or integrals:
 * enumerated, integrated over the plane, and one distribution against another that contains it. */
#include "support.h"
#include "math/quadrature.h"
#include "math/special/special.h"
#include "prob/dist/dist.h"
#include "prob/dist/dist_class.h"

static double vector_kl(cr_ctx *cx, const cr_dist_class *c, const double *p, const double *q,
                        size_t n)
{
    double kl = NAN;
    assert_ok(cx, cr_dist_vector_kl(cx, c, p, q, n, &kl));
    return kl;
}

static double scalar_kl(cr_ctx *cx, const cr_dist_class *c, const double *p, const double *q,
                        size_t n)
{
    double kl = NAN;
    assert_ok(cx, cr_dist_kl(cx, c, p, n, q, n, &kl));
    return kl;
}

static double vector_entropy(cr_ctx *cx, const cr_dist_class *c, const double *p, size_t n)
{
    double h = NAN;
    assert_ok(cx, cr_dist_vector_entropy(cx, c, p, n, &h));
    return h;
}

/* --- counts ---------------------------------------------------------------------------------- */

typedef struct sums {
    double entropy, kl;
} sums;

/* By the definition, over all counts of d kinds that sum to n. */
static void enumerate(cr_ctx *cx, const cr_dist_class *c, const double *p, const double *q,
                      size_t d, size_t place, double left, double *x, sums *s)
{
    if (place + 1 < d) {
        for (x[place] = 0; x[place] <= left; x[place]++)
            enumerate(cx, c, p, q, d, place + 1, left - x[place], x, s);
        return;
    }
    double log_p = 0, log_q = 0;
    x[place] = left;
    assert_ok(cx, cr_dist_vector_logpdf(cx, c, p, d + 1, x, 1, &log_p));
    assert_ok(cx, cr_dist_vector_logpdf(cx, c, q, d + 1, x, 1, &log_q));
    if (log_p == -INFINITY) return;
    s->entropy -= exp(log_p) * log_p;
    s->kl += exp(log_p) * (log_p - log_q);
}

TEST(counts)
{
    static const struct {
        const cr_dist_class *c;
        size_t               d;
        double               p[5], q[5];
    } cases[] = {
        { &cri_dist_multinomial, 3, { 9, 0.2, 0.3, 0.5 }, { 9, 0.25, 0.35, 0.4 } },
        { &cri_dist_multinomial, 4, { 6, 0.05, 0.15, 0.5, 0.3 }, { 6, 0.1, 0.2, 0.3, 0.4 } },
        { &cri_dist_multinomial, 3, { 7, 0, 1, 0 }, { 7, 0.2, 0.5, 0.3 } },
        { &cri_dist_multinomial, 3, { 0, 0.2, 0.3, 0.5 }, { 0, 0.1, 0.3, 0.6 } },
        { &cri_dist_multinomial, 1, { 4, 1 }, { 4, 1 } },
        { &cri_dist_dirichlet_multinomial, 3, { 9, 2, 3, 5 }, { 9, 2.5, 3.5, 4 } },
        { &cri_dist_dirichlet_multinomial, 4, { 6, 0.2, 0.7, 3, 40 }, { 6, 1, 1, 1, 1 } },
        { &cri_dist_dirichlet_multinomial, 3, { 1, 0.01, 100, 3 }, { 1, 5, 5, 5 } },
        { &cri_dist_dirichlet_multinomial, 3, { 0, 2, 3, 5 }, { 0, 1, 1, 1 } },
        { &cri_dist_dirichlet_multinomial, 1, { 4, 2 }, { 4, 3 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t d = cases[i].d;
        double x[4];
        sums   s = { 0, 0 };
        enumerate(cx, cases[i].c, cases[i].p, cases[i].q, d, 0, cases[i].p[0], x, &s);
        assert_close(vector_entropy(cx, cases[i].c, cases[i].p, d + 1), s.entropy, 1e-12);
        assert_close(vector_kl(cx, cases[i].c, cases[i].p, cases[i].q, d + 1), s.kl, 1e-12);
    }
}

/* Two kinds are the binomial and the beta-binomial, up to counts where log n! has lost all digits
 * that matter. */
TEST(two_kinds)
{
    for (double n = 1; n <= 1e6; n *= 100) {
        double m[] = { n, 0.3, 0.7 }, b[] = { n, 0.3 }, wanted = 0;
        assert_ok(cx, cr_dist_entropy(cx, &cri_dist_binomial, b, 2, &wanted));
        assert_relative(vector_entropy(cx, &cri_dist_multinomial, m, 3), wanted, 1e-11);
        if (n > 1e4) continue;
        double dm[] = { n, 0.4, 2.2 }, other[] = { n, 1.4, 0.7 };
        assert_ok(cx, cr_dist_entropy(cx, &cri_dist_beta_binomial, dm, 3, &wanted));
        assert_relative(vector_entropy(cx, &cri_dist_dirichlet_multinomial, dm, 3), wanted, 1e-11);
        assert_relative(vector_kl(cx, &cri_dist_dirichlet_multinomial, dm, other, 3),
                        scalar_kl(cx, &cri_dist_beta_binomial, dm, other, 3), 1e-10);
    }
    /* very large alpha: a multinomial */
    double dm[] = { 30, 2e9, 3e9, 5e9 }, m[] = { 30, 0.2, 0.3, 0.5 };
    assert_relative(vector_entropy(cx, &cri_dist_dirichlet_multinomial, dm, 4),
                    vector_entropy(cx, &cri_dist_multinomial, m, 4), 1e-7);
}

TEST(too_many_counts)
{
    double m[] = { 9e15, 0.3, 0.7 }, dm[] = { 1e9, 2, 3 }, less[] = { 1e8, 2, 3 }, out = 7;
    assert_fails_with(cx, cr_dist_vector_entropy(cx, &cri_dist_multinomial, m, 3, &out),
                      CR_ENUMERIC, "20 million");
    assert_fails_with(cx, cr_dist_vector_entropy(cx, &cri_dist_dirichlet_multinomial, dm, 3, &out),
                      CR_ENUMERIC, "20 million");
    assert_fails_with(cx, cr_dist_vector_kl(cx, &cri_dist_dirichlet_multinomial, dm, dm, 3, &out),
                      CR_ENUMERIC, "20 million");
    assert_true(out == 7);
    assert_true(vector_kl(cx, &cri_dist_dirichlet_multinomial, dm, less, 3) == INFINITY);
}

/* --- the line -------------------------------------------------------------------------------- */

/* For one degree of freedom the divergence is closed: log[((s + s')^2 + (m - m')^2) / (4 s s')].
 * Chyzak & Nielsen (2019). */
TEST(t_is_cauchy)
{
    static const double cases[][4] = { { 0, 1, 0, 1.0001 }, { 0, 1, 3, 2 },   { 5, 0.1, -7, 40 },
                                       { 0, 1, 1e6, 1e-3 }, { 0, 1, 0, 1e8 }, { 1e5, 3, 1e5, 3.3 },
                                       { 0, 1, 0, 1e-9 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double *c = cases[i];
        double        p[] = { 1, c[0], c[1] }, q[] = { 1, c[2], c[3] };
        double sum = c[1] + c[3], off = c[0] - c[2], r = (c[1] - c[3]) * (c[1] - c[3]) + off * off;
        double wanted = sum > 1e3 * fabs(c[1] - c[3]) && off == 0
                            ? log1p(r / (4 * c[1] * c[3]))
                            : log((sum * sum + off * off) / (4 * c[1] * c[3]));
        assert_relative(scalar_kl(cx, &cri_dist_student_t, p, q, 3), wanted, 2e-10);
        double mp[] = { 1, c[0], c[1] * c[1] }, mq[] = { 1, c[2], c[3] * c[3] };
        double got = vector_kl(cx, &cri_dist_mvt, mp, mq, 3);
        assert_true(fabs(got - wanted) <= 1e-11 * wanted + 2e-13);
    }
}

/* Very many degrees of freedom are a normal; few are integrated two ways. */
TEST(t)
{
    static const double df[] = { 0.02, 0.3, 1.7, 5, 30, 1e4 };
    double              far_p[] = { 1e12, 0.5, 2 }, far_q[] = { 1e12, 1, 3 }, n_p[] = { 0.5, 2 },
           n_q[] = { 1, 3 };
    assert_relative(scalar_kl(cx, &cri_dist_student_t, far_p, far_q, 3),
                    scalar_kl(cx, &cri_dist_normal, n_p, n_q, 2), 1e-9);
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++) {
            double p[] = { df[i], 0.3, 1.5 }, q[] = { df[j], -1, 0.6 };
            double mp[] = { df[i], 0.3, 2.25 }, mq[] = { df[j], -1, 0.36 };
            double line = scalar_kl(cx, &cri_dist_student_t, p, q, 3);
            assert_relative(vector_kl(cx, &cri_dist_mvt, mp, mq, 3), line, 1e-9);
        }
}

/* Near itself the divergence is half the Fisher information times the square of the step:
 * location (nu + 1) / (nu + 3) / s^2 for the t, 1 / (3 s^2) for the logistic. */
TEST(small_steps)
{
    for (double h = 1e-2; h > 1e-5; h /= 10) {
        double p[] = { 4, 1, 2 }, q[] = { 4, 1 + h, 2 }, a[] = { 1, 2 }, b[] = { 1 + h, 2 };
        assert_relative(scalar_kl(cx, &cri_dist_student_t, p, q, 3), 0.5 * (5.0 / 7) / 4 * h * h,
                        0.1 * h + 1e-8);
        assert_relative(scalar_kl(cx, &cri_dist_logistic, a, b, 2), 0.5 / 3 / 4 * h * h,
                        0.1 * h + 1e-8);
    }
    double p[] = { 4, 1, 2 };
    assert_true(scalar_kl(cx, &cri_dist_student_t, p, p, 3) == 0);
}

/* Logistic at the same scale: E_p log q has the closed form of the mean of a softplus.  With
 * D = (m' - m) / s,  KL = D coth(D / 2) - 2  (by contour integration; checked at two limits:
 * D^2 / 6 for small D, D - 2 for large). */
TEST(logistic)
{
    for (double D = 0.5; D < 1e4; D *= 3) {
        double p[] = { 1, 2 }, q[] = { 1 + 2 * D, 2 }, mirror[] = { 1 - 2 * D, 2 };
        double wanted = D / tanh(0.5 * D) - 2;
        assert_relative(scalar_kl(cx, &cri_dist_logistic, p, q, 2), wanted, 1e-10);
        assert_relative(scalar_kl(cx, &cri_dist_logistic, p, mirror, 2), wanted, 1e-10);
    }
    double narrow[] = { 0, 1e-6 }, wide[] = { 0, 1e6 }; /* wide is flat there, narrow a Laplace */
    assert_relative(scalar_kl(cx, &cri_dist_logistic, narrow, wide, 2), log(4e6) - log(1e-6) - 2,
                    1e-9);
    assert_relative(scalar_kl(cx, &cri_dist_logistic, wide, narrow, 2),
                    2 * M_LN2 * 1e12 + log(1e-6) - log(1e6) - 2, 1e-9);
}

/* --- the plane ------------------------------------------------------------------------------- */

typedef struct plane {
    cr_ctx       *cx;
    const double *p, *q;
    double        u;
} plane;

static double log_mvt(const plane *k, const double *p, double u, double v)
{
    double x[] = { sinh(u), sinh(v) }, out = NAN;
    assert_ok(k->cx, cr_dist_vector_logpdf(k->cx, &cri_dist_mvt, p, 7, x, 1, &out));
    return out + log(cosh(u)) + log(cosh(v));
}

static double inner(double v, void *user)
{
    const plane *k = user;
    double       log_p = log_mvt(k, k->p, k->u, v);
    return exp(log_p) * (log_p - log_mvt(k, k->q, k->u, v));
}

static double outer(double u, void *user)
{
    plane *k = user;
    double sum = NAN;
    k->u = u;
    assert_ok(k->cx, cr_integrate(k->cx, inner, k, -30, 30, 1e-8, 1e-7, &sum, NULL));
    return sum;
}

TEST(plane)
{
    static const double cases[][2][7] = {
        { { 4, 0.3, -1, 2, 0.6, 0.6, 1 }, { 7, 0, 0.5, 1, -0.2, -0.2, 2 } },
        { { 2, 0, 0, 1, 0, 0, 1 }, { 1, 1, 1, 3, 1, 1, 0.5 } },
    };
    for (size_t i = 0; i < 2; i++) {
        plane  k = { cx, cases[i][0], cases[i][1], 0 };
        double wanted = 0;
        assert_ok(cx, cr_integrate(cx, outer, &k, -30, 30, 1e-7, 1e-6, &wanted, NULL));
        assert_relative(vector_kl(cx, &cri_dist_mvt, k.p, k.q, 7), wanted, 1e-5);
    }
}

/* In many dimensions: a linear map of x changes nothing; many degrees of freedom are a normal. */
TEST(many_dimensions)
{
    enum { D = 5, N = 1 + D + D * D };
    cr_rng r = cr_rng_stream(41, 0);
    double p[N] = { 3 }, q[N] = { 6 }, mp[N] = { 3 }, mq[N] = { 6 }, F[D];
    for (size_t i = 0; i < D; i++) { /* diagonal scales, then the same stretched by F */
        F[i] = exp(cr_rng_normal(&r));
        p[1 + i] = cr_rng_normal(&r), q[1 + i] = cr_rng_normal(&r);
        mp[1 + i] = F[i] * p[1 + i], mq[1 + i] = F[i] * q[1 + i];
    }
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            p[1 + D + i * D + j] = (i == j ? 1.5 : 0.3), q[1 + D + i * D + j] = (i == j ? 1 : -0.1);
            mp[1 + D + i * D + j] = F[i] * F[j] * p[1 + D + i * D + j];
            mq[1 + D + i * D + j] = F[i] * F[j] * q[1 + D + i * D + j];
        }
    assert_relative(vector_kl(cx, &cri_dist_mvt, mp, mq, N), vector_kl(cx, &cri_dist_mvt, p, q, N),
                    1e-11);
    p[0] = q[0] = 1e9;
    assert_relative(vector_kl(cx, &cri_dist_mvt, p, q, N),
                    vector_kl(cx, &cri_dist_mvn, p + 1, q + 1, N - 1), 1e-7);
    assert_true(vector_kl(cx, &cri_dist_mvt, p, p, N) == 0);
}

/* --- inverse Gaussian ------------------------------------------------------------------------ */

static double ig_surprise(double u, void *user)
{
    double x = exp(u), log_p = cri_dist_logpdf(&cri_dist_inverse_gaussian, (cri_par){ user, 2 }, x);
    return exp(log_p + u) > 0 ? -exp(log_p + u) * log_p : 0;
}

TEST(inverse_gaussian)
{
    static const double cases[][2] = { { 1, 3 },   { 2, 0.2 },  { 1, 0.49999 }, { 1, 0.50001 },
                                       { 5, 1e4 }, { 1, 1e-3 }, { 40, 3 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double p[] = { cases[i][0], cases[i][1] }, got = 0, sum = 0, part = 0;
        double mode = log(cri_dist_inverse_gaussian.mode((cri_par){ p, 2 }));
        assert_ok(cx, cr_dist_entropy(cx, &cri_dist_inverse_gaussian, p, 2, &got));
        for (double from = -60; from < 60; from += 1) {
            assert_ok(cx, cr_integrate(cx, ig_surprise, p, mode + from, mode + from + 1, 1e-14,
                                       1e-13, &part, NULL));
            sum += part;
        }
        assert_close(got, sum, 1e-11);
    }
    /* mean to infinity: the first passage without drift, whose entropy is (1 + 3 gamma + log(16 pi
     * l^2)) / 2 */
    double levy[] = { 1e290, 2 }, got = 0;
    assert_ok(cx, cr_dist_entropy(cx, &cri_dist_inverse_gaussian, levy, 2, &got));
    assert_relative(got, 0.5 * (1 + 3 * 0.57721566490153286061 + log(16 * M_PI * 4)), 1e-14);
    double sharp[] = { 1, 1e12 }, normal[] = { 1, 1e-6 }, wanted = 0;
    assert_ok(cx, cr_dist_entropy(cx, &cri_dist_inverse_gaussian, sharp, 2, &got));
    assert_ok(cx, cr_dist_entropy(cx, &cri_dist_normal, normal, 2, &wanted));
    assert_relative(got, wanted, 1e-11);
}

/* --- memory ---------------------------------------------------------------------------------- */

static cr_status all_integrals(cr_ctx *cx, void *unused)
{
    cr_status st = CR_OK;
    double    t[] = { 3, 0, 1 }, u[] = { 4, 1, 2 }, a[] = { 0, 1 }, b[] = { 1, 2 }, out = 0;
    double    mt[] = { 3, 0, 0, 1, 0, 0, 1 }, mu[] = { 4, 1, 0, 2, 0.5, 0.5, 1 };
    (void)unused;
    CR_TRY(cr_dist_kl(cx, &cri_dist_student_t, t, 3, u, 3, &out));
    CR_TRY(cr_dist_kl(cx, &cri_dist_logistic, a, 2, b, 2, &out));
    CR_TRY(cr_dist_vector_kl(cx, &cri_dist_mvt, mt, mu, 7, &out));
done:
    return st;
}

/* Paretos that start at different places: E_p log p / q over the quantiles of p. */
typedef struct two_paretos {
    const cr_dist_class *c;
    const double        *p, *q;
} two_paretos;

static double pareto_gain(double u, void *user)
{
    const two_paretos *k = user;
    double             x = cri_dist_quantile(k->c, (cri_par){ k->p, 3 }, u);
    return cri_dist_logpdf(k->c, (cri_par){ k->p, 3 }, x) -
           cri_dist_logpdf(k->c, (cri_par){ k->q, 3 }, x);
}

TEST(pareto)
{
    static const double v[][2][3] = {
        { { 0, 2, 3 }, { -1, 1.5, 2 } },
        { { 1, 0.5, 0.7 }, { 0, 1.2, 4 } },
        { { -3, 5, 10 }, { 1, 0.4, 9 } },
    };
    const cr_dist_class *c = cr_dist_find(cx, "pareto");
    double               kl, expected;
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        two_paretos k = { c, v[i][0], v[i][1] };
        assert_ok(cx, cr_integrate(cx, pareto_gain, &k, 0, 1, 1e-10, 1e-10, &expected, NULL));
        assert_ok(cx, cr_dist_kl(cx, c, v[i][0], 3, v[i][1], 3, &kl));
        assert_close(kl, expected, 1e-8);
        assert_ok(cx, cr_dist_kl(cx, c, v[i][1], 3, v[i][0], 3, &kl)); /* it begins outside */
        assert_true(isinf(kl));
    }
    assert_fails_with(cx, cr_dist_check(cx, c, (double[]){ 1e20, 1, 2 }, 3), CR_EARG,
                      "is lost next to");
}

TEST(allocations) { test_every_allocation_fails(all_integrals, NULL); }
