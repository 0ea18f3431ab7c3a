/* resample.h -- how far the parameters of a model would vary with other rows.
 * theta is what the fit on all n rows says, theta*_b that on sample b of n rows drawn with
 * replacement, theta_(i) that without row i.
 *   bootstrap   se = sd of theta*,  bias = mean theta* - theta
 *   percentile  the alpha and 1 - alpha quantiles of theta*
 *   bca         its quantiles at Phi(z0 + (z0 + z) / (1 - a (z0 + z))),  z = +-Phi^-1(1 - alpha),
 *               z0 = Phi^-1(share of theta* below theta),
 *               a = sum d_i^3 / (6 (sum d_i^2)^(3/2)),  d_i = mean theta_(.) - theta_(i)
 *   jackknife   se^2 = (n-1)/n sum d_i^2,  bias = (n-1) (mean theta_(.) - theta),
 *               interval theta - bias +- t_(n-1) se
 * Efron & Tibshirani (1993), An Introduction to the Bootstrap, ch. 6, 11, 13 and 14; Efron (1987),
 * JASA 82.  Rows with equal weights are assumed to be exchangeable. */
#ifndef CREDENCE_STUDY_RESAMPLE_H
#define CREDENCE_STUDY_RESAMPLE_H

#include "cross_validate.h"

typedef enum cr_resample_method { CR_PERCENTILE, CR_BCA, CR_JACKKNIFE } cr_resample_method;

typedef struct cr_resampled_parameter {
    char  *name;
    double value, bias, se, lower, upper; /* NaN where the draws do not tell                */
    size_t draws;                         /* fits that had the parameter, with a finite value */
} cr_resampled_parameter;

typedef struct cr_resampled {
    cr_resample_method      method;
    size_t                  rows, asked, made; /* samples, or rows left out; fits that were made */
    size_t                  failed;            /* of these, fits that the data did not allow     */
    double                  level;
    uint64_t                seed;
    size_t                  n;
    cr_resampled_parameter *parameters; /* [n] */
} cr_resampled;

/* Refits the model `samples` times (of the jackknife, as often as there are rows) and gives the
 * parameters that the fit on all rows has.  Samples are drawn by the setting `seed`, or given: rows
 * number opt_drawn[b n + i] of sample b.  Fits run beside each other.  A sample that the data do not
 * allow (one class only) is left out and counted; at the time limit the fits made so far are used,
 * if there are 20, with a warning.  *out is to be freed by cr_resampled_free. */
CR_API cr_status cr_resample(cr_ctx *cx, const cr_model_spec *spec, const cr_table *table,
                             cr_resample_method method, size_t samples, double level,
                             const size_t *opt_drawn, cr_resampled *out);
/* Frees what cr_resample made and leaves it empty; nothing for one that is empty. */
CR_API void cr_resampled_free(cr_ctx *cx, cr_resampled *resampled);

#endif
