/* chart_scree.c -- the eigenvalues of coordinates in their order, with intervals where their sds are known; above them
 * the share of the total that is explained so far. */
#include "latent.h"
#include "math/special/special.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cr_status add_intervals(cr_scratch *s, const cri_axes *a, double level, const double *x,
                               cri_chart *chart)
{
    cr_status st = CR_OK;
    double   *lower = cr_scratch_f64(s, a->q), *upper = cr_scratch_f64(s, a->q);
    double    z = cr_norm_ppf(0.5 + level / 2);
    bool      any = false;
    char      percent[CRI_SVG_LABEL];
    CR_TRY(s->status);
    for (size_t j = 0; j < a->q; j++) {
        lower[j] = fmax(0, a->value[j] - z * a->sd[j]);
        upper[j] = a->value[j] + z * a->sd[j];
        if (isnan(a->sd[j])) lower[j] = upper[j] = NAN;
        any |= !isnan(a->sd[j]);
    }
    if (!any) return CR_OK;
    cri_svg_decimal(llround(1e6 * level), -4, percent);
    cri_chart_add(chart,
                  (cri_svg_series){ cri_compose(s, "%s %% interval", percent), CRI_SVG_BARS,
                                    CRI_SVG_BLACK, 1, 1.5, false },
                  '|', x, lower, upper, a->q);
done:
    return st;
}

/* What the coordinates leave of the total, spread evenly over as many directions as there are other terms. */
static cr_status add_rest(cr_scratch *s, const cri_axes *a, double sum, cri_chart *chart)
{
    cr_status st = CR_OK;
    size_t    others = a->p - a->q, most = a->q > 5 ? a->q : 5;
    double   *x = cr_scratch_f64(s, 2), *y = cr_scratch_f64(s, 2);
    CR_TRY(s->status);
    x[0] = (double)a->q + 0.75;
    x[1] = (double)(a->q + (others < most ? others : most)) + 0.25;
    y[0] = y[1] = (a->total - sum) / (double)others;
    cri_chart_add(chart,
                  (cri_svg_series){ cri_compose(s, "the rest, spread evenly over %zu other%s",
                                                others, others == 1 ? "" : "s"),
                                    CRI_SVG_LINE, "#767676", 1, 1.8, true },
                  '-', x, y, NULL, 2);
done:
    return st;
}

static void add_shares(const cri_axes *a, cri_chart *chart)
{
    double so_far = 0;
    chart->top_title = "explained so far";
    for (size_t j = 0; j < a->q && chart->n_top < CRI_CHART_TOP; j++) {
        cri_svg_tick *tick = &chart->top[chart->n_top];
        so_far += a->share[j];
        if (isnan(so_far)) break;
        tick->value = (double)j + 1;
        snprintf(tick->label, sizeof tick->label, "%.*f %%", so_far > 0.985 && so_far < 0.9995,
                 100 * so_far);
        chart->n_top++;
    }
}

cr_status cri_chart_scree(cr_scratch *s, const cr_model *model, double level, cri_chart *chart)
{
    cr_status st = CR_OK;
    cri_axes  a;
    double    sum = 0, share = 0;

    CR_TRY(cri_axes_open(s, model, &a));
    if (!a.measure)
        CR_TRY(cr_fail(s->cx, CR_EUNSUPPORTED, "the model %s has no eigenvalues to draw", a.model));
    bool    eigen = strcmp(a.measure, "eigenvalue") == 0;
    double *x = cr_scratch_f64(s, a.q);
    CR_TRY(s->status);
    for (size_t j = 0; j < a.q; j++) x[j] = (double)j + 1, sum += a.value[j], share += a.share[j];
    *chart = (cri_chart){ .x = { .title = "coordinate" },
                          .y = { .title = eigen ? "eigenvalue: variance along the coordinate"
                                                : "variance that the coordinate explains" },
                          .whole = true };
    cri_chart_add(chart, (cri_svg_series){ a.measure, CRI_SVG_LINE, CRI_SVG_BLUE, 1, 1.8, false },
                  '.', x, a.value, NULL, a.q);
    CR_TRY(add_intervals(s, &a, level, x, chart));
    cri_chart_add(chart, (cri_svg_series){ NULL, CRI_SVG_POINTS, CRI_SVG_BLUE, 1, 4, false }, 'o',
                  x, a.value, NULL, a.q);
    if (a.has_loadings && a.q < a.p && a.total > sum) CR_TRY(add_rest(s, &a, sum, chart));
    add_shares(&a, chart);
    cri_chart_fit_axes(chart);
    chart->x.low = 0.5;
    if (chart->x.high < (double)a.q + 0.5) chart->x.high = (double)a.q + 0.5;
    if (chart->y.low < 0.05 * chart->y.high) chart->y.low = 0;
    chart->title =
        cri_compose(s, "%s: %ss of %zu coordinate%s", a.model, a.measure, a.q, a.q == 1 ? "" : "s");
    if (!isnan(share))
        chart->caption[0] = cri_compose(s,
                                        "Together they explain %.3g %% of the variance of %zu "
                                        "column%s.",
                                        100 * share, a.p, a.p == 1 ? "" : "s");
    chart->description = cri_compose(s, "%s.", chart->title);
    CR_TRY(s->status);
done:
    return st;
}
