/* test_gp_reference.c -- exact Gaussian processes against the answers of others: evidence, gradient
 * and predictions at fixed hyper-parameters, and the best evidence that many starts found.  The
 * sets of at most 280 rows; all of them: test_gp_reference_slow.c. */
#include "reference_exact.h"

TEST(reference) { check_cases("gpr/", "", 280, 63, check_exact); }

TEST(reference_optimum)
{
    check_cases("gpopt/mtcars", "", 280, 7, check_exact_optimum);
    check_cases("gpopt/nile", "", 280, 5, check_exact_optimum);
}

/* Sums and products over time: evidence and extrapolation at the start, and the best evidence
 * known. */
TEST(series)
{
    static const series cases[] = {
        { "gpcomp/nile", "nile.csv", 90, 10, false, true, "0.5*matern12(l=10) + 1",
          -111.04819409791642 },
        { "gpcomp/airpassengers", "airpassengers.csv", 108, 36, true, false,
          "rbf(variance=1, l=5) + rbf(variance=0.1, l=10)*periodic(l=1, p=1 fixed)",
          174.9637604197959 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_series(cx, &cases[i]);
}
