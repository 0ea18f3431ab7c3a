/* chart_answers.c -- figures of answers that are no numbers: the probabilities of classes over one
 * column, and rows in the space of a transform. */
#include "chart.h"
#include "grid.h"
#include "base/rng.h"
#include "base/sort.h"
#include "math/special/special.h"
#include "models/core/describe.h"

#include <math.h>
#include <string.h>

enum { POINTS = 201, MOST_CLASSES = 6, MOST_SHOWN = 2000 };

static const char glyphs[MOST_CLASSES] = { '*', 'o', '+', 'x', '#', '@' };

/* Of many rows some, chosen at random, in their order; the chart says so. */
static size_t thin(cr_scratch *s, double *x, double *y, size_t n, cri_chart *chart)
{
    size_t *chosen = n > MOST_SHOWN ? cr_scratch_index(s, MOST_SHOWN) : NULL;
    if (!chosen) return n;
    cr_rng rng = cr_rng_stream(0, 0);
    cr_rng_choose(&rng, n, MOST_SHOWN, chosen);
    cri_sort_indices(chosen, MOST_SHOWN);
    for (size_t i = 0; i < MOST_SHOWN; i++) x[i] = x[chosen[i]], y[i] = y[chosen[i]];
    chart->caption[1] =
        cri_compose(s, "%d of the %zu rows are shown, chosen at random.", MOST_SHOWN, n);
    return MOST_SHOWN;
}

/* --- coordinates ----------------------------------------------------------------------------- */

cr_status cri_chart_coordinates(cr_scratch *s, const cr_model *model, const cr_table *table,
                                cri_chart *chart)
{
    cr_status     st = CR_OK;
    const char   *name = cr_class_name(cr_model_get_class(model));
    cr_prediction p = { 0 };
    size_t        shown = 0;
    CR_TRY(cr_predict(s->cx, model, table, &p));
    size_t  q = p.n_classes;
    double *x = cr_scratch_f64(s, p.n), *y = cr_scratch_f64(s, p.n);
    CR_TRY(s->status);
    for (size_t i = 0; i < p.n; i++) {
        const double *z = p.vector + i * q;
        if (isnan(z[0])) continue;
        x[shown] = q > 1 ? z[0] : (double)(i + 1);
        y[shown++] = z[q > 1];
    }
    if (shown == 0)
        CR_TRY(cr_fail(s->cx, CR_EDATA, "%s: there is no row to draw", cr_table_source(table)));
    *chart = (cri_chart){ .x = { .title = q > 1 ? cri_compose(s, "%s", p.classes[0]) : "row" },
                          .y = { .title = cri_compose(s, "%s", p.classes[q > 1]) } };
    cri_chart_add(chart,
                  (cri_svg_series){ "row", CRI_SVG_POINTS, CRI_SVG_BLUE, shown > 500 ? 0.35 : 0.65,
                                    2.6, false },
                  'o', x, y, NULL, thin(s, x, y, shown, chart));
    cri_chart_fit_axes(chart);
    chart->title =
        q > 1 ? cri_compose(s, "%s: the first two of %zu coordinates (%zu rows)", name, q, shown)
              : cri_compose(s, "%s: its coordinate (%zu rows)", name, shown);
    chart->description = chart->title;
    CR_TRY(s->status);
done:
    cr_prediction_free(s->cx, &p);
    return st;
}

/* --- probabilities --------------------------------------------------------------------------- */

/* Is the likelihood of the model probit? */
static cr_status has_probit(cr_ctx *cx, const cr_model *model, bool *out)
{
    cri_sheet *d = NULL;
    cr_status  st = cri_model_describe(cx, model, &d);
    if (st != CR_OK) return st;
    const char *likelihood =
        cri_sheet_text(cri_sheet_get(cri_sheet_get(d, "statistics"), "likelihood"));
    *out = likelihood && strcmp(likelihood, "probit") == 0;
    cri_sheet_free(d);
    return CR_OK;
}

/* The central interval of the probability of the second class, where the model has a latent normal:
 * through the link, which is monotone.  *out_band: there is one. */
static cr_status latent_band(cr_scratch *s, const cr_model *model, const cr_table *grid,
                             double level, double *lower, double *upper, bool *out_band)
{
    cr_status          st = CR_OK;
    size_t             q = 0;
    const char *const *labels = cr_transform_labels(model, &q);
    bool               probit = false;
    *out_band =
        q == 2 && strcmp(labels[0], "latent_mean") == 0 && strcmp(labels[1], "latent_sd") == 0;
    if (!*out_band) return CR_OK;
    double *latent = cr_scratch_matrix(s, POINTS, 2), z = cr_norm_ppf(0.5 + level / 2);
    CR_TRY(s->status);
    CR_TRY(has_probit(s->cx, model, &probit));
    CR_TRY(cr_transform(s->cx, model, grid, latent));
    for (size_t i = 0; i < POINTS; i++) {
        double low = latent[2 * i] - z * latent[2 * i + 1],
               high = latent[2 * i] + z * latent[2 * i + 1];
        lower[i] = probit ? cr_norm_cdf(low) : cr_sigmoid(low);
        upper[i] = probit ? cr_norm_cdf(high) : cr_sigmoid(high);
    }
done:
    return st;
}

