/* number.c -- numbers from text. */
#include "number_digits.h"
#include "number_powers.h"

#include <math.h>

typedef unsigned __int128 wide; /* both compilers have it on every 64-bit target */

enum { MOST_DIGITS = 19 }; /* that always fit in 64 bits */

static const uint64_t INFINITE = 0x7ff0000000000000;

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t to_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* --- digits ---------------------------------------------------------------------------------- */

static inline bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

static const uint64_t whole_tens[] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000
};

/* Appends the digits at p to *w (modulo 2^64); returns where they end. */
static inline const char *take_digits(const char *p, const char *end, uint64_t *w)
{
    uint64_t sum = *w;
    for (; end - p >= 8; p += 8) {
        uint64_t v = cri_load_eight(p), others = cri_other_bytes(v);
        if (others) {
            int n = __builtin_ctzll(others) / 8;
            *w = sum * whole_tens[n] + cri_value_of_eight(cri_first_digits(v, n));
            return p + n;
        }
        sum = sum * 100000000 + cri_value_of_eight(v);
    }
    for (; p < end && is_digit(*p); p++) sum = sum * 10 + (uint64_t)(*p - '0');
    *w = sum;
    return p;
}

/* --- w * 10^q, rounded ----------------------------------------------------------------------- */

/* The bits of a double from a significand of 54 or 55 bits whose last one rounds, and its biased
 * exponent <= 0: shifts it into place among the subnormals. */
static uint64_t subnormal(uint64_t m, int exponent)
{
    if (1 - exponent >= 64) return 0;
    m >>= 1 - exponent;
    m += m & 1;    /* a tie cannot happen here: 5^q with so small a q does not divide w */
    return m >> 1; /* a carry into bit 52 is the smallest normal number, as it should be */
}

/* The bits of w * 10^q, w > 0, by the 128-bit product (Lemire 2021, algorithm 1). */
static inline uint64_t multiply_power(uint64_t w, int64_t q)
{
    if (q < CRI_POWER_FIRST) return 0;
    if (q > 308) return INFINITE;
    const uint64_t *g = cri_powers_of_five[q - CRI_POWER_FIRST];
    int             zeros = __builtin_clzll(w);
    w <<= zeros;

    wide     product = (wide)w * g[0];
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    if ((high & 0x1ff) == 0x1ff) { /* 55 bits are not certain yet: the low word of g matters */
        uint64_t carry = (uint64_t)((wide)w * g[1] >> 64);
        low += carry;
        if (low < carry) high++;
    }
    int      top = (int)(high >> 63), shift = top + 9;
    uint64_t m = high >> shift;
    int      exponent = (int)((217706 * q) >> 16) + 63 + top - zeros + 1023;

    if (exponent <= 0) return subnormal(m, exponent);
    /* Only for these q can the product be exact and half-way: then round to even. */
    if (low <= 1 && q >= -4 && q <= 23 && (m & 3) == 1 && m << shift == high) m &= ~(uint64_t)1;
    m += m & 1;
    m >>= 1;
    if (m >> 53) m >>= 1, exponent++;
    if (exponent >= 0x7ff) return INFINITE;
    return (m & 0x000fffffffffffff) | (uint64_t)exponent << 52;
}

