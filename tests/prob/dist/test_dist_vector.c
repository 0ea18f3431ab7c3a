/* test_dist_vector.c -- distributions of vectors and matrices: they agree with those of one
 * variable in one dimension, with each other where one turns into the other, and with their own
 * samples. */
#include "support.h"
#include "math/quadrature.h"
#include "prob/dist/dist.h"
#include "prob/dist/dist_class.h"

static double at(cr_ctx *cx, const cr_dist_class *c, const double *p, size_t n, const double *x)
{
    double out = NAN;
    assert_ok(cx, cr_dist_vector_logpdf(cx, c, p, n, x, 1, &out));
    return out;
}

static double one(const cr_dist_class *c, const double *p, size_t n, double x)
{
    return cri_dist_logpdf(c, (cri_par){ p, n }, x);
}

/* --- in one dimension ------------------------------------------------------------------------ */

TEST(one_dimension)
{
    for (double x = 0.07; x < 1; x += 0.13) {
        double pair[] = { x, 1 - x }, y[] = { 3 * x }, two[] = { 0.3 - x, 2 * x };
        double ab[] = { 0.7, 4.2 }, mvn[] = { 0.4, 2.89 }, normal[] = { 0.4, 1.7 };
        assert_relative(at(cx, &cri_dist_dirichlet, ab, 2, pair), one(&cri_dist_beta, ab, 2, x),
                        1e-13);
        assert_relative(at(cx, &cri_dist_mvn, mvn, 2, y), one(&cri_dist_normal, normal, 2, y[0]),
                        1e-14);
        double info[] = { 0.4 / 2.89, 1 / 2.89 };
        assert_relative(at(cx, &cri_dist_mvn_information, info, 2, y),
                        one(&cri_dist_normal, normal, 2, y[0]), 1e-14);
        for (double nu = 0.5; nu < 1e10; nu *= 40) {
            double mvt[] = { nu, 0.4, 2.89 }, t[] = { nu, 0.4, 1.7 };
            assert_relative(at(cx, &cri_dist_mvt, mvt, 3, y), one(&cri_dist_student_t, t, 3, y[0]),
                            2e-14);
        }
        double w[] = { 3.3, 1.7 }, gamma[] = { 1.65, 1 / 3.4 }, ig[] = { 1.65, 0.85 };
        assert_relative(at(cx, &cri_dist_wishart, w, 2, y), one(&cri_dist_gamma, gamma, 2, y[0]),
                        1e-13);
        assert_relative(at(cx, &cri_dist_inverse_wishart, w, 2, y),
                        one(&cri_dist_inverse_gamma, ig, 2, y[0]), 1e-13);
        double nig[] = { 0.2, 2.5, 1.65, 0.85 }, niw[] = { 0.2, 2.5, 3.3, 1.7 };
        double sd[] = { 0.2, sqrt(2 * x / 2.5) };
        double both =
            one(&cri_dist_normal, sd, 2, two[0]) + one(&cri_dist_inverse_gamma, ig, 2, two[1]);
        assert_relative(at(cx, &cri_dist_nig, nig, 4, two), both, 1e-13);
        assert_relative(at(cx, &cri_dist_niw, niw, 4, two), both, 1e-13);
    }
    for (double k = 0; k <= 9; k++) {
        double counts[] = { k, 9 - k }, m[] = { 9, 0.3, 0.7 }, b[] = { 9, 0.3 };
        double dm[] = { 9, 0.4, 2.2 };
        assert_relative(at(cx, &cri_dist_multinomial, m, 3, counts),
                        one(&cri_dist_binomial, b, 2, k), 1e-13);
        assert_relative(at(cx, &cri_dist_dirichlet_multinomial, dm, 3, counts),
                        one(&cri_dist_beta_binomial, dm, 3, k), 1e-13);
    }
}

/* --- totals ---------------------------------------------------------------------------------- */

