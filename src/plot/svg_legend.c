/* svg_legend.c -- how series look, and the line of symbols and names above a figure. */
#include "svg.h"

#include <math.h>
#include <string.h>

enum { KEY_WIDTH = 22, KEY_GAP = 20 };

static const double EDGE = 20, TITLE_FONT = 16, TEXT_FONT = 12, RING = 1.8;

/* Opens a group with the look of a series; in the legend marks are not fainter than `least`. */
void cri_svg_open_group(cri_svg *s, const cri_svg_series *look, double least)
{
    bool   filled = look->mark == CRI_SVG_POINTS || look->mark == CRI_SVG_BAND;
    double opacity = fmax(least, look->opacity);
    cri_svg_raw(s, filled ? "<g stroke='none' fill='"
                          : "<g fill='none' stroke-linejoin='round' stroke='");
    cri_svg_raw(s, look->colour);
    if (filled)
        cri_svg_put(s, "' fill-opacity='@'", CRI_SVG_NUMBERS(opacity));
    else
        cri_svg_put(s, "' stroke-opacity='@' stroke-width='@'",
                    CRI_SVG_NUMBERS(opacity, look->mark == CRI_SVG_RINGS ? RING : look->size));
    if (look->dashed) cri_svg_raw(s, " stroke-dasharray='6 4'");
    cri_svg_raw(s, ">\n");
}

/* The symbol of a series in a box of KEY_WIDTH around y.  An ellipse, so that circles are data. */
static void draw_key(cri_svg *s, const cri_svg_series *look, double x, double y)
{
    double         middle = x + KEY_WIDTH / 2.0, r = fmax(3, look->size);
    cri_svg_series narrow = *look;
    narrow.size = fmin(look->size, 10);
    cri_svg_open_group(s, &narrow, look->mark == CRI_SVG_BAND ? 0 : 0.7);
    switch (look->mark) {
    case CRI_SVG_POINTS:
    case CRI_SVG_RINGS:
        cri_svg_put(s, "<ellipse cx='@' cy='@' rx='@' ry='@'/>\n",
                    CRI_SVG_NUMBERS(middle, y, r, r));
        break;
    case CRI_SVG_LINE:
        cri_svg_put(s, "<path d='M@ @h@'/>\n", CRI_SVG_NUMBERS(x, y, KEY_WIDTH));
        break;
    case CRI_SVG_BAND:
        cri_svg_put(s, "<path d='M@ @h@v12h-@z'/>\n",
                    CRI_SVG_NUMBERS(x, y - 6, KEY_WIDTH, KEY_WIDTH));
        break;
    case CRI_SVG_BARS:
        cri_svg_put(s, "<path d='M@ @v14'/>\n", CRI_SVG_NUMBERS(middle, y - 7));
        break;
    case CRI_SVG_ARROWS:
        cri_svg_put(s, "<path d='M@ @h@m-6 -4l6 4l-6 4'/>\n", CRI_SVG_NUMBERS(x, y, KEY_WIDTH));
        break;
    }
    cri_svg_raw(s, "</g>\n");
}

static double key_width(const cri_svg_series *look)
{
    bool wide =
        look->mark == CRI_SVG_LINE || look->mark == CRI_SVG_BAND || look->mark == CRI_SVG_ARROWS;
    return wide ? KEY_WIDTH + 7 : KEY_WIDTH / 2.0 + 5;
}

/* As large as that of other text, or smaller where the labels would not fit into a line. */
static double legend_font(const cri_svg_frame *f)
{
    double keys = -KEY_GAP, words = 0, least = 0.75 * TEXT_FONT;
    for (size_t i = 0; i < f->n_series; i++) {
        keys += key_width(&f->series[i]) + KEY_GAP;
        words += cri_svg_width(f->series[i].label, strlen(f->series[i].label), TEXT_FONT);
    }
    double available = f->width - 2 * EDGE - keys;
    return words <= available ? TEXT_FONT : fmax(least, TEXT_FONT * available / words);
}

void cri_svg_legend(cri_svg *s, const cri_svg_frame *f)
{
    double x = EDGE, y = EDGE + TITLE_FONT + 18, end = f->width - EDGE, font = legend_font(f);
    cri_svg_put(s, "<g font-size='@'>\n", CRI_SVG_NUMBERS(font));
    for (size_t i = 0; i < f->n_series; i++) {
        const cri_svg_series *look = &f->series[i];
        double                key = key_width(look);
        double                from = key < KEY_WIDTH ? x - 6 : x; /* narrow symbols, flush left */
        double                available = end - x - key;
        if (available < 3 * font) break;
        draw_key(s, look, from, y);
        cri_svg_label(s, "x='@' y='@'", CRI_SVG_NUMBERS(x + key, y + 4), look->label, available,
                      font);
        x += key + cri_svg_width(look->label, strlen(look->label), font) + KEY_GAP;
    }
    cri_svg_raw(s, "</g>\n");
}
