/* sequences.h -- figures of rows in sequences: hidden states along a sequence, and a series with its forecast.
 *   sequence_view.c    one sequence of a table: its rows in their order, and where they stand on the axis
 *   states.c           columns coloured by state above the probabilities of the states
 *   transitions.c      how states follow each other, as a graph
 *   series_parts.c     the parts of a series: level, season, ...
 *   chart_seasons.c    the seasonal part of a series, season by season
 *   chart_forecast.c   a series, what was predicted of each row from those before it, and the rows to come
 * (Internal header.) */
#ifndef CREDENCE_PLOT_SEQUENCES_H
#define CREDENCE_PLOT_SEQUENCES_H

#include "data/design/design_internal.h"
#include "process.h"

/* One sequence of a table: rows [n] of it, in their order, which stand at x [n]. */
typedef struct cri_sequence_view {
    const char *title; /* of the x axis */
    cr_type     type;
    const char *note; /* which sequence this is, and which of its rows; NULL: all there is */
    size_t      n;
    size_t     *row;
    double     *x;
    double      step; /* from one row to the next, at the end of the sequence */
} cri_sequence_view;

/* The target in the units of the parts of the model: log(y) where that is what it models.  In the arena. */
const char *cri_modelled_target(cr_scratch *s, const cr_model *model);

/* The first sequence of a table: its first (`last`: its last) rows, at most so many.  The arrays are the scratch's.  Fails
 * with CR_EUNSUPPORTED for a model that sees no sequences, CR_EDATA where there is no row. */
cr_status cri_sequence_view_open(cr_scratch *s, const cr_model *model, const cr_table *table,
                                 size_t most, bool last, cri_sequence_view *out);

/* Of hidden states: panels of the columns of numbers, and one of the probabilities. */
cr_status cri_states_new(cr_scratch *s, const cr_model *model, const cr_table *table,
                         cri_parts *out_parts);
/* Of hidden states: A [k x k], row by row the probabilities of the next state. */
typedef struct cri_transitions {
    const char        *model;
    size_t             k;
    const char *const *names; /* [k] the model's */
    double            *A;
} cri_transitions;

/* Fills it; the matrix is the scratch's.  Fails with CR_EUNSUPPORTED for a model without them. */
cr_status cri_transitions_open(cr_scratch *s, const cr_model *model, cri_transitions *out);
cr_status cri_transitions_svg(cr_ctx *cx, const cri_transitions *transitions, const char *path);
cr_status cri_transitions_text(cr_scratch *s, const cri_transitions *transitions,
                               const char **out_text);
void      cri_transitions_put(cr_scratch *s, const cri_transitions *transitions, cri_sheet *to);

/* Of a series: with its predictions and `ahead` rows to come; 0: as many as are to be seen well. */
cr_status cri_chart_forecast(cr_scratch *s, const cr_model *model, const cr_table *table,
                             double level, size_t ahead, cri_chart *chart);

/* Of a series with a seasonal part: each season over the cycles. */
cr_status cri_chart_seasons(cr_scratch *s, const cr_model *model, const cr_table *table,
                            double level, cri_chart *chart);

/* Each part of a series in a panel of its own. */
cr_status cri_series_parts(cr_scratch *s, const cr_model *model, const cr_table *table,
                           double level, cri_parts *out_parts);

#endif
