/* test_gaussian.c -- the algebra of Gaussians against inverses in long double, one form against the
 * other, and laws: Bayes' rule is conditioning of the joint, one observation after the other is all
 * at once, marginals of conditionals commute. */
#include "naive.h"
#include "math/special/special.h"

static cr_canonical *canonical(cr_ctx *cx, const cr_gaussian *g)
{
    cr_canonical *c = NULL;
    assert_ok(cx, cr_gaussian_to_canonical(cx, g, &c));
    return c;
}

static cr_gaussian *moments(cr_ctx *cx, cr_canonical *c)
{
    cr_gaussian *g = NULL;
    assert_ok(cx, cr_canonical_to_gaussian(cx, c, &g));
    cr_canonical_free(cx, c);
    return g;
}

static void random_point(cr_rng *r, size_t d, double *x)
{
    for (size_t i = 0; i < d; i++) x[i] = 4 * cr_rng_normal(r);
}

/* --- forms ----------------------------------------------------------------------------------- */

TEST(forms)
{
    cr_rng r = cr_rng_stream(1, 0);
    for (size_t d = 1; d <= 7; d++) {
        cr_gaussian  *g = random_gaussian(cx, &r, d, d, 0.3), *back;
        cr_canonical *c = canonical(cx, g);
        naive         n = naive_of(g);
        real          K[MOST][MOST], det = invert(d, n.S, K);
        double        mean[MOST], value = 0, other = 0;
        for (size_t i = 0; i < d; i++) {
            real h = 0;
            for (size_t j = 0; j < d; j++) {
                h += K[i][j] * n.m[j];
                assert_close(c->precision[i * d + j], (double)K[i][j], 1e-12);
            }
            assert_close(c->h[i], (double)h, 1e-11);
        }
        assert_ok(cx, cr_canonical_mean(cx, c, mean));
        for (size_t i = 0; i < d; i++) assert_close(mean[i], g->mean[i], 1e-11);
        double half = 0.5 * (double)d * log(2 * M_PI), log_det = (double)logl(det);
        assert_ok(cx, cr_gaussian_log_normaliser(cx, g, &value));
        assert_close(value, half + 0.5 * log_det, 1e-13);
        assert_ok(cx, cr_gaussian_entropy(cx, g, &value));
        assert_ok(cx, cr_canonical_entropy(cx, c, &other));
        assert_close(value, half + 0.5 * (double)d + 0.5 * log_det, 1e-13);
        assert_close(other, value, 1e-12);
        /* A(h, K) = log normaliser + m' K m / 2 */
        double under = 0;
        for (size_t i = 0; i < d; i++) under += c->h[i] * g->mean[i];
        assert_ok(cx, cr_canonical_log_partition(cx, c, &value));
        assert_close(value, half + 0.5 * log_det + 0.5 * under, 1e-11);
        back = moments(cx, c);
        assert_same(back, g, 1e-12);
        cr_gaussian_free(cx, back);
        cr_gaussian_free(cx, g);
    }
}

TEST(density)
{
    enum { N = 300 };
    cr_rng r = cr_rng_stream(2, 0);
    for (size_t d = 1; d <= 6; d++) {
        cr_gaussian  *g = random_gaussian(cx, &r, d, d, 0.2);
        cr_canonical *c = canonical(cx, g);
        naive         n = naive_of(g);
        double        x[N * 6], a[N], b[N];
        random_point(&r, N * d, x);
        assert_ok(cx, cr_gaussian_logpdf(cx, g, x, N, a));
        assert_ok(cx, cr_canonical_logpdf(cx, c, x, N, b));
        for (size_t i = 0; i < N; i++) {
            double wanted = (double)naive_logpdf(&n, x + i * d);
            assert_relative(a[i], wanted, 1e-11);
            assert_relative(b[i], wanted, 1e-10);
        }
        cr_canonical_free(cx, c);
        cr_gaussian_free(cx, g);
    }
}

