/* chart_points.c -- the points of a figure, for programs. */
#include "map.h"

#include <math.h>

static const char *const marks[] = {
    [CRI_SVG_POINTS] = "points", [CRI_SVG_RINGS] = "points", [CRI_SVG_LINE] = "line",
    [CRI_SVG_BAND] = "band",     [CRI_SVG_BARS] = "bars",    [CRI_SVG_ARROWS] = "arrows"
};

/* A series of the legend; those without a name only help the eye. */
static void put_series(const cri_chart *chart, const cri_chart_series *k, cri_sheet *o)
{
    cri_put_text(o, "name", k->look.label);
    cri_put_text(o, "form", marks[k->look.mark]);
    if (chart->levels) {
        cri_sheet *levels = cri_put_list(o, "x");
        for (size_t i = 0; i < k->n; i++) cri_put_text(levels, NULL, chart->levels[i]);
    } else {
        cri_put_reals(o, "x", k->x, k->n);
    }
    cri_put_reals(o, k->upper ? "lower" : "y", k->y, k->n);
    if (k->upper) cri_put_reals(o, "upper", k->upper, k->n);
}

static void put_titles(const char *title, const cri_svg_axis *x, const cri_svg_axis *y,
                       cri_sheet *to)
{
    cri_put_text(to, "title", title);
    cri_put_text(to, "x_title", x->title);
    cri_put_text(to, "y_title", y->title);
}

void cri_chart_put(const cri_chart *chart, cri_sheet *to)
{
    put_titles(chart->title, &chart->x, &chart->y, to);
    cri_sheet *all = cri_put_list(to, "series");
    for (size_t k = 0; k < chart->n; k++)
        if (chart->series[k].look.label)
            put_series(chart, &chart->series[k], cri_put_object(all, NULL));
}

void cri_charts_put(const char *title, double constant, const cri_chart *charts, size_t n,
                    cri_sheet *to)
{
    cri_put_text(to, "title", title);
    if (!isnan(constant)) cri_put_real(to, "constant", constant);
    cri_sheet *all = cri_put_list(to, "parts");
    for (size_t k = 0; k < n; k++) cri_chart_put(&charts[k], cri_put_object(all, NULL));
}

/* --- maps ------------------------------------------------------------------------------------ */

/* The middles of n cells. */
static void put_cells(cri_sheet *to, const char *name, const cri_svg_axis *axis, bool is_log,
                      size_t n)
{
    cri_sheet *list = cri_put_list(to, name);
    for (size_t i = 0; i < n; i++) {
        double at = cri_cell(axis->low, axis->high, i, n);
        cri_put_real(list, NULL, is_log ? pow(10, at) : at);
    }
}

/* z as rows along y of values along x. */
static void put_map(const cri_maps *m, const cri_map *map, cri_sheet *o)
{
    cri_put_text(o, "name", map->title);
    cri_sheet *rows = cri_put_list(o, "z");
    for (size_t i = 0; i < m->rows; i++) cri_put_reals(rows, NULL, map->z + i * m->cols, m->cols);
}

void cri_maps_put(const cri_maps *m, cri_sheet *to)
{
    put_titles(m->title, &m->x, &m->y, to);
    put_cells(to, "x", &m->x, m->log_x, m->cols);
    put_cells(to, "y", &m->y, m->log_y, m->rows);
    cri_sheet *all = cri_put_list(to, "maps");
    for (size_t k = 0; k < m->n; k++) put_map(m, &m->map[k], cri_put_object(all, NULL));
    if (m->points) {
        cri_sheet *points = cri_put_object(to, "points");
        cri_put_reals(points, "x", m->at_x, m->points);
        cri_put_reals(points, "y", m->at_y, m->points);
    }
    if (m->rings) {
        cri_sheet *rings = cri_put_object(to, "marked");
        cri_put_text(rings, "name", m->ring_label);
        cri_put_reals(rings, "x", m->ring_x, m->rings);
        cri_put_reals(rings, "y", m->ring_y, m->rings);
    }
    if (m->marked) {
        cri_sheet *mark = cri_put_object(to, "mark");
        cri_put_text(mark, "name", m->mark_label);
        cri_put_real(mark, "x", m->log_x ? pow(10, m->mark_x) : m->mark_x);
        cri_put_real(mark, "y", m->log_y ? pow(10, m->mark_y) : m->mark_y);
    }
}
