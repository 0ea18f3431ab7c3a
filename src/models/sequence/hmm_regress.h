/* hmm_regress.h -- covariates of a hidden Markov model: columns that no state emits, and in which the means of gaussian
 * columns are linear, with coefficients of each state.
 * The model has them as u = blend (x - centre) / scale, which in all rows have mean 0 and covariance I, and a gaussian
 * column y as (y - centre) / scale - slope u, what the regression of all rows leaves, of variance 1.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_HMM_REGRESS_H
#define CREDENCE_MODELS_SEQUENCE_HMM_REGRESS_H

#include "hmm.h"

/* The units of the columns, which the caller owns. */
typedef struct cri_hmm_units {
    size_t        p, q; /* columns, covariates */
    const size_t *kind; /* [p]                                                                  */
    double       *centre, *scale, *blend, *slope; /* [p], [p], lower triangle [q x q], [p x q]  */
} cri_hmm_units;
cri_hmm_units cri_hmm_units_of(const cri_hmm *m);

/* Makes covariates of the columns that a list names, and regressed ones of the others, which must be gaussian: kind [p].
 * *out_q: how many there are. */
cr_status cri_hmm_name_covariates(cr_ctx *cx, const cr_design *design, const char *list,
                                  size_t *kind, size_t *out_q);
/* Finds the units of covariates and regressed columns, of which centre and scale are mean and sd; then as below. */
cr_status cri_hmm_settle_regression(cr_ctx *cx, const cr_design *design, cri_hmm_data *data,
                                    const cri_hmm_units *units);
/* Sets u of all steps, and takes the regression of all rows off the columns, still in their own units.  Where a covariate
 * is missing, regressed columns become so. */
cr_status cri_hmm_regress_data(cr_ctx *cx, cri_hmm_data *data, const cri_hmm_units *units);

/* The line of regressed column j in state c, in the units of the data; coef [q] is overwritten. */
double cri_hmm_intercept(const cri_hmm *m, size_t j, size_t c);
double cri_hmm_coefficient(const cri_hmm *m, size_t j, size_t c, size_t covariate);
void   cri_hmm_set_line(cri_hmm *m, size_t j, size_t c, double intercept, double *coef);
/* The column of covariate l. */
size_t cri_hmm_covariate(const cri_hmm *m, size_t l);

#endif
