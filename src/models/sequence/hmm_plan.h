/* hmm_plan.h -- what all starts of a search share.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_HMM_PLAN_H
#define CREDENCE_MODELS_SEQUENCE_HMM_PLAN_H

#include "hmm.h"
#include "hmm_given.h"

typedef struct cri_hmm_plan {
    const cri_hmm_options *o;
    const cr_design       *design;
    size_t                 p, L, g, from, to;
    size_t                *kind, *first; /* [p] */
    double                *threshold;    /* [p] unused but read with the kinds */
    double                *centre, *scale, *overall, *overall2; /* [p] */
    double                *overall_level;                       /* [L] */
    size_t         M, mixtures;   /* parts of each column that is a mixture, and how many are */
    size_t         q;             /* covariates */
    double        *blend, *slope; /* [q x q], [p x q] */
    cri_hmm_data   data;
    cri_sequences *sequences;          /* of the rows */
    cri_given      start, transitions; /* k = 0: none */
    size_t         tried;
    double        *tried_likelihood, *tried_parameters; /* [tried] */
    cri_em_ends    total;                               /* over all candidates */
} cri_hmm_plan;

cr_status cri_hmm_plan_open(cr_ctx *cx, const cri_rows *rows, const void *options, void **out_plan);
void      cri_hmm_plan_close(cr_ctx *cx, void *plan);

/* A state to start from (hmm_start.c). */
cr_status cri_hmm_start(cr_ctx *cx, const cri_hmm_plan *plan, size_t k, size_t attempt, cr_rng *rng,
                        cri_hmm **out);

#endif
