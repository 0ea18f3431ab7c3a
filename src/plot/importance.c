/* importance.c -- the figure of permutation importances: horizontal bars, so that names can be read. */
#include "importance.h"
#include "study/importance.h"

#include <math.h>
#include <string.h>

enum { MOST_BARS = 30, REPEATS = 10 };

/* --- the numbers ----------------------------------------------------------------------------- */

static void say_how(cr_scratch *s, const cr_importance *i, size_t shown, cri_chart *c)
{
    c->caption[0] = cri_compose(
        s,
        "How much worse %s becomes when a column is permuted, %zu times; bars: one standard error.",
        i->metric, i->repeats);
    if (shown < i->n)
        c->caption[1] = cri_compose(s, "The %zu largest of %zu columns.", shown, i->n);
    else
        c->caption[1] = "Columns that carry the same information share their importance.";
}

cr_status cri_chart_importance(cr_scratch *s, const cr_model *m, const cr_table *t,
                               const cr_plot_options *o, cri_chart *out)
{
    cr_status        st = CR_OK;
    cr_importance    i = { 0 };
    const cr_design *d = cr_model_get_design(m);
    size_t           repeats = o->repeats ? o->repeats : REPEATS;
    cri_chart        c = { 0 };

    CR_TRY(cr_permutation_importance(s->cx, m, t, o->over, o->n_over, repeats, &i));
    size_t       n = i.n < MOST_BARS ? i.n : MOST_BARS;
    const char **names = cr_scratch_bytes(s, n, sizeof *names);
    double      *x = cr_scratch_f64(s, n), *value = cr_scratch_f64(s, n);
    double      *lower = cr_scratch_f64(s, n), *upper = cr_scratch_f64(s, n);
    CR_TRY(s->status);
    for (size_t k = 0; k < n; k++) {
        double se = isnan(i.se[k]) ? 0 : i.se[k];
        names[k] = cri_compose(s, "%s", cr_design_column_name(d, i.column[k]));
        x[k] = (double)k, value[k] = i.value[k];
        lower[k] = value[k] - se, upper[k] = value[k] + se;
    }
    c.levels = names, c.n_levels = n;
    cri_chart_add(
        &c, (cri_svg_series){ "one standard error", CRI_SVG_BARS, CRI_SVG_BLACK, 1, 1.5, false },
        '-', x, lower, upper, n);
    cri_chart_add(&c, (cri_svg_series){ "importance", CRI_SVG_POINTS, CRI_SVG_BLUE, 1, 3, false },
                  '#', x, value, NULL, n);
    c.x.title = "column";
    c.y.title = cri_compose(s, "change of %s", i.metric);
    c.title = cri_compose(s, "%s: importance of columns (%zu rows)",
                          cr_class_name(cr_model_get_class(m)), cr_table_rows(t));
    say_how(s, &i, n, &c);
    c.description = cri_compose(s, "%s. %s", c.title, c.caption[0]);
    CR_TRY(s->status);
    *out = c;
done:
    cr_importance_free(s->cx, &i);
    return st;
}

/* --- SVG ------------------------------------------------------------------------------------- */

/* Where things are, in pixels. */
typedef struct layout {
    double names, left, width, top, line; /* of names and bars; the height of one line */
    double low, high;                     /* the axis */
} layout;

static double across(const layout *l, double x)
{
    return l->left + (x - l->low) / (l->high - l->low) * l->width;
}

static layout lay_out(const cri_chart *c, double width)
{
    const cri_chart_series *error = &c->series[0];
    layout                  l = { .top = 56, .line = 24 };
    double                  widest = 40;
    for (size_t k = 0; k < c->n_levels; k++) {
        widest = fmax(widest, cri_svg_width(c->levels[k], strlen(c->levels[k]), 13));
        l.low = fmin(l.low, error->y[k]), l.high = fmax(l.high, error->upper[k]);
    }
    cri_svg_range(&l.low, &l.high);
    l.high += 0.04 * (l.high - l.low);
    l.names = fmin(widest, 220);
    l.left = 20 + l.names + 10;
    l.width = width - l.left - 24;
    return l;
}

