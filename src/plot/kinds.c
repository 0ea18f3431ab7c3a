/* kinds.c -- the door to the figures. */
#include "chart.h"
#include "figure_internal.h"
#include "grid.h"
#include "importance.h"
#include "latent.h"
#include "models/core/sequence.h"
#include "sequences.h"
#include "base/context_internal.h"

#include <math.h>

/* Where a figure goes: its points to a sheet; or it is drawn to a file, or to text of this size. */
typedef struct target {
    cri_sheet  *points; /* NULL: it is drawn */
    const char *path;   /* NULL: text */
    size_t      width, height;
    const char *text; /* the scratch's */
} target;

static cr_status check_options(cr_ctx *cx, const cr_plot_options *o)
{
    if (!(o->level > 0 && o->level < 1))
        return cr_fail(cx, CR_EARG, "the level of an interval must lie between 0 and 1");
    if (o->range && !(isfinite(o->range[0]) && isfinite(o->range[1]) && o->range[0] < o->range[1]))
        return cr_fail(
            cx, CR_EARG,
            "the range of a figure must go from a smaller to a larger number, not from %g to %g",
            o->range[0], o->range[1]);
    return CR_OK;
}

/* --- which figure ---------------------------------------------------------------------------- */

/* Models of sequences: of numbers, and of hidden states. */
static bool is_series(const cr_model *m)
{
    return cr_model_get_task(m) == CR_TASK_REGRESSION &&
           cr_class_offers(cr_model_get_class(m), "forecast");
}

static bool has_states(const cr_model *m)
{
    return cr_model_get_task(m) == CR_TASK_CLUSTER &&
           cr_class_offers(cr_model_get_class(m), "sequences");
}

/* The kind that a fit stands for without a table. */
static cr_plot_kind kind_alone(const cr_model *m, cr_plot_kind kind, const cr_plot_options *o)
{
    if (kind != CR_PLOT_FIT || o->range || o->draws || o->n_over) return kind;
    if (cri_model_chose(m)) return CR_PLOT_CRITERION;
    if (has_states(m)) return CR_PLOT_TRANSITIONS;
    if (cri_model_has_topics(m)) return CR_PLOT_LOADINGS;
    return cri_model_has_scree(m) ? CR_PLOT_SCREE : kind;
}

/* Of classes the probabilities are drawn over one column, so that several need another figure. */
static bool needs_roc(const cr_model *m)
{
    return cr_model_get_task(m) == CR_TASK_CLASSIFICATION &&
           !(cr_design_columns(cr_model_get_design(m)) == 1 && cri_grid_numbers(m, NULL, 0) == 1);
}

/* The same with one: of series and hidden states the figures of sequences; of classes by several columns the ROC curve; of linear coordinates, two or more, the biplot; their components are that, too. */
static cr_status kind_with_rows(cr_scratch *s, const cr_model *m, cr_plot_kind kind,
                                const cr_plot_options *o, cr_plot_kind *out)
{
    cr_status st = CR_OK;
    cri_axes  a;
    *out = kind;
    if ((kind == CR_PLOT_FIT || kind == CR_PLOT_COMPONENTS) && is_series(m) &&
        (o->range || o->draws || o->n_over))
        return cr_fail(s->cx, CR_EARG, "--range, --draws and --over are not for figures of series");
    if ((kind != CR_PLOT_FIT && kind != CR_PLOT_COMPONENTS) || o->range || o->draws || o->n_over)
        return CR_OK;
    if (kind == CR_PLOT_FIT && is_series(m)) *out = CR_PLOT_FORECAST;
    if (kind == CR_PLOT_FIT && has_states(m)) *out = CR_PLOT_STATES;
    if (*out == CR_PLOT_FIT && needs_roc(m)) *out = CR_PLOT_ROC;
    if (cr_model_get_task(m) != CR_TASK_TRANSFORM) return CR_OK;
    *out = cri_model_has_topics(m) ? CR_PLOT_LOADINGS : CR_PLOT_FIT;
    if (*out == CR_PLOT_LOADINGS) return CR_OK;
    CR_TRY(cri_axes_open(s, m, &a));
    if (a.has_loadings && a.q >= 2) *out = CR_PLOT_BIPLOT;
done:
    return st;
}

bool cri_plot_needs_data(const cr_model *m, cr_plot_kind kind, const cr_plot_options *o)
{
    switch (kind_alone(m, kind, o)) {
    case CR_PLOT_PATH:
    case CR_PLOT_CRITERION:
    case CR_PLOT_SCREE:
    case CR_PLOT_LOADINGS:
    case CR_PLOT_TRANSITIONS:
        return false;
    case CR_PLOT_FIT:
        return !o->range;
    default:
        return true;
    }
}

/* Rows by cluster: a fit, or components, of a model that has clusters. */
static bool shows_clusters(const cr_model *m, cr_plot_kind kind)
{
    return cr_model_get_task(m) == CR_TASK_CLUSTER &&
           (kind == CR_PLOT_FIT || kind == CR_PLOT_COMPONENTS);
}

