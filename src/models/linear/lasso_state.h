/* lasso_state.h -- what is kept of a lasso: the path of lambdas, the one chosen, and its terms.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_LASSO_STATE_H
#define CREDENCE_MODELS_LINEAR_LASSO_STATE_H

#include "lasso_path.h"
#include "predictor.h"

/* What chose lambda. */
enum { CRI_LASSO_CV, CRI_LASSO_ONE_SE, CRI_LASSO_BIC, CRI_LASSO_AIC, CRI_LASSO_GIVEN };

typedef struct cri_lasso {
    cri_predictor  fit; /* of the k terms chosen */
    cri_lasso_path path;
    size_t         k, chosen, choice;
    double        *terms;                                   /* [k] increasing */
    double         l1_ratio, df, rss, objective, violation; /* df with the intercept */
    bool           gram;
} cri_lasso;

/* Degrees of freedom at lambda k, with the intercept. */
double cri_lasso_spent(const cri_lasso *m, size_t k);
/* -2 log likelihood + price of each parameter, the noise variance among them; log_unit: of what the
 * target was divided by. */
double cri_lasso_criterion(const cri_lasso *m, size_t k, double price, double log_unit);

/* Entries of the class. */
cr_status cri_lasso_describe(cr_ctx *cx, const void *state, const cr_design *design, json_t *out);
cr_status cri_lasso_write(cr_ctx *cx, const void *state, cri_store *store, json_t *out);
cr_status cri_lasso_read(cr_ctx *cx, const cri_store *store, const json_t *in,
                         const cr_design *design, void **out_state);
void      cri_lasso_free(cr_ctx *cx, void *state);

#endif
