/* map.c -- maps as SVG: colours between the values, contours, data, the scale beside. */
#include "map.h"

#include <math.h>

enum { FINE = 110 }; /* cells of colour a side; values between are interpolated */

static const double WIDTH = 760, TALL = 520, LOW = 430;

/* z[i] of n values `step` apart, continued in a straight line beyond the ends. */
static double value_at(const double *z, size_t n, size_t step, long i)
{
    long last = (long)n - 1;
    if (n == 1) return z[0];
    if (i < 0) return z[0] + (double)i * (z[step] - z[0]);
    const double *end = z + (size_t)last * step;
    if (i > last) return *end + (double)(i - last) * (*end - *(end - step));
    return z[(size_t)i * step];
}

/* Cubic between four values in a row, through the middle two (Catmull & Rom 1974). */
static double cubic(const double v[4], double t)
{
    return v[1] + 0.5 * t *
                      (v[2] - v[0] +
                       t * (2 * v[0] - 5 * v[1] + 4 * v[2] - v[3] +
                            t * (3 * (v[1] - v[2]) + v[3] - v[0])));
}

/* The finer grid: first along the rows, then across them. */
static void refine(const cri_maps *m, const double *z, double *workspace, double *out)
{
    double v[4];
    for (size_t r = 0; r < m->rows; r++)
        for (size_t c = 0; c < FINE; c++) {
            double at = ((double)c + 0.5) / FINE * (double)m->cols - 0.5, low = floor(at);
            for (int k = 0; k < 4; k++)
                v[k] = value_at(z + r * m->cols, m->cols, 1, (long)low + k - 1);
            workspace[r * FINE + c] = cubic(v, at - low);
        }
    for (size_t r = 0; r < FINE; r++)
        for (size_t c = 0; c < FINE; c++) {
            double at = ((double)r + 0.5) / FINE * (double)m->rows - 0.5, low = floor(at);
            for (int k = 0; k < 4; k++)
                v[k] = value_at(workspace + c, m->rows, FINE, (long)low + k - 1);
            out[r * FINE + c] = cubic(v, at - low);
        }
}

/* Apart from each other and from the colours of a map, white edges given. */
static const char *const group_colours[CRI_MAP_GROUPS] = {
    CRI_SVG_VERMILLION, CRI_SVG_SKY, CRI_SVG_BLACK, "#CC79A7", CRI_SVG_ORANGE, "#F0E442", "#999999"
};

static void draw_points(cri_svg *svg, const cri_maps *m)
{
    bool           many = m->points > 300; /* they would hide the map */
    double         size = m->groups ? (many ? 2 : 3) : many ? 1.2 : 2.4;
    cri_svg_series edge = { NULL, CRI_SVG_POINTS, "#ffffff", 0.85, size + 1, false };
    cri_svg_series dot = { NULL, CRI_SVG_POINTS, CRI_SVG_BLACK, many ? 0.55 : 0.85, size, false };
    if (!many) cri_svg_points(svg, &edge, m->at_x, m->at_y, m->points);
    if (!m->groups) cri_svg_points(svg, &dot, m->at_x, m->at_y, m->points);
    for (size_t g = 0; g < m->groups; g++) {
        size_t begin = m->group[g].begin;
        dot.colour = group_colours[g], dot.opacity = many ? 0.8 : 1;
        cri_svg_points(svg, &dot, m->at_x + begin, m->at_y + begin, m->group[g].end - begin);
    }
}

/* Rings of black in white, about the points of rows. */
static void draw_rings(cri_svg *svg, const cri_maps *m)
{
    cri_svg_series white = { NULL, CRI_SVG_RINGS, "#ffffff", 0.9, 7.8, false };
    cri_svg_series black = { NULL, CRI_SVG_RINGS, CRI_SVG_BLACK, 1, 6.2, false };
    cri_svg_points(svg, &white, m->ring_x, m->ring_y, m->rings);
    cri_svg_points(svg, &black, m->ring_x, m->ring_y, m->rings);
}

