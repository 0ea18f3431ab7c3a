/* test_pages.c -- large pages stay inside what was asked for, and change nothing. */
#include "support.h"
#include "base/pages.h"

enum { LARGE = 1 << 21 };

TEST(pages_inside_the_block)
{
    const size_t bytes = 5 * (size_t)LARGE + 12345;
    char        *block = cr_resize(cx, NULL, 0, bytes, 1);
    assert_non_null(block);
    for (size_t used = 0; used < bytes; used += 1234567) {
        memset(block, 'x', used);
        cri_large_pages p = cri_large_pages_in(block, bytes, used);
        if (!p.next) continue; /* none here, or no room for a whole one */
        assert_int_equal((uintptr_t)p.next % LARGE, 0);
        assert_int_equal((p.end - p.next) % LARGE, 0);
        assert_true(p.next >= block + used && p.end > p.next && p.end <= block + bytes);
        assert_true(p.next - (block + used) < LARGE && block + bytes - p.end < LARGE);
        char *first = p.next, *end = p.end;
        cri_large_pages_touch(&p, first);
        assert_ptr_equal(p.next, first);
        cri_large_pages_touch(&p, first + 1);
        assert_ptr_equal(p.next, first + LARGE);
        cri_large_pages_drop(&p);
        assert_ptr_equal(p.next, end);
        assert_true(cri_large_pages_touch(&p, block + bytes));
        for (size_t i = 0; i < used; i++)
            if (block[i] != 'x') fail_msg("byte %zu changed", i);
    }
    cr_free(cx, block, bytes, 1);
}

TEST(small_blocks_have_none)
{
    char            block[64];
    cri_large_pages p = cri_large_pages_in(block, sizeof block, 0);
    assert_null(p.next);
    assert_true(cri_large_pages_touch(&p, block + sizeof block));
    cri_large_pages_drop(&p);
    assert_ptr_equal(p.next, p.end);
}
