/* svg_text.c -- text of unknown origin: decoding, about how much room it takes, and captions. */
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

/* --- captions -------------------------------------------------------------------------------- */

/* How many bytes the first line of a text has: all, or up to the last blank before `available` is
 * used up; a first word that is longer is a line of its own. */
static size_t first_line(const char *text, double available, double font_size)
{
    size_t end = strlen(text), fits = 0;
    if (cri_svg_width(text, end, font_size) <= available) return end;
    for (size_t i = 1; i < end; i++)
        if (text[i] == ' ' && cri_svg_width(text, i, font_size) <= available) fits = i;
    return fits ? fits : strcspn(text, " ");
}

/* The lines of up to two captions; written, if s is not NULL, from y downwards. */
static size_t go_through(cri_svg *s, const char *const caption[2], double x, double y, double step,
                         double available, double font_size)
{
    size_t lines = 0;
    for (size_t i = 0; i < 2; i++)
        for (const char *at = caption[i]; at && *at; lines++) {
            char   line[512];
            size_t n = first_line(at, available, font_size), kept = n;
            if (kept > sizeof line - 1) kept = sizeof line - 1; /* far more than fits */
            memcpy(line, at, kept);
            line[kept] = '\0';
            if (s)
                cri_svg_label(s, "x='@' y='@'", CRI_SVG_NUMBERS(x, y + step * (double)lines), line,
                              available, font_size);
            at += n + strspn(at + n, " ");
        }
    return lines;
}

size_t cri_svg_caption_lines(const char *const caption[2], double available, double font_size)
{
    return go_through(NULL, caption, 0, 0, 0, available, font_size);
}

void cri_svg_captions(cri_svg *s, const char *const caption[2], double x, double y, double step,
                      double available, double font_size)
{
    go_through(s, caption, x, y, step, available, font_size);
}
