/* test_gaussian_product.c -- products and quotients: what they are at every point, what they
 * integrate to, and that one undoes the other. */
#include "naive.h"
#include "math/quadrature.h"
#include "math/special/special.h"

static double density(cr_ctx *cx, const cr_gaussian *g, const double *x)
{
    double out = NAN;
    assert_ok(cx, cr_gaussian_logpdf(cx, g, x, 1, &out));
    return out;
}

static cr_canonical *canonical(cr_ctx *cx, const cr_gaussian *g)
{
    cr_canonical *c = NULL;
    assert_ok(cx, cr_gaussian_to_canonical(cx, g, &c));
    return c;
}

/* log a(x) + log b(x) = constant + log out(x) at any x; both forms. */
TEST(product)
{
    cr_rng r = cr_rng_stream(11, 0);
    for (size_t d = 1; d <= 5; d++) {
        cr_gaussian *a = random_gaussian(cx, &r, d, d, 0.3),
                    *b = random_gaussian(cx, &r, d, d, 0.3);
        cr_gaussian  *g = NULL, *again = NULL;
        cr_canonical *ca = canonical(cx, a), *cb = canonical(cx, b), *c = NULL;
        double        constant = 0, other = 0, x[MOST];
        assert_ok(cx, cr_gaussian_product(cx, a, b, &g, &constant));
        assert_ok(cx, cr_canonical_product(cx, ca, cb, &c, &other));
        assert_ok(cx, cr_canonical_to_gaussian(cx, c, &again));
        assert_same(g, again, 1e-11);
        assert_close(other, constant, 1e-11);
        for (int round = 0; round < 5; round++) {
            for (size_t i = 0; i < d; i++) x[i] = 2 * cr_rng_normal(&r);
            assert_close(density(cx, a, x) + density(cx, b, x), constant + density(cx, g, x),
                         1e-11);
        }
        cr_gaussian_free(cx, a), cr_gaussian_free(cx, b);
        cr_gaussian_free(cx, g), cr_gaussian_free(cx, again);
        cr_canonical_free(cx, ca), cr_canonical_free(cx, cb), cr_canonical_free(cx, c);
    }
}

typedef struct pair {
    cr_ctx            *cx;
    const cr_gaussian *a, *b;
} pair;

static double both(double x, void *user)
{
    const pair *p = user;
    return exp(density(p->cx, p->a, &x) + density(p->cx, p->b, &x));
}

TEST(product_integrates)
{
    static const double cases[][4] = { { 0, 1, 1, 2 }, { -3, 0.2, 4, 9 }, { 5, 1e-4, 5.01, 3 } };
    for (size_t i = 0; i < 3; i++) {
        const double *v = cases[i];
        cr_gaussian  *a = NULL, *b = NULL, *g = NULL;
        double        constant = 0, sum = 0, part = 0;
        assert_ok(cx, cr_gaussian_new(cx, v, cr_cmat_of(v + 1, 1, 1), &a));
        assert_ok(cx, cr_gaussian_new(cx, v + 2, cr_cmat_of(v + 3, 1, 1), &b));
        assert_ok(cx, cr_gaussian_product(cx, a, b, &g, &constant));
        pair   p = { cx, a, b };
        double sd = sqrt(g->covariance[0]);
        for (int k = -10; k < 10; k++) {
            double from = g->mean[0] + k * sd;
            assert_ok(cx, cr_integrate(cx, both, &p, from, from + sd, 0, 1e-12, &part, NULL));
            sum += part;
        }
        assert_relative(exp(constant), sum, 1e-11);
        cr_gaussian_free(cx, a), cr_gaussian_free(cx, b), cr_gaussian_free(cx, g);
    }
}

/* A very narrow and a very wide one: no digits are lost, in either order. */
TEST(product_of_unequal)
{
    double       zero[] = { 0, 0 }, one[] = { 1, 1 };
    double       wide[] = { 1e10, 3e9, 3e9, 1e10 }, narrow[] = { 1e-10, 2e-11, 2e-11, 4e-10 };
    cr_gaussian *a = NULL, *b = NULL, *g = NULL;
    assert_ok(cx, cr_gaussian_new(cx, zero, cr_cmat_of(wide, 2, 2), &a));
    assert_ok(cx, cr_gaussian_new(cx, one, cr_cmat_of(narrow, 2, 2), &b));
    for (int turn = 0; turn < 2; turn++) {
        assert_ok(cx, cr_gaussian_product(cx, turn ? b : a, turn ? a : b, &g, NULL));
        for (size_t i = 0; i < 4; i++) assert_relative(g->covariance[i], narrow[i], 1e-13);
        for (size_t i = 0; i < 2; i++) assert_relative(g->mean[i], 1, 1e-13);
        cr_gaussian_free(cx, g);
    }
    cr_gaussian_free(cx, a), cr_gaussian_free(cx, b);
}

