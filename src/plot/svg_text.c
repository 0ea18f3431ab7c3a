/* svg_text.c -- text of unknown origin: decoding, and about how much room it takes. */
#include "svg.h"

#include <string.h>

enum { REPLACEMENT = 0xfffd };

static bool may_stand_in_xml(uint32_t c) /* XML 1.0, 2.2, without the C1 controls */
{
    return c >= 0x20 && !(c >= 0x7f && c < 0xa0) && !(c >= 0xd800 && c < 0xe000) && c != 0xfffe &&
           c != 0xffff && c <= 0x10ffff;
}

size_t cri_svg_decode(const char *text, uint32_t *out_code)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char  *p = (const unsigned char *)text;
    size_t   length = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    uint32_t code = length < 2 ? p[0] : p[0] & (0xffu >> (length + 1));

    *out_code = REPLACEMENT;
    if (length == 0 || p[0] >= 0xf8) return 1;
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80) return 1; /* also the end of the text */
        code = code << 6 | (p[i] & 0x3f);
    }
    if (code < least[length]) return 1;
    if (code == '\t' || code == '\n' || code == '\r') code = ' ';
    if (may_stand_in_xml(code)) *out_code = code;
    return length;
}

/* In units of the font size: those of a wide sans-serif (DejaVu Sans), in classes. */
static double letter_width(uint32_t c)
{
    if (c < 0x80 && strchr("iljI.,:;'|! ()[]ft/\\", (int)c)) return 0.4;
    if (c < 0x80 && strchr("mwMW%@", (int)c)) return 0.98;
    if (c >= 'A' && c <= 'Z') return 0.74;
    if (c == 0x202f) return 0.2;
    if (c == 0x2212 || c == 0xd7) return 0.84;
    if ((c >= 0x2070 && c < 0x2080) || c == 0xb9 || c == 0xb2 || c == 0xb3) return 0.42;
    return c < 0x1100 ? 0.64 : 1;
}

double cri_svg_width(const char *text, size_t bytes, double font_size)
{
    double   width = 0;
    uint32_t code;
    for (size_t i = 0; i < bytes && text[i];) {
        i += cri_svg_decode(text + i, &code);
        width += letter_width(code);
    }
    return width * font_size;
}

size_t cri_svg_fit(const char *text, double available, double font_size)
{
    double   width = 0, last = available / font_size - 1; /* the ellipsis takes one */
    size_t   i = 0, fits = 0;
    uint32_t code;
    while (text[i]) {
        i += cri_svg_decode(text + i, &code);
        width += letter_width(code);
        if (width <= last) fits = i;
    }
    return width <= last + 1 ? i : fits;
}
