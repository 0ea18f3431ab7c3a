/* test_special_values.c -- special functions against values of many digits: the shared table, the
 * table beside this file (gen_special.py), and some values kept here. */
#include "special_functions.h"

/* The shared table: function,nargs,a,b,c,d,value.  Its digamma_inv is the logarithm of ours. */
TEST(shared_table)
{
    const char *path = test_data("classic/specfun.csv");
    FILE       *f = fopen(path, "r");
    size_t      rows = 0, wrong;
    assert_non_null(f);
    wrong = check_special_file(f, 1, 1, &rows);
    fclose(f);
    assert_int_equal(wrong, 0);
    assert_true(rows > 240);
}

/* The table beside this file: function,a,b,c,value. */
TEST(own_table)
{
    size_t rows = 0, wrong;
    FILE  *f = fopen("tests/math/special_values.csv", "r");
    assert_non_null(f);
    wrong = check_special_file(f, 0, 0, &rows);
    fclose(f);
    assert_int_equal(wrong, 0);
    assert_true(rows > 2000);
}

/* Values known in closed form or from tables (A&S 6.4.10, DLMF 5.4, 10.16); no file needed. */
TEST(known_values)
{
    double zeta3 = 1.2020569031595942854, euler = 0.57721566490153286061;
    assert_relative(cr_tetragamma(1), -2 * zeta3, 1e-15);
    assert_relative(cr_tetragamma(0.5), -14 * zeta3, 1e-15);
    assert_relative(cr_digamma(1), -euler, 1e-15);
    assert_relative(cr_digamma_inv(-euler), 1, 1e-15);
    assert_close(cr_log_digamma_inv(-euler), 0, 1e-15);
    assert_relative(cr_lgamma_abs(0.5), 0.5 * log(M_PI), 1e-15);
    assert_relative(cr_lmvgamma(2, 1.5), 0.5 * log(M_PI) + log(0.5 * sqrt(M_PI)), 1e-15);
    assert_relative(cr_stirlerr(1), 1 - 0.5 * log(2 * M_PI), 1e-14);
    for (double x = 0.1; x < 600; x *= 1.7) { /* order 1/2: elementary */
        double half = 0.5 * log(2 / (M_PI * x));
        assert_close(cr_log_bessel_i(0.5, x), half + x + cr_log1mexp(-2 * x) - M_LN2, 1e-15);
        assert_close(cr_log_bessel_k(0.5, x), 0.5 * log(M_PI / (2 * x)) - x, 1e-15);
        assert_close(cr_log_bessel_k(-1.5, x), 0.5 * log(M_PI / (2 * x)) - x + log1p(1 / x), 1e-15);
    }
    assert_relative(cr_bessel_i1_over_i0(1), 0.5651591039924850272 / 1.2660658777520083356, 1e-15);
    assert_relative(cr_erfinv(0.5), 0.47693627620446987338, 1e-15);
    assert_relative(cr_norm_ppf(0.975), 1.9599639845400542355, 1e-15);
    assert_relative(cr_trunc_norm_var_above(0), 1 - 2 / M_PI, 1e-15);
}
