/* bootstrap.h -- prediction error by resampling, and what it is made of.
 * B samples of n rows drawn with replacement; a model fitted to each; every row is judged only by
 * the models that did not see it.  The loss is (y - f)^2 for numbers and 1{y != f} for classes.
 *   err_1     leave-one-out bootstrap: mean over rows of the mean loss of the models without it
 *   err_.632  0.368 err + 0.632 err_1,   err the loss on the training rows themselves
 *   err_.632+ (1 - w) err + w err_1,     w = 0.632 / (1 - 0.368 R), R the relative overfitting rate
 * Efron & Tibshirani (1997), "Improvements on cross-validation: the .632+ bootstrap method", JASA
 * 92.  The same models show bias and variance.  With f* the mean prediction (the most frequent
 * class) of a row,
 *   numbers   err_1 = mean (y - f*)^2 + mean var(f), noise being part of the first
 *   classes   err_1 = bias + unbiased variance - biased variance: rows whose f* is wrong; share of
 *             f != f* where f* is right; share of f = y where f* is wrong
 * Geman, Bienenstock & Doursat (1992); Domingos (2000), "A unified bias-variance decomposition". */
#ifndef CREDENCE_STUDY_BOOTSTRAP_H
#define CREDENCE_STUDY_BOOTSTRAP_H

#include "cross_validate.h"

typedef struct cr_bootstrap_error {
    const char *loss; /* "squared error", "error rate" */
    size_t      samples, rows;
    size_t      unjudged; /* rows that every sample held: left out of err_1          */
    uint64_t    seed;
    double      apparent, no_information, overfitting; /* err, gamma, R              */
    double      leave_one_out, leave_one_out_se;       /* err_1; se over the rows    */
    double      err_632, err_632_plus;
    double      bias, variance; /* of numbers: mean (y - f*)^2; classes: net variance */
    double      unbiased_variance, biased_variance; /* of classes; NaN for numbers */
} cr_bootstrap_error;

/* Fits `samples` models to samples drawn by the setting `seed`, or to those given: rows number
 * opt_drawn[b n + i] of sample b.  With weights, rows count in the means by them.  Models run
 * beside each other.  Fails with CR_EUNSUPPORTED for models without a target. */
CR_API cr_status cr_bootstrap_assess(cr_ctx *cx, const cr_model_spec *spec, const cr_table *table,
                                     size_t samples, const size_t *opt_drawn,
                                     cr_bootstrap_error *out_error);

#endif
