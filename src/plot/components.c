/* components.c -- the parts that a model's function is a sum of, each in a panel of its own. */
#include "process.h"
#include "grid.h"
#include "math/special/special.h"
#include "models/core/parts.h"

#include <math.h>
#include <string.h>

enum { LEAST_GRID = 200, MOST_GRID = 1500, MOST_LEVELS = 30 };

static const double WIDTH = 720, PANEL = 132;

/* --- data ------------------------------------------------------------------------------------ */

/* Over numbers, or at the levels of a category: x = 0, 1, ... */
typedef struct curve {
    size_t  n;
    double *x, *mean, *sd, *lower, *upper;
} curve;

static void reserve(cr_scratch *s, size_t n, curve *c)
{
    double **arrays[] = { &c->x, &c->mean, &c->sd, &c->lower, &c->upper };
    c->n = n;
    for (size_t i = 0; i < 5; i++) *arrays[i] = cr_scratch_f64(s, n);
}

/* The levels of a category that can be drawn beside each other; 0 when there are too many. */
static size_t levels_of(const cr_table *t, const char *column)
{
    const cr_column *c = cr_table_find(t, column);
    return c && c->n_levels <= MOST_LEVELS ? c->n_levels : 0;
}

/* Three points between neighbours of the data, so that no season falls through. */
static size_t grid_size(const cr_table *t, double low, double high, double data_low,
                        double data_high)
{
    double n = 3 * (double)cr_table_rows(t) * (high - low) / fmax(data_high - data_low, 1e-300);
    return n <= LEAST_GRID ? LEAST_GRID : n >= MOST_GRID ? MOST_GRID : (size_t)n;
}

/* Where a part is predicted: places along its column, or all levels of it. */
static cr_status lay_out(cr_scratch *s, const cr_table *t, const cr_part *part,
                         const double *opt_range, curve *c, cr_table **grid)
{
    cr_status st = CR_OK;
    double    low, high;

    if (part->category) {
        reserve(s, levels_of(t, part->column), c);
        CR_TRY(s->status);
        for (size_t i = 0; i < c->n; i++) c->x[i] = (double)i;
        return cri_grid_levels(s->cx, t, part->column, grid);
    }
    CR_TRY(cri_grid_range(s->cx, t, part->column, NULL, &low, &high));
    double from = opt_range ? opt_range[0] : low, to = opt_range ? opt_range[1] : high;
    reserve(s, grid_size(t, from, to, low, high), c);
    CR_TRY(s->status);
    for (size_t i = 0; i < c->n; i++) {
        double at = (double)i / (double)(c->n - 1);
        c->x[i] = (1 - at) * from + at * to;
    }
    CR_TRY(cri_grid_table(s->cx, t, c->n, &part->column, &(const double *){ c->x }, 1, grid));
done:
    return st;
}

static cr_status predict_part(cr_scratch *s, const cr_model *m, const cr_table *t, size_t k,
                              const cr_part *part, const cr_plot_options *o, bool only, curve *c)
{
    cr_status st = CR_OK;
    cr_table *grid = NULL;
    double    z = cr_norm_ppf(0.5 + 0.5 * o->level);

    CR_TRY(lay_out(s, t, part, only ? o->range : NULL, c, &grid));
    CR_TRY(cr_predict_part(s->cx, m, grid, k, c->mean, c->sd));
    for (size_t i = 0; i < c->n; i++) {
        c->lower[i] = c->mean[i] - z * c->sd[i];
        c->upper[i] = c->mean[i] + z * c->sd[i];
    }
done:
    cr_table_free(s->cx, grid);
    return st;
}

static cri_chart chart_of(cr_scratch *s, const cr_part *part, const cr_table *t, const char *target,
                          const char *percent, const curve *c)
{
    bool           points = part->category;
    const char    *interval = cri_compose(s, "%s %% interval", percent);
    cri_svg_series band = { interval, CRI_SVG_BAND, CRI_SVG_SKY, 0.35, 0, false };
    cri_svg_series line = { "posterior mean", CRI_SVG_LINE, CRI_SVG_BLUE, 1, 1.75, false };
    cri_svg_series bars = { interval, CRI_SVG_BARS, CRI_SVG_SKY, 1, 2.5, false };
    cri_svg_series dots = { "posterior mean", CRI_SVG_POINTS, CRI_SVG_BLUE, 1, 4, false };
    cri_chart      chart = { .title = cri_compose(s, "%s", part->name),
                             .description = "",
                             .x = { .title = part->column,
                                    .type = cri_grid_type(NULL, t, part->column) },
                             .y = { .title = target } };
    cri_chart_add(&chart, points ? bars : band, ':', c->x, c->lower, c->upper, c->n);
    cri_chart_add(&chart, points ? dots : line, '*', c->x, c->mean, NULL, c->n);
    cri_chart_fit_axes(&chart);
    chart.x.low = c->x[0] - (points ? 0.5 : 0);
    chart.x.high = c->x[c->n - 1] + (points ? 0.5 : 0);
    if (points) chart.levels = cr_table_find(t, part->column)->levels, chart.n_levels = c->n;
    return chart;
}

