/* words.c -- see words.h. */
#include "words.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct span {
    uint32_t first, last;
} span;

/* Behind ASCII, in order. */
static const span letters[] = {
    { 0xAA, 0xAA },       { 0xB5, 0xB5 },       { 0xBA, 0xBA },       { 0xC0, 0xD6 },
    { 0xD8, 0xF6 },       { 0xF8, 0x2C1 },      { 0x300, 0x374 },     { 0x376, 0x37D },
    { 0x37F, 0x383 },     { 0x386, 0x386 },     { 0x388, 0x481 },     { 0x483, 0x559 },
    { 0x560, 0x588 },     { 0x591, 0x5BD },     { 0x5BF, 0x5BF },     { 0x5C1, 0x5C2 },
    { 0x5C4, 0x5C5 },     { 0x5C7, 0x5F2 },     { 0x610, 0x61A },     { 0x620, 0x65F },
    { 0x66E, 0x6D3 },     { 0x6D5, 0x6EF },     { 0x6FA, 0x6FF },     { 0x710, 0x963 },
    { 0x971, 0x1FFF },    { 0x2C00, 0x2DFF },   { 0x3005, 0x3007 },   { 0x3031, 0x3035 },
    { 0x3041, 0x30FA },   { 0x30FC, 0x318F },   { 0x31A0, 0x31BF },   { 0x31F0, 0x31FF },
    { 0x3400, 0xD7FF },   { 0xF900, 0xFDFB },   { 0xFE20, 0xFE2F },   { 0xFE70, 0xFEFE },
    { 0xFF21, 0xFF3A },   { 0xFF41, 0xFF5A },   { 0xFF66, 0xFFDC },   { 0x10280, 0x16FFF },
    { 0x17000, 0x1CFFF }, { 0x1D400, 0x1D7CB }, { 0x1E000, 0x1EEFF }, { 0x20000, 0x323AF },
};

static bool is_letter(uint32_t c)
{
    if (c < 0x80) return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    size_t low = 0, high = sizeof letters / sizeof *letters;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (c > letters[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sizeof letters / sizeof *letters && c >= letters[low].first;
}

/* Of pairs of letters that stand next to each other, the capital first, at an even or odd place. */
static bool is_paired(uint32_t c, bool *out_odd)
{
    *out_odd = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E);
    return *out_odd || (c >= 0x100 && c <= 0x137 && c != 0x130 && c != 0x131) ||
           (c >= 0x14A && c <= 0x177) || (c >= 0x1DE && c <= 0x1EF) || (c >= 0x1F8 && c <= 0x21F) ||
           (c >= 0x222 && c <= 0x233) || (c >= 0x460 && c <= 0x481) || (c >= 0x48A && c <= 0x4BF) ||
           (c >= 0x4D0 && c <= 0x52F) || (c >= 0x1E00 && c <= 0x1E95) ||
           (c >= 0x1EA0 && c <= 0x1EFF);
}

static uint32_t lower(uint32_t c)
{
    bool odd;
    if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
    if ((c >= 0xC0 && c <= 0xDE) || (c >= 0x391 && c <= 0x3AB) || (c >= 0x410 && c <= 0x42F))
        return c + 32;
    if (c >= 0x400 && c <= 0x40F) return c + 80;
    if (c >= 0x531 && c <= 0x556) return c + 48;
    if (c >= 0x388 && c <= 0x38A) return c + 37;
    if (c == 0x38E || c == 0x38F) return c + 63;
    if (c == 0x386) return 0x3AC;
    if (c == 0x38C) return 0x3CC;
    if (c == 0x130) return 'i';
    if (c == 0x178) return 0xFF;
    if (c == 0x1E9E) return 0xDF;
    if (c >= 0xFF21 && c <= 0xFF3A) return c + 32;
    if (is_paired(c, &odd)) return (c % 2 != 0) == odd ? c + 1 : c;
    return c;
}

static uint32_t decode(const char *p, size_t n)
{
    const unsigned char *b = (const unsigned char *)p;
    uint32_t             c = n == 1 ? b[0] : b[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) c = c << 6 | (b[i] & 0x3Fu);
    return c;
}

static size_t encode(uint32_t c, char *out)
{
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6) out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)(n == 1 ? c : (0xF00u >> n & 0xFFu) | c);
    return n;
}

size_t cri_next_word(const char **at, char *out)
{
    const char *p = *at;
    size_t      length = 0;
    while (*p) {
        size_t   n = cri_utf8_length(p);
        uint32_t c = n > 0 ? decode(p, n) : 0;
        bool     letter = n > 0 && is_letter(c);
        if (!letter && length > 0) break;
        if (letter) length += encode(lower(c), out + length);
        p += n > 0 ? n : 1;
    }
    *at = p;
    return length;
}
