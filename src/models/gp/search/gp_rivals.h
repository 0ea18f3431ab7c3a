/* gp_rivals.h -- points that may lead higher than the best one: the most promising of very many are
 * kept, each of another kind, and ascended from.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_SEARCH_GP_RIVALS_H
#define CREDENCE_MODELS_GP_SEARCH_GP_RIVALS_H

#include "gp_optimiser.h"

typedef struct cri_gp_rivals {
    cri_gp_optimiser *run;
    cri_gp_point     *at;   /* [most] best first; those without a value are none   */
    size_t           *kind; /* [most] what they stand for: a column, a frequency   */
    size_t            most;
    size_t            alike; /* kinds that differ by no more are one                */
} cri_gp_rivals;

/* Workspace for `most` of them, memory of the arena. */
cr_status cri_gp_rivals_new(cr_scratch *s, cri_gp_optimiser *run, size_t most, cri_gp_rivals *out);
/* None are left; those to come set out from this point, whose steps count for them. */
void cri_gp_rivals_clear(cri_gp_rivals *rivals, const cri_gp_point *from);
/* x [size] of this value takes its place if it is the best of its kind, and better than the worst. */
void cri_gp_rivals_keep(cri_gp_rivals *rivals, const double *x, double value, size_t kind);
/* Climbs from `most` of them, the best first.  *out_gained: one of them is higher than `best` was, and
 * has become it. */
cr_status cri_gp_rivals_ascend(cri_gp_rivals *rivals, size_t most, cri_gp_point *best,
                               bool *out_gained);

#endif
