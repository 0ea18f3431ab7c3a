/* chart_forecast.c -- a series, what was predicted of each row from those before it, and the rows to come, as a fan
 * of intervals. */
#include "sequences.h"
#include "chart.h"
#include "models/core/sequence.h"

#include <math.h>

enum { MOST_ROWS = 300, MOST_AHEAD = 10000 };

static size_t usual_ahead(size_t shown)
{
    size_t a = shown / 4;
    return a < 8 ? 8 : a > 48 ? 48 : a;
}

/* Rows that were there: dots, and the predictive interval of each. */
static cr_status add_past(cr_scratch *s, const cr_model *model, const cr_table *table,
                          const cri_sequence_view *v, double level, const double *y,
                          cri_chart *chart, double *low, double *high)
{
    cr_status     st = CR_OK;
    cr_prediction p = { 0 };
    size_t        n = cr_table_rows(table);
    double       *lower = cr_scratch_f64(s, n), *upper = cr_scratch_f64(s, n),
           *mean = cr_scratch_f64(s, v->n);
    double *from = cr_scratch_f64(s, v->n), *to = cr_scratch_f64(s, v->n),
           *at = cr_scratch_f64(s, v->n);
    CR_TRY(s->status);
    CR_TRY(cr_filter(s->cx, model, table, &p));
    CR_TRY(cr_prediction_intervals(s->cx, &p, level, NULL, lower, upper));
    for (size_t i = 0; i < v->n; i++) {
        size_t row = v->row[i];
        at[i] = y[row], mean[i] = p.mean[row];
        from[i] = isfinite(lower[row]) ? lower[row] : NAN;
        to[i] = isfinite(upper[row]) ? upper[row] : NAN;
        if (isfinite(at[i])) *low = fmin(*low, at[i]), *high = fmax(*high, at[i]);
    }
    double range = *high - *low;
    for (size_t i = 0; i < v->n; i++) /* bands of rows of which little is known yet are cut off */
        if (to[i] - from[i] <= range) *low = fmin(*low, from[i]), *high = fmax(*high, to[i]);
    cri_chart_add(
        chart,
        (cri_svg_series){ "given the rows before", CRI_SVG_BAND, CRI_SVG_SKY, 0.25, 1, false }, ':',
        v->x, from, to, v->n);
    cri_chart_add(chart, (cri_svg_series){ "mean", CRI_SVG_LINE, CRI_SVG_BLUE, 0.8, 1, false }, '-',
                  v->x, mean, NULL, v->n);
    cri_chart_add(chart,
                  (cri_svg_series){ "observed", CRI_SVG_POINTS, CRI_SVG_BLACK, 0.9,
                                    v->n > 150 ? 1.6 : 2.4, false },
                  'o', v->x, at, NULL, v->n);
done:
    cr_prediction_free(s->cx, &p);
    return st;
}

