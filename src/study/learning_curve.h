/* learning_curve.h -- how a model's scores grow with the number of rows it learns from.
 * In each fold, parts of the training rows of growing size, each holding those before it and all
 * classes in proportion, are learned from; the model is scored on the fold and on its own rows.
 * Where the two curves meet, more rows will not help; where they are apart, they will.  Perlich,
 * Provost & Simonoff (2003), "Tree induction vs. logistic regression: a learning-curve analysis",
 * JMLR 4:211-255. */
#ifndef CREDENCE_STUDY_LEARNING_CURVE_H
#define CREDENCE_STUDY_LEARNING_CURVE_H

#include "cross_validate.h"

typedef struct cr_curve_point {
    double        share;       /* of the training rows                     */
    size_t        rows;        /* learned from, in the first fold          */
    cr_assessment test, train; /* means over the folds                    */
    double        test_se[CR_MOST_METRICS], train_se[CR_MOST_METRICS];
} cr_curve_point;

typedef struct cr_learning_curve {
    size_t          n;
    cr_curve_point *points; /* [n] in rising order */
    size_t          folds, repeats;
    uint64_t        seed;
} cr_learning_curve;

/* shares [n] between 0 and 1, rising.  Fails with CR_EARG where they are not. */
CR_API cr_status cr_learn_curve(cr_ctx *cx, const cr_model_spec *spec, const cr_table *table,
                                const double *shares, size_t n, const cr_cv_options *options,
                                cr_learning_curve *out_curve);
/* Frees its points. */
CR_API void cr_learning_curve_free(cr_ctx *cx, cr_learning_curve *curve);

#endif
