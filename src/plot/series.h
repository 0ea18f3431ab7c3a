/* series.h -- figures of models of series: the values with what the model makes of them and what comes next, and its
 * parts one below the other.  (Internal header.) */
#ifndef CREDENCE_PLOT_SERIES_H
#define CREDENCE_PLOT_SERIES_H

#include "process.h"

/* true of a model whose target is a series that it smooths and forecasts. */
bool cri_plots_series(const cr_model *model);
/* The first series of the table: its values, the smoothed mean with its band, and forecasts.  The last CRI_SERIES_ROWS
 * rows, if there are more. */
enum { CRI_SERIES_ROWS = 1000 };
cr_status cri_chart_of_series(cr_scratch *s, const cr_model *model, const cr_table *table,
                              const cr_plot_options *options, cri_chart *chart);
/* Each part of it in a panel of its own. */
cr_status cri_parts_of_series(cr_scratch *s, const cr_model *model, const cr_table *table,
                              const cr_plot_options *options, cri_parts *out_parts);

#endif