static void draw_axis(cri_svg *svg, const cri_chart *c, const layout *l)
{
    cri_svg_tick ticks[CRI_SVG_MOST_TICKS];
    double       bottom = l->top + l->line * (double)c->n_levels + 4;
    size_t       n = cri_svg_ticks(l->low, l->high, 7, ticks);
    cri_svg_raw(svg, "<g font-size='12' text-anchor='middle'>\n");
    for (size_t i = 0; i < n; i++) {
        double x = across(l, ticks[i].value);
        cri_svg_put(svg, "<path d='M@ @V@' stroke='#DDDDDD'/>\n",
                    CRI_SVG_NUMBERS(x, l->top - 4, bottom));
        cri_svg_label(svg, "x='@' y='@'", CRI_SVG_NUMBERS(x, bottom + 17), ticks[i].label, 80, 12);
    }
    cri_svg_label(svg, "x='@' y='@' font-size='13'",
                  CRI_SVG_NUMBERS(l->left + l->width / 2, bottom + 38), c->y.title, l->width, 13);
    cri_svg_raw(svg, "</g>\n");
}

static void draw_bar(cri_svg *svg, const cri_chart *c, const layout *l, size_t k)
{
    const cri_chart_series *error = &c->series[0];
    double                  middle = l->top + l->line * ((double)k + 0.5), zero = across(l, 0);
    double                  x = across(l, c->series[1].y[k]), tall = l->line - 8;
    cri_svg_label(svg, "x='@' y='@' font-size='13' text-anchor='end'",
                  CRI_SVG_NUMBERS(l->left - 10, middle + 4.5), c->levels[k], l->names, 13);
    cri_svg_put(svg, "<rect x='@' y='@' width='@' height='@' fill='" CRI_SVG_SKY "'/>\n",
                CRI_SVG_NUMBERS(fmin(zero, x), middle - tall / 2, fabs(x - zero), tall));
    cri_svg_put(svg, "<path d='M@ @H@' stroke='" CRI_SVG_BLACK "' stroke-width='1.5'/>\n",
                CRI_SVG_NUMBERS(across(l, error->y[k]), middle, across(l, error->upper[k])));
}

cr_status cri_importance_svg(cr_ctx *cx, const cri_chart *c, const char *path)
{
    cr_status st = CR_OK;
    double    width = 720;
    layout    l = lay_out(c, width);
    double    bottom = l.top + l.line * (double)c->n_levels;
    double    lines = (double)cri_svg_caption_lines(c->caption, width - 40, 12);
    cri_svg   svg = cri_svg_sheet(cx, width, bottom + 60 + 18 * lines, c->title, c->description);
    draw_axis(&svg, c, &l);
    for (size_t k = 0; k < c->n_levels; k++) draw_bar(&svg, c, &l, k);
    cri_svg_put(&svg, "<path d='M@ @V@' stroke='" CRI_SVG_BLACK "'/>\n",
                CRI_SVG_NUMBERS(across(&l, 0), l.top - 4, bottom + 4));
    cri_svg_raw(&svg, "<g font-size='12' fill='#555555'>\n");
    cri_svg_captions(&svg, c->caption, 20, bottom + 66, 18, width - 40, 12);
    cri_svg_raw(&svg, "</g>\n");
    CR_TRY(cri_svg_save(&svg, path));
done:
    cri_svg_end(&svg);
    return st;
}

/* --- text ------------------------------------------------------------------------------------ */

cr_status cri_importance_text(cr_scratch *s, const cri_chart *c, size_t width, const char **out)
{
    const char *text = cri_compose(s, "%s\n\n", c->title);
    size_t      widest = 0;
    double      largest = 0;
    for (size_t k = 0; k < c->n_levels; k++) {
        if (strlen(c->levels[k]) > widest) widest = strlen(c->levels[k]);
        largest = fmax(largest, c->series[1].y[k]);
    }
    if (widest > 30) widest = 30;
    for (size_t k = 0; k < c->n_levels; k++) {
        char   bar[128] = "";
        double value = c->series[1].y[k], se = c->series[0].upper[k] - value;
        double length = largest > 0 ? round(value / largest * fmin((double)width - 30, 60)) : 0;
        for (size_t i = 0; i < sizeof bar - 1 && (double)i < length; i++)
            bar[i] = '#', bar[i + 1] = 0;
        text = cri_compose(s, "%s  %-*.*s %9.4g +- %-8.2g %s\n", text, (int)widest, (int)widest,
                           c->levels[k], value, se, bar);
    }
    text = cri_compose(s, "%s\n%s\n%s\n", text, c->caption[0], c->caption[1]);
    *out = text;
    return s->status;
}
