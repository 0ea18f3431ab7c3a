/* map_text.c -- maps as text: the denser the character, the higher the value. */
#include "map.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL = 10 };

static const char shades[] = " .:-=+*#%@"; /* low .. high */

static double shown(double at, bool is_log) { return is_log ? pow(10, at) : at; }

static char shade_of(const cri_map *map, double z)
{
    size_t n = sizeof shades - 1;
    if (isnan(z)) return '?';
    double t = map->high > map->low ? (z - map->low) / (map->high - map->low) : 0;
    double k = fmin(fmax(floor(t * (double)n), 0), (double)n - 1);
    return shades[(size_t)k];
}

static size_t place(double v, double low, double high, size_t n)
{
    double t = (v - low) / (high - low) * (double)n;
    return t >= 0 && t < (double)n ? (size_t)t : SIZE_MAX;
}

/* Points that would hide the map are left out. */
static bool shows_points(const cri_maps *m, size_t width, size_t height)
{
    return m->points > 0 && 10 * m->points < width * height;
}

/* 'o', or 'a', 'b', .. by the group of the point. */
static char glyph_of(const cri_maps *m, size_t point)
{
    static const char letters[CRI_MAP_GROUPS] = { 'a', 'b', 'c', 'd', 'e', 'f', 'g' };
    for (size_t g = 0; g < m->groups; g++)
        if (point < m->group[g].end) return letters[g];
    return 'o';
}

static void fill(const cri_maps *m, const cri_map *map, size_t width, size_t height, char *cells)
{
    for (size_t r = 0; r < height; r++)
        for (size_t c = 0; c < width; c++) {
            size_t i = (height - 1 - r) * m->rows / height, j = c * m->cols / width;
            cells[r * width + c] = shade_of(map, map->z[i * m->cols + j]);
        }
    for (size_t i = 0; shows_points(m, width, height) && i < m->points; i++) {
        size_t c = place(m->at_x[i], m->x.low, m->x.high, width);
        size_t r = place(m->at_y[i], m->y.low, m->y.high, height);
        if (c != SIZE_MAX && r != SIZE_MAX) cells[(height - 1 - r) * width + c] = glyph_of(m, i);
    }
    for (size_t i = 0; i < m->rings; i++) {
        size_t c = place(m->ring_x[i], m->x.low, m->x.high, width);
        size_t r = place(m->ring_y[i], m->y.low, m->y.high, height);
        if (c != SIZE_MAX && r != SIZE_MAX) cells[(height - 1 - r) * width + c] = '@';
    }
    if (!m->marked) return;
    size_t c = place(m->mark_x, m->x.low, m->x.high, width);
    size_t r = place(m->mark_y, m->y.low, m->y.high, height);
    if (c != SIZE_MAX && r != SIZE_MAX) cells[(height - 1 - r) * width + c] = 'X';
}

static void say_map(cri_writer *w, const cri_maps *m, const cri_map *map, size_t width,
                    size_t height, char *cells)
{
    char ends[2][32];
    fill(m, map, width, height, cells);
    cri_say(w, "\n%s\n\n%*s  %s\n", map->title ? map->title : "", LABEL, "", m->y.title);
    for (size_t r = 0; r < height; r++) {
        double at = cri_cell(m->y.low, m->y.high, height - 1 - r, height);
        if (r % 5 == 0 || r + 1 == height)
            cri_say(w, "%*.4g |", LABEL, shown(at, m->log_y));
        else
            cri_say(w, "%*s |", LABEL, "");
        cri_say(w, "%.*s|\n", (int)width, cells + r * width);
    }
    cri_say(w, "%*s +", LABEL, "");
    for (size_t c = 0; c < width; c++) cri_say(w, "-");
    int a = snprintf(ends[0], sizeof ends[0], "%.4g", shown(m->x.low, m->log_x));
    int b = snprintf(ends[1], sizeof ends[1], "%.4g", shown(m->x.high, m->log_x));
    cri_say(w, "\n%*s  %s%*s%s\n", LABEL, "", ends[0], (int)width - a - b, "", ends[1]);
    cri_say(w, "%*s  %s\n", LABEL, "", m->x.title);
    cri_say(w, "%*s  %.4g ", LABEL, "", map->low);
    for (size_t i = 0; i + 1 < sizeof shades; i++) cri_say(w, "%c", shades[i]);
    cri_say(w, "| %.4g", map->high);
    if (shows_points(m, width, height) && !m->groups) cri_say(w, "   o rows of the data");
    for (size_t g = 0; shows_points(m, width, height) && g < m->groups; g++)
        cri_say(w, "   %c %s", glyph_of(m, m->group[g].begin), m->group[g].name);
    if (m->rings) cri_say(w, "   @ %s", m->ring_label);
    if (m->marked) cri_say(w, "   X %s", m->mark_label);
    cri_say(w, "\n");
}

cr_status cri_maps_text(cr_scratch *s, const cri_maps *m, size_t width, size_t height,
                        const char **out)
{
    if (width < 2 || height < 2)
        return cr_fail(s->cx, CR_EARG, "a figure of text needs at least 2 columns and 2 rows");
    char       *cells = cr_scratch_bytes(s, width * height, 1);
    cri_writer  w = { .capacity = m->n * ((width + LABEL + 8) * (height + 6) + 512) + 2048 };
    const char *texts[] = { m->title,        m->x.title,    m->y.title,    m->text_caption,
                            m->caption[0],   m->caption[1], m->mark_label, m->map[0].title,
                            m->map[1].title, m->ring_label };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        w.capacity += texts[i] ? 2 * strlen(texts[i]) : 0;
    for (size_t g = 0; g < m->groups; g++) w.capacity += m->n * (strlen(m->group[g].name) + 8);
    w.text = cr_scratch_bytes(s, w.capacity, 1);
    if (s->status != CR_OK) return s->status;
    cri_say(&w, "%s\n", m->title);
    for (size_t k = 0; k < m->n; k++) say_map(&w, m, &m->map[k], width, height, cells);
    for (size_t i = 0; i < 2; i++) {
        const char *caption = i == 0 && m->text_caption ? m->text_caption : m->caption[i];
        if (caption) cri_say(&w, "\n%s\n", caption);
    }
    *out = w.text;
    return CR_OK;
}
