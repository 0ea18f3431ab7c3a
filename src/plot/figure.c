/* figure.c -- which rows are drawn, what is said about them, and the two kinds of figure. */
#include "figure.h"
#include "chart.h"
#include "figure_internal.h"
#include "grid.h"
#include "models/core/parts.h"
#include "data/table/date.h"
#include "base/number.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SHOWN = 2000, GRID = 200, MOST_GRID = 1500, PER_ROW = 8 };

static const double BEYOND = 0.05; /* of the range, on either side */

static const cri_span nothing = { INFINITY, -INFINITY };

/* --- ranges ---------------------------------------------------------------------------------- */

/* Takes in the finite ones of n values. */
static void take_in(cri_span *r, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i])) continue;
        r->low = fmin(r->low, values[i]);
        r->high = fmax(r->high, values[i]);
    }
}

static cri_span widened(cri_span r, double part)
{
    cri_svg_range(&r.low, &r.high);
    double more = part * r.high - part * r.low;
    return (cri_span){ fmax(r.low - more, -DBL_MAX), fmin(r.high + more, DBL_MAX) };
}

/* --- rows ------------------------------------------------------------------------------------ */

/* The column of the figure's x axis, if the model reads just one and it is a number. */
static const char *single_column(const cr_model *model)
{
    const cr_design *d = cr_model_get_design(model);
    if (cr_design_columns(d) != 1) return NULL;
    cr_type type = cr_design_column_type(d, 0);
    bool    number = type == CR_REAL || type == CR_INTEGER || cri_is_date(type);
    return number ? cr_design_column_name(d, 0) : NULL;
}

/* The central intervals of all rows, [rows] each. */
typedef struct bounds {
    double *lower, *upper;
} bounds;

static bool holds(bounds b, size_t row, double y) { return b.lower[row] <= y && y <= b.upper[row]; }

/* Lists in `kept` the rows that can be drawn and counts them and their intervals. */
static void keep_rows(cri_picture *p, const cr_column *x, const double *y,
                      const cr_prediction *answer, bounds b, size_t *kept)
{
    for (size_t i = 0; i < answer->n; i++) {
        if (!isfinite(y[i]) || !isfinite(answer->mean[i])) continue;
        if (x && !isfinite(x->values[i * x->stride])) continue;
        if (x) take_in(&p->x_kept, &x->values[i * x->stride], 1);
        kept[p->kept++] = i;
        if (!isnan(b.lower[i])) p->bounded++;
        if (holds(b, i, y[i])) p->held++;
    }
}

/* Fills the arrays with the shown rows: all, or a sample that the model's seed decides. */
static cr_status gather(cr_scratch *s, cri_picture *p, const cr_column *x, const double *y,
                        const cr_prediction *answer, bounds b, const size_t *kept)
{
    p->shown = p->kept < MOST_SHOWN ? p->kept : MOST_SHOWN;
    size_t  *chosen = cr_scratch_index(s, p->shown), k = 0;
    double **arrays[] = { &p->x, &p->y, &p->mean, &p->lower, &p->upper };
    for (size_t i = 0; i < 5; i++) *arrays[i] = cr_scratch_f64(s, p->shown);
    if (s->status != CR_OK) return s->status;

    cr_rng r = cr_rng_stream(cr_model_get_seed(p->model), 0);
    for (size_t i = 0; i < p->shown; i++) chosen[i] = i;
    if (p->shown < p->kept) cr_rng_choose(&r, p->kept, p->shown, chosen);
    for (int missed = 0; missed < 2; missed++) {
        for (size_t i = 0; i < p->shown; i++) {
            size_t row = kept[chosen[i]];
            if (holds(b, row, y[row]) == missed) continue;
            p->x[k] = x ? x->values[row * x->stride] : y[row];
            p->y[k] = y[row];
            p->mean[k] = answer->mean[row];
            p->lower[k] = b.lower[row];
            p->upper[k++] = b.upper[row];
        }
        if (!missed) p->shown_held = k;
    }
    return CR_OK;
}

/* Marks fade as they get more, so that dense places stay readable: full up to `many` of them. */
static double fade(double full, double least, size_t n, double many)
{
    return fmax(least, fmin(full, full * sqrt(many / (double)n)));
}

/* --- one column: data, curve and band -------------------------------------------------------- */

typedef struct curve {
    size_t  n;
    double *x, *mean, *lower, *upper; /* [n]                                              */
    double *draw_x, *draw;            /* [draws x (n + 1)], with a gap behind each        */
} curve;

