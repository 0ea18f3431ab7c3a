/* loadings.c -- how the columns make up the coordinates: signed bars with intervals, a panel for each coordinate. */
#include "latent.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

enum { MOST_AXES = 4, MOST_TERMS = 30 };

static const double WIDTH = 720, TOP = 74, LINE = 22;

/* --- the numbers ----------------------------------------------------------------------------- */

/* The largest loading of a term on the coordinates that are shown. */
static double largest(const cri_axes *a, size_t axes, size_t term)
{
    double most = 0;
    for (size_t j = 0; j < axes; j++) most = fmax(most, fabs(a->loading[j * a->p + term]));
    return most;
}

/* All terms in their order, or those with the largest loadings, these first. */
static size_t choose_terms(const cri_axes *a, size_t axes, size_t *chosen)
{
    size_t n = 0;
    for (size_t i = 0; i < a->p && a->p <= MOST_TERMS; i++) chosen[n++] = i;
    for (size_t i = 0; i < a->p && a->p > MOST_TERMS; i++) {
        size_t k = n < MOST_TERMS ? n++ : MOST_TERMS;
        for (; k > 0 && largest(a, axes, i) > largest(a, axes, chosen[k - 1]); k--)
            if (k < MOST_TERMS) chosen[k] = chosen[k - 1];
        if (k < MOST_TERMS) chosen[k] = i;
    }
    return n;
}

static cr_status chart_axis(cr_scratch *s, const cri_axes *a, size_t j, const size_t *chosen,
                            size_t n, const char **names, double z, const char *interval,
                            cri_chart *out)
{
    cr_status st = CR_OK;
    double   *x = cr_scratch_f64(s, n), *value = cr_scratch_f64(s, n);
    double   *lower = cr_scratch_f64(s, n), *upper = cr_scratch_f64(s, n);
    cri_chart c = { .title = isnan(a->share[j])
                                 ? a->names[j]
                                 : cri_compose(s, "%s (%.0f %%)", a->names[j], 100 * a->share[j]),
                    .x = { .title = "column" },
                    .y = { .title = cri_compose(s, "loading on %s", a->names[j]) },
                    .levels = names,
                    .n_levels = n };
    CR_TRY(s->status);
    for (size_t i = 0; i < n; i++) {
        double sd = a->loading_sd[j * a->p + chosen[i]];
        x[i] = (double)i, value[i] = a->loading[j * a->p + chosen[i]];
        lower[i] = value[i] - z * sd, upper[i] = value[i] + z * sd;
    }
    cri_chart_add(&c, (cri_svg_series){ interval, CRI_SVG_BARS, CRI_SVG_BLACK, 1, 1.5, false }, '-',
                  x, lower, upper, n);
    cri_chart_add(&c, (cri_svg_series){ "loading", CRI_SVG_POINTS, CRI_SVG_BLUE, 1, 3, false }, '#',
                  x, value, NULL, n);
    *out = c;
done:
    return st;
}

cr_status cri_loadings_new(cr_scratch *s, const cr_model *model, double level, cri_parts *out)
{
    cr_status    st = CR_OK;
    cri_axes     a;
    cri_parts    p = { .shared = true, .constant = NAN };
    size_t       chosen[MOST_TERMS];
    const char **names = cr_scratch_bytes(s, MOST_TERMS, sizeof *names);
    char         percent[CRI_SVG_LABEL];
    bool         known = false;

    CR_TRY(s->status);
    CR_TRY(cri_axes_open(s, model, &a));
    if (!a.has_loadings) {
        cr_fail(s->cx, CR_EUNSUPPORTED, "the model %s has no loadings to draw", a.model);
        CR_TRY(cr_fail_hint(s->cx, "linear coordinates have them: credence fit pca"));
    }
    size_t axes = a.q < MOST_AXES ? a.q : MOST_AXES, n = choose_terms(&a, axes, chosen);
    for (size_t i = 0; i < n; i++) names[i] = a.terms[chosen[i]];
    for (size_t i = 0; i < axes * a.p; i++) known |= !isnan(a.loading_sd[i]);
    cri_svg_decimal(llround(1e6 * level), -4, percent);
    const char *interval = cri_compose(s, "%s %% interval", percent);
    for (; p.n < axes; p.n++)
        CR_TRY(chart_axis(s, &a, p.n, chosen, n, names, cr_norm_ppf(0.5 + level / 2), interval,
                          &p.chart[p.n]));
    p.title = axes < a.q ? cri_compose(s, "%s: loadings of the first %zu of %zu coordinates",
                                       a.model, axes, a.q)
                         : cri_compose(s, "%s: loadings of %zu coordinate%s", a.model, axes,
                                       axes == 1 ? "" : "s");
    p.caption[0] = known ? cri_compose(s, "With %s %% intervals of the loadings.", percent)
                         : "The loadings have no intervals.";
    if (n < a.p)
        p.caption[1] = cri_compose(s, "The %zu columns with the largest loadings, of %zu.", n, a.p);
    p.description = cri_compose(s, "%s. %s", p.title, p.caption[0]);
    CR_TRY(s->status);
    *out = p;
done:
    return st;
}

