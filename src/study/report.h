/* report.h -- studies as JSON, with the names that the command line prints: for programs that read JSON more
 * easily than structs.  Each is freed with cr_free(cx, json, strlen(json) + 1, 1). */
#ifndef CREDENCE_STUDY_REPORT_H
#define CREDENCE_STUDY_REPORT_H

#include "compare_models.h"
#include "tune.h"

/* A cross-validation (cross_validate.h): rows, seed, metrics, se, folds. */
CR_API cr_status cr_cv_report(cr_ctx *cx, const cr_model_spec *spec, const cr_table *table,
                              const cr_cv_options *options, char **out_json);
/* A comparison (compare_models.h) of models that are called `names`: rows, seed, models, best, weights, and
 * average where that was asked for. */
CR_API cr_status cr_compare_report(cr_ctx *cx, const cr_model_spec *specs, const char *const *names,
                                   size_t n, const cr_table *table, const cr_cv_options *options,
                                   bool average, char **out_json);
/* A tuning (tune.h): rows, seed, metric, search, rule, folds, repeats, chosen, best, candidates. */
CR_API cr_status cr_tune_report(cr_ctx *cx, const cr_model_spec *spec, const cr_table *table,
                                const cr_tune_options *options, const cr_cv_options *cv,
                                char **out_json);

#endif