static void draw_mark(cri_svg *svg, const cri_maps *m)
{
    cri_svg_series edge = { NULL, CRI_SVG_POINTS, "#ffffff", 1, 6.5, false };
    cri_svg_series dot = { NULL, CRI_SVG_POINTS, CRI_SVG_VERMILLION, 1, 5, false };
    cri_svg_points(svg, &edge, &m->mark_x, &m->mark_y, 1);
    cri_svg_points(svg, &dot, &m->mark_x, &m->mark_y, 1);
}

static void draw_map(cri_svg *svg, const cri_maps *m, size_t k, double x, double top, double width,
                     double height, double *work, double *workspace)
{
    const cri_map *map = &m->map[k];
    double         span = map->high - map->low;
    refine(m, map->z, work, workspace);
    for (size_t i = 0; i < FINE * FINE; i++)
        workspace[i] = (workspace[i] - map->low) / (span > 0 ? span : 1);
    cri_svg_panel_begin(svg, &(cri_svg_panel){ .x = x,
                                               .y = top,
                                               .width = width - 62,
                                               .height = height,
                                               .title = map->title,
                                               .across = m->x,
                                               .up = m->y,
                                               .log_across = m->log_x,
                                               .log_up = m->log_y,
                                               .few = true });
    cri_svg_cells(svg, workspace, FINE, FINE);
    for (size_t l = 0; k == 0 && l < m->levels; l++)
        cri_svg_contour(
            svg, &(cri_svg_series){ NULL, CRI_SVG_LINE, "#ffffff", 0.9, l == 0 ? 2 : 1.2, false },
            workspace, FINE, FINE, (m->level[l] - map->low) / (span > 0 ? span : 1));
    if (m->rings) draw_rings(svg, m);
    if (m->points) draw_points(svg, m);
    if (m->marked) draw_mark(svg, m);
    cri_svg_panel_end(svg);
    cri_svg_colour_bar(svg, svg->left + svg->area_width + 10, svg->top, svg->area_height, map->low,
                       map->high);
}

cr_status cri_maps_svg(cr_ctx *cx, const cri_maps *m, const char *path)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *workspace = cr_scratch_matrix(&s, FINE, FINE),
           *work = cr_scratch_matrix(&s, m->rows, FINE);
    double         top, height;
    cri_svg        svg = { .cx = cx };
    cri_svg_series legend[4 + CRI_MAP_GROUPS];
    cri_svg_page   page = { .width = WIDTH,
                            .height = m->n == 1 ? TALL : LOW,
                            .title = m->title,
                            .description = m->description,
                            .series = legend,
                            .caption = { m->caption[0], m->caption[1] } };

    CR_TRY(s.status);
    for (size_t g = 0; g < m->groups; g++)
        legend[page.n_series++] =
            (cri_svg_series){ m->group[g].name, CRI_SVG_POINTS, group_colours[g], 1, 3.4, false };
    if (m->points && !m->groups)
        legend[page.n_series++] =
            (cri_svg_series){ "rows of the data", CRI_SVG_POINTS, CRI_SVG_BLACK, 0.8, 2.6, false };
    if (m->rings)
        legend[page.n_series++] =
            (cri_svg_series){ m->ring_label, CRI_SVG_RINGS, CRI_SVG_BLACK, 1, 5, false };
    if (m->marked)
        legend[page.n_series++] =
            (cri_svg_series){ m->mark_label, CRI_SVG_POINTS, CRI_SVG_VERMILLION, 1, 5, false };
    if (m->level_label)
        legend[page.n_series++] =
            (cri_svg_series){ m->level_label, CRI_SVG_LINE, "#bbbbbb", 1, 2, false };
    cri_svg_page_area(&page, &top, &height);
    svg = cri_svg_page_begin(cx, &page);
    double width = (WIDTH - 16 - 8) / (double)m->n;
    for (size_t k = 0; k < m->n; k++)
        draw_map(&svg, m, k, 16 + (double)k * width, top, width, height, work, workspace);
    CR_TRY(cri_svg_page_save(&svg, path));
done:
    cri_svg_end(&svg);
    cr_scratch_end(&s);
    return st;
}