/* A part that does not look at the column it was drawn over. */
static bool is_flat(const curve *c)
{
    double low = c->mean[0], high = low;
    for (size_t i = 1; i < c->n; i++) low = fmin(low, c->mean[i]), high = fmax(high, c->mean[i]);
    return !(high - low > 1e-12 * fmax(fabs(low), fabs(high)));
}

static cr_status fail_none(cr_ctx *cx, const cr_model *m, const char *over)
{
    const char *name = NULL;
    if (over)
        return cr_fail(cx, CR_EUNSUPPORTED, "no part of the model depends on the column '%s'",
                       over);
    cr_fail(cx, CR_EUNSUPPORTED,
            "no part of the model depends on a single column of numbers or of at most %d levels",
            MOST_LEVELS);
    if (cri_grid_numbers(m, &name, 1) == 0) return CR_EUNSUPPORTED;
    return cr_fail_hint(
        cx, "--over %s draws the parts over that column, with the others held fixed", name);
}

/* What a part is that looks at no column. */
static cr_status predict_constant(cr_ctx *cx, const cr_model *m, const cr_table *t, size_t k,
                                  double *out)
{
    cr_status st = CR_OK;
    cr_table *one = NULL;
    double    sd;
    CR_TRY(cri_grid_table(cx, t, 1, NULL, NULL, 0, &one));
    CR_TRY(cr_predict_part(cx, m, one, k, out, &sd));
done:
    cr_table_free(cx, one);
    return st;
}

cr_status cri_parts_new(cr_scratch *s, const cr_model *m, const cr_table *t,
                        const cr_plot_options *o, cri_parts *out)
{
    cr_status   st = CR_OK;
    cri_parts   p = { .shared = true, .constant = NAN };
    const char *target = cr_design_target(cr_model_get_design(m)), *first = NULL;
    size_t      left_out = 0;
    bool        constant = false; /* of the mean function: told of, not drawn */
    char        percent[CRI_SVG_LABEL];
    const char *over = o->n_over ? o->over[0] : NULL;
    bool        only = over || cr_design_columns(cr_model_get_design(m)) == 1;

    if (!cr_model_shows(m, "parts")) {
        cr_fail(s->cx, CR_EUNSUPPORTED, "the model %s is not a sum of parts that could be drawn",
                cr_class_name(cr_model_get_class(m)));
        CR_TRY(cr_fail_hint(s->cx,
                            "a Gaussian process is: credence fit gp --kernel 'rbf + periodic'"));
    }
    if (over) CR_TRY(cri_grid_over(s->cx, m, o, 1));
    cri_svg_decimal(llround(1e6 * o->level), -4, percent);
    for (size_t k = 0;; k++) {
        cr_part part;
        curve   c;
        CR_TRY(cr_check_interrupt(s->cx));
        CR_TRY(cr_model_part(s->cx, m, k, &part));
        if (!part.name[0]) break;
        bool level = strcmp(part.name, "mean function: constant") == 0;
        constant |= level;
        if (level) CR_TRY(predict_constant(s->cx, m, t, k, &p.constant));
        if (over && !level && !part.column)
            part.column = over; /* of several columns: a cut along one */
        bool drawn = part.column && (!part.category || levels_of(t, part.column) > 0);
        if (!drawn || p.n == CRI_MOST_PARTS || (over && strcmp(part.column, over) != 0)) {
            left_out += !level;
            continue;
        }
        if (!first) first = part.column;
        p.shared = p.shared && strcmp(first, part.column) == 0;
        CR_TRY(predict_part(s, m, t, k, &part, o, only, &c));
        if (over && is_flat(&c)) {
            left_out++;
            continue;
        }
        p.chart[p.n++] = chart_of(s, &part, t, target, percent, &c);
    }
    if (p.n == 0) CR_TRY(fail_none(s->cx, m, over));
    p.title = cri_compose(s, "%s: the parts of %s", cr_class_name(cr_model_get_class(m)), target);
    p.caption[0] = constant ? "The posterior of each term; their sum and the constant of the mean "
                              "function make up the prediction."
                            : "The posterior of each term; their sum is the prediction.";
    if (over)
        CR_TRY(cri_grid_held(s, m, t, &over, 1, &p.caption[1]));
    else if (left_out)
        p.caption[1] =
            cri_compose(s, "Not shown: %zu part%s of several columns, or for lack of space.",
                        left_out, left_out == 1 ? "" : "s");
    p.description = cri_compose(s, "%s. %s", p.title, p.caption[0]);
    CR_TRY(s->status);
    *out = p;
done:
    return st;
}

