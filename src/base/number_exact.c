/* number_exact.c -- the rare decimal texts that 19 digits do not decide.
 * The text D * 10^e lies between two neighbouring doubles m * 2^k and (m+1) * 2^k; it is compared,
 * in integers, with the middle (2m+1) * 2^(k-1).  A middle has at most 767 significant digits, so
 * D is cut after MOST_DIGITS and a single 1 stands for all that follows.  Both sides are of about
 * the same size and one of them is D alone up to a power of two, at most 10^(MOST_DIGITS + 1), so
 * some 2700 bits hold either. */
#include "number.h"

#include <string.h>

enum { MOST_DIGITS = 800, LIMBS = 96 };

typedef unsigned __int128 wide;

typedef struct integer {
    uint64_t limb[LIMBS]; /* lowest first */
    size_t   n;           /* in use: limb[n-1] != 0 */
} integer;

/* a = a * factor + more */
static void multiply_add(integer *a, uint64_t factor, uint64_t more)
{
    for (size_t i = 0; i < a->n; i++) {
        wide t = (wide)a->limb[i] * factor + more;
        a->limb[i] = (uint64_t)t;
        more = (uint64_t)(t >> 64);
    }
    if (more && a->n < LIMBS) a->limb[a->n++] = more;
}

static void multiply_power_of_five(integer *a, int64_t power)
{
    const uint64_t five_27 = 7450580596923828125u; /* the largest that fits */
    for (; power >= 27; power -= 27) multiply_add(a, five_27, 0);
    for (; power > 0; power--) multiply_add(a, 5, 0);
}

static void shift_left(integer *a, int64_t bits)
{
    size_t limbs = (size_t)bits / 64;
    if (a->n == 0 || a->n + limbs > LIMBS) return;
    memmove(a->limb + limbs, a->limb, a->n * sizeof a->limb[0]);
    memset(a->limb, 0, limbs * sizeof a->limb[0]);
    a->n += limbs;
    if (bits % 64) multiply_add(a, (uint64_t)1 << bits % 64, 0);
}

static int compare(const integer *a, const integer *b)
{
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    for (size_t i = a->n; i-- > 0;)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* D = the digits, cut as described above; returns how far that moves the exponent. */
static int64_t take_all_digits(integer *d, const char *p, const char *end)
{
    int64_t moved = 0;
    int     taken = 0;
    bool    more = false;
    for (; p < end; p++) {
        if (*p == '.' || (*p == '0' && taken == 0)) continue;
        if (taken == MOST_DIGITS) {
            moved++;
            more = more || *p != '0';
            continue;
        }
        multiply_add(d, 10, (uint64_t)(*p - '0'));
        taken++;
    }
    if (!more) return moved;
    multiply_add(d, 10, 1);
    return moved - 1;
}

uint64_t cri_round_decimal(const char *begin, const char *end, int64_t exponent, uint64_t low)
{
    uint64_t m = low & 0x000fffffffffffff, biased = low >> 52;
    int64_t  k = biased ? (int64_t)biased - 1075 : -1074;
    if (biased) m |= (uint64_t)1 << 52;

    integer text = { .n = 0 }, middle = { .limb = { 2 * m + 1 }, .n = 1 };
    exponent += take_all_digits(&text, begin, end);
    if (exponent >= 0)
        multiply_power_of_five(&text, exponent);
    else
        multiply_power_of_five(&middle, -exponent);
    int64_t twos = exponent - (k - 1); /* of the text beyond those of the middle */
    if (twos >= 0)
        shift_left(&text, twos);
    else
        shift_left(&middle, -twos);

    int order = compare(&text, &middle);
    return order > 0 || (order == 0 && (low & 1)) ? low + 1 : low;
}
