/* test_dist.c -- laws that every distribution obeys: densities integrate or sum to one,
 * distribution functions are their integrals, quantiles invert them, moments, entropies and
 * divergences are what their definitions say. */
#include "cases.h"
#include "math/special/special.h"
#include "prob/dist/dist.h"

static void explain(const dist_case *k, const char *what)
{
    print_error("  %s(%g, %g, %g): %s\n", k->name, k->v[0], k->n > 1 ? k->v[1] : 0,
                k->n > 2 ? k->v[2] : 0, what);
}

#define check_case(k, what, got, wanted, tolerance)                                                \
    do {                                                                                           \
        double got_ = (got), wanted_ = (wanted);                                                   \
        if (!(fabs(got_ - wanted_) <= (tolerance)*fmax(fabs(wanted_), 1e-300)) && got_ != wanted_) \
            explain((k), (what));                                                                  \
        assert_relative(got_, wanted_, (tolerance));                                               \
    } while (0)

/* Sums f over the whole numbers of the support, up to `last`. */
static double sum_to(const dist_case *k, const cr_dist_class *c, double last,
                     double (*weight)(const integral *, double), const void *extra)
{
    double   low, high, sum = 0;
    integral q = { c, case_params(k), weight, extra, 0, 0, 1 };
    c->support(q.p, &low, &high);
    for (double x = low; x <= fmin(high, last); x++) {
        double mass = exp(c->logpdf(q.p, x));
        if (mass > 0) sum += weight ? mass * weight(&q, x) : mass;
    }
    return sum;
}

enum { ALL_COUNTS = 20000 };

/* The expectation of `weight`; NAN where the mass outside the doubles would be missed. */
static double expectation(cr_ctx *cx, const dist_case *k, const cr_dist_class *c,
                          double (*weight)(const integral *, double), const void *extra)
{
    if (c->discrete) return sum_to(k, c, ALL_COUNTS, weight, extra);
    integral q = make_integral(c, case_params(k));
    q.weight = weight;
    q.extra = extra;
    return integrate_to(cx, &q, INFINITY);
}

/* Beta with b < 1: near 1 there is mass between the doubles, which only its mirror image sees. */
static bool is_coarse(const dist_case *k) { return strcmp(k->name, "beta") == 0 && k->v[1] < 1; }

TEST(total_is_one)
{
    for (size_t i = 0; i < N_CASES; i++) {
        const cr_dist_class *c = cr_dist_find(cx, cases[i].name);
        assert_ok(cx, cr_dist_check(cx, c, cases[i].v, cases[i].n));
        if (is_coarse(&cases[i])) continue;
        check_case(&cases[i], "total", expectation(cx, &cases[i], c, NULL, NULL), 1, 3e-12);
    }
}

/* The half below 1/2, and the half above it as the mirror image's half below. */
TEST(total_of_coarse_beta)
{
    const cr_dist_class *c = &cri_dist_beta;
    const double         sets[][2] = { { 0.1, 0.2 }, { 20, 0.6 }, { 0.01, 0.01 } };
    for (size_t i = 0; i < 3; i++) {
        double   p[] = { sets[i][0], sets[i][1] }, mirror[] = { p[1], p[0] };
        integral a = make_integral(c, (cri_par){ p, 2 }),
                 b = make_integral(c, (cri_par){ mirror, 2 });
        double x0 = exp(-708), edge = 0; /* below it the density is a power */
        for (int side = 0; side < 2; side++) {
            const double *v = side ? mirror : p;
            if (v[0] < 0.05) edge += exp(v[0] * log(x0) - cr_lbeta(v[0], v[1])) / v[0];
        }
        assert_relative(integrate_to(cx, &a, 0.5) + integrate_to(cx, &b, 0.5) + edge, 1, 1e-11);
    }
}

