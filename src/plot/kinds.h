/* kinds.h -- figures that judge a model: as SVG, or as text for a terminal. */
#ifndef CREDENCE_PLOT_KINDS_H
#define CREDENCE_PLOT_KINDS_H

#include "models/core/model.h"

typedef enum cr_plot_kind {
    CR_PLOT_RESIDUALS, /* of numbers: what is left over against what was predicted, with the band */
    CR_PLOT_CALIBRATION, /* of classes: the share that came true against the probability */
    CR_PLOT_ROC, /* of classes: true against false positive rate, with AUC                   */
    CR_PLOT_PR,  /* of classes: precision against recall, with average precision             */
    CR_PLOT_LEARNING_CURVE, /* scores against the number of rows; fits the model anew with its
                              settings */
    CR_PLOT_COMPONENTS, /* of a sum: each part with its band (models/core/parts.h); of clusters: the rows on two principal components */
    CR_PLOT_MAP,        /* of two columns of numbers: mean and sd over the plane              */
    CR_PLOT_EVIDENCE,   /* the log evidence over two hyper-parameters                         */
    CR_PLOT_PATH, /* coefficients against log lambda: of a lasso, which needs no table; of a model with the
                         * option lambda by fits to the table                                 */
    CR_PLOT_IMPORTANCE, /* how much worse the score becomes when a column is permuted (study/importance.h) */
    CR_PLOT_DEPENDENCE, /* predictions over single columns, averaged over the rows (study/dependence.h)  */
    CR_PLOT_FIT, /* the figure that fits: as cr_plot_model (figure.h); of classes by several columns the ROC curve, of clusters the rows on two columns, of hidden
                         * states and of series the figures of sequences, of linear coordinates the biplot, and without a table the criterion or the eigenvalues */
    CR_PLOT_CRITERION, /* what chose among candidates, over the number of clusters; needs no table */
    CR_PLOT_RESPONSIBILITIES, /* of clusters: their probabilities, row by row */
    CR_PLOT_SCREE,            /* of coordinates: their eigenvalues; needs no table       */
    CR_PLOT_BIPLOT,           /* of linear coordinates: rows, and the columns as arrows  */
    CR_PLOT_LOADINGS,         /* of linear coordinates: the loadings; needs no table     */
    CR_PLOT_STATES,           /* of hidden states: where a sequence is in which          */
    CR_PLOT_FORECAST,         /* of a series: what was predicted, and the rows to come   */
    CR_PLOT_TRANSITIONS,      /* of states: how they follow each other; needs no table   */
    CR_PLOT_SEASONS           /* of a series with seasons: each season over the cycles   */
} cr_plot_kind;

/* What some of the kinds can be told. */
typedef struct cr_plot_options {
    double        level; /* of the intervals                                             */
    size_t        draws; /* of a fit of one column: functions drawn from the posterior   */
    const double *range; /* [2] of a fit or components of one column; NULL: of the data  */
    const char *const *
        parameters; /* of the evidence: two names; none: a length-scale and the noise, or the first two */
    size_t n_parameters;
    const char *const *
        over; /* columns of the axes: two of a map or of clusters, one of a fit or components; none: the
                                    * model must have no others, or those in which the clusters differ most.  Of importance and dependence any; none: all, the
                                    * most important */
    size_t n_over;
    size_t repeats; /* of importance: permutations of each column; 0: 10 */
    size_t ahead;   /* of a forecast: rows to come; 0: a quarter of those shown */
} cr_plot_options;

/* Draws a figure of the model and a table that has its target (NULL where the kind needs none, and
 * for a fit of numbers over the one column of the model with a range) to a file, as SVG, whole or
 * not at all. `level` is that of the intervals.  Fails with CR_EUNSUPPORTED where the kind is not
 * for what the model predicts, CR_EDATA where there is no row to draw, CR_EARG for a level outside
 * (0, 1), CR_EIO. */
CR_API cr_status cr_plot(cr_ctx *cx, const cr_model *model, const cr_table *table,
                         cr_plot_kind kind, double level, const char *path);
/* The same as lines of text, with an area of width x height characters; freed with
 * cr_free(cx, text, strlen(text) + 1, 1). */
CR_API cr_status cr_plot_text(cr_ctx *cx, const cr_model *model, const cr_table *table,
                              cr_plot_kind kind, double level, size_t width, size_t height,
                              char **out_text);
/* cr_plot with options. */
CR_API cr_status cr_plot_with(cr_ctx *cx, const cr_model *model, const cr_table *table,
                              cr_plot_kind kind, const cr_plot_options *options, const char *path);
/* cr_plot_text with options. */
CR_API cr_status cr_plot_text_with(cr_ctx *cx, const cr_model *model, const cr_table *table,
                                   cr_plot_kind kind, const cr_plot_options *options, size_t width,
                                   size_t height, char **out_text);
/* The points that the figure is drawn from, as a JSON object: title, x_title, y_title, and series,
 * each with name, form (points, line, band, bars, arrows), x (the levels of a category, or the columns, are texts), and y
 * or lower and upper; of components, dependence and loadings title, the constant of the mean function and parts, each such an
 * object; of map and evidence title, x_title, y_title, x and y of the cells, maps, each with name
 * and z [y][x], and points of rows, marked inputs or the mark.  The text is freed as that of cr_plot_text. */
CR_API cr_status cr_plot_json(cr_ctx *cx, const cr_model *model, const cr_table *table,
                              cr_plot_kind kind, const cr_plot_options *options, char **out_text);

#endif
