/* test_gp_reference_slow.c -- Gaussian processes against all answers of others that there are:
 * fixed hyper-parameters, and the best values that many starts found; exact, sparse and
 * classification. */
#include "gp_known.h"
#include "reference_classify.h"
#include "reference_exact.h"
#include "reference_sparse.h"

TEST(exact) { check_cases("gpr/", "", SIZE_MAX, 106, check_exact); }

TEST(exact_optima)
{
    leave_to_other_builds();
    check_cases("gpopt/", "", SIZE_MAX, 81, check_exact_optimum);
}

/* Fits of 400 rows, whose search begins with half of them. */
TEST(best_known)
{
    leave_to_other_builds();
    static const known_fit cases[] = {
        { "winequality_red", "quality", 3, 400, "matern52(ard)", -322.2579 },
        { "winequality_red", "quality", 1, 400, "rbf(ard)", 136.1336 },
        { "yacht", "resistance", 1, 400, "rbf(ard)", -235.6340 },
        { "airfoil", "spl", 3, 400, "rbf", -1286.4044 },
        { "co2", "co2_ppm", 1, 400, "rbf*periodic", -260.4672 },
        { "co2", "co2_ppm", 1, 400, "rbf+rbf*periodic", -101.1293 },
    };
    check_known(cx, cases, sizeof cases / sizeof *cases);
}

/* Trend, season and two more terms of carbon dioxide: the best evidence of several starts of
 * others, with values given and without. */
TEST(series)
{
    leave_to_other_builds();
    static const series carbon[] = {
        { "gpcomp/co2", "co2.csv", 372, 96, false, false,
          "rbf(variance=2500, l=50) + rbf(variance=4, l=100)*periodic(l=1, p=1 fixed) + "
          "rq(variance=0.25, l=1, alpha=1)"
          " + rbf(variance=0.01, l=0.1)",
          -66.08733041418992 },
        { "gpcomp/co2", "co2.csv", 372, 96, false, false,
          "rbf + rbf*periodic(p=1 fixed) + rq + rbf", -66.08733041418992 },
    };
    for (size_t i = 0; i < sizeof carbon / sizeof *carbon; i++) check_series(cx, &carbon[i]);
}

TEST(sparse) { check_cases("sparse/", "", SIZE_MAX, 36, check_sparse); }

TEST(sparse_optima)
{
    leave_to_other_builds();
    check_cases("vfeopt/", "", SIZE_MAX, 7, check_sparse_optimum);
}

TEST(classify) { check_cases("gpc/", "", SIZE_MAX, 36, check_classify); }

TEST(classify_optima)
{
    leave_to_other_builds();
    check_cases("gpcopt/", "", SIZE_MAX, 6, check_classify_optimum);
}