TEST(counts_sum_to_one)
{
    double m[] = { 12, 0.2, 0.5, 0.3 }, dm[] = { 12, 0.4, 3, 1.5 }, total = 0, mixed = 0;
    for (double a = 0; a <= 12; a++)
        for (double b = 0; a + b <= 12; b++) {
            double x[] = { a, b, 12 - a - b };
            total += exp(at(cx, &cri_dist_multinomial, m, 4, x));
            mixed += exp(at(cx, &cri_dist_dirichlet_multinomial, dm, 4, x));
        }
    assert_relative(total, 1, 1e-13);
    assert_relative(mixed, 1, 1e-13);
    double large[] = { 3e8, 0.5, 0.25, 0.25 }, x[] = { 1.5e8, 0.75e8, 0.75e8 };
    double wanted = -log(2 * M_PI) - 0.5 * log(9e16 * 0.5 * 0.25 * 0.25); /* the normal's height */
    assert_relative(at(cx, &cri_dist_multinomial, large, 4, x), wanted, 1e-9);
}

typedef struct slice {
    cr_ctx              *cx;
    const cr_dist_class *c;
    const double        *p;
    size_t               n;
    double               first;
} slice;

static double along_second(double y, void *user)
{
    slice *s = user;
    double x[] = { s->first, y, 1 - s->first - y };
    if (s->c == &cri_dist_dirichlet) return x[2] > 0 ? exp(at(s->cx, s->c, s->p, s->n, x)) : 0;
    return exp(at(s->cx, s->c, s->p, s->n, x));
}

/* Integrating the second entry out leaves the first one's distribution. */
TEST(marginals)
{
    double S[] = { 2, 0.6, 0.6, 1 }, mvn[] = { 0.3, -1, 2, 0.6, 0.6, 1 },
           normal[] = { 0.3, sqrt(2) };
    double mvt[] = { 3.5, 0.3, -1, 2, 0.6, 0.6, 1 }, t[] = { 3.5, 0.3, sqrt(2) };
    double dir[] = { 2.5, 3, 1.7 }, beta[] = { 2.5, 4.7 }, sum = 0;
    (void)S;
    for (double x = -1; x < 2; x += 0.9) {
        slice a = { cx, &cri_dist_mvn, mvn, 6, x }, b = { cx, &cri_dist_mvt, mvt, 7, x };
        assert_ok(cx,
                  cr_integrate(cx, along_second, &a, -INFINITY, INFINITY, 0, 1e-11, &sum, NULL));
        assert_relative(log(sum), one(&cri_dist_normal, normal, 2, x), 1e-10);
        assert_ok(cx,
                  cr_integrate(cx, along_second, &b, -INFINITY, INFINITY, 0, 1e-11, &sum, NULL));
        assert_relative(log(sum), one(&cri_dist_student_t, t, 3, x), 1e-10);
    }
    for (double x = 0.1; x < 1; x += 0.25) {
        slice c = { cx, &cri_dist_dirichlet, dir, 3, x };
        assert_ok(cx, cr_integrate(cx, along_second, &c, 0, 1 - x, 0, 1e-11, &sum, NULL));
        assert_relative(log(sum), one(&cri_dist_beta, beta, 2, x), 1e-10);
    }
}

/* --- one form against another ---------------------------------------------------------------- */

TEST(information_form)
{
    double det = 2 * 1 - 0.36, moment[] = { 0.3, -1, 2, 0.6, 0.6, 1 };
    double K[] = { 1 / det, -0.6 / det, -0.6 / det, 2 / det };
    double info[] = { K[0] * 0.3 - K[1], K[2] * 0.3 - K[3], K[0], K[1], K[2], K[3] };
    double x[] = { 1.1, 0.2 }, a[2], b[2], ea = 0, eb = 0;
    assert_relative(at(cx, &cri_dist_mvn, moment, 6, x),
                    at(cx, &cri_dist_mvn_information, info, 6, x), 1e-13);
    assert_ok(cx, cr_dist_vector_mean(cx, &cri_dist_mvn_information, info, 6, a));
    assert_close(a[0], 0.3, 1e-13);
    assert_close(a[1], -1, 1e-13);
    assert_ok(cx, cr_dist_vector_variance(cx, &cri_dist_mvn_information, info, 6, b));
    assert_close(b[0], 2, 1e-13);
    assert_close(b[1], 1, 1e-13);
    assert_ok(cx, cr_dist_vector_entropy(cx, &cri_dist_mvn, moment, 6, &ea));
    assert_ok(cx, cr_dist_vector_entropy(cx, &cri_dist_mvn_information, info, 6, &eb));
    assert_relative(ea, eb, 1e-13);
}

