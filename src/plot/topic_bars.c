/* topic_bars.c -- what topics are about: the probabilities of their top terms as bars with intervals, a panel for each
 * topic, the largest topics first. */
#include "latent.h"
#include "math/special/special.h"
#include "models/core/describe.h"

#include <math.h>
#include <string.h>

enum { MOST_TOPICS = 8, MOST_TERMS = 10, ACROSS = 2 };

static const double WIDTH = 720, TOP = 56, LINE = 20, HEAD = 30, FOOT = 44, NAMES = 110;

bool cri_model_has_topics(const cr_model *model)
{
    const cr_field *f = cr_class_tables(cr_model_get_class(model));
    while (f && f->name && strcmp(f->name, "topics") != 0) f++;
    return f && f->name;
}

/* --- the numbers ------------------------------------------------------------------------------ */

static const char *text_of(cr_scratch *s, const cri_sheet *row, const char *key)
{
    const char *text = cri_sheet_text(cri_sheet_get(row, key));
    return cri_compose(s, "%s", text ? text : "");
}

static double real_of(const cri_sheet *row, const char *key)
{
    return cri_sheet_real(cri_sheet_get(row, key));
}

/* rows [n] = the topics with the largest shares, the largest first; returns how many there are in all. */
static size_t choose_topics(const cri_sheet *summary, const cri_sheet **rows, size_t *n)
{
    size_t all = 0;
    *n = 0;
    for (const cri_sheet *row = cri_sheet_first(summary); row; row = cri_sheet_next(row), all++) {
        size_t k = *n;
        for (; k > 0 && real_of(row, "share") > real_of(rows[k - 1], "share"); k--)
            if (k < MOST_TOPICS) rows[k] = rows[k - 1];
        if (k < MOST_TOPICS) rows[k] = row;
        *n += *n < MOST_TOPICS;
    }
    return all;
}

static cr_status chart_topic(cr_scratch *s, const cri_sheet *topic, const cri_sheet *terms,
                             double z, const char *interval, cri_chart *out)
{
    const char  *name = text_of(s, topic, "topic");
    const char **levels = cr_scratch_bytes(s, MOST_TERMS, sizeof *levels);
    double      *x = cr_scratch_f64(s, MOST_TERMS), *value = cr_scratch_f64(s, MOST_TERMS);
    double      *lower = cr_scratch_f64(s, MOST_TERMS), *upper = cr_scratch_f64(s, MOST_TERMS);
    size_t       n = 0;
    if (s->status != CR_OK) return s->status;
    for (const cri_sheet *row = cri_sheet_first(terms); row && n < MOST_TERMS;
         row = cri_sheet_next(row)) {
        const char *of = cri_sheet_text(cri_sheet_get(row, "topic"));
        if (!of || strcmp(of, name) != 0) continue;
        double p = real_of(row, "probability"), sd = real_of(row, "sd");
        levels[n] = text_of(s, row, "term");
        x[n] = (double)n, value[n] = p;
        lower[n] = fmax(p - z * sd, 0), upper[n] = fmin(p + z * sd, 1);
        n++;
    }
    *out =
        (cri_chart){ .title = cri_compose(s, "%s (%.0f %%)", name, 100 * real_of(topic, "share")),
                     .x = { .title = "term" },
                     .y = { .title = cri_compose(s, "probability in %s", name) },
                     .levels = levels,
                     .n_levels = n };
    cri_chart_add(out, (cri_svg_series){ interval, CRI_SVG_BARS, CRI_SVG_BLACK, 1, 1.5, false },
                  '-', x, lower, upper, n);
    cri_chart_add(out, (cri_svg_series){ "probability", CRI_SVG_POINTS, CRI_SVG_BLUE, 1, 3, false },
                  '#', x, value, NULL, n);
    return s->status;
}

cr_status cri_topic_bars_new(cr_scratch *s, const cr_model *model, double level, cri_parts *out)
{
    cr_status        st = CR_OK;
    cri_sheet       *said = NULL;
    const cri_sheet *rows[MOST_TOPICS];
    cri_parts        p = { .constant = NAN };
    char             percent[CRI_SVG_LABEL];
    size_t           n;
    CR_TRY(cri_model_describe(s->cx, model, &said));
    size_t all = choose_topics(cri_sheet_get(said, "summary"), rows, &n);
    cri_svg_decimal(llround(1e6 * level), -4, percent);
    const char *interval = cri_compose(s, "%s %% interval", percent);
    for (; p.n < n; p.n++)
        CR_TRY(chart_topic(s, rows[p.n], cri_sheet_get(said, "topics"),
                           cr_norm_ppf(0.5 + level / 2), interval, &p.chart[p.n]));
    const char *name = cr_class_name(cr_model_get_class(model));
    p.title = n < all
                  ? cri_compose(s, "%s: top terms of the largest %zu of %zu topics", name, n, all)
                  : cri_compose(s, "%s: top terms of %zu topic%s", name, n, n == 1 ? "" : "s");
    p.caption[0] =
        cri_compose(s, "With %s %% intervals; beside a topic its share of all tokens.", percent);
    p.description = cri_compose(s, "%s. %s", p.title, p.caption[0]);
    CR_TRY(s->status);
    *out = p;
done:
    cri_sheet_free(said);
    return st;
}