/* Functions that may be as busy as the data get PER_ROW points for each row, so that a season of four
 * rows is round. */
static size_t curve_size(const cri_picture *p, cri_span x)
{
    double spread = p->kept > 0 ? p->x_kept.high - p->x_kept.low : 0;
    if (!cr_model_shows(p->model, "functions") || !(spread > 0)) return GRID;
    double n = PER_ROW * (double)p->kept * (x.high - x.low) / spread;
    return n <= GRID ? GRID : n >= MOST_GRID ? MOST_GRID : (size_t)n;
}

static cr_status draw_functions(cr_scratch *s, const cri_picture *p, const cr_table *grid, curve *c)
{
    cr_status st = CR_OK;
    size_t    draws = p->options->draws, n = c->n;
    double   *f = cr_scratch_f64(s, n * draws);

    c->draw_x = cr_scratch_f64(s, draws * (n + 1));
    c->draw = cr_scratch_f64(s, draws * (n + 1));
    CR_TRY(s->status);
    CR_TRY(
        cr_sample_functions(s->cx, p->model, grid, false, draws, cr_model_get_seed(p->model), f));
    for (size_t k = 0; k < draws; k++)
        for (size_t i = 0; i <= n; i++) {
            c->draw_x[k * (n + 1) + i] = i < n ? c->x[i] : NAN;
            c->draw[k * (n + 1) + i] = i < n ? f[i * draws + k] : NAN;
        }
done:
    return st;
}

/* --kind fit draws numbers. */
static cr_status fail_kind(cr_ctx *cx, const cr_model *model, cr_answer kind)
{
    bool classes = kind == CR_ANSWER_CLASS;
    cr_fail(cx, CR_EUNSUPPORTED, "the model %s predicts %s, but --kind fit draws a number",
            cr_class_name(cr_model_get_class(model)), classes ? "classes" : "no number");
    if (!classes) return CR_EUNSUPPORTED;
    return cr_fail_hint(cx, "for classes use --kind roc, --kind pr or --kind calibration, or "
                            "--kind fit over one column of numbers, chosen with --over");
}

static cr_status predict_curve(cr_scratch *s, const cri_picture *p, cri_span x, curve *c)
{
    cr_status     st = CR_OK;
    cr_ctx       *cx = s->cx;
    cr_table     *grid = NULL;
    cr_prediction answer = { 0 };
    double      **arrays[] = { &c->x, &c->mean, &c->lower, &c->upper };

    c->n = curve_size(p, x);
    for (size_t k = 0; k < 4; k++) *arrays[k] = cr_scratch_f64(s, c->n);
    CR_TRY(s->status);
    for (size_t i = 0; i < c->n; i++) {
        double t = (double)i / (double)(c->n - 1);
        c->x[i] = (1 - t) * x.low + t * x.high;
    }
    if (p->table) {
        CR_TRY(cri_grid_table(cx, p->table, c->n, &p->column, &(const double *){ c->x }, 1, &grid));
    } else {
        CR_TRY(cr_table_new(cx, "the grid of the figure", c->n, &grid));
        CR_TRY(cr_table_borrow_numbers(cx, grid, p->column,
                                       cri_grid_type(p->model, p->table, p->column), c->x, 1));
    }
    CR_TRY(cr_predict(cx, p->model, grid, &answer));
    if (answer.kind != CR_ANSWER_NUMBER) CR_TRY(fail_kind(cx, p->model, answer.kind));
    memcpy(c->mean, answer.mean, c->n * sizeof(double));
    CR_TRY(cr_prediction_intervals(cx, &answer, p->level, NULL, c->lower, c->upper));
    if (p->options->draws) CR_TRY(draw_functions(s, p, grid, c));
done:
    cr_prediction_free(cx, &answer);
    cr_table_free(cx, grid);
    return st;
}

/* The y axis: the data, and the curve between them; beyond, a polynomial may go anywhere, unless it
 * was asked for. */
static cri_span curve_range(const cri_picture *p, const curve *c)
{
    cri_span y = nothing;
    for (size_t i = 0; i < p->shown; i++) {
        if (!(p->x[i] >= c->x[0] && p->x[i] <= c->x[c->n - 1])) continue;
        take_in(&y, &p->y[i], 1);
        take_in(&y, &p->lower[i], 1); /* of a single row there is no curve between the data */
        take_in(&y, &p->upper[i], 1);
    }
    for (size_t i = 0; i < c->n; i++) {
        bool within = c->x[i] >= p->x_kept.low && c->x[i] <= p->x_kept.high;
        if (!within && !p->options->range) continue;
        take_in(&y, &c->mean[i], 1);
        take_in(&y, &c->lower[i], 1);
        take_in(&y, &c->upper[i], 1);
    }
    return widened(y, BEYOND);
}

