/* chart_biplot.c -- rows and columns on the first two coordinates: a point for each row, an arrow for each column along
 * its loadings (Gabriel 1971, Biometrika 58).  The projection of a row on an arrow says how large the row is in that
 * column.  All arrows are stretched by one factor, so that they fill the plane. */
#include "latent.h"

#include <math.h>
#include <string.h>

enum { MOST_ARROWS = 20 };

static cr_status check(cr_ctx *cx, const cri_axes *a)
{
    if (!a->has_loadings)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "the model %s has no loadings, by which its columns could be drawn",
                       a->model);
    if (a->q >= 2) return CR_OK;
    cr_fail(cx, CR_EUNSUPPORTED, "a biplot needs two coordinates, but this %s model has one",
            a->model);
    return cr_fail_hint(cx, "fit it with --components 2, or draw --kind loadings");
}

static double length_of(const cri_axes *a, size_t i)
{
    return hypot(a->loading[i], a->loading[a->p + i]);
}

/* The longest arrows, in this order; returns how many. */
static size_t choose(const cri_axes *a, size_t *chosen)
{
    size_t n = 0;
    for (size_t i = 0; i < a->p; i++) {
        size_t k = n < MOST_ARROWS ? n++ : MOST_ARROWS;
        for (; k > 0 && length_of(a, i) > length_of(a, chosen[k - 1]); k--)
            if (k < MOST_ARROWS) chosen[k] = chosen[k - 1];
        if (k < MOST_ARROWS) chosen[k] = i;
    }
    return n;
}

/* What the longest arrow along each axis may be stretched by to stay within the rows. */
static double stretch(const cri_axes *a, const cri_chart_series *rows)
{
    double factor = INFINITY;
    for (size_t k = 0; k < 2; k++) {
        double reach = 0, load = 0;
        for (size_t i = 0; i < rows->n; i++) reach = fmax(reach, fabs(k ? rows->y[i] : rows->x[i]));
        for (size_t i = 0; i < a->p; i++) load = fmax(load, fabs(a->loading[k * a->p + i]));
        if (load > 0 && reach > 0) factor = fmin(factor, 0.95 * reach / load);
    }
    return isfinite(factor) ? factor : 1;
}

static const char *name_axis(cr_scratch *s, const cri_axes *a, size_t j)
{
    return cri_compose(s, "%s (%.0f %% of the variance)", a->names[j], 100 * a->share[j]);
}

cr_status cri_chart_biplot(cr_scratch *s, const cr_model *model, const cr_table *table,
                           cri_chart *chart)
{
    cr_status st = CR_OK;
    cri_axes  a;
    size_t    chosen[MOST_ARROWS], n;

    CR_TRY(cri_axes_open(s, model, &a));
    CR_TRY(check(s->cx, &a));
    CR_TRY(cri_chart_coordinates(s, model, table, chart));
    n = choose(&a, chosen);
    double        factor = stretch(&a, &chart->series[0]);
    double       *tip = cr_scratch_matrix(s, n, 2);
    cri_svg_note *notes = cr_scratch_bytes(s, n, sizeof *notes);
    CR_TRY(s->status);
    for (size_t k = 0; k < n; k++) {
        tip[2 * k] = factor * a.loading[chosen[k]];
        tip[2 * k + 1] = factor * a.loading[a.p + chosen[k]];
        notes[k] = (cri_svg_note){ tip[2 * k], tip[2 * k + 1], a.terms[chosen[k]], "#222222",
                                   CRI_SVG_OUTWARD };
        cri_chart_add_quiet(chart,
                            (cri_svg_series){ a.terms[chosen[k]], CRI_SVG_ARROWS,
                                              CRI_SVG_VERMILLION, 1, 1.8, false },
                            '*', &tip[2 * k], &tip[2 * k + 1], NULL, 1);
    }
    chart->notes = notes, chart->n_notes = n, chart->equal = true;
    cri_chart_fit_axes(chart);
    if (!isnan(a.share[0])) chart->x.title = name_axis(s, &a, 0);
    if (!isnan(a.share[1])) chart->y.title = name_axis(s, &a, 1);
    const char *rows = strrchr(chart->title, '('); /* "(150 rows)" */
    chart->title =
        a.q > 2 ? cri_compose(s, "%s: rows and columns on the first two of %zu coordinates %s",
                              a.model, a.q, rows ? rows : "")
                : cri_compose(s, "%s: rows and columns on its two coordinates %s", a.model,
                              rows ? rows : "");
    chart->caption[0] = n < a.p ? cri_compose(s,
                                              "Arrows: loadings times %.3g, of the %zu largest "
                                              "of %zu columns.",
                                              factor, n, a.p)
                                : cri_compose(s, "Arrows: loadings times %.3g.", factor);
    chart->description = cri_compose(s, "%s. %s", chart->title, chart->caption[0]);
    CR_TRY(s->status);
done:
    return st;
}
