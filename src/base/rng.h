/* rng.h -- counter-based random numbers: Philox4x32-10.
 * The seed is the key; the stream is the upper half of the counter, whose lower half numbers the
 * blocks of four words, so that 2^64 streams of 2^66 words run side by side without meeting.
 * Randomness belongs to an item of the work (a chain, a row, a fold), never to a thread.
 * Salmon, Moraes, Dror & Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3".
 * Nothing here allocates or fails; parameters outside their range give NaN, or 0 for a count. */
#ifndef CREDENCE_BASE_RNG_H
#define CREDENCE_BASE_RNG_H

#include "status.h"

typedef struct cr_rng {
    uint32_t key[2], counter[4], block[4];
    unsigned used;      /* words of the block already given out */
    bool     has_spare; /* a second normal waits in spare       */
    double   spare;
} cr_rng;

/* The start of stream `stream` of `seed`. */
CR_API cr_rng cr_rng_stream(uint64_t seed, uint64_t stream);
/* 32 random bits. */
CR_API uint32_t cr_rng_u32(cr_rng *r);
/* 64 random bits. */
CR_API uint64_t cr_rng_u64(cr_rng *r);
/* Uniform on (0, 1): never 0, never 1, 53 bits. */
CR_API double cr_rng_uniform(cr_rng *r);
/* Uniform on 0 .. n-1 without bias; n >= 1. */
CR_API uint64_t cr_rng_below(cr_rng *r, uint64_t n);
/* Standard normal. */
CR_API double cr_rng_normal(cr_rng *r);
/* Exponential with mean 1. */
CR_API double cr_rng_exponential(cr_rng *r);
/* Gamma with the given shape > 0 and scale 1 (Marsaglia & Tsang 2000). */
CR_API double cr_rng_gamma(cr_rng *r, double shape);
/* The logarithm of such a draw, which does not underflow for small shapes. */
CR_API double cr_rng_log_gamma(cr_rng *r, double shape);
/* Beta(a, b), a and b > 0. */
CR_API double cr_rng_beta(cr_rng *r, double a, double b);
/* An index 0 .. n-1 with probability proportional to weight[i] >= 0, of which one is > 0. */
CR_API size_t cr_rng_categorical(cr_rng *r, const double *weight, size_t n);
/* counts[i] of `trials` draws that fall on i, probabilities proportional to weight. */
CR_API void cr_rng_multinomial(cr_rng *r, uint64_t trials, const double *weight, size_t n,
                               uint64_t *out_counts);
/* Binomial(trials, p), exact for any number of trials; O(1) up to a million, O(log trials)
 * after. */
CR_API uint64_t cr_rng_binomial(cr_rng *r, uint64_t trials, double p);
/* out = a random order of 0 .. n-1 (Fisher-Yates). */
CR_API void cr_rng_permutation(cr_rng *r, size_t n, size_t *out);
/* out [k] = k different ones of 0 .. n-1, k <= n, in random order: Floyd's method, O(k^2), when
 * k^2 <= n, else selection sampling, O(n). */
CR_API void cr_rng_choose(cr_rng *r, size_t n, size_t k, size_t *out);

#endif
