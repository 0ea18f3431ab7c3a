/* test_dist_fit.c -- maximum likelihood: better than every neighbour, near the truth, weights count
 * as repetitions, impossible data are refused. */
#include "cases.h"
#include "base/context_internal.h"
#include "math/special/special.h"
#include "prob/dist/dist.h"

enum { N = 200 };

/* Cases whose family can be fitted to a sample of their own. */
static bool can_fit(const dist_case *k)
{
    static const char *const not_these[] = { "binomial 0", "binomial 1", "categorical 1" };
    char                     key[64];
    snprintf(key, sizeof key, "%s %g", k->name, k->v[0]);
    for (size_t i = 0; i < 3; i++)
        if (strcmp(key, not_these[i]) == 0) return false;
    if (strcmp(k->name, "student-t") == 0) return k->v[0] == 4.5;
    if (strcmp(k->name, "beta-binomial") == 0) return k->v[1] == 2;
    if (strcmp(k->name, "negative-binomial") == 0) return k->v[0] == 5;
    if (strcmp(k->name, "beta") == 0) return k->v[1] > 1;
    if (strcmp(k->name, "poisson") == 0) return k->v[0] > 1;
    return true;
}

static double log_likelihood(const cr_dist_class *c, const double *v, size_t n, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < N; i++) sum += cri_dist_logpdf(c, (cri_par){ v, n }, x[i]);
    return sum;
}

TEST(beats_neighbours)
{
    size_t fitted = 0;
    for (size_t i = 0; i < N_CASES; i++) {
        const dist_case     *k = &cases[i];
        const cr_dist_class *c = cr_dist_find(cx, k->name);
        double               x[N], v[4] = { k->v[0], NAN, NAN, NAN }, ll = 0;
        cr_rng               r = cr_rng_stream(99, i);
        if (!can_fit(k)) continue;
        for (size_t l = 0; l < 4 && cr_dist_parameter(c, l); l++)
            if (cr_dist_parameter(c, l) && cr_dist_parameter(c, l)->given) v[l] = k->v[l];
        assert_ok(cx, cr_dist_sample(cx, c, k->v, k->n, &r, N, x));
        if (cr_dist_fit(cx, c, x, NULL, N, v, k->n, &ll) != CR_OK)
            fail_msg("%s(%g, ...): %s", k->name, k->v[0], cr_error(cx));
        assert_relative(ll, log_likelihood(c, v, k->n, x), 1e-12);
        double truth = log_likelihood(c, k->v, k->n, x);
        if (ll < truth - 1e-9 * fabs(truth)) fail_msg("%s: the truth is better", k->name);
        for (size_t j = 0; j < 100 && k->n < 4; j++) {
            double w[4], size = j % 2 ? 1e-3 : 1e-2;
            for (size_t l = 0; l < k->n; l++)
                w[l] = c->params[l].shown.given
                           ? v[l]
                           : v[l] + size * (fabs(v[l]) + 0.1) * cr_rng_normal(&r);
            if (cr_dist_check(cx, c, w, k->n) != CR_OK) continue;
            double there = log_likelihood(c, w, k->n, x);
            if (there > ll + 1e-11 * fabs(ll))
                fail_msg("%s: (%g, %g, %g) has %.15g, its neighbour %.15g", k->name, v[0], v[1],
                         v[2], ll, there);
        }
        fitted++;
    }
    assert_true(fitted >= 35);
}

