/* chart_residuals.c -- what is left over, against what was predicted: a trend or a funnel shows
 * what the model has not seen. */
#include "chart.h"
#include "../base/rng.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SHOWN = 2000, MOST_BINS = 20, ROWS_PER_BIN = 8 };

typedef struct residual {
    double fitted, left, low, high; /* the band around 0 */
} residual;

static int by_fitted(const void *a, const void *b)
{
    double x = ((const residual *)a)->fitted, y = ((const residual *)b)->fitted;
    return x < y ? -1 : x > y;
}

/* Means over consecutive rows in the order of what was predicted: place, trend and band. */
static size_t smooth(const residual *r, size_t n, double *x, double *trend, double *low,
                     double *high)
{
    size_t bins = n / ROWS_PER_BIN;
    if (bins > MOST_BINS) bins = MOST_BINS;
    if (bins < 1) bins = 1;
    for (size_t b = 0; b < bins; b++) {
        size_t begin = b * n / bins, end = (b + 1) * n / bins;
        double m = (double)(end - begin);
        x[b] = trend[b] = low[b] = high[b] = 0;
        for (size_t i = begin; i < end; i++) {
            x[b] += r[i].fitted / m, trend[b] += r[i].left / m;
            low[b] += r[i].low / m, high[b] += r[i].high / m;
        }
    }
    return bins;
}

cr_status cri_chart_residuals(cr_scratch *s, const cri_shown *d, double level, cri_chart *chart)
{
    static const double zero[] = { 0, 0 };
    residual           *r = cr_scratch_bytes(s, d->n, sizeof *r);
    size_t              shown = d->n < MOST_SHOWN ? d->n : MOST_SHOWN, bins, held = 0, bounded = 0;
    double             *a[9], *ends = cr_scratch_f64(s, 2);
    size_t             *chosen = cr_scratch_index(s, shown);

    for (size_t k = 0; k < 9; k++) a[k] = cr_scratch_f64(s, k < 2 ? shown : MOST_BINS + 2);
    if (s->status != CR_OK) return s->status;
    if (d->p.kind != CR_ANSWER_NUMBER) {
        cr_fail(s->cx, CR_EUNSUPPORTED, "the model %s predicts classes: residuals are of numbers",
                d->model);
        return cr_fail_hint(s->cx, "--kind calibration shows whether its probabilities come true");
    }
    for (size_t i = 0; i < d->n; i++) {
        double f = d->p.mean[i];
        r[i] = (residual){ f, d->y[i] - f, d->lower[i] - f, d->upper[i] - f };
        if (!isnan(d->lower[i])) bounded++;
        if (d->lower[i] <= d->y[i] && d->y[i] <= d->upper[i]) held++;
    }
    qsort(r, d->n, sizeof *r, by_fitted);
    for (size_t i = 0; i < shown; i++) chosen[i] = i;
    cr_rng rng = cr_rng_stream(0, 0);
    if (shown < d->n) cr_rng_choose(&rng, d->n, shown, chosen);
    for (size_t i = 0; i < shown; i++) a[0][i] = r[chosen[i]].fitted, a[1][i] = r[chosen[i]].left;
    bins = smooth(r, d->n, a[2], a[3], a[4], a[5]);
    for (size_t k = 0; k < bins; k++)
        a[6][k + 1] = a[2][k], a[7][k + 1] = a[4][k], a[8][k + 1] = a[5][k];
    a[6][0] = r[0].fitted, a[7][0] = r[0].low,
    a[8][0] = r[0].high; /* the band reaches to both ends */
    a[6][bins + 1] = r[d->n - 1].fitted, a[7][bins + 1] = r[d->n - 1].low;
    a[8][bins + 1] = r[d->n - 1].high;
    ends[0] = r[0].fitted, ends[1] = r[d->n - 1].fitted;

    *chart = (cri_chart){ .x = { .title = cri_compose(s, "predicted %s", d->target) },
                          .y = { .title = "residual: observed less predicted" } };
    const char *band = cri_compose(s, "%g %% interval", 100 * level);
    if (bounded)
        cri_chart_add(chart,
                      (cri_chart_series){ { band, CRI_SVG_BAND, CRI_SVG_SKY, 0.25, 0, false },
                                          ':',
                                          a[6],
                                          a[7],
                                          a[8],
                                          bins + 2 });
    cri_chart_add(
        chart, (cri_chart_series){
                   { NULL, CRI_SVG_LINE, CRI_SVG_BLACK, 0.7, 1, true }, '-', ends, zero, NULL, 2 });
    cri_chart_add(chart, (cri_chart_series){ { "residual", CRI_SVG_POINTS, CRI_SVG_BLUE,
                                               shown > 500 ? 0.35 : 0.65, 2.6, false },
                                             '.',
                                             a[0],
                                             a[1],
                                             NULL,
                                             shown });
    cri_chart_add(chart, (cri_chart_series){ { "mean of neighbours", CRI_SVG_LINE,
                                               CRI_SVG_VERMILLION, 1, 2, false },
                                             '*',
                                             a[2],
                                             a[3],
                                             NULL,
                                             bins });
    cri_chart_fit_axes(chart);
    chart->title = cri_compose(s, "%s: residuals of %s (%zu rows)", d->model, d->target, d->n);
    if (bounded)
        chart->caption[0] =
            cri_compose(s, "%g %% of the residuals should lie in their intervals; %.1f %% do.",
                        100 * level, 100 * (double)held / (double)bounded);
    if (shown < d->n)
        chart->caption[1] =
            cri_compose(s, "%zu of the %zu rows are shown, chosen at random.", shown, d->n);
    chart->description = cri_compose(s, "%s against predictions. %s", chart->title,
                                     chart->caption[0] ? chart->caption[0] : "");
    return s->status;
}
