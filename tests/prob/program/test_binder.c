/* test_binder.c -- programs and the densities that they must be. */
#include "programs.h"

static const double effect[] = { 28, 8, -3, 7, -1, 1, 18, 12 },
                    error[] = { 15, 10, 16, 11, 9, 11, 10, 18 },
                    school[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, eight = 8, three = 3;
static const cri_program_datum SCHOOLS[] = {
    VECTOR("y", effect),
    VECTOR("sigma", error),
    WHOLES("school", school),
    { .name = "J", .whole = true, .values = &eight },
};
enum { SCHOOLS_DATA = sizeof SCHOOLS / sizeof *SCHOOLS };

static double log_normal_density(double x, double mean, double sd)
{
    return -0.5 * (x - mean) * (x - mean) / (sd * sd) - log(sd) - 0.91893853320467274178;
}

/* Eight schools written three ways, against the density by hand. */
TEST(eight_schools_is_the_density_written_out)
{
    static const char *const TEXTS[] = {
        "mu ~ normal(0, 5)\n tau ~ half_cauchy(5)\n theta[school] ~ normal(mu, tau)\n"
        "y ~ normal(theta[school], sigma)",
        "data { int J; vector[J] y; vector<lower=0>[J] sigma; }\n"
        "parameters { real mu; real<lower=0> tau; vector[J] theta; }\n"
        "model { mu ~ normal(0, 5); tau ~ half_cauchy(5); theta ~ normal(mu, tau);\n"
        "        y ~ normal(theta, sigma); }",
        "data { int J; real y[J]; real sigma[J]; }\n"
        "parameters { real mu; real<lower=0> tau; real theta[J]; }\n"
        "model { target += normal_lpdf(mu | 0, 5) + log(2) + cauchy_lpdf(tau | 0, 5);\n"
        "        for (j in 1:J) { theta[j] ~ normal(mu, tau); y[j] ~ normal(theta[j], sigma[j]); } "
        "}",
    };
    const double u[10] = { 3.1, 0.7, 5, 4, 2, -1, 0.5, 6, 8, 3 }, tau = exp(u[1]);
    double       expected =
        log_normal_density(u[0], 0, 5) + u[1] + log(2 / (M_PI * 5 * (1 + tau * tau / 25)));
    for (size_t j = 0; j < 8; j++)
        expected += log_normal_density(u[2 + j], u[0], tau) +
                    log_normal_density(SCHOOLS[0].values[j], u[2 + j], SCHOOLS[1].values[j]);
    for (size_t i = 0; i < 3; i++) {
        cri_bound p;
        assert_ok(cx, bind_text(cx, TEXTS[i], SCHOOLS, SCHOOLS_DATA, &p));
        assert_int_equal(p.tape.n_parameters, 10);
        assert_close(density_at(cx, &p, u, NULL), expected, 1e-12);
        check_gradient(cx, &p, u);
        /* the loop became vectors */
        assert_true(p.tape.n_ops < 20);
        cri_bound_free(&p);
    }
}

TEST(recurrences_are_followed)
{
    static const double            y[] = { 0.3, -0.4, 0.9, 1.7, 0.2, -1.1, 0.6 };
    static const cri_program_datum SERIES[] = { VECTOR("y", y) };
    const double                   u[4] = { 0.2, 0.5, -0.3, 0.1 }, sd = exp(u[3]);
    double    nu = u[0] + u[1] * u[0], expected = log_normal_density(y[0], nu, sd) + u[3];
    cri_bound p;
    for (size_t t = 1; t < 7; t++) {
        nu = u[0] + u[1] * y[t - 1] + u[2] * (y[t - 1] - nu);
        expected += log_normal_density(y[t], nu, sd);
    }
    for (size_t i = 0; i < 3; i++) expected += log_normal_density(u[i], 0, i == 0 ? 10 : 2);
    expected += log(2 / (M_PI * 2.5 * (1 + sd * sd / 6.25)));
    assert_ok(cx,
              bind_text(cx,
                        "mu ~ normal(0,10); phi ~ normal(0,2); theta ~ normal(0,2)\n"
                        "sigma ~ half_cauchy(2.5)\n"
                        "nu[1] = mu + phi*mu\n"
                        "for (t in 2:size(y)) nu[t] = mu + phi*y[t-1] + theta*(y[t-1] - nu[t-1])\n"
                        "y ~ normal(nu, sigma)",
                        SERIES, 1, &p));
    assert_close(density_at(cx, &p, u, NULL), expected, 1e-12);
    check_gradient(cx, &p, u);
    cri_bound_free(&p);
}

TEST(matrices_multiply_as_they_should)
{
    static const double            X[] = { 1, 2, 1, -1, 1, 0.5 }, y[] = { 0.4, 1.1, -0.6 };
    static const cri_program_datum DATA[] = {
        { .name = "X", .dims = 2, .dim = { 3, 2 }, .values = X },
        VECTOR("y", y),
        { .name = "N", .whole = true, .values = &three },
    };
    const double u[2] = { 0.3, -0.8 };
    cri_bound    p;
    double       expected = 0;
    assert_ok(cx, bind_text(cx,
                            "data { int N; matrix[N, 2] X; vector[N] y; }\n"
                            "parameters { vector[2] b; } model { y ~ normal(X * b, 1.5); }",
                            DATA, 3, &p));
    for (size_t i = 0; i < 3; i++)
        expected += log_normal_density(
            DATA[1].values[i], DATA[0].values[2 * i] * u[0] + DATA[0].values[2 * i + 1] * u[1],
            1.5);
    assert_close(density_at(cx, &p, u, NULL), expected, 1e-12);
    check_gradient(cx, &p, u);
    cri_bound_free(&p);
}

TEST(gradients_of_many_statements_are_those_of_differences)
{
    static const double y[] = { 0.4, 1.1, -0.6, 2.2 }, x[] = { 1, 2, 3, 5 }, k[] = { 2, 0, 5, 1 },
                        c[] = { 1, 3, 2, 3 };
    static const cri_program_datum DATA[] = { VECTOR("y", y), VECTOR("x", x), WHOLES("k", k),
                                              WHOLES("c", c) };
    static const char *const       TEXTS[] = {
              "theta ~ beta(5, 5); mu[1:2] ~ normal(0, 2); s[1:2] ~ half_normal(2)\n"
                    "for (i in 1:size(y)) target += log_mix(theta, normal_lpdf(y[i] | mu[1], s[1]),"
                    " normal_lpdf(y[i] | mu[2], s[2]))",
              "ordered[3] cut\n cut ~ normal(0, 3); b ~ normal(0, 1); c ~ ordered_logistic(b * x, cut)",
              "simplex[3] p\n p ~ dirichlet([1.5, 2, 2.5]'); c ~ categorical(p)",
              "a ~ normal(0, 1); b ~ normal(0, 1); k ~ poisson_log(a + b * log(x) + square(b) / x)",
              "r ~ gamma(2, 1); m ~ lognormal(0, 1); k ~ neg_binomial_2(m * sqrt(x), r)",
              "nu ~ gamma(2, 0.1); a ~ normal(0, 1); s ~ exponential(1); y ~ student_t(nu, a * x, s)",
              "positive_ordered[2] v\n v ~ lognormal(0, 1)\n y ~ normal(cumulative_sum(v)[1], v[2])",
              "b[1:3] ~ normal(0, 1)\n y ~ normal(sum(softmax(b) .* [1, 2, 3]') + log_sum_exp(b) +"
                    " prod(b) + sd(b) + dot_self(b), 1 + b[1]^2)",
              "a ~ normal(0, 1)\n t = tanh(a) + atan(a) + inv_logit(a) + log1p_exp(a) + Phi(a) + cos(a)\n"
                    "y ~ normal(t, exp(a / 3))",
    };
    static const double U[8] = { 0.31, -0.47, 0.82, 0.23, -0.15, 0.6, 0.1, -0.3 };
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        cri_bound p;
        assert_ok(cx, bind_text(cx, TEXTS[i], DATA, 4, &p));
        assert_true(isfinite(density_at(cx, &p, U, NULL)));
        check_gradient(cx, &p, U);
        cri_bound_free(&p);
    }
}

