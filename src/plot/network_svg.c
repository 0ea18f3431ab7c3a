/* network_svg.c -- a network in SVG: nodes with bars, arcs as curves between the layers. */
#include "chart.h"
#include "layered.h"
#include "network_view.h"
#include "svg.h"

#include <math.h>
#include <string.h>

enum { MANY = 120 }; /* variables, from which on nodes are small */

#define NUMBERS CRI_SVG_NUMBERS
#define EDGE_INK "#66727f"
#define BORDER "#b4bfca"
#define HEAD "#eef2f6"
#define TRACK "#edf0f3"
#define QUIET "#5c6670"
#define KNOWN CRI_SVG_ORANGE
#define KNOWN_HEAD "#fdf1d8"
#define KNOWN_INK "#8a5a00"
#define DONE CRI_SVG_VERMILLION
#define DONE_HEAD "#fbe6d8"
#define DONE_INK "#9a3f00"

static const double EDGE = 20, TOP = 78;
static const double NAME_FONT = 12.5, STATE_FONT = 11, SMALL_FONT = 10, BADGE_FONT = 9.5;
static const double HEAD_HEIGHT = 23, ROW = 17, PAD = 9, BAR = 58, PERCENT = 42;
static const double CURVE = 30;         /* the height of a density */
static const double ARROW = 7, DOT = 9; /* of an arrow; of the square of a table */

typedef struct sheet {
    const cri_network_view *v;
    cri_svg                 svg;
    cri_box                *box;  /* [v->n] */
    cri_link               *link; /* [v->m] */
    bool                    small;
} sheet;

/* How a node looks, by what is known of it. */
typedef struct look {
    const char *border, *head, *bar, *badge, *badge_ink;
    double      line;
} look;

static look look_of(const cri_view_node *node)
{
    static const char *const words[] = { [CR_FINDING_STATE] = "observed",
                                         [CR_FINDING_SET] = "a set",
                                         [CR_FINDING_VIRTUAL] = "virtual",
                                         [CR_FINDING_SOFT] = "soft",
                                         [CR_FINDING_DO] = "do" };
    if (!node->known) return (look){ BORDER, HEAD, CRI_SVG_BLUE, NULL, QUIET, 1 };
    if (node->known->kind == CR_FINDING_DO)
        return (look){ DONE, DONE_HEAD, DONE, words[CR_FINDING_DO], DONE_INK, 2 };
    return (look){ KNOWN, KNOWN_HEAD, KNOWN, words[node->known->kind], KNOWN_INK, 2 };
}

/* --- sizes ----------------------------------------------------------------------------------- */

static double text_width(const char *text, double font)
{
    return cri_svg_width(text, strlen(text), font);
}

static double state_width(const cri_view_node *node)
{
    double widest = 0;
    for (size_t k = 0; k < node->rows; k++)
        widest = fmax(widest, text_width(node->row[k].state, STATE_FONT));
    return fmin(84, widest);
}

static void measure(const sheet *h, size_t i)
{
    const cri_view_node *node = &h->v->node[i];
    const char          *badge = look_of(node).badge;
    cri_box             *b = &h->box[i];
    double name = 1.08 * text_width(node->name, NAME_FONT) + 2 * PAD; /* semi-bold is wider */
    if (badge) name += text_width(badge, BADGE_FONT) + 8;
    if (node->variable == CR_NONE) {
        b->width = b->height = DOT;
    } else if (h->small || !h->v->bars) {
        b->width = fmax(64, fmin(170, name));
        b->height = h->v->bars ? HEAD_HEIGHT + 11 : HEAD_HEIGHT + 3;
    } else if (h->v->gaussian) {
        b->width = fmax(110, fmax(fmin(200, name), 2 * PAD + text_width(node->text, STATE_FONT)));
        b->height = HEAD_HEIGHT + ROW + CURVE + 6;
    } else {
        b->width = fmax(fmin(200, name), 2 * PAD + state_width(node) + 7 + BAR + PERCENT);
        b->height = HEAD_HEIGHT + (double)node->rows * ROW + 7;
    }
}

/* --- nodes ----------------------------------------------------------------------------------- */

