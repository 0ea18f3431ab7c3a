/* assess.h -- how good a model is on given rows.
 * Dawid (1984) and Gneiting & Raftery (2007) for scoring distributions. */
#ifndef CREDENCE_STUDY_ASSESS_H
#define CREDENCE_STUDY_ASSESS_H

#include "../data/metrics.h"
#include "../models/model.h"

enum { CR_MOST_METRICS = 8 };

typedef struct cr_metric {
    const char *name;
    double      value;
} cr_metric;

typedef struct cr_assessment {
    size_t             rows; /* that were scored */
    size_t             n;
    cr_metric          metrics[CR_MOST_METRICS];
    bool               has_bins; /* classification */
    cr_calibration_bin bins[CR_CALIBRATION_BINS];
} cr_assessment;

/* Predicts the rows of the table and scores them against their target.  `level` is that of the
 * intervals whose coverage is counted.  Fails with CR_EDATA when the target is not there. */
CR_API cr_status cr_evaluate(cr_ctx *cx, const cr_model *model, const cr_table *table, double level,
                             cr_assessment *out_assessment);

#endif
