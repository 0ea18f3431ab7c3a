/* compare_models.h -- several models on the same folds: which is better, and is the difference more
 * than chance?  For a metric with values a_j and b_j of two models on the J test folds, d_j = a_j -
 * b_j,
 *   t = mean(d) / sqrt((1/J + r) var(d)),   r = test rows / training rows,   J - 1 degrees of freedom:
 * training sets overlap, and without r the test finds far too many differences.
 * Nadeau & Bengio (2003), "Inference for the generalization error", Machine Learning 52:239-281;
 * Bouckaert & Frank (2004) for repeated folds. */
#ifndef CREDENCE_STUDY_COMPARE_MODELS_H
#define CREDENCE_STUDY_COMPARE_MODELS_H

#include "average.h"
#include "cross_validate.h"

/* One metric of a model beside that of the best; NaN where there is none. */
typedef struct cr_paired {
    double difference, se, t, p; /* p: of a larger |t| by chance */
} cr_paired;

typedef struct cr_compared {
    cr_cv         cv;
    cr_paired     paired[CR_MOST_METRICS]; /* to the best model by that metric; 0 for itself */
    cr_fit_scores fit;                     /* on all rows                                    */
    double        weight;                  /* posterior probability, of equal prior ones     */
} cr_compared;

typedef struct cr_comparison {
    size_t          n; /* models */
    cr_compared    *models;
    size_t          best[CR_MOST_METRICS]; /* by each metric; n where none is better */
    cr_weight_basis basis;                 /* of the weights                         */
    bool            averaged;
    cr_compared     average; /* the mixture, on the same folds; its fit is NaN       */
} cr_comparison;

/* Cross-validates all models on the same folds and fits each to all rows.  With `average` also
 * their Bayesian average, whose weights come from the training rows of each fold.  Models must have
 * the same target and the same task: CR_EARG.  CR_EUNSUPPORTED for an average of models without
 * evidence or BIC. */
CR_API cr_status cr_compare_models(cr_ctx *cx, const cr_model_spec *specs, size_t n,
                                   const cr_table *table, const cr_cv_options *options,
                                   bool average, cr_comparison *out_comparison);
/* Frees its parts. */
CR_API void cr_comparison_free(cr_ctx *cx, cr_comparison *comparison);

/* The paired difference of two models' metric number m over all folds of their cross-validation,
 * with `ratio` test rows for each training row. */
CR_API cr_paired cr_paired_difference(const cr_cv *a, const cr_cv *b, size_t m, double ratio);

#endif
