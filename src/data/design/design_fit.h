/* design_fit.h -- the steps of fitting a design that its files share.  (Internal header.) */
#ifndef CREDENCE_DATA_DESIGN_DESIGN_FIT_H
#define CREDENCE_DATA_DESIGN_DESIGN_FIT_H

#include "design_block.h"
#include "reference.h"

/* What the columns of a table become, as options and model want them. */
typedef struct cri_design_plan {
    const cr_design_options *options;
    const cri_design_needs  *needs;
    bool                    *chosen; /* [columns of the table] a feature */
    cri_reference            reference;
    cri_references           references; /* that options name */
} cri_design_plan;

/* chosen[i] = column i of the table is a feature.  A list of features that starts by leaving out starts
 * from all columns (design_choose.c). */
cr_status cri_design_choose(cr_ctx *cx, const cr_table *table, const cr_design_options *options,
                            const cri_design_needs *needs, bool *chosen);
/* Copies what the design must remember of a column of the table. */
cr_status cri_design_remember(cr_ctx *cx, const cr_table *table, const cr_column *from,
                              const cri_design_plan *plan, bool impute, cri_design_column *out);
/* The name of power k + 1 of a number, of function k of its basis, or of level k. */
char *cri_design_name_term(cr_ctx *cx, const cri_design_column *column, size_t k, bool code);
/* Warns of a category that has too many levels, or one. */
void cri_design_warn_of_levels(cr_ctx *cx, const cr_table *table, const cr_column *column,
                               const cri_design_plan *plan);

/* A design of the terms that plan->options->terms names, without target and roles
 * (terms_make.c). */
cr_status cri_design_fit_terms(cr_ctx *cx, const cr_table *table, const cri_design_plan *plan,
                               cr_design **out_design);

#endif
