/* chart_prices.c -- machines along a path of prices: the share of errors, of the rows of the fit and with each row left
 * out, over log10 C; above it how many support vectors there are. */
#include "chart.h"
#include "models/core/faces.h"

#include <math.h>
#include <stdio.h>

static bool is_known(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isnan(x[i])) return true;
    return false;
}

static void add_line(cri_chart *chart, const char *label, const char *colour, char glyph,
                     const double *x, const double *y, size_t n)
{
    cri_chart_add(chart, (cri_svg_series){ label, CRI_SVG_LINE, colour, 1, 1.8, false }, glyph, x,
                  y, NULL, n);
    cri_chart_add(chart, (cri_svg_series){ NULL, CRI_SVG_POINTS, colour, 1, 4, false }, glyph, x, y,
                  NULL, n);
}

/* Support vectors at prices along the axis, no nearer than labels have room. */
static void set_top(const cri_price_path *path, const double *x, cri_chart *chart)
{
    double least = (x[path->n - 1] - x[0]) / (CRI_CHART_TOP - 1), last = -INFINITY;
    chart->top_title = "support vectors";
    for (size_t i = 0; i < path->n && chart->n_top < CRI_CHART_TOP; i++) {
        if (x[i] - last < least * 0.999) continue;
        cri_svg_tick *t = &chart->top[chart->n_top++];
        t->value = last = x[i];
        snprintf(t->label, sizeof t->label, "%zu", path->support[i]);
    }
}

static cr_status add_own(cr_scratch *s, const cri_price_path *path, cri_chart *chart)
{
    double *at = cr_scratch_f64(s, 3);
    if (s->status != CR_OK) return s->status;
    at[0] = log10(path->own), at[1] = chart->y.low, at[2] = chart->y.high;
    if (at[0] < chart->x.low || at[0] > chart->x.high) return CR_OK;
    cri_chart_add(chart, (cri_svg_series){ "C", CRI_SVG_BARS, CRI_SVG_BLACK, 0.8, 1.2, false }, '|',
                  at, at + 1, at + 2, 1);
    return CR_OK;
}

static cr_status set_texts(cr_scratch *s, const cr_model *m, const cri_price_path *path,
                           cri_chart *chart)
{
    size_t best = path->n;
    for (size_t i = 0; i < path->n; i++)
        if (!isnan(path->left_out[i]) &&
            (best == path->n || path->left_out[i] < path->left_out[best]))
            best = i;
    chart->title =
        cri_compose(s, "%s: errors along prices, of %s", cr_class_name(cr_model_get_class(m)),
                    cr_design_target(cr_model_get_design(m)));
    chart->caption[0] = cri_compose(s, "The model has C = %.4g.", path->own);
    if (best < path->n)
        chart->caption[1] =
            cri_compose(s, "With each row left out, the fewest errors are at C = %.4g: %.3g %%.",
                        path->price[best], 100 * path->left_out[best]);
    chart->description = cri_compose(s, "%s, over the logarithm of the price C.", chart->title);
    return s->status;
}

cr_status cri_chart_prices(cr_scratch *s, const cr_model *m, cri_chart *chart)
{
    cr_status      st = CR_OK;
    cri_price_path path = cri_model_prices(m);
    double        *x = cr_scratch_f64(s, path.n);
    CR_TRY(s->status);
    for (size_t i = 0; i < path.n; i++) x[i] = log10(path.price[i]);
    *chart = (cri_chart){ .x = { .title = "log10 C" }, .y = { .title = "share of rows" } };
    add_line(chart, "errors of the fit", CRI_SVG_BLUE, '*', x, path.errors, path.n);
    if (is_known(path.left_out, path.n))
        add_line(chart, "with each row left out", CRI_SVG_VERMILLION, 'o', x, path.left_out,
                 path.n);
    cri_chart_fit_axes(chart);
    chart->y.low = 0;
    CR_TRY(add_own(s, &path, chart));
    set_top(&path, x, chart);
    CR_TRY(set_texts(s, m, &path, chart));
done:
    return st;
}
