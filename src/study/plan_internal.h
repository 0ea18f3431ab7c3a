/* plan_internal.h -- how folds and samples treat models of sequences.  (Internal header.) */
#ifndef CREDENCE_STUDY_PLAN_INTERNAL_H
#define CREDENCE_STUDY_PLAN_INTERNAL_H

#include "plan.h"

/* group[i] of every row: rows with equal values of the column have equal numbers. */
cr_status cri_number_groups(cr_ctx *cx, const cr_table *table, const char *column, size_t *group);

/* true where the model is one of sequences, and this column tells them apart. */
bool cri_spec_has_sequence(cr_ctx *cx, const cr_model_spec *spec, const char *column);
/* *out_group = the column whose groups stay together.  Where one of the models is of sequences, that is
 * the column of these, or the split becomes one in order where there is but one.  CR_EARG where the
 * options ask for others. */
cr_status cri_plan_keep_sequences(cr_ctx *cx, const cr_model_spec *specs, size_t n,
                                  cr_cv_options *options, const char **out_group);
/* CR_EDATA where groups, by the column `by`, cut sequences. */
cr_status cri_plan_check_groups(cr_ctx *cx, const cr_model_spec *specs, size_t n,
                                const cr_table *table, const char *by, const size_t *group);
/* CR_EARG where one of the models is of sequences: `what` takes rows one by one. */
cr_status cri_plan_refuse_sequences(cr_ctx *cx, const cr_model_spec *specs, size_t n,
                                    const char *what);

#endif