/* A name keeps what it was given when the parts of another are set anew; so does what is in the tape. */
TEST(names_do_not_share_their_numbers)
{
    static const double            y[] = { 0.7 };
    static const cri_program_datum DATA[] = { VECTOR("y", y) };
    static const char *const       TEXTS[] = {
              "a ~ normal(0, 1)\nv[1] = a; v[2] = 2 * a\nw = v\nv[1] = 5 * a\ny ~ normal(w[1] + v[1], 1)",
              "a ~ normal(0, 1)\nc[1] = 1; c[2] = 2\nd = c\nc[1] = 4\ny ~ normal(a * (d[1] + c[1] + 1), "
                    "1)",
              "a ~ normal(0, 1)\nc[1] = 1; c[2] = 2\ns = sum(a * c)\nc[2] = 2\nc[1] = 1\n"
                    "y ~ normal(s + sum(a * c), 1)",
              "a ~ normal(0, 1)\nc[1] = 1; c[2] = 1\ns = sum(a * c)\nc[1] = 3\ny ~ normal(s + sum(a * "
                    "c), 1)",
    };
    const double u = 0.3;
    for (size_t i = 0; i < 4; i++) {
        cri_bound p;
        assert_ok(cx, bind_text(cx, TEXTS[i], DATA, 1, &p));
        assert_close(density_at(cx, &p, &u, NULL),
                     log_normal_density(u, 0, 1) + log_normal_density(0.7, 6 * u, 1), 1e-12);
        cri_bound_free(&p);
    }
}

