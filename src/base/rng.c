/* rng.c -- Philox4x32-10, and the uniform, normal and exponential numbers made of its bits. */
#include "rng.h"

#include <math.h>

static const double TWO_PI = 6.283185307179586476925;

/* --- bits ------------------------------------------------------------------------------------ */

/* Ten rounds over the counter; the key grows by Weyl constants.  Salmon et al. (2011), sec. 3.3. */
static void make_block(cr_rng *r)
{
    uint32_t k0 = r->key[0], k1 = r->key[1];
    uint32_t c0 = r->counter[0], c1 = r->counter[1], c2 = r->counter[2], c3 = r->counter[3];
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    r->block[0] = c0, r->block[1] = c1, r->block[2] = c2, r->block[3] = c3;
    if (++r->counter[0] == 0) r->counter[1]++;
    r->used = 0;
}

cr_rng cr_rng_stream(uint64_t seed, uint64_t stream)
{
    return (cr_rng){ .key = { (uint32_t)seed, (uint32_t)(seed >> 32) },
                     .counter = { 0, 0, (uint32_t)stream, (uint32_t)(stream >> 32) },
                     .used = 4 };
}

uint32_t cr_rng_u32(cr_rng *r)
{
    if (r->used >= 4) make_block(r);
    return r->block[r->used++];
}

uint64_t cr_rng_u64(cr_rng *r)
{
    uint64_t low = cr_rng_u32(r);
    return low | (uint64_t)cr_rng_u32(r) << 32;
}

/* --- uniform --------------------------------------------------------------------------------- */

double cr_rng_uniform(cr_rng *r)
{
    uint64_t k;
    do k = cr_rng_u64(r) >> 11;
    while (k == 0);
    return (double)k * 0x1p-53;
}

/* Multiply and shift; the few low products that would favour some results are drawn again.
 * Lemire (2019), "Fast random integer generation in an interval". */
static uint32_t below_32(cr_rng *r, uint64_t n)
{
    uint64_t product = cr_rng_u32(r) * n;
    if ((uint32_t)product < n) {
        uint64_t biased = ((UINT64_C(1) << 32) - n) % n;
        while ((uint32_t)product < biased) product = cr_rng_u32(r) * n;
    }
    return (uint32_t)(product >> 32);
}

uint64_t cr_rng_below(cr_rng *r, uint64_t n)
{
    if (n <= UINT64_C(1) << 32) return below_32(r, n);
    uint64_t biased = -n % n, x; /* 2^64 mod n */
    do x = cr_rng_u64(r);
    while (x < biased);
    return x % n;
}

/* --- exponential and normal ------------------------------------------------------------------ */

/* -log of a uniform number of 64 bits, with full relative precision at both ends: the upper tail
 * reaches 45, and the result is never 0. */
double cr_rng_exponential(cr_rng *r)
{
    uint64_t u = cr_rng_u64(r);
    return u >> 63 ? -log1p(-((double)~u + 0.5) * 0x1p-64) : -log(((double)u + 0.5) * 0x1p-64);
}

/* Box & Muller (1958): radius and angle of a point of the plane; the tails reach 9.4. */
double cr_rng_normal(cr_rng *r)
{
    if (r->has_spare) {
        r->has_spare = false;
        return r->spare;
    }
    double radius = sqrt(2 * cr_rng_exponential(r)), angle = TWO_PI * cr_rng_uniform(r);
    r->spare = radius * sin(angle);
    r->has_spare = true;
    return radius * cos(angle);
}
