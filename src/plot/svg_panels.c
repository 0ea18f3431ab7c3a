/* svg_panels.c -- several plot areas on one page; cells of colour, their scale, and contours.
 * Colours: viridis (van der Walt & Smith 2015), even in lightness, told apart by the
 * colour-blind. */
#include "svg.h"
#include "data/table/date.h"

#include <math.h>
#include <stdio.h>

enum { COLOURS = 40, ANCHORS = 9 };

static const double EDGE = 20, TITLE_FONT = 16, TEXT_FONT = 12, LABEL_FONT = 11.5, TICK = 5;

#define GREY "#595959"
#define NUMBERS(...) ((const double[]){ __VA_ARGS__ })

static const double viridis[ANCHORS][3] = {
    { 68, 1, 84 },    { 71, 44, 122 }, { 59, 81, 139 },  { 44, 113, 142 }, { 33, 144, 141 },
    { 39, 173, 129 }, { 92, 200, 99 }, { 170, 220, 50 }, { 253, 231, 37 },
};

static void colour_at(double share, char out[8])
{
    double at = fmin(fmax(share, 0), 1) * (ANCHORS - 1), rgb[3];
    size_t i = at >= ANCHORS - 1 ? ANCHORS - 2 : (size_t)at;
    for (size_t c = 0; c < 3; c++)
        rgb[c] = viridis[i][c] + (at - (double)i) * (viridis[i + 1][c] - viridis[i][c]);
    snprintf(out, 8, "#%02x%02x%02x", (unsigned)rgb[0] & 255, (unsigned)rgb[1] & 255,
             (unsigned)rgb[2] & 255);
}

static void put_colour(cri_svg *s, size_t number)
{
    char colour[8];
    colour_at(((double)number + 0.5) / COLOURS, colour);
    cri_svg_raw(s, colour);
}

/* --- pages ----------------------------------------------------------------------------------- */

void cri_svg_page_area(const cri_svg_page *p, double *out_top, double *out_height)
{
    double lines = (double)cri_svg_caption_lines(p->caption, p->width - 2 * EDGE, LABEL_FONT);
    *out_top = EDGE + TITLE_FONT + (p->n_series ? 34 : 10);
    *out_height = p->height - *out_top - 17 * lines - (lines > 0 ? 18 : 8);
}

cri_svg cri_svg_page_begin(cr_ctx *cx, const cri_svg_page *p)
{
    cri_svg s = { .cx = cx };
    double  lines = (double)cri_svg_caption_lines(p->caption, p->width - 2 * EDGE, LABEL_FONT);
    cri_svg_head(&s, p);
    cri_svg_put(&s, "<g font-size='@' fill='" GREY "'>\n", NUMBERS(LABEL_FONT));
    cri_svg_captions(&s, p->caption, EDGE, p->height - 12 - 17 * (lines - 1), 17,
                     p->width - 2 * EDGE, LABEL_FONT);
    cri_svg_raw(&s, "</g>\n");
    return s;
}

static size_t ticks(double low, double high, bool is_log, size_t most, cri_svg_tick *out)
{
    return is_log ? cri_svg_log_ticks(low, high, most, out) : cri_svg_ticks(low, high, most, out);
}

/* As many ticks across as have room for their labels. */
static size_t ticks_across(const cri_svg *s, const cri_svg_panel *p, cri_svg_tick *x)
{
    for (size_t most = CRI_SVG_MOST_TICKS; most >= 2; most--) {
        size_t n = cri_is_date(p->across.type)
                       ? cri_svg_date_ticks(p->across.type, s->x_low, s->x_high, most, x)
                       : ticks(s->x_low, s->x_high, p->log_across, most, x);
        bool   overlap = false;
        for (size_t i = 1; i < n; i++) {
            double gap = (x[i].value - x[i - 1].value) / (s->x_high - s->x_low) * s->area_width;
            overlap = overlap ||
                      gap < (cri_svg_label_width(&x[i - 1]) + cri_svg_label_width(&x[i])) / 2 + 12;
        }
        if (!overlap) return n;
    }
    return 1;
}

