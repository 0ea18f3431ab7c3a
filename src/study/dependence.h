/* dependence.h -- how predictions change with one column.
 *   mean(v)  = average over the rows of the prediction with the column set to v and all else as it is
 *   lower(v), upper(v) = the 10 % and 90 % quantiles over the rows of these predictions
 *   band_lower(v), band_upper(v) = the central interval of 95 % of mean(v) under the posterior, without noise, of numbers
 *              whose model knows it
 * The prediction is the mean of a number, or the probability of each class.  The curves of single rows spread widely
 * where the column interacts with others.  v runs over values that the column has, at up to 25 quantiles, or over all
 * levels of a category.  Where columns go together, some rows are combinations that do not occur.
 * Friedman (2001), "Greedy function approximation", Annals of Statistics 29, sec. 8.2; Goldstein et al. (2015),
 * "Peeking inside the black box", J. Comput. Graph. Statist. 24. */
#ifndef CREDENCE_STUDY_DEPENDENCE_H
#define CREDENCE_STUDY_DEPENDENCE_H

#include "models/core/model.h"

typedef struct cr_dependence {
    const char *column;    /* of the design                                              */
    size_t      n, curves; /* values; 1 of numbers and of two classes, else the classes  */
    size_t     *row;       /* [n] a row of the table that has the value                  */
    double     *x;         /* [n] the values of a number; 0, 1, ... of a category        */
    double     *mean, *lower, *upper;    /* [curves x n] */
    double     *band_lower, *band_upper; /* [n]; NaN where it is not known */
    size_t      rows; /* that were averaged over                                    */
} cr_dependence;

/* Of one column of the model, averaged over the rows of the table, or 500 of them drawn by the seed of the model.  Fails
 * with CR_EUNSUPPORTED for models of something else than numbers and classes and for columns of a sparse block, with
 * CR_EDATA when no row has a prediction. */
CR_API cr_status cr_partial_dependence(cr_ctx *cx, const cr_model *model, const cr_table *table,
                                       const char *column, cr_dependence *out_dependence);
/* Frees its arrays. */
CR_API void cr_dependence_free(cr_ctx *cx, cr_dependence *dependence);

#endif
