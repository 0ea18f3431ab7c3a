/* test_dist_table.c -- log-densities, tails, entropies and divergences against a table of 20-digit
 * values at hard arguments. */
#include "support.h"
#include "prob/dist/dist_class.h"
#include "prob/dist/saddle.h"
#include "prob/dist/von_mises.h"

enum { LOGPDF, LOGCDF, LOGSF, CDF, QUANTILE, ENTROPY, KL };

/* A row of the table: x first, then parameters; `shift` parameters are put after those given (the
 * location and scale of a standard member). */
typedef struct entry {
    const char          *name;
    const cr_dist_class *c;
    int                  what;
    size_t               n; /* parameters in the row */
    double               before[1], after[2];
    size_t               n_before, n_after;
    double               tolerance;
} entry;

static const entry entries[] = {
    { "student_t_logpdf", &cri_dist_student_t, LOGPDF, 1, { 0 }, { 0, 1 }, 0, 2, 4e-15 },
    { "student_t_logcdf", &cri_dist_student_t, LOGCDF, 1, { 0 }, { 0, 1 }, 0, 2, 1e-13 },
    { "student_t_ppf", &cri_dist_student_t, QUANTILE, 1, { 0 }, { 0, 1 }, 0, 2, 1e-13 },
    { "gamma_logpdf_shape_rate", &cri_dist_gamma, LOGPDF, 2, { 0 }, { 0 }, 0, 0, 4e-15 },
    { "invgamma_logpdf_shape_scale",
      &cri_dist_inverse_gamma,
      LOGPDF,
      2,
      { 0 },
      { 0 },
      0,
      0,
      4e-15 },
    { "beta_logpdf", &cri_dist_beta, LOGPDF, 2, { 0 }, { 0 }, 0, 0, 4e-15 },
    { "chi2_logsf", &cri_dist_chi_square, LOGSF, 1, { 0 }, { 0 }, 0, 0, 1e-13 },
    { "binom_logpmf", &cri_dist_binomial, LOGPDF, 2, { 0 }, { 0 }, 0, 0, 4e-15 },
    { "binom_logcdf", &cri_dist_binomial, LOGCDF, 2, { 0 }, { 0 }, 0, 0, 1e-13 },
    { "poisson_logpmf", &cri_dist_poisson, LOGPDF, 1, { 0 }, { 0 }, 0, 0, 4e-15 },
    { "poisson_logcdf", &cri_dist_poisson, LOGCDF, 1, { 0 }, { 0 }, 0, 0, 1e-13 },
    { "negbin_logpmf_mean_disp",
      &cri_dist_negative_binomial,
      LOGPDF,
      2,
      { 0 },
      { 0 },
      0,
      0,
      4e-15 },
    { "betabinom_logpmf", &cri_dist_beta_binomial, LOGPDF, 3, { 0 }, { 0 }, 0, 0, 4e-15 },
    { "vonmises_logpdf_mu0", &cri_dist_von_mises, LOGPDF, 1, { 0 }, { 0 }, 1, 0, 4e-15 },
    { "vonmises_cdf_from_minus_pi", &cri_dist_von_mises, CDF, 1, { 0 }, { 0 }, 1, 0, 4e-15 },
    { "weibull_logpdf_shape_scale", &cri_dist_weibull, LOGPDF, 2, { 0 }, { 0 }, 0, 0, 4e-15 },
    { "gumbel_logpdf", &cri_dist_gumbel, LOGPDF, 2, { 0 }, { 0 }, 0, 0, 4e-15 },
    { "logistic_logpdf", &cri_dist_logistic, LOGPDF, 2, { 0 }, { 0 }, 0, 0, 4e-15 },
    { "halfcauchy_logpdf", &cri_dist_half_cauchy, LOGPDF, 1, { 0 }, { 0 }, 0, 0, 4e-15 },
    { "invgauss_logpdf_mu_lambda",
      &cri_dist_inverse_gaussian,
      LOGPDF,
      2,
      { 0 },
      { 0 },
      0,
      0,
      4e-15 },
    { "entropy_gamma_shape_rate", &cri_dist_gamma, ENTROPY, 2, { 0 }, { 0 }, 0, 0, 4e-15 },
    { "entropy_beta", &cri_dist_beta, ENTROPY, 2, { 0 }, { 0 }, 0, 0, 4e-15 },
    { "entropy_student_t", &cri_dist_student_t, ENTROPY, 1, { 0 }, { 0, 1 }, 0, 2, 4e-15 },
    { "entropy_vonmises", &cri_dist_von_mises, ENTROPY, 1, { 0 }, { 0 }, 1, 0, 4e-15 },
    { "entropy_binary_nats", &cri_dist_bernoulli, ENTROPY, 1, { 0 }, { 0 }, 0, 0, 4e-15 },
    { "kl_gamma_shape_rate", &cri_dist_gamma, KL, 2, { 0 }, { 0 }, 0, 0, 4e-15 },
    { "kl_beta", &cri_dist_beta, KL, 2, { 0 }, { 0 }, 0, 0, 4e-15 },
    { "kl_normal_mu_sd", &cri_dist_normal, KL, 2, { 0 }, { 0 }, 0, 0, 4e-15 },
};

