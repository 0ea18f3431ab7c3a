/* figure.c -- which rows are drawn, what is said about them, and the two kinds of figure. */
#include "figure.h"
#include "svg.h"
#include "../base/number.h"
#include "../base/rng.h"
#include "../base/scratch.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { MOST_SHOWN = 2000, GRID = 200 };

static const double WIDTH = 720, HEIGHT = 500, BEYOND = 0.05; /* of the range, on either side */

typedef struct range { double low, high; } range;

static const range nothing = { INFINITY, -INFINITY };

/* What is drawn.  The shown rows whose interval holds the observed value come first. */
typedef struct picture {
    const cr_model *model;
    double          level;
    const char     *target, *column; /* column NULL: observed against predicted */
    size_t          kept;            /* rows with all that is needed            */
    size_t          bounded, held;   /* of them, with an interval; with one that holds the target */
    range           x_kept;          /* of the column, in all kept rows         */
    size_t          shown, shown_held;
    double         *x, *y, *mean, *lower, *upper; /* [shown]; y is the observed target */
    const char     *title, *description, *percent, *caption, *note;
} picture;

/* --- ranges ---------------------------------------------------------------------------------- */

/* Takes in the finite ones of n values. */
static void take_in(range *r, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i])) continue;
        r->low = fmin(r->low, values[i]);
        r->high = fmax(r->high, values[i]);
    }
}

static range widened(range r, double part)
{
    cri_svg_range(&r.low, &r.high);
    double more = part * r.high - part * r.low;
    return (range){ fmax(r.low - more, -DBL_MAX), fmin(r.high + more, DBL_MAX) };
}

/* --- text ------------------------------------------------------------------------------------ */

/* As printf, into the arena; "" once that has failed. */
CR_PRINTF(2, 3) static const char *compose(cr_scratch *s, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t size = (size_t)vsnprintf(NULL, 0, format, args) + 1;
    char  *text = cr_scratch_bytes(s, size, 1);
    if (text) vsnprintf(text, size, format, again);
    va_end(again);
    va_end(args);
    return text ? text : "";
}

static const char *count_text(cr_scratch *s, size_t n)
{
    char text[CRI_SVG_LABEL];
    cri_svg_decimal((int64_t)n, 0, text);
    return compose(s, "%s", text);
}

/* part of whole in percent, to a tenth; "100" only for all of them and "0" only for none. */
static const char *percent_text(cr_scratch *s, size_t part, size_t whole)
{
    char    text[CRI_SVG_LABEL];
    int64_t tenths = llround(1000 * ((double)part / (double)whole));
    if (part < whole && tenths == 1000) tenths = 999;
    if (part > 0 && tenths == 0) tenths = 1;
    cri_svg_decimal(tenths, -1, text);
    return compose(s, "%s", text);
}

static void write_texts(cr_scratch *s, picture *p)
{
    const char *name = cr_class_name(cr_model_get_class(p->model));
    const char *rows = count_text(s, p->kept), *s_rows = p->kept == 1 ? "" : "s";
    size_t      columns = cr_design_columns(cr_model_get_design(p->model));
    const char *features = p->column ? p->column
                                     : compose(s, "%zu column%s", columns, columns == 1 ? "" : "s");
    char        level[CRI_SVG_LABEL];

    cri_svg_decimal(llround(1e6 * p->level), -4, level);
    p->percent = compose(s, "%s", level);
    p->title = compose(s, "%s: %s ~ %s (%s row%s)", name, p->target, features, rows, s_rows);
    if (p->bounded == 0)
        p->caption = "The model gives no intervals: it has no information left for the noise.";
    else
        p->caption = compose(s, "%s %% of the %s; %s %% do.", level,
                             p->column ? "points should lie in the band"
                                       : "intervals should hold the diagonal",
                             percent_text(s, p->held, p->bounded));
    p->note = p->shown == p->kept ? NULL
                                  : compose(s, "%s of the %s rows are shown, chosen at random.",
                                            count_text(s, p->shown), rows);
    const char *what = p->column ? compose(s, "%s against %s with the predictive mean", p->target,
                                           p->column)
                                 : compose(s, "Observed against predicted %s", p->target);
    p->description = compose(s, "%s and the %s %% predictive intervals of the model %s. %s%s%s",
                             what, level, name, p->caption, p->note ? " " : "",
                             p->note ? p->note : "");
}

/* --- rows ------------------------------------------------------------------------------------ */