/* The gradient at the maximum is zero, by central differences: sharper than neighbours. */
TEST(gradient_is_zero)
{
    static const dist_case smooth[] = {
        { "beta", { 12, 3 }, 2 },
        { "gamma", { 2, 3 }, 2 },
        { "student-t", { 4.5, 0.3, 1.2 }, 3 },
        { "logistic", { 0.2, 1.4 }, 2 },
        { "cauchy", { -1.3, 2.7 }, 2 },
        { "weibull", { 1.5, 2.2 }, 2 },
        { "gumbel", { 0.7, 1.9 }, 2 },
        { "negative-binomial", { 5, 2 }, 2 },
        { "beta-binomial", { 20, 2, 3 }, 3 },
        { "von-mises", { 0.4, 2 }, 2 },
        { "inverse-gamma", { 3.3, 2.1 }, 2 },
        { "chi-square", { 4 }, 1 },
        { "half-cauchy", { 2.5 }, 1 },
        { "inverse-gaussian", { 1.3, 3.1 }, 2 },
        { "skew-normal", { 0.4, 1.3, 4 }, 3 },
    };
    for (size_t i = 0; i < sizeof smooth / sizeof *smooth; i++) {
        const dist_case     *k = &smooth[i];
        const cr_dist_class *c = cr_dist_find(cx, k->name);
        double               x[N], v[3] = { k->v[0], 0, 0 };
        cr_rng               r = cr_rng_stream(5, i);
        assert_ok(cx, cr_dist_sample(cx, c, k->v, k->n, &r, N, x));
        assert_ok(cx, cr_dist_fit(cx, c, x, NULL, N, v, k->n, NULL));
        for (size_t j = 0; j < k->n; j++) {
            if (c->params[j].shown.given) continue;
            double h = 1e-4 * fmax(fabs(v[j]), 0.1), w[3] = { v[0], v[1], v[2] }, up, down;
            w[j] = v[j] + h;
            up = log_likelihood(c, w, k->n, x);
            w[j] = v[j] - h;
            down = log_likelihood(c, w, k->n, x);
            double middle = log_likelihood(c, v, k->n, x),
                   bend = (up + down - 2 * middle) / (h * h);
            double off = (up - down) / (2 * h) / bend; /* how far the top is, by Newton */
            if (!(fabs(off) < 2e-6 * fmax(1, fabs(v[j]))))
                print_error("%s: %g of %g\n", k->name, off, v[j]);
            assert_true(fabs(off) < 2e-6 * fmax(1, fabs(v[j])));
            assert_true(bend < 0);
        }
    }
}

/* Weights 2 and 3 are the same as repeating values; weight 0 the same as leaving them out. */
TEST(weights)
{
    for (size_t i = 0; i < N_CASES; i++) {
        const dist_case     *k = &cases[i];
        const cr_dist_class *c = cr_dist_find(cx, k->name);
        double x[60], w[60], y[200], a[4] = { k->v[0] }, b[4] = { k->v[0] }, la = 0, lb = 0;
        size_t m = 0;
        cr_rng r = cr_rng_stream(3, i);
        if (!can_fit(k)) continue;
        assert_ok(cx, cr_dist_sample(cx, c, k->v, k->n, &r, 60, x));
        for (size_t j = 0; j < 60; j++) {
            w[j] = (double)((j + 1) % 4);
            for (size_t l = 0; l < (j + 1) % 4; l++) y[m++] = x[j];
        }
        cr_status first = cr_dist_fit(cx, c, x, w, 60, a, k->n, &la);
        cr_status second = cr_dist_fit(cx, c, y, NULL, m, b, k->n, &lb);
        assert_int_equal(first, second);
        if (first != CR_OK) continue;
        assert_relative(la, lb, 1e-11);
        for (size_t j = 0; j < k->n; j++)
            if (!(fabs(a[j] - b[j]) <= 1e-5 * (fabs(b[j]) + 1e-3)))
                fail_msg("%s: parameter %zu is %g or %g", k->name, j, a[j], b[j]);
    }
}