/* X is inverse Wishart when X^-1 is Wishart; the Jacobian is |X|^-(d + 1). */
TEST(inverse_of_wishart)
{
    double iw[] = { 5.5, 2, 0.6, 0.6, 1 }, det = 1.64, X[] = { 0.9, -0.2, -0.2, 0.5 }, dx = 0.41;
    double w[] = { 5.5, 1 / det, -0.6 / det, -0.6 / det, 2 / det };
    double inverse[] = { 0.5 / dx, 0.2 / dx, 0.2 / dx, 0.9 / dx };
    assert_relative(at(cx, &cri_dist_inverse_wishart, iw, 5, X),
                    at(cx, &cri_dist_wishart, w, 5, inverse) - 3 * log(dx), 1e-13);
    double flat[] = { 1, 2, 2, 1 }, skew[] = { 1, 0.2, 0.1, 1 };
    assert_true(at(cx, &cri_dist_wishart, w, 5, flat) == -INFINITY);
    assert_true(at(cx, &cri_dist_wishart, w, 5, skew) == -INFINITY);
}

/* --- against their own samples --------------------------------------------------------------- */

typedef struct vector_case {
    const cr_dist_class *c;
    double               p[12], q[12]; /* q: a neighbour, for the divergence */
    size_t               n;
} vector_case;

static const vector_case cases[] = {
    { &cri_dist_dirichlet, { 2, 3, 5 }, { 2.4, 3, 4 }, 3 },
    { &cri_dist_dirichlet, { 0.3, 0.8 }, { 0.4, 0.7 }, 2 },
    { &cri_dist_multinomial, { 10, 0.2, 0.3, 0.5 }, { 10, 0.25, 0.35, 0.4 }, 4 },
    { &cri_dist_dirichlet_multinomial, { 10, 2, 3, 5 }, { 10, 2, 3, 5 }, 4 },
    { &cri_dist_mvn, { 0, 1, 2, 0.6, 0.6, 1 }, { 0.2, 0.8, 1.7, 0.2, 0.2, 1.1 }, 6 },
    { &cri_dist_mvn,
      { 0, 1, 2, 2, 0.6, 0.1, 0.6, 1, 0.3, 0.1, 0.3, 1.5 },
      { 0, 1, 2.3, 2, 0.5, 0, 0.5, 1, 0.3, 0, 0.3, 1.3 },
      12 },
    { &cri_dist_mvn_information, { 1, 0.5, 2, 0.6, 0.6, 1 }, { 0.8, 0.5, 2.2, 0.3, 0.3, 1 }, 6 },
    { &cri_dist_mvt, { 7, 0, 1, 2, 0.6, 0.6, 1 }, { 7, 0, 1, 2, 0.6, 0.6, 1 }, 7 },
    { &cri_dist_wishart, { 6, 2, 0.6, 0.6, 1 }, { 5.5, 2.2, 0.4, 0.4, 1 }, 5 },
    { &cri_dist_inverse_wishart, { 12, 2, 0.6, 0.6, 1 }, { 11, 2.2, 0.4, 0.4, 1 }, 5 },
    { &cri_dist_nig, { 0.5, 2, 6, 4 }, { 0.3, 2.5, 5, 4 }, 4 },
    { &cri_dist_niw, { 0, 1, 2, 12, 2, 0.6, 0.6, 1 }, { 0.1, 1, 2.5, 11, 2.2, 0.4, 0.4, 1 }, 8 },
};

enum { DRAWS = 20000, MOST = 16 };

typedef struct running {
    double sum, squares;
} running;