/* The column of the figure's x axis, if the model reads just one and it is a number. */
static const char *single_column(const cr_model *model)
{
    const cr_design *d = cr_model_get_design(model);
    if (cr_design_columns(d) != 1) return NULL;
    cr_type type = cr_design_column_type(d, 0);
    return type == CR_REAL || type == CR_INTEGER ? cr_design_column_name(d, 0) : NULL;
}

/* The central intervals of all rows, [rows] each. */
typedef struct bounds {
    double *lower, *upper;
} bounds;

static bool holds(bounds b, size_t row, double y) { return b.lower[row] <= y && y <= b.upper[row]; }

/* Lists in `kept` the rows that can be drawn and counts them and their intervals. */
static void keep_rows(picture *p, const cr_column *x, const double *y, const cr_prediction *answer,
                      bounds b, size_t *kept)
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
static cr_status gather(cr_scratch *s, picture *p, const cr_column *x, const double *y,
                        const cr_prediction *answer, bounds b, const size_t *kept)
{
    p->shown = p->kept < MOST_SHOWN ? p->kept : MOST_SHOWN;
    size_t *chosen = cr_scratch_index(s, p->shown), k = 0;
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
    double *x, *mean, *lower, *upper; /* [GRID] */
} curve;

static cr_status predict_curve(cr_ctx *cx, const picture *p, range x, double level, curve *c)
{
    cr_status     st = CR_OK;
    cr_table     *grid = NULL;
    cr_prediction answer = { 0 };

    for (size_t i = 0; i < GRID; i++) {
        double t = (double)i / (GRID - 1);
        c->x[i] = (1 - t) * x.low + t * x.high;
    }
    CR_TRY(cr_table_new(cx, "the grid of the figure", GRID, &grid));
    CR_TRY(cr_table_borrow_numbers(cx, grid, p->column, CR_REAL, c->x, 1));
    CR_TRY(cr_predict(cx, p->model, grid, &answer));
    for (size_t i = 0; i < GRID; i++) {
        double sd;
        c->mean[i] = answer.mean[i];
        CR_TRY(cr_prediction_interval(cx, &answer, i, level, &sd, &c->lower[i], &c->upper[i]));
    }
done:
    cr_prediction_free(cx, &answer);
    cr_table_free(cx, grid);
    return st;
}

/* The y axis: the data, and the curve between them; beyond, a polynomial may go anywhere. */
static range curve_range(const picture *p, const curve *c)
{
    range y = nothing;
    take_in(&y, p->y, p->shown);
    for (size_t i = 0; i < GRID; i++) {
        if (c->x[i] < p->x_kept.low || c->x[i] > p->x_kept.high) continue;
        take_in(&y, &c->mean[i], 1);
        take_in(&y, &c->lower[i], 1);
        take_in(&y, &c->upper[i], 1);
    }
    return widened(y, BEYOND);
}

static cr_status draw_curve(cr_ctx *cx, const picture *p, const char *path)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_svg    svg = { .cx = cx };
    curve      c = { cr_scratch_f64(&s, GRID), cr_scratch_f64(&s, GRID), cr_scratch_f64(&s, GRID),
                     cr_scratch_f64(&s, GRID) };
    const char *interval = compose(&s, "%s %% predictive interval", p->percent);
    range       x = widened(p->x_kept, BEYOND);

    CR_TRY(s.status);
    CR_TRY(predict_curve(cx, p, x, p->level, &c));
    range          y = curve_range(p, &c);
    cri_svg_series series[] = {
        { "observed", CRI_SVG_POINTS, CRI_SVG_BLACK, fade(0.6, 0.2, p->shown, 250),
          p->shown > 500 ? 2.2 : 3, false },
        { "predictive mean", CRI_SVG_LINE, CRI_SVG_BLUE, 1, 2.25, false },
        { interval, CRI_SVG_BAND, CRI_SVG_SKY, 0.28, 0, false },
    };
    svg = cri_svg_begin(cx, &(cri_svg_frame){ WIDTH, HEIGHT, p->title, p->description,
                                              { p->column, x.low, x.high },
                                              { p->target, y.low, y.high },
                                              series, 3, { p->caption, p->note },
                                              NULL, NULL, 0 });
    cri_svg_band(&svg, &series[2], c.x, c.lower, c.upper, GRID);
    cri_svg_points(&svg, &series[0], p->x, p->y, p->shown);
    cri_svg_line(&svg, &series[1], c.x, c.mean, GRID);
    CR_TRY(cri_svg_save(&svg, path));
done:
    cri_svg_end(&svg);
    cr_scratch_end(&s);
    return st;
}

/* --- many columns: observed against predicted ------------------------------------------------ */