/* Large samples come near the truth. */
TEST(consistent)
{
    enum { MANY = 4000 };
    static const dist_case some[] = { { "gamma", { 0.3, 2 }, 2 },
                                      { "beta", { 0.4, 1.7 }, 2 },
                                      { "student-t", { 3, 5, 0.2 }, 3 },
                                      { "von-mises", { 2, 8 }, 2 },
                                      { "beta-binomial", { 12, 0.8, 2 }, 3 },
                                      { "negative-binomial", { 3, 0.7 }, 2 } };
    double                *x = malloc(MANY * sizeof *x);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        const dist_case     *k = &some[i];
        const cr_dist_class *c = cr_dist_find(cx, k->name);
        double               v[3] = { k->v[0], 0, 0 };
        cr_rng               r = cr_rng_stream(12, i);
        assert_ok(cx, cr_dist_sample(cx, c, k->v, k->n, &r, MANY, x));
        for (size_t j = 0; j < MANY; j++)
            if (c == &cri_dist_beta && x[j] == 1) x[j] = 1 - 0x1p-53;
        assert_ok(cx, cr_dist_fit(cx, c, x, NULL, MANY, v, k->n, NULL));
        for (size_t j = 0; j < k->n; j++) assert_relative(v[j], k->v[j], 0.15);
    }
    free(x);
}