/* Gamma with shape 1e-3 has half of its mass below the doubles, where it is a power of x. */
TEST(total_of_small_gamma)
{
    double   p[] = { 1e-3, 1 }, edge = -700, part = 0;
    integral k = { &cri_dist_gamma, { p, 2 }, NULL, NULL, 1, 0, 1 };
    assert_ok(cx, cr_integrate(cx, map_integrand, &k, edge, 5, 0, 1e-13, &part, NULL));
    double below = exp(1e-3 * edge - cr_lgamma_abs(1.001));
    assert_relative(part + below, 1, 1e-12);
}

TEST(cdf_is_the_integral)
{
    static const double at[] = { 1e-3, 0.2, 0.5, 0.9 };
    for (size_t i = 0; i < N_CASES; i++) {
        const dist_case     *k = &cases[i];
        const cr_dist_class *c = cr_dist_find(cx, k->name);
        for (size_t j = 0; j < 4; j++) {
            double x = 0, cdf = 0, sf = 0, log_cdf = 0, log_sf = 0, sum;
            assert_ok(cx, cr_dist_quantile(cx, c, k->v, k->n, at[j], &x));
            if (is_coarse(k) && x > 0.5) continue;
            assert_ok(cx, cr_dist_cdf(cx, c, k->v, k->n, x, &cdf));
            assert_ok(cx, cr_dist_sf(cx, c, k->v, k->n, x, &sf));
            assert_ok(cx, cr_dist_logcdf(cx, c, k->v, k->n, x, &log_cdf));
            assert_ok(cx, cr_dist_logsf(cx, c, k->v, k->n, x, &log_sf));
            integral q = { 0 };
            if (!c->discrete) q = make_integral(c, case_params(k));
            sum = c->discrete ? sum_to(k, c, x, NULL, NULL) : integrate_to(cx, &q, x);
            check_case(k, "cdf", cdf, sum, 1e-11);
            assert_close(cdf + sf, 1, 1e-13);
            assert_close(log_cdf, log(cdf), 1e-13);
            if (sf > 1e-3) assert_close(log_sf, log(sf), 1e-12);
        }
    }
}

TEST(quantile_inverts_cdf)
{
    static const double at[] = { 1e-40, 1e-9, 0.025, 0.3, 0.5, 0.75, 0.999 };
    for (size_t i = 0; i < N_CASES; i++) {
        const dist_case     *k = &cases[i];
        const cr_dist_class *c = cr_dist_find(cx, k->name);
        for (size_t j = 0; j < 7; j++) {
            double x = 0, p = 0;
            assert_ok(cx, cr_dist_quantile(cx, c, k->v, k->n, at[j], &x));
            assert_ok(cx, cr_dist_cdf(cx, c, k->v, k->n, x, &p));
            /* one step of the doubles at x is all that x can say */
            double slope = exp(cri_dist_logpdf(c, case_params(k), x)) * fabs(x) * 2.3e-16;
            if (!c->discrete && x == 0 && at[j] < 1e-8) continue; /* below the least double */
            if (!c->discrete && !is_coarse(k)) {
                if (!(fabs(p - at[j]) <= 1e-12 * at[j] + slope)) {
                    explain(k, "quantile");
                    print_error("  at %g: x = %.17g, where the cdf is %.17g\n", at[j], x, p);
                }
                assert_true(fabs(p - at[j]) <= 1e-12 * at[j] + slope);
                continue;
            }
            if (!c->discrete) continue;
            double below = 0, back = 0;
            assert_ok(cx, cr_dist_cdf(cx, c, k->v, k->n, x - 1, &below));
            if (!(p >= at[j] * (1 - 1e-14) && below < at[j])) explain(k, "quantile");
            assert_true(p >= at[j] * (1 - 1e-14) && below < at[j]);
            if (p - below < 1e-12 || p == 1) continue;
            assert_ok(cx, cr_dist_quantile(cx, c, k->v, k->n, p, &back));
            assert_true(back == x);
        }
    }
}

/* --- moments, entropy, divergence ------------------------------------------------------------ */

static double itself(const integral *k, double x) { return (void)k, x; }

static double squared(const integral *k, double x)
{
    double d = x - *(const double *)k->extra;
    return d * d;
}

static double surprise(const integral *k, double x) { return -cri_dist_logpdf(k->c, k->p, x); }