/* A rounded bar; nothing for one that could not be seen. */
static void draw_bar(cri_svg *s, double x, double y, double width, double height,
                     const char *colour)
{
    if (!(width > 0.2)) return;
    cri_svg_put(s, "<rect x='@' y='@' width='@' height='@' rx='@' fill='",
                NUMBERS(x, y, width, height, fmin(2, width / 2)));
    cri_svg_put(s, colour, NULL);
    cri_svg_put(s, "'/>\n", NULL);
}

static void draw_row(cri_svg *s, const cri_view_row *row, const look *l, double x, double y,
                     double width, double states)
{
    char   percent[16];
    double bar_x = x + PAD + states + 7, bar = width - 2 * PAD - states - 7 - PERCENT;
    cri_svg_label(s,
                  row->observed ? "x='@' y='@' font-size='@' font-weight='600'"
                                : "x='@' y='@' font-size='@'",
                  NUMBERS(x + PAD, y + 12, STATE_FONT), row->state, states + 1, STATE_FONT);
    draw_bar(s, bar_x, y + 4, bar, 9, TRACK);
    draw_bar(s, bar_x, y + 4, bar * row->p, 9, l->bar);
    cri_view_percent(row->p, percent);
    cri_svg_label(s, "x='@' y='@' font-size='@' text-anchor='end' fill='" QUIET "'",
                  NUMBERS(x + width - PAD, y + 12, SMALL_FONT), percent, PERCENT, SMALL_FONT);
}

/* A density as an area, `peak` of the height; axis: the values at its ends. */
static void draw_density(cri_svg *s, double mean, double sd, double peak, const double *axis,
                         double x, double y, double width, const char *fill)
{
    enum { STEPS = 48 };
    cri_svg_put(s, "<path d='M@ @", NUMBERS(x, y + CURVE));
    for (int k = 0; k <= STEPS; k++) {
        double at = (double)k / STEPS, z = (axis[0] + at * (axis[1] - axis[0]) - mean) / sd;
        cri_svg_put(s, "L@ @",
                    NUMBERS(x + at * width, y + CURVE - peak * (CURVE - 3) * exp(-z * z / 2)));
    }
    cri_svg_put(s, "L@ @Z' ", NUMBERS(x + width, y + CURVE));
    cri_svg_put(s, fill, NULL);
    cri_svg_put(s, "/>\n", NULL);
}

/* Mean and standard deviation, and the density over that without evidence; a value that is known is
 * a line. */
static void draw_normal(cri_svg *s, const cri_view_node *node, const look *l, double x, double y,
                        double width)
{
    double wide = fmax(node->before_sd, node->sd), from = x + PAD, inner = width - 2 * PAD;
    double axis[2] = { fmin(node->before, node->mean) - 3 * wide,
                       fmax(node->before, node->mean) + 3 * wide };
    double least =
        fmin(node->sd > 0 ? node->sd : wide, node->before_sd > 0 ? node->before_sd : wide);
    double far = fabs(node->mean - node->before) + fabs(node->sd - node->before_sd);
    y += ROW;
    cri_svg_label(s, "x='@' y='@' font-size='@'", NUMBERS(from, y - 5, STATE_FONT), node->text,
                  inner, STATE_FONT);
    cri_svg_put(s, "<path stroke='" TRACK "' d='M@ @H@'/>\n",
                NUMBERS(from, y + CURVE, from + inner));
    if (!(wide > 0) || !isfinite(axis[1] - axis[0])) return;
    if (far > 1e-9 * wide && node->before_sd > 0)
        draw_density(s, node->before, node->before_sd, fmax(0.25, least / node->before_sd), axis,
                     from, y, inner, "fill='#d5dbe1'");
    if (node->sd > 0)
        draw_density(s, node->mean, node->sd, fmax(0.25, least / node->sd), axis, from, y, inner,
                     "fill='" CRI_SVG_BLUE "' fill-opacity='0.75'");
    if (node->sd > 0) return;
    cri_svg_put(
        s, "<path stroke-width='2.2' d='M@ @V@' stroke='",
        NUMBERS(from + inner * (node->mean - axis[0]) / (axis[1] - axis[0]), y + 3, y + CURVE));
    cri_svg_put(s, l->bar, NULL);
    cri_svg_put(s, "'/>\n", NULL);
}

