/* chart_path.c -- coefficients along a path of penalties: that of a lasso or of a graph, or fits of another
 * model. */
#include "refits.h"
#include "base/find.h"

#include <math.h>
#include <stdio.h>

enum { NAMED = 5 }; /* terms with a colour and a name of their own */

static const char *const colours[NAMED] = { CRI_SVG_BLUE, CRI_SVG_VERMILLION, CRI_SVG_GREEN,
                                            CRI_SVG_ORANGE, CRI_SVG_SKY };
static const char        glyphs[NAMED] = { '*', 'o', '+', 'x', '#' };

/* The path with log lambda as its abscissa; lambda = 0 has none and is left out. */
typedef struct drawn {
    cri_coefficient_path path;
    const cr_design     *design;
    const char          *model, **names; /* [n_terms] */
    double              *x;              /* [n_lambdas] log lambda, NaN at 0 */
    double               unit;
    size_t               named[NAMED], n_named;
} drawn;

static double coef_at(const drawn *d, size_t k, size_t j)
{
    return d->path.coef[k * d->path.n_terms + j] * d->unit;
}

/* How much a term matters: by its size at the chosen lambda, and those that are 0 there behind
 * them, by the largest that they ever have. */
static double size_of(const drawn *d, size_t j)
{
    double most = 0, chosen = fabs(coef_at(d, d->path.chosen, j));
    for (size_t k = 0; k < d->path.n_lambdas; k++) most = fmax(most, fabs(coef_at(d, k, j)));
    return chosen > 0 ? 1 + chosen : most / (1 + most);
}

static void pick_terms(drawn *d, double *size)
{
    for (size_t j = 0; j < d->path.n_terms; j++) size[j] = size_of(d, j);
    while (d->n_named < NAMED && d->n_named < d->path.n_terms) {
        size_t best = cri_largest(size, d->path.n_terms);
        d->named[d->n_named++] = best;
        size[best] = -1;
    }
}

/* All other terms as one line with gaps. */
static cr_status add_others(cr_scratch *s, const drawn *d, const double *size, cri_chart *chart)
{
    size_t  L = d->path.n_lambdas, others = d->path.n_terms - d->n_named, n = 0;
    double *x = cr_scratch_f64(s, others * (L + 1)), *y = cr_scratch_f64(s, others * (L + 1));
    if (s->status != CR_OK || others == 0) return s->status;
    for (size_t j = 0; j < d->path.n_terms; j++) {
        if (size[j] < 0) continue;
        for (size_t k = 0; k < L; k++) x[n] = d->x[k], y[n++] = coef_at(d, k, j);
        x[n] = y[n] = NAN, n++;
    }
    const char *label = cri_compose(s, "%zu more", others);
    cri_chart_add(chart, (cri_svg_series){ label, CRI_SVG_LINE, CRI_SVG_BLACK, 0.3, 1, false }, '.',
                  x, y, NULL, n);
    return s->status;
}

static cr_status add_named(cr_scratch *s, const drawn *d, cri_chart *chart)
{
    size_t L = d->path.n_lambdas;
    for (size_t i = 0; i < d->n_named; i++) {
        double     *y = cr_scratch_f64(s, L);
        const char *label = d->names[d->named[i]];
        if (s->status != CR_OK) return s->status;
        for (size_t k = 0; k < L; k++) y[k] = coef_at(d, k, d->named[i]);
        cri_chart_add(chart, (cri_svg_series){ label, CRI_SVG_LINE, colours[i], 1, 1.8, false },
                      glyphs[i], d->x, y, NULL, L);
    }
    return CR_OK;
}

/* A vertical line at lambda k, over the whole height. */
static cr_status add_mark(cr_scratch *s, const drawn *d, size_t k, const char *label, bool dashed,
                          char glyph, cri_chart *chart)
{
    double *at = cr_scratch_f64(s, 3);
    if (s->status != CR_OK || isnan(d->x[k])) return s->status;
    at[0] = d->x[k], at[1] = chart->y.low, at[2] = chart->y.high;
    cri_chart_add(chart, (cri_svg_series){ label, CRI_SVG_BARS, CRI_SVG_BLACK, 0.8, 1.2, dashed },
                  glyph, at, at + 1, at + 2, 1);
    return CR_OK;
}

/* How many terms are not 0, at places along the axis, from left to right. */
static void set_top(const drawn *d, cri_chart *chart)
{
    size_t L = d->path.n_lambdas, last = L;
    chart->top_title = d->path.others ? "edges" : "terms";
    for (size_t i = 0; i < CRI_CHART_TOP; i++) {
        size_t k = L - 1 - i * (L - 1) / (CRI_CHART_TOP - 1);
        if (k >= last || isnan(d->x[k])) continue;
        cri_svg_tick *t = &chart->top[chart->n_top++];
        t->value = d->x[k];
        snprintf(t->label, sizeof t->label, "%.0f", d->path.nonzero[k]);
        last = k;
    }
}

