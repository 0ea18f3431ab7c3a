/* test_gp_reference.c -- exact Gaussian processes against the answers of others: evidence, gradient and
 * predictions at fixed hyper-parameters, and the best evidence that many starts found.  The sets of at most 280
 * rows; all of them: test_gp_reference_slow.c. */
#include "reference_exact.h"

static void test_reference(void **state)
{
    (void)state;
    check_cases("gpr/", "", 280, 63, check_exact);
}

static void test_reference_optimum(void **state)
{
    (void)state;
    check_cases("gpopt/mtcars", "", 280, 7, check_exact_optimum);
    check_cases("gpopt/nile", "", 280, 5, check_exact_optimum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_reference_optimum),
    };
    return cmocka_run_group_tests_name("gp reference", tests, NULL, NULL);
}
