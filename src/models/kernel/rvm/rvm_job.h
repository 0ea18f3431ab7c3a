/* rvm_job.h -- one fit of a relevance vector machine on its way.  (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_RVM_RVM_JOB_H
#define CREDENCE_MODELS_KERNEL_RVM_RVM_JOB_H

#include "rvm.h"
#include "rvm_classes.h"
#include "rvm_gauss.h"

/* The rows of a fit, merged and sorted, and how it goes. */
typedef struct cri_rvm_job {
    cri_gp_data    at;       /* distinct inputs                                          */
    size_t         F;        /* latent functions of a classifier; 0: a target of numbers */
    double        *T;        /* [n x F] rows of each class (rvm_classes.h)               */
    double        *count;    /* [n]                                                      */
    double         noise;    /* as given; NaN: learned                                   */
    double         floor;    /* of a learned noise                                       */
    double         spread;   /* the variance of the target                               */
    bool           constant; /* the target, which is of numbers                        */
    int            start;    /* of the options                                           */
    cri_rvm_hyper  hyper;    /* likewise                                                 */
    bool           query;    /* a function is added at queries, of this precision        */
    double         query_precision;
    cri_rvm_limits limits;
} cri_rvm_job;

/* The ends of both starts, the better one in *best, zeroed; *up and *down their log evidence (rvm_starts.c). */
cr_status cri_rvm_numbers(cr_ctx *cx, const cri_rvm_job *j, cri_rvm_basis *b, cri_rvm_gauss *best,
                          double *up, double *down, cr_stop *out_stop);
cr_status cri_rvm_groups(cr_ctx *cx, const cri_rvm_job *j, const cri_rvm_basis *b,
                         cri_rvm_classes *best, double *up, double *down, cr_stop *out_stop);

/* The default kernel with a scale that suits the target (rvm_scale.c). */
cr_status cri_rvm_scale(cr_ctx *cx, const cri_rvm_job *j, const cr_design *design,
                        cr_kernel **out_kernel);

/* The end of a search for the functions of numbers into m, whose kernel is set, its noise times a factor (rvm_fit.c). */
cr_status cri_rvm_keep(cr_ctx *cx, const cri_rvm_job *j, const cri_rvm_gauss *g, double times,
                       cri_rvm *m);

/* By how much the variances of a fit to numbers fall short of the errors in rows left out: a factor above 1; 0: they do
 * not; NaN: nothing could be left out, or there was no time.  The kernel is that of m, or chosen anew where its scale was
 * (rvm_left_out.c). */
cr_status cri_rvm_left_out(cr_ctx *cx, const cri_rvm_job *j, const cr_design *design,
                           bool intercept, const cri_rvm *m, double *out_inflation);

/* What a function added at a query is weighed by, into m (rvm_query.c).  residual and precision [n]: those of the mean
 * at the inputs, the former times the latter. */
cr_status cri_rvm_keep_rows(cr_ctx *cx, const cri_rvm_job *j, const double *residual,
                            const double *precision, double opt_query, double variance, cri_rvm *m);

#endif