/* KL by its definition: E_p[log p - log q] with the formula over inverses. */
TEST(divergence)
{
    cr_rng r = cr_rng_stream(3, 0);
    for (size_t d = 1; d <= 6; d++) {
        cr_gaussian *p = random_gaussian(cx, &r, d, d, 0.5),
                    *q = random_gaussian(cx, &r, d, d, 0.5);
        naive  a = naive_of(p), b = naive_of(q);
        real   K[MOST][MOST], Kp[MOST][MOST], det_q = invert(d, b.S, K);
        real   det_p = invert(d, a.S, Kp), sum = logl(det_q / det_p) - (real)d;
        double kl = 0, same = 1, other = 0;
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++)
                sum += K[i][j] * (a.S[i][j] + (a.m[i] - b.m[i]) * (a.m[j] - b.m[j]));
        assert_ok(cx, cr_gaussian_kl(cx, p, q, &kl));
        assert_relative(kl, (double)(sum / 2), 1e-11);
        assert_ok(cx, cr_gaussian_kl(cx, p, p, &same));
        assert_true(same >= 0 && same < 1e-13);
        cr_canonical *cp = canonical(cx, p), *cq = canonical(cx, q);
        assert_ok(cx, cr_canonical_kl(cx, cp, cq, &other));
        assert_relative(other, kl, 1e-10);
        cr_canonical_free(cx, cp), cr_canonical_free(cx, cq);
        cr_gaussian_free(cx, p), cr_gaussian_free(cx, q);
    }
}

/* --- some of the variables ------------------------------------------------------------------- */

TEST(marginals)
{
    cr_rng       r = cr_rng_stream(4, 0);
    const size_t keep[] = { 4, 0, 3 };
    for (int round = 0; round < 20; round++) {
        cr_gaussian  *g = random_gaussian(cx, &r, 6, 6, 0.1), *m = NULL;
        cr_canonical *c = canonical(cx, g), *mc = NULL;
        assert_ok(cx, cr_gaussian_marginal(cx, g, keep, 3, &m));
        assert_ok(cx, cr_canonical_marginal(cx, c, keep, 3, &mc));
        for (size_t i = 0; i < 3; i++) {
            assert_true(m->mean[i] == g->mean[keep[i]]);
            for (size_t j = 0; j < 3; j++)
                assert_true(m->covariance[i * 3 + j] == g->covariance[keep[i] * 6 + keep[j]]);
        }
        cr_gaussian *again = moments(cx, mc);
        assert_same(again, m, 1e-10);
        cr_gaussian_free(cx, again), cr_gaussian_free(cx, m), cr_gaussian_free(cx, g);
        cr_canonical_free(cx, c);
    }
}

TEST(conditionals)
{
    cr_rng       r = cr_rng_stream(5, 0);
    const size_t seen[] = { 5, 1, 2 }, rest[] = { 0, 3, 4 };
    for (int round = 0; round < 20; round++) {
        cr_gaussian  *g = random_gaussian(cx, &r, 6, 6, 0.1), *a = NULL, *m = NULL;
        cr_canonical *c = canonical(cx, g), *b = NULL;
        double        x[3], density = 0, other = 0, wanted = 0;
        random_point(&r, 3, x);
        naive n = naive_of(g), right = naive_condition(&n, seen, 3, x, rest);
        assert_ok(cx, cr_gaussian_condition(cx, g, seen, 3, x, &a, &density));
        assert_moments(a, &right, 1e-11);
        assert_ok(cx, cr_canonical_condition(cx, c, seen, 3, x, &b, &other));
        cr_gaussian *schur = moments(cx, b);
        assert_same(schur, a, 1e-10); /* Schur complement = information form */
        assert_ok(cx, cr_gaussian_marginal(cx, g, seen, 3, &m));
        assert_ok(cx, cr_gaussian_logpdf(cx, m, x, 1, &wanted));
        assert_relative(density, wanted, 1e-12);
        assert_relative(other, wanted, 1e-10);
        cr_gaussian_free(cx, schur), cr_gaussian_free(cx, m);
        cr_gaussian_free(cx, a), cr_gaussian_free(cx, g), cr_canonical_free(cx, c);
    }
}

/* x[5], then x[1], then x[2], in what is left each time; the densities add up. */
TEST(one_after_the_other)
{
    cr_rng       r = cr_rng_stream(6, 0);
    const size_t seen[] = { 5, 1, 2 }, turn[] = { 5, 1, 1 };
    for (int round = 0; round < 10; round++) {
        cr_gaussian *g = random_gaussian(cx, &r, 6, 6, 0.1), *all = NULL, *now = NULL, *next = NULL;
        double       x[3], density = 0, part = 0, sum = 0;
        random_point(&r, 3, x);
        assert_ok(cx, cr_gaussian_condition(cx, g, seen, 3, x, &all, &density));
        now = g;
        for (size_t i = 0; i < 3; i++) {
            assert_ok(cx, cr_gaussian_condition(cx, now, &turn[i], 1, &x[i], &next, &part));
            cr_gaussian_free(cx, now);
            now = next;
            sum += part;
        }
        assert_same(now, all, 1e-10);
        assert_relative(sum, density, 1e-11);
        cr_gaussian_free(cx, now), cr_gaussian_free(cx, all);
    }
}

