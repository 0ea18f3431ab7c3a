/* crf_sgd.h -- stochastic gradient descent for a conditional random field.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_CRF_SGD_H
#define CREDENCE_MODELS_SEQUENCE_CRF_SGD_H

#include "crf_objective.h"

typedef struct cri_crf_descent {
    uint64_t       seed;
    size_t         sequences; /* of all blocks */
    double         tol;       /* ends when no entry of the gradient is above tol max(1, f) */
    size_t         most;      /* passes                                                    */
    const uint8_t *opt_seen;  /* [A x K] the weights that are learned; NULL: all           */
    size_t         passes;    /* what came of it: passes made,                             */
    bool           settled;   /* whether it ended by tol,                                  */
    double         f, kkt;    /* the objective and the largest entry of its gradient,      */
    double         above;     /* and how far f is above its minimum at the most            */
} cri_crf_descent;

/* Minimises f of an open problem without absolute penalty, from weights 0: theta [D].  The same for any number of threads. */
cr_status cri_crf_descend(cri_crf_problem *p, cri_crf_descent *d, double *theta);

#endif