/* A point mass times anything is itself. */
TEST(product_with_a_point)
{
    double       m[] = { 1, 2 }, none[] = { 0, 0, 0, 0 }, at[] = { 0.5, -1 };
    double       S[] = { 2, 0.5, 0.5, 1 }, constant = 0;
    cr_gaussian *a = NULL, *point = NULL, *g = NULL;
    assert_ok(cx, cr_gaussian_new(cx, m, cr_cmat_of(S, 2, 2), &a));
    assert_ok(cx, cr_gaussian_new(cx, at, cr_cmat_of(none, 2, 2), &point));
    assert_ok(cx, cr_gaussian_product(cx, a, point, &g, &constant));
    assert_same(g, point, 1e-14);
    assert_close(constant, density(cx, a, at), 1e-13);
    cr_gaussian_free(cx, g);
    g = NULL;
    assert_fails_with(cx, cr_gaussian_product(cx, point, point, &g, NULL), CR_ENUMERIC,
                      "sum of the covariances is not positive definite: its pivot at variable 0");
    assert_null(g);
    cr_gaussian_free(cx, a), cr_gaussian_free(cx, point);
}

TEST(quotient_undoes_product)
{
    cr_rng r = cr_rng_stream(12, 0);
    for (size_t d = 1; d <= 5; d++) {
        cr_gaussian *a = random_gaussian(cx, &r, d, d, 1), *b = random_gaussian(cx, &r, d, d, 1);
        cr_gaussian *g = NULL, *back = NULL;
        double       up = 0, down = 0, other = 0;
        bool         proper = false;
        assert_ok(cx, cr_gaussian_product(cx, a, b, &g, &up));
        assert_ok(cx, cr_gaussian_divide(cx, g, b, &back, &down));
        assert_same(back, a, 1e-9);
        assert_close(down, -up, 1e-9);
        cr_canonical *cg = canonical(cx, g), *cb = canonical(cx, b), *c = NULL;
        assert_ok(cx, cr_canonical_divide(cx, cg, cb, &c, &proper, &other));
        assert_true(proper);
        assert_close(other, -up, 1e-9);
        cr_gaussian_free(cx, back);
        assert_ok(cx, cr_canonical_to_gaussian(cx, c, &back));
        assert_same(back, a, 1e-9);
        cr_canonical_free(cx, cg), cr_canonical_free(cx, cb), cr_canonical_free(cx, c);
        cr_gaussian_free(cx, a), cr_gaussian_free(cx, b), cr_gaussian_free(cx, g);
        cr_gaussian_free(cx, back);
    }
}

/* A wide one over a narrow one: improper, said so, and good again after a multiplication. */
TEST(improper_quotient)
{
    double        m[] = { 1, -1 }, wide[] = { 4, 1, 1, 9 }, narrow[] = { 5, 0, 0, 1 }, x = 0;
    cr_gaussian  *a = NULL, *b = NULL, *g = NULL;
    cr_canonical *c = NULL, *back = NULL;
    bool          proper = true;
    assert_ok(cx, cr_gaussian_new(cx, m, cr_cmat_of(wide, 2, 2), &a));
    assert_ok(cx, cr_gaussian_new(cx, m, cr_cmat_of(narrow, 2, 2), &b));
    assert_fails_with(cx, cr_gaussian_divide(cx, a, b, &g, &x), CR_ENUMERIC, "pivot at variable 1");
    assert_non_null(strstr(cr_error_hint(cx), "improper"));
    assert_true(g == NULL && x == 0);
    cr_canonical *ca = canonical(cx, a), *cb = canonical(cx, b);
    assert_ok(cx, cr_canonical_divide(cx, ca, cb, &c, &proper, &x));
    assert_true(!proper && isnan(x));
    assert_ok(cx, cr_canonical_is_proper(cx, c, &proper));
    assert_false(proper);
    double at[2] = { 7, 7 };
    assert_fails_with(cx, cr_canonical_mean(cx, c, at), CR_ENUMERIC, "precision is not positive");
    assert_fails(cx, cr_canonical_logpdf(cx, c, m, 1, at), CR_ENUMERIC);
    assert_fails(cx, cr_canonical_log_partition(cx, c, at), CR_ENUMERIC);
    assert_true(at[0] == 7);
    assert_ok(cx, cr_canonical_product(cx, c, cb, &back, NULL));
    cr_gaussian *again = NULL;
    assert_ok(cx, cr_canonical_to_gaussian(cx, back, &again));
    assert_same(again, a, 1e-12);
    cr_canonical_free(cx, ca), cr_canonical_free(cx, cb), cr_canonical_free(cx, c);
    cr_canonical_free(cx, back);
    cr_gaussian_free(cx, a), cr_gaussian_free(cx, b), cr_gaussian_free(cx, again);
}
