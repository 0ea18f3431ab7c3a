/* svg_notes.c -- texts in the plot area that do not overlap, and the colours of classes. */
#include "svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NOTES = 64, DIRECTIONS = 12, RINGS = 4, ALONG = 8 };

static const double FONT = 12, HEIGHT = 14, GAP = 7, BESIDE = 16, WIDEST = 170;

/* --- colours --------------------------------------------------------------------------------- */

/* Okabe & Ito, orange and sky blue darkened to a contrast of 3 on white; then six that differ from them. */
const char *cri_svg_class_colour(size_t k)
{
    static const char *const colours[CRI_SVG_CLASSES] = {
        CRI_SVG_BLUE, CRI_SVG_VERMILLION, CRI_SVG_GREEN, "#B87A00", "#2E8BC8", "#222222",
        "#AA4499",    "#7B5CC4",          "#8C564B",     "#6B8E00", "#D6336C", "#607D8B"
    };
    return k < CRI_SVG_CLASSES ? colours[k] : "#8A8A8A";
}

/* --- notes ----------------------------------------------------------------------------------- */

typedef struct box {
    double left, top, right, bottom;
} box;

/* What is in the way: marks, arrows and texts. */
typedef struct space {
    cri_svg *svg;
    box      taken[MOST_NOTES * (ALONG + 2)];
    size_t   n;
} space;

static double overlap(box a, box b)
{
    double wide = fmin(a.right, b.right) - fmax(a.left, b.left);
    double high = fmin(a.bottom, b.bottom) - fmax(a.top, b.top);
    return wide > 0 && high > 0 ? wide * high : 0;
}

/* How much of a box is covered, or outside the area. */
static double cost(const space *in, box b)
{
    double size = (b.right - b.left) * (b.bottom - b.top);
    double sum = size - overlap(b, (box){ 0, 0, in->svg->area_width, in->svg->area_height });
    for (size_t i = 0; i < in->n; i++) sum += overlap(b, in->taken[i]);
    return sum;
}

static void block(space *in, double x, double y, double half)
{
    in->taken[in->n++] = (box){ x - half, y - half, x + half, y + half };
}

static double width_of(const cri_svg_note *note)
{
    return fmin(cri_svg_width(note->text, strlen(note->text), FONT), WIDEST);
}

static void write_note(cri_svg *s, const cri_svg_note *note, double x, double y)
{
    cri_svg_raw(s, "<g fill='");
    cri_svg_raw(s, note->colour);
    cri_svg_raw(s, "'>");
    cri_svg_label(s, "x='@' y='@'", CRI_SVG_NUMBERS(x, y), note->text, WIDEST + 1, FONT);
    cri_svg_raw(s, "</g>\n");
}

/* Around a point in rings: where it covers least, and of such places the one nearest to the wanted direction. */
static void write_around(space *in, const cri_svg_note *note)
{
    cri_svg *s = in->svg;
    double   x = cri_svg_x_at(s, note->x), y = cri_svg_y_at(s, note->y), width = width_of(note);
    double   dx = x - cri_svg_x_at(s, 0), dy = y - cri_svg_y_at(s, 0), least = INFINITY;
    bool     outward = note->side == CRI_SVG_OUTWARD && (dx != 0 || dy != 0);
    double   wanted = outward ? atan2(dy, dx) : -M_PI / 4;
    box      best = { 0, 0, 0, 0 };
    for (int ring = 0; ring < RINGS; ring++)
        for (int turn = -DIRECTIONS / 2 + 1; turn <= DIRECTIONS / 2; turn++) {
            double angle = wanted + turn * 2 * M_PI / DIRECTIONS, away = GAP * (1 + 0.7 * ring);
            double middle_x = x + cos(angle) * (away + width / 2);
            double middle_y = y + sin(angle) * (away + HEIGHT / 2);
            box    b = { middle_x - width / 2, middle_y - HEIGHT / 2, middle_x + width / 2,
                         middle_y + HEIGHT / 2 };
            double c = cost(in, b) + 3 * abs(turn) + 5 * ring;
            if (c < least) least = c, best = b;
        }
    in->taken[in->n++] = best;
    write_note(s, note, (best.left + best.right) / 2, best.bottom - 3);
}

/* --- notes beside their points ---------------------------------------------------------------- */

/* Texts to the right, one below the other in the order of their points, as near to these as that allows: pushed down
 * until none overlaps, then back up into the area. */
static void write_beside(cri_svg *s, const cri_svg_note **notes, size_t n)
{
    double at[MOST_NOTES];
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && notes[k]->y > notes[k - 1]->y; k--) {
            const cri_svg_note *swap = notes[k];
            notes[k] = notes[k - 1], notes[k - 1] = swap;
        }
    for (size_t i = 0; i < n; i++) {
        at[i] = cri_svg_y_at(s, notes[i]->y);
        double least = i ? at[i - 1] + HEIGHT : HEIGHT / 2;
        if (at[i] < least) at[i] = least;
    }
    double over = n ? at[n - 1] - (s->area_height - HEIGHT / 2) : 0;
    for (size_t i = n; i-- > 0 && over > 0;) {
        double most = i + 1 < n ? at[i + 1] - HEIGHT : s->area_height - HEIGHT / 2;
        if (at[i] > most) at[i] = most;
    }
    for (size_t i = 0; i < n; i++) {
        double x = cri_svg_x_at(s, notes[i]->x), y = cri_svg_y_at(s, notes[i]->y);
        if (fabs(at[i] - y) > 5)
            cri_svg_put(s, "<path d='M@ @L@ @' fill='none' stroke='#999999' stroke-width='0.7'/>\n",
                        CRI_SVG_NUMBERS(x + 4, y, x + BESIDE - 2, at[i]));
        write_note(s, notes[i], x + BESIDE + width_of(notes[i]) / 2, at[i] + 4);
    }
}

void cri_svg_notes(cri_svg *s, const cri_svg_note *notes, size_t n)
{
    const cri_svg_note *beside[MOST_NOTES];
    size_t              n_beside = 0;
    space               in = { .svg = s };
    if (n > MOST_NOTES) n = MOST_NOTES;
    if (n == 0) return;
    for (size_t i = 0; i < n; i++) {
        double x = cri_svg_x_at(s, notes[i].x), y = cri_svg_y_at(s, notes[i].y);
        double x0 = cri_svg_x_at(s, 0), y0 = cri_svg_y_at(s, 0);
        block(&in, x, y, 5);
        for (int k = 1; k <= ALONG && notes[i].side == CRI_SVG_OUTWARD; k++)
            block(&in, x0 + (x - x0) * k / (ALONG + 1), y0 + (y - y0) * k / (ALONG + 1), 3);
    }
    cri_svg_put(s,
                "<g font-size='@' font-weight='600' text-anchor='middle' stroke='#ffffff' "
                "stroke-width='3' stroke-linejoin='round' paint-order='stroke'>\n",
                CRI_SVG_NUMBERS(FONT));
    for (size_t i = 0; i < n; i++) {
        if (isnan(notes[i].x) || isnan(notes[i].y)) continue;
        if (notes[i].side == CRI_SVG_BESIDE)
            beside[n_beside++] = &notes[i];
        else
            write_around(&in, &notes[i]);
    }
    write_beside(s, beside, n_beside);
    cri_svg_raw(s, "</g>\n");
}