/* One bar in parts, lighter from state to state. */
static void draw_parts(cri_svg *s, const cri_view_node *node, const look *l, double x, double y,
                       double width)
{
    double at = x;
    draw_bar(s, x, y, width, 6, TRACK);
    for (size_t k = 0; k < node->rows; k++) {
        double part = width * node->row[k].p;
        if (part > 0.2) {
            cri_svg_put(s, "<rect x='@' y='@' width='@' height='6' fill-opacity='@' fill='",
                        NUMBERS(at, y, part,
                                fmax(0.12, 1 - 0.6 * (double)k / fmax(1, (double)node->rows - 1))));
            cri_svg_put(s, l->bar, NULL);
            cri_svg_put(s, "'/>\n", NULL);
        }
        at += part;
    }
}

/* What a screen reader, or a browser under the pointer, tells of a node. */
static void draw_hint(cri_svg *s, const cri_view_node *node, bool bars)
{
    char percent[24];
    cri_svg_put(s, "<title>", NULL);
    cri_svg_escape(s, node->name);
    if (node->text) {
        cri_svg_put(s, ": ", NULL);
        cri_svg_escape(s, node->text);
    }
    for (size_t k = 0; bars && k < node->rows; k++) {
        cri_svg_put(s, k ? ", " : ": ", NULL);
        cri_svg_escape(s, node->row[k].state);
        percent[0] = ' ';
        cri_view_percent(node->row[k].p, percent + 1);
        cri_svg_escape(s, percent);
    }
    cri_svg_put(s, "</title>\n", NULL);
}

static void draw_frame(cri_svg *s, const look *l, double x, double y, double w, double h,
                       double head)
{
    cri_svg_put(s,
                "<rect x='@' y='@' width='@' height='@' rx='7' fill='#ffffff'/>\n"
                "<path d='M@ @v@a7 7 0 0 1 7 -7h@a7 7 0 0 1 7 7v@z' fill='",
                NUMBERS(x, y, w, h, x, y + head, -(head - 7), w - 14, head - 7));
    cri_svg_put(s, l->head, NULL);
    cri_svg_put(
        s,
        "'/>\n<rect x='@' y='@' width='@' height='@' rx='7' fill='none' stroke-width='@' stroke='",
        NUMBERS(x, y, w, h, l->line));
    cri_svg_put(s, l->border, NULL);
    cri_svg_put(s, "'/>\n", NULL);
}

static void draw_node(sheet *h, size_t i)
{
    const cri_view_node *node = &h->v->node[i];
    const cri_box       *b = &h->box[i];
    cri_svg             *s = &h->svg;
    look                 l = look_of(node);
    double               x = b->x - b->width / 2, y = b->y - b->height / 2, badge = 0;
    double               states = state_width(node);
    if (node->variable == CR_NONE) {
        cri_svg_put(s, "<rect x='@' y='@' width='@' height='@' fill='" EDGE_INK "'/>\n",
                    NUMBERS(x, y, b->width, b->height));
        return;
    }
    cri_svg_put(s, "<g>\n", NULL);
    draw_hint(s, node, h->v->bars);
    draw_frame(s, &l, x, y, b->width, b->height, h->small || !h->v->bars ? b->height : HEAD_HEIGHT);
    if (l.badge) {
        badge = text_width(l.badge, BADGE_FONT) + 8;
        cri_svg_put(s, "<g fill='", NULL);
        cri_svg_put(s, l.badge_ink, NULL);
        cri_svg_put(s, "'>\n", NULL);
        cri_svg_label(s, "x='@' y='@' font-size='@' text-anchor='end'",
                      NUMBERS(x + b->width - PAD, y + 15.5, BADGE_FONT), l.badge, INFINITY,
                      BADGE_FONT);
        cri_svg_put(s, "</g>\n", NULL);
    }
    cri_svg_label(s, "x='@' y='@' font-size='@' font-weight='600'",
                  NUMBERS(x + PAD, y + 16, NAME_FONT), node->name,
                  (b->width - 2 * PAD - badge) / 1.08 + 1, NAME_FONT);
    if (h->v->gaussian && !h->small) draw_normal(s, node, &l, x, y + HEAD_HEIGHT + 1, b->width);
    if (h->small && h->v->bars && !h->v->gaussian)
        draw_parts(s, node, &l, x + PAD, y + HEAD_HEIGHT, b->width - 2 * PAD);
    for (size_t k = 0; !h->small && h->v->bars && k < node->rows; k++)
        draw_row(s, &node->row[k], &l, x, y + HEAD_HEIGHT + 3 + (double)k * ROW, b->width, states);
    cri_svg_put(s, "</g>\n", NULL);
}