/* Each level below its place, shortened to what lies between two. */
static void draw_levels(cri_svg *s, const cri_svg_panel *p)
{
    double each = s->area_width / (s->x_high - s->x_low), bottom = s->top + s->area_height;
    cri_svg_put(s, "<g font-size='@' fill='" GREY "' text-anchor='middle'>\n", NUMBERS(LABEL_FONT));
    for (size_t i = 0; i < p->n_levels; i++) {
        double x = s->left + ((double)i - s->x_low) * each;
        cri_svg_put(s, "<path d='M@ @v@' stroke='" GREY "'/>\n", NUMBERS(x, bottom, TICK));
        cri_svg_label(s, "x='@' y='@'", NUMBERS(x, bottom + 19), p->levels[i], each - 4,
                      LABEL_FONT);
    }
    cri_svg_raw(s, "</g>\n");
}

void cri_svg_panel_begin(cri_svg *s, const cri_svg_panel *p)
{
    cri_svg_tick x[CRI_SVG_MOST_TICKS], y[CRI_SVG_MOST_TICKS];
    double       widest = 0, above = p->title ? 22 : 8, below = p->bare ? 10 : 44;
    size_t       n_x, n_y;

    s->x_low = p->across.low, s->x_high = p->across.high;
    s->y_low = p->up.low, s->y_high = p->up.high;
    cri_svg_range(&s->x_low, &s->x_high);
    cri_svg_range(&s->y_low, &s->y_high);
    s->top = p->y + above;
    s->area_height = fmax(30, p->height - above - below);
    size_t most = (size_t)fmax(2, fmin(CRI_SVG_MOST_TICKS, s->area_height / (p->few ? 30 : 40)));
    n_y = ticks(s->y_low, s->y_high, p->log_up, most, y);
    for (size_t i = 0; i < n_y; i++) widest = fmax(widest, cri_svg_label_width(&y[i]));
    if (p->few) widest = fmax(widest, 38); /* panels above each other line up */
    s->left = p->x + TEXT_FONT + 10 + widest + TICK + 3;
    s->area_width = fmax(40, p->x + p->width - s->left - 12);
    n_x = p->levels ? 0 : ticks_across(s, p, x);
    cri_svg_axes(s, x, n_x, y, n_y, !p->bare, !p->few);
    if (p->levels) draw_levels(s, p);
    cri_svg_put(s, "<g font-size='@'>\n", NUMBERS(TEXT_FONT));
    if (p->title)
        cri_svg_label(s, "x='@' y='@' font-weight='600'", NUMBERS(s->left, p->y + 14), p->title,
                      s->area_width, TEXT_FONT);
    if (!p->bare && p->across.title)
        cri_svg_label(s, "x='@' y='@' text-anchor='middle'",
                      NUMBERS(s->left + s->area_width / 2, s->top + s->area_height + 38),
                      p->across.title, s->area_width, TEXT_FONT);
    if (p->up.title)
        cri_svg_label(s, "transform='translate(@ @) rotate(-90)' text-anchor='middle'",
                      NUMBERS(p->x + TEXT_FONT, s->top + s->area_height / 2), p->up.title,
                      s->area_height + 20, TEXT_FONT);
    cri_svg_raw(s, "</g>\n");
    cri_svg_put(s, "<svg x='@' y='@' width='@' height='@' overflow='hidden'>\n",
                NUMBERS(s->left, s->top, s->area_width, s->area_height));
}

void cri_svg_panel_end(cri_svg *s) { cri_svg_raw(s, "</svg>\n"); }

/* --- cells ----------------------------------------------------------------------------------- */

static size_t colour_of(double share)
{
    if (isnan(share)) return COLOURS;
    double at = fmin(fmax(share, 0), 1) * COLOURS;
    return at >= COLOURS ? COLOURS - 1 : (size_t)at;
}

/* One path a colour, of all runs of cells that have it. */
void cri_svg_cells(cri_svg *s, const double *z, size_t rows, size_t cols)
{
    double width = s->area_width / (double)cols, height = s->area_height / (double)rows;
    cri_svg_raw(s, "<g stroke='none' shape-rendering='crispEdges'>\n");
    for (size_t colour = 0; colour < COLOURS; colour++) {
        bool any = false;
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0, end; c < cols; c = end) {
                size_t this = colour_of(z[r * cols + c]);
                for (end = c + 1; end < cols && colour_of(z[r * cols + end]) == this;) end++;
                if (this != colour) continue;
                if (!any) {
                    cri_svg_raw(s, "<path fill='");
                    put_colour(s, colour);
                    cri_svg_raw(s, "' d='");
                    any = true;
                }
                double top = s->area_height - ((double)r + 1) * height;
                cri_svg_put(s, "M@ @H@V@H@z",
                            NUMBERS((double)c * width, top, (double)end * width, top + height,
                                    (double)c * width));
            }
        if (any) cri_svg_raw(s, "'/>\n");
    }
    cri_svg_raw(s, "</g>\n");
}