static cr_status draw_agreement(cr_ctx *cx, const picture *p, const char *path)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cri_svg     svg = { .cx = cx };
    size_t      held = p->shown_held;
    const char *interval = compose(&s, "%s %% interval", p->percent);
    const char *x_title = compose(&s, "observed %s", p->target);
    const char *y_title = compose(&s, "predicted %s", p->target);
    range       x = nothing, y = nothing;

    CR_TRY(s.status);
    take_in(&x, p->y, p->shown);
    x = widened(x, BEYOND);
    take_in(&y, p->mean, p->shown);
    take_in(&y, p->lower, p->shown);
    take_in(&y, p->upper, p->shown);
    take_in(&y, (const double[]){ x.low, x.high }, 2); /* all of the diagonal */
    y = widened(y, BEYOND / 2);
    double         strength = fade(0.8, 0.12, p->shown, 60);
    cri_svg_series series[] = {
        { "predictive mean", CRI_SVG_POINTS, CRI_SVG_BLUE, fade(0.85, 0.3, p->shown, 200),
          p->shown > 500 ? 2 : 2.6, false },
        { interval, CRI_SVG_BARS, CRI_SVG_SKY, strength, 1.25, false },
        { "\u2026 that misses", CRI_SVG_BARS, CRI_SVG_VERMILLION, fmax(strength, 0.45), 1.25,
          false },
        { "predicted = observed", CRI_SVG_LINE, CRI_SVG_BLACK, 0.75, 1.25, true },
    };
    svg = cri_svg_begin(cx, &(cri_svg_frame){ WIDTH, HEIGHT, p->title, p->description,
                                              { x_title, x.low, x.high },
                                              { y_title, y.low, y.high },
                                              series, 4, { p->caption, p->note },
                                              NULL, NULL, 0 });
    cri_svg_bars(&svg, &series[1], p->x, p->lower, p->upper, held);
    cri_svg_bars(&svg, &series[2], p->x + held, p->lower + held, p->upper + held, p->shown - held);
    cri_svg_points(&svg, &series[0], p->x, p->mean, p->shown);
    cri_svg_line(&svg, &series[3], (const double[]){ x.low, x.high },
                 (const double[]){ x.low, x.high }, 2);
    CR_TRY(cri_svg_save(&svg, path));
done:
    cri_svg_end(&svg);
    cr_scratch_end(&s);
    return st;
}

/* --- the door -------------------------------------------------------------------------------- */

static cr_status check_level(cr_ctx *cx, double level)
{
    char text[CRI_DOUBLE_SIZE];
    if (level > 0 && level < 1) return CR_OK;
    cri_print_double(level, text);
    cr_fail(cx, CR_EARG, "the level of an interval must lie between 0 and 1, and is %s", text);
    return level > 1 && level < 100 ? cr_fail_hint(cx, "for 95 %% write 0.95") : CR_EARG;
}

cr_status cr_plot_model(cr_ctx *cx, const cr_model *model, const cr_table *table, double level,
                        const char *path)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        rows = cr_table_rows(table), *kept = cr_scratch_index(&s, rows);
    double       *y = cr_scratch_f64(&s, rows);
    bounds        b = { cr_scratch_f64(&s, rows), cr_scratch_f64(&s, rows) };
    cr_prediction answer = { 0 };
    picture       p = { .model = model, .level = level, .x_kept = nothing,
                        .target = cr_design_target(cr_model_get_design(model)),
                        .column = single_column(model) };

    CR_TRY(s.status);
    CR_TRY(check_level(cx, level));
    CR_TRY(cr_observed(cx, model, table, y, NULL));
    CR_TRY(cr_predict(cx, model, table, &answer));
    if (answer.kind != CR_ANSWER_NUMBER)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED,
                       "the model %s does not predict a number, and figures are of numbers",
                       cr_class_name(cr_model_get_class(model))));
    const cr_column *x = p.column ? cr_table_find(table, p.column) : NULL;
    CR_TRY(cr_prediction_intervals(cx, &answer, level, NULL, b.lower, b.upper));
    keep_rows(&p, x, y, &answer, b, kept);
    if (p.kept == 0)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: there is no row to draw", cr_table_source(table)));
    CR_TRY(gather(&s, &p, x, y, &answer, b, kept));
    write_texts(&s, &p);
    CR_TRY(s.status);
    CR_TRY(cr_check_interrupt(cx));
    CR_TRY(p.column ? draw_curve(cx, &p, path) : draw_agreement(cx, &p, path));
done:
    cr_prediction_free(cx, &answer);
    cr_scratch_end(&s);
    return st;
}
