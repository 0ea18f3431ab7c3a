/* chart.c -- series and axes; the rows that figures show; the SVG. */
#include "chart.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static const double WIDTH = 720, HEIGHT = 500;

const char *cri_compose(cr_scratch *s, const char *format, ...)
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

void cri_say(cri_writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(w->text + w->used, w->capacity - w->used, format, args);
    va_end(args);
    if (n > 0) w->used = w->used + (size_t)n < w->capacity ? w->used + (size_t)n : w->capacity - 1;
}

void cri_chart_add(cri_chart *c, cri_svg_series look, char glyph, const double *x, const double *y,
                   const double *opt_upper, size_t n)
{
    if (c->n < CRI_CHART_SERIES)
        c->series[c->n++] = (cri_chart_series){ look, glyph, x, y, opt_upper, n, false };
}

void cri_chart_add_quiet(cri_chart *c, cri_svg_series look, char glyph, const double *x,
                         const double *y, const double *opt_upper, size_t n)
{
    size_t before = c->n;
    cri_chart_add(c, look, glyph, x, y, opt_upper, n);
    if (c->n > before) c->series[before].quiet = true;
}

static void take_in(const double *opt_values, size_t n, double *low, double *high)
{
    for (size_t i = 0; opt_values && i < n; i++) {
        if (!isfinite(opt_values[i])) continue;
        *low = fmin(*low, opt_values[i]);
        *high = fmax(*high, opt_values[i]);
    }
}

static void fit_axis(double low, double high, cri_svg_axis *axis)
{
    cri_svg_range(&low, &high);
    double more = 0.04 * high - 0.04 * low;
    axis->low = low - more;
    axis->high = high + more;
}

void cri_chart_fit_axes(cri_chart *c)
{
    double x[2] = { INFINITY, -INFINITY }, y[2] = { INFINITY, -INFINITY };
    for (size_t k = 0; k < c->n; k++) {
        const cri_chart_series *s = &c->series[k];
        take_in(s->x, s->n, &x[0], &x[1]);
        take_in(s->y, s->n, &y[0], &y[1]);
        take_in(s->upper, s->n, &y[0], &y[1]);
    }
    fit_axis(x[0], x[1], &c->x);
    fit_axis(y[0], y[1], &c->y);
}

void cri_chart_mark(cri_svg *svg, const cri_chart_series *s)
{
    switch (s->look.mark) {
    case CRI_SVG_POINTS:
    case CRI_SVG_RINGS:
        cri_svg_points(svg, &s->look, s->x, s->y, s->n);
        break;
    case CRI_SVG_LINE:
        cri_svg_line(svg, &s->look, s->x, s->y, s->n);
        break;
    case CRI_SVG_BAND:
        cri_svg_band(svg, &s->look, s->x, s->y, s->upper, s->n);
        break;
    case CRI_SVG_BARS:
        cri_svg_bars(svg, &s->look, s->x, s->y, s->upper, s->n);
        break;
    case CRI_SVG_ARROWS:
        cri_svg_arrows(svg, &s->look, s->x, s->y, s->n);
        break;
    }
}

/* So high that units which are as long across as up fill the plot area. */
static double height_of(const cri_chart *c)
{
    double across = c->x.high - c->x.low, up = c->y.high - c->y.low, around = 140;
    bool   usual = !c->equal || !isfinite(across) || !isfinite(up) || !(across > 0);
    return usual ? HEIGHT : fmax(400, fmin(WIDTH, around + (WIDTH - 90) * up / across));
}

cr_status cri_chart_svg(cr_ctx *cx, const cri_chart *c, const char *path)
{
    cri_svg_series legend[CRI_CHART_SERIES];
    size_t         named = 0;
    for (size_t k = 0; k < c->n; k++)
        if (c->series[k].look.label && !c->series[k].quiet) legend[named++] = c->series[k].look;
    cri_svg svg = cri_svg_begin(cx, &(cri_svg_frame){ .width = WIDTH,
                                                      .height = height_of(c),
                                                      .title = c->title,
                                                      .description = c->description,
                                                      .x = c->x,
                                                      .y = c->y,
                                                      .series = legend,
                                                      .n_series = named,
                                                      .caption = { c->caption[0], c->caption[1] },
                                                      .top_title = c->top_title,
                                                      .top = c->top,
                                                      .n_top = c->n_top,
                                                      .equal = c->equal,
                                                      .whole = c->whole });
    for (size_t k = 0; k < c->n; k++) cri_chart_mark(&svg, &c->series[k]);
    cri_svg_notes(&svg, c->notes, c->n_notes);
    cr_status st = cri_svg_save(&svg, path);
    cri_svg_end(&svg);
    return st;
}

/* --- rows ------------------------------------------------------------------------------------ */

/* Moves the rows with target and prediction to the front. */
static void keep_rows(cri_shown *d)
{
    size_t K = d->p.n_classes, n = 0;
    for (size_t i = 0; i < d->p.n; i++) {
        if (isnan(d->y[i]) || isnan(d->p.mean ? d->p.mean[i] : d->p.prob[i * K])) continue;
        d->y[n] = d->y[i], d->w[n] = d->w[i];
        d->lower[n] = d->lower[i], d->upper[n] = d->upper[i];
        if (d->p.mean) d->p.mean[n] = d->p.mean[i];
        for (size_t k = 0; k < K; k++) d->p.prob[n * K + k] = d->p.prob[i * K + k];
        n++;
    }
    d->n = n;
}

cr_status cri_shown_open(cr_ctx *cx, cr_scratch *s, const cr_model *model, const cr_table *t,
                         double level, cri_shown *d)
{
    cr_status st = CR_OK;
    size_t    n = cr_table_rows(t);
    *d = (cri_shown){ .model = cr_class_name(cr_model_get_class(model)),
                      .target = cr_design_target(cr_model_get_design(model)),
                      .y = cr_scratch_f64(s, n),
                      .w = cr_scratch_f64(s, n),
                      .lower = cr_scratch_f64(s, n),
                      .upper = cr_scratch_f64(s, n) };
    CR_TRY(s->status);
    CR_TRY(cr_observed(cx, model, t, d->y, d->w));
    CR_TRY(cr_predict(cx, model, t, &d->p));
    for (size_t i = 0; i < n; i++) d->lower[i] = d->upper[i] = NAN;
    if (d->p.kind == CR_ANSWER_NUMBER && d->p.scale)
        CR_TRY(cr_prediction_intervals(cx, &d->p, level, NULL, d->lower, d->upper));
    keep_rows(d);
    if (d->n == 0) CR_TRY(cr_fail(cx, CR_EDATA, "%s: there is no row to draw", cr_table_source(t)));
done:
    return st;
}

const char *cri_shown_rows(cr_scratch *s, const cri_shown *d)
{
    double weight = 0;
    bool   plain = true;
    for (size_t i = 0; i < d->n; i++) weight += d->w[i], plain = plain && d->w[i] == 1;
    return plain ? cri_compose(s, "%zu rows", d->n)
                 : cri_compose(s, "%zu rows of weight %.6g", d->n, weight);
}

void cri_shown_free(cr_ctx *cx, cri_shown *d) { cr_prediction_free(cx, &d->p); }
