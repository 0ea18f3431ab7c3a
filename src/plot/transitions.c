/* transitions.c -- how states follow each other: circles on a ring, as large as the share of the rows in them where the
 * model says it, and an arrow for each transition, as wide as its probability.  What a model says of itself is read:
 * its parameters A[from,to], so that every class with these names is drawn. */
#include "sequences.h"
#include "chart.h"
#include "models/core/describe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_STATES = 16, NAME = 512 };

static const double WIDTH = 720, HEIGHT = 560, TOP = 60, RADIUS = 26;
static const double LEAST = 0.01; /* probabilities below it are not drawn */

cr_status cri_transitions_open(cr_scratch *s, const cr_model *model, cri_transitions *out)
{
    cr_status  st = CR_OK;
    cri_sheet *description = NULL;
    const cr_model_class *class = cr_model_get_class(model);
    cri_transitions t = { .model = cr_class_name(class) };
    size_t          found = 0;

    t.names = cr_class_offers(class, "sequences") ? cr_model_labels(model, &t.k) : NULL;
    t.A = cr_scratch_matrix(s, t.k, t.k);
    CR_TRY(s->status);
    CR_TRY(cri_model_describe(s->cx, model, &description));
    for (size_t i = 0; i < t.k * t.k; i++) t.A[i] = NAN;
    const cri_sheet *row = cri_sheet_first(cri_sheet_get(description, "parameters"));
    for (; row && t.names; row = cri_sheet_next(row)) {
        const char *name = cri_sheet_text(cri_sheet_get(row, "name"));
        char        expected[NAME];
        if (!name || strncmp(name, "A[", 2) != 0 || found == t.k * t.k) continue;
        snprintf(expected, sizeof expected, "A[%s,%s]", t.names[found / t.k], t.names[found % t.k]);
        if (strcmp(name, expected) != 0) continue; /* they come in this order */
        t.A[found++] = cri_sheet_real(cri_sheet_get(row, "value"));
    }
    if (found == 0 || found < t.k * t.k) {
        cr_fail(s->cx, CR_EUNSUPPORTED,
                "the model %s has no transitions between states that could be drawn", t.model);
        CR_TRY(cr_fail_hint(s->cx, "a hidden Markov model has: credence fit hmm"));
    }
    *out = t;
done:
    cri_sheet_free(description);
    return st;
}

/* --- SVG -------------------------------------------------------------------------------------- */

typedef struct point {
    double x, y;
} point;

/* State i of k on the ring; two lie side by side, one in the middle. */
static point place(size_t i, size_t k)
{
    double angle = 2 * M_PI * (double)i / (double)k - (k == 2 ? M_PI : M_PI / 2);
    double reach = k == 1 ? 0 : 0.36 * (HEIGHT - TOP);
    return (point){ WIDTH / 2 + reach * cos(angle) * (k == 2 ? 0.9 : 1.25),
                    TOP + (HEIGHT - TOP) / 2 + reach * sin(angle) };
}

static void draw_head(cri_svg *svg, point tip, double dx, double dy, double size,
                      const char *colour)
{
    cri_svg_put(svg, "<path d='M@ @L@ @L@ @Z' fill='",
                CRI_SVG_NUMBERS(tip.x, tip.y, tip.x - size * dx + 0.5 * size * dy,
                                tip.y - size * dy - 0.5 * size * dx,
                                tip.x - size * dx - 0.5 * size * dy,
                                tip.y - size * dy + 0.5 * size * dx));
    cri_svg_raw(svg, colour);
    cri_svg_raw(svg, "'/>\n");
}

static void draw_percent(cri_svg *svg, double x, double y, double p)
{
    char text[16];
    snprintf(text, sizeof text, p < 0.1 ? "%.3f" : "%.2f", p);
    cri_svg_label(svg,
                  "x='@' y='@' font-size='@' text-anchor='middle' fill='#333333' stroke='#ffffff' "
                  "stroke-width='3' paint-order='stroke'",
                  CRI_SVG_NUMBERS(x, y + 4, 11), text, 60, 11);
}

