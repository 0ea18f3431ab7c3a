/* scores.h -- metrics over folds: their mean, or what they are of all rows together.
 * Most are means over rows, and their mean over the folds is reported.  A root, a ratio or an absolute value
 * is not: rmse is the root of the mean square over the rows of all folds, r2 has the sums of squares of all of
 * them, with their one mean, and calibration_error their bins.  Its standard error is by the delta method: fold j
 * has the part
 *   v_j = R + (J w_j r_j^2 / W - R^2) / (2 R)   of rmse R,   J sum_b sign(g_b) g_bj / W   of the bins,
 *   R + J ((1 - R) t_j - e_j) / sum t   of r2 R = 1 - sum e / sum t,
 * g_b = sum_j g_bj the weight times the gap of confidence and accuracy, e_j and t_j the squared errors and the
 * squared distances of the targets from the mean of all, at which sum t is least, so that its own error does not
 * count; parts have the mean R exactly and are paired like folds.  (Internal header.) */
#ifndef CREDENCE_STUDY_SCORES_H
#define CREDENCE_STUDY_SCORES_H

#include "assess.h"

typedef enum cri_pool_kind {
    CRI_POOL_MEAN,
    CRI_POOL_ROOT,
    CRI_POOL_SHARE,
    CRI_POOL_BINS
} cri_pool_kind;

/* One metric of the folds of one repeat. */
typedef struct cri_pool {
    size_t        metric;
    cri_pool_kind kind;
    double        folds, weight;
    double        value;       /* over all folds */
    double        mean, total; /* of the targets of all; of r2: sum w (y - mean)^2 */
    double        gap[CR_CALIBRATION_BINS];
} cri_pool;

/* The metric at place m over folds. */
cri_pool cri_pool_of(const cr_assessment *fold, size_t folds, size_t m);
/* What one of the folds adds: the parts of all have the mean pool->value. */
double cri_pool_part(const cri_pool *pool, const cr_assessment *fold);

/* Value and standard error of each metric over repeats x folds assessments.  A metric that some of
 * them lack has neither. */
void cri_scores_mean(const cr_assessment *fold, size_t folds, size_t repeats,
                     cr_assessment *out_mean, double *out_se);
/* Warnings of n assessments: fits that did not converge, metrics without a value or without an
 * end. */
void cri_scores_warn(cr_ctx *cx, const char *what, const cr_assessment *fold, size_t n);

#endif