/* --- arcs ------------------------------------------------------------------------------------ */

static void draw_arc(sheet *h, size_t i)
{
    const cri_link     *l = &h->link[i];
    cri_svg            *s = &h->svg;
    const cri_view_arc *a = &h->v->arc[i];
    bool                tip = h->v->directed && !a->cut && !a->open;
    double              end = l->y[l->n - 1] - (tip ? ARROW : 0);
    if (a->cut)
        cri_svg_put(s, "<path stroke-dasharray='3 4' stroke-opacity='0.55'", NULL);
    else if (a->strength < 0.995)
        cri_svg_put(s, "<path stroke-opacity='@'", NUMBERS(0.2 + 0.8 * a->strength));
    else
        cri_svg_put(s, "<path", NULL);
    cri_svg_put(s, " d='M@ @", NUMBERS(l->x[0], l->y[0]));
    for (size_t k = 1; k < l->n; k++) {
        double y = k + 1 == l->n ? end : l->y[k], middle = (l->y[k - 1] + y) / 2;
        if (fabs(l->x[k] - l->x[k - 1]) < 0.01)
            cri_svg_put(s, "V@", NUMBERS(y));
        else
            cri_svg_put(s, "C@ @ @ @ @ @",
                        NUMBERS(l->x[k - 1], middle, l->x[k], middle, l->x[k], y));
    }
    cri_svg_put(s, "'/>\n", NULL);
    if (tip)
        cri_svg_put(s, "<path fill='" EDGE_INK "' stroke='none' d='M@ @l@ @l@ 1.6l@ -1.6z'/>\n",
                    NUMBERS(l->x[l->n - 1], l->y[l->n - 1], -3.4, -ARROW - 1.6, 3.4, 3.4));
}

/* The weight, over the middle of the way on a ground of the sheet's colour. */
static void draw_label(sheet *h, size_t i)
{
    const cri_link *l = &h->link[i];
    const char     *text = h->v->arc[i].label;
    size_t          k = (l->n - 1) / 2;
    if (!text || h->small) return;
    double x = (l->x[k] + l->x[k + 1]) / 2, y = (l->y[k] + l->y[k + 1]) / 2;
    double wide = text_width(text, SMALL_FONT) + 5;
    cri_svg_put(&h->svg, "<rect x='@' y='@' width='@' height='13' fill='#ffffff'/>\n",
                NUMBERS(x - wide / 2, y - 7, wide));
    cri_svg_label(&h->svg, "x='@' y='@' font-size='@' text-anchor='middle' fill='" QUIET "'",
                  NUMBERS(x, y + 3, SMALL_FONT), text, INFINITY, SMALL_FONT);
}

/* --- the sheet ------------------------------------------------------------------------------- */

static const char *describe(cr_scratch *s, const cri_network_view *v)
{
    size_t n = cr_network_size(v->net),
           m = v->directed || v->gaussian ? v->m : cr_network_tables(v->net);
    const char *text = cri_compose(s, "%zu variable%s, %zu %s%s", n, n == 1 ? "" : "s", m,
                                   v->directed   ? "arc"
                                   : v->gaussian ? "edge"
                                                 : "table",
                                   m == 1 ? "" : "s");
    bool        open = false;
    for (size_t i = 0; i < v->m; i++) open |= v->arc[i].open;
    if (open) text = cri_compose(s, "%s \u00b7 lines: data cannot tell the way", text);
    if (v->known.n > 0) text = cri_compose(s, "%s \u00b7 given %s", text, cri_view_known(s, v));
    if (v->gaussian && isfinite(v->log_evidence) && v->known.n > 0)
        return cri_compose(s, "%s \u00b7 log density of e = %.4g", text, v->log_evidence);
    if (v->known.n > 0 && v->directed && isfinite(v->log_evidence))
        text = v->log_evidence > -600
                   ? cri_compose(s, "%s \u00b7 P(e) = %.4g", text, exp(v->log_evidence))
                   : cri_compose(s, "%s \u00b7 log P(e) = %.6g", text, v->log_evidence);
    if (v->bars && !v->exact) text = cri_compose(s, "%s \u00b7 approximate", text);
    return text;
}

