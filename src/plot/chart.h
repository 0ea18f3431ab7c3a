/* chart.h -- a figure as data: axes, series, captions; drawn as SVG or as text.  (Internal header.)
 */
#ifndef CREDENCE_PLOT_CHART_H
#define CREDENCE_PLOT_CHART_H

#include "base/scratch.h"
#include "base/sheet.h"
#include "models/core/model.h"
#include "svg.h"

enum { CRI_CHART_SERIES = 40, CRI_CHART_TOP = 12 };

typedef struct cri_chart_series {
    cri_svg_series look;
    char           glyph; /* in text */
    const double  *x, *y; /* [n]; of bands and bars y is the lower end */
    const double  *upper; /* [n] of bands and bars                     */
    size_t         n;
    bool           quiet; /* not in the legend: a note names it */
} cri_chart_series;

typedef struct cri_chart {
    const char         *title, *description, *caption[2];
    cri_svg_axis        x, y;
    cri_chart_series    series[CRI_CHART_SERIES]; /* drawn in this order */
    size_t              n;
    const char         *top_title; /* of labels above the area, at places of x; NULL: none */
    cri_svg_tick        top[CRI_CHART_TOP];
    size_t              n_top;
    const char *const  *levels; /* [n_levels] what x = 0, 1, ... stand for; NULL: x is a number */
    size_t              n_levels;
    const cri_svg_note *notes; /* [n_notes] texts in the plot area */
    size_t              n_notes;
    bool                equal;   /* a unit is as long across as up     */
    bool                whole;   /* ticks across at whole numbers only */
    bool                stacked; /* bars stand on each other           */
} cri_chart;

/* Adds a series, opt_upper for bands and bars; more than there is room for are left out. */
void cri_chart_add(cri_chart *chart, cri_svg_series look, char glyph, const double *x,
                   const double *y, const double *opt_upper, size_t n);
/* The same of a series that a note names, not the legend. */
void cri_chart_add_quiet(cri_chart *chart, cri_svg_series look, char glyph, const double *x,
                         const double *y, const double *opt_upper, size_t n);
/* Takes the axes from the series: all finite points, and 4 % more. */
void cri_chart_fit_axes(cri_chart *chart);

/* Draws a series into the plot area of a figure. */
void cri_chart_mark(cri_svg *svg, const cri_chart_series *series);
/* Draws to a file. */
cr_status cri_chart_svg(cr_ctx *cx, const cri_chart *chart, const char *path);
/* Draws into width x height characters and the lines around them; the text is the scratch's. */
cr_status cri_chart_text(cr_scratch *s, const cri_chart *chart, size_t width, size_t height,
                         const char **out_text);

/* Its named series, for programs: title, x_title, y_title, series (chart_points.c). */
void cri_chart_put(const cri_chart *chart, cri_sheet *to);
/* Several of them under one title: title, constant unless it is NaN, parts. */
void cri_charts_put(const char *title, double constant, const cri_chart *charts, size_t n,
                    cri_sheet *to);

/* As printf, into the arena; "" once that has failed. */
CR_PRINTF(2, 3) const char *cri_compose(cr_scratch *s, const char *format, ...);

/* A text that grows within its room; what does not fit is cut off. */
typedef struct cri_writer {
    char  *text;
    size_t capacity, used;
} cri_writer;
/* As printf, at its end. */
CR_PRINTF(2, 3) void cri_say(cri_writer *w, const char *format, ...);

/* What the figures of a model need: targets, weights and predictions of the rows that have both. */
typedef struct cri_shown {
    const char   *model, *target;
    size_t        n;
    double       *y, *w;
    cr_prediction p;             /* its first n rows */
    double       *lower, *upper; /* [n] of numbers with a spread, else NaN */
} cri_shown;

/* Predicts; numbers also get their central intervals.  Freed by cri_shown_free, also on failure. */
cr_status cri_shown_open(cr_ctx *cx, cr_scratch *s, const cr_model *model, const cr_table *table,
                         double level, cri_shown *out_shown);
/* "32 rows"; with weights, "32 rows of weight 2201". */
const char *cri_shown_rows(cr_scratch *s, const cri_shown *shown);
/* Frees the predictions. */
void cri_shown_free(cr_ctx *cx, cri_shown *shown);

/* The figures: each fills a chart whose parts are the scratch's. */
cr_status cri_chart_roc(cr_scratch *s, const cri_shown *shown, cri_chart *chart);
cr_status cri_chart_pr(cr_scratch *s, const cri_shown *shown, cri_chart *chart);
cr_status cri_chart_calibration(cr_scratch *s, const cri_shown *shown, cri_chart *chart);
cr_status cri_chart_residuals(cr_scratch *s, const cri_shown *shown, double level,
                              cri_chart *chart);
cr_status cri_chart_path(cr_scratch *s, const cr_model *model, const cr_table *opt_table,
                         cri_chart *chart);
/* The same of a model that has a path of prices (cri_model_prices). */
cr_status cri_chart_prices(cr_scratch *s, const cr_model *model, cri_chart *chart);
/* Of a model of coordinates: the first against the second of each row. */
cr_status cri_chart_coordinates(cr_scratch *s, const cr_model *model, const cr_table *table,
                                cri_chart *chart);
/* Of a classifier of one column of numbers: the probabilities over it, with the interval of the
 * latent function where the model has one, and the rows. */
cr_status cri_chart_probabilities(cr_scratch *s, const cr_model *model, const cr_table *table,
                                  const char *column, const double *opt_range, double level,
                                  cri_chart *chart);
cr_status cri_chart_learning(cr_scratch *s, const cr_model *model, const cr_table *table,
                             cri_chart *chart);

#endif
