/* lasso.h -- the coefficients of a lasso along its path, for figures.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_LASSO_H
#define CREDENCE_MODELS_LINEAR_LASSO_H

#include "../model.h"

typedef struct cri_coefficient_path {
    size_t        n_lambdas, n_terms; /* 0 of a model that is no lasso                    */
    size_t        chosen;             /* which lambda the model predicts with             */
    const double *lambda;             /* [n_lambdas] falling                              */
    const double *terms;              /* [n_terms] of the design, those ever other than 0 */
    const double *coef;    /* [n_lambdas x n_terms] of the terms as they were penalised      */
    const double *nonzero; /* [n_lambdas] how many are not 0                   */
    bool          folds;   /* errors by cross-validation are there, and with it */
    size_t        least, one_se; /* the lambda of least error, and by the rule of one
                                         standard error                                   */
} cri_coefficient_path;

/* Borrows from the model. */
cri_coefficient_path cri_lasso_coefficients(const cr_model *model);

#endif
