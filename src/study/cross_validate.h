/* cross_validate.h -- how good models are on rows they have not seen.
 * The rows are put into folds; each fold in turn is scored by models fitted on the others.  Fits
 * run beside each other, as many as the context has threads, each with one thread inside: the same
 * bits for any number.  Hastie, Tibshirani & Friedman (2009), The Elements of Statistical Learning,
 * sec. 7.10; Bengio & Grandvalet (2004), "No unbiased estimator of the variance of k-fold
 * cross-validation", JMLR 5, for why the standard errors are only a guide. */
#ifndef CREDENCE_STUDY_CROSS_VALIDATE_H
#define CREDENCE_STUDY_CROSS_VALIDATE_H

#include "assess.h"

/* clang-format off */
#define CR_CV_OPTIONS(X)                                                                             \
    X(count,  folds, "10",       ">=2", "number of folds", "5")                                      \
    X(choice, split, "auto",     "auto|shuffled|stratified|ordered",                                 \
      "how rows are assigned to folds: at random, at random within the classes of the target, or in time order; auto: whole sequences for a model of sequences, stratified if there are classes, otherwise shuffled", \
      "ordered")                                                                                     \
    X(count,  repeats, "1",      "1..10000", "repeat the cross-validation this many times, with new folds each time", "5") \
    X(text,   group, "",         "COLUMN", "rows with the same value in this column stay in one fold; the column is then not used as a feature", "patient") \
    X(real,   interval, "0.95",  "0<..<1", "mass of the intervals whose coverage is counted", "0.9")  \
    X(text,   loss, "",          "LOSS", "also score the mean loss of the decisions of least expected loss: 0-1, squared, absolute, quantile:Q, or a FILE with a matrix of losses", "quantile:0.9") \
    X(text,   positive, "",      "CLASS", "the class that auc, f1 and average_precision are of; by default the second of two in alphabetical order, the mean over all of more", "yes")
/* clang-format on */
enum cr_cv_split { CR_SPLIT_AUTO, CR_SPLIT_SHUFFLED, CR_SPLIT_STRATIFIED, CR_SPLIT_ORDERED };

CR_OPTIONS_STRUCT(cr_cv_options, CR_CV_OPTIONS);
/* The table of these options. */
extern CR_API const cr_option cr_cv_table[];

typedef struct cr_cv {
    size_t         folds, repeats;
    uint64_t       seed;
    cr_assessment *fold; /* [repeats x folds]                                             */
    cr_assessment  mean; /* means over all of them                                        */
    /* Of these means: sd over the folds / sqrt(folds), its square averaged over the repeats.  More
     * repeats steady the mean, but they see no new data, and so do not shrink this. */
    double se[CR_MOST_METRICS];
} cr_cv;

/* Fits the model on all folds but one and scores it on that one, for each fold.  The folds depend
 * on the setting `seed`, the number of rows, the classes or groups, and the options alone.  Where
 * the time limit comes between, with a warning, those that are finished are the answer. */
CR_API cr_status cr_cross_validate(cr_ctx *cx, const char *name, const cr_table *table,
                                   const cr_setting *settings, size_t n_settings,
                                   const cr_cv_options *options, cr_cv *out_cv);
/* Frees the folds of a cross-validation. */
CR_API void cr_cv_free(cr_ctx *cx, cr_cv *cv);

/* A model to be fitted: its name and settings, borrowed. */
typedef struct cr_model_spec {
    const char       *model;
    const cr_setting *settings;
    size_t            n_settings;
} cr_model_spec;

/* 1 for a metric of which more is better, -1 when less is, 0 when neither is (coverage, width). */
CR_API int cr_metric_sense(const char *metric);
/* The place of a metric in an assessment, or its n. */
CR_API size_t cr_metric_find(const cr_assessment *assessment, const char *metric);
/* What a model is chosen by unless the user says else: log_loss, log_score; accuracy of classes
 * without probabilities. */
CR_API const char *cr_metric_default(const cr_assessment *assessment);

#endif