/* --- SVG and text ---------------------------------------------------------------------------- */

cr_status cri_parts_svg(cr_ctx *cx, const cri_parts *p, const char *path)
{
    cr_status st = CR_OK;
    double    top, height, extra = 34 * (double)(p->shared ? 1 : p->n);
    size_t    named = 0; /* the first over numbers, if any, names the lines */
    while (named + 1 < p->n && p->chart[named].levels) named++;
    if (p->chart[named].levels) named = 0;
    cri_svg_series legend[CRI_CHART_SERIES];
    size_t         lines = p->chart[named].n;
    for (size_t k = 0; k < lines; k++) legend[k] = p->chart[named].series[lines - 1 - k].look;
    cri_svg_page page = { .width = WIDTH,
                          .height = 110 + PANEL * (double)p->n + extra,
                          .title = p->title,
                          .description = p->description,
                          .series = legend,
                          .n_series = lines,
                          .caption = { p->caption[0], p->caption[1] } };
    cri_svg      svg = cri_svg_page_begin(cx, &page);

    cri_svg_page_area(&page, &top, &height);
    double each = (height - extra) / (double)p->n;
    for (size_t k = 0; k < p->n; k++) {
        const cri_chart *c = &p->chart[k];
        bool             bare = p->shared && k + 1 < p->n;
        double           tall = each + (bare ? 0 : 34);
        cri_svg_panel_begin(&svg, &(cri_svg_panel){ .x = 10,
                                                    .y = top,
                                                    .width = WIDTH - 20,
                                                    .height = tall,
                                                    .title = c->title,
                                                    .across = c->x,
                                                    .up = c->y,
                                                    .bare = bare,
                                                    .few = true,
                                                    .levels = c->levels,
                                                    .n_levels = c->n_levels });
        for (size_t i = 0; i < c->n; i++) cri_chart_mark(&svg, &c->series[i]);
        cri_svg_panel_end(&svg);
        top += tall;
    }
    CR_TRY(cri_svg_page_save(&svg, path));
done:
    cri_svg_end(&svg);
    return st;
}

/* The levels of a category, one a line: posterior mean and interval. */
static cr_status list_levels(cr_scratch *s, const cri_chart *c, const char **out)
{
    const char *text = cri_compose(s, "%s\n\n", c->title);
    size_t      widest = 0;
    for (size_t i = 0; i < c->n_levels; i++)
        if (strlen(c->levels[i]) > widest) widest = strlen(c->levels[i]);
    for (size_t i = 0; i < c->n_levels; i++) {
        text = cri_compose(s, "%s  %-*s", text, (int)widest, c->levels[i]);
        for (size_t k = c->n; k-- > 0;) {
            const cri_chart_series *k_th = &c->series[k];
            text = k_th->upper
                       ? cri_compose(s, "%s  %.4g to %.4g", text, k_th->y[i], k_th->upper[i])
                       : cri_compose(s, "%s %10.4g", text, k_th->y[i]);
        }
        text = cri_compose(s, "%s\n", text);
    }
    text = cri_compose(s, "%s\n  %s: ", text, c->x.title);
    for (size_t k = c->n; k-- > 0;)
        text = cri_compose(s, "%s%s%s", text, c->series[k].look.label, k ? ", " : "");
    *out = cri_compose(s, "%s of %s\n", text, c->y.title);
    return s->status;
}

cr_status cri_parts_text(cr_scratch *s, const cri_parts *p, size_t width, size_t height,
                         const char **out)
{
    const char *all = cri_compose(s, "%s\n", p->title);
    for (size_t k = 0; k < p->n; k++) {
        const char *one = NULL;
        cr_status   st = p->chart[k].levels ? list_levels(s, &p->chart[k], &one)
                                            : cri_chart_text(s, &p->chart[k], width, height, &one);
        if (st != CR_OK) return st;
        all = cri_compose(s, "%s\n%s", all, one);
    }
    all = cri_compose(s, "%s\n%s\n", all, p->caption[0]);
    if (p->caption[1]) all = cri_compose(s, "%s%s\n", all, p->caption[1]);
    *out = all;
    return s->status;
}