/* The path that a model has kept: a lasso of terms, or a graph of pairs. */
static cr_status open_kept(cr_scratch *s, drawn *d)
{
    const cri_coefficient_path *path = &d->path;
    d->unit = path->others ? 1 : d->design->target_scale;
    d->names = cr_scratch_bytes(s, path->n_terms, sizeof *d->names);
    for (size_t j = 0; d->names && j < path->n_terms; j++) {
        const char *name = cr_design_term_name(d->design, (size_t)path->terms[j]);
        d->names[j] =
            path->others
                ? cri_compose(s, "%s \u2014 %s",
                              cr_design_term_name(d->design, (size_t)path->others[j]), name)
                : cri_compose(s, "%s", name);
    }
    return s->status;
}

static cr_status open_path(cr_scratch *s, const cr_model *m, const cr_table *opt_t, drawn *d)
{
    cr_status st = CR_OK;
    *d = (drawn){ .path = cri_model_path(m),
                  .design = cr_model_get_design(m),
                  .unit = 1,
                  .model = cr_class_name(cr_model_get_class(m)) };
    if (d->path.n_lambdas > 0)
        CR_TRY(open_kept(s, d));
    else if (opt_t)
        CR_TRY(cri_refit_path(s, m, opt_t, &d->path, &d->names));
    if (d->path.n_lambdas == 0) {
        cr_fail(s->cx, CR_EUNSUPPORTED, "the model %s has no path%s", d->model,
                opt_t ? ": it has no penalty lambda" : " without data");
        if (cri_model_has_prices(m))
            CR_TRY(cr_fail_hint(s->cx, "fit it with --path 0.01,0.1,1,10,100"));
        CR_TRY(cr_fail_hint(
            s->cx, opt_t ? "use lasso, ridge or logistic; --kind residuals shows how any model fits"
                         : "give the data: ridge and logistic are fitted to them along a path; a "
                           "lasso has its own"));
    }
    d->x = cr_scratch_f64(s, d->path.n_lambdas);
    CR_TRY(s->status);
    for (size_t k = 0; k < d->path.n_lambdas; k++)
        d->x[k] = d->path.lambda[k] > 0 ? log(d->path.lambda[k]) : NAN;
done:
    return st;
}

static cr_status set_texts(cr_scratch *s, const drawn *d, cri_chart *chart)
{
    const cri_coefficient_path *path = &d->path;
    const char                 *what = path->others ? "Partial correlations" : "Coefficients";
    chart->title = path->others ? cri_compose(s, "%s: path of the partial correlations", d->model)
                                : cri_compose(s, "%s: path of the coefficients of %s", d->model,
                                              cr_design_target(d->design));
    chart->caption[0] =
        path->others ? cri_compose(s, "Chosen: lambda %.4g with %.0f edges.",
                                   path->lambda[path->chosen], path->nonzero[path->chosen])
        : path->terms
            ? cri_compose(s, "Chosen: lambda %.4g with %.0f of %zu terms.",
                          path->lambda[path->chosen], path->nonzero[path->chosen],
                          cr_design_terms(d->design))
            : cri_compose(s, "Each penalty is a separate fit; the line is at lambda %.4g.",
                          path->lambda[path->chosen]);
    if (path->folds)
        chart->caption[1] = cri_compose(s,
                                        "Cross-validation: smallest error at lambda %.4g; within "
                                        "one standard error of it up to %.4g.",
                                        path->lambda[path->least], path->lambda[path->one_se]);
    chart->description = cri_compose(s, "%s. %s against log lambda.", chart->title, what);
    return s->status;
}

cr_status cri_chart_path(cr_scratch *s, const cr_model *m, const cr_table *opt_t, cri_chart *chart)
{
    cr_status st = CR_OK;
    drawn     d;
    if (cri_model_prices(m).n > 0) return cri_chart_prices(s, m, chart);
    CR_TRY(open_path(s, m, opt_t, &d));
    double *size = cr_scratch_f64(s, d.path.n_terms);
    CR_TRY(s->status);
    *chart = (cri_chart){ .x = { "log lambda", 0, 0, CR_REAL },
                          .y = { d.path.others ? "partial correlation"
                                 : d.path.terms && d.design->standardised
                                     ? "coefficient of the standardised column"
                                     : "coefficient",
                                 0, 0, CR_REAL } };
    pick_terms(&d, size);
    CR_TRY(add_others(s, &d, size, chart));
    CR_TRY(add_named(s, &d, chart));
    cri_chart_fit_axes(chart);
    CR_TRY(add_mark(s, &d, d.path.chosen, d.path.terms ? "chosen" : "lambda", false, '|', chart));
    if (d.path.folds && d.path.one_se != d.path.chosen)
        CR_TRY(add_mark(s, &d, d.path.one_se, "one standard error", true, ':', chart));
    else if (d.path.folds && d.path.least != d.path.chosen)
        CR_TRY(add_mark(s, &d, d.path.least, "least error", true, ':', chart));
    set_top(&d, chart);
    CR_TRY(set_texts(s, &d, chart));
done:
    return st;
}
