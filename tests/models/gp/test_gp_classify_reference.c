/* test_gp_classify_reference.c -- Laplace's approximation against reference answers (those of logit
 * agree with scikit-learn's GaussianProcessClassifier): evidence, gradient, modes, latent normals
 * and probabilities at fixed hyper-parameters, and the best evidence known.  All cases:
 * test_gp_reference_slow.c. */
#include "reference_classify.h"

static void test_fixed(void **state)
{
    (void)state;
    check_cases("gpc/", "", 240, 24, check_classify);
}

static void test_optimum(void **state)
{
    (void)state;
    check_cases("gpcopt/", "", 180, 2, check_classify_optimum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_optimum),
    };
    return cmocka_run_group_tests_name("gp classify reference", tests, NULL, NULL);
}
