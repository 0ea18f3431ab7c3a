/* utf8.c -- the table of well-formed byte sequences of RFC 3629, as comparisons. */
#include "utf8.h"

size_t cri_utf8_length(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    if (p[0] < 0x80) return 1;
    size_t n = p[0] >= 0xc2 && p[0] <= 0xdf ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : 4;
    if (n == 4 && (p[0] < 0xf0 || p[0] > 0xf4)) return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool outside = (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf4 && p[1] > 0x8f);
    return overlong || outside ? 0 : n;
}

bool cri_utf8_valid(const char *text)
{
    for (size_t n; *text; text += n)
        if ((n = cri_utf8_length(text)) == 0) return false;
    return true;
}
