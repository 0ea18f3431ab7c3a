/* svg.h -- a small writer of figures as SVG 1.1.
 * One figure is one plot area with linear axes, a title, a legend in one line above the area and up
 * to two lines of caption below.  cri_svg_begin writes all that surrounds the data, the mark
 * functions draw into the area in the units of the axes, cri_svg_save finishes the file.  Marks
 * outside the area are clipped by a nested <svg>, so that no ids are needed and several figures can
 * stand in one page.  Numbers are written with two decimals at the most, whatever the locale; what
 * is NaN is left out.  The writer remembers its first failure (as a scratch arena does): one check,
 * by cri_svg_save, serves for everything.
 *
 * Colours: Okabe & Ito (2008), "Color Universal Design", told apart by the colour-blind.
 * (Internal header.) */
#ifndef CREDENCE_PLOT_SVG_H
#define CREDENCE_PLOT_SVG_H

#include "../base/context.h"

#define CRI_SVG_BLACK      "#000000"
#define CRI_SVG_BLUE       "#0072B2"
#define CRI_SVG_SKY        "#56B4E9"
#define CRI_SVG_GREEN      "#009E73"
#define CRI_SVG_ORANGE     "#E69F00"
#define CRI_SVG_VERMILLION "#D55E00"

/* --- numbers as people write them (svg_ticks.c) ---------------------------------------------- */

enum { CRI_SVG_LABEL = 64, CRI_SVG_MOST_TICKS = 12 };

typedef struct cri_svg_tick {
    double value;
    char   label[CRI_SVG_LABEL];
} cri_svg_tick;

/* digits x 10^exponent in decimals, -30 <= exponent <= 7: no trailing zeros after the point, a true
 * minus sign, from 10 000 on grouped by narrow spaces.  Returns the length in bytes. */
size_t cri_svg_decimal(int64_t digits, int exponent, char out[CRI_SVG_LABEL]);

/* Brings an interval into the order low < high and makes it wide enough to be divided: a single
 * value v becomes v -+ |v| / 10, or -1 .. 1 for zero; not finite becomes 0 .. 1. */
void cri_svg_range(double *low, double *high);

/* The multiples of 1, 2 or 5 x 10^k in [low, high]: the smallest such step that gives no more than
 * `most` (2 .. CRI_SVG_MOST_TICKS) ticks; never none.  The interval is one from cri_svg_range.  All
 * labels of an axis are decimals, or, from 10^7 on or when none reaches 0.001, multiples of one
 * power of ten.  Returns the number of ticks. */
size_t cri_svg_ticks(double low, double high, size_t most, cri_svg_tick *out_ticks);

/* --- text (svg_text.c) ----------------------------------------------------------------------- */

/* One code point of UTF-8 from text (not at its end): U+FFFD for what is not UTF-8 or may not stand
 * in XML, a space for tabs and line ends.  Returns the number of bytes it took, at least 1. */
size_t cri_svg_decode(const char *text, uint32_t *out_code);

/* About how wide the first `bytes` of a text are in a sans-serif font of this size: somewhat more
 * than in the common fonts. */
double cri_svg_width(const char *text, size_t bytes, double font_size);

/* How many bytes of text fit into `room`: all, or so many whole characters that an ellipsis fits
 * behind them. */
size_t cri_svg_fit(const char *text, double room, double font_size);

/* --- figures (svg.c) ------------------------------------------------------------------------- */

typedef enum cri_svg_mark {
    CRI_SVG_POINTS, /* size = radius      */
    CRI_SVG_LINE,   /* size = line width  */
    CRI_SVG_BAND,   /* size is not used   */
    CRI_SVG_BARS    /* size = line width  */
} cri_svg_mark;

/* How a series looks, and its name in the legend. */
typedef struct cri_svg_series {
    const char  *label;
    cri_svg_mark mark;
    const char  *colour;
    double       opacity, size;
    bool         dashed;
} cri_svg_series;

typedef struct cri_svg_axis {
    const char *title;
    double      low, high; /* any two numbers: see cri_svg_range */
} cri_svg_axis;

typedef struct cri_svg_frame {
    double                width, height;
    const char           *title, *description; /* the description is for screen readers */
    cri_svg_axis          x, y;
    const cri_svg_series *series; /* [n_series] of the legend */
    size_t                n_series;
    const char           *caption[2]; /* NULL = none */
    const char           *top_title; /* of the labels above the area, on the right; NULL: none */
    const cri_svg_tick   *top;       /* [n_top] at places of the x axis                       */
    size_t                n_top;
} cri_svg_frame;

typedef struct cri_svg {
    cr_ctx   *cx;
    cr_status status;
    char     *bytes; /* [room], of which `size` are written */
    size_t    size, room;
    double    x_low, x_high, y_low, y_high;    /* the axes                     */
    double    left, top, area_width, area_height; /* the plot area in the figure */
} cri_svg;

/* Starts a figure: everything but the data.  Allocates; ends with cri_svg_end. */
cri_svg cri_svg_begin(cr_ctx *cx, const cri_svg_frame *frame);
/* A circle at each (x[i], y[i]). */
void cri_svg_points(cri_svg *s, const cri_svg_series *look, const double *x, const double *y,
                    size_t n);
/* A line through the points in order, broken where one is NaN. */
void cri_svg_line(cri_svg *s, const cri_svg_series *look, const double *x, const double *y,
                  size_t n);
/* The area between lower[i] and upper[i], x ascending; broken where one is NaN. */
void cri_svg_band(cri_svg *s, const cri_svg_series *look, const double *x, const double *lower,
                  const double *upper, size_t n);
/* A vertical bar at x[i] from lower[i] to upper[i]. */
void cri_svg_bars(cri_svg *s, const cri_svg_series *look, const double *x, const double *lower,
                  const double *upper, size_t n);
/* Closes the figure and saves it, atomically.  The first failure since cri_svg_begin, else that of
 * the file. */
cr_status cri_svg_save(cri_svg *s, const char *path);
/* Frees the memory. */
void cri_svg_end(cri_svg *s);

#endif
