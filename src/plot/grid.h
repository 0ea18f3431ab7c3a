/* grid.h -- tables that figures predict on: some columns on a grid, the others held where the data
 * are. (Internal header.) */
#ifndef CREDENCE_PLOT_GRID_H
#define CREDENCE_PLOT_GRID_H

#include "base/scratch.h"
#include "kinds.h"

/* A table of n rows with the columns of `table`: names[k] has values[k] [n] (borrowed), other
 * numbers are at their median, categories at their commonest level.  Without a table: these columns
 * alone. */
cr_status cri_grid_table(cr_ctx *cx, const cr_table *opt_table, size_t n, const char *const *names,
                         const double *const *values, size_t n_names, cr_table **out_grid);
/* A sentence on the columns of the model that cri_grid_table would hold, with their values; NULL:
 * none.  The text is the scratch's. */
cr_status cri_grid_held(cr_scratch *s, const cr_model *model, const cr_table *table,
                        const char *const *names, size_t n_names, const char **out_text);
/* The same with one row for each level of the category `name`. */
cr_status cri_grid_levels(cr_ctx *cx, const cr_table *table, const char *name, cr_table **out_grid);
/* The least and the greatest finite value of a column of numbers in rows whose target is known;
 * opt_y NULL: in all rows.  Fails with CR_EDATA where there is none. */
cr_status cri_grid_range(cr_ctx *cx, const cr_table *table, const char *name, const double *opt_y,
                         double *out_low, double *out_high);
/* The type of a column in the table, or where that has none, in the model; else CR_REAL. */
cr_type cri_grid_type(const cr_model *opt_model, const cr_table *opt_table, const char *opt_column);
/* How many columns of numbers the model has; the first `most` of them to names. */
size_t cri_grid_numbers(const cr_model *model, const char **names, size_t most);
/* Are the columns of options->over `count` different columns of numbers of the model?  Fails with
 * CR_EARG. */
cr_status cri_grid_over(cr_ctx *cx, const cr_model *model, const cr_plot_options *options,
                        size_t count);

/* Of the inputs that a model marks (cri_model_marked) those of n columns: at[k] [count] of column names[k], memory of the
 * arena; *out_name what they are called.  count 0 where there are none, or a column is no term by itself. */
cr_status cri_grid_marked(cr_scratch *s, const cr_model *model, const char *const *names, size_t n,
                          double **at, size_t *out_count, const char **out_name);

#endif
