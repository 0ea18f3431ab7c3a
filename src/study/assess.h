/* assess.h -- how good a model is on given rows.
 * Dawid (1984) and Gneiting & Raftery (2007) for scoring distributions. */
#ifndef CREDENCE_STUDY_ASSESS_H
#define CREDENCE_STUDY_ASSESS_H

#include "data/judge/metrics.h"
#include "models/core/decide.h"
#include "models/core/model.h"

enum { CR_MOST_METRICS = 12, CR_POSITIVE_SIZE = 64 };

typedef struct cr_metric {
    const char *name;
    double      value;
    double      se; /* standard error over the rows, where it is known; else NaN */
} cr_metric;

typedef struct cr_assessment {
    size_t rows;   /* that were scored */
    double weight; /* of them; their number without weights */
    size_t
        unconverged; /* fits, of this one or of those it is a mean of, that stopped at their limit */
    size_t    n;
    cr_metric metrics[CR_MOST_METRICS];
    double    target_mean, target_variance; /* of the rows, where the target is a number */
    double    quantile; /* what the predictions are, where it is not the middle; else NaN */
    bool      has_bins; /* classification */
    cr_calibration_bin bins[CR_CALIBRATION_BINS];
    char               positive
        [CR_POSITIVE_SIZE]; /* the class that auc, f1 and average_precision are of; "": of all */
    double positive_share;  /* of the weight of the rows; NaN without such a class */
} cr_assessment;

/* How rows are judged. */
typedef struct cr_judging {
    double level; /* of the intervals whose coverage is counted */
    const cr_loss
        *opt_loss; /* adds the metric `loss`: the mean over the rows of what the decisions of least
                                * expected loss turned out to cost */
    double *
        opt_confusion; /* [K x K] of a model of K classes (cr_design_classes): the weight of the rows of
                                * class i whose most probable class is j at [i x K + j] */
    const char *
        opt_positive; /* the class that auc, f1 and average_precision are of; NULL or "": the second of
                                * two, the mean over all of more */
    bool
        one_of_many; /* folds: what has no value in some of them is said of all together (scores.h) */
} cr_judging;

/* Predicts the rows of the table and scores them against their target; of a model of densities,
 * scores the rows themselves: log_score, the mean log density, with its standard error.  `level` is
 * that of the intervals whose coverage is counted.  Metrics that predictions without spread do not
 * have are NaN, with a warning.  Fails with CR_EDATA when the target is not there, with
 * CR_EUNSUPPORTED for a model that has neither target nor density. */
CR_API cr_status cr_evaluate(cr_ctx *cx, const cr_model *model, const cr_table *table, double level,
                             cr_assessment *out_assessment);

/* The same with all that can be asked.  Fails also with CR_EUNSUPPORTED for the confusion of a model that
 * predicts no classes, and as cr_decide does for a loss that does not suit the predictions. */
CR_API cr_status cr_evaluate_with(cr_ctx *cx, const cr_model *model, const cr_table *table,
                                  const cr_judging *how, cr_assessment *out_assessment);

#endif
