/* svg.c -- the frame of a figure, its marks, and the buffer they are written to. */
#include "svg.h"
#include "data/table/date.h"
#include "base/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 1 << 14 };

static const double EDGE = 20, TITLE_FONT = 16, TEXT_FONT = 12, LABEL_FONT = 11.5;
static const double TICK = 5, LABEL_GAP = 12; /* between two labels of the x axis */

#define INK "#222222"
#define GREY "#595959"
#define GRID "#e6e6e6"
#define FONTS                                                                                      \
    "system-ui, -apple-system, \"Segoe UI\", Roboto, \"Helvetica Neue\", Arial, sans-serif"

/* --- the buffer ------------------------------------------------------------------------------ */

static void put_bytes(cri_svg *s, const char *bytes, size_t size)
{
    if (s->status != CR_OK) return;
    if (size > s->capacity - s->size) {
        size_t capacity = s->capacity ? 2 * s->capacity : FIRST_CAPACITY;
        while (capacity - s->size < size) capacity *= 2;
        char *grown = cr_resize(s->cx, s->bytes, s->capacity, capacity, 1);
        if (!grown) {
            s->status = CR_ENOMEM;
            return;
        }
        s->bytes = grown;
        s->capacity = capacity;
    }
    memcpy(s->bytes + s->size, bytes, size);
    s->size += size;
}

void cri_svg_raw(cri_svg *s, const char *text) { put_bytes(s, text, strlen(text)); }

/* Two decimals at the most, in -10^6 .. 10^6: far outside any figure.  NaN must not come here. */
static void put_number(cri_svg *s, double x)
{
    char     out[16], *end = out + sizeof out, *p = end;
    long     hundredths = lround(100 * fmax(-1e6, fmin(1e6, x)));
    unsigned rest = (unsigned)labs(hundredths), cents = rest % 100;
    if (cents % 10) *--p = (char)('0' + cents % 10);
    if (cents) *--p = (char)('0' + cents / 10), *--p = '.';
    rest /= 100;
    do *--p = (char)('0' + rest % 10);
    while (rest /= 10);
    if (hundredths < 0) *--p = '-';
    put_bytes(s, p, (size_t)(end - p));
}

void cri_svg_put(cri_svg *s, const char *template, const double *numbers)
{
    for (;;) {
        size_t length = strcspn(template, "@");
        put_bytes(s, template, length);
        if (!template[length]) return;
        put_number(s, *numbers++);
        template += length + 1;
    }
}
#define NUMBERS CRI_SVG_NUMBERS

/* The first `bytes` of a text, escaped; with an ellipsis if that is not all of it. */
static void put_text(cri_svg *s, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes;) {
        uint32_t code;
        size_t   length = cri_svg_decode(text + i, &code);
        if (code == '&')
            cri_svg_raw(s, "&amp;");
        else if (code == '<')
            cri_svg_raw(s, "&lt;");
        else if (code == '>')
            cri_svg_raw(s, "&gt;");
        else if (code == '"')
            cri_svg_raw(s, "&quot;");
        else if (code == '\'')
            cri_svg_raw(s, "&#39;");
        else if (code == ' ')
            cri_svg_raw(s, " ");
        else if (code == 0xfffd)
            cri_svg_raw(s, "\ufffd");
        else
            put_bytes(s, text + i, length);
        i += length;
    }
    if (text[bytes]) cri_svg_raw(s, "\u2026");
}

void cri_svg_label(cri_svg *s, const char *place, const double *numbers, const char *text,
                   double available, double font_size)
{
    cri_svg_raw(s, "<text ");
    cri_svg_put(s, place, numbers);
    cri_svg_raw(s, ">");
    put_text(s, text, cri_svg_fit(text, available, font_size));
    cri_svg_raw(s, "</text>\n");
}

/* --- coordinates: of the nested area, from its upper left corner ----------------------------- */

/* Halves, so that the widest interval of doubles has a finite width. */
static double share(double v, double low, double high)
{
    return (v / 2 - low / 2) / (high / 2 - low / 2);
}

double cri_svg_x_at(const cri_svg *s, double v)
{
    return share(v, s->x_low, s->x_high) * s->area_width;
}

