/* test_tail_integral.c -- partial means and ranked scores of all families: against closed forms,
 * sums in long double, and quadrature of the density by another road. */
#include "support.h"
#include "data/judge/metrics.h"
#include "math/special/special.h"
#include "prob/dist/dist_class.h"
#include "prob/dist/tail_integral.h"

typedef struct family {
    const char *name;
    double      v[4];
    size_t      n;
} family;

/* With a mean, of every family of one variable that is not an angle. */
static const family families[] = {
    { "normal", { 3, 2 }, 2 },
    { "normal", { -1e6, 1e-3 }, 2 },
    { "student-t", { 5, 1, 2 }, 3 },
    { "student-t", { 1.5, -4, 0.1 }, 3 },
    { "gamma", { 4, 0.5 }, 2 },
    { "gamma", { 0.3, 20 }, 2 },
    { "gamma", { 1e6, 1 }, 2 },
    { "beta", { 12, 3 }, 2 },
    { "beta", { 0.4, 0.7 }, 2 },
    { "exponential", { 3 }, 1 },
    { "log-normal", { 1, 0.8 }, 2 },
    { "logistic", { 2, 3 }, 2 },
    { "gumbel", { 1, 2 }, 2 },
    { "laplace", { 5, 0.5 }, 2 },
    { "uniform", { -2, 7 }, 2 },
    { "weibull", { 1.5, 3 }, 2 },
    { "inverse-gamma", { 3, 2 }, 2 },
    { "inverse-gaussian", { 2, 5 }, 2 },
    { "pareto", { 1, 2, 3.5 }, 3 },
    { "chi-square", { 4 }, 1 },
    { "poisson", { 3.7 }, 1 },
    { "poisson", { 900 }, 1 },
    { "binomial", { 12, 0.3 }, 2 },
    { "bernoulli", { 0.2 }, 1 },
    { "geometric", { 0.25 }, 1 },
    { "negative-binomial", { 3, 0.4 }, 2 },
    { "beta-binomial", { 10, 0.5, 0.5 }, 3 },
    { "hypergeometric", { 60, 20, 12 }, 3 },
    { "skew-normal", { 1, 2, -3 }, 3 },
};
enum { FAMILIES = sizeof families / sizeof *families };

static const cr_dist_class *find(cr_ctx *cx, const family *f)
{
    const cr_dist_class *c = cr_dist_find(cx, f->name);
    assert_non_null(c);
    assert_ok(cx, cr_dist_check(cx, c, f->v, f->n));
    return c;
}

/* E g(X) by the quantile function, u in (0, 1) in steps that are finest at both ends; for counts by
 * the sum of the masses. */
static double expect(cr_ctx *cx, const cr_dist_class *c, const family *f,
                     double (*g)(double x, double a), double a)
{
    cri_par     p = { f->v, f->n };
    double      low, high;
    long double sum = 0;
    c->support(p, &low, &high);
    if (c->discrete) {
        for (double k = low; k <= high && k < 2500; k++)
            sum += (long double)exp(c->logpdf(p, k)) * g(k, a);
        return (double)sum;
    }
    enum { STEPS = 300 };
    for (int i = 0; i < STEPS; i++) { /* u = 1 / (1 + e^-s), by the rule of the trapeze in s */
        double s = -36 + 72.0 * (i + 0.5) / STEPS, u = cr_sigmoid(s), x;
        if (s > 0 && u > 1 - 1e-15) continue;
        assert_ok(cx, cr_dist_quantile(cx, c, f->v, f->n, u, &x));
        sum += (long double)(u * cr_sigmoid(-s)) * g(x, a) * (72.0L / STEPS);
    }
    return (double)sum;
}

static double below(double x, double a) { return x < a ? a - x : 0; }
static double above(double x, double a) { return x > a ? x - a : 0; }

TEST(partial_means)
{
    for (size_t k = 0; k < FAMILIES; k++) {
        const family        *f = &families[k];
        const cr_dist_class *c = find(cx, f);
        double               q[] = { 0.05, 0.5, 0.9 }, a, down, up, mean;
        assert_ok(cx, cr_dist_mean(cx, c, f->v, f->n, &mean));
        for (size_t i = 0; i < 3; i++) {
            assert_ok(cx, cr_dist_quantile(cx, c, f->v, f->n, q[i], &a));
            assert_ok(cx, cr_dist_partial_means(cx, c, f->v, f->n, a, &down, &up));
            check_close(up - down, mean - a, 1e-9, 1e-9 * fabs(mean), f->name, __FILE__, __LINE__);
            if (strcmp(f->name, "student-t") == 0 && f->v[0] < 2) continue; /* tails too long */
            double size = down + up;
            check_close(down, expect(cx, c, f, below, a), 1e-3, size, f->name, __FILE__, __LINE__);
            check_close(up, expect(cx, c, f, above, a), 1e-3, size, f->name, __FILE__, __LINE__);
        }
    }
}

