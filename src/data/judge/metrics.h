/* metrics.h -- how good predictions were, when they are distributions.
 * All are averages over n rows, weighted when weights are given (w >= 0, finite, not all 0; equal
 * weights and none give the same).  Sums run in fixed blocks: the same bits for any number of
 * threads.  Gneiting & Raftery (2007), "Strictly proper scoring rules, prediction, and estimation",
 * JASA 102:359-378;  Jordan, Krueger & Lerch (2019), "Evaluating probabilistic forecasts with
 * scoringRules", J. Stat. Softw. 90(12);  Guo, Pleiss, Sun & Weinberger (2017), "On calibration of
 * modern neural networks", ICML. */
#ifndef CREDENCE_DATA_JUDGE_METRICS_H
#define CREDENCE_DATA_JUDGE_METRICS_H

#include "base/context.h"
#include "math/dense/view.h"

/* --- regression ------------------------------------------------------------------------------ */

/* One predictive distribution per row: mean + scale T, T standard normal or Student-t with dof
 * degrees of freedom.  dof INFINITY is the normal; dof NULL: all are normal.  scale NULL: points
 * only. */
typedef struct cr_predictive {
    size_t        n;
    const double *mean, *scale, *dof; /* [n] each */
} cr_predictive;

typedef struct cr_regression_metrics {
    double rmse, mae;
    double r2;        /* 1 - sum w (y - mean)^2 / sum w (y - ybar)^2; NaN where y is constant  */
    double log_score; /* mean log predictive density: larger is better                        */
    double crps;      /* mean continuous ranked probability score, in the units of y          */
    double coverage;  /* share of rows inside the central interval of the given level         */
    double width;     /* mean width of these intervals                                        */
    double target_mean, target_variance; /* of the rows: ybar, sum w (y - ybar)^2 / sum w */
} cr_regression_metrics;

/* CRPS(F, y) = integral of (F(x) - 1{x >= y})^2 dx in closed form; scale > 0. */
CR_API double cr_crps_normal(double y, double mean, double scale);
/* The same of Student's t: for dof > 1 as Jordan et al. give it; the formula continues down to dof
 * = 1/2, where the integral diverges, and below it is INFINITY.  dof INFINITY is the normal. */
CR_API double cr_crps_student_t(double y, double mean, double scale, double dof);

/* All metrics at once; without scale, log_score, crps, coverage and width are NaN.  O(n), and one quantile per change of
 * dof from row to row.  Fails with CR_EDATA naming the row when a number is not finite, a scale or
 * dof not above 0, or a weight is wrong; with CR_EARG for a level outside (0, 1) or n = 0; then
 * *out is left as it was. */
CR_API cr_status cr_regression_evaluate(cr_ctx *cx, const double *y,
                                        const cr_predictive *prediction, const double *opt_weight,
                                        double level, cr_regression_metrics *out);

/* --- classification -------------------------------------------------------------------------- */

enum { CR_CALIBRATION_BINS = 15 };

/* Bin b holds the rows whose confidence, the largest of their probabilities, lies in
 * (b/15, (b+1)/15].  An empty bin has zeros. */
typedef struct cr_calibration_bin {
    size_t count;
    double weight;     /* sum of the weights; the count without weights */
    double confidence; /* mean */
    double accuracy;   /* share of rows whose most probable class is the true one */
} cr_calibration_bin;

typedef struct cr_class_metrics {
    double accuracy; /* of the most probable class; the first one of equals               */
    double log_loss; /* mean -log p(true class); INFINITY when some true class had p = 0   */
    double brier;    /* mean (p - 1{true})^2: two classes, of the second; else, over all summed */
    double auc;      /* area under the ROC curve; see cr_auc.  More than two classes: the plain
                        mean over the classes, each against the rest, for which it is defined */
    double calibration_error; /* expected: mean over the bins of |accuracy - confidence| */
    double
        balanced_accuracy; /* mean over the classes that occur of the share of each that is found   */
    double f1; /* 2 / (1 / precision + 1 / recall): two classes, of the second; else the plain mean
                                 over the classes that occur or are predicted                          */
    double
        average_precision; /* sum over thresholds of precision times gain in recall, as auc else     */
    cr_calibration_bin bins[CR_CALIBRATION_BINS];
} cr_class_metrics;

/* All metrics at once.  P [n x K], rows that sum to one within 1e-6; codes [n], the true classes.
 * O(n K + n log n K) time, O(n) scratch.  Fails with CR_EDATA naming the row when a probability is
 * not in [0, 1], a row does not sum to one, a code is not below K (a missing one also), or a weight
 * is wrong; with CR_EARG when n = 0 or K < 2; then *out is left as it was. */
CR_API cr_status cr_class_evaluate(cr_ctx *cx, const uint32_t *codes, cr_cmat P,
                                   const double *opt_weight, cr_class_metrics *out);

/* The same with auc, f1 and average_precision of one class against the rest; SIZE_MAX: means over all classes. */
CR_API cr_status cr_class_evaluate_one(cr_ctx *cx, const uint32_t *codes, cr_cmat P,
                                       size_t one_class, const double *opt_weight,
                                       cr_class_metrics *out);

/* What was taken for what: out [K x K], the weight of the rows of class i whose most probable class is j at
 * [i x K + j].  O(n K).  Fails as cr_class_evaluate does; then out is left as it was. */
CR_API cr_status cr_confusion(cr_ctx *cx, const uint32_t *codes, cr_cmat P,
                              const double *opt_weight, double *out);

/* The probability that a row of the class has a higher score than one outside it, ties counting one
 * half: the sum over pairs of w_i w_j (1{s_i > s_j} + 1{s_i = s_j} / 2), normalised (Mann &
 * Whitney).  score [n] with the given stride; the class is the rows with codes[i] == code.  NaN
 * unless both sides have weight.  O(n log n) time, O(n) scratch.  Fails with CR_EDATA for a NaN, or
 * CR_ENOMEM. */
CR_API cr_status cr_auc(cr_ctx *cx, const double *score, size_t stride, const uint32_t *codes,
                        uint32_t code, size_t n, const double *opt_weight, double *out_auc);

#endif
