/* assess.h -- how good a model is: on given rows, and by cross-validation.
 * Dawid (1984) and Gneiting & Raftery (2007) for scoring distributions; Hastie, Tibshirani & Friedman
 * (2009), sec. 7.10, for cross-validation. */
#ifndef CREDENCE_STUDY_ASSESS_H
#define CREDENCE_STUDY_ASSESS_H

#include "../data/metrics.h"
#include "../models/model.h"

enum { CR_MOST_METRICS = 12 };

typedef struct cr_metric {
    const char *name;
    double      value;
    double      se; /* standard error over the rows, where it is known; else NaN */
} cr_metric;

typedef struct cr_assessment {
    size_t             rows; /* that were scored */
    size_t             n;
    cr_metric          metrics[CR_MOST_METRICS];
    bool               has_bins; /* classification */
    cr_calibration_bin bins[CR_CALIBRATION_BINS];
} cr_assessment;

/* Predicts the rows of the table and scores them against their target; of a model of densities, scores
 * the rows themselves: log_score, the mean log density, with its standard error.  `level` is that of
 * the intervals whose coverage is counted.  Metrics that predictions without spread do not have are
 * NaN, with a warning.  Fails with CR_EDATA when the target is not there, with CR_EUNSUPPORTED for a
 * model that has neither target nor density. */
CR_API cr_status cr_evaluate(cr_ctx *cx, const cr_model *model, const cr_table *table, double level,
                             cr_assessment *out_assessment);

/* clang-format off */
#define CR_CV_OPTIONS(X)                                                                             \
    X(count,  folds, "10",       ">=2", "number of folds", "5")                                      \
    X(choice, split, "shuffled", "shuffled|stratified|ordered",                                      \
      "how rows are put into folds: at random, at random within the classes of the target, or in time order", \
      "ordered")                                                                                     \
    X(real,   interval, "0.95",     "0<..<1", "mass of the intervals whose coverage is counted", "0.9")
/* clang-format on */
enum cr_cv_split { CR_SPLIT_SHUFFLED, CR_SPLIT_STRATIFIED, CR_SPLIT_ORDERED };

CR_OPTIONS_STRUCT(cr_cv_options, CR_CV_OPTIONS);
/* The table of these options. */
extern CR_API const cr_option cr_cv_table[];

typedef struct cr_cv {
    size_t         folds;
    uint64_t       seed;
    cr_assessment *fold; /* [folds]                                                      */
    cr_assessment  mean; /* means over the folds                                         */
    double         se[CR_MOST_METRICS]; /* of these means: sd over folds / sqrt(folds)   */
} cr_cv;

/* Fits the model on all folds but one and scores it on that one, for each fold.  The folds depend on
 * the setting `seed`, the number of rows and the options alone. */
CR_API cr_status cr_cross_validate(cr_ctx *cx, const char *name, const cr_table *table,
                                   const cr_setting *settings, size_t n_settings,
                                   const cr_cv_options *options, cr_cv *out_cv);
/* Frees the folds of a cross-validation. */
CR_API void cr_cv_free(cr_ctx *cx, cr_cv *cv);

#endif