void cri_svg_colour_bar(cri_svg *s, double x, double y, double height, double low, double high)
{
    cri_svg_tick t[CRI_SVG_MOST_TICKS];
    double       step = height / COLOURS;
    cri_svg_range(&low, &high);
    cri_svg_raw(s, "<g stroke='none' shape-rendering='crispEdges'>\n");
    for (size_t i = 0; i < COLOURS; i++) {
        cri_svg_raw(s, "<path fill='");
        put_colour(s, i);
        cri_svg_put(s, "' d='M@ @h12v@h-12z'/>\n",
                    NUMBERS(x, y + height - ((double)i + 1) * step, step));
    }
    cri_svg_put(s, "</g>\n<g font-size='@' fill='" GREY "'>\n", NUMBERS(LABEL_FONT));
    size_t n = cri_svg_ticks(low, high, (size_t)fmax(2, fmin(7, height / 40)), t);
    for (size_t i = 0; i < n; i++) {
        double at = y + height * (1 - (t[i].value / 2 - low / 2) / (high / 2 - low / 2));
        cri_svg_put(s, "<path d='M@ @h4' stroke='" GREY "'/>\n", NUMBERS(x + 12, at));
        cri_svg_label(s, "x='@' y='@'", NUMBERS(x + 19, at + 4), t[i].label, INFINITY, LABEL_FONT);
    }
    cri_svg_raw(s, "</g>\n");
}

/* --- contours -------------------------------------------------------------------------------- */

typedef struct point {
    double x, y;
} point;

/* Where the level is crossed between two corners. */
static point between(point a, double at_a, point b, double at_b, double level)
{
    double t = (level - at_a) / (at_b - at_a);
    return (point){ a.x + t * (b.x - a.x), a.y + t * (b.y - a.y) };
}

/* The pieces of the contour in a square of four corners, in order around it: marching squares, of
 * which the doubtful case (two pieces) goes by the mean of the corners. */
static void put_square(cri_svg *s, const point p[4], const double v[4], double level)
{
    point  cut[4];
    size_t n = 0;
    for (size_t i = 0; i < 4; i++) {
        size_t j = (i + 1) % 4;
        if (isnan(v[i])) return;
        if ((v[i] >= level) != (v[j] >= level)) cut[n++] = between(p[i], v[i], p[j], v[j], level);
    }
    bool turn = n == 4 && ((v[0] + v[1] + v[2] + v[3]) / 4 >= level) == (v[0] >= level);
    for (size_t i = 0; i + 1 < n; i += 2) {
        point a = cut[i], b = cut[i + 1];
        if (n == 4 && !turn) a = cut[(i + 3) % 4], b = cut[i];
        cri_svg_put(s, "M@ @L@ @", NUMBERS(a.x, a.y, b.x, b.y));
    }
}

void cri_svg_contour(cri_svg *s, const cri_svg_series *look, const double *z, size_t rows,
                     size_t cols, double level)
{
    double width = s->area_width / (double)cols, height = s->area_height / (double)rows;
    cri_svg_raw(s, "<path fill='none' stroke='");
    cri_svg_raw(s, look->colour);
    cri_svg_put(s, "' stroke-opacity='@' stroke-width='@' stroke-linecap='round'",
                NUMBERS(look->opacity, look->size));
    if (look->dashed) cri_svg_raw(s, " stroke-dasharray='5 3'");
    cri_svg_raw(s, " d='");
    for (size_t r = 0; r + 1 < rows; r++)
        for (size_t c = 0; c + 1 < cols; c++) {
            double x = ((double)c + 0.5) * width, y = s->area_height - ((double)r + 0.5) * height;
            point  p[4] = {
                 { x, y }, { x + width, y }, { x + width, y - height }, { x, y - height }
            };
            double v[4] = { z[r * cols + c], z[r * cols + c + 1], z[(r + 1) * cols + c + 1],
                            z[(r + 1) * cols + c] };
            put_square(s, p, v, level);
        }
    cri_svg_raw(s, "'/>\n");
}