/* --- SVG ------------------------------------------------------------------------------------- */

/* Where things are, in pixels. */
typedef struct layout {
    double names, left, each, width; /* of the names; of a panel with its gap and without */
    double low, high, bottom;        /* the axis, the same for all                        */
} layout;

static layout lay_out(const cri_parts *p)
{
    const cri_chart *c = &p->chart[0];
    layout           l = { .bottom = TOP + LINE * (double)c->n_levels };
    double           widest = 40;
    for (size_t i = 0; i < c->n_levels; i++)
        widest = fmax(widest, cri_svg_width(c->levels[i], strlen(c->levels[i]), 13));
    for (size_t j = 0; j < p->n; j++)
        for (size_t i = 0; i < c->n_levels; i++) {
            const cri_chart_series *of = p->chart[j].series;
            l.low = fmin(l.low, fmin(of[0].y[i], of[1].y[i]));
            l.high = fmax(l.high, fmax(of[0].upper[i], of[1].y[i]));
        }
    cri_svg_range(&l.low, &l.high);
    double more = 0.05 * (l.high - l.low);
    l.low -= l.low < 0 ? more : 0, l.high += l.high > 0 ? more : 0;
    l.names = fmin(widest + 1, 200);
    l.left = 20 + l.names + 12;
    l.each = (WIDTH - l.left - 4) / (double)p->n;
    l.width = l.each - 20;
    return l;
}

static double across(const layout *l, size_t panel, double x)
{
    return l->left + l->each * (double)panel + (x - l->low) / (l->high - l->low) * l->width;
}

static void draw_axis(cri_svg *svg, const cri_parts *p, const layout *l, size_t j)
{
    cri_svg_tick ticks[CRI_SVG_MOST_TICKS];
    size_t       most = (size_t)fmax(2, fmin(7, l->width / 38));
    size_t       n = cri_svg_ticks(l->low, l->high, most, ticks);
    double       from = across(l, j, l->low);
    cri_svg_label(svg, "x='@' y='@' font-size='13' font-weight='600'",
                  CRI_SVG_NUMBERS(from, TOP - 14), p->chart[j].title, l->width, 13);
    cri_svg_raw(svg, "<g font-size='11.5' text-anchor='middle' fill='#595959'>\n");
    for (size_t i = 0; i < n; i++) {
        double x = across(l, j, ticks[i].value);
        cri_svg_put(svg, "<path d='M@ @V@' stroke='#e6e6e6'/>\n",
                    CRI_SVG_NUMBERS(x, TOP - 4, l->bottom + 4));
        cri_svg_label(svg, "x='@' y='@'", CRI_SVG_NUMBERS(x, l->bottom + 20), ticks[i].label, 60,
                      11.5);
    }
    cri_svg_raw(svg, "</g>\n");
    cri_svg_put(svg, "<path d='M@ @V@' stroke='#595959'/>\n",
                CRI_SVG_NUMBERS(across(l, j, 0), TOP - 4, l->bottom + 4));
}

