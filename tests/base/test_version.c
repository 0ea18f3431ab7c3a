/* test_version.c -- the library says which one it is. */
#include "support.h"

#include "base/version.h"

#include <string.h>

TEST(abi_is_that_of_the_header) { assert_int_equal(cr_abi_version(), CR_ABI_VERSION); }

TEST(version_is_three_numbers)
{
    const char *v = cr_version();
    assert_string_equal(v, CREDENCE_VERSION);
    assert_int_equal(strspn(v, "0123456789."), strlen(v));
    assert_ptr_not_equal(strchr(v, '.'), strrchr(v, '.'));
}
