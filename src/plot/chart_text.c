/* chart_text.c -- a chart as lines of text: what a terminal without pictures can show. */
#include "chart.h"
#include "data/table/date.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL = 10 }; /* room for the numbers of the y axis */

typedef struct canvas {
    size_t  width, height;
    char   *cells; /* [height x width] */
    double  x_low, x_high, y_low, y_high;
    cr_type x_type;
    bool    stacked;
} canvas;

static double column_of(const canvas *c, double x)
{
    return (x - c->x_low) / (c->x_high - c->x_low) * (double)(c->width - 1);
}

static double row_of(const canvas *c, double y)
{
    return (c->y_high - y) / (c->y_high - c->y_low) * (double)(c->height - 1);
}

static void put(canvas *c, double column, double row, char glyph)
{
    double x = round(column), y = round(row);
    if (!(x >= 0 && y >= 0 && x < (double)c->width && y < (double)c->height)) return;
    c->cells[(size_t)y * c->width + (size_t)x] = glyph;
}

static void draw_points(canvas *c, const cri_chart_series *s)
{
    for (size_t i = 0; i < s->n; i++) put(c, column_of(c, s->x[i]), row_of(c, s->y[i]), s->glyph);
}

static void draw_line(canvas *c, const cri_chart_series *s)
{
    for (size_t i = 0; i + 1 < s->n; i++) {
        double x0 = column_of(c, s->x[i]), x1 = column_of(c, s->x[i + 1]);
        double y0 = row_of(c, s->y[i]), y1 = row_of(c, s->y[i + 1]);
        double steps = fmin(ceil(fmax(fabs(x1 - x0), fabs(y1 - y0))) * 2 + 1, 1000);
        for (double k = 0; k <= steps; k++) /* NaN ends draw nothing */
            put(c, x0 + (x1 - x0) * k / steps, y0 + (y1 - y0) * k / steps, s->glyph);
    }
    if (s->n == 1) draw_points(c, s);
}

static void draw_bars(canvas *c, const cri_chart_series *s)
{
    for (size_t i = 0; i < s->n; i++) {
        double x = column_of(c, s->x[i]), top = row_of(c, s->upper[i]), end = row_of(c, s->y[i]);
        if (c->stacked && end - top < 0.5) continue; /* it would hide another */
        for (double y = fmax(round(top), 0); y <= fmin(round(end), (double)c->height - 1); y++)
            put(c, x, y, s->glyph);
    }
}

static void draw_arrows(canvas *c, const cri_chart_series *s)
{
    for (size_t i = 0; i < s->n; i++) {
        cri_chart_series one = *s;
        one.x = (const double[]){ 0, s->x[i] }, one.y = (const double[]){ 0, s->y[i] }, one.n = 2;
        draw_line(c, &one);
    }
}

/* Both edges of a band as lines. */
static void draw_band(canvas *c, const cri_chart_series *s)
{
    cri_chart_series edge = *s;
    draw_line(c, &edge);
    edge.y = s->upper;
    draw_line(c, &edge);
}

static void draw(canvas *c, const cri_chart_series *s)
{
    switch (s->look.mark) {
    case CRI_SVG_POINTS:
    case CRI_SVG_RINGS:
        draw_points(c, s);
        break;
    case CRI_SVG_LINE:
        draw_line(c, s);
        break;
    case CRI_SVG_BAND:
        draw_band(c, s);
        break;
    case CRI_SVG_BARS:
        draw_bars(c, s);
        break;
    case CRI_SVG_ARROWS:
        draw_arrows(c, s);
        break;
    }
}

/* Is there space for `length` letters from this column on, none of another note? */
static bool is_free(const canvas *c, const char *taken, double column, double row, size_t length)
{
    if (!(row >= 0 && row < (double)c->height && column >= 0 &&
          column + (double)length <= (double)c->width))
        return false;
    const char *at = taken + (size_t)row * c->width + (size_t)column;
    for (size_t i = 0; i < length; i++)
        if (at[i]) return false;
    return true;
}

/* Beside its point, or a line or two from it; not at all where all that is taken. */
static void draw_note(canvas *c, const cri_svg_note *note, char *taken)
{
    static const int down[] = { 0, -1, 1, -2, 2, -3, 3 };
    double           x = round(column_of(c, note->x)), y = round(row_of(c, note->y));
    size_t           length = 0;
    char             text[CRI_SVG_LABEL];
    for (const char *from = note->text; *from && length + 1 < sizeof text; length++) {
        uint32_t code;
        from += cri_svg_decode(from, &code);
        text[length] = code < 0x80 ? (char)code : '?';
    }
    for (size_t k = 0; k < 14; k++) {
        size_t line = k / 2;
        double row = y + down[line], column = k % 2 ? x - 1 - (double)length : x + 2;
        if (!is_free(c, taken, column, row, length)) continue;
        memset(taken + (size_t)row * c->width + (size_t)column, 1, length);
        for (size_t i = 0; i < length; i++) put(c, column + (double)i, row, text[i]);
        return;
    }
}

static cr_status draw_notes(cr_scratch *s, canvas *c, const cri_chart *chart)
{
    char *taken = cr_scratch_bytes(s, c->width * c->height, 1); /* by notes; zeroed */
    if (s->status != CR_OK) return s->status;
    for (size_t k = 0; k < chart->n_notes; k++) draw_note(c, &chart->notes[k], taken);
    return CR_OK;
}