static void draw_bars(cri_svg *svg, const cri_chart *c, const layout *l, size_t j)
{
    const cri_chart_series *interval = &c->series[0], *bar = &c->series[1];
    double                  zero = across(l, j, 0), tall = LINE - 8;
    for (size_t i = 0; i < c->n_levels; i++) {
        double middle = TOP + LINE * ((double)i + 0.5), x = across(l, j, bar->y[i]);
        cri_svg_raw(svg, bar->y[i] < 0 ? "<rect fill='" CRI_SVG_VERMILLION "' "
                                       : "<rect fill='" CRI_SVG_BLUE "' ");
        cri_svg_put(svg, "fill-opacity='0.75' x='@' y='@' width='@' height='@'/>\n",
                    CRI_SVG_NUMBERS(fmin(zero, x), middle - tall / 2, fabs(x - zero), tall));
        if (isnan(interval->y[i])) continue;
        cri_svg_put(svg, "<path d='M@ @H@' stroke='#222222' stroke-width='1.5'/>\n",
                    CRI_SVG_NUMBERS(across(l, j, interval->y[i]), middle,
                                    across(l, j, interval->upper[i])));
    }
}

cr_status cri_loadings_svg(cr_ctx *cx, const cri_parts *p, const char *path)
{
    cr_status        st = CR_OK;
    layout           l = lay_out(p);
    const cri_chart *first = &p->chart[0];
    cri_svg          svg =
        cri_svg_sheet(cx, WIDTH, l.bottom + (p->caption[1] ? 72 : 54), p->title, p->description);
    for (size_t i = 0; i < first->n_levels; i++)
        cri_svg_label(&svg, "x='@' y='@' font-size='13' text-anchor='end'",
                      CRI_SVG_NUMBERS(l.left - 12, TOP + LINE * ((double)i + 0.5) + 4.5),
                      first->levels[i], l.names, 13);
    for (size_t j = 0; j < p->n; j++) {
        draw_axis(&svg, p, &l, j);
        draw_bars(&svg, &p->chart[j], &l, j);
    }
    for (size_t k = 0; k < 2 && p->caption[k]; k++)
        cri_svg_label(&svg, "x='@' y='@' font-size='12' fill='#595959'",
                      CRI_SVG_NUMBERS(20, l.bottom + 44 + 18 * (double)k), p->caption[k],
                      WIDTH - 40, 12);
    CR_TRY(cri_svg_save(&svg, path));
done:
    cri_svg_end(&svg);
    return st;
}

/* --- text ------------------------------------------------------------------------------------ */

/* A bar to the left or right of a line in the middle of `half` letters a side. */
static const char *text_bar(cr_scratch *s, double value, double largest_value, size_t half)
{
    char  *bar = cr_scratch_bytes(s, 2 * half + 2, 1);
    size_t length = (size_t)llround(fabs(value) / largest_value * (double)half), end = half + 1;
    if (!bar) return "";
    memset(bar, ' ', end);
    bar[half] = '|';
    for (size_t i = 0; i < length && i < half; i++) {
        size_t at = value < 0 ? half - 1 - i : end++;
        bar[at] = '#';
    }
    return bar;
}

cr_status cri_loadings_text(cr_scratch *s, const cri_parts *p, size_t width, const char **out)
{
    const char *text = cri_compose(s, "%s\n", p->title);
    size_t      widest = 0;
    double      most = 1e-300;
    for (size_t j = 0; j < p->n; j++)
        for (size_t i = 0; i < p->chart[j].n_levels; i++) {
            size_t length = strlen(p->chart[j].levels[i]);
            if (length > widest) widest = length;
            most = fmax(most, fabs(p->chart[j].series[1].y[i]));
        }
    if (widest > 30) widest = 30;
    size_t half = width > widest + 40 ? (width - widest - 26) / 2 : 8;
    for (size_t j = 0; j < p->n; j++) {
        const cri_chart *c = &p->chart[j];
        text = cri_compose(s, "%s\n%s\n", text, c->title);
        for (size_t i = 0; i < c->n_levels; i++) {
            double value = c->series[1].y[i], up = c->series[0].upper[i] - value;
            text = cri_compose(s, "%s  %-*.*s %8.3f", text, (int)widest, (int)widest, c->levels[i],
                               value);
            text = isnan(up) ? cri_compose(s, "%s %9s", text, "")
                             : cri_compose(s, "%s +- %-6.2g", text, up);
            text = cri_compose(s, "%s %s\n", text, text_bar(s, value, most, half));
        }
    }
    text = cri_compose(s, "%s\n%s\n", text, p->caption[0]);
    if (p->caption[1]) text = cri_compose(s, "%s%s\n", text, p->caption[1]);
    *out = text;
    return s->status;
}
