/* target.h -- a density as samplers see it: log p(x) up to a constant, x free in R^n.
 * Evaluations of one target in several threads each have their own `chain`, made by open.
 * (Internal header.) */
#ifndef CREDENCE_PROB_MC_TARGET_H
#define CREDENCE_PROB_MC_TARGET_H

#include "base/rng.h"
#include "base/scratch.h"

typedef struct cri_target {
    size_t n;
    void  *user;
    /* What one chain evaluates with, in its arena; user itself if open is NULL. */
    void *(*open)(void *user, cr_scratch *s);
    /* log p(x), and its gradient [n] unless that is NULL; -INFINITY where p is 0 or not a number. */
    double (*log_density)(void *chain, const double *x, double *opt_gradient);
} cri_target;

static inline void *cri_target_open(const cri_target *t, cr_scratch *s)
{
    return t->open ? t->open(t->user, s) : t->user;
}

#endif
