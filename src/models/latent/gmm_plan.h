/* gmm_plan.h -- what all starts of a search for a mixture share: what a survey of the rows showed, some rows, and the
 * candidates.  (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_GMM_PLAN_H
#define CREDENCE_MODELS_LATENT_GMM_PLAN_H

#include "em_starts.h"
#include "gmm_tree.h"

typedef struct cri_gmm_plan {
    const cri_gmm_options *o;
    const cr_design       *design;
    size_t                 d, from, to, width;
    int                    forms[CRI_GMM_N_FORMS];
    size_t                 n_forms;
    double                *origin;         /* [d] a row, about which sums are taken */
    double                *centre, *scale; /* [d] */
    double                *C;              /* [d x width] covariance of t over all rows */
    double                 weight;         /* of all rows */
    cri_gmm_rows           sample;
    cri_gmm_tree          *tree;  /* of the sample; NULL where there is one component only */
    cri_row_sample         kept;  /* the rows of `sample`, as they came */
    size_t                 tried; /* candidates */
    double                *tried_k, *tried_form, *tried_likelihood, *tried_starts;
    cri_em_ends            total; /* over all candidates */
} cri_gmm_plan;

/* The functions of the search up to its first start (cri_em_search). */
cr_status cri_gmm_open(cr_ctx *cx, const cri_rows *first, const void *options, void **out_plan);
void      cri_gmm_close(cr_ctx *cx, void *plan);
cr_status cri_gmm_meet(cr_ctx *cx, void *plan, const cri_rows *leaf);
size_t    cri_gmm_survey_width(const void *plan);
size_t    cri_gmm_survey_work(const void *plan);
void      cri_gmm_survey(const void *plan, const cri_rows *rows, cri_range range, double *sums,
                         double *work);
cr_status cri_gmm_settle(cr_ctx *cx, void *plan, const double *sums);

/* The fewest rows that a component of this form may stand on. */
double cri_gmm_least_rows(const cri_gmm_plan *p, int form);

#endif