/* --- text ------------------------------------------------------------------------------------ */

static void say_rows(cri_writer *w, const canvas *c)
{
    for (size_t r = 0; r < c->height; r++) {
        const char *row = c->cells + r * c->width;
        size_t      end = c->width;
        double      share = (double)r / (double)(c->height - 1);
        while (end > 0 && row[end - 1] == ' ') end--;
        if (r % 5 == 0 || r + 1 == c->height)
            cri_say(w, "%*.4g |", LABEL, c->y_high + share * (c->y_low - c->y_high));
        else
            cri_say(w, "%*s |", LABEL, "");
        cri_say(w, "%.*s\n", (int)end, row);
    }
}

static int write_end(const canvas *c, double x, char out[CRI_DATE_SIZE])
{
    if (cri_is_date(c->x_type)) return (int)cri_date_print(c->x_type, x, out);
    return snprintf(out, CRI_DATE_SIZE, "%.4g", x);
}

static void say_x_axis(cri_writer *w, const canvas *c)
{
    char low[CRI_DATE_SIZE], high[CRI_DATE_SIZE];
    int  a = write_end(c, c->x_low, low), b = write_end(c, c->x_high, high);
    cri_say(w, "%*s +", LABEL, "");
    for (size_t i = 0; i < c->width; i++) cri_say(w, "-");
    cri_say(w, "\n%*s  %s%*s%s\n", LABEL, "", low, (int)c->width - a - b, "", high);
}

/* A line of the labels above the area, as many as fit. */
static void say_top(cri_writer *w, const cri_chart *chart, const canvas *c)
{
    size_t at = 0;
    cri_say(w, "%*s  ", LABEL, "");
    for (size_t i = 0; i < chart->n_top; i++) {
        size_t length = strlen(chart->top[i].label);
        double column = round(column_of(c, chart->top[i].value));
        if (!(column >= (double)at) || column + (double)length > (double)c->width) continue;
        cri_say(w, "%*s%s", (int)(column - (double)at), "", chart->top[i].label);
        at = (size_t)column + length + 1;
        cri_say(w, i + 1 < chart->n_top ? " " : "");
    }
    cri_say(w, *chart->top_title ? "  %s\n" : "%s\n", chart->top_title);
}

static void say_legend(cri_writer *w, const cri_chart *chart)
{
    bool any = false;
    for (size_t k = 0; k < chart->n; k++) {
        if (!chart->series[k].look.label || chart->series[k].quiet) continue;
        if (!any) cri_say(w, "%*s ", LABEL, "");
        cri_say(w, "%s %c %s", any ? "  " : "", chart->series[k].glyph,
                chart->series[k].look.label);
        any = true;
    }
    if (any) cri_say(w, "\n");
}

/* Enough for the canvas and every text of the chart. */
static size_t text_capacity(const cri_chart *chart, const canvas *c)
{
    size_t      capacity = (c->width + LABEL + 8) * (c->height + 5) + 256;
    const char *texts[] = { chart->title,      chart->x.title,    chart->y.title,
                            chart->caption[0], chart->caption[1], chart->top_title };
    for (size_t i = 0; i < 6; i++) capacity += texts[i] ? strlen(texts[i]) + 4 : 0;
    for (size_t k = 0; k < chart->n; k++)
        capacity += chart->series[k].look.label ? strlen(chart->series[k].look.label) + 8 : 0;
    return capacity;
}

cr_status cri_chart_text(cr_scratch *s, const cri_chart *chart, size_t width, size_t height,
                         const char **out)
{
    canvas c = { .width = width,
                 .height = height,
                 .x_low = chart->x.low,
                 .x_high = chart->x.high,
                 .x_type = chart->x.type,
                 .y_low = chart->y.low,
                 .y_high = chart->y.high,
                 .stacked = chart->stacked };
    if (width < 2 || height < 2)
        return cr_fail(s->cx, CR_EARG, "a figure of text needs at least 2 columns and 2 rows");
    cri_svg_range(&c.x_low, &c.x_high);
    cri_svg_range(&c.y_low, &c.y_high);
    c.cells = cr_scratch_bytes(s, width * height, 1);
    cri_writer w = { .capacity = text_capacity(chart, &c) };
    w.text = cr_scratch_bytes(s, w.capacity, 1);
    if (s->status != CR_OK) return s->status;
    memset(c.cells, ' ', width * height);
    for (size_t k = 0; k < chart->n; k++) draw(&c, &chart->series[k]);
    if (chart->n_notes && draw_notes(s, &c, chart) != CR_OK) return s->status;
    cri_say(&w, "%s\n\n%*s  %s\n", chart->title, LABEL, "", chart->y.title);
    if (chart->n_top) say_top(&w, chart, &c);
    say_rows(&w, &c);
    say_x_axis(&w, &c);
    cri_say(&w, "%*s  %s\n", LABEL, "", chart->x.title);
    say_legend(&w, chart);
    for (size_t i = 0; i < 2; i++)
        if (chart->caption[i]) cri_say(&w, "\n%s\n", chart->caption[i]);
    *out = w.text;
    return CR_OK;
}
