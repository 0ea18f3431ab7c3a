/* number_digits.h -- decimal digits eight at a time, and the numbers that most fields of a table hold.
 * A word holds eight characters, the first in its lowest byte, with the digits as 0 .. 9; so the
 * digits of a short text, shifted to the top of a word, have zeros before them and spell the same
 * number, and no branch depends on how many there are.  (Internal header.) */
#ifndef CREDENCE_BASE_NUMBER_DIGITS_H
#define CREDENCE_BASE_NUMBER_DIGITS_H

#include "number.h"

#include <float.h>
#include <string.h>

static inline uint64_t cri_load_eight(const char *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v ^ 0x3030303030303030; /* '0' .. '9' become 0 .. 9 */
}

/* The bytes of v that are no digits, marked by their highest bit.  Exact up to the first such byte: an
 * addition carries out of none before it. */
static inline uint64_t cri_other_bytes(uint64_t v)
{
    return ((v + 0x7676767676767676) | v) & 0x8080808080808080;
}

/* The bytes of v that are decimal points, in the same way. */
static inline uint64_t cri_points(uint64_t v)
{
    v ^= 0x1e1e1e1e1e1e1e1e; /* '.' ^ '0' */
    return (v - 0x0101010101010101) & ~v & 0x8080808080808080;
}

/* The number that eight digits spell: pairs, then fours, then eight, in three multiplications. */
static inline uint64_t cri_value_of_eight(uint64_t v)
{
    const uint64_t mask = 0x000000ff000000ff;
    v = v * 10 + (v >> 8);
    return ((v & mask) * 0x000f424000000064 + (v >> 16 & mask) * 0x0000271000000001) >> 32 &
           0xffffffff;
}

/* The first n < 8 of them, behind zeros. */
static inline uint64_t cri_first_digits(uint64_t v, int n) { return v << (56 - 8 * n) << 8; }

/* The same as the next for more than eight characters, the sign left out: up to seven digits, a point,
 * and no more than 19 digits from the first that is not 0.  32 bytes from begin on can be read. */
bool cri_scan_long_field(const char *begin, const char *end, double *out);

/* The number that is all of [begin, end): perhaps a minus, then digits and perhaps a point among them;
 * false for a longer one and for any other text, which may still be a number.  40 bytes from begin on
 * can be read, whatever they hold.  *out_whole: it has no point; it is below 10^8 then. */
static inline bool cri_scan_field(const char *begin, const char *end, double *out, bool *out_whole)
{
    static const double tens[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7 };
    const uint64_t      negative = *begin == '-';
    const char         *p = begin + negative;
    const ptrdiff_t     n = end - p;
    double              x;
    uint64_t            bits;
    if (FLT_EVAL_METHOD != 0 || n <= 0) return false;
    if (n <= 8) {
        uint64_t v = cri_load_eight(p) << (64 - 8 * n), points = cri_points(v);
        int      places = 0;
        if (points) { /* the digits before it move up by one */
            uint64_t upto = points ^ (points - 1);
            v = (v & ~upto) | (v & upto >> 8) << 8;
            places = __builtin_clzll(points) / 8;
        }
        if (cri_other_bytes(v) || (points && n == 1)) return false;
        x = (double)(int64_t)cri_value_of_eight(v);
        if (points) x /= tens[places]; /* one operation on exact numbers */
        *out_whole = !points;
    } else {
        double scanned;
        if (!cri_scan_long_field(p, end, &scanned)) return false;
        x = scanned;
        *out_whole = false;
    }
    memcpy(&bits, &x, sizeof x);
    bits |= negative << 63;
    memcpy(out, &bits, sizeof x);
    return true;
}

#endif
