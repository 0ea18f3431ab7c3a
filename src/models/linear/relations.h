/* relations.h -- what held between the columns in every row of a fit, so that its coefficients are not all determined.
 * Of columns that depend on each other some have no coefficient of their own.  Each of those, column a, is
 *   x_a - c_a = sum_k A_k (x_k - c_k)
 * in every row, c the centre and k the columns that have one.  Any multiple of that may be added to the mean without
 * changing it in the rows of the fit: of a row in which it does not hold, the data do not determine the mean.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_RELATIONS_H
#define CREDENCE_MODELS_LINEAR_RELATIONS_H

#include "rows_factor.h"

/* Puts the relations of rows into their predictor, whose terms without a coefficient are those that F leaves out; none
 * where all terms are determined, or are more than CRI_MOST_FACTOR.  O(n p^2), of the factor O(p^3). */
cr_status cri_relations_of_rows(cr_ctx *cx, const cri_rows *rows, bool intercept,
                                cri_predictor *fit);
cr_status cri_relations_of_factor(cr_ctx *cx, const cri_rows_factor *factor, bool intercept,
                                  cri_predictor *fit);

#endif
