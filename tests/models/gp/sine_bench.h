/* sine_bench.h -- a noisy sine in one column, and its process by the definition. */
#ifndef CREDENCE_TEST_MODELS_GP_SINE_BENCH_H
#define CREDENCE_TEST_MODELS_GP_SINE_BENCH_H

#include "gp_fixture.h"

enum { N = 25 };

typedef struct bench {
    double     X[N], y[N], noises[N], variance;
    definition g;
} bench;

static inline bench *draw(uint64_t seed)
{
    bench *b = calloc(1, sizeof *b);
    cr_rng r = cr_rng_stream(seed, 3);
    for (size_t i = 0; i < N; i++) {
        b->X[i] = 5 * cr_rng_uniform(&r);
        b->y[i] = sin(2 * b->X[i]) + 0.4 * cr_rng_normal(&r);
        b->variance += b->y[i] * b->y[i] / N;
    }
    b->g = (definition){
        .n = N, .k = { .d = 1, .v = 1.4L, .l = { 1 } }, .X = b->X, .y = b->y, .noise = b->noises
    };
    return b;
}

#endif
