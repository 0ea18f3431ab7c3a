/* svg.h -- a small writer of figures as SVG 1.1.
 * One figure is one plot area with linear axes, a title, a legend in one line above the area and up
 * to two captions below.  cri_svg_begin writes all that surrounds the data, the mark
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

#include "base/context.h"
#include "data/table/table.h"

#define CRI_SVG_BLACK "#000000"
#define CRI_SVG_BLUE "#0072B2"
#define CRI_SVG_SKY "#56B4E9"
#define CRI_SVG_GREEN "#009E73"
#define CRI_SVG_ORANGE "#E69F00"
#define CRI_SVG_VERMILLION "#D55E00"

/* The colour of class or cluster number k, the same in all figures; grey from CRI_SVG_CLASSES on (svg_notes.c). */
enum { CRI_SVG_CLASSES = 12 };
const char *cri_svg_class_colour(size_t k);

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
 * labels of an axis are decimals, as many in each, or, from 10^7 on or when none reaches 0.001, multiples
 * of one power of ten.  Returns the number of ticks. */
size_t cri_svg_ticks(double low, double high, size_t most, cri_svg_tick *out_ticks);

/* The same for an axis of powers of ten, low and high being the logarithms to base 10: 1, 2 and 5
 * times powers of ten, or powers alone, or some of them; ordinary ticks where less than that is in
 * view.  The values of the ticks are logarithms. */
size_t cri_svg_log_ticks(double low, double high, size_t most, cri_svg_tick *out_ticks);

/* The same for dates or times (data/table/date.h): at years, months, days, hours, minutes or
 * seconds (svg_dates.c). */
size_t cri_svg_date_ticks(cr_type type, double low, double high, size_t most,
                          cri_svg_tick *out_ticks);

/* --- text (svg_text.c) ----------------------------------------------------------------------- */

/* One code point of UTF-8 from text (not at its end): U+FFFD for what is not UTF-8 or may not stand
 * in XML, a space for tabs and line ends.  Returns the number of bytes it took, at least 1. */
size_t cri_svg_decode(const char *text, uint32_t *out_code);

/* About how wide the first `bytes` of a text are in a sans-serif font of this size: somewhat more
 * than in the common fonts. */
double cri_svg_width(const char *text, size_t bytes, double font_size);
/* The same of the label of a tick. */
double cri_svg_label_width(const cri_svg_tick *t);

/* How many bytes of text fit into `available`: all, or so many whole characters that an ellipsis
 * fits behind them. */
size_t cri_svg_fit(const char *text, double available, double font_size);

/* --- figures (svg.c) ------------------------------------------------------------------------- */

typedef enum cri_svg_mark {
    CRI_SVG_POINTS, /* size = radius     */
    CRI_SVG_LINE,   /* size = line width */
    CRI_SVG_BAND,   /* size is not used  */
    CRI_SVG_BARS,   /* size = line width */
    CRI_SVG_ARROWS, /* size = line width */
    CRI_SVG_RINGS   /* size = radius     */
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
    cr_type     type;      /* CR_DATE or CR_DATETIME: ticks at days or parts of them */
} cri_svg_axis;

typedef struct cri_svg_frame {
    double                width, height;
    const char           *title, *description; /* the description is for screen readers */
    cri_svg_axis          x, y;
    const cri_svg_series *series; /* [n_series] of the legend */
    size_t                n_series;
    const char           *caption[2]; /* NULL = none */
    const char           *top_title;  /* of the labels above the area, on the right; NULL: none */
    const cri_svg_tick   *top;        /* [n_top] at places of the x axis                       */
    size_t                n_top;
    bool                  equal; /* a unit is as long across as up: one axis is widened */
    bool                  whole; /* ticks of the x axis at whole numbers only           */
} cri_svg_frame;

