/* scores.h -- metrics as JSON and as tables, for the verbs that judge models. */
#ifndef CREDENCE_CLI_SCORES_H
#define CREDENCE_CLI_SCORES_H

#include "cli.h"
#include "study/cross_validate.h"

/* A number, or null where it is not finite. */
json_t *scores_number(double x);
/* The same in a table, where what has no end is "inf". */
json_t *scores_cell(double x);
/* Each metric by its name. */
json_t *scores_object(const cr_assessment *a);
/* The same of numbers in the order of the metrics. */
json_t *scores_values(const cr_assessment *a, const double *values);
/* One row for each metric: its name, mean and standard error. */
json_t *scores_table(const cr_assessment *mean, const double *se);
/* Each fold's metrics with its number of rows, and the repeat where there are several. */
json_t *scores_folds(const cr_assessment *fold, size_t folds, size_t repeats);
/* In text, below the scores: what they are errors of, where that is not the middle. */
void scores_note(cli *c, const cr_assessment *a);
/* "10-fold cross-validation", "5 times 10-fold cross-validation". */
const char *scores_title(size_t folds, size_t repeats, char out[64]);

#endif