/* Lines where the rows begin and end, of a figure that goes on beyond them. */
static void mark_ends(cr_scratch *s, const cri_picture *p, cri_span x, cri_span y, cri_chart *chart)
{
    bool    before = x.low < p->x_kept.low && p->x_kept.low < x.high;
    bool    after = x.low < p->x_kept.high && p->x_kept.high < x.high;
    double *at = cr_scratch_f64(s, 5), *end = cr_scratch_f64(s, 5);
    size_t  n = 0;
    if (s->status != CR_OK || p->kept < 2 || !(before || after)) return;
    for (int last = !before; last <= after; last++) {
        if (n > 0) at[n] = end[n] = NAN, n++;
        at[n] = last ? p->x_kept.high : p->x_kept.low, end[n++] = y.low;
        at[n] = at[n - 1], end[n++] = y.high;
    }
    cri_chart_add(chart,
                  (cri_svg_series){ before && after ? "first and last row"
                                    : after         ? "last row"
                                                    : "first row",
                                    CRI_SVG_LINE, CRI_SVG_BLACK, 0.5, 1, true },
                  '|', at, end, NULL, n);
}

/* On the curve, the inputs that the model marks. */
static cr_status mark_inputs(cr_scratch *s, const cri_picture *p, const curve *c, cri_chart *chart)
{
    size_t      n = 0;
    double     *x = NULL, *y;
    const char *name = NULL;
    cr_status   st = CR_OK;
    if (!p->cut) st = cri_grid_marked(s, p->model, &p->column, 1, &x, &n, &name);
    if (st != CR_OK || n == 0) return st;
    y = cr_scratch_f64(s, n);
    for (size_t i = 0; y && i < n; i++) {
        double t = (x[i] - c->x[0]) / (c->x[c->n - 1] - c->x[0]) * (double)(c->n - 1);
        size_t k = (size_t)fmin(fmax(t, 0), (double)(c->n - 2));
        y[i] = t >= 0 && t <= (double)(c->n - 1)
                   ? c->mean[k] + (t - (double)k) * (c->mean[k + 1] - c->mean[k])
                   : NAN;
    }
    if (y)
        cri_chart_add(chart,
                      (cri_svg_series){ name, CRI_SVG_RINGS, CRI_SVG_VERMILLION, 1, 5.5, false },
                      '@', x, y, NULL, n);
    return s->status;
}

/* Band, draws, points and mean over the column. */
static cr_status chart_curve(cr_scratch *s, const cri_picture *p, cri_chart *chart)
{
    cr_status     st = CR_OK;
    curve         c = { 0 };
    const double *given = p->options->range;
    cri_span      x = given ? (cri_span){ given[0], given[1] } : widened(p->x_kept, BEYOND);
    size_t        draws = p->options->draws;

    CR_TRY(predict_curve(s, p, x, &c));
    cri_span y = curve_range(p, &c);
    *chart = (cri_chart){ .title = p->title,
                          .description = p->description,
                          .caption = { p->caption, p->note },
                          .x = { p->column, x.low, x.high,
                                 cri_grid_type(p->model, p->table, p->column) },
                          .y = { p->target, y.low, y.high, CR_REAL } };
    cri_chart_add(chart,
                  (cri_svg_series){ cri_compose(s, "%s %% predictive interval", p->percent),
                                    CRI_SVG_BAND, CRI_SVG_SKY, 0.28, 0, false },
                  ':', c.x, c.lower, c.upper, c.n);
    if (draws)
        cri_chart_add(chart,
                      (cri_svg_series){ draws == 1 ? "a draw" : cri_compose(s, "%zu draws", draws),
                                        CRI_SVG_LINE, CRI_SVG_ORANGE, fade(0.9, 0.25, draws, 5),
                                        1.1, false },
                      '~', c.draw_x, c.draw, NULL, draws * (c.n + 1));
    if (p->shown > 0)
        cri_chart_add(chart,
                      (cri_svg_series){ "observed", CRI_SVG_POINTS, CRI_SVG_BLACK,
                                        fade(0.6, 0.2, p->shown, 250), p->shown > 250 ? 2 : 3,
                                        false },
                      'o', p->x, p->y, NULL, p->shown);
    cri_chart_add(chart,
                  (cri_svg_series){ "predictive mean", CRI_SVG_LINE, CRI_SVG_BLUE, 1,
                                    c.n > 3 * GRID ? 1.25 : 2.25, false },
                  '*', c.x, c.mean, NULL, c.n);
    CR_TRY(mark_inputs(s, p, &c, chart));
    if (given) mark_ends(s, p, x, y, chart);
    CR_TRY(s->status);
done:
    return st;
}

