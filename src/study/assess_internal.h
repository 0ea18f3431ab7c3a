/* assess_internal.h -- the metrics of an assessment, by name and in their order: those of a model
 * and those of an average are the same.  (Internal header.) */
#ifndef CREDENCE_STUDY_ASSESS_INTERNAL_H
#define CREDENCE_STUDY_ASSESS_INTERNAL_H

#include "assess.h"

/* What is known of a metric beside its value. */
typedef struct cri_metric_kind {
    const char *name;
    int         sense;   /* 1: the more the better, -1: the less, 0: neither           */
    bool        by_rows; /* has no value where the rows are too few or have one target */
    bool        main;    /* what people compare models by, beside the first one        */
} cri_metric_kind;

/* Of a name that is none: no sense, and the rest false. */
const cri_metric_kind *cri_metric_kind_of(const char *name);

/* cr_evaluate without a warning of scores that are infinite: of folds, all get one (scores.h). */
cr_status cri_evaluate(cr_ctx *cx, const cr_model *model, const cr_table *table,
                       const cr_judging *how, cr_assessment *out);

/* Adds the metrics of numbers. */
void cri_assess_add_numbers(cr_assessment *a, const cr_regression_metrics *m);
/* Adds the metrics of classes, without the bins. */
void cri_assess_add_classes(cr_assessment *a, const cr_class_metrics *m);
/* Scores probabilities of the classes codes [a->rows] of rows of weight w; see cr_judging. */
cr_status cri_assess_classes(cr_ctx *cx, const cr_prediction *p, const uint32_t *codes,
                             const double *w, const char *opt_positive, cr_assessment *a);
/* Adds the mean loss of the decisions for the first a->rows rows of a prediction, with weights w. */
cr_status cri_assess_add_loss(cr_ctx *cx, const cr_prediction *p, const cr_loss *loss,
                              const double *y, const double *w, cr_assessment *a);

#endif