/* All variables seen leave none; none seen leave all. */
TEST(no_variables)
{
    cr_rng        r = cr_rng_stream(7, 0);
    const size_t  all[] = { 0, 1, 2 };
    cr_gaussian  *g = random_gaussian(cx, &r, 3, 3, 0.1), *none = NULL, *same = NULL;
    cr_canonical *c = canonical(cx, g), *nothing = NULL;
    double        x[] = { 0.3, -1, 2 }, a = 0, b = 0, wanted = 0, value = 9;
    assert_ok(cx, cr_gaussian_logpdf(cx, g, x, 1, &wanted));
    assert_ok(cx, cr_gaussian_condition(cx, g, all, 3, x, &none, &a));
    assert_ok(cx, cr_canonical_condition(cx, c, all, 3, x, &nothing, &b));
    assert_int_equal(none->d, 0);
    assert_int_equal(nothing->d, 0);
    assert_relative(a, wanted, 1e-12);
    assert_relative(b, wanted, 1e-11);
    assert_ok(cx, cr_gaussian_entropy(cx, none, &value));
    assert_true(value == 0);
    assert_ok(cx, cr_canonical_log_partition(cx, nothing, &value));
    assert_true(value == 0);
    cr_gaussian *empty = moments(cx, nothing);
    assert_int_equal(empty->d, 0);
    assert_ok(cx, cr_gaussian_condition(cx, g, NULL, 0, NULL, &same, &value));
    assert_same(same, g, 0);
    assert_true(value == 0);
    cr_gaussian_free(cx, empty), cr_gaussian_free(cx, none), cr_gaussian_free(cx, same);
    cr_gaussian_free(cx, g), cr_canonical_free(cx, c);
    cr_gaussian_free(cx, NULL), cr_canonical_free(cx, NULL);
}

/* --- draws ----------------------------------------------------------------------------------- */

/* Means and covariances of many draws, within 5 standard errors. */
static void check_draws(const cr_gaussian *g, const double *x, size_t n)
{
    size_t d = g->d;
    for (size_t i = 0; i < d; i++) {
        double mean = 0, *S = g->covariance;
        for (size_t k = 0; k < n; k++) mean += (x[k * d + i] - g->mean[i]) / (double)n;
        assert_true(fabs(mean) <= 5 * sqrt(S[i * d + i] / (double)n) + 1e-12);
        for (size_t j = 0; j < d; j++) {
            double sum = 0, vi = S[i * d + i], vj = S[j * d + j], c = S[i * d + j];
            for (size_t k = 0; k < n; k++)
                sum += (x[k * d + i] - g->mean[i]) * (x[k * d + j] - g->mean[j]) / (double)n;
            assert_true(fabs(sum - c) <= 5 * sqrt((vi * vj + c * c) / (double)n) + 1e-12);
        }
    }
}

TEST(draws)
{
    enum { N = 20000 };
    cr_rng  r = cr_rng_stream(8, 0);
    double *x = malloc(N * 4 * sizeof *x);
    for (size_t rank = 2; rank <= 4; rank += 2) {
        cr_gaussian *g = random_gaussian(cx, &r, 4, rank, rank == 4 ? 0.3 : 0);
        assert_ok(cx, cr_gaussian_sample(cx, g, &r, N, x));
        check_draws(g, x, N);
        if (rank == 4) {
            cr_canonical *c = canonical(cx, g);
            assert_ok(cx, cr_canonical_sample(cx, c, &r, N, x));
            check_draws(g, x, N);
            cr_canonical_free(cx, c);
        }
        cr_gaussian_free(cx, g);
    }
    free(x);
}

/* Draws of a singular Gaussian stay on the plane on which it lives: x2 = x0 + x1. */
TEST(draws_on_a_plane)
{
    cr_rng       r = cr_rng_stream(9, 0);
    double       m[] = { 1, 2, 3, 7 }, x[400];
    double       S[] = { 2, 1, 3, 0, 1, 5, 6, 0, 3, 6, 9, 0, 0, 0, 0, 0 };
    cr_gaussian *g = NULL;
    assert_ok(cx, cr_gaussian_new(cx, m, cr_cmat_of(S, 4, 4), &g));
    assert_ok(cx, cr_gaussian_sample(cx, g, &r, 100, x));
    for (size_t i = 0; i < 100; i++) {
        assert_close(x[i * 4 + 2], x[i * 4] + x[i * 4 + 1], 1e-13);
        assert_true(x[i * 4 + 3] == 7);
    }
    cr_gaussian_free(cx, g);
}
