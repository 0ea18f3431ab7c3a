/* figure_internal.h -- the figure of a fit, with all that it can be told.  (Internal header.) */
#ifndef CREDENCE_PLOT_FIGURE_INTERNAL_H
#define CREDENCE_PLOT_FIGURE_INTERNAL_H

#include "base/scratch.h"
#include "base/sheet.h"
#include "kinds.h"

/* As SVG: see cr_plot_model. */
cr_status cri_figure_svg(cr_ctx *cx, const cr_model *model, const cr_table *table,
                         const cr_plot_options *options, const char *path);
/* As text in width x height characters and what is around them; the text is the scratch's. */
cr_status cri_figure_text(cr_scratch *s, const cr_model *model, const cr_table *table,
                          const cr_plot_options *options, size_t width, size_t height,
                          const char **out_text);
/* Its points, as cri_chart_put. */
cr_status cri_figure_put(cr_scratch *s, const cr_model *model, const cr_table *table,
                         const cr_plot_options *options, cri_sheet *to);

/* What cr_plot_json gives, before it is JSON (kinds.c). */
cr_status cri_plot_put(cr_ctx *cx, const cr_model *model, const cr_table *table, cr_plot_kind kind,
                       const cr_plot_options *options, cri_sheet *to);

/* Whether a figure of this kind cannot be drawn from the model alone. */
bool cri_plot_needs_data(const cr_model *model, cr_plot_kind kind, const cr_plot_options *options);

/* From the least to the most of some values. */
typedef struct cri_span {
    double low, high;
} cri_span;

/* What is drawn.  The shown rows whose interval holds the observed value come first. */
typedef struct cri_picture {
    const cr_model        *model;
    const cr_table        *table;
    const cr_plot_options *options;
    double                 level;
    const char            *target, *column; /* column NULL: observed against predicted */
    size_t                 kept;            /* rows with all that is needed            */
    size_t      bounded, held; /* of them, with an interval; with one that holds the target */
    cri_span    x_kept;        /* of the column, in all kept rows         */
    size_t      shown, shown_held;
    double     *x, *y, *mean, *lower, *upper; /* [shown]; y is the observed target */
    const char *title, *description, *percent, *caption, *note;
    const char *cut; /* the columns that are held, of a curve over one of several; else NULL */
} cri_picture;

/* Fills in the texts from the rest (figure_text.c). */
void cri_picture_texts(cr_scratch *s, cri_picture *p);

#endif
