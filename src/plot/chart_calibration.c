/* chart_calibration.c -- do probabilities come true?  Rows in bins of what was said, against the
 * share that came, with the interval that chance allows.  Wilson (1927), JASA 22:209-212. */
#include "chart.h"
#include "base/find.h"
#include "math/constants.h"

#include <math.h>
#include <string.h>

enum { BINS = 10 };

/* One bin: what was said, what came, how much it counts. */
typedef struct bin {
    double said, came, weight;
} bin;

/* The probability that is judged: of the second of two classes, else of the most probable one. */
static void judge(const cri_shown *d, size_t i, double *said, double *came)
{
    size_t        K = d->p.n_classes;
    const double *p = d->p.prob + i * K;
    size_t        k = K == 2 ? 1 : cri_largest(p, K);
    *said = p[k];
    *came = d->y[i] == (double)k;
}

static double fill(const cri_shown *d, bin *bins)
{
    double error = 0, all = 0;
    for (size_t i = 0; i < d->n; i++) {
        double said, came;
        judge(d, i, &said, &came);
        size_t b = (size_t)fmin(floor(said * BINS), BINS - 1);
        bins[b].said += d->w[i] * said, bins[b].came += d->w[i] * came, bins[b].weight += d->w[i];
        all += d->w[i];
    }
    for (size_t b = 0; b < BINS; b++) error += fabs(bins[b].said - bins[b].came) / all;
    return error;
}

/* Wilson's interval of mass 0.95 for a share of n. */
static void wilson(double share, double n, double *lower, double *upper)
{
    const double z = CRI_Z95;
    double       centre = (share + z * z / (2 * n)) / (1 + z * z / n);
    double       half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n);
    *lower = fmax(centre - half, 0);
    *upper = fmin(centre + half, 1);
}

cr_status cri_chart_calibration(cr_scratch *s, const cri_shown *d, cri_chart *chart)
{
    static const double unit[] = { 0, 1 };
    bin                 bins[BINS];
    double             *x = cr_scratch_f64(s, BINS), *y = cr_scratch_f64(s, BINS);
    double             *lower = cr_scratch_f64(s, BINS), *upper = cr_scratch_f64(s, BINS);
    size_t              n = 0;

    if (s->status != CR_OK) return s->status;
    if (d->p.ranks) {
        cr_fail(s->cx, CR_EUNSUPPORTED, "the model %s was fitted without probabilities", d->model);
        return cr_fail_hint(s->cx, "fit it with --calibrate platt");
    }
    if (d->p.kind != CR_ANSWER_CLASS) {
        cr_fail(s->cx, CR_EUNSUPPORTED,
                "the model %s predicts numbers, but this figure is for classes", d->model);
        return cr_fail_hint(s->cx, "--kind residuals shows how a model of numbers fits");
    }
    memset(bins, 0, sizeof bins);
    double error = fill(d, bins);
    for (size_t b = 0; b < BINS; b++) {
        if (!(bins[b].weight > 0)) continue;
        x[n] = bins[b].said / bins[b].weight, y[n] = bins[b].came / bins[b].weight;
        wilson(y[n], bins[b].weight, &lower[n], &upper[n]);
        n++;
    }
    bool        two = d->p.n_classes == 2;
    const char *of = two ? cri_compose(s, "%s = %s", d->target, d->p.classes[1])
                         : cri_compose(s, "the most probable %s", d->target);
    *chart = (cri_chart){ .x = { cri_compose(s, "probability of %s", of), -0.02, 1.02, CR_REAL },
                          .y = { "share that came true", -0.02, 1.02, CR_REAL } };
    cri_chart_add(chart,
                  (cri_svg_series){ "calibrated", CRI_SVG_LINE, CRI_SVG_BLACK, 0.6, 1, true }, '.',
                  unit, unit, NULL, 2);
    cri_chart_add(chart,
                  (cri_svg_series){ "95 % interval", CRI_SVG_BARS, CRI_SVG_SKY, 0.9, 2, false },
                  '|', x, lower, upper, n);
    cri_chart_add(chart, (cri_svg_series){ NULL, CRI_SVG_LINE, CRI_SVG_BLUE, 0.6, 1.25, false },
                  '-', x, y, NULL, n);
    cri_chart_add(chart, (cri_svg_series){ "came true", CRI_SVG_POINTS, CRI_SVG_BLUE, 1, 4, false },
                  'o', x, y, NULL, n);
    chart->title =
        cri_compose(s, "%s: calibration of %s (%s)", d->model, d->target, cri_shown_rows(s, d));
    chart->caption[0] = cri_compose(
        s,
        "%s the model is overconfident.  Mean distance over the %zu "
        "bins, weighted by rows: %.4f.",
        two ? "Where the points are nearer to one half than the diagonal" : "Below the diagonal", n,
        error);
    chart->description = cri_compose(s, "%s. %s", chart->title, chart->caption[0]);
    return s->status;
}
