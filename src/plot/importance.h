/* importance.h -- figures of what the predictions rest on: the importance of each column, and how they depend on some.
 * (Internal header.) */
#ifndef CREDENCE_PLOT_IMPORTANCE_H
#define CREDENCE_PLOT_IMPORTANCE_H

#include "process.h"

/* A bar for each column, the largest first: its levels are the columns, its series the bars and one standard error. */
cr_status cri_chart_importance(cr_scratch *s, const cr_model *model, const cr_table *table,
                               const cr_plot_options *options, cri_chart *out_chart);
/* Draws it to a file, with the bars along the lines. */
cr_status cri_importance_svg(cr_ctx *cx, const cri_chart *chart, const char *path);
/* The same as lines of text; the text is the scratch's. */
cr_status cri_importance_text(cr_scratch *s, const cri_chart *chart, size_t width,
                              const char **out_text);

/* Partial dependence on the columns of options->over, or on the most important ones: a chart each. */
cr_status cri_dependence_new(cr_scratch *s, const cr_model *model, const cr_table *table,
                             const cr_plot_options *options, cri_parts *out_parts);

#endif
