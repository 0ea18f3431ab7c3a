/* glm_state.h -- what is kept of a generalised linear model.  (Internal header.) */
#ifndef CREDENCE_MODELS_GLM_GLM_STATE_H
#define CREDENCE_MODELS_GLM_GLM_STATE_H

#include "glm_rows.h"
#include "glm_varying.h"

/* clang-format off */
#define CRI_GLM(MEMBER)                                                                             \
    MEMBER(count, family,           (),              "0..5",       "cri_glm_family")                \
    MEMBER(count, link,             (),              "1..9",       "cri_glm_link")                  \
    MEMBER(flag,  fixed_dispersion, (),              "",           "phi is not estimated")          \
    MEMBER(real,  phi,              (),              "any none",   "dispersion")                    \
    MEMBER(real,  alpha,            (),              "any none",   "overdispersion of counts")      \
    MEMBER(real,  n,                (),              "any none",   "rows that count")               \
    MEMBER(real,  parameters,       (),              "any none",   "n - parameters: the degrees of freedom left") \
    MEMBER(real,  deviance,         (),              "any none",   "of the fit")                    \
    MEMBER(real,  null_deviance,    (),              "any none",   "without terms")                 \
    MEMBER(real,  pearson,          (),              "any none",   "chi-square")                    \
    MEMBER(real,  log_likelihood,   (),              "any none",   "at its maximum in phi too")     \
    MEMBER(real,  ml_dispersion,    (),              "any none later", "phi where it is")           \
    MEMBER(real,  row_dispersion,   (),              "any none later", "phi of intervals; phi where it is none") \
    MEMBER(real,  spread_dof,       (),              ">=0 spare",   "degrees of freedom of row_dispersion; 0: it is of new rows alone, and known") \
    MEMBER(part,  fit,              (cri_predictor), "",           "of eta without the offset")     \
    MEMBER(count, errors,           (),              "0..2 spare", "cri_errors, up to hc1")         \
    MEMBER(part,  varying,          (cri_varying),   "none",       "of varying intercepts")
/* clang-format on */

CRI_RECORD(cri_glm, CRI_GLM);

/* How much wider than the normal's the intervals of coefficients, means and new rows are, in units of standard errors:
 * by Student's t with spread_dof and, of the first two, by row_dispersion instead of phi.  1 where the spread is known. */
typedef struct cri_glm_spread {
    double dof;   /* of coefficients and means */
    double scale; /* by which their standard errors are multiplied */
    double wider; /* by which the variance of a new row is multiplied */
} cri_glm_spread;
cri_glm_spread cri_glm_find_spread(const cri_glm *m);

/* Of the class. */
cr_status cri_glm_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out);
cr_status cri_glm_mean_intervals(cr_ctx *cx, const void *state, const cri_rows *rows, double level,
                                 double *lower, double *upper);

#endif
