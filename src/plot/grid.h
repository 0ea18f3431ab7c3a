/* grid.h -- tables that figures predict on: some columns on a grid, the others held where the data are.
 * (Internal header.) */
#ifndef CREDENCE_PLOT_GRID_H
#define CREDENCE_PLOT_GRID_H

#include "../models/model.h"

/* A table of n rows with the columns of `table`: names[k] has values[k] [n] (borrowed), other numbers are
 * at their mean, categories at the level of the first row that has one. */
cr_status cri_grid_table(cr_ctx *cx, const cr_table *table, size_t n, const char *const *names,
                         const double *const *values, size_t n_names, cr_table **out_grid);
/* The same with one row for each level of the category `name`. */
cr_status cri_grid_levels(cr_ctx *cx, const cr_table *table, const char *name, cr_table **out_grid);
/* The least and the greatest finite value of a column of numbers in rows whose target is known; opt_y NULL:
 * in all rows.  Fails with CR_EDATA where there is none. */
cr_status cri_grid_range(cr_ctx *cx, const cr_table *table, const char *name, const double *opt_y,
                         double *out_low, double *out_high);

#endif