static double evaluate(const entry *e, const double *a)
{
    bool    has_x = e->what < ENTROPY;
    double  v[4] = { e->before[0] };
    size_t  n = e->n_before;
    cri_par q = { a + e->n, e->n };
    for (size_t i = 0; i < e->n; i++) v[n++] = a[has_x + i];
    for (size_t i = 0; i < e->n_after; i++) v[n++] = e->after[i];
    cri_par p = { v, n };
    switch (e->what) {
    case LOGPDF:
        return cri_dist_logpdf(e->c, p, a[0]);
    case LOGCDF:
        return cri_dist_cdf(e->c, p, a[0], CRI_LOWER | CRI_LOG);
    case LOGSF:
        return cri_dist_cdf(e->c, p, a[0], CRI_UPPER | CRI_LOG);
    case CDF:
        return cri_dist_cdf(e->c, p, a[0], CRI_LOWER);
    case QUANTILE:
        return cri_dist_quantile(e->c, p, a[0]);
    case ENTROPY:
        return e->c->entropy(p);
    default:
        return e->c->kl(p, q);
    }
}

static const entry *find_entry(const char *name)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (strcmp(entries[i].name, name) == 0) return &entries[i];
    return NULL;
}

TEST(table)
{
    const char *path = test_data("classic/specfun.csv");
    FILE       *f = fopen(path, "r");
    char        line[256];
    size_t      rows = 0, wrong = 0;
    double      worst = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        char *field[7], *at = line;
        for (size_t i = 0; i < 7; i++) field[i] = at ? strsep(&at, ",\n") : NULL;
        const entry *e = find_entry(field[0]);
        if (!e || !field[6]) continue;
        double a[4], v = atof(field[6]);
        for (int i = 0; i < 4; i++) a[i] = atof(field[2 + i]);
        double got = evaluate(e, a), off = fabs(got - v) / fabs(v);
        rows++;
        if (e->tolerance < 1e-14 && off > worst) worst = off;
        if (off <= e->tolerance) continue;
        print_error("%s(%s, %s, %s, %s): got %.17g, expected %s, off by %.3g\n", field[0], field[2],
                    field[3], field[4], field[5], got, field[6], off);
        wrong++;
    }
    fclose(f);
    print_message("%zu rows, worst relative error %.3g\n", rows, worst);
    assert_int_equal(wrong, 0);
    assert_true(rows >= 85);
}

TEST(bessel)
{
    /* I1 / I0 from the same table */
    assert_relative(cri_bessel_scaled(1e-12).ratio, 4.9999999999999998994e-13, 4e-15);
    assert_relative(cri_bessel_scaled(0.5).ratio, 2.4249961258080194535e-1, 4e-15);
    assert_relative(cri_bessel_scaled(2).ratio, 6.9777465796400798201e-1, 4e-15);
    assert_relative(cri_bessel_scaled(10).ratio, 9.4859982595484595897e-1, 4e-15);
    assert_relative(cri_bessel_scaled(1e4).ratio, 9.9994999874987498046e-1, 4e-15);
    double below = 20 * (1 - 1e-15), above = 20; /* where the two series meet */
    assert_relative(cri_bessel_scaled(below).gap, cri_bessel_scaled(above).gap, 2e-14);
    assert_relative(cri_bessel_scaled(below).log_i0, cri_bessel_scaled(above).log_i0, 4e-15);
}

/* Stirling's error against log-gamma in long double, also on both sides of its branches. */
TEST(stirling_error)
{
    static const double at[] = { 1e-8,   0.01, 0.3, 0.49999, 0.5, 0.7, 1,   1.3, 2,
                                 2.9999, 3,    7.7, 9.999,   10,  11,  100, 1e5 };
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        long double x = at[i];
        long double wanted =
            lgammal(x + 1) - (x + 0.5L) * logl(x) + x - 0.918938533204672741780329736L;
        if (at[i] < 1e4) assert_close(cr_stirlerr(at[i]), (double)wanted, 1e-15);
        if (at[i] >= 0.5 && at[i] < 12) assert_relative(cr_stirlerr(at[i]), (double)wanted, 1e-15);
    }
    assert_relative(cr_stirlerr(1e5), 1 / 12e5, 1e-10);
}

TEST(deviance)
{
    static const double at[][2] = { { 3, 2 },  { 1, 1.0000001 }, { 1e9, 1e9 + 1 }, { 5, 80 },
                                    { 80, 5 }, { 1e-300, 1e10 }, { 1, 0.65 },      { 1, 0.55 } };
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        long double x = at[i][0], m = at[i][1], u = (m - x) / x;
        long double wanted = fabsl(u) < 1e-6L ? x * (u * u / 2 - u * u * u / 3 + u * u * u * u / 4)
                                              : x * logl(x / m) + m - x;
        assert_relative(cr_bd0(at[i][0], at[i][1]), (double)wanted, 2e-15);
    }
    assert_true(cr_bd0(0, 7) == 7 && cr_bd0(3, 3) == 0);
    assert_true(cr_bd0(3, INFINITY) == INFINITY && cr_bd0(3, 0) == INFINITY);
}

/* Large counts where log-gammas lose: k = 1 of n = 1e15 at p = 1e-300, and near the middle, where
 * the normal curve with its corrections is known. */
TEST(large_counts)
{
    double p[] = { 1e12, 1e-12 }, r[] = { 1e5, 1e10 };
    assert_relative(cri_dist_binomial.logpdf((cri_par){ p, 2 }, 1), -0.9999999999995, 1e-15);
    double poisson = cri_dist_poisson.logpdf((cri_par){ r, 1 }, 1e5);
    double negbin = cri_dist_negative_binomial.logpdf((cri_par){ r, 2 }, 1e5);
    assert_relative(negbin, poisson - 0.5 * log1p(1e-5), 1e-12); /* a little wider */
}
