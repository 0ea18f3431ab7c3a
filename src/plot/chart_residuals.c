/* chart_residuals.c -- what is left over, against what was predicted: a trend or a funnel shows
 * what the model has not seen. */
#include "chart.h"
#include "base/rng.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SHOWN = 2000, MOST_BINS = 20, ROWS_PER_BIN = 8 };

typedef struct residual {
    double fitted, left, low, high; /* the band around 0 */
} residual;

CRI_COMPARE_BY(by_fitted, residual, fitted);

/* The rows in the order of what was predicted, and how many have an interval, and are held by
 * it. */
typedef struct residuals {
    residual *rows; /* [n] */
    size_t    n, bounded, held;
} residuals;

static void gather(const cri_shown *d, residuals *r)
{
    for (size_t i = 0; i < d->n; i++) {
        double f = d->p.mean[i];
        r->rows[i] = (residual){ f, d->y[i] - f, d->lower[i] - f, d->upper[i] - f };
        if (!isnan(d->lower[i])) r->bounded++;
        if (d->lower[i] <= d->y[i] && d->y[i] <= d->upper[i]) r->held++;
    }
    r->n = d->n;
    qsort(r->rows, r->n, sizeof *r->rows, by_fitted);
}

/* The residuals as points: at most MOST_SHOWN of them, chosen at random; returns how many. */
static size_t add_points(cr_scratch *s, const residuals *r, cri_chart *chart)
{
    size_t  shown = r->n < MOST_SHOWN ? r->n : MOST_SHOWN, *chosen = cr_scratch_index(s, shown);
    double *x = cr_scratch_f64(s, shown), *y = cr_scratch_f64(s, shown);
    cr_rng  rng = cr_rng_stream(0, 0);
    if (s->status != CR_OK) return 0;
    for (size_t i = 0; i < shown; i++) chosen[i] = i;
    if (shown < r->n) cr_rng_choose(&rng, r->n, shown, chosen);
    for (size_t i = 0; i < shown; i++)
        x[i] = r->rows[chosen[i]].fitted, y[i] = r->rows[chosen[i]].left;
    cri_chart_add(chart,
                  (cri_svg_series){ "residual", CRI_SVG_POINTS, CRI_SVG_BLUE,
                                    shown > 500 ? 0.35 : 0.65, 2.6, false },
                  '.', x, y, NULL, shown);
    return shown;
}

/* Means over consecutive rows: where they lie, their trend and band, which is to reach both
 * ends. */
typedef struct smoothed {
    size_t  bins;
    double *x, *trend, *low,
        *high; /* [bins + 2] the first and the last are of one row, at the end */
} smoothed;

static smoothed smooth(cr_scratch *s, const residuals *r)
{
    size_t   bins = r->n / ROWS_PER_BIN;
    smoothed out = { 0 };
    bins = bins > MOST_BINS ? MOST_BINS : bins < 1 ? 1 : bins;
    out.x = cr_scratch_f64(s, bins + 2), out.low = cr_scratch_f64(s, bins + 2);
    out.high = cr_scratch_f64(s, bins + 2), out.trend = cr_scratch_f64(s, bins + 2);
    if (s->status != CR_OK) return out;
    out.bins = bins;
    for (size_t b = 0; b < bins + 2; b++) {
        size_t begin = b == 0 ? 0 : (b - 1) * r->n / bins, end = b == 0 ? 1 : b * r->n / bins;
        if (b == bins + 1) begin = r->n - 1, end = r->n;
        double m = (double)(end - begin);
        out.x[b] = out.low[b] = out.high[b] = out.trend[b] = 0;
        for (size_t i = begin; i < end; i++) {
            out.x[b] += r->rows[i].fitted / m, out.trend[b] += r->rows[i].left / m;
            out.low[b] += r->rows[i].low / m, out.high[b] += r->rows[i].high / m;
        }
    }
    return out;
}

static void describe(cr_scratch *s, const cri_shown *d, const residuals *r, double level,
                     size_t shown, cri_chart *chart)
{
    chart->title =
        cri_compose(s, "%s: residuals of %s (%s)", d->model, d->target, cri_shown_rows(s, d));
    if (r->bounded)
        chart->caption[0] =
            cri_compose(s, "%g %% of the residuals should lie in their intervals; %.1f %% do.",
                        100 * level, 100 * (double)r->held / (double)r->bounded);
    if (shown < d->n)
        chart->caption[1] =
            cri_compose(s, "%zu of the %zu rows are shown, chosen at random.", shown, d->n);
    chart->description = cri_compose(s, "%s against predictions. %s", chart->title,
                                     chart->caption[0] ? chart->caption[0] : "");
}

cr_status cri_chart_residuals(cr_scratch *s, const cri_shown *d, double level, cri_chart *chart)
{
    static const double zero[] = { 0, 0 };
    residuals           r = { .rows = cr_scratch_bytes(s, d->n, sizeof *r.rows) };
    double             *ends = cr_scratch_f64(s, 2);

    if (s->status != CR_OK) return s->status;
    if (d->p.kind != CR_ANSWER_NUMBER) {
        cr_fail(s->cx, CR_EUNSUPPORTED,
                "the model %s predicts classes, but residuals are for numbers", d->model);
        return cr_fail_hint(s->cx, "--kind calibration shows whether its probabilities come true");
    }
    gather(d, &r);
    smoothed band = smooth(s, &r);
    if (s->status != CR_OK) return s->status;
    ends[0] = r.rows[0].fitted, ends[1] = r.rows[r.n - 1].fitted;
    *chart = (cri_chart){ .x = { .title = cri_compose(s, "predicted %s", d->target) },
                          .y = { .title = "residual: observed minus predicted" } };
    if (r.bounded)
        cri_chart_add(chart,
                      (cri_svg_series){ cri_compose(s, "%g %% interval", 100 * level), CRI_SVG_BAND,
                                        CRI_SVG_SKY, 0.25, 0, false },
                      ':', band.x, band.low, band.high, band.bins + 2);
    cri_chart_add(chart, (cri_svg_series){ NULL, CRI_SVG_LINE, CRI_SVG_BLACK, 0.7, 1, true }, '-',
                  ends, zero, NULL, 2);
    size_t shown = add_points(s, &r, chart);
    if (band.bins > 1) /* of one there is no line */
        cri_chart_add(
            chart,
            (cri_svg_series){ "mean of neighbours", CRI_SVG_LINE, CRI_SVG_VERMILLION, 1, 2, false },
            '*', band.x + 1, band.trend + 1, NULL, band.bins);
    cri_chart_fit_axes(chart);
    describe(s, d, &r, level, shown, chart);
    return s->status;
}
