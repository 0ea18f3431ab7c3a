/* chart_seasons.c -- the seasonal part of a series, season by season: what each was over the cycles, as a small curve with its
 * band, and its mean, so that one sees the pattern and how it changes (R's monthplot). */
#include "sequences.h"
#include "chart.h"
#include "math/special/special.h"
#include "models/core/faces.h"
#include "models/core/parts.h"
#include "refits.h"
#include "data/table/date.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 3000, MONTHS = 12 };
static const double WIDE = 0.8; /* of a curve, where seasons are 1 apart */

/* The first seasonal part: its number, its period, and how many there are. */
typedef struct season {
    size_t part, period, of;
} season;

/* The period that "trend,seasonal:12" has. */
static size_t read_period(const char *components)
{
    const char *at = strstr(components, "seasonal:");
    return at ? strtoul(at + strlen("seasonal:"), NULL, 10) : 0;
}

static cr_status find_season(cr_scratch *s, const cr_model *m, season *out)
{
    cr_status     st = CR_OK;
    cr_model_spec spec = { 0 };
    cr_part       part;
    *out = (season){ 0 };
    CR_TRY(cri_settings_of(s, m, &spec));
    for (size_t i = 0; i < spec.n_settings; i++)
        if (strcmp(spec.settings[i].name, "components") == 0)
            out->period = read_period(spec.settings[i].value);
    for (size_t k = 0; out->period > 1; k++) {
        CR_TRY(cr_model_part(s->cx, m, k, &part));
        if (!part.name[0]) break;
        if (strncmp(part.name, "seasonal", strlen("seasonal")) != 0) continue;
        if (out->of++ == 0) out->part = k;
    }
    if (out->of == 0) {
        cr_fail(s->cx, CR_EUNSUPPORTED, "the model %s has no seasonal part that could be drawn",
                cr_class_name(cr_model_get_class(m)));
        CR_TRY(cr_fail_hint(s->cx, "a series with seasons: credence fit kalman --components "
                                   "trend,seasonal:12"));
    }
done:
    return st;
}

/* The month, from 0, that a time is in: a date, or a year and its fraction; -1: none. */
static int month_of(cr_type type, double at)
{
    if (cri_is_date(type)) return cri_date_calendar(type, at).month - 1;
    if (!(at >= 1500 && at < 2500)) return -1;
    return (int)(MONTHS * (at - floor(at)) + 0.02) % MONTHS; /* 1959.0833 is February */
}

/* Numbers the rows shown, in steps of the model from the first.  Returns the month of the first, from 0, where all rows are
 * in the months that follow from it; else -1. */
static int place_rows(const cri_sequence_view *v, double step, size_t period, size_t *place)
{
    int first = -1;
    for (size_t i = 0; i < v->n; i++)
        place[i] = isnan(step) ? i : (size_t)fmax(round((v->x[i] - v->x[0]) / step), 0);
    if (period == MONTHS && v->n > 0) first = month_of(v->type, v->x[0]);
    for (size_t i = 0; i < v->n && first >= 0; i++)
        if (month_of(v->type, v->x[i]) != (int)((place[i] + (size_t)first) % MONTHS)) first = -1;
    return first;
}

/* The curves, each in the order of the cycles and apart by a NaN, and the means, as lines. */
typedef struct curves {
    double *x, *mean, *lower, *upper; /* [rows + seasons] */
    double *mean_x, *mean_y;          /* [3 seasons] */
    size_t  n;
} curves;

static void add_season(const cri_sequence_view *v, const size_t *place, size_t from, size_t c,
                       const season *of, double z, const double *mean, const double *sd, curves *a)
{
    size_t cycles = (place[v->n - 1] + from) / of->period + 1, rows = 0;
    double sum = 0, centre = (double)c + 1;
    for (size_t i = 0; i < v->n; i++) {
        size_t at = place[i] + from;
        double y = mean[v->row[i]], half = z * sd[v->row[i]];
        if (at % of->period != c || !isfinite(y)) continue;
        size_t cycle = at / of->period;
        double along = cycles > 1 ? (double)cycle / (double)(cycles - 1) - 0.5 : 0;
        a->x[a->n] = centre + WIDE * along;
        a->mean[a->n] = y, a->lower[a->n] = y - half, a->upper[a->n] = y + half;
        a->n++;
        sum += y, rows++;
    }
    a->x[a->n] = centre + 0.5;
    a->mean[a->n] = a->lower[a->n] = a->upper[a->n] = NAN;
    a->n++;
    for (size_t e = 0; e < 3; e++) {
        a->mean_x[3 * c + e] = centre + WIDE * (e == 0 ? -0.5 : 0.5);
        a->mean_y[3 * c + e] = rows > 0 && e < 2 ? sum / (double)rows : NAN;
    }
}

