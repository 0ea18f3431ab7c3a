/* leaps.h -- steps of EM that are extrapolated (math/optim/anderson.h) where the class has vectors of its states.
 * A state that is reached so is kept where the objective has not fallen, so that it never falls; else the pass over the
 * rows was in vain, and the plain step is taken.  Only a plain step shows that there is no more to gain.
 *   from; solve; on; a pass; back where the objective fell; from; ...
 * Varadhan & Roland (2008), Scandinavian J. Statistics 35; Henderson & Varadhan (2019), J. Computational and Graphical
 * Statistics 28.  (Internal header.) */
#ifndef CREDENCE_MODELS_CORE_LEAPS_H
#define CREDENCE_MODELS_CORE_LEAPS_H

#include "faces.h"
#include "math/optim/anderson.h"

typedef struct cri_leaps {
    const cri_em_face *face;
    size_t             n;          /* numbers of a vector; 0: plain steps                     */
    double      *from, *to, *next; /* [n] before a plain step, after it, and what comes of it */
    cri_anderson differences;
    bool         leapt; /* the state is extrapolated */
} cri_leaps;

/* What fails is in the status of the arena. */
void cri_leaps_begin(cr_scratch *s, const cri_em_face *face, const void *state, cri_leaps *out);
/* Before a step: notes where it begins. */
void cri_leaps_from(cri_leaps *l, const void *state);
/* After it: the state goes to an extrapolated one, where there is any. */
cr_status cri_leaps_on(cr_ctx *cx, cri_leaps *l, void *state);
/* Back to the plain step. */
cr_status cri_leaps_back(cr_ctx *cx, cri_leaps *l, void *state);

#endif
