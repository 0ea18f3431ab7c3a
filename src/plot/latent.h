/* latent.h -- figures of clusters and of linear coordinates: which plane shows them, how many there should be, how
 * sure rows belong to them, and how the columns make up the coordinates.
 *   clusters_view.c           the plane: two columns, or two principal components
 *   clusters.c                rows by cluster on it, with centres and ellipses
 *   clusters_line.c           the same over the only column of a model
 *   chart_criterion.c         the criterion that chose among candidates
 *   chart_responsibilities.c  the probabilities of the clusters, row by row
 *   axes.c                    eigenvalues and loadings, from what a model says of itself
 *   chart_scree.c             the eigenvalues
 *   chart_biplot.c            rows and loadings on the first two coordinates
 *   loadings.c                the loadings, coordinate by coordinate
 *   topic_bars.c              the top terms, topic by topic
 * (Internal header.) */
#ifndef CREDENCE_PLOT_LATENT_H
#define CREDENCE_PLOT_LATENT_H

#include "data/design/design_internal.h"
#include "process.h"

/* --- clusters -------------------------------------------------------------------------------- */

/* The clusters of the rows of a table. */
typedef struct cri_members {
    size_t             n, k;
    const char *const *names;   /* [k] the model's */
    size_t            *cluster; /* [n] the most probable or nearest; k: the row has none */
    double            *highest; /* [n] its probability; 1 where there are only distances  */
    double            *prob;    /* [n x k]; NULL where there are only distances           */
} cri_members;

/* Asks the model; the arrays are the scratch's.  Fails with CR_EUNSUPPORTED for a model without clusters, CR_EDATA where
 * no row has one. */
cr_status cri_members_open(cr_scratch *s, const cr_model *model, const cr_table *table,
                           cri_members *out);

/* A plane that rows are projected on: at = P t - origin, t the terms of a row. */
typedef struct cri_view {
    const char *title[2];
    double     *P; /* [2 x terms] */
    double      origin[2];
    double     *at[2]; /* [rows of the table]; NaN where it is not known     */
    bool        equal; /* both have the same unit                            */
    const char *name;  /* "petal_length and petal_width" */
} cri_view;

/* Two terms of numbers: those of options->over, or those in which the clusters differ most. */
cr_status cri_view_columns(cr_scratch *s, const cr_model *model, const cr_table *table,
                           const cri_members *members, const cr_plot_options *options,
                           cri_view *out);
/* The first two principal components of the rows that have all cells, the terms standardised. */
cr_status cri_view_components(cr_scratch *s, const cr_model *model, const cr_table *table,
                              cri_view *out);

/* Of a model with one column, whose values are `at` [rows of the table]. */
cr_status cri_chart_line(cr_scratch *s, const cr_model *model, const cri_members *members,
                         const double *at, const char *column, cri_chart *chart);
/* The values of a term in all rows of the table. */
cr_status cri_term_values(cr_ctx *cx, const cr_model *model, const cr_table *table, size_t term,
                          double *out);
/* How many terms are numbers, not the levels of categories. */
size_t cri_term_numbers(const cr_design *design);
/* Its name; of a date also where its days are counted from. */
const char *cri_term_title(cr_scratch *s, const cr_design *design, size_t term);
/* Rows by cluster, on principal components or on columns, or over the only one; on components also where categories leave
 * fewer than two columns of numbers. */
cr_status cri_chart_clusters(cr_scratch *s, const cr_model *model, const cr_table *table,
                             const cr_plot_options *options, bool components, cri_chart *chart);
cr_status cri_chart_criterion(cr_scratch *s, const cr_model *model, cri_chart *chart);
cr_status cri_chart_responsibilities(cr_scratch *s, const cr_model *model, const cr_table *table,
                                     cri_chart *chart);

/* true when there is a criterion with values to draw. */
bool cri_model_chose(const cr_model *model);

/* --- coordinates ----------------------------------------------------------------------------- */

/* What the statistics and parameters of a model say of its coordinates: eigenvalue(z1), or variance(z1) of one that has
 * none, with eigenvalue_sd(z1); share(z1), total; z1.TERM with its sd.  NaN where it says nothing. */
typedef struct cri_axes {
    const char        *model, *measure; /* "eigenvalue" or "variance"; NULL: neither */
    size_t             q, p;
    const char *const *names;                /* [q] of the coordinates */
    const char       **terms;                /* [p] */
    double            *value, *sd, *share;   /* [q] */
    double            *loading, *loading_sd; /* [q x p] */
    double             total;
    bool               has_loadings;
} cri_axes;

/* Fills it; the arrays are the scratch's.  Fails with CR_EUNSUPPORTED for a model without coordinates. */
cr_status cri_axes_open(cr_scratch *s, const cr_model *model, cri_axes *out);

/* true for a model of coordinates whose class declares their eigenvalues or variances. */
bool cri_model_has_scree(const cr_model *model);

cr_status cri_chart_scree(cr_scratch *s, const cr_model *model, double level, cri_chart *chart);
cr_status cri_chart_biplot(cr_scratch *s, const cr_model *model, const cr_table *table,
                           cri_chart *chart);
/* Bars of the loadings, a chart for each coordinate. */
cr_status cri_loadings_new(cr_scratch *s, const cr_model *model, double level,
                           cri_parts *out_parts);
cr_status cri_loadings_svg(cr_ctx *cx, const cri_parts *parts, const char *path);
cr_status cri_loadings_text(cr_scratch *s, const cri_parts *parts, size_t width,
                            const char **out_text);

/* true for a model that describes topics by their top terms. */
bool cri_model_has_topics(const cr_model *model);
/* Bars of these, a chart for each topic; as text they are like loadings. */
cr_status cri_topic_bars_new(cr_scratch *s, const cr_model *model, double level,
                             cri_parts *out_parts);
cr_status cri_topic_bars_svg(cr_ctx *cx, const cri_parts *parts, const char *path);

#endif