TEST(refusals)
{
    static const struct {
        const char *name;
        double      given, x[3];
        size_t      n;
        const char *says;
    } bad[] = {
        { "normal", 0, { 1, 1, 1 }, 3, "all values are 1" },
        { "normal", 0, { 1, NAN, 1 }, 3, "value 2 is nan" },
        { "normal", 0, { 1, 2, INFINITY }, 3, "value 3 is inf" },
        { "normal", 0, { 1 }, 0, "no values" },
        { "gamma", 0, { 1, -2, 3 }, 3, "value 2 is -2, but must be >0" },
        { "gamma", 0, { 1, 0, 3 }, 3, "value 2 is 0, but must be >0" },
        { "beta", 0, { 0.5, 1, 0.2 }, 3, "value 2 is 1, but must be 0<..<1" },
        { "poisson", 0, { 1, 2.5, 3 }, 3, "value 2 is 2.5, but must be whole" },
        { "poisson", 0, { 0, 0, 0 }, 3, "all values are 0" },
        { "binomial", 5, { 1, 6, 2 }, 3, "more than the 5 trials" },
        { "binomial", 2.5, { 1, 2, 2 }, 3, "trials is 2.5" },
        { "hypergeometric", 100, { 80, 2, 89 }, 3, "more than the 88 draws" },
        { "hypergeometric", 100, { 0, 2, 80 }, 3, "no number of marked items" },
        { "hypergeometric", 80, { 0, 2, 8 }, 3, "88 are drawn, but there are only 80" },
        { "skew-normal", 0, { 3, 3, 3 }, 3, "all values are 3" },
        { "bernoulli", 0, { 0, 1, 2 }, 3, "must be 0 or 1" },
        { "negative-binomial", 0, { 3, 3, 4 }, 3, "fit a poisson" },
        { "beta-binomial", 10, { 5, 5, 6 }, 3, "not above that of a binomial" },
        { "beta-binomial", 10, { 0, 10, 0 }, 3, "no value lies between" },
        { "cauchy", 0, { 1, 1, 2 }, 3, "half of the values" },
        { "von-mises", 0, { 1, 1, 1 }, 3, "directions are the same" },
        { "exponential", 0, { 0, 0, 0 }, 3, "all values are 0" },
        { "half-cauchy", 0, { 0, 0, 5 }, 3, "half of the values are 0" },
        { "uniform", 0, { 2, 2, 2 }, 3, "all values are 2" },
        { "pareto", 1, { 2, 1, 3 }, 3, "not above the location" },
        { "pareto", 0, { 2, 2, 2 }, 3, "all values are 2" },
        { "categorical", 0, { 0, 1, 7 }, 3, "numbered from 0" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const cr_dist_class *c = cr_dist_find(cx, bad[i].name);
        double               v[3] = { bad[i].given, 77, 88 }, ll = 99;
        size_t               n = strcmp(bad[i].name, "categorical") ? cri_dist_param_count(c) : 3;
        cr_status            st = cr_dist_fit(cx, c, bad[i].x, NULL, bad[i].n, v, n, &ll);
        assert_true(st == CR_EDATA || st == CR_EARG);
        if (!strstr(cr_error(cx), bad[i].says))
            fail_msg("%s: says '%s'", bad[i].name, cr_error(cx));
        assert_true(v[0] == bad[i].given && v[1] == 77 && ll == 99);
    }
    double x[] = { 1, 2, 3 }, w[] = { 1, -1, 1 }, none[] = { 0, 0, 0 }, v[] = { 77, 88 };
    assert_fails_with(cx, cr_dist_fit(cx, &cri_dist_normal, x, w, 3, v, 2, NULL), CR_EDATA,
                      "weight 2 is -1");
    assert_fails_with(cx, cr_dist_fit(cx, &cri_dist_normal, x, none, 3, v, 2, NULL), CR_EDATA,
                      "weights are 0");
    assert_fails_with(cx, cr_dist_fit(cx, &cri_dist_normal, x, NULL, 3, v, 3, NULL), CR_EARG,
                      "parameters");
}

static cr_status fit_all(cr_ctx *cx, void *arg)
{
    double x[] = { 1, 2, 2.5, 4, 9 }, v[3] = { 0, 0, 0 };
    return cr_dist_fit(cx, arg, x, NULL, 5, v, cri_dist_param_count(arg), NULL);
}

static void count_warnings(void *user, cr_log_level level, const char *text)
{
    size_t *n = user;
    if (level == CR_LOG_WARNING && strstr(text, "no heavier than a normal's")) ++*n;
}

/* Tails lighter than a normal's: df runs away, which is said; heavy ones are fitted in silence. */
TEST(practically_normal)
{
    double light[N], heavy[] = { -9, -1, -0.5, 0, 0.4, 1, 20 };
    double v[3] = { 0, 0, 0 };
    size_t heard = 0;
    cr_ctx_set_log(cx, count_warnings, &heard);
    for (size_t i = 0; i < N; i++) light[i] = cr_norm_ppf(((double)i + 0.5) / N);
    assert_ok(cx, cr_dist_fit(cx, &cri_dist_student_t, heavy, NULL, 7, v, 3, NULL));
    assert_int_equal(heard, 0);
    assert_true(v[0] < 5);
    assert_ok(cx, cr_dist_fit(cx, &cri_dist_student_t, light, NULL, N, v, 3, NULL));
    assert_int_equal(heard, 1);
    assert_true(v[0] > 1e5);
}

TEST(allocations)
{
    const cr_dist_class *with[] = { &cri_dist_laplace, &cri_dist_cauchy, &cri_dist_student_t,
                                    &cri_dist_normal };
    for (size_t i = 0; i < 4; i++) test_every_allocation_fails(fit_all, (void *)(uintptr_t)with[i]);
}

/* The time limit leaves the parameters of the last step, which are better than none. */
TEST(a_time_limit_leaves_the_steps_so_far)
{
    const cr_dist_class *c = cr_dist_find(cx, "student-t");
    cr_rng               r = cr_rng_stream(61, 0);
    double               x[400], some[3] = { NAN, NAN, NAN }, all[3] = { NAN, NAN, NAN }, l, most;
    for (size_t i = 0; i < 400; i++) x[i] = 5 + 2 * cr_rng_normal(&r) / sqrt(cr_rng_uniform(&r));
    assert_ok(cx, cr_dist_fit(cx, c, x, NULL, 400, all, 3, &most));
    cri_ctx_run_out_at(cx, 2);
    assert_ok(cx, cr_dist_fit(cx, c, x, NULL, 400, some, 3, &l));
    cri_ctx_run_out_at(cx, 0);
    assert_true(cri_ctx_take_late(cx));
    for (size_t k = 0; k < 3; k++) assert_true(isfinite(some[k]));
    assert_true(l < most);
}