static const double tens[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

static inline uint64_t scale(uint64_t w, int64_t q)
{
    if (w == 0) return 0;
    /* Clinger: both factors are exact (w < 2^53), so the one operation rounds correctly.  The bound is
     * one of digits: the numbers of a column mostly lie on the same side of it, whereas the 16 digits
     * of a full double lie on either side of 2^53. */
    if (FLT_EVAL_METHOD == 0 && w < 1000000000000000 && q >= -22 && q <= 22)
        return to_bits(q < 0 ? (double)w / tens[-q] : (double)w * tens[q]);
    return multiply_power(w, q);
}

/* The first n <= 8 digits at p behind those of w; what is not a digit is added to *others. */
static inline uint64_t append_digits(uint64_t w, const char *p, int n, uint64_t *others)
{
    uint64_t v = n < 8 ? cri_first_digits(cri_load_eight(p), n) : cri_load_eight(p);
    *others |= cri_other_bytes(v);
    return w * whole_tens[n] + cri_value_of_eight(v);
}

static inline int between_0_and_8(ptrdiff_t n) { return n < 0 ? 0 : n > 8 ? 8 : (int)n; }

bool cri_scan_long_field(const char *begin, const char *end, double *out)
{
    uint64_t v = cri_load_eight(begin), points = cri_points(v), others = 0;
    if (!points) return false;
    int         whole = __builtin_ctzll(points) / 8;
    const char *p = begin + whole + 1;
    ptrdiff_t   places = end - p;
    uint64_t    w = append_digits(0, begin, whole, &others);
    if (places + (w ? whole : 0) > MOST_DIGITS) return false;
    w = append_digits(w, p, between_0_and_8(places), &others);
    if (places > 8) { /* the digits of a full double: 15 to 19 places, without a branch on them */
        w = append_digits(w, p + 8, between_0_and_8(places - 8), &others);
        w = append_digits(w, p + 16, between_0_and_8(places - 16), &others);
    }
    if (others) return false;
    *out = from_bits(scale(w, -places));
    return true;
}

/* The mantissa in [begin, end) has more than 19 digits: the first 19 significant ones bound the
 * value from below, with one more in the last place from above. */
static uint64_t scale_long(const char *begin, const char *end, int64_t exponent, uint64_t w)
{
    const char *p = begin;
    uint64_t    first = 0;
    int         taken = 0;
    int64_t     left = 0;
    while (p < end && (*p == '0' || *p == '.')) p++;
    for (; p < end; p++) {
        if (*p == '.') continue;
        if (taken == MOST_DIGITS)
            left++;
        else
            first = first * 10 + (uint64_t)(*p - '0'), taken++;
    }
    if (left == 0) return scale(w, exponent); /* the others were leading zeros */
    uint64_t low = scale(first, exponent + left);
    if (low == scale(first + 1, exponent + left)) return low;
    return cri_round_decimal(begin, end, exponent, low);
}

/* --- the grammar ----------------------------------------------------------------------------- */

/* true when [p, end) starts with the lower-case word, in any case. */
static bool starts_with(const char *p, const char *end, const char *word)
{
    for (; *word; p++, word++)
        if (p >= end || (*p | 0x20) != *word) return false;
    return true;
}

/* inf, infinity, nan at p; returns the number of characters, 0 if none of them. */
static size_t take_word(const char *p, const char *end, double *out)
{
    if (starts_with(p, end, "inf")) {
        *out = INFINITY;
        return starts_with(p, end, "infinity") ? 8 : 3;
    }
    if (!starts_with(p, end, "nan")) return 0;
    *out = NAN;
    return 3;
}

/* The exponent part at p ("e-5"); gives p back when it is not complete. */
static const char *take_exponent(const char *p, const char *end, int64_t *exponent)
{
    const int64_t enough = 1000000000000; /* beyond this more digits change nothing */
    const char   *q = p + 1;
    bool          negative = q < end && *q == '-';
    int64_t       e = 0;
    if (q < end && (*q == '-' || *q == '+')) q++;
    if (q >= end || !is_digit(*q)) return p;
    for (; q < end && is_digit(*q); q++)
        if (e < enough) e = e * 10 + (*q - '0');
    *exponent += negative ? -e : e;
    return q;
}

/* The most common numbers: up to seven digits on either side of the point, no exponent, and enough
 * text behind them.  Returns 0 for any other. */
static inline size_t scan_short(const char *begin, const char *end, double *out,
                                unsigned *out_notes)
{
    if (end - begin < 24) return 0;
    const char *p = begin + (*begin == '-');
    uint64_t    v = cri_load_eight(p), others = cri_other_bytes(v), w;
    if (!others) return 0;
    int digits = __builtin_ctzll(others) / 8, places = 0;
    w = cri_value_of_eight(cri_first_digits(v, digits));
    p += digits;
    bool whole = *p != '.';
    if (!whole) {
        v = cri_load_eight(++p), others = cri_other_bytes(v);
        if (!others) return 0;
        places = __builtin_ctzll(others) / 8;
        w = w * whole_tens[places] + cri_value_of_eight(cri_first_digits(v, places));
        p += places;
    }
    if (digits + places == 0 || (*p | 0x20) == 'e') return 0;
    double x = (double)w / tens[places]; /* one operation on exact numbers */
    *out = *begin == '-' ? -x : x;
    *out_notes = whole ? CRI_NUMBER_WHOLE : 0u;
    return (size_t)(p - begin);
}

static __attribute__((noinline)) size_t scan_any(const char *begin, const char *end, double *out,
                                                 unsigned *out_notes)
{
    const char *p = begin;
    bool        negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;

    const char *digits = p;
    uint64_t    w = 0;
    int64_t     exponent = 0;
    bool        whole = true;
    p = take_digits(p, end, &w);
    ptrdiff_t count = p - digits;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        p = take_digits(p, end, &w);
        count += p - fraction;
        exponent = fraction - p;
        whole = false;
    }
    if (count == 0) {
        double x = 0;
        size_t n = take_word(digits, end, &x);
        if (n == 0) return 0;
        *out = negative ? -x : x;
        *out_notes = 0;
        return (size_t)(digits - begin) + n;
    }
    const char *digits_end = p;
    if (p < end && (*p | 0x20) == 'e') {
        p = take_exponent(p, end, &exponent);
        if (p != digits_end) whole = false;
    }
    uint64_t bits =
        count <= MOST_DIGITS ? scale(w, exponent) : scale_long(digits, digits_end, exponent, w);
    *out_notes = (whole ? CRI_NUMBER_WHOLE : 0u) | (bits == INFINITE ? CRI_NUMBER_OVERFLOW : 0u);
    *out = from_bits(bits | (uint64_t)negative << 63);
    return (size_t)(p - begin);
}

size_t cri_scan_double(const char *begin, const char *end, double *out, unsigned *out_notes)
{
    size_t took = FLT_EVAL_METHOD == 0 ? scan_short(begin, end, out, out_notes) : 0;
    return took ? took : scan_any(begin, end, out, out_notes);
}

size_t cri_parse_double(const char *begin, const char *end, double *out)
{
    unsigned notes;
    return cri_scan_double(begin, end, out, &notes);
}

bool cri_is_overflow(const char *begin, const char *end)
{
    for (; begin < end; begin++)
        if (is_digit(*begin)) return true;
    return false;
}