double cri_svg_y_at(const cri_svg *s, double v)
{
    return (1 - share(v, s->y_low, s->y_high)) * s->area_height;
}

/* --- the layout ------------------------------------------------------------------------------ */

typedef struct layout {
    cri_svg_tick x[CRI_SVG_MOST_TICKS], y[CRI_SVG_MOST_TICKS];
    size_t       n_x, n_y;
} layout;

double cri_svg_label_width(const cri_svg_tick *t)
{
    return cri_svg_width(t->label, strlen(t->label), LABEL_FONT);
}

static bool labels_overlap(const cri_svg *s, const layout *l)
{
    for (size_t i = 1; i < l->n_x; i++) {
        double need =
            (cri_svg_label_width(&l->x[i - 1]) + cri_svg_label_width(&l->x[i])) / 2 + LABEL_GAP;
        if (cri_svg_x_at(s, l->x[i].value) - cri_svg_x_at(s, l->x[i - 1].value) < need) return true;
    }
    return false;
}

/* No more ticks than whole numbers. */
static size_t most_whole(double low, double high, size_t most)
{
    double whole = floor(high) - ceil(low) + 1;
    return whole < (double)most ? (size_t)fmax(2, whole) : most;
}

/* The y labels decide the left margin, then the x labels how many fit between the margins. */
static void lay_out(cri_svg *s, const cri_svg_frame *f, layout *l)
{
    size_t lines = cri_svg_caption_lines(f->caption, f->width - 2 * EDGE, LABEL_FONT);
    double widest = 0, below = 50 + 17 * (double)lines + (f->caption[0] ? 6 : 0);

    s->top = EDGE + TITLE_FONT + (f->n_series ? 38 : 18) + (f->n_top ? 22 : 0);
    s->area_height = fmax(40, f->height - s->top - below - 6);
    size_t most = (size_t)fmax(2, fmin(CRI_SVG_MOST_TICKS, s->area_height / 40));
    l->n_y = cri_svg_ticks(s->y_low, s->y_high, most, l->y);
    for (size_t i = 0; i < l->n_y; i++) widest = fmax(widest, cri_svg_label_width(&l->y[i]));
    s->left = EDGE + TEXT_FONT + 10 + widest + TICK + 3;

    for (most = CRI_SVG_MOST_TICKS; most >= 2; most--) {
        l->n_x = cri_is_date(s->x_type)
                     ? cri_svg_date_ticks(s->x_type, s->x_low, s->x_high, most, l->x)
                     : cri_svg_ticks(s->x_low, s->x_high,
                                     f->whole ? most_whole(s->x_low, s->x_high, most) : most, l->x);
        double last = cri_svg_label_width(&l->x[l->n_x - 1]);
        s->area_width = fmax(40, f->width - s->left - fmax(EDGE, last / 2 + 4));
        if (!labels_overlap(s, l)) return;
    }
    l->n_x = 1; /* two labels wider than half the figure */
}

/* Widens one axis until a unit is as long across as up. */
static void equalise(cri_svg *s)
{
    double across = (s->x_high - s->x_low) / s->area_width;
    double up = (s->y_high - s->y_low) / s->area_height, more;
    if (!isfinite(across) || !isfinite(up)) return;
    if (across > up) {
        more = (across - up) * s->area_height / 2;
        s->y_low -= more, s->y_high += more;
    } else {
        more = (up - across) * s->area_width / 2;
        s->x_low -= more, s->x_high += more;
    }
}

/* --- the frame ------------------------------------------------------------------------------- */

static void draw_head(cri_svg *s, const cri_svg_frame *f)
{
    cri_svg_put(s,
                "<svg xmlns='http://www.w3.org/2000/svg' width='@' height='@' viewBox='0 0 @ @'"
                " role='img' style='max-width:100%;height:auto'",
                NUMBERS(f->width, f->height, f->width, f->height));
    cri_svg_raw(s, " font-family='" FONTS "' fill='" INK "'>\n<title>");
    put_text(s, f->title, strlen(f->title));
    cri_svg_raw(s, "</title>\n<desc>");
    put_text(s, f->description, strlen(f->description));
    cri_svg_put(s, "</desc>\n<rect width='@' height='@' fill='#ffffff'/>\n",
                NUMBERS(f->width, f->height));
    cri_svg_label(s, "x='@' y='@' font-size='@' font-weight='600'",
                  NUMBERS(EDGE, EDGE + TITLE_FONT - 3, TITLE_FONT), f->title,
                  (f->width - 2 * EDGE) / 1.08, TITLE_FONT); /* semi-bold is wider */
}