/* An arrow that bends to its left, so that the one back has its own way. */
static void draw_arrow(cri_svg *svg, point a, point b, double p, const char *colour)
{
    double dx = b.x - a.x, dy = b.y - a.y, length = hypot(dx, dy), wide = 1 + 5 * p;
    double bend = 0.18 * length, head = 6 + 1.6 * wide;
    point  middle = { (a.x + b.x) / 2 + bend * dy / length, (a.y + b.y) / 2 - bend * dx / length };
    double ux = b.x - middle.x, uy = b.y - middle.y, u = hypot(ux, uy);
    double vx = middle.x - a.x, vy = middle.y - a.y, v = hypot(vx, vy);
    point  tip = { b.x - (RADIUS + 2) * ux / u, b.y - (RADIUS + 2) * uy / u };
    point  from = { a.x + RADIUS * vx / v, a.y + RADIUS * vy / v };
    point  end = { tip.x - 0.8 * head * ux / u, tip.y - 0.8 * head * uy / u };
    cri_svg_put(svg, "<path d='M@ @Q@ @ @ @' fill='none' stroke-width='@' stroke='",
                CRI_SVG_NUMBERS(from.x, from.y, middle.x, middle.y, end.x, end.y, wide));
    cri_svg_raw(svg, colour);
    cri_svg_raw(svg, "' stroke-opacity='0.75'/>\n");
    draw_head(svg, tip, ux / u, uy / u, head, colour);
    draw_percent(svg, 0.25 * from.x + 0.5 * middle.x + 0.25 * end.x,
                 0.25 * from.y + 0.5 * middle.y + 0.25 * end.y, p);
}

/* The loop of a state to itself, on the side away from the middle of the ring. */
static void draw_loop(cri_svg *svg, point a, double p, size_t k, const char *colour)
{
    double cx = WIDTH / 2, cy = TOP + (HEIGHT - TOP) / 2;
    double dx = a.x - cx, dy = a.y - cy, length = hypot(dx, dy), wide = 1 + 5 * p;
    if (k == 1) dx = 0, dy = -1, length = 1;
    dx /= length, dy /= length;
    double out = RADIUS + 46, side = 26, head = 6 + 1.6 * wide;
    point  from = { a.x + RADIUS * (0.8 * dx - 0.6 * dy), a.y + RADIUS * (0.8 * dy + 0.6 * dx) };
    point  tip = { a.x + (RADIUS + 2) * (0.8 * dx + 0.6 * dy),
                   a.y + (RADIUS + 2) * (0.8 * dy - 0.6 * dx) };
    point  one = { a.x + out * dx - side * dy, a.y + out * dy + side * dx };
    point  two = { a.x + out * dx + side * dy, a.y + out * dy - side * dx };
    double ux = tip.x - two.x, uy = tip.y - two.y, u = hypot(ux, uy);
    point  end = { tip.x - 0.8 * head * ux / u, tip.y - 0.8 * head * uy / u };
    cri_svg_put(svg, "<path d='M@ @C@ @ @ @ @ @' fill='none' stroke-width='@' stroke='",
                CRI_SVG_NUMBERS(from.x, from.y, one.x, one.y, two.x, two.y, end.x, end.y, wide));
    cri_svg_raw(svg, colour);
    cri_svg_raw(svg, "' stroke-opacity='0.75'/>\n");
    draw_head(svg, tip, ux / u, uy / u, head, colour);
    draw_percent(svg, a.x + (RADIUS + 42) * dx, a.y + (RADIUS + 42) * dy, p);
}

