/* markov_follow.h -- where a chain in discrete time stands: the last symbols of a sequence so far.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_MARKOV_FOLLOW_H
#define CREDENCE_MODELS_SEQUENCE_MARKOV_FOLLOW_H

#include "markov.h"

/* The last symbols of a sequence so far, and their context. */
typedef struct follower {
    size_t k, order, seen, code, modulus; /* modulus: k^order */
} follower;

static inline follower follow(size_t k, size_t order)
{
    follower f = { .k = k, .order = order, .modulus = 1 };
    for (size_t i = 0; i < order; i++) f.modulus *= k;
    return f;
}

static inline size_t context_of(const follower *f)
{
    return cri_markov_first(f->k, f->seen < f->order ? f->seen : f->order) + f->code;
}

static inline void take(follower *f, size_t symbol)
{
    f->code = (f->code * f->k + symbol) % f->modulus;
    f->seen++;
}

/* A place is how many rows were seen, then the last symbols, the last one first. */
static inline follower follow_from(const cri_markov *m, const double *place)
{
    follower f = follow(m->k, m->order);
    size_t   known = place[0] < (double)m->order ? (size_t)place[0] : m->order;
    for (size_t i = known; i-- > 0;) f.code = (f.code * f.k + (size_t)place[1 + i]) % f.modulus;
    f.seen = (size_t)place[0];
    return f;
}

static inline void keep_place(const cri_markov *m, const follower *f, double *place)
{
    size_t code = f->code;
    place[0] = (double)f->seen;
    for (size_t i = 0; i < m->order; i++, code /= m->k) place[1 + i] = (double)(code % m->k);
}

#endif