void cri_svg_axes(cri_svg *s, const cri_svg_tick *x, size_t n_x, const cri_svg_tick *y, size_t n_y,
                  bool label_x, bool grid)
{
    double right = s->left + s->area_width, bottom = s->top + s->area_height;

    cri_svg_raw(s, "<g stroke='" GRID "' stroke-width='1'>\n");
    for (size_t i = 0; grid && i < n_x; i++)
        cri_svg_put(s, "<path d='M@ @V@'/>\n",
                    NUMBERS(s->left + cri_svg_x_at(s, x[i].value), s->top, bottom));
    for (size_t i = 0; grid && i < n_y; i++)
        cri_svg_put(s, "<path d='M@ @H@'/>\n",
                    NUMBERS(s->left, s->top + cri_svg_y_at(s, y[i].value), right));
    cri_svg_raw(s, "</g>\n<g stroke='" GREY "' stroke-width='1' fill='none'>\n");
    cri_svg_put(s, "<path d='M@ @V@H@'/>\n", NUMBERS(s->left, s->top, bottom, right));
    for (size_t i = 0; i < n_x; i++)
        cri_svg_put(s, "<path d='M@ @v@'/>\n",
                    NUMBERS(s->left + cri_svg_x_at(s, x[i].value), bottom, TICK));
    for (size_t i = 0; i < n_y; i++)
        cri_svg_put(s, "<path d='M@ @h@'/>\n",
                    NUMBERS(s->left, s->top + cri_svg_y_at(s, y[i].value), -TICK));
    cri_svg_put(s, "</g>\n<g font-size='@' fill='" GREY "' text-anchor='middle'>\n",
                NUMBERS(LABEL_FONT));
    for (size_t i = 0; label_x && i < n_x; i++)
        cri_svg_label(s, "x='@' y='@'", NUMBERS(s->left + cri_svg_x_at(s, x[i].value), bottom + 19),
                      x[i].label, INFINITY, LABEL_FONT);
    cri_svg_raw(s, "</g>\n");
    cri_svg_put(s, "<g font-size='@' fill='" GREY "' text-anchor='end'>\n", NUMBERS(LABEL_FONT));
    for (size_t i = 0; i < n_y; i++)
        cri_svg_label(s, "x='@' y='@'",
                      NUMBERS(s->left - TICK - 3, s->top + cri_svg_y_at(s, y[i].value) + 4),
                      y[i].label, INFINITY, LABEL_FONT);
    cri_svg_raw(s, "</g>\n");
}

static void draw_axes(cri_svg *s, const layout *l)
{
    cri_svg_axes(s, l->x, l->n_x, l->y, l->n_y, true, true);
}

/* Labels above the area: those that do not run into the one before, nor into their title. */
static void draw_top(cri_svg *s, const cri_svg_frame *f)
{
    double last = -INFINITY, y = s->top - 8, right = s->left + s->area_width;
    double end = right - cri_svg_width(f->top_title, strlen(f->top_title), LABEL_FONT) - LABEL_GAP;
    cri_svg_put(s, "<g font-size='@' fill='" GREY "'>\n", NUMBERS(LABEL_FONT));
    cri_svg_label(s, "x='@' y='@' text-anchor='end'", NUMBERS(right, y), f->top_title, INFINITY,
                  LABEL_FONT);
    for (size_t i = 0; i < f->n_top; i++) {
        double x = s->left + cri_svg_x_at(s, f->top[i].value),
               half = cri_svg_label_width(&f->top[i]) / 2;
        if (x - half < last + LABEL_GAP || x + half > end) continue;
        cri_svg_label(s, "x='@' y='@' text-anchor='middle'", NUMBERS(x, y), f->top[i].label,
                      INFINITY, LABEL_FONT);
        cri_svg_put(s, "<path d='M@ @v-4' stroke='" GREY "'/>\n", NUMBERS(x, s->top));
        last = x + half;
    }
    cri_svg_raw(s, "</g>\n");
}