static void name_months(cri_chart *chart)
{
    chart->top_title = "";
    chart->n_top = MONTHS;
    for (size_t c = 0; c < MONTHS; c++) {
        chart->top[c].value = (double)c + 1;
        snprintf(chart->top[c].label, sizeof chart->top[c].label, "%.3s", cri_month_name(c));
    }
}

static void describe_chart(cr_scratch *s, const cr_model *m, const season *of, bool months,
                           const char *note, cri_chart *chart)
{
    chart->title = cri_compose(s, "%s: the %zu seasons of %s", cr_class_name(cr_model_get_class(m)),
                               of->period, cri_modelled_target(s, m));
    chart->caption[0] = cri_compose(s, "Each curve is one %s, given all rows%s.",
                                    months ? "month over the years" : "season over the cycles",
                                    of->of > 1 ? "; of the first seasonal part" : "");
    chart->caption[1] = note;
    chart->description = cri_compose(s, "%s. %s", chart->title, chart->caption[0]);
}

cr_status cri_chart_seasons(cr_scratch *s, const cr_model *m, const cr_table *t, double level,
                            cri_chart *chart)
{
    cr_status         st = CR_OK;
    cri_sequence_view v;
    season            of;
    curves            a = { 0 };
    size_t            rows = cr_table_rows(t), *place, most;
    double           *mean = cr_scratch_f64(s, rows), *sd = cr_scratch_f64(s, rows);

    CR_TRY(s->status);
    CR_TRY(find_season(s, m, &of));
    CR_TRY(cri_sequence_view_open(s, m, t, MOST_ROWS, true, &v));
    most = v.n + of.period;
    place = cr_scratch_index(s, v.n);
    a.x = cr_scratch_f64(s, most), a.mean = cr_scratch_f64(s, most);
    a.lower = cr_scratch_f64(s, most), a.upper = cr_scratch_f64(s, most);
    a.mean_x = cr_scratch_f64(s, 3 * of.period), a.mean_y = cr_scratch_f64(s, 3 * of.period);
    CR_TRY(s->status);
    CR_TRY(cr_predict_part(s->cx, m, t, of.part, mean, sd));
    int month = place_rows(&v, cri_model_step(m, v.type), of.period, place);
    for (size_t c = 0; c < of.period; c++)
        add_season(&v, place, month > 0 ? (size_t)month : 0, c, &of, cr_norm_ppf(0.5 + 0.5 * level),
                   mean, sd, &a);
    const char *across = month >= 0 ? "month" : "season; that of the first row shown is 1";
    *chart = (cri_chart){ .x = { across, 0, 1, CR_REAL },
                          .y = { cri_modelled_target(s, m), 0, 1, CR_REAL },
                          .whole = true };
    cri_chart_add(chart,
                  (cri_svg_series){ cri_compose(s, "%g %% interval", 100 * level), CRI_SVG_BAND,
                                    CRI_SVG_BLUE, 0.25, 0, false },
                  ':', a.x, a.lower, a.upper, a.n);
    cri_chart_add(
        chart,
        (cri_svg_series){ "mean of a season", CRI_SVG_LINE, CRI_SVG_VERMILLION, 1, 1, false }, '=',
        a.mean_x, a.mean_y, NULL, 3 * of.period);
    cri_chart_add(chart,
                  (cri_svg_series){ "given all rows", CRI_SVG_LINE, CRI_SVG_BLUE, 1, 1.75, false },
                  '*', a.x, a.mean, NULL, a.n);
    cri_chart_fit_axes(chart);
    chart->x.low = 0.5, chart->x.high = (double)of.period + 0.5;
    if (month >= 0) name_months(chart);
    describe_chart(s, m, &of, month >= 0, v.note, chart);
    CR_TRY(s->status);
done:
    return st;
}