/* Black-Scholes for the normal; the memoryless tail; the linear hazard of the uniform. */
TEST(closed_forms)
{
    const cr_dist_class *normal = cr_dist_find(cx, "normal");
    const cr_dist_class *exponential = cr_dist_find(cx, "exponential");
    const cr_dist_class *uniform = cr_dist_find(cx, "uniform");
    double               down, up;
    for (double z = -30; z <= 30; z += 3.7) {
        double a = 3 + 2 * z, phi = exp(cr_norm_logpdf(z));
        assert_ok(cx, cr_dist_partial_means(cx, normal, (double[]){ 3, 2 }, 2, a, &down, &up));
        if (z > -5) assert_relative(down, 2 * (z * cr_norm_cdf(z) + phi), 1e-9);
        if (z < 5) assert_relative(up, 2 * (phi - z * cr_norm_cdf(-z)), 1e-9);
        double ranked;
        assert_ok(cx, cr_dist_crps(cx, normal, (double[]){ 3, 2 }, 2, a, &ranked));
        assert_relative(ranked, cr_crps_normal(a, 3, 2), 1e-9);
    }
    for (double a = 0; a < 200; a = 2 * a + 0.1) {
        assert_ok(cx, cr_dist_partial_means(cx, exponential, (double[]){ 0.5 }, 1, a, &down, &up));
        assert_relative(up, 2 * exp(-0.5 * a), 1e-9);
    }
    for (double a = -3; a <= 5; a++) { /* also outside the support */
        assert_ok(cx, cr_dist_partial_means(cx, uniform, (double[]){ 0, 2 }, 2, a, &down, &up));
        double inside = fmin(fmax(a, 0), 2);
        assert_close(down, inside * inside / 4 + fmax(a - 2, 0), 1e-9);
        assert_close(up, (2 - inside) * (2 - inside) / 4 + fmax(-a, 0), 1e-9);
    }
}

/* CRPS = E |X - y| - E |X - X'| / 2, the second part by a double sum. */
static double crps_by_sums(const cr_dist_class *c, const family *f, double y)
{
    cri_par     p = { f->v, f->n };
    double      low, high;
    long double first = 0, second = 0, cdf = 0;
    c->support(p, &low, &high);
    for (double k = low; k <= high && k < 2500; k++) {
        long double mass = (long double)exp(c->logpdf(p, k));
        first += mass * (long double)fabs(k - y);
        cdf += mass;
        second += cdf * (1 - cdf); /* E |X - X'| / 2 = sum F (1 - F) */
    }
    return (double)(first - second);
}

TEST(crps_of_counts)
{
    for (size_t k = 0; k < FAMILIES; k++) {
        const family        *f = &families[k];
        const cr_dist_class *c = find(cx, f);
        if (!c->discrete) continue;
        for (double y = -2; y < 1300; y = floor(1.7 * y) + 5) {
            double got;
            assert_ok(cx, cr_dist_crps(cx, c, f->v, f->n, y, &got));
            check_close(got, crps_by_sums(c, f, y), 1e-11, 1e-3, f->name, __FILE__, __LINE__);
            assert_ok(cx, cr_dist_crps(cx, c, f->v, f->n, y + 0.25, &got)); /* between counts */
            check_close(got, crps_by_sums(c, f, y + 0.25), 1e-11, 1e-3, f->name, __FILE__,
                        __LINE__);
        }
    }
}

TEST(crps_of_student_t)
{
    const cr_dist_class *t = cr_dist_find(cx, "student-t");
    for (double dof = 0.75; dof < 100; dof *= 1.9)
        for (double y = -50; y <= 50; y += 12.5) {
            double v[] = { dof, 1, 3 }, got;
            assert_ok(cx, cr_dist_crps(cx, t, v, 3, y, &got));
            assert_relative(got, cr_crps_student_t(y, 1, 3, dof), 1e-7);
        }
    double got, v[] = { 0.5, 0, 1 };
    assert_ok(cx, cr_dist_crps(cx, t, v, 3, 1, &got));
    assert_true(isinf(got));
}