typedef struct cri_svg {
    cr_ctx   *cx;
    cr_status status;
    char     *bytes; /* [capacity], of which `size` are written */
    size_t    size, capacity;
    double    x_low, x_high, y_low, y_high;       /* the axes                    */
    cr_type   x_type;                             /* of what goes across          */
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
/* An arrow from the origin to each (x[i], y[i]). */
void cri_svg_arrows(cri_svg *s, const cri_svg_series *look, const double *x, const double *y,
                    size_t n);
/* Where a value lies in the plot area, in pixels from its upper left. */
double cri_svg_x_at(const cri_svg *s, double value);
double cri_svg_y_at(const cri_svg *s, double value);

/* --- texts in the plot area (svg_notes.c) ---------------------------------------------------- */

typedef enum cri_svg_side {
    CRI_SVG_AROUND,  /* where there is space                                */
    CRI_SVG_OUTWARD, /* rather on the side that is away from the origin     */
    CRI_SVG_BESIDE   /* to the right, moved up or down if that is not free  */
} cri_svg_side;

typedef struct cri_svg_note {
    double       x, y;
    const char  *text, *colour;
    cri_svg_side side;
} cri_svg_note;

/* Writes texts near their points so that they do not overlap, as far as there is space; the first have the choice. */
void cri_svg_notes(cri_svg *s, const cri_svg_note *notes, size_t n);

/* --- sheets: figures without axes, drawn by hand in pixels from the upper left ---------------- */

/* Starts a sheet with its title at the top. */
cri_svg cri_svg_sheet(cr_ctx *cx, double width, double height, const char *title,
                      const char *description);

/* --- pages of several panels (svg_panels.c) -------------------------------------------------- */

/* What surrounds the panels: title, legend in one line, captions below. */
typedef struct cri_svg_page {
    double                width, height;
    const char           *title, *description;
    const cri_svg_series *series; /* [n_series] of the legend */
    size_t                n_series;
    const char           *caption[2];
} cri_svg_page;

/* One plot area with axes, at (x, y) of the page, all of it within width x height. */
typedef struct cri_svg_panel {
    double             x, y, width, height;
    const char        *title; /* NULL = none */
    cri_svg_axis       across, up;
    bool               log_across, log_up; /* the axis holds logarithms to base 10 */
    bool               bare;               /* no labels below: another panel has them */
    bool               few;                /* few ticks up, without a grid */
    const char *const *levels; /* [n_levels] what 0, 1, ... across are called; NULL: numbers */
    size_t             n_levels;
} cri_svg_panel;

/* Starts a page; ends with cri_svg_end. */
cri_svg cri_svg_page_begin(cr_ctx *cx, const cri_svg_page *page);
/* How much of the height is left between legend and captions. */
void cri_svg_page_area(const cri_svg_page *page, double *out_top, double *out_height);
/* Starts a panel, into which the marks are drawn then. */
void cri_svg_panel_begin(cri_svg *s, const cri_svg_panel *panel);
/* Ends it. */
void cri_svg_panel_end(cri_svg *s);
/* Closes the page and saves it, atomically. */
cr_status cri_svg_page_save(cri_svg *s, const char *path);

/* Fills the panel with cells of colour: z [rows x cols] in 0 .. 1, the first row at the bottom; NaN
 * stays white. */
void cri_svg_cells(cri_svg *s, const double *z, size_t rows, size_t cols);
/* The lines where z [rows x cols], known at the middles of the cells, has this level. */
void cri_svg_contour(cri_svg *s, const cri_svg_series *look, const double *z, size_t rows,
                     size_t cols, double level);
/* The scale of colours from low to high, beside a panel: a bar at (x, y) of the page with its
 * ticks. */
void cri_svg_colour_bar(cri_svg *s, double x, double y, double height, double low, double high);

/* --- the buffer (svg.c), for the files of figures -------------------------------------------- */

void cri_svg_raw(cri_svg *s, const char *text);
/* The template with each @ replaced by the next number. */
void cri_svg_put(cri_svg *s, const char *template, const double *numbers);
/* <text> with the attributes of the template `place`, shortened to `available`. */
void cri_svg_label(cri_svg *s, const char *place, const double *numbers, const char *text,
                   double available, double font_size);
/* How many lines up to two captions take, broken at blanks where they are wider than `available`;
 * and these lines from (x, y) downwards, `step` apart (svg_text.c). */
size_t cri_svg_caption_lines(const char *const caption[2], double available, double font_size);
void   cri_svg_captions(cri_svg *s, const char *const caption[2], double x, double y, double step,
                        double available, double font_size);
/* A text with what it needs escaped. */
void cri_svg_escape(cri_svg *s, const char *text);
/* The numbers of a template. */
#define CRI_SVG_NUMBERS(...) ((const double[]){ __VA_ARGS__ })
/* Opens a group with the look of a series, not fainter than `least`; and the legend of a figure (svg_legend.c). */
void cri_svg_open_group(cri_svg *s, const cri_svg_series *look, double least);
void cri_svg_legend(cri_svg *s, const cri_svg_frame *frame);
/* Head, title and legend of a page; where the axes go. */
void cri_svg_head(cri_svg *s, const cri_svg_page *page);
void cri_svg_axes(cri_svg *s, const cri_svg_tick *x, size_t n_x, const cri_svg_tick *y, size_t n_y,
                  bool label_x, bool grid);

/* Closes the figure and saves it, atomically.  The first failure since cri_svg_begin, else that of
 * the file. */
cr_status cri_svg_save(cri_svg *s, const char *path);
/* Frees the memory. */
void cri_svg_end(cri_svg *s);

#endif
