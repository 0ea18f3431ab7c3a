/* number_print.c -- the shortest text of a double.
 * x = c * 2^q; every decimal strictly closer to x than to its neighbours reads back to x.  With
 * 10^k just below the width of that interval, a few multiples of 10^k lie inside it: take one of
 * 10^(k+1) if there is one, else the nearest of 10^k.  The ends of the interval, times 4, are
 * computed as floor(.) with a sticky last bit, which keeps every comparison below exact.
 * Giulietti (2020), "The Schubfach way to render doubles", sec. 9. */
#include "number.h"
#include "number_powers.h"

#include <math.h>
#include <string.h>

typedef unsigned __int128 wide;

typedef struct decimal {
    uint64_t digits;
    int      exponent; /* value = digits * 10^exponent */
} decimal;

/* floor(e log2 10), for |e| <= 1233. */
static int log2_power_of_ten(int e) { return (e * 1741647) >> 19; }

/* Words of the smallest 128-bit g with g >= 10^e / 2^(floor(e log2 10) - 127). */
static void power_of_ten(int e, uint64_t *high, uint64_t *low)
{
    const uint64_t *g = cri_powers_of_five[e - CRI_POWER_FIRST];
    bool            below = e < -27 || e > 55;
    *low = g[1] + (below ? 1 : 0);
    *high = g[0] + (below && *low == 0 ? 1 : 0);
}

/* floor(g c / 2^128), its last bit set if anything was cut off. */
static uint64_t multiply_sticky(uint64_t g_high, uint64_t g_low, uint64_t c)
{
    wide     product = (wide)g_high * c + ((wide)g_low * c >> 64);
    uint64_t rest = (uint64_t)product;
    return (uint64_t)(product >> 64) | (rest > 1 ? 1 : 0);
}

/* The shortest decimal that rounds to the positive double c * 2^q; `uneven` when c is the least of
 * its binade, so that the neighbour below is only half as far. */
static decimal shortest(uint64_t c, int q, bool uneven)
{
    uint64_t odd = c & 1; /* the interval's ends belong to it only when c is even */
    int      k = (q * 1262611 - (uneven ? 524031 : 0)) >> 22;
    int      h = q + log2_power_of_ten(-k) + 1;
    uint64_t high, low;
    power_of_ten(-k, &high, &low);
    uint64_t lower = multiply_sticky(high, low, (4 * c - 2 + (uneven ? 1 : 0)) << h) + odd;
    uint64_t middle = multiply_sticky(high, low, (4 * c) << h);
    uint64_t upper = multiply_sticky(high, low, (4 * c + 2) << h) - odd;

    uint64_t s = middle / 4, tens = s / 10;
    if (s >= 10) {
        bool down = lower <= 40 * tens, up = 40 * tens + 40 <= upper;
        if (down != up) return (decimal){ tens + (up ? 1 : 0), k + 1 };
    }
    bool down = lower <= 4 * s, up = 4 * s + 4 <= upper;
    if (down != up) return (decimal){ s + (up ? 1 : 0), k };
    uint64_t half = 4 * s + 2;
    bool     round_up = middle > half || (middle == half && (s & 1));
    return (decimal){ s + (round_up ? 1 : 0), k };
}

static decimal to_decimal(uint64_t bits)
{
    uint64_t fraction = bits & 0x000fffffffffffff;
    int      biased = (int)(bits >> 52 & 0x7ff);
    uint64_t c = biased ? fraction | (uint64_t)1 << 52 : fraction;
    int      q = biased ? biased - 1075 : -1074;
    if (q <= 0 && q > -53 && (c & (((uint64_t)1 << -q) - 1)) == 0)
        return (decimal){ c >> -q, 0 }; /* a whole number below 2^53: all its digits */
    return shortest(c, q, fraction == 0 && biased > 1);
}

static decimal drop_zeros(decimal d)
{
    const uint64_t eight = 100000000;
    while (d.digits >= eight && d.digits % eight == 0) d.digits /= eight, d.exponent += 8;
    while (d.digits % 10 == 0) d.digits /= 10, d.exponent++;
    return d;
}

/* Writes the digits of n; returns how many. */
static int write_digits(uint64_t n, char *out)
{
    char text[20];
    int  at = 20;
    do text[--at] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    memcpy(out, text + at, (size_t)(20 - at));
    return 20 - at;
}

static char *write_exponent(char *out, int e)
{
    *out++ = 'e';
    *out++ = e < 0 ? '-' : '+';
    if (e < 0) e = -e;
    if (e >= 100) *out++ = (char)('0' + e / 100);
    *out++ = (char)('0' + e / 10 % 10);
    *out++ = (char)('0' + e % 10);
    return out;
}

/* Sets `n` digits with the point after the first `before` of them: 0.001, 1.5, 1500. */
static char *write_plain(char *out, const char *digits, int n, int before)
{
    if (before <= 0) {
        memcpy(out, "0.0000", 6);
        memcpy(out + 2 - before, digits, (size_t)n);
        return out + 2 - before + n;
    }
    if (before >= n) {
        memcpy(out, digits, (size_t)n);
        memset(out + n, '0', (size_t)(before - n));
        return out + before;
    }
    memcpy(out, digits, (size_t)before);
    out[before] = '.';
    memcpy(out + before + 1, digits + before, (size_t)(n - before));
    return out + n + 1;
}

size_t cri_print_double(double x, char out[CRI_DOUBLE_SIZE])
{
    char    *p = out;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (isnan(x)) {
        memcpy(out, "nan", 4);
        return 3;
    }
    if (bits >> 63) *p++ = '-';
    bits &= INT64_MAX;
    if (isinf(x)) {
        memcpy(p, "inf", 3), p += 3;
    } else if (bits == 0) {
        *p++ = '0';
    } else {
        char    digits[20];
        decimal d = drop_zeros(to_decimal(bits));
        int     n = write_digits(d.digits, digits), e = d.exponent + n - 1;
        if (e >= -4 && e < 17) {
            p = write_plain(p, digits, n, e + 1);
        } else {
            p = write_plain(p, digits, n, 1);
            p = write_exponent(p, e);
        }
    }
    *p = '\0';
    return (size_t)(p - out);
}

/* The next digit from p on, over a point; NULL where there is none. */
static const char *next_digit(const char *p, const char *end)
{
    if (p < end && *p == '.') p++;
    return p < end && *p >= '0' && *p <= '9' ? p : NULL;
}

bool cri_keeps_digits(const char *begin, const char *end, double x)
{
    char        text[CRI_DOUBLE_SIZE];
    const char *q = text, *stop = text + cri_print_double(fabs(x), text), *d;
    if (fabs(x) < 0x1p53) return true;
    while (begin < end && (*begin < '1' || *begin > '9')) begin++;
    for (; begin < end; begin++) {
        if (*begin < '0' || *begin > '9') continue;
        d = next_digit(q, stop);
        if (*begin != (d ? *d : '0')) return false; /* what is not printed is zeros */
        if (d) q = d + 1;
    }
    return true;
}