/* The closed form of the gamma is the quadrature of the chi-square with twice the shape. */
TEST(crps_of_gamma)
{
    const cr_dist_class *gamma = cr_dist_find(cx, "gamma"), *chi = cr_dist_find(cx, "chi-square");
    assert_true(gamma->crps && !chi->crps);
    for (double k = 0.01; k < 2e5; k *= 8) {
        double v[] = { k, 0.5 }, d[] = { 2 * k }, mean = 2 * k;
        for (double y = -0.3 * mean; y < 5 * mean; y += 0.61 * mean) {
            double got, known;
            assert_ok(cx, cr_dist_crps(cx, gamma, v, 2, y, &got));
            assert_ok(cx, cr_dist_crps(cx, chi, d, 1, y, &known));
            check_close(got, known, 2e-7, mean * 1e-3, "gamma", __FILE__, __LINE__);
        }
    }
}

/* Poisson's is nearly that of a binomial of many trials, which is summed, in steps where wide. */
TEST(crps_of_poisson)
{
    const cr_dist_class *poisson = cr_dist_find(cx, "poisson");
    const cr_dist_class *binomial = cr_dist_find(cx, "binomial");
    for (double m = 0.02; m < 1e3; m *= 9)
        for (double y = -1; y < 3 * m + 3; y += 0.5 + m / 3) {
            double got, near, v[] = { 1e9, m / 1e9 };
            assert_ok(cx, cr_dist_crps(cx, poisson, &m, 1, y, &got));
            assert_ok(cx, cr_dist_crps(cx, binomial, v, 2, y, &near));
            check_close(got, near, 2e-6, 1e-3, "poisson", __FILE__, __LINE__);
        }
}

/* Wide counts are summed in steps: near the normal of the same mean and variance. */
TEST(wide_counts)
{
    const cr_dist_class *poisson = cr_dist_find(cx, "poisson");
    const cr_dist_class *binomial = cr_dist_find(cx, "binomial");
    double               v[] = { 4e10 }, half[] = { 1.6e11, 0.5 }, got, down, up;
    assert_ok(cx, cr_dist_crps(cx, poisson, v, 1, 4e10 + 3e5, &got));
    assert_relative(got, cr_crps_normal(4e10 + 3e5, 4e10, 2e5), 1e-5);
    assert_ok(cx, cr_dist_crps(cx, binomial, half, 2, 8e10 + 3e5, &got));
    assert_relative(got, cr_crps_normal(8e10 + 3e5, 8e10, 2e5), 1e-6);
    assert_ok(cx, cr_dist_partial_means(cx, poisson, v, 1, 4e10, &down, &up));
    assert_relative(up, 2e5 / sqrt(2 * M_PI), 1e-5);
    assert_ok(cx, cr_dist_crps(cx, binomial, half, 2, 0, &got)); /* far below everything */
    assert_relative(got, 8e10, 1e-4);
}

TEST(without_a_mean)
{
    const cr_dist_class *cauchy = cr_dist_find(cx, "cauchy");
    const cr_dist_class *half = cr_dist_find(cx, "half-cauchy");
    double               down, up;
    assert_ok(cx, cr_dist_partial_means(cx, cauchy, (double[]){ 0, 1 }, 2, 0.5, &down, &up));
    assert_true(isinf(down) && isinf(up));
    assert_ok(cx, cr_dist_partial_means(cx, half, (double[]){ 1 }, 1, 1, &down, &up));
    assert_true(isinf(up));
    assert_relative(down, 0.5 - log(2) / M_PI, 1e-9); /* integral of 2/pi atan(x) up to 1 */
}

TEST(refusals)
{
    double a = 17, b = 17, v[] = { 1, 1 }, wrong[] = { 1, -1 };
    assert_fails(cx, cr_dist_partial_means(cx, cr_dist_find(cx, "von-mises"), v, 2, 0, &a, &b),
                 CR_EUNSUPPORTED);
    assert_fails(cx, cr_dist_partial_means(cx, cr_dist_find(cx, "dirichlet"), v, 2, 0, &a, &b),
                 CR_EUNSUPPORTED);
    assert_fails(cx, cr_dist_crps(cx, cr_dist_find(cx, "normal"), wrong, 2, 0, &a), CR_EARG);
    assert_fails_with(cx, cr_dist_crps(cx, cr_dist_find(cx, "normal"), v, 2, NAN, &a), CR_EARG,
                      "not a finite number");
    assert_true(a == 17 && b == 17);
}

static cr_status both(cr_ctx *cx, void *arg)
{
    cr_status st = CR_OK;
    double    v[] = { 2, 3 }, a, b;
    (void)arg;
    const cr_dist_class *c = cr_dist_find(cx, "weibull");
    if (!c) return CR_ENOMEM;
    CR_TRY(cr_dist_partial_means(cx, c, v, 2, 1, &a, &b));
    CR_TRY(cr_dist_crps(cx, c, v, 2, 1, &a));
done:
    return st;
}

TEST(allocations) { test_every_allocation_fails(both, NULL); }
