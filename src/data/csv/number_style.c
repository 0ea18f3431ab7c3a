/* number_style.c -- a styled number is rewritten in the plain style and read exactly. */
#include "number_style.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

/* In the order of cri_number_sign. */
static const struct {
    const char *text, *name;
} signs[] = { { "", "" },
              { "%", "percent" },
              { "$", "$" },
              { "\xe2\x82\xac", "\xe2\x82\xac" },
              { "\xc2\xa3", "\xc2\xa3" },
              { "\xc2\xa5", "\xc2\xa5" } };

enum { N_SIGNS = sizeof signs / sizeof *signs };

const char *cri_number_sign_name(cri_number_sign sign) { return signs[sign].name; }

/* What is left of the text, and the number in the plain style so far. */
typedef struct reader {
    const char *p, *end;
    char        plain[64];
    size_t      n;
} reader;

static bool begins(const reader *r, const char *text, size_t n)
{
    return (size_t)(r->end - r->p) >= n && memcmp(r->p, text, n) == 0;
}

/* The length of a space at p, plain, no-break, narrow no-break, thin or figure; 0: there is none. */
static size_t space(const reader *r)
{
    if (begins(r, " ", 1)) return 1;
    if (begins(r, "\xc2\xa0", 2)) return 2;
    bool wide = begins(r, "\xe2\x80\xaf", 3) || begins(r, "\xe2\x80\x89", 3);
    return wide || begins(r, "\xe2\x80\x87", 3) ? 3 : 0;
}

static size_t apostrophe(const reader *r)
{
    return begins(r, "'", 1) ? 1 : begins(r, "\xe2\x80\x99", 3) ? 3 : 0;
}

/* This character, if it is here. */
static bool take(reader *r, const char *character)
{
    if (!begins(r, character, 1)) return false;
    r->p++;
    return true;
}

static void skip_spaces(reader *r)
{
    for (size_t n; (n = space(r)) > 0;) r->p += n;
}

static bool is_digit(const reader *r) { return r->p < r->end && *r->p >= '0' && *r->p <= '9'; }

static void push(reader *r, char c)
{
    if (r->n < sizeof r->plain) r->plain[r->n++] = c;
}

static size_t take_digits(reader *r)
{
    size_t n = 0;
    for (; is_digit(r); n++) push(r, *r->p++);
    return n;
}

/* A minus (also the mathematical one) or plus. */
static bool take_minus(reader *r)
{
    const char *minus = "\xe2\x88\x92";
    if (begins(r, "+", 1)) return r->p++, true;
    if (!begins(r, "-", 1) && !begins(r, minus, 3)) return false;
    r->p += *r->p == '-' ? 1 : 3;
    push(r, '-');
    return true;
}

static cri_number_sign take_sign(reader *r, cri_number_sign first)
{
    for (size_t k = (size_t)first; k < N_SIGNS; k++) {
        size_t n = strlen(signs[k].text);
        if (!begins(r, signs[k].text, n)) continue;
        r->p += n;
        return (cri_number_sign)k;
    }
    return CRI_SIGN_NONE;
}

/* The length of the separator of groups at p, which a digit follows; 0: there is none. */
static size_t separator(const reader *r, char thousands)
{
    if (!thousands) return 0;
    size_t n = thousands == ' '    ? space(r)
               : thousands == '\'' ? apostrophe(r)
                                   : begins(r, &thousands, 1);
    return n && (size_t)(r->end - r->p) > n && r->p[n] >= '0' && r->p[n] <= '9' ? n : 0;
}

/* Digits before the decimal character; false where groups are not of three. */
static bool take_whole(reader *r, char thousands, size_t *out_digits)
{
    const char *begin = r->p;
    size_t      n = take_digits(r), gap;
    *out_digits = n;
    for (bool first = true; n > 0 && (gap = separator(r, thousands)) > 0; first = false) {
        if (first && (n > 3 || *begin == '0')) return false;
        r->p += gap;
        n = take_digits(r);
        *out_digits += n;
        if (n != 3) return false;
    }
    return true;
}

static bool take_exponent(reader *r)
{
    if (!begins(r, "e", 1) && !begins(r, "E", 1)) return false;
    r->p++;
    push(r, 'e');
    if (begins(r, "-", 1) || begins(r, "+", 1)) push(r, *r->p++);
    return take_digits(r) > 0;
}

/* The words inf and infinity. */
static bool read_word(const char *begin, const char *end, double *out, unsigned *out_notes)
{
    return cri_scan_double(begin, end, out, out_notes) == (size_t)(end - begin) && !isfinite(*out);
}

bool cri_read_styled(const cri_number_style *style, const char *begin, const char *end, double *out,
                     unsigned *out_notes, cri_number_sign *out_sign)
{
    reader r = { .p = begin, .end = end };
    size_t whole, part = 0;
    *out_sign = CRI_SIGN_NONE;
    if (read_word(begin, end, out, out_notes)) return !(*out_notes & CRI_NUMBER_OVERFLOW);
    skip_spaces(&r);
    bool            open = take(&r, "("), minus = take_minus(&r), exponent = false;
    cri_number_sign sign = take_sign(&r, CRI_SIGN_DOLLAR);
    if (sign) skip_spaces(&r);
    if (sign && !open && !minus) open = take(&r, "(");
    if (!minus) minus = take_minus(&r);
    if (open && minus) return false;
    if (open) push(&r, '-');
    if (!take_whole(&r, style->thousands, &whole)) return false;
    if (begins(&r, &style->decimal, 1)) {
        r.p++;
        push(&r, '.');
        part = take_digits(&r);
    }
    if (whole + part == 0) return false;
    if (begins(&r, "e", 1) || begins(&r, "E", 1)) {
        exponent = true;
        if (!take_exponent(&r)) return false;
    }
    bool closed = open && take(&r, ")");
    skip_spaces(&r);
    if (r.p < end && !sign) {
        sign = take_sign(&r, CRI_SIGN_PERCENT);
        if (exponent && sign == CRI_SIGN_PERCENT) return false;
        if (sign == CRI_SIGN_PERCENT) push(&r, 'e'), push(&r, '-'), push(&r, '2');
        skip_spaces(&r);
    }
    if (open && !closed && !take(&r, ")")) return false;
    *out_sign = sign;
    return r.p == end && r.n < sizeof r.plain &&
           cri_scan_double(r.plain, r.plain + r.n, out, out_notes) == r.n;
}
