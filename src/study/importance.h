/* importance.h -- how much a model's score rests on each column.
 *   importance of column j = score of the rows - score of the rows with column j permuted
 * in the units of the score: log_score of numbers and densities, minus log_loss of classes, minus rmse where
 * predictions have no spread.  The mean over permutations, with its standard error over them.  Columns that tell the
 * same story share their importance: permuting one leaves the other.  O(columns x repeats) predictions of all rows.
 * Breiman (2001), "Random forests", Machine Learning 45, sec. 10; Fisher, Rudin & Dominici (2019), "All models are
 * wrong, but many are useful", JMLR 20. */
#ifndef CREDENCE_STUDY_IMPORTANCE_H
#define CREDENCE_STUDY_IMPORTANCE_H

#include "models/core/model.h"

typedef struct cr_importance {
    const char *metric;     /* the score                                       */
    double      score;      /* of the rows as they are                         */
    size_t      n, repeats; /* columns, permutations of each                   */
    size_t     *column;     /* [n] the largest first: places in the design     */
    double     *value, *se; /* [n]                                             */
} cr_importance;

/* Of the columns of the model that are named, or of all when n_columns is 0.  The permutations depend on the seed of
 * the model.  Fails as cr_evaluate does, with CR_EARG for a name that is no column of the model, and with
 * CR_EUNSUPPORTED for columns of a sparse block. */
CR_API cr_status cr_permutation_importance(cr_ctx *cx, const cr_model *model, const cr_table *table,
                                           const char *const *columns, size_t n_columns,
                                           size_t repeats, cr_importance *out_importance);
/* Frees its arrays. */
CR_API void cr_importance_free(cr_ctx *cx, cr_importance *importance);

#endif
