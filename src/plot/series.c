/* series.c -- a series over time: values, smoothed mean, band and forecasts; or its parts. */
#include "series.h"
#include "data/design/design_internal.h"
#include "data/table/table_internal.h"
#include "grid.h"
#include "math/special/special.h"
#include "models/core/parts.h"
#include "models/core/sequence.h"

#include <math.h>

enum { MOST_AHEAD = 60 };

bool cri_plots_series(const cr_model *m)
{
    const cr_model_class *c = cr_model_get_class(m);
    return cr_model_get_task(m) == CR_TASK_REGRESSION && cr_class_offers(c, "smooth") &&
           cr_class_offers(c, "forecast");
}

/* The rows of one series that are shown, in their order, and where they lie. */
typedef struct timeline {
    size_t      n, all, series; /* rows shown, of all of the series; series in the table */
    size_t     *row;            /* [n] of the table */
    double     *x, *y;          /* [n] */
    double      step;           /* from row to row, on average */
    const char *title, *name;   /* of the axis; of the series, NULL where it has none */
    cr_type     type;
} timeline;

static double cell(const cr_column *c, size_t row) { return c->values[row * c->stride]; }

static cr_status open_timeline(cr_scratch *s, const cr_model *m, const cr_table *t, timeline *out)
{
    cr_status        st = CR_OK;
    const cr_design *d = cr_model_get_design(m);
    cri_rows         rows = { 0 };
    CR_TRY(cri_rows_open(s->cx, d, t, CRI_TARGET_NONE, &rows));
    const cr_column *time = d->time ? cr_table_find(t, d->time) : NULL;
    const cr_column *target = cr_table_find(t, cr_design_target(d));
    if (rows.n == 0 || !target)
        CR_TRY(cr_fail(s->cx, CR_EDATA, "%s has no row of the series '%s' to draw",
                       cr_table_source(t), cr_design_target(d)));
    const cri_sequences *q = rows.sequences;
    size_t               length = q->start[1];
    size_t               n = length < CRI_SERIES_ROWS ? length : CRI_SERIES_ROWS;
    *out = (timeline){ .n = n,
                       .all = length,
                       .series = q->n,
                       .row = cr_scratch_index(s, n),
                       .x = cr_scratch_f64(s, n),
                       .y = cr_scratch_f64(s, n),
                       .title = time ? d->time : "row",
                       .name = q->names ? cri_compose(s, "%s", q->names[0]) : NULL,
                       .type = time ? time->type : CR_INTEGER };
    CR_TRY(s->status);
    for (size_t i = 0; i < n; i++) {
        size_t row = q->row[length - n + i];
        out->row[i] = row = rows.index ? rows.index[row] : row;
        out->x[i] = time ? cell(time, row) : (double)(length - n + i + 1);
        out->y[i] = cell(target, row);
    }
    out->step = n > 1 ? (out->x[n - 1] - out->x[0]) / (double)(n - 1) : 1;
done:
    cri_rows_close(s->cx, &rows);
    return st;
}

/* A line with its band, without the points that have none. */
typedef struct fan {
    size_t  n;
    double *x, *mean, *lower, *upper;
} fan;

static cr_status fan_new(cr_scratch *s, size_t n, fan *out)
{
    *out = (fan){ 0, cr_scratch_f64(s, n), cr_scratch_f64(s, n), cr_scratch_f64(s, n),
                  cr_scratch_f64(s, n) };
    return s->status;
}

static void fan_add(fan *f, double x, double mean, double lower, double upper)
{
    if (isnan(mean) || isnan(lower)) return;
    f->x[f->n] = x;
    f->mean[f->n] = mean;
    f->lower[f->n] = lower;
    f->upper[f->n++] = upper;
}

static cr_status smooth(cr_scratch *s, const cr_model *m, const cr_table *t, const timeline *l,
                        double level, fan *out)
{
    cr_status     st = CR_OK;
    cr_prediction p = { 0 };
    CR_TRY(cr_smooth(s->cx, m, t, &p));
    double *lower = cr_scratch_f64(s, p.n), *upper = cr_scratch_f64(s, p.n);
    CR_TRY(fan_new(s, l->n, out));
    CR_TRY(cr_prediction_intervals(s->cx, &p, level, NULL, lower, upper));
    for (size_t i = 0; i < l->n; i++)
        fan_add(out, l->x[i], p.mean[l->row[i]], lower[l->row[i]], upper[l->row[i]]);
done:
    cr_prediction_free(s->cx, &p);
    return st;
}

/* A fifth of what is shown; none where the columns of the rows to come would have to be known. */
static cr_status look_ahead(cr_scratch *s, const cr_model *m, const cr_table *t, const timeline *l,
                            double level, fan *out)
{
    cr_status   st = CR_OK;
    cr_forecast f = { 0 };
    size_t      ahead = l->n / 5 < MOST_AHEAD ? l->n / 5 : MOST_AHEAD;
    *out = (fan){ 0 };
    if (ahead == 0 || cr_design_terms(cr_model_get_design(m)) > 0) return CR_OK;
    CR_TRY(cr_forecast_rows(s->cx, m, t, ahead, &f));
    double *lower = cr_scratch_f64(s, f.p.n), *upper = cr_scratch_f64(s, f.p.n);
    CR_TRY(fan_new(s, ahead, out));
    CR_TRY(cr_prediction_intervals(s->cx, &f.p, level, NULL, lower, upper));
    for (size_t h = 0; h < ahead; h++)
        fan_add(out, l->x[l->n - 1] + (double)(h + 1) * l->step, f.p.mean[h], lower[h], upper[h]);
done:
    cr_forecast_free(s->cx, &f);
    return st;
}

