/* compare.h -- the ways of the verb compare: each in a file of its own. */
#ifndef CREDENCE_CLI_VERBS_COMPARE_H
#define CREDENCE_CLI_VERBS_COMPARE_H

#include "../cli.h"
#include "study/compare_groups.h"
#include "study/compare_models.h"

/* Groups of the rows of a table, under the one model that is named. */
cr_status compare_groups(cli *c, const cr_table *table, const cr_group_options *options);
/* Models on the same folds of a table; with `average`, also their Bayesian average. */
cr_status compare_models(cli *c, const cr_table *table, const cr_model_spec *specs, size_t n,
                         const cr_cv_options *options, bool average);

#endif