/* --- many columns: observed against predicted ------------------------------------------------ */

static cr_status chart_agreement(cr_scratch *s, const cri_picture *p, cri_chart *chart)
{
    size_t   held = p->shown_held;
    double  *ends = cr_scratch_f64(s, 2);
    cri_span x = nothing, y = nothing;

    if (s->status != CR_OK) return s->status;
    take_in(&x, p->y, p->shown);
    x = widened(x, BEYOND);
    take_in(&y, p->mean, p->shown);
    take_in(&y, p->lower, p->shown);
    take_in(&y, p->upper, p->shown);
    take_in(&y, (const double[]){ x.low, x.high }, 2); /* all of the diagonal */
    y = widened(y, BEYOND / 2);
    ends[0] = x.low, ends[1] = x.high;
    double strength = fade(0.8, 0.12, p->shown, 60);
    *chart =
        (cri_chart){ .title = p->title,
                     .description = p->description,
                     .caption = { p->caption, p->note },
                     .x = { cri_compose(s, "observed %s", p->target), x.low, x.high, CR_REAL },
                     .y = { cri_compose(s, "predicted %s", p->target), y.low, y.high, CR_REAL } };
    cri_chart_add(chart,
                  (cri_svg_series){ cri_compose(s, "%s %% interval", p->percent), CRI_SVG_BARS,
                                    CRI_SVG_SKY, strength, 1.25, false },
                  '|', p->x, p->lower, p->upper, held);
    cri_chart_add(chart,
                  (cri_svg_series){ "\u2026 that misses", CRI_SVG_BARS, CRI_SVG_VERMILLION,
                                    fmax(strength, 0.45), 1.25, false },
                  '!', p->x + held, p->lower + held, p->upper + held, p->shown - held);
    cri_chart_add(chart,
                  (cri_svg_series){ "predictive mean", CRI_SVG_POINTS, CRI_SVG_BLUE,
                                    fade(0.85, 0.3, p->shown, 200), p->shown > 500 ? 2 : 2.6,
                                    false },
                  'o', p->x, p->mean, NULL, p->shown);
    cri_chart_add(
        chart,
        (cri_svg_series){ "predicted = observed", CRI_SVG_LINE, CRI_SVG_BLACK, 0.75, 1.25, true },
        '.', ends, ends, NULL, 2);
    return s->status;
}

/* --- the door -------------------------------------------------------------------------------- */

static cr_status check_level(cr_ctx *cx, double level)
{
    char text[CRI_DOUBLE_SIZE];
    if (level > 0 && level < 1) return CR_OK;
    cri_print_double(level, text);
    cr_fail(cx, CR_EARG, "the level of an interval must lie between 0 and 1, not %s", text);
    return level > 1 && level < 100 ? cr_fail_hint(cx, "for 95 %% write 0.95") : CR_EARG;
}

/* Rows against the model: their targets, predictions and intervals, of which those shown go to
 * p. */
static cr_status show_rows(cr_scratch *s, cri_picture *p)
{
    cr_status     st = CR_OK;
    cr_ctx       *cx = s->cx;
    size_t        rows = cr_table_rows(p->table), *kept = cr_scratch_index(s, rows);
    double       *y = cr_scratch_f64(s, rows);
    bounds        b = { cr_scratch_f64(s, rows), cr_scratch_f64(s, rows) };
    cr_prediction answer = { 0 };

    CR_TRY(s->status);
    CR_TRY(cr_observed(cx, p->model, p->table, y, NULL));
    CR_TRY(cr_predict(cx, p->model, p->table, &answer));
    if (answer.kind != CR_ANSWER_NUMBER) CR_TRY(fail_kind(cx, p->model, answer.kind));
    const cr_column *x = p->column ? cr_table_find(p->table, p->column) : NULL;
    CR_TRY(cr_prediction_intervals(cx, &answer, p->level, NULL, b.lower, b.upper));
    keep_rows(p, x, y, &answer, b, kept);
    if (p->kept == 0)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: there is no row to draw", cr_table_source(p->table)));
    CR_TRY(gather(s, p, x, y, &answer, b, kept));
done:
    cr_prediction_free(cx, &answer);
    return st;
}

