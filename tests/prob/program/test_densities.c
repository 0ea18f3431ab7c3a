/* test_densities.c -- every density of programs sums to one, has the derivatives of its differences, and is
 * that of prob/dist where both exist; every parameter's transform has its Jacobian. */
#include "programs.h"

#include "math/quadrature.h"
#include "prob/dist/dist.h"
#include "prob/program/kernels.h"

/* Some parameters of each: off the values that hide a missing factor. */
static const struct {
    const char *name;
    double      parameter[3];
    const char *dist; /* the same in prob/dist, with these parameters; NULL: not there */
    double      as[3];
} CASES[] = {
    { "normal", { 0.7, 1.3 }, "normal", { 0.7, 1.3 } },
    { "std_normal", { 0 }, "normal", { 0, 1 } },
    { "lognormal", { 0.4, 0.8 }, "log-normal", { 0.4, 0.8 } },
    { "student_t", { 3.5, -0.4, 1.7 }, NULL, { 0 } },
    { "cauchy", { 0.3, 1.9 }, "cauchy", { 0.3, 1.9 } },
    { "logistic", { -0.6, 0.7 }, "logistic", { -0.6, 0.7 } },
    { "double_exponential", { 0.2, 1.4 }, "laplace", { 0.2, 1.4 } },
    { "gumbel", { 0.5, 1.2 }, "gumbel", { 0.5, 1.2 } },
    { "exponential", { 2.3 }, "exponential", { 2.3 } },
    { "gamma", { 2.6, 1.7 }, "gamma", { 2.6, 1.7 } },
    { "inv_gamma", { 3.2, 2.1 }, "inverse-gamma", { 3.2, 2.1 } },
    { "chi_square", { 4.3 }, "chi-square", { 4.3 } },
    { "inv_chi_square", { 5.7 }, NULL, { 0 } },
    { "weibull", { 1.8, 2.2 }, "weibull", { 1.8, 2.2 } },
    { "beta", { 2.4, 3.6 }, "beta", { 2.4, 3.6 } },
    { "half_normal", { 1.6 }, NULL, { 0 } },
    { "half_cauchy", { 1.1 }, NULL, { 0 } },
    { "half_student_t", { 3.3, 1.2 }, NULL, { 0 } },
    { "bernoulli", { 0.3 }, "bernoulli", { 0.3 } },
    { "bernoulli_logit", { -0.8 }, NULL, { 0 } },
    { "poisson", { 3.4 }, "poisson", { 3.4 } },
    { "poisson_log", { 1.2 }, NULL, { 0 } },
    { "neg_binomial_2", { 3.7, 2.2 }, NULL, { 0 } },
    { "neg_binomial_2_log", { 1.1, 1.7 }, NULL, { 0 } },
    { "neg_binomial", { 2.4, 0.7 }, NULL, { 0 } },
    { "geometric", { 0.35 }, NULL, { 0 } },
};
enum { N = sizeof CASES / sizeof *CASES };

static double value_of(const cri_density_function *f, size_t i, double y, double *opt_slopes)
{
    double x[4] = { y };
    memcpy(x + 1, CASES[i].parameter, sizeof CASES[i].parameter);
    return f->log_density(x, opt_slopes);
}

typedef struct one {
    const cri_density_function *f;
    size_t                      i;
} one;

static double integrand(double y, void *user)
{
    const one *m = user;
    return exp(value_of(m->f, m->i, y, NULL));
}

TEST(densities_sum_to_one)
{
    for (size_t i = 0; i < N; i++) {
        const cri_density_function *f = cri_density_find(CASES[i].name);
        double                      sum = 0, error;
        assert_non_null(f);
        if (f->whole)
            for (double y = 0; y < 400 && y <= f->high; y++) sum += exp(value_of(f, i, y, NULL));
        else
            assert_ok(cx, cr_integrate(cx, integrand, &(one){ f, i }, f->low, f->high, 1e-11, 1e-11,
                                       &sum, &error));
        assert_close(sum, 1, 1e-8);
    }
}

TEST(densities_have_the_derivatives_of_their_differences)
{
    for (size_t i = 0; i < N; i++) {
        const cri_density_function *f = cri_density_find(CASES[i].name);
        double                      y = f->whole ? 1 : 0.61, slope[4], x[4] = { y };
        memcpy(x + 1, CASES[i].parameter, sizeof CASES[i].parameter);
        f->log_density(x, slope);
        for (size_t k = f->whole; k <= f->parameters; k++) {
            double h = 1e-4, at = x[k], d[2];
            for (int half = 0; half < 2; half++, h /= 2) {
                x[k] = at + h;
                d[half] = f->log_density(x, NULL);
                x[k] = at - h;
                d[half] = (d[half] - f->log_density(x, NULL)) / (2 * h);
                x[k] = at;
            }
            assert_close(slope[k], (4 * d[1] - d[0]) / 3, 1e-8);
        }
    }
}