static void draw_titles(cri_svg *s, const cri_svg_frame *f)
{
    double middle = s->left + s->area_width / 2, centre = s->top + s->area_height / 2;
    double y = s->top + s->area_height + 41;

    cri_svg_put(s, "<g font-size='@'>\n", NUMBERS(TEXT_FONT));
    cri_svg_label(s, "x='@' y='@' text-anchor='middle'", NUMBERS(middle, y), f->x.title,
                  s->area_width, TEXT_FONT);
    cri_svg_label(s, "transform='translate(@ @) rotate(-90)' text-anchor='middle'",
                  NUMBERS(EDGE + TEXT_FONT - 2, centre), f->y.title, s->area_height, TEXT_FONT);
    cri_svg_raw(s, "</g>\n");
    cri_svg_put(s, "<g font-size='@' fill='" GREY "'>\n", NUMBERS(LABEL_FONT));
    cri_svg_captions(s, f->caption, EDGE, y + 25, 17, f->width - 2 * EDGE, LABEL_FONT);
    cri_svg_raw(s, "</g>\n");
}

/* --- the figure ------------------------------------------------------------------------------ */

cri_svg cri_svg_begin(cr_ctx *cx, const cri_svg_frame *f)
{
    cri_svg s = {
        .cx = cx, .x_low = f->x.low, .x_high = f->x.high, .y_low = f->y.low, .y_high = f->y.high
    };
    layout l;
    s.x_type = f->x.type;
    cri_svg_range(&s.x_low, &s.x_high);
    cri_svg_range(&s.y_low, &s.y_high);
    lay_out(&s, f, &l);
    for (int k = 0; f->equal && k < 3; k++) { /* other labels leave other space */
        equalise(&s);
        lay_out(&s, f, &l);
    }
    draw_head(&s, f);
    if (f->n_series) cri_svg_legend(&s, f);
    draw_axes(&s, &l);
    draw_titles(&s, f);
    if (f->n_top) draw_top(&s, f);
    cri_svg_put(&s, "<svg x='@' y='@' width='@' height='@' overflow='hidden'>\n",
                NUMBERS(s.left, s.top, s.area_width, s.area_height));
    return s;
}

void cri_svg_head(cri_svg *s, const cri_svg_page *page)
{
    cri_svg_frame f = { .width = page->width,
                        .height = page->height,
                        .title = page->title,
                        .description = page->description,
                        .series = page->series,
                        .n_series = page->n_series };
    draw_head(s, &f);
    if (f.n_series) cri_svg_legend(s, &f);
}

/* --- marks ----------------------------------------------------------------------------------- */

static bool known(double x, double a, double b) { return !isnan(x) && !isnan(a) && !isnan(b); }

void cri_svg_points(cri_svg *s, const cri_svg_series *look, const double *x, const double *y,
                    size_t n)
{
    cri_svg_open_group(s, look, 0);
    for (size_t i = 0; i < n; i++)
        if (known(x[i], y[i], 0))
            cri_svg_put(s, "<circle cx='@' cy='@' r='@'/>\n",
                        NUMBERS(cri_svg_x_at(s, x[i]), cri_svg_y_at(s, y[i]), look->size));
    cri_svg_raw(s, "</g>\n");
}

void cri_svg_line(cri_svg *s, const cri_svg_series *look, const double *x, const double *y,
                  size_t n)
{
    bool pen = false; /* down */
    cri_svg_open_group(s, look, 0);
    cri_svg_raw(s, "<path d='");
    for (size_t i = 0; i < n; i++) {
        bool here = known(x[i], y[i], 0);
        if (here)
            cri_svg_put(s, pen ? "L@ @" : "M@ @",
                        NUMBERS(cri_svg_x_at(s, x[i]), cri_svg_y_at(s, y[i])));
        pen = here;
    }
    cri_svg_raw(s, "'/>\n</g>\n");
}