static double log_ratio(const integral *k, double x)
{
    return cri_dist_logpdf(k->c, k->p, x) - cri_dist_logpdf(k->c, *(const cri_par *)k->extra, x);
}

/* Heavy tails leave no mean, or none that quadrature reaches. */
static bool has_moments(const cr_dist_class *c, cri_par p)
{
    double variance = c->variance ? c->variance(p) : NAN;
    return isfinite(variance) && c->mean && isfinite(c->mean(p));
}

TEST(moments)
{
    size_t checked = 0;
    for (size_t i = 0; i < N_CASES; i++) {
        const dist_case     *k = &cases[i];
        const cr_dist_class *c = cr_dist_find(cx, k->name);
        if (!has_moments(c, case_params(k)) || is_coarse(k)) continue;
        double mean = c->mean(case_params(k)), variance = c->variance(case_params(k));
        double m = expectation(cx, k, c, itself, NULL), v = expectation(cx, k, c, squared, &mean);
        if (fabs(mean - m) > 1e-10 * (fabs(mean) + sqrt(variance))) explain(k, "mean");
        assert_true(fabs(mean - m) <= 1e-10 * (fabs(mean) + sqrt(variance)));
        check_case(k, "variance", v, variance, strcmp(k->name, "inverse-gamma") ? 1e-9 : 1e-7);
        checked++;
    }
    assert_true(checked > 40);
}

TEST(entropy)
{
    for (size_t i = 0; i < N_CASES; i++) {
        const dist_case     *k = &cases[i];
        const cr_dist_class *c = cr_dist_find(cx, k->name);
        double               entropy = 0;
        if (!c->entropy || is_coarse(k)) continue;
        assert_ok(cx, cr_dist_entropy(cx, c, k->v, k->n, &entropy));
        double sum = expectation(cx, k, c, surprise, NULL);
        if (fabs(sum - entropy) > 1e-10 * fmax(1, fabs(entropy))) explain(k, "entropy");
        assert_close(sum, entropy, 1e-10);
    }
}

TEST(mode_is_highest)
{
    for (size_t i = 0; i < N_CASES; i++) {
        const dist_case     *k = &cases[i];
        const cr_dist_class *c = cr_dist_find(cx, k->name);
        cri_par              p = case_params(k);
        double               mode = c->mode ? c->mode(p) : NAN;
        if (isnan(mode)) continue;
        double top = cri_dist_logpdf(c, p, mode);
        for (double q = 0.02; q < 1; q += 0.02) {
            if (cri_dist_logpdf(c, p, cri_dist_quantile(c, p, q)) > top + 1e-12) explain(k, "mode");
            assert_true(cri_dist_logpdf(c, p, cri_dist_quantile(c, p, q)) <= top + 1e-12);
        }
        double step = c->discrete ? 1 : 1e-4 * (cri_dist_quantile(c, p, 0.75) - mode);
        assert_true(cri_dist_logpdf(c, p, mode + step) <= top + 1e-12);
        assert_true(cri_dist_logpdf(c, p, mode - step) <= top + 1e-12);
    }
}

