/* niw.h -- the state of a multivariate normal model: a normal-inverse-Wishart prior, the sufficient
 * statistics of the rows, and the posterior that follows from both (see mvn.c for the formulas).
 * (Internal header.) */
#ifndef CREDENCE_MODELS_CONJUGATE_NIW_H
#define CREDENCE_MODELS_CONJUGATE_NIW_H

#include "univariate.h"

typedef struct cri_niw {
    size_t  d;
    double  level;
    double  prior_kappa, prior_nu;
    double *prior_mean, *prior_scale; /* [d]; Psi of the prior is diagonal      */
    double  n;                        /* sum of the weights                     */
    double *xbar, *scatter;           /* [d], [d x d]                           */
    double  kappa, nu;                /* from here on: the posterior            */
    double *mean, *Psi, *L;           /* [d], [d x d], Cholesky factor of Psi   */
    double  log_evidence;             /* NaN where the prior is improper        */
} cri_niw;

/* A state of d columns with nothing in it. */
cr_status cri_niw_new(cr_ctx *cx, size_t d, cri_niw **out);
void      cri_niw_free(cr_ctx *cx, void *state);
/* true when the prior is. */
bool cri_niw_proper(const cri_niw *m);
/* Merges the rows into the statistics: two passes, same bits for any number of threads.  O(n d^2).
 */
cr_status cri_niw_add(cr_ctx *cx, const cri_rows *rows, cri_niw *m);
/* The posterior and the evidence.  Fails with CR_EDATA when the posterior is improper. */
cr_status cri_niw_solve(cr_ctx *cx, cri_niw *m);
/* To and from the model file. */
cr_status cri_niw_write(cr_ctx *cx, const void *state, cri_store *store, json_t *out);
cr_status cri_niw_read(cr_ctx *cx, const cri_store *store, const json_t *in,
                       const cr_design *design, void **out_state);

#endif
