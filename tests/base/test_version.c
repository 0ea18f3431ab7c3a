/* test_version.c -- the library says which one it is. */
#include "support.h"

#include "base/version.h"

#include <string.h>

static void test_abi_is_that_of_the_header(void **state)
{
    (void)state;
    assert_int_equal(cr_abi_version(), CR_ABI_VERSION);
}

static void test_version_is_three_numbers(void **state)
{
    (void)state;
    const char *v = cr_version();
    assert_string_equal(v, CREDENCE_VERSION);
    assert_int_equal(strspn(v, "0123456789."), strlen(v));
    assert_ptr_not_equal(strchr(v, '.'), strrchr(v, '.'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_abi_is_that_of_the_header),
        cmocka_unit_test(test_version_is_three_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