static cr_status lay_out(cr_scratch *s, sheet *h, double *width, double *height)
{
    const cri_network_view *v = h->v;
    cri_spacing spacing = { h->small || !v->bars ? 18 : 26, h->small ? 34 : 42, 0.06, 1.6 };
    h->box = cr_scratch_bytes(s, v->n, sizeof *h->box);
    h->link = cr_scratch_bytes(s, v->m, sizeof *h->link);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < v->n; i++) measure(h, i);
    for (size_t i = 0; i < v->m; i++)
        h->link[i] = (cri_link){ .from = v->arc[i].from, .to = v->arc[i].to };
    return cri_layered_place(s, v->n, h->box, v->m, h->link, &spacing, width, height);
}

/* To its place on the sheet. */
static void move_all(sheet *h, double dx, double dy)
{
    for (size_t i = 0; i < h->v->n; i++) h->box[i].x += dx, h->box[i].y += dy;
    for (size_t i = 0; i < h->v->m; i++)
        for (size_t k = 0; k < h->link[i].n; k++) h->link[i].x[k] += dx, h->link[i].y[k] += dy;
}

static cr_status draw_sheet(cr_scratch *s, const cri_network_view *v, const char *title,
                            const char *path)
{
    cr_status   st = CR_OK;
    cr_ctx     *cx = s->cx;
    sheet       h = { .v = v, .svg = { .cx = cx }, .small = v->n > MANY };
    double      width, height;
    const char *below;
    CR_TRY(lay_out(s, &h, &width, &height));
    below = describe(s, v);
    CR_TRY(s->status);
    double whole = fmax(360, fmax(width, fmin(680, text_width(below, 12))) + 2 * EDGE);
    move_all(&h, (whole - width) / 2, TOP);
    h.svg = cri_svg_sheet(cx, whole, TOP + height + EDGE, title, below);
    cri_svg_label(&h.svg, "x='@' y='@' font-size='12' fill='" QUIET "'", NUMBERS(EDGE, 53), below,
                  whole - 2 * EDGE, 12);
    cri_svg_put(&h.svg, "<g fill='none' stroke='" EDGE_INK "' stroke-width='1.3'>\n", NULL);
    for (size_t i = 0; i < v->m; i++) draw_arc(&h, i);
    cri_svg_put(&h.svg, "</g>\n", NULL);
    for (size_t i = 0; i < v->m; i++) draw_label(&h, i);
    for (size_t i = 0; i < v->n; i++) draw_node(&h, i);
    CR_TRY(cri_svg_save(&h.svg, path));
done:
    cri_svg_end(&h.svg);
    return st;
}

cr_status cri_plot_any(cr_ctx *cx, cri_any_network any, const cr_network_plot *opt_p,
                       const char *path)
{
    cr_scratch       s = cr_scratch_begin(cx);
    cri_network_view v = { 0 };
    const char      *title = opt_p && opt_p->title ? opt_p->title : any.methods->name(any.net);
    cr_status        st = cri_view_open(&s, any, opt_p, &v);
    if (st == CR_OK) st = draw_sheet(&s, &v, title, path);
    cri_view_close(cx, &v);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_plot_network(cr_ctx *cx, const cr_network *net, const cr_network_plot *opt_p,
                          const char *path)
{
    return cri_plot_any(cx, (cri_any_network){ .methods = &cri_states_methods, .net = net }, opt_p,
                        path);
}

cr_status cr_plot_gaussian(cr_ctx *cx, const cr_gaussian_network *net, const cr_network_plot *opt_p,
                           const char *path)
{
    return cri_plot_any(cx, (cri_any_network){ .methods = &cri_gaussian_methods, .net = net },
                        opt_p, path);
}