static void add_fan(cri_chart *chart, const fan *f, const char *interval, const char *line,
                    const char *colour, char glyph)
{
    if (f->n == 0) return;
    cri_chart_add(chart, (cri_svg_series){ interval, CRI_SVG_BAND, colour, 0.25, 0, false }, ':',
                  f->x, f->lower, f->upper, f->n);
    cri_chart_add(chart, (cri_svg_series){ line, CRI_SVG_LINE, colour, 1, 1.75, false }, glyph,
                  f->x, f->mean, NULL, f->n);
}

/* Options that figures of functions have. */
static cr_status check_options(cr_ctx *cx, const cr_plot_options *o)
{
    if (!o->range && !o->draws && !o->n_over) return CR_OK;
    return cr_fail(cx, CR_EARG, "--range, --draws and --over are not for figures of series");
}

/* Which series, and how much of it. */
static const char *caption_of(cr_scratch *s, const timeline *l)
{
    const char *cut =
        l->n < l->all ? cri_compose(s, "The last %zu of %zu rows. ", l->n, l->all) : "";
    if (l->series < 2) return *cut ? cut : NULL;
    return cri_compose(s, "%sThe series '%s', the first of %zu.", cut, l->name ? l->name : "",
                       l->series);
}

cr_status cri_chart_of_series(cr_scratch *s, const cr_model *m, const cr_table *t,
                              const cr_plot_options *o, cri_chart *chart)
{
    cr_status   st = CR_OK;
    timeline    l;
    fan         given, next;
    const char *target = cr_design_target(cr_model_get_design(m));
    CR_TRY(check_options(s->cx, o));
    CR_TRY(open_timeline(s, m, t, &l));
    CR_TRY(smooth(s, m, t, &l, o->level, &given));
    CR_TRY(look_ahead(s, m, t, &l, o->level, &next));
    *chart = (cri_chart){ .title = cri_compose(s, "%s: %s (%zu rows)",
                                               cr_class_name(cr_model_get_class(m)), target, l.all),
                          .x = { .title = l.title, .type = l.type },
                          .y = { .title = target } };
    add_fan(chart, &given, cri_compose(s, "%g %% interval", 100 * o->level), "given all rows",
            CRI_SVG_BLUE, '*');
    add_fan(chart, &next, NULL, "forecast", CRI_SVG_VERMILLION, '+');
    cri_chart_add(chart,
                  (cri_svg_series){ "observed", CRI_SVG_POINTS, CRI_SVG_BLACK,
                                    l.n > 300 ? 0.4 : 0.7, l.n > 300 ? 1.4 : 2.2, false },
                  'o', l.x, l.y, NULL, l.n);
    cri_chart_fit_axes(chart);
    chart->caption[0] = caption_of(s, &l);
    chart->description =
        cri_compose(s, "%s over %s, with the mean given all rows%s.", chart->title, l.title,
                    next.n ? " and forecasts" : "");
    CR_TRY(s->status);
done:
    return st;
}

cr_status cri_parts_of_series(cr_scratch *s, const cr_model *m, const cr_table *t,
                              const cr_plot_options *o, cri_parts *out)
{
    cr_status   st = CR_OK;
    timeline    l;
    cri_parts   p = { .shared = true, .constant = NAN };
    const char *target = cr_design_target(cr_model_get_design(m));
    double      z = cr_norm_ppf(0.5 + 0.5 * o->level);
    double     *mean = cr_scratch_f64(s, cr_table_rows(t));
    double     *sd = cr_scratch_f64(s, cr_table_rows(t));
    CR_TRY(s->status);
    CR_TRY(check_options(s->cx, o));
    CR_TRY(open_timeline(s, m, t, &l));
    for (size_t k = 0; p.n < CRI_MOST_PARTS; k++) {
        cr_part part;
        fan     f;
        CR_TRY(cr_model_part(s->cx, m, k, &part));
        if (!part.name[0]) break;
        CR_TRY(cr_predict_part(s->cx, m, t, k, mean, sd));
        CR_TRY(fan_new(s, l.n, &f));
        for (size_t i = 0; i < l.n; i++) {
            double at = mean[l.row[i]], half = z * sd[l.row[i]];
            fan_add(&f, l.x[i], at, at - half, at + half);
        }
        if (f.n == 0) continue;
        cri_chart *chart = &p.chart[p.n++];
        *chart = (cri_chart){ .title = cri_compose(s, "%s", part.name),
                              .description = "",
                              .x = { .title = l.title, .type = l.type },
                              .y = { .title = target } };
        add_fan(chart, &f, cri_compose(s, "%g %% interval", 100 * o->level), "given all rows",
                CRI_SVG_BLUE, '*');
        cri_chart_fit_axes(chart);
        chart->x.low = l.x[0];
        chart->x.high = l.x[l.n - 1];
    }
    if (p.n == 0)
        CR_TRY(cr_fail(s->cx, CR_EUNSUPPORTED, "the model %s has no parts that could be drawn",
                       cr_class_name(cr_model_get_class(m))));
    p.title = cri_compose(s, "%s: the parts of %s", cr_class_name(cr_model_get_class(m)), target);
    p.caption[0] = "Each part given all rows; their sum is the series without noise.";
    p.caption[1] = caption_of(s, &l);
    p.description = cri_compose(s, "%s. %s", p.title, p.caption[0]);
    CR_TRY(s->status);
    *out = p;
done:
    return st;
}