/* Rows to come of the first sequence: an inner and an outer band, and their mean. */
static cr_status add_future(cr_scratch *s, const cr_model *model, const cr_table *table,
                            const cri_sequence_view *v, double level, size_t ahead,
                            cri_chart *chart, double *low, double *high)
{
    cr_status   st = CR_OK;
    cr_forecast f = { 0 };
    double     *x = cr_scratch_f64(s, ahead), *mean = cr_scratch_f64(s, ahead), *band[4];
    for (size_t k = 0; k < 4; k++) band[k] = NULL;
    CR_TRY(s->status);
    CR_TRY(cr_forecast_rows(s->cx, model, table, ahead, &f));
    for (size_t k = 0; k < 4; k++) band[k] = cr_scratch_f64(s, f.p.n);
    CR_TRY(s->status);
    CR_TRY(cr_prediction_intervals(s->cx, &f.p, level, NULL, band[0], band[1]));
    CR_TRY(cr_prediction_intervals(s->cx, &f.p, 0.5, NULL, band[2], band[3]));
    for (size_t h = 0; h < ahead; h++) {
        x[h] = v->x[v->n - 1] + (double)(h + 1) * v->step;
        mean[h] = f.p.mean[h];
        if (isfinite(band[0][h])) *low = fmin(*low, band[0][h]);
        if (isfinite(band[1][h])) *high = fmax(*high, band[1][h]);
    }
    cri_chart_add(chart,
                  (cri_svg_series){ cri_compose(s, "forecast, %g %%", 100 * level), CRI_SVG_BAND,
                                    CRI_SVG_ORANGE, 0.25, 1, false },
                  '.', x, band[0], band[1], ahead);
    cri_chart_add(chart, (cri_svg_series){ "50 %", CRI_SVG_BAND, CRI_SVG_ORANGE, 0.45, 1, false },
                  ',', x, band[2], band[3], ahead);
    cri_chart_add_quiet(
        chart,
        (cri_svg_series){ "mean of the forecast", CRI_SVG_LINE, CRI_SVG_VERMILLION, 1, 1.6, false },
        '=', x, mean, NULL, ahead);
done:
    cr_forecast_free(s->cx, &f);
    return st;
}

cr_status cri_chart_forecast(cr_scratch *s, const cr_model *model, const cr_table *table,
                             double level, size_t ahead, cri_chart *chart)
{
    cr_status st = CR_OK;
    const cr_model_class *class = cr_model_get_class(model);
    const char       *target = cr_design_target(cr_model_get_design(model));
    double            low = INFINITY, high = -INFINITY;
    cri_sequence_view v;

    if (cr_model_get_task(model) != CR_TASK_REGRESSION || !cr_class_offers(class, "forecast") ||
        !cr_class_offers(class, "filter")) {
        cr_fail(s->cx, CR_EUNSUPPORTED, "the model %s has no forecast that could be drawn",
                cr_class_name(class));
        CR_TRY(cr_fail_hint(s->cx, "a model of series has: credence fit kalman"));
    }
    CR_TRY(cri_sequence_view_open(s, model, table, MOST_ROWS, true, &v));
    bool blind = ahead == 0 && cr_design_terms(cr_model_get_design(model)) > 0;
    if (ahead == 0 && !blind) ahead = usual_ahead(v.n);
    if (ahead > MOST_AHEAD)
        CR_TRY(cr_fail(s->cx, CR_EARG, "a figure shows %d rows to come at most", MOST_AHEAD));
    double *y = cr_scratch_f64(s, cr_table_rows(table));
    CR_TRY(s->status);
    CR_TRY(cr_observed(s->cx, model, table, y, NULL));
    *chart = (cri_chart){ .x = { v.title, v.x[0], v.x[v.n - 1] + (double)ahead * v.step, v.type },
                          .y = { target, 0, 1, CR_REAL } };
    CR_TRY(add_past(s, model, table, &v, level, y, chart, &low, &high));
    if (!blind) CR_TRY(add_future(s, model, table, &v, level, ahead, chart, &low, &high));
    chart->x.low -= 0.5 * v.step, chart->x.high += 0.5 * v.step;
    cri_svg_range(&low, &high);
    chart->y.low = low - 0.04 * (high - low), chart->y.high = high + 0.04 * (high - low);
    chart->title = blind ? cri_compose(s, "%s: %s, row by row", cr_class_name(class), target)
                         : cri_compose(s, "%s: %s and its next %zu row%s", cr_class_name(class),
                                       target, ahead, ahead == 1 ? "" : "s");
    chart->caption[0] = cri_compose(
        s, "Bands hold %g %% of the values, each given the rows before; parameters as learned.%s",
        100 * level, blind ? " Regressors of rows to come are not known." : "");
    chart->caption[1] = v.note;
    chart->description = cri_compose(s, "%s. %s", chart->title, chart->caption[0]);
    CR_TRY(s->status);
done:
    return st;
}