static cr_status chart_clusters(cr_scratch *s, const cr_model *m, const cr_table *t,
                                cr_plot_kind kind, const cr_plot_options *o, cri_chart *chart)
{
    bool components = kind == CR_PLOT_COMPONENTS;
    if (o->draws || o->range)
        return cr_fail(s->cx, CR_EARG, "--draws and --range are not for figures of clusters");
    if (components && o->n_over) {
        cr_fail(s->cx, CR_EARG, "principal components are made of all columns, without --over");
        return cr_fail_hint(s->cx, "without --kind, clusters are drawn over two columns");
    }
    return cri_chart_clusters(s, m, t, o, components, chart);
}

/* --- drawing --------------------------------------------------------------------------------- */

/* Figures of one plot area. */
static cr_status make_chart(cr_scratch *s, const cr_model *m, const cr_table *t, cr_plot_kind kind,
                            const cr_plot_options *o, cri_shown *d, cri_chart *chart)
{
    cr_status st = CR_OK;
    double    level = o->level;
    if (shows_clusters(m, kind)) return chart_clusters(s, m, t, kind, o, chart);
    switch (kind) {
    case CR_PLOT_PATH:
        return cri_chart_path(s, m, t, chart);
    case CR_PLOT_LEARNING_CURVE:
        return cri_chart_learning(s, m, t, chart);
    case CR_PLOT_CRITERION:
        return cri_chart_criterion(s, m, chart);
    case CR_PLOT_RESPONSIBILITIES:
        return cri_chart_responsibilities(s, m, t, chart);
    case CR_PLOT_SCREE:
        return cri_chart_scree(s, m, level, chart);
    case CR_PLOT_BIPLOT:
        return cri_chart_biplot(s, m, t, chart);
    case CR_PLOT_FORECAST:
        return cri_chart_forecast(s, m, t, level, o->ahead, chart);
    case CR_PLOT_SEASONS:
        return cri_chart_seasons(s, m, t, level, chart);
    default:
        break;
    }
    CR_TRY(cri_shown_open(s->cx, s, m, t, level, d));
    switch (kind) {
    case CR_PLOT_RESIDUALS:
        return cri_chart_residuals(s, d, level, chart);
    case CR_PLOT_CALIBRATION:
        return cri_chart_calibration(s, d, chart);
    case CR_PLOT_ROC:
        return cri_chart_roc(s, d, chart);
    case CR_PLOT_PR:
        return cri_chart_pr(s, d, chart);
    default:
        break;
    }
    CR_TRY(cr_fail(s->cx, CR_EARG, "there is no such kind of figure"));
done:
    return st;
}

static cr_status draw_chart(cr_scratch *s, const cri_chart *chart, target *to)
{
    if (to->points) {
        cri_chart_put(chart, to->points);
        return CR_OK;
    }
    return to->path ? cri_chart_svg(s->cx, chart, to->path)
                    : cri_chart_text(s, chart, to->width, to->height, &to->text);
}

static cr_status draw_importance(cr_scratch *s, const cr_model *m, const cr_table *t,
                                 const cr_plot_options *o, target *to)
{
    cri_chart chart;
    cr_status st = cri_chart_importance(s, m, t, o, &chart);
    if (st != CR_OK) return st;
    if (to->points) {
        cri_chart_put(&chart, to->points);
        return CR_OK;
    }
    return to->path ? cri_importance_svg(s->cx, &chart, to->path)
                    : cri_importance_text(s, &chart, to->width, &to->text);
}

static cr_status draw_parts(cr_scratch *s, const cr_model *m, const cr_table *t, cr_plot_kind kind,
                            const cr_plot_options *o, target *to)
{
    cri_parts parts;
    cr_status st = kind == CR_PLOT_DEPENDENCE ? cri_dependence_new(s, m, t, o, &parts)
                   : kind == CR_PLOT_STATES   ? cri_states_new(s, m, t, &parts)
                   : is_series(m)             ? cri_series_parts(s, m, t, o->level, &parts)
                                              : cri_parts_new(s, m, t, o, &parts);
    if (st != CR_OK) return st;
    if (to->points) {
        cri_charts_put(parts.title, parts.constant, parts.chart, parts.n, to->points);
        return CR_OK;
    }
    size_t height = to->height / 2 < 7 ? to->height : to->height / 2;
    return to->path ? cri_parts_svg(s->cx, &parts, to->path)
                    : cri_parts_text(s, &parts, to->width, height, &to->text);
}

static cr_status draw_loadings(cr_scratch *s, const cr_model *m, const cr_plot_options *o,
                               target *to)
{
    cri_parts parts;
    bool      topics = cri_model_has_topics(m);
    cr_status st = topics ? cri_topic_bars_new(s, m, o->level, &parts)
                          : cri_loadings_new(s, m, o->level, &parts);
    if (st != CR_OK) return st;
    if (to->points) {
        cri_charts_put(parts.title, parts.constant, parts.chart, parts.n, to->points);
        return CR_OK;
    }
    if (to->path && topics) return cri_topic_bars_svg(s->cx, &parts, to->path);
    return to->path ? cri_loadings_svg(s->cx, &parts, to->path)
                    : cri_loadings_text(s, &parts, to->width, &to->text);
}

