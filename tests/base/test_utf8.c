/* test_utf8.c -- against an encoder: every character is recognised, no other sequence is. */
#include "support.h"
#include "base/utf8.h"

#include <string.h>

/* RFC 3629, section 3, from the code point. */
static size_t encode(unsigned long c, char out[5])
{
    size_t                     n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = n; i-- > 1; c >>= 6) out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(lead[n] | c);
    out[n] = '\0';
    return n;
}

TEST(every_character)
{
    char text[5];
    for (unsigned long c = 1; c < 0x120000; c++) {
        size_t n = encode(c, text);
        bool   valid = c <= 0x10ffff && !(c >= 0xd800 && c <= 0xdfff);
        if (cri_utf8_length(text) != (valid ? n : 0)) fail_msg("U+%lX", c);
    }
}

/* All texts of three bytes: as many are valid as there are ways to write them with characters. */
TEST(every_three_bytes)
{
    size_t found = 0, two = 0x800 - 0x80, three = 0x10000 - 0x800 - 0x800, one = 0x7f;
    for (unsigned a = 1; a < 256; a++)
        for (unsigned b = 1; b < 256; b++)
            for (unsigned c = 1; c < 256; c++) {
                char text[] = { (char)a, (char)b, (char)c, '\0' };
                found += cri_utf8_valid(text);
            }
    assert_int_equal(found, one * one * one + 2 * one * two + three);
}

TEST(corners)
{
    assert_true(cri_utf8_valid(""));
    assert_true(cri_utf8_valid("caf\xc3\xa9"));
    assert_false(cri_utf8_valid("caf\xe9"));
    assert_false(cri_utf8_valid("caf\xc3")); /* cut off */
    assert_int_equal(cri_utf8_length(""), 1);
}