static void add(running *r, double x) { r->sum += x, r->squares += x * x; }

/* The true value lies within five standard errors of the mean. */
static void assert_mean(const running *r, double wanted, const char *name, const char *what)
{
    double mean = r->sum / DRAWS, variance = r->squares / DRAWS - mean * mean;
    double error = sqrt(fmax(variance, 0) / DRAWS) + 1e-12;
    if (fabs(mean - wanted) > 5 * error)
        fail_msg("%s: the %s is %g, of samples %g +- %g", name, what, wanted, mean, error);
}

TEST(samples)
{
    double *x = malloc(DRAWS * MOST * sizeof *x), *lp = malloc(DRAWS * sizeof *lp);
    double *lq = malloc(DRAWS * sizeof *lq);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const vector_case   *k = &cases[i];
        const cr_dist_class *c = k->c;
        size_t               size = cr_dist_point_size(c, k->n);
        cr_rng               r = cr_rng_stream(11, i);
        double               mean[MOST], variance[MOST], entropy = 0, kl = 0;
        assert_ok(cx, cr_dist_vector_sample(cx, c, k->p, k->n, &r, DRAWS, x));
        assert_ok(cx, cr_dist_vector_mean(cx, c, k->p, k->n, mean));
        assert_ok(cx, cr_dist_vector_variance(cx, c, k->p, k->n, variance));
        assert_ok(cx, cr_dist_vector_logpdf(cx, c, k->p, k->n, x, DRAWS, lp));
        assert_ok(cx, cr_dist_vector_logpdf(cx, c, k->q, k->n, x, DRAWS, lq));
        for (size_t j = 0; j < size; j++) {
            running m = { 0, 0 }, v = { 0, 0 };
            for (size_t l = 0; l < DRAWS; l++) {
                double off = x[l * size + j] - mean[j];
                add(&m, x[l * size + j]);
                add(&v, off * off);
            }
            assert_mean(&m, mean[j], c->name, "mean");
            assert_mean(&v, variance[j], c->name, "variance");
        }
        running h = { 0, 0 }, d = { 0, 0 }, weight = { 0, 0 };
        for (size_t l = 0; l < DRAWS; l++) {
            add(&h, -lp[l]);
            add(&d, lp[l] - lq[l]);
            add(&weight, exp(lq[l] - lp[l]));
        }
        assert_mean(&weight, 1, c->name, "total of a neighbour");
        if (c->vector->entropy) {
            assert_ok(cx, cr_dist_vector_entropy(cx, c, k->p, k->n, &entropy));
            assert_mean(&h, entropy, c->name, "entropy");
        }
        if (!cr_dist_offers(c, "kl")) continue;
        assert_ok(cx, cr_dist_vector_kl(cx, c, k->p, k->q, k->n, &kl));
        assert_mean(&d, kl, c->name, "divergence");
        assert_ok(cx, cr_dist_vector_kl(cx, c, k->p, k->p, k->n, &kl));
        assert_true(fabs(kl) < 1e-13);
    }
    free(x), free(lp), free(lq);
}

TEST(mode_is_highest)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const vector_case *k = &cases[i];
        size_t             size = cr_dist_point_size(k->c, k->n);
        double             mode[MOST], draws[300 * MOST];
        cr_rng             r = cr_rng_stream(4, i);
        if (!k->c->vector->mode || cr_dist_vector_mode(cx, k->c, k->p, k->n, mode) != CR_OK)
            continue;
        double top = at(cx, k->c, k->p, k->n, mode);
        assert_ok(cx, cr_dist_vector_sample(cx, k->c, k->p, k->n, &r, 300, draws));
        for (size_t l = 0; l < 300; l++) /* also draws pulled near to the mode */
            for (double pull = 1; pull > 1e-4; pull /= 10) {
                double y[MOST];
                for (size_t j = 0; j < size; j++)
                    y[j] = mode[j] + pull * (draws[l * size + j] - mode[j]);
                assert_true(at(cx, k->c, k->p, k->n, y) <= top + 1e-9);
            }
    }
}

/* --- refusals -------------------------------------------------------------------------------- */