static cr_status draw_transitions(cr_scratch *s, const cr_model *m, target *to)
{
    cri_transitions t;
    cr_status       st = cri_transitions_open(s, m, &t);
    if (st != CR_OK) return st;
    if (to->points) {
        cri_transitions_put(s, &t, to->points);
        return s->status;
    }
    return to->path ? cri_transitions_svg(s->cx, &t, to->path)
                    : cri_transitions_text(s, &t, &to->text);
}

static cr_status draw_maps(cr_scratch *s, const cr_model *m, const cr_table *t, cr_plot_kind kind,
                           const cr_plot_options *o, target *to)
{
    cri_maps  maps;
    cr_status st =
        kind == CR_PLOT_MAP ? cri_heat_map(s, m, t, o, &maps) : cri_evidence_map(s, m, t, o, &maps);
    if (st != CR_OK) return st;
    if (to->points) {
        cri_maps_put(&maps, to->points);
        return CR_OK;
    }
    return to->path ? cri_maps_svg(s->cx, &maps, to->path)
                    : cri_maps_text(s, &maps, to->width, to->height, &to->text);
}

static cr_status draw(cr_scratch *s, const cr_model *m, const cr_table *t, cr_plot_kind kind,
                      const cr_plot_options *o, target *to)
{
    cr_status st = CR_OK;
    cri_shown d = { 0 };
    cri_chart chart = { 0 };
    CR_TRY(check_options(s->cx, o));
    if (!t && cri_plot_needs_data(m, kind, o))
        CR_TRY(cr_fail(s->cx, CR_EARG, "this kind of figure needs data"));
    if (t)
        CR_TRY(kind_with_rows(s, m, kind, o, &kind));
    else
        kind = kind_alone(m, kind, o);
    switch (shows_clusters(m, kind) ? CR_PLOT_RESPONSIBILITIES : kind) { /* a chart, like these */
    case CR_PLOT_COMPONENTS:
    case CR_PLOT_STATES:
    case CR_PLOT_DEPENDENCE:
        return draw_parts(s, m, t, kind, o, to);
    case CR_PLOT_IMPORTANCE:
        return draw_importance(s, m, t, o, to);
    case CR_PLOT_LOADINGS:
        return draw_loadings(s, m, o, to);
    case CR_PLOT_TRANSITIONS:
        return draw_transitions(s, m, to);
    case CR_PLOT_MAP:
    case CR_PLOT_EVIDENCE:
        return draw_maps(s, m, t, kind, o, to);
    case CR_PLOT_FIT:
        if (to->points) return cri_figure_put(s, m, t, o, to->points);
        return to->path ? cri_figure_svg(s->cx, m, t, o, to->path)
                        : cri_figure_text(s, m, t, o, to->width, to->height, &to->text);
    default:
        break;
    }
    CR_TRY(make_chart(s, m, t, kind, o, &d, &chart));
    CR_TRY(draw_chart(s, &chart, to));
done:
    cri_shown_free(s->cx, &d);
    return st;
}

cr_status cr_plot_with(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_plot_kind kind,
                       const cr_plot_options *options, const char *path)
{
    cr_scratch s = cr_scratch_begin(cx);
    target     to = { .path = path };
    cr_status  st = draw(&s, m, t, kind, options, &to);
    cr_scratch_end(&s);
    return st;
}

/* What is drawn there, as a text of its own. */
static cr_status draw_text(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_plot_kind kind,
                           const cr_plot_options *options, target to, char **out_text)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    char      *copy;
    CR_TRY(draw(&s, m, t, kind, options, &to));
    copy = cri_string_copy(cx, to.text);
    if (!copy) CR_TRY(CR_ENOMEM);
    *out_text = copy;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_plot_text_with(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_plot_kind kind,
                            const cr_plot_options *options, size_t width, size_t height,
                            char **out_text)
{
    return draw_text(cx, m, t, kind, options, (target){ .width = width, .height = height },
                     out_text);
}

cr_status cri_plot_put(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_plot_kind kind,
                       const cr_plot_options *options, cri_sheet *points)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    CR_TRY(cri_sheet_status(points));
    CR_TRY(draw(&s, m, t, kind, options, &(target){ .points = points }));
    CR_TRY(cri_sheet_status(points));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_plot_json(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_plot_kind kind,
                       const cr_plot_options *options, char **out_text)
{
    cr_status  st = CR_OK;
    cri_sheet *points = cri_sheet_new(cx);
    CR_TRY(cri_plot_put(cx, m, t, kind, options, points));
    CR_TRY(cri_sheet_to_json(cx, points, out_text));
done:
    cri_sheet_free(points);
    return st;
}

cr_status cr_plot(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_plot_kind kind, double level,
                  const char *path)
{
    return cr_plot_with(cx, m, t, kind, &(cr_plot_options){ .level = level }, path);
}

cr_status cr_plot_text(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_plot_kind kind,
                       double level, size_t width, size_t height, char **out_text)
{
    return cr_plot_text_with(cx, m, t, kind, &(cr_plot_options){ .level = level }, width, height,
                             out_text);
}