void cri_svg_band(cri_svg *s, const cri_svg_series *look, const double *x, const double *lower,
                  const double *upper, size_t n)
{
    cri_svg_open_group(s, look, 0);
    for (size_t i = 0, end; i < n; i = end + 1) { /* one area for each run of known values */
        for (end = i; end < n && known(x[end], lower[end], upper[end]);) end++;
        if (end - i < 2) continue;
        cri_svg_raw(s, "<path d='");
        for (size_t k = i; k < end; k++)
            cri_svg_put(s, k == i ? "M@ @" : "L@ @",
                        NUMBERS(cri_svg_x_at(s, x[k]), cri_svg_y_at(s, upper[k])));
        for (size_t k = end; k-- > i;)
            cri_svg_put(s, "L@ @", NUMBERS(cri_svg_x_at(s, x[k]), cri_svg_y_at(s, lower[k])));
        cri_svg_raw(s, "z'/>\n");
    }
    cri_svg_raw(s, "</g>\n");
}

void cri_svg_bars(cri_svg *s, const cri_svg_series *look, const double *x, const double *lower,
                  const double *upper, size_t n)
{
    cri_svg_open_group(s, look, 0);
    for (size_t i = 0; i < n; i++)
        if (known(x[i], lower[i], upper[i]) && lower[i] != upper[i]) /* else nothing is seen */
            cri_svg_put(s, "<path d='M@ @V@'/>\n",
                        NUMBERS(cri_svg_x_at(s, x[i]), cri_svg_y_at(s, lower[i]),
                                cri_svg_y_at(s, upper[i])));
    cri_svg_raw(s, "</g>\n");
}

void cri_svg_arrows(cri_svg *s, const cri_svg_series *look, const double *x, const double *y,
                    size_t n)
{
    double x0 = cri_svg_x_at(s, 0), y0 = cri_svg_y_at(s, 0), head = 4 + 2 * look->size;
    cri_svg_open_group(s, look, 0);
    for (size_t i = 0; i < n; i++) {
        double dx = cri_svg_x_at(s, x[i]) - x0, dy = cri_svg_y_at(s, y[i]) - y0;
        double length = hypot(dx, dy), of = fmin(head, length / 2);
        if (!(length > 0.01)) continue; /* also NaN */
        dx *= of / length, dy *= of / length;
        double tip_x = cri_svg_x_at(s, x[i]), tip_y = cri_svg_y_at(s, y[i]);
        cri_svg_put(s, "<path d='M@ @L@ @M@ @L@ @L@ @'/>\n",
                    NUMBERS(x0, y0, tip_x, tip_y, tip_x - dx - dy / 2, tip_y - dy + dx / 2, tip_x,
                            tip_y, tip_x - dx + dy / 2, tip_y - dy - dx / 2));
    }
    cri_svg_raw(s, "</g>\n");
}

cr_status cri_svg_page_save(cri_svg *s, const char *path)
{
    cri_svg_raw(s, "</svg>\n");
    if (s->status != CR_OK) return s->status;
    return cri_file_save(s->cx, path, s->bytes, s->size);
}

cr_status cri_svg_save(cri_svg *s, const char *path)
{
    cri_svg_raw(s, "</svg>\n");
    return cri_svg_page_save(s, path);
}

void cri_svg_end(cri_svg *s)
{
    cr_free(s->cx, s->bytes, s->capacity, 1);
    s->bytes = NULL;
    s->size = s->capacity = 0;
}

/* --- sheets ---------------------------------------------------------------------------------- */

cri_svg cri_svg_sheet(cr_ctx *cx, double width, double height, const char *title,
                      const char *description)
{
    cri_svg s = { .cx = cx };
    draw_head(&s,
              &(cri_svg_frame){
                  .width = width, .height = height, .title = title, .description = description });
    cri_svg_raw(&s, "<svg>\n"); /* which cri_svg_save closes */
    return s;
}

void cri_svg_escape(cri_svg *s, const char *text) { put_text(s, text, strlen(text)); }