/* A vector that a loop makes costs what its rows cost, in time and in memory. */
TEST(long_recurrences)
{
    enum { N = 20000 };
    static double y[N];
    for (size_t i = 0; i < N; i++) y[i] = 0.1 * (double)(i % 7);
    const cri_program_datum DATA[] = { VECTOR("y", y) };
    const double            u = 0.4;
    cri_bound               p;
    double                  v = u, expected = log_normal_density(u, 0, 1);
    assert_ok(cx, bind_text(cx,
                            "a ~ normal(0, 1)\nv[1] = a\n"
                            "for (t in 2:size(y)) v[t] = 0.5 * v[t-1] + a\ny ~ normal(v, 1)",
                            DATA, 1, &p));
    for (size_t i = 0; i < N; i++) {
        expected += log_normal_density(y[i], v, 1);
        v = 0.5 * v + u;
    }
    assert_close(density_at(cx, &p, &u, NULL), expected, 1e-12);
    assert_true(cr_ctx_peak_memory(cx) < (size_t)512 << 20);
    cri_bound_free(&p);
}

/* What is wrong, where, and a cure. */
TEST(faults_say_what_and_where)
{
    static const struct {
        const char *text, *sentence;
    } WRONG[] = {
        { "a ~ normal(0, 1)\ny ~ normal(a, sigm)", "2:15: 'sigm' is neither a column" },
        { "y ~ normal(a b)", "1:14: expected ',' or ')'" },
        { "y ~ normal(0)", "normal takes 2 arguments, but 1 is given" },
        { "y ~ norml(0, 1)", "there is no distribution 'norml'" },
        { "a ~ normal(0, 1); y ~ poisson(exp(a))",
          "value 3 is -3, but poisson needs whole numbers" },
        { "a ~ normal(0, 1)\ny ~ normal(b + a, 1)", "2:12: 'b' is neither" },
        { "a ~ normal(0, 1)\ny ~ normal(a, -1)", "argument 2 of normal is -1" },
        { "a[1:3] ~ normal(0, 1)\ny ~ normal(a, 1)", "an argument of 3 values" },
        { "a ~ normal(0, 1)\nif (a > 0) y ~ normal(a, 1)", "cannot depend on a parameter" },
        { "a ~ normal(0, 1)\ny[9] ~ normal(a, 1)", "an index is 9, but must be in 1..8" },
        { "y = 3", "'y' is data" },
        { "y ~ normal(0, 1)", "no parameters" },
        { "a ~ normal(0, 1)\nwhile (1 == 1) { }", "runs on and on" },
        { "data { int J; vector[3] y; } parameters { real a; } model { y ~ normal(a, 1); }",
          "'y' is declared as a vector of 3" },
        { "data { vector[8] z; } parameters { real a; } model { }", "the data have no 'z'" },
    };
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        cri_bound p;
        assert_fails_with(cx, bind_text(cx, WRONG[i].text, SCHOOLS, SCHOOLS_DATA, &p), CR_EDATA,
                          WRONG[i].sentence);
    }
}
