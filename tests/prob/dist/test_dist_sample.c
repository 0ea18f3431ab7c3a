/* test_dist_sample.c -- samples follow the distribution function: Kolmogorov-Smirnov for real
 * values, Pearson's chi-square for counts.  Seeds are fixed; the bounds have a chance below 1e-4.
 */
#include "cases.h"
#include "math/special/special.h"
#include "prob/dist/dist.h"

enum { DRAWS = 20000 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The largest distance between the sample's and the true distribution function, times sqrt(n). */
static double ks_distance(const cr_dist_class *c, cri_par p, const double *sorted, size_t n)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double at = cri_dist_cdf(c, p, sorted[i], CRI_LOWER);
        worst = fmax(worst, fmax(at - (double)i / (double)n, (double)(i + 1) / (double)n - at));
    }
    return worst * sqrt((double)n);
}

/* P(chi-square this large or more) over cells of at least 20 expected draws. */
static double pearson(const cr_dist_class *c, cri_par p, const double *sorted, size_t n)
{
    double sum = 0, low, high, before = 0, last = -INFINITY;
    size_t at = 0, cells = 0;
    c->support(p, &low, &high);
    for (double x = low; last < high && x <= high; x++) {
        double cdf = cri_dist_cdf(c, p, x, CRI_LOWER), expected = (cdf - before) * (double)n;
        double rest = cri_dist_cdf(c, p, x, CRI_UPPER) * (double)n;
        if (expected < 20 && rest > 0) continue;
        if (rest < 20) x = high, expected = (1 - before) * (double)n, cdf = 1;
        size_t start = at;
        while (at < n && sorted[at] <= x) at++;
        double seen = (double)(at - start);
        if (expected > 0) sum += (seen - expected) * (seen - expected) / expected;
        cells++;
        before = cdf, last = x;
        if (isinf(x)) break;
    }
    assert_int_equal(at, n);
    return cells < 2 ? 1 : cr_chi2_sf(sum, (double)(cells - 1));
}

TEST(samples)
{
    double *x = malloc(DRAWS * sizeof *x);
    for (size_t i = 0; i < N_CASES; i++) {
        const dist_case     *k = &cases[i];
        const cr_dist_class *c = cr_dist_find(cx, k->name);
        cr_rng               r = cr_rng_stream(2024, i);
        double               low, high;
        assert_ok(cx, cr_dist_sample(cx, c, k->v, k->n, &r, DRAWS, x));
        c->support(case_params(k), &low, &high);
        for (size_t j = 0; j < DRAWS; j++) assert_true(x[j] >= low && x[j] <= high);
        qsort(x, DRAWS, sizeof *x, by_value);
        bool   coarse = strcmp(k->name, "beta") == 0 && k->v[1] < 1; /* atoms at 1 by rounding */
        double off = c->discrete ? pearson(c, case_params(k), x, DRAWS)
                                 : ks_distance(c, case_params(k), x, DRAWS);
        bool   bad = c->discrete ? off < 1e-4 : off > 2.25 && !(coarse && off < 8);
        if (bad)
            fail_msg("%s(%g, ...): %s %g", k->name, k->v[0],
                     c->discrete ? "P =" : "D sqrt(n) =", off);
    }
    free(x);
}

/* Large means, where the samplers change method: mean and spread within five standard errors. */
TEST(large_parameters)
{
    static const dist_case large[] = {
        { "poisson", { 1e9 }, 1 },         { "poisson", { 10.5 }, 1 },
        { "binomial", { 1e12, 0.3 }, 2 },  { "negative-binomial", { 1e6, 50 }, 2 },
        { "von-mises", { 0.5, 1001 }, 2 }, { "von-mises", { 0.5, 999 }, 2 },
        { "von-mises", { 0, 1e10 }, 2 },   { "geometric", { 1e-9 }, 1 },
    };
    double *x = malloc(DRAWS * sizeof *x);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        const dist_case     *k = &large[i];
        const cr_dist_class *c = cr_dist_find(cx, k->name);
        cr_rng               r = cr_rng_stream(7, i);
        double mean = c->mean(case_params(k)), sd = sqrt(c->variance(case_params(k))), m = 0, v = 0;
        assert_ok(cx, cr_dist_sample(cx, c, k->v, k->n, &r, DRAWS, x));
        for (size_t j = 0; j < DRAWS; j++) m += (x[j] - mean) / sd / DRAWS;
        for (size_t j = 0; j < DRAWS; j++) v += pow((x[j] - mean) / sd, 2) / DRAWS;
        assert_true(fabs(m) < 5 / sqrt(DRAWS));
        assert_true(fabs(v - 1) < (strcmp(k->name, "geometric") ? 0.06 : 0.15));
    }
    free(x);
}

/* The same seed gives the same draws; another stream others. */
TEST(streams)
{
    double p[] = { 2, 3 }, a[5], b[5];
    cr_rng r = cr_rng_stream(1, 0), s = cr_rng_stream(1, 0), t = cr_rng_stream(1, 1);
    assert_ok(cx, cr_dist_sample(cx, &cri_dist_gamma, p, 2, &r, 5, a));
    assert_ok(cx, cr_dist_sample(cx, &cri_dist_gamma, p, 2, &s, 5, b));
    assert_memory_equal(a, b, sizeof a);
    assert_ok(cx, cr_dist_sample(cx, &cri_dist_gamma, p, 2, &t, 5, b));
    assert_true(a[0] != b[0]);
}
