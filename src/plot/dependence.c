/* dependence.c -- the figure of partial dependence: a panel for each column. */
#include "importance.h"
#include "study/dependence.h"
#include "data/table/date.h"
#include "study/importance.h"

#include <math.h>
#include <string.h>

enum { MOST_PANELS = 6, MOST_CLASSES = 6 };

static const char glyphs[MOST_CLASSES] = { '*', 'o', '+', 'x', '#', '@' };

/* The columns that are asked for, or the most important ones. */
static cr_status choose_columns(cr_scratch *s, const cr_model *m, const cr_table *t,
                                const cr_plot_options *o, const char **names, size_t *out_n)
{
    cr_status        st = CR_OK;
    const cr_design *d = cr_model_get_design(m);
    cr_importance    i = { 0 };
    *out_n = o->n_over;
    if (o->n_over > CRI_MOST_PARTS)
        CR_TRY(cr_fail(s->cx, CR_EARG, "--over: a figure has at most %d columns",
                       (int)CRI_MOST_PARTS));
    for (size_t k = 0; k < o->n_over; k++) names[k] = o->over[k];
    if (o->n_over > 0) goto done;
    *out_n = cr_design_columns(d) < MOST_PANELS ? cr_design_columns(d) : MOST_PANELS;
    if (cr_design_columns(d) > MOST_PANELS)
        CR_TRY(cr_permutation_importance(s->cx, m, t, NULL, 0, 1, &i));
    for (size_t k = 0; k < *out_n; k++)
        names[k] = cri_compose(s, "%s", cr_design_column_name(d, i.n ? i.column[k] : k));
    CR_TRY(s->status);
done:
    cr_importance_free(s->cx, &i);
    return st;
}

static double *copy(cr_scratch *s, const double *x, size_t n)
{
    double *to = cr_scratch_f64(s, n);
    if (to && n > 0) memcpy(to, x, n * sizeof *to);
    return to;
}

/* What the levels of a category are called. */
static void name_levels(cr_scratch *s, const cr_column *c, const cr_dependence *d, cri_chart *chart)
{
    const char **levels = cr_scratch_bytes(s, d->n, sizeof *levels);
    for (size_t i = 0; levels && i < d->n; i++)
        levels[i] = cri_compose(s, "%s", c->levels[(size_t)d->x[i]]);
    chart->levels = levels, chart->n_levels = d->n;
}

static cr_status draw_column(cr_scratch *s, const cr_model *m, const cr_table *t, const char *name,
                             cri_chart *chart)
{
    cr_status        st = CR_OK;
    cr_dependence    d = { 0 };
    const cr_design *design = cr_model_get_design(m);
    const char      *target = cr_design_target(design);
    bool             classes = cr_model_get_task(m) == CR_TASK_CLASSIFICATION;
    const cr_column *c = cr_table_find(t, name);
    CR_TRY(cr_partial_dependence(s->cx, m, t, name, &d));
    bool    category = c->type == CR_CATEGORY;
    double *x = copy(s, d.x, d.n), *lower = copy(s, d.lower, d.n * d.curves);
    double *upper = copy(s, d.upper, d.n * d.curves), *mean = copy(s, d.mean, d.n * d.curves);
    double *lower_band = copy(s, d.band_lower, d.n), *upper_band = copy(s, d.band_upper, d.n);
    CR_TRY(s->status);
    *chart = (cri_chart){ .title = name, .x = { .title = name, .type = c->type } };
    for (size_t i = 0; category && i < d.n; i++) x[i] = (double)i;
    if (d.curves == 1)
        cri_chart_add(chart,
                      (cri_svg_series){ "10 % to 90 % of the rows",
                                        category ? CRI_SVG_BARS : CRI_SVG_BAND, CRI_SVG_SKY,
                                        category ? 1 : 0.28, category ? 2 : 0, false },
                      ':', x, lower, upper, d.n);
    if (d.curves == 1 && !isnan(lower_band[0]))
        cri_chart_add(chart,
                      (cri_svg_series){ "95 % interval of the mean curve",
                                        category ? CRI_SVG_BARS : CRI_SVG_BAND, CRI_SVG_BLUE,
                                        category ? 1 : 0.4, category ? 4 : 0, false },
                      '=', x, lower_band, upper_band, d.n);
    size_t shown = d.curves < MOST_CLASSES ? d.curves : MOST_CLASSES;
    for (size_t k = shown; k-- > 0;) /* the legend turns the order round */
        cri_chart_add(chart,
                      (cri_svg_series){ d.curves == 1
                                            ? "mean over the rows"
                                            : cri_compose(s, "P(%s)", cr_design_class(design, k)),
                                        category ? CRI_SVG_POINTS : CRI_SVG_LINE,
                                        cri_svg_class_colour(k), 1, category ? 3.5 : 2, false },
                      glyphs[k], x, mean + k * d.n, NULL, d.n);
    if (!cri_is_date(c->type)) chart->x.type = CR_REAL;
    cri_chart_fit_axes(chart);
    if (category) name_levels(s, c, &d, chart);
    if (category) chart->x.low = -0.5, chart->x.high = (double)d.n - 0.5;
    chart->y.title = !classes       ? cri_compose(s, "%s", target)
                     : d.curves > 1 ? "probability"
                                    : cri_compose(s, "P(%s)", cr_design_class(design, 1));
    CR_TRY(s->status);
done:
    cr_dependence_free(s->cx, &d);
    return st;
}

/* The same scale in all panels, so that large effects look larger than small ones. */
static void share_scale(cri_parts *p)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < p->n; k++)
        low = fmin(low, p->chart[k].y.low), high = fmax(high, p->chart[k].y.high);
    for (size_t k = 0; k < p->n; k++) p->chart[k].y.low = low, p->chart[k].y.high = high;
}

cr_status cri_dependence_new(cr_scratch *s, const cr_model *m, const cr_table *t,
                             const cr_plot_options *o, cri_parts *out)
{
    cr_status   st = CR_OK;
    const char *names[CRI_MOST_PARTS];
    cri_parts   p = { .constant = NAN };
    size_t      all = cr_design_columns(cr_model_get_design(m));
    CR_TRY(choose_columns(s, m, t, o, names, &p.n));
    for (size_t k = 0; k < p.n; k++) CR_TRY(draw_column(s, m, t, names[k], &p.chart[k]));
    share_scale(&p);
    p.title = cri_compose(s, "%s: partial dependence of %s (%zu rows)",
                          cr_class_name(cr_model_get_class(m)),
                          cr_design_target(cr_model_get_design(m)), cr_table_rows(t));
    p.caption[0] = "One column is varied; the others keep their values in each row.";
    if (!o->n_over && p.n < all)
        p.caption[1] = cri_compose(
            s, "The %zu most important of %zu columns; --over chooses others.", p.n, all);
    p.description = cri_compose(s, "%s. %s", p.title, p.caption[0]);
    CR_TRY(s->status);
    *out = p;
done:
    return st;
}
