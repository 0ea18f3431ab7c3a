/* precisions.h -- weights as precisions: Var e_i = s^2 / w_i, n rows whatever the weights add up
 * to.  Least squares as for repetitions, by weights that are scaled to add up to the number of
 * rows, so that n - rank degrees of freedom, s and the standard errors follow; the answers are then
 * put in the units of the weights as given: s is the noise of a row of weight 1.  The likelihood
 * has (1/2) sum_i log w_i more.  Aitken (1936), Proc. R. Soc. Edinb. 55.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_PRECISIONS_H
#define CREDENCE_MODELS_LINEAR_PRECISIONS_H

#include "rows_factor.h"

/* The option of every model that can tell the two apart; requires --weights. */
/* clang-format off */
#define CRI_WEIGHTS_ARE(X)                                                                          \
    X(choice, weights_are, "repetitions", "repetitions|precisions",                                  \
      "a row of weight w stands for w equal rows, or for one row whose noise has 1/w of the variance", "precisions")
#define CRI_WEIGHTS_ARE_REQUIRES { "weights_are", "weights", "", false }
/* clang-format on */
enum { CRI_WEIGHTS_REPEAT, CRI_WEIGHTS_PRECISE };

/* clang-format off */
#define CRI_PRECISIONS(MEMBER)                                                                      \
    MEMBER(real, rows,   (), ">=0 spare as:precision_rows", "those of weight above 0; 0: weights are repetitions") \
    MEMBER(real, weight, (), "spare as:precision_weight",   "sum w_i")                              \
    MEMBER(real, logs,   (), "spare as:precision_logs",     "sum log w_i")
/* clang-format on */
CRI_RECORD(cri_precisions, CRI_PRECISIONS);
extern const cri_member cri_precisions_record[];

/* Of rows; without weights each is 1. */
cri_precisions cri_precisions_of_rows(const cri_rows *rows);
/* Of both. */
cri_precisions cri_precisions_merge(cri_precisions a, cri_precisions b);
/* out [n] = the weights, adding up to the number of rows. */
void cri_precisions_scale_rows(const cri_precisions *p, const cri_rows *rows, double *out);
/* Likewise of a factor of the rows. */
void cri_precisions_scale_factor(const cri_precisions *p, cri_rows_factor *factor);
/* The noise and the leverages that were found with scaled weights, in the units of the weights as given;
 * standard errors have none. */
void cri_precisions_restore_fit(const cri_precisions *p, cri_predictor *fit);
/* All that was found with scaled weights, likewise. */
void cri_precisions_restore(const cri_precisions *p, cri_predictor *fit, cri_least_squares *facts);

#endif
