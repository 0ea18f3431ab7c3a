/* test_gp_reference_slow.c -- Gaussian processes against all answers of others that there are: fixed
 * hyper-parameters, and the best values that many starts found; exact, sparse and classification. */
#include "reference_classify.h"
#include "reference_exact.h"
#include "reference_sparse.h"

static void test_exact(void **state)
{
    (void)state;
    check_cases("gpr/", "", SIZE_MAX, 106, check_exact);
}

static void test_exact_optima(void **state)
{
    (void)state;
    check_cases("gpopt/", "", SIZE_MAX, 81, check_exact_optimum);
}

static void test_sparse(void **state)
{
    (void)state;
    check_cases("sparse/", "", SIZE_MAX, 36, check_sparse);
}

static void test_sparse_optima(void **state)
{
    (void)state;
    check_cases("vfeopt/", "", SIZE_MAX, 7, check_sparse_optimum);
}

static void test_classify(void **state)
{
    (void)state;
    check_cases("gpc/", "", SIZE_MAX, 36, check_classify);
}

static void test_classify_optima(void **state)
{
    (void)state;
    check_cases("gpcopt/", "", SIZE_MAX, 6, check_classify_optimum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),         cmocka_unit_test(test_exact_optima),
        cmocka_unit_test(test_sparse),        cmocka_unit_test(test_sparse_optima),
        cmocka_unit_test(test_classify),      cmocka_unit_test(test_classify_optima),
    };
    return cmocka_run_group_tests_name("gp reference, all", tests, NULL, NULL);
}