TEST(refusals)
{
    double x[4] = { 1, 0.5, 0.5, 1 }, out[4] = { 42, 42, 42, 42 };
    double bad[] = { 0, 0, 1, 2, 2, 1 }, skew[] = { 0, 0, 1, 0.5, 0.4, 1 };
    assert_fails_with(cx, cr_dist_vector_logpdf(cx, &cri_dist_mvn, bad, 6, x, 1, out), CR_EARG,
                      "covariance is not positive definite");
    assert_fails_with(cx, cr_dist_vector_mean(cx, &cri_dist_mvn, skew, 6, out), CR_EARG,
                      "not symmetric");
    double few[] = { 1, 2, 0.5, 0.5, 1 };
    assert_fails_with(cx, cr_dist_vector_mean(cx, &cri_dist_wishart, few, 5, out), CR_EARG,
                      "df is 1");
    assert_fails_with(cx, cr_dist_check(cx, &cri_dist_mvn, bad, 5), CR_EARG, "5 parameters");
    double m[] = { 3, 0.5, 0.4 }, small[] = { 0.5, 2, 3 };
    assert_fails_with(cx, cr_dist_vector_mean(cx, &cri_dist_multinomial, m, 3, out), CR_EARG,
                      "sum to 0.9");
    assert_fails(cx, cr_dist_vector_mode(cx, &cri_dist_dirichlet, small, 3, out), CR_ENUMERIC);
    assert_fails_with(cx, cr_dist_vector_mode(cx, &cri_dist_multinomial, m, 3, out),
                      CR_EUNSUPPORTED, "multinomial does not offer its mode");
    assert_fails_with(cx, cr_dist_mean(cx, &cri_dist_dirichlet, small, 3, out), CR_EUNSUPPORTED,
                      "of vectors");
    assert_fails_with(cx, cr_dist_vector_mean(cx, &cri_dist_beta, small, 2, out), CR_EUNSUPPORTED,
                      "one variable");
    double nan_point[] = { 0.2, NAN, 0.5 };
    assert_fails_with(cx,
                      cr_dist_vector_logpdf(cx, &cri_dist_dirichlet, small, 3, nan_point, 1, out),
                      CR_EARG, "entry 2 of point 1");
    double t[] = { 1, 0, 1, 2, 0.6, 0.6, 1 };
    assert_fails(cx, cr_dist_vector_mean(cx, &cri_dist_mvt, t, 7, out), CR_ENUMERIC);
    for (int i = 0; i < 4; i++) assert_true(out[i] == 42);
    double off[] = { 0.5, 0.5, 0.5 }, edge[] = { 0, 0.4, 0.6 }, flat[] = { 1, 2, 3 };
    assert_true(at(cx, &cri_dist_dirichlet, small, 3, off) == -INFINITY);
    assert_true(at(cx, &cri_dist_dirichlet, small, 3, edge) == INFINITY);
    assert_relative(at(cx, &cri_dist_dirichlet, flat, 3, edge), log(60 * 0.4 * 0.36), 1e-13);
}

static cr_status all_calls(cr_ctx *cx, void *arg)
{
    cr_status          st = CR_OK;
    const vector_case *k = arg;
    double             x[MOST], out = 0, lp;
    cr_rng             r = cr_rng_stream(0, 0);
    CR_TRY(cr_dist_vector_sample(cx, k->c, k->p, k->n, &r, 1, x));
    CR_TRY(cr_dist_vector_logpdf(cx, k->c, k->p, k->n, x, 1, &lp));
    CR_TRY(cr_dist_vector_mean(cx, k->c, k->p, k->n, x));
    if (k->c->vector->entropy) CR_TRY(cr_dist_vector_entropy(cx, k->c, k->p, k->n, &out));
    if (k->c->vector->kl) CR_TRY(cr_dist_vector_kl(cx, k->c, k->p, k->q, k->n, &out));
done:
    return st;
}

TEST(allocations)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        test_every_allocation_fails(all_calls, (void *)(uintptr_t)&cases[i]);
}