/* Neighbours in the table of the same name and size; also each one moved a little. */
TEST(kl)
{
    size_t checked = 0;
    for (size_t i = 0; i < N_CASES; i++) {
        const dist_case     *k = &cases[i];
        const cr_dist_class *c = cr_dist_find(cx, k->name);
        double               near[4], kl = -1, same = -1;
        if (!cr_dist_offers(c, "kl") || is_coarse(k)) continue;
        for (size_t j = 0; j < k->n; j++) near[j] = k->v[j] * (j % 2 ? 0.93 : 1.04);
        if (c->params[0].shown.given) near[0] = k->v[0];
        for (size_t j = 0; j < k->n && cri_dist_param_count(c) == k->n; j++)
            if (c->params[j].domain->whole) near[j] = floor(near[j]);
        if (strcmp(k->name, "categorical") == 0)
            near[0] = 0.25, near[1] = 0.25, near[2] = 0.25, near[3] = 0.25;
        if (strcmp(k->name, "uniform") == 0) near[1] = 2.5;
        if (k->n == 1 && c->params[0].domain->high == 1) near[0] = 0.7 * k->v[0];
        if (k->n == 1 && strcmp(k->name, "categorical") == 0) near[0] = 1;
        cri_par other = { near, k->n };
        assert_ok(cx, cr_dist_kl(cx, c, k->v, k->n, k->v, k->n, &same));
        assert_ok(cx, cr_dist_kl(cx, c, k->v, k->n, near, k->n, &kl));
        if (!(fabs(same) < 1e-14)) explain(k, "divergence from itself");
        assert_true(fabs(same) < 1e-14 && kl >= 0);
        if (isinf(kl) || strcmp(k->name, "geometric") == 0) continue;
        double sum = expectation(cx, k, c, log_ratio, &other);
        if (!(fabs(sum - kl) <= 1e-9 * fmax(kl, 1e-3)))
            explain(k, "divergence"), print_error("  %.17g, by quadrature %.17g\n", kl, sum);
        assert_true(fabs(sum - kl) <= 1e-9 * fmax(kl, 1e-3));
        checked++;
    }
    assert_true(checked > 35);
}

/* --- exponential families -------------------------------------------------------------------- */

/* The slope of A by central differences is the mean of the statistics; log p(x) - eta T(x) + A is
 * the same for every parameter. */
TEST(log_partition)
{
    size_t checked = 0;
    for (size_t i = 0; i < N_CASES; i++) {
        const dist_case     *k = &cases[i];
        const cr_dist_class *c = cr_dist_find(cx, k->name);
        size_t               m = cr_dist_natural_count(c, k->n);
        double               eta[4], mean[4], A = 0, t[4];
        if (!c->family || m == 0 || cr_dist_natural(cx, c, k->v, k->n, eta, mean, &A) != CR_OK)
            continue;
        cri_par p = case_params(k);
        for (size_t j = 0; j < m; j++) {
            double h = eta[j] != 0 ? 1e-5 * fabs(eta[j]) : 1e-6, old = eta[j], up, down;
            eta[j] = old + h;
            up = c->family->log_partition(p, eta);
            eta[j] = old - h;
            down = c->family->log_partition(p, eta);
            eta[j] = old;
            double scale = fmax(fabs(mean[j]), fabs(A) * 1e-15 / h * 1e7);
            if (!(fabs((up - down) / (2 * h) - mean[j]) <= 1e-6 * fmax(scale, 1e-8)))
                explain(k, "slope of A");
            assert_true(fabs((up - down) / (2 * h) - mean[j]) <= 1e-6 * fmax(scale, 1e-8));
        }
        double base[2];
        for (int j = 0; j < 2; j++) { /* the base measure, from two members of the family */
            double v[4], e[4], unused[4], a = 0, sum = 0, x = cri_dist_quantile(c, p, 0.4);
            for (size_t l = 0; l < k->n; l++) v[l] = k->v[l] * (j ? 0.9 : 1);
            if (c->params[0].shown.given) v[0] = k->v[0];
            if (strcmp(k->name, "categorical") == 0) memcpy(v, k->v, sizeof v);
            if (strcmp(k->name, "negative-binomial") == 0) v[1] = k->v[1];
            assert_ok(cx, cr_dist_natural(cx, c, v, k->n, e, unused, &a));
            cri_dist_statistic(c, p, x, t);
            for (size_t l = 0; l < m; l++) sum += e[l] * t[l];
            base[j] = cri_dist_logpdf(c, (cri_par){ v, k->n }, x) - sum + a;
            if (!isfinite(base[j])) base[j] = 0;
        }
        if (fabs(base[0] - base[1]) > 1e-9 * fmax(1, fabs(A))) explain(k, "base measure");
        assert_true(fabs(base[0] - base[1]) <= 1e-9 * fmax(1, fabs(A)));
        checked++;
    }
    assert_true(checked > 25);
}

/* --- intervals, known numbers ---------------------------------------------------------------- */

