/* test_diagnose.c -- rank diagnostics against stored values of rstan, and by laws that they obey. */
#include "support.h"

#include "base/rng.h"
#include "base/sort.h"
#include "prob/mc/diagnose.h"

enum { CHAINS = 4, MOST = 1000 };

/* The chains of a file, one column each, one after another; their length. */
static size_t read_chains(const char *name, double *out)
{
    static double rows[MOST][CHAINS];
    char          line[512];
    size_t        n = 0;
    FILE         *f = fopen(test_data(name), "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    while (n < MOST && fscanf(f, "%lf,%lf,%lf,%lf", &rows[n][0], &rows[n][1], &rows[n][2],
                              &rows[n][3]) == CHAINS)
        n++;
    fclose(f);
    for (size_t c = 0; c < CHAINS; c++)
        for (size_t i = 0; i < n; i++) out[c * n + i] = rows[i][c];
    return n;
}

/* rstan 2.21.7, by the definitions of Vehtari et al. (2021); its scores are those of
 * (r - 1/2) / S, and the ends of its sums differ a little. */
TEST(stored_chains_have_the_values_of_rstan)
{
    static const struct {
        const char *file;
        size_t      length;
        double      r_hat, bulk, tail, mean, sd, q5, q50, q95, mcse;
    } CASES[] = {
        { "classic/chains/ar0.5.csv", 500, 1.00709337668, 777.920238066431, 1327.92118499574,
          -0.027207515195, 1.154082163784, -1.8802217625, -0.02012984, 1.8513369075,
          0.04137457326 },
        { "classic/chains/ar0.95.csv", 1000, 1.083454540882, 47.615325113087, 149.33495703899,
          -0.2840970730625, 3.102258008772, -5.393980027, -0.20805697, 4.7870956535,
          0.45134412566 },
        { "classic/chains/ar-0.4.csv", 500, 1.000970474265, 5033.96534322905, 2027.74571075418,
          0.019386937025, 1.077925304138, -1.723407136, 0.02085931, 1.741832864, 0.01516061957771 },
        { "classic/chains/shifted.csv", 500, 1.196867188234, 14.843743914715, 99.825789727092,
          0.384671252195, 1.211526282294, -1.519504108, 0.38073916, 2.3990210245, 0.3171776184379 },
    };
    static double     draws[CHAINS * MOST], work[CRI_DRAWS_WORK * CHAINS * MOST];
    cri_draws_summary s;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        size_t n = read_chains(CASES[i].file, draws);
        assert_int_equal(n, CASES[i].length);
        cri_draws_summarise(draws, CHAINS, n, 1, work, &s);
        assert_close(s.r_hat, CASES[i].r_hat, 1e-4);
        assert_relative(s.ess_bulk, CASES[i].bulk, 0.02);
        assert_relative(s.ess_tail, CASES[i].tail, 0.02);
        assert_close(s.mean, CASES[i].mean, 1e-10);
        assert_close(s.sd, CASES[i].sd, 1e-10);
        assert_close(s.q5, CASES[i].q5, 1e-8);
        assert_close(s.q50, CASES[i].q50, 1e-8);
        assert_close(s.q95, CASES[i].q95, 1e-8);
        assert_relative(s.mcse, CASES[i].mcse, 0.02);
    }
}

/* What is said by ranks does not change where the draws are transformed by a rising function. */
TEST(ranks_do_not_see_rising_transforms)
{
    static double     x[2000], y[2000], work[3 * 2000];
    cri_draws_summary a, b;
    cr_rng            r = cr_rng_stream(3, 0);
    for (size_t i = 0; i < 2000; i++) {
        x[i] = cr_rng_normal(&r) + (i % 500 ? 0.6 * x[i - 1] : 0);
        y[i] = exp(3 * x[i]);
    }
    cri_draws_summarise(x, 4, 500, 1, work, &a);
    cri_draws_summarise(y, 4, 500, 1, work, &b);
    assert_close(a.ess_bulk, b.ess_bulk, 1e-9);
    assert_close(a.ess_tail, b.ess_tail, 1e-9);
    assert_true(fabs(a.r_hat - 1) < 0.02);
    /* strided as the columns of a matrix of draws */
    for (size_t i = 0; i < 1000; i++) y[2 * i] = x[i], y[2 * i + 1] = -1;
    cri_draws_summarise(x, 2, 500, 1, work, &a);
    cri_draws_summarise(y, 2, 500, 2, work, &b);
    assert_close(a.r_hat, b.r_hat, 0);
    assert_close(a.mcse_q95, b.mcse_q95, 0);
}

/* A difference of scale alone, which the plain R-hat is blind to, is seen by the folded one. */
TEST(chains_of_unlike_spread_disagree)
{
    static double     x[2000], work[3 * 2000];
    cri_draws_summary s;
    cr_rng            r = cr_rng_stream(4, 0);
    for (size_t i = 0; i < 2000; i++) x[i] = cr_rng_normal(&r) * (i < 500 ? 3 : 1);
    cri_draws_summarise(x, 4, 500, 1, work, &s);
    assert_true(s.r_hat > 1.1);
}

/* The errors of quantiles of independent draws are those of order statistics. */
TEST(errors_of_quantiles_are_as_wide_as_quantiles_vary)
{
    enum { N = 1000, ROUNDS = 400 };
    static double     x[N], work[3 * N], q95[ROUNDS];
    cri_draws_summary s;
    double            error = 0, mean = 0, square = 0;
    for (size_t k = 0; k < ROUNDS; k++) {
        cr_rng r = cr_rng_stream(5, k);
        for (size_t i = 0; i < N; i++) x[i] = cr_rng_exponential(&r);
        cri_draws_summarise(x, 4, N / 4, 1, work, &s);
        q95[k] = s.q95, error += s.mcse_q95 / ROUNDS, mean += s.q95 / ROUNDS;
    }
    for (size_t k = 0; k < ROUNDS; k++) square += (q95[k] - mean) * (q95[k] - mean);
    double sd = sqrt(square / (ROUNDS - 1));
    assert_relative(error, sd, 0.15);
}

TEST(corner_cases_have_their_say)
{
    static const double same[8] = { 2, 2, 2, 2, 2, 2, 2, 2 }, bad[8] = { 1, 2, NAN, 4, 5, 6, 7, 8 },
                        odd[10] = { 1, 5, 2, 4, 3, 2, 6, 1, 4, 5 },
                        energy[6] = { 1, 1, 1, 2, 3, 4 };
    double            work[30];
    cri_draws_summary s;
    cri_draws_summarise(same, 2, 4, 1, work, &s);
    assert_close(s.r_hat, 1, 0);
    assert_close(s.sd, 0, 0);
    assert_close(s.ess_bulk, 8, 0);
    cri_draws_summarise(bad, 2, 4, 1, work, &s);
    assert_true(isnan(s.r_hat) && isnan(s.mean));
    cri_draws_summarise(odd, 2, 5, 1, work, &s);
    assert_close(s.mean, 3.3, 1e-12);
    assert_true(isfinite(s.r_hat) && isfinite(s.ess_bulk));
    cri_draws_summarise(odd, 3, 3, 1, work, &s);
    assert_true(isnan(s.r_hat) && isfinite(s.mean));
    assert_close(cri_energy_bfmi(energy, 2, 3), 1, 1e-12); /* of 2, 3, 4; the other stands still */
    assert_true(isnan(cri_energy_bfmi(energy, 1, 3)));
}
