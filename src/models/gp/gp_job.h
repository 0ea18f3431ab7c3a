/* gp_job.h -- a fit of a Gaussian process on its way: what is asked for, learning, conditioning.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_GP_GP_JOB_H
#define CREDENCE_MODELS_GP_GP_JOB_H

#include "models/gp/cg/gp_cg.h"
#include "models/gp/posterior/gp_posterior.h"
#include "models/gp/sparse/gp_rff.h"
#include "models/gp/sparse/gp_sparse.h"

/* What is asked for. */
typedef struct cri_gp_plan {
    size_t inducing, restarts, max_iter, batch, epochs, draws, probes;
    bool   optimize, move_inputs, mcmc, loo;
} cri_gp_plan;

typedef struct cri_gp_job {
    cri_gp_plan       o;
    const cri_rows   *rows;
    uint64_t          seed;
    cri_gp_posterior *m;
    cri_gp_data       data;  /* of a sparse fit; an exact one has them in m->at */
    size_t           *group; /* [rows] the distinct input of each               */
    double  shift; /* taken off the targets of a sparse fit, whose sums of squares would lose
                                * their digits; the constant of the mean gives it back */
    double *H;
    double  nugget; /* share of the diagonal that learning without noise had to add (gp_exact.h) */
    cri_gp_problem  problem;
    cri_gp_sparse   sparse;
    cri_gp_spectrum spectrum; /* of rff */
    cri_gp_rff      rff;
} cri_gp_job;

/* Points j->sparse into m. */
void cri_gp_job_set_sparse(cri_gp_job *j);
/* Conjugate gradients that write into m. */
cri_gp_cg cri_gp_job_cg(const cri_gp_job *j);
/* Learns the hyper-parameters, where there is anything to learn from. */
cr_status cri_gp_job_learn(cr_ctx *cx, cri_gp_job *j, cr_report *report);
/* All that predicts, at the hyper-parameters that m has. */
cr_status cri_gp_job_condition(cr_ctx *cx, cri_gp_job *j);

#endif
