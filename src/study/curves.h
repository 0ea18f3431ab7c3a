/* curves.h -- what a threshold on a probability would do, and whether probabilities come true.
 * Rows are taken for the class when their score is at least the threshold; with the threshold
 * falling,
 *   ROC  true positive rate against false positive rate; the area below is AUC, by trapezoids
 *   PR   precision against recall; average precision is sum (R_k - R_{k-1}) P_k
 * Rows with equal scores move together.  Fawcett (2006), Pattern Recogn. Lett. 27:861-874; Davis &
 * Goadrich (2006), ICML, for why precision is not joined by straight lines. */
#ifndef CREDENCE_STUDY_CURVES_H
#define CREDENCE_STUDY_CURVES_H

#include "base/context.h"

typedef struct cr_threshold_curve {
    size_t  n;                                   /* points, at most rows + 1                */
    double *threshold;                           /* [n] falling; the first is infinite      */
    double *false_positive, *recall, *precision; /* [n] shares; precision of nothing is 1   */
    double  auc, average_precision;
    double  share; /* of the class among the rows: the precision of guessing */
} cr_threshold_curve;

/* score [n] with the given stride, is_class [n], weights [n] or NULL.  O(n log n).  Fails with
 * CR_EDATA for a NaN, or unless both the class and the rest have weight. */
CR_API cr_status cr_threshold_curve_of(cr_ctx *cx, const double *score, size_t stride,
                                       const bool *is_class, const double *opt_weight, size_t n,
                                       cr_threshold_curve *out_curve);
/* Frees its points. */
CR_API void cr_threshold_curve_free(cr_ctx *cx, cr_threshold_curve *curve);

#endif
