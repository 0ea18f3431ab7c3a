/* mixture_plan.h -- what all starts of a search share: kinds of columns, what a survey of the rows showed, some rows,
 * and the candidates.  (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_MIXTURE_PLAN_H
#define CREDENCE_MODELS_LATENT_MIXTURE_PLAN_H

#include "em_starts.h"
#include "mixture.h"

typedef struct cri_mixture_plan {
    const cri_mixture_options *o;
    const cr_design           *design;
    size_t                     p, L, from, to;
    size_t                    *kind, *first; /* [p] */
    double                    *threshold;    /* [p] */
    double        *origin; /* [p] a row, about which sums are taken; its log of lognormal columns */
    double        *centre, *scale; /* [p] */
    double        *overall;        /* [p] */
    double        *overall_level;  /* [L] */
    double         weight;         /* of all rows that hold anything */
    cri_row_sample kept;
    cri_mixture_rows sample;
    size_t           tried; /* candidates */
    double          *tried_likelihood;
    cri_em_ends      total; /* over all candidates */
} cri_mixture_plan;

/* The fewest rows that a component may stand on. */
static const double CRI_MIXTURE_LEAST_ROWS = 2.5;

/* The functions of the search up to its first start (cri_em_search). */
cr_status cri_mixture_plan_open(cr_ctx *cx, const cri_rows *first, const void *options,
                                void **out_plan);
void      cri_mixture_plan_close(cr_ctx *cx, void *plan);
cr_status cri_mixture_meet(cr_ctx *cx, void *plan, const cri_rows *leaf);
size_t    cri_mixture_survey_width(const void *plan);
size_t    cri_mixture_survey_work(const void *plan);
void      cri_mixture_survey(const void *plan, const cri_rows *rows, cri_range range, double *sums,
                             double *work);
cr_status cri_mixture_settle(cr_ctx *cx, void *plan, const double *sums);

#endif
