/* jsonl_value.c -- texts with escapes, numbers and words (RFC 8259). */
#include "jsonl_value.h"
#include "base/number.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

const char *cri_jsonl_skip(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')) p++;
    return p;
}

static cri_jsonl_value fail(const char *at, const char *what)
{
    return (cri_jsonl_value){ .fault = what, .fault_at = at };
}

/* --- texts ----------------------------------------------------------------------------------- */

/* Four hexadecimal digits; UINT32_MAX where they are not. */
static uint32_t hexadecimal(const char *p, const char *end)
{
    uint32_t x = 0;
    if (end - p < 4) return UINT32_MAX;
    for (int i = 0; i < 4; i++) {
        int c = p[i] | 0x20;
        int digit = p[i] >= '0' && p[i] <= '9' ? p[i] - '0'
                    : c >= 'a' && c <= 'f'     ? c - 'a' + 10
                                               : -1;
        if (digit < 0) return UINT32_MAX;
        x = x << 4 | (uint32_t)digit;
    }
    return x;
}

/* The character in UTF-8; returns behind it. */
static char *put(char *out, uint32_t x)
{
    if (x < 0x80) return *out++ = (char)x, out;
    if (x >= 0x10000) *out++ = (char)(0xf0 | x >> 18);
    if (x >= 0x800) *out++ = (char)(x >= 0x10000 ? 0x80 | (x >> 12 & 0x3f) : 0xe0 | x >> 12);
    *out++ = (char)(x >= 0x800 ? 0x80 | (x >> 6 & 0x3f) : 0xc0 | x >> 6);
    *out++ = (char)(0x80 | (x & 0x3f));
    return out;
}

/* \uXXXX, perhaps two of them, at *p behind the u; UINT32_MAX where it is none. */
static uint32_t unicode(const char **p, const char *end)
{
    uint32_t x = hexadecimal(*p, end), low;
    if (x == UINT32_MAX) return x;
    *p += 4;
    if (x < 0xd800 || x >= 0xe000) return x;
    if (x >= 0xdc00 || end - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u') return UINT32_MAX;
    low = hexadecimal(*p + 2, end);
    if (low < 0xdc00 || low >= 0xe000) return UINT32_MAX;
    *p += 6;
    return 0x10000 + ((x - 0xd800) << 10) + (low - 0xdc00);
}

/* The escape behind the backslash at *p; returns the new end of the text, NULL at a fault. */
static char *undo_escape(const char **p, const char *end, char *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (*p == end) return NULL;
    const char *known = memchr(from, **p, sizeof from - 1);
    if (known) return ++*p, *out++ = to[known - from], out;
    if (**p != 'u') return NULL;
    ++*p;
    uint32_t x = unicode(p, end);
    return x == 0 || x == UINT32_MAX ? NULL : put(out, x);
}

cri_jsonl_value cri_jsonl_text(const char *at, const char *end, char *space)
{
    const char *p = at + 1, *begin = p;
    while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= ' ') p++;
    cri_jsonl_value v = { .kind = CRI_JSONL_TEXT, .text = begin, .length = (size_t)(p - begin) };
    if (p < end && *p == '\\') {
        char *out = space;
        memcpy(out, begin, v.length);
        out += v.length;
        while (p < end && *p != '"' && (unsigned char)*p >= ' ') {
            const char *escape = p;
            if (*p != '\\') {
                *out++ = *p++;
                continue;
            }
            p++;
            out = undo_escape(&p, end, out);
            if (!out) return fail(escape, "this is not a valid JSON escape");
        }
        v.text = space;
        v.length = (size_t)(out - space);
    }
    if (p == end) return fail(at, "the quote that opens here is not closed on its line");
    if (*p != '"') return fail(p, "a control character in a text");
    v.end = p + 1;
    return v;
}

/* --- numbers and words ----------------------------------------------------------------------- */

static bool is_word(const char *p, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

static cri_jsonl_value read_number(const char *at, const char *end)
{
    cri_jsonl_value v = { .kind = CRI_JSONL_NUMBER };
    unsigned        notes = 0;
    size_t          n =
        *at == '+' || *at == 'n' || *at == 'i' ? 0 : cri_scan_double(at, end, &v.number, &notes);
    if (n == 0) return fail(at, "a value must be a text, a number, true, false or null");
    if (notes & CRI_NUMBER_OVERFLOW) return fail(at, "this number is out of range for a double");
    if (isnan(v.number)) v.kind = CRI_JSONL_NULL;
    if (notes == CRI_NUMBER_WHOLE && fabs(v.number) <= 0x1p53) v.kind = CRI_JSONL_WHOLE;
    v.end = at + n;
    if (notes == CRI_NUMBER_WHOLE && !cri_keeps_digits(at, v.end, v.number))
        v = (cri_jsonl_value){ .kind = CRI_JSONL_TEXT, .text = at, .length = n, .end = v.end };
    return v;
}

cri_jsonl_value cri_jsonl_value_read(const char *at, const char *end, char *space)
{
    if (at == end) return fail(at, "the object does not end on its line");
    if (*at == '"') return cri_jsonl_text(at, end, space);
    if (*at == '{' || *at == '[') return fail(at, "a nested value: objects must be flat");
    if (is_word(at, end, "null")) return (cri_jsonl_value){ .end = at + 4 };
    if (is_word(at, end, "true"))
        return (cri_jsonl_value){ .kind = CRI_JSONL_BOOLEAN, .number = 1, .end = at + 4 };
    if (is_word(at, end, "false"))
        return (cri_jsonl_value){ .kind = CRI_JSONL_BOOLEAN, .end = at + 5 };
    return read_number(at, end);
}
