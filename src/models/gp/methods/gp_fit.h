/* gp_fit.h -- one fit of a Gaussian process: what is asked for, its rows, what it makes.
 * gp.c runs the method of the fit through its steps (gp_method.h); here is what methods share.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_GP_METHODS_GP_FIT_H
#define CREDENCE_MODELS_GP_METHODS_GP_FIT_H

#include "models/gp/posterior/gp_method.h"
#include "models/gp/sparse/gp_sparse.h"

/* As the choices of --hyper. */
enum {
    CRI_GP_CHOICE_AUTO,
    CRI_GP_CHOICE_MAP,
    CRI_GP_CHOICE_BEST,
    CRI_GP_CHOICE_LAPLACE,
    CRI_GP_CHOICE_MCMC
};

typedef struct cri_gp_fit {
    size_t            inducing, restarts, max_iter, batch, epochs, draws, probes; /* options */
    bool              optimize, move_inputs, given_inputs, loo;
    uint64_t          seed;
    int               hyper;   /* of --hyper                             */
    cri_gp_hyper_kind average; /* how, where it is over hyper-parameters */

    const cri_gp_method *method;
    const cri_rows      *rows;
    cri_gp_posterior    *m;
    cri_gp_data          data;  /* distinct inputs, where the method does not keep them in m->at */
    size_t              *group; /* [rows] the distinct input of each                             */
    double shift;  /* taken off the targets of a sparse fit, whose sums of squares would
                                 * lose their digits; the constant of the mean gives it back */
    double nugget; /* share of the diagonal that learning without noise had to add (gp_exact.h) */
    cri_gp_problem  problem;
    cri_gp_learning learning;  /* the objective with its workspace, and limits */
    cri_gp_prior    prior;     /* of the hyper-parameters, where it is used      */
    cri_gp_laplace  laplace;   /* at the optimum; memory of the fit              */
    void           *workspace; /* of the method                               */
    bool            expired;   /* the time limit ended the chains of hyper-parameters */
} cri_gp_fit;

/* Rows of the search for starts, which is by the exact evidence whatever the method. */
enum { CRI_GP_SEARCH_ROWS = 512 };

/* --- steps that methods share ---------------------------------------------------------------- */

/* CR_EDATA where rows of equal inputs differ, and there is no noise. */
cr_status cri_gp_check_noise_free(cr_ctx *cx, const cri_gp_fit *f);
/* Sparse methods take noise above 0, and not from the kernel. */
cr_status cri_gp_check_sparse(cr_ctx *cx, const cri_gp_fit *f);
/* Sets the exact evidence of at most this many rows as the objective of the search. */
cr_status cri_gp_open_search(cr_scratch *s, cri_gp_fit *f, size_t most);
/* Learns from `most` of the rows by the objective of the search.  *out_all: these were all. */
cr_status cri_gp_learn_from_few(cr_ctx *cx, cri_gp_fit *f, size_t most, cri_gp_learned *learned,
                                bool *out_all);
/* Learns from all rows by the objective of the method. */
cr_status cri_gp_learn_all(cr_ctx *cx, cri_gp_fit *f, cri_gp_learned *learned);

/* --- learning (gp_fit_learn.c) ---------------------------------------------------------------- */

/* The hyper-parameters, where there is anything to learn them from. */
cr_status cri_gp_fit_learn(cr_ctx *cx, cr_scratch *s, cri_gp_fit *f, cr_report *report);

/* --- how sure hyper-parameters are (gp_hyper.c) ---------------------------------------------- */

/* The sds of the hyper-parameters and, with priors, the integral over them by Laplace's approximation
 * (gp_learn.h); where second derivatives would cost too much, only the integral, roughly. */
cr_status cri_gp_learn_sds(cr_ctx *cx, cri_gp_fit *f);
/* Where the hyper-parameters are many for the rows, or the data leave them open, so that intervals at
 * their best values would be too narrow: averages over them, or warns where that would take long. */
cr_status cri_gp_average_if_open(cr_ctx *cx, cri_gp_fit *f, bool *out_averaged);
/* m->occam: what the log evidence loses to the hyper-parameters that were learned with priors, by
 * Laplace's approximation or, where that is not known, roughly. */
cr_status cri_gp_charge_evidence(cr_ctx *cx, cri_gp_fit *f);
/* Roughly: n rows say of the logarithm of each as much as of that of the noise, n / 2, which is the
 * charge of the Bayesian information criterion. */
cr_status cri_gp_rough_occam(cr_ctx *cx, const cri_gp_prior *prior, const cr_kernel *k,
                             double noise, double n, double *out);
/* Draws in the place of the best hyper-parameters, by Markov chains or from the normal of Laplace's
 * approximation; m stands at the mean of them. */
cr_status cri_gp_draw_hyper(cr_ctx *cx, cri_gp_fit *f, cri_gp_hyper_kind kind);

/* --- the exact ones (gp_method_exact.c), which others build on ------------------------------- */

/* The data become m->at. */
cr_status cri_gp_exact_prepare(cr_ctx *cx, cr_scratch *s, cri_gp_fit *f);
cr_status cri_gp_exact_open(cr_ctx *cx, cr_scratch *s, cri_gp_fit *f);
cr_status cri_gp_exact_learn(cr_ctx *cx, cri_gp_fit *f, cri_gp_learned *learned);
/* Factor, weights and, where it is wanted, leave-one-out at the hyper-parameters that m has. */
cr_status cri_gp_exact_solve(cr_ctx *cx, cri_gp_fit *f);
void      cri_gp_exact_describe(const cri_gp_posterior *m, const cr_design *design, cri_sheet *out);
cr_status cri_gp_exact_evidence_workspace(cr_scratch *s, const cri_gp_posterior *m, size_t n,
                                          void **out);
/* Solutions of this approximation that go to the arrays of m. */
cri_gp_sparse cri_gp_sparse_into(const cri_gp_posterior *m, cri_gp_approx approx);
/* Of sparse methods: the jitter. */
void cri_gp_sparse_describe(const cri_gp_posterior *m, const cr_design *design, cri_sheet *out);

/* --- the rows of the table ------------------------------------------------------------------- */

extern const cri_gp_method cri_gp_method_exact, cri_gp_method_lowrank, cri_gp_method_cg,
    cri_gp_method_mcmc, cri_gp_method_sor, cri_gp_method_dtc, cri_gp_method_fitc, cri_gp_method_vfe,
    cri_gp_method_svgp, cri_gp_method_nystrom, cri_gp_method_rff;

#endif