cr_status cri_transitions_svg(cr_ctx *cx, const cri_transitions *t, const char *path)
{
    cr_status st = CR_OK;
    char      title[NAME], about[NAME];
    cri_svg   svg = { 0 };
    size_t    hidden = 0;
    if (t->k > MOST_STATES) {
        cr_fail(cx, CR_EUNSUPPORTED, "%zu states are too many for a graph of their transitions",
                t->k);
        CR_TRY(cr_fail_hint(cx, "credence describe lists them all"));
    }
    for (size_t i = 0; i < t->k * t->k; i++) hidden += t->A[i] < LEAST && t->A[i] > 0;
    snprintf(title, sizeof title, "%s: transitions between %zu states", t->model, t->k);
    snprintf(about, sizeof about, "Arrows are as wide as the probability of the next state%s",
             hidden ? "; those below 0.01 are left out." : ".");
    svg = cri_svg_sheet(cx, WIDTH, HEIGHT + 40, title, about);
    for (size_t i = 0; i < t->k; i++)
        for (size_t j = 0; j < t->k; j++) {
            double p = t->A[i * t->k + j];
            if (!(p >= LEAST)) continue;
            if (i == j)
                draw_loop(&svg, place(i, t->k), p, t->k, cri_svg_class_colour(i));
            else
                draw_arrow(&svg, place(i, t->k), place(j, t->k), p, cri_svg_class_colour(i));
        }
    for (size_t i = 0; i < t->k; i++) {
        point a = place(i, t->k);
        cri_svg_put(&svg, "<circle cx='@' cy='@' r='@' fill='#ffffff' stroke-width='3' stroke='",
                    CRI_SVG_NUMBERS(a.x, a.y, RADIUS));
        cri_svg_raw(&svg, cri_svg_class_colour(i));
        cri_svg_raw(&svg, "'/>\n");
        cri_svg_label(&svg, "x='@' y='@' font-size='@' text-anchor='middle' font-weight='600'",
                      CRI_SVG_NUMBERS(a.x, a.y + 5, 13), t->names[i], 2 * RADIUS - 8, 13);
    }
    cri_svg_label(&svg, "x='@' y='@' font-size='@' fill='#555555'",
                  CRI_SVG_NUMBERS(20, HEIGHT + 24, 11), about, WIDTH - 40, 11);
    CR_TRY(cri_svg_save(&svg, path));
done:
    cri_svg_end(&svg);
    return st;
}

/* --- text and points -------------------------------------------------------------------------- */

cr_status cri_transitions_text(cr_scratch *s, const cri_transitions *t, const char **out)
{
    const char *text =
        cri_compose(s, "%s: transitions between %zu states\n\n%12s", t->model, t->k, "from \\ to");
    for (size_t j = 0; j < t->k; j++) text = cri_compose(s, "%s %9.9s", text, t->names[j]);
    for (size_t i = 0; i < t->k; i++) {
        text = cri_compose(s, "%s\n%12.12s", text, t->names[i]);
        for (size_t j = 0; j < t->k; j++)
            text = cri_compose(s, "%s %9.4f", text, t->A[i * t->k + j]);
    }
    *out = cri_compose(s, "%s\n", text);
    return s->status;
}

/* A chart for each state, of bars over the next ones. */
void cri_transitions_put(cr_scratch *s, const cri_transitions *t, cri_sheet *to)
{
    cri_chart *charts = cr_scratch_bytes(s, t->k, sizeof *charts);
    double    *place_of = cr_scratch_f64(s, t->k), *zero = cr_scratch_f64(s, t->k);
    if (s->status != CR_OK) return;
    for (size_t j = 0; j < t->k; j++) place_of[j] = (double)j, zero[j] = 0;
    for (size_t i = 0; i < t->k; i++) {
        charts[i] = (cri_chart){ .title = t->names[i],
                                 .x = { "next state", 0, (double)t->k, CR_REAL },
                                 .y = { "probability", 0, 1, CR_REAL },
                                 .levels = t->names,
                                 .n_levels = t->k };
        cri_chart_add(&charts[i],
                      (cri_svg_series){ "probability", CRI_SVG_BARS, CRI_SVG_BLUE, 1, 1, false },
                      '#', place_of, zero, t->A + i * t->k, t->k);
    }
    cri_charts_put(cri_compose(s, "%s: transitions between %zu states", t->model, t->k), NAN,
                   charts, t->k, to);
}