TEST(hdi_is_shortest)
{
    size_t checked = 0;
    for (size_t i = 0; i < N_CASES; i++) {
        const dist_case     *k = &cases[i];
        const cr_dist_class *c = cr_dist_find(cx, k->name);
        double               low = 0, high = 0, a = 0, b = 0, mass, p_low = 0, p_high = 0;
        if (cr_dist_hdi(cx, c, k->v, k->n, 0.9, &low, &high) != CR_OK) continue;
        assert_ok(cx, cr_dist_interval(cx, c, k->v, k->n, 0.9, &a, &b));
        assert_ok(cx, cr_dist_cdf(cx, c, k->v, k->n, c->discrete ? low - 1 : low, &p_low));
        assert_ok(cx, cr_dist_cdf(cx, c, k->v, k->n, high, &p_high));
        mass = p_high - p_low;
        if (c->discrete)
            assert_true(mass >= 0.9 - 1e-12);
        else
            check_case(k, "mass", mass, 0.9, 1e-9);
        if (!(high - low <= (b - a) * (1 + 1e-9) + (c->discrete ? 1 : 0))) explain(k, "length");
        assert_true(high - low <= (b - a) * (1 + 1e-9) + (c->discrete ? 1 : 0));
        checked++;
    }
    assert_true(checked > 45);
}

TEST(known_numbers)
{
    double               p[] = { 12, 3 }, mean = 0, variance = 0, x = 0;
    const cr_dist_class *beta = cr_dist_find(cx, "beta");
    assert_ok(cx, cr_dist_mean(cx, beta, p, 2, &mean));
    assert_ok(cx, cr_dist_variance(cx, beta, p, 2, &variance));
    assert_relative(mean, 0.8, 1e-15);
    assert_relative(sqrt(variance), 0.1, 1e-15);
    assert_ok(cx, cr_dist_mode(cx, beta, p, 2, &x));
    assert_relative(x, 11.0 / 13, 1e-15);
    double cat[] = { 0.2, 0.3, 0.1, 0.4 };
    assert_ok(cx, cr_dist_quantile(cx, cr_dist_find(cx, "categorical"), cat, 4, 0.5, &x));
    assert_true(x == 1);
    double sums[] = { 0.7, 0.1, 0.2 }; /* 0.7 + 0.1 falls short of 0.8 by rounding only */
    assert_ok(cx, cr_dist_quantile(cx, cr_dist_find(cx, "categorical"), sums, 3, 0.8, &x));
    assert_true(x == 1);
    double bad_hdi[] = { 0.5, 0.5 }, low = 7, high = 8;
    assert_fails_with(cx, cr_dist_hdi(cx, beta, bad_hdi, 2, 0.9, &low, &high), CR_ENUMERIC,
                      "not one interval");
    assert_true(low == 7 && high == 8);
}

/* Many points at once are the points one by one; one that fails leaves all as they were. */
TEST(many_points_are_those_one_by_one)
{
    const cr_dist_class *gamma = cr_dist_find(cx, "gamma");
    const double         params[] = { 2.5, 0.7 }, x[] = { 0.3, 1.9, 40 };
    double               many[3] = { 7, 7, 7 }, one = 0;
    assert_ok(cx, cr_dist_points(cx, gamma, params, 2, "sf", x, 3, many));
    for (size_t i = 0; i < 3; i++) {
        assert_ok(cx, cr_dist_sf(cx, gamma, params, 2, x[i], &one));
        assert_true(one == many[i]);
    }
    assert_ok(cx, cr_dist_points(cx, gamma, params, 2, "pdf", x, 1, many));
    assert_ok(cx, cr_dist_logpdf(cx, gamma, params, 2, x[0], &one));
    assert_true(many[0] == exp(one));
    assert_ok(cx, cr_dist_points(cx, gamma, params, 2, "cdf", x, 0, NULL));
    assert_fails_with(cx, cr_dist_points(cx, gamma, params, 2, "pfd", x, 3, many), CR_EARG,
                      "no quantity 'pfd'");
    assert_fails(cx, cr_dist_points(cx, gamma, params, 2, "quantile", x, 3, many), CR_EARG);
    assert_true(many[0] == exp(one));
}
