/* kalman_gaps.h -- times of rows that have gaps. */
#ifndef CREDENCE_TEST_MODELS_SEQUENCE_KALMAN_GAPS_H
#define CREDENCE_TEST_MODELS_SEQUENCE_KALMAN_GAPS_H

#include "base/rng.h"

enum { SPAN = 90 };

/* Times of rows, the first at 0: the gaps vary from 1 to 13 steps. */
static inline size_t draw_times(uint64_t seed, size_t *time)
{
    cr_rng r = cr_rng_stream(seed, 9);
    size_t n = 0;
    for (size_t t = 0; t < SPAN;) {
        time[n++] = t;
        double u = cr_rng_uniform(&r);
        t += u < 0.6 ? 1 : u < 0.9 ? 1 + (size_t)(20 * (u - 0.6)) : 13;
    }
    return n;
}

#endif