/* The probabilities of classes over one column. */
static cr_status chart_classes(cr_scratch *s, const cri_picture *p, cri_chart *chart)
{
    cr_status st = CR_OK;
    if (!p->table) CR_TRY(cr_fail(s->cx, CR_EARG, "the figure of a model of classes needs data"));
    CR_TRY(cri_chart_probabilities(s, p->model, p->table, p->column, p->options->range, p->level,
                                   chart));
    if (p->cut) /* the other caption may be one on the classes */
        chart->caption[0] =
            chart->caption[0] ? cri_compose(s, "%s %s", p->cut, chart->caption[0]) : p->cut;
    CR_TRY(s->status);
done:
    return st;
}

static cr_status check_figure(cr_ctx *cx, const cri_picture *p)
{
    const cr_plot_options *o = p->options;
    const char            *first = NULL;
    if (!p->table && (!single_column(p->model) || o->n_over)) {
        cr_fail(cx, CR_EARG,
                "without data, only the curve of a model of one numeric column can be drawn");
        return cr_fail_hint(cx, "give the data: credence plot FILE.cred DATA --over COLUMN");
    }
    if (o->n_over) return cri_grid_over(cx, p->model, o, 1);
    if (p->column || (!o->draws && !o->range)) return CR_OK;
    cr_fail(cx, CR_EARG, "--draws and --range are for models of one numeric column");
    if (cri_grid_numbers(p->model, &first, 1) == 0) return CR_EARG;
    return cr_fail_hint(cx, "--over %s draws over one of several, with the others held fixed",
                        first);
}

/* Of one column, or observed against predicted. */
static cr_status make_figure(cr_scratch *s, const cr_model *model, const cr_table *table,
                             const cr_plot_options *o, cri_chart *chart)
{
    cr_status   st = CR_OK;
    cr_ctx     *cx = s->cx;
    unsigned    task = cr_model_get_task(model);
    cri_picture p = { .model = model,
                      .table = table,
                      .options = o,
                      .level = o->level,
                      .x_kept = nothing,
                      .target = cr_design_target(cr_model_get_design(model)),
                      .column = o->n_over ? o->over[0] : single_column(model) };

    CR_TRY(check_level(cx, o->level));
    CR_TRY(check_figure(cx, &p));
    if (!p.target && task == CR_TASK_TRANSFORM && !o->draws && !o->range)
        return cri_chart_coordinates(s, model, table, chart);
    if (p.column && table) CR_TRY(cri_grid_held(s, model, table, &p.column, 1, &p.cut));
    if (p.column && task == CR_TASK_CLASSIFICATION && !o->draws) return chart_classes(s, &p, chart);
    if (table) CR_TRY(show_rows(s, &p));
    cri_picture_texts(s, &p);
    CR_TRY(s->status);
    CR_TRY(cr_check_interrupt(cx));
    CR_TRY(p.column ? chart_curve(s, &p, chart) : chart_agreement(s, &p, chart));
done:
    return st;
}

cr_status cri_figure_svg(cr_ctx *cx, const cr_model *model, const cr_table *table,
                         const cr_plot_options *o, const char *path)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_chart  chart;
    CR_TRY(make_figure(&s, model, table, o, &chart));
    CR_TRY(cri_chart_svg(cx, &chart, path));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_figure_text(cr_scratch *s, const cr_model *model, const cr_table *table,
                          const cr_plot_options *o, size_t width, size_t height,
                          const char **out_text)
{
    cr_status st = CR_OK;
    cri_chart chart;
    CR_TRY(make_figure(s, model, table, o, &chart));
    CR_TRY(cri_chart_text(s, &chart, width, height, out_text));
done:
    return st;
}

cr_status cri_figure_put(cr_scratch *s, const cr_model *model, const cr_table *table,
                         const cr_plot_options *o, cri_sheet *to)
{
    cri_chart chart;
    cr_status st = make_figure(s, model, table, o, &chart);
    if (st == CR_OK) cri_chart_put(&chart, to);
    return st;
}

cr_status cr_plot_model(cr_ctx *cx, const cr_model *model, const cr_table *table, double level,
                        const char *path)
{
    return cri_figure_svg(cx, model, table, &(cr_plot_options){ .level = level }, path);
}
