/* lasso_state.h -- what is kept of a lasso: the path of lambdas, the one chosen, and its terms.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_LASSO_STATE_H
#define CREDENCE_MODELS_LINEAR_LASSO_STATE_H

#include "lasso_path.h"
#include "models/common/predictor.h"

/* What chose lambda. */
enum { CRI_LASSO_CV, CRI_LASSO_ONE_SE, CRI_LASSO_BIC, CRI_LASSO_AIC, CRI_LASSO_GIVEN };

/* clang-format off */
#define CRI_LASSO(MEMBER)                                                                           \
    MEMBER(part,   path,      (cri_lasso_path), "",              "")                                \
    MEMBER(count,  k,         (),               "as:used_terms", "terms chosen")                    \
    MEMBER(count,  chosen,    (),               "",              "which lambda")                    \
    MEMBER(count,  choice,    (),               "0..4",          "what chose it")                   \
    MEMBER(real,   violation, (),               "any none",      "of the conditions there")         \
    MEMBER(real,   l1_ratio,  (),               "",              "1: lasso; 0: ridge")              \
    MEMBER(real,   df,        (),               "any none",      "with the intercept")              \
    MEMBER(real,   rss,       (),               "any none",      "residual sum of squares")         \
    MEMBER(real,   objective, (),               "any none",      "at lambda")                       \
    MEMBER(real,   inflation, (),               ">=0 spare",     "of the variance, by cross-validation; 0: none") \
    MEMBER(flag,   gram,      (),               "",              "by cross-products")               \
    MEMBER(vector, terms,     (k),              "rises",         "of the design")                   \
    MEMBER(part,   fit,       (cri_predictor),  "",              "of the k terms chosen")
/* clang-format on */
CRI_RECORD(cri_lasso, CRI_LASSO);
extern const cri_member cri_lasso_record[];

/* Degrees of freedom at lambda k, with the intercept. */
double cri_lasso_spent(const cri_lasso *m, size_t k);
/* -2 log likelihood + price of each parameter, the noise variance among them; log_unit: of what the
 * target was divided by. */
double cri_lasso_criterion(const cri_lasso *m, size_t k, double price, double log_unit);

/* Entries of the class. */
cr_status             cri_lasso_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                         cri_sheet *out);
extern const cr_field cri_lasso_statistics[], cri_lasso_tables[];
void                  cri_lasso_coefficients(const void *state, cri_coefficient_path *out);
cr_status             cri_lasso_ready(cr_ctx *cx, void *state, const cr_design *design);

#endif