typedef struct seen {
    double *x, *y; /* 0 or 1, of two classes */
    size_t  n;
} seen;

static cr_status observe(cr_scratch *s, const cr_model *model, const cr_table *table,
                         const char *column, seen *o)
{
    cr_status        st = CR_OK;
    size_t           n = cr_table_rows(table);
    const cr_column *x = cr_table_find(table, column);
    *o = (seen){ cr_scratch_f64(s, n), cr_scratch_f64(s, n), 0 };
    CR_TRY(s->status);
    CR_TRY(cr_observed(s->cx, model, table, o->y, NULL));
    for (size_t i = 0; i < n; i++) {
        double at = x->values[i * x->stride];
        if (!isfinite(at) || !isfinite(o->y[i])) continue;
        o->x[o->n] = at;
        o->y[o->n++] = o->y[i];
    }
    if (o->n == 0)
        CR_TRY(cr_fail(s->cx, CR_EDATA, "%s: there is no row to draw", cr_table_source(table)));
done:
    return st;
}

cr_status cri_chart_probabilities(cr_scratch *s, const cr_model *model, const cr_table *table,
                                  const char *column, const double *opt_range, double level,
                                  cri_chart *chart)
{
    cr_status     st = CR_OK;
    cr_table     *grid = NULL;
    cr_prediction p = { 0 };
    seen          o = { 0 };
    bool          band = false;
    const char   *name = cr_class_name(cr_model_get_class(model));
    const char   *target = cr_design_target(cr_model_get_design(model));
    double       *x = cr_scratch_f64(s, POINTS), *lower = cr_scratch_f64(s, POINTS);
    double       *upper = cr_scratch_f64(s, POINTS), low, high;

    CR_TRY(s->status);
    CR_TRY(observe(s, model, table, column, &o));
    CR_TRY(cri_grid_range(s->cx, table, column, NULL, &low, &high));
    double margin = high > low ? 0.04 * (high - low) : 1;
    low = opt_range ? opt_range[0] : low - margin, high = opt_range ? opt_range[1] : high + margin;
    for (size_t i = 0; i < POINTS; i++) x[i] = low + (high - low) * (double)i / (POINTS - 1);
    CR_TRY(cri_grid_table(s->cx, table, POINTS, &column, &(const double *){ x }, 1, &grid));
    CR_TRY(cr_predict(s->cx, model, grid, &p));
    CR_TRY(latent_band(s, model, grid, level, lower, upper, &band));

    size_t K = p.n_classes;
    *chart =
        (cri_chart){ .x = { column, low, high, cri_grid_type(model, table, column) },
                     .y = { cri_compose(s, "probability of %s", target), -0.04, 1.04, CR_REAL } };
    if (band)
        cri_chart_add(
            chart,
            (cri_svg_series){ cri_compose(s, "%g %% interval of the probability", 100 * level),
                              CRI_SVG_BAND, CRI_SVG_SKY, 0.28, 0, false },
            ':', x, lower, upper, POINTS);
    for (size_t k = K == 2; k < K && k < MOST_CLASSES; k++) {
        double *curve = cr_scratch_f64(s, POINTS);
        CR_TRY(s->status);
        for (size_t i = 0; i < POINTS; i++) curve[i] = p.prob[i * K + k];
        cri_chart_add(chart,
                      (cri_svg_series){ cri_compose(s, "P(%s)", p.classes[k]), CRI_SVG_LINE,
                                        cri_svg_class_colour(K == 2 ? 0 : k), 1, 2, false },
                      glyphs[K == 2 ? 0 : k], x, curve, NULL, POINTS);
    }
    if (K == 2)
        cri_chart_add(chart,
                      (cri_svg_series){ cri_compose(s, "observed: %s above, %s below", p.classes[1],
                                                    p.classes[0]),
                                        CRI_SVG_POINTS, CRI_SVG_BLACK, o.n > 250 ? 0.25 : 0.6, 2.6,
                                        false },
                      'o', o.x, o.y, NULL, thin(s, o.x, o.y, o.n, chart));
    chart->title =
        cri_compose(s, "%s: probabilities of %s over %s (%zu rows)", name, target, column, o.n);
    if (K > MOST_CLASSES)
        chart->caption[0] =
            cri_compose(s, "The first %d of %zu classes are shown.", MOST_CLASSES, K);
    chart->description = chart->title;
    CR_TRY(s->status);
done:
    cr_prediction_free(s->cx, &p);
    cr_table_free(s->cx, grid);
    return st;
}