TEST(densities_are_those_of_the_distributions)
{
    size_t compared = 0;
    for (size_t i = 0; i < N; i++) {
        const cri_density_function *f = cri_density_find(CASES[i].name);
        const cr_dist_class        *d;
        double                      y[2] = { f->whole ? 1 : 0.37, f->whole ? 0 : 0.83 }, value;
        if (!CASES[i].dist) continue;
        d = cr_dist_find(cx, CASES[i].dist);
        assert_non_null(d);
        size_t n = 0;
        while (n < 3 && cr_dist_parameter(d, n)) n++;
        for (int k = 0; k < 2; k++) {
            assert_ok(cx, cr_dist_logpdf(cx, d, CASES[i].as, n, y[k], &value));
            assert_close(value_of(f, i, y[k], NULL), value, 1e-12);
        }
        compared++;
    }
    assert_true(compared >= 15);
}

/* The kernels of many rows are sums of what one row gives, over more than one block, at both ends of the logit. */
TEST(kernels_of_many_rows_are_sums)
{
    enum { ROWS = 700 };
    static const char *const TEXTS[] = { "normal(a * x, 1.3)", "normal(a, s)",
                                         "bernoulli_logit(a * x)", "poisson_log(a * x)" };
    static const char *const ONE[] = { "normal", "normal", "bernoulli_logit", "poisson_log" };
    static double            x[ROWS], s[ROWS], y[ROWS];
    const double             a = 0.8;
    for (size_t i = 0; i < ROWS; i++) x[i] = (double)(i % 41) - 20, s[i] = 0.5 + (double)(i % 5);
    for (size_t k = 0; k < 4; k++) {
        char      text[128];
        double    expected = -0.5 * a * a - 0.91893853320467274178;
        cri_bound p;
        for (size_t i = 0; i < ROWS; i++) {
            y[i] = k < 2    ? 0.3 * (double)(i % 9) - 1
                   : k == 2 ? (double)(i % 3 == 0)
                            : (double)(i % 6);
            double row[3] = { y[i], k == 1 ? a : a * x[i], k == 0 ? 1.3 : s[i] };
            expected += cri_density_find(ONE[k])->log_density(row, NULL);
        }
        cri_program_datum data[] = { VECTOR("x", x), VECTOR("s", s), WHOLES("y", y) };
        data[2].whole = k >= 2;
        snprintf(text, sizeof text, "a ~ normal(0, 1)\ny ~ %s", TEXTS[k]);
        assert_ok(cx, bind_text(cx, text, data, 3, &p));
        assert_close(density_at(cx, &p, &a, NULL), expected, 1e-12);
        check_gradient(cx, &p, &a);
        cri_bound_free(&p);
    }
}

/* --- priors of one parameter: the density over the free number integrates to one -------------- */

static double over_free(double u, void *user)
{
    const cri_bound *p = user;
    return exp(density_at(p->tape.memory.cx, p, &u, NULL));
}

TEST(transforms_have_their_jacobians)
{
    static const char *const PRIORS[] = {
        "a ~ normal(0.4, 1.2)",
        "a ~ gamma(2.3, 1.4)",
        "a ~ beta(2.2, 1.7)",
        "a ~ uniform(-1.5, 4)",
        "a ~ half_cauchy(1.3)",
        "a ~ exponential(0.6)",
        "a ~ inv_gamma(3.1, 2)",
        "a ~ lognormal(0.2, 0.7)",
        "a ~ weibull(1.6, 2)",
        "simplex[2] a\na ~ dirichlet([2.2, 1.6]')",
        "real<lower=0, upper=1> a\na ~ beta(3, 1.5)",
        "real<offset=3, multiplier=2> a\na ~ normal(3.3, 1.7)",
    };
    for (size_t i = 0; i < sizeof PRIORS / sizeof *PRIORS; i++) {
        cri_bound p;
        double    sum, error;
        assert_ok(cx, bind_text(cx, PRIORS[i], NULL, 0, &p));
        assert_int_equal(p.tape.n_parameters, 1);
        assert_ok(cx,
                  cr_integrate(cx, over_free, &p, -INFINITY, INFINITY, 1e-10, 1e-10, &sum, &error));
        assert_close(sum, 1, 1e-7);
        cri_bound_free(&p);
    }
}