/* --- SVG -------------------------------------------------------------------------------------- */

/* Where panel j begins, and how wide and tall panels are. */
typedef struct layout {
    double left, top, each, tall, width, most;
} layout;

static layout lay_out(const cri_parts *p)
{
    layout l = { .each = WIDTH / ACROSS, .most = 1e-300 };
    size_t lines = 0;
    for (size_t j = 0; j < p->n; j++) {
        const cri_chart *c = &p->chart[j];
        lines = c->n_levels > lines ? c->n_levels : lines;
        for (size_t i = 0; i < c->n_levels; i++) l.most = fmax(l.most, c->series[0].upper[i]);
    }
    l.width = l.each - NAMES - 48;
    l.tall = HEAD + LINE * (double)lines + FOOT;
    return l;
}

static void draw_axis(cri_svg *svg, const layout *l, double from, double top, double bottom)
{
    cri_svg_tick ticks[CRI_SVG_MOST_TICKS];
    size_t       n = cri_svg_ticks(0, l->most, 4, ticks);
    cri_svg_raw(svg, "<g font-size='11.5' text-anchor='middle' fill='#595959'>\n");
    for (size_t i = 0; i < n; i++) {
        double x = from + ticks[i].value / l->most * l->width;
        cri_svg_put(svg, "<path d='M@ @V@' stroke='#e6e6e6'/>\n",
                    CRI_SVG_NUMBERS(x, top, bottom + 4));
        cri_svg_label(svg, "x='@' y='@'", CRI_SVG_NUMBERS(x, bottom + 18), ticks[i].label, 60,
                      11.5);
    }
    cri_svg_raw(svg, "</g>\n");
}

static void draw_topic(cri_svg *svg, const cri_chart *c, const layout *l, size_t j)
{
    size_t row = j / ACROSS;
    double left = 20 + l->each * (double)(j % ACROSS), from = left + NAMES + 10;
    double top = TOP + l->tall * (double)row + HEAD;
    draw_axis(svg, l, from, top, top + LINE * (double)c->n_levels);
    cri_svg_label(svg, "x='@' y='@' font-size='13' font-weight='600'",
                  CRI_SVG_NUMBERS(from, top - 10), c->title, l->width, 13);
    for (size_t i = 0; i < c->n_levels; i++) {
        double middle = top + LINE * ((double)i + 0.5), scale = l->width / l->most;
        cri_svg_label(svg, "x='@' y='@' font-size='13' text-anchor='end'",
                      CRI_SVG_NUMBERS(from - 8, middle + 4.5), c->levels[i], NAMES, 13);
        cri_svg_put(svg,
                    "<rect fill='" CRI_SVG_BLUE
                    "' fill-opacity='0.75' x='@' y='@' width='@' height='@'/>\n",
                    CRI_SVG_NUMBERS(from, middle - 6, c->series[1].y[i] * scale, 12));
        cri_svg_put(svg, "<path d='M@ @H@' stroke='#222222' stroke-width='1.5'/>\n",
                    CRI_SVG_NUMBERS(from + c->series[0].y[i] * scale, middle,
                                    from + c->series[0].upper[i] * scale));
    }
}

cr_status cri_topic_bars_svg(cr_ctx *cx, const cri_parts *p, const char *path)
{
    cr_status st = CR_OK;
    layout    l = lay_out(p);
    size_t    rows = (p->n + ACROSS - 1) / ACROSS;
    double    bottom = TOP + l.tall * (double)rows;
    cri_svg   svg = cri_svg_sheet(cx, WIDTH, bottom + 16, p->title, p->description);
    for (size_t j = 0; j < p->n; j++) draw_topic(&svg, &p->chart[j], &l, j);
    cri_svg_label(&svg, "x='@' y='@' font-size='12' fill='#595959'",
                  CRI_SVG_NUMBERS(20, bottom + 2), p->caption[0], WIDTH - 40, 12);
    CR_TRY(cri_svg_save(&svg, path));
done:
    cri_svg_end(&svg);
    return st;
}
