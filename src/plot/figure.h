/* figure.h -- a model and its data in one figure: a look tells how good it is, and how sure. */
#ifndef CREDENCE_PLOT_FIGURE_H
#define CREDENCE_PLOT_FIGURE_H

#include "models/core/model.h"

/* Draws a model with the rows of a table that has its target, as SVG.
 *   A model of one real or integer column: the rows as points, the predictive mean as a curve over
 *   the range of the column and 5 % more on either side, and the central predictive interval of
 *   mass `level` as a band.
 *   Other models of numbers: observed against predicted, with the interval of each row; those that
 *   miss the diagonal stand out.
 *   A classifier of one column of numbers: the probabilities over it.
 *   A model of coordinates: the rows in the first two of them.
 * Below it the figure says how many rows the intervals should hold, and how many they do.  Rows
 * with missing values are left out or refused as the model's design says.  Of more than 2000 rows
 * it shows 2000, chosen by the seed of the model, and says so; the counts are of all rows.  The
 * file appears whole or not at all.  Time: that of predicting all rows, and O(rows).
 * Fails with CR_EARG for a level outside (0, 1), CR_EDATA where the table does not fit the model or
 * has no row to draw, CR_EUNSUPPORTED for another kind of model, CR_EIO, CR_ENOMEM. */
CR_API cr_status cr_plot_model(cr_ctx *cx, const cr_model *model, const cr_table *table,
                               double level, const char *path);

#endif
