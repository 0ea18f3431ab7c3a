/* chart_json.c -- the points of a figure, for programs. */
#include "map.h"
#include "../base/context_internal.h"

#include <jansson.h>
#include <math.h>

static const char *const marks[] = { [CRI_SVG_POINTS] = "points",
                                     [CRI_SVG_LINE] = "line",
                                     [CRI_SVG_BAND] = "band",
                                     [CRI_SVG_BARS] = "bars" };

static json_t *numbers(const double *x, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, isfinite(x[i]) ? json_real(x[i]) : json_null());
    return list;
}

static json_t *names(const char *const *levels, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(list, json_string_nocheck(levels[i]));
    return list;
}

/* A series of the legend; those without a name only help the eye. */
static json_t *series_object(const cri_chart *chart, const cri_chart_series *k)
{
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string_nocheck(k->look.label));
    json_object_set_new(o, "form", json_string(marks[k->look.mark]));
    json_object_set_new(o, "x", chart->levels ? names(chart->levels, k->n) : numbers(k->x, k->n));
    json_object_set_new(o, k->upper ? "lower" : "y", numbers(k->y, k->n));
    if (k->upper) json_object_set_new(o, "upper", numbers(k->upper, k->n));
    return o;
}

static json_t *chart_object(const cri_chart *chart)
{
    json_t *root = json_object(), *all = json_array();
    json_object_set_new(root, "title", json_string_nocheck(chart->title));
    json_object_set_new(root, "x_title", json_string_nocheck(chart->x.title));
    json_object_set_new(root, "y_title", json_string_nocheck(chart->y.title));
    json_object_set_new(root, "series", all);
    for (size_t k = 0; k < chart->n; k++)
        if (chart->series[k].look.label)
            json_array_append_new(all, series_object(chart, &chart->series[k]));
    return root;
}

/* The object as a text of the scratch's; takes it. */
static cr_status print_object(cr_scratch *s, json_t *root, const char **out_text)
{
    size_t length = json_dumpb(root, NULL, 0, JSON_COMPACT);
    char  *text = length ? cr_scratch_bytes(s, length + 1, 1) : NULL;
    if (text) json_dumpb(root, text, length, JSON_COMPACT), text[length] = 0;
    json_decref(root);
    *out_text = text;
    return length ? s->status : cri_fail_memory(s->cx, 1);
}

cr_status cri_chart_json(cr_scratch *s, const cri_chart *chart, const char **out_text)
{
    return print_object(s, chart_object(chart), out_text);
}

cr_status cri_charts_json(cr_scratch *s, const char *title, double constant,
                          const cri_chart *charts, size_t n, const char **out_text)
{
    json_t *root = json_object(), *all = json_array();
    json_object_set_new(root, "title", json_string_nocheck(title));
    if (!isnan(constant)) json_object_set_new(root, "constant", json_real(constant));
    json_object_set_new(root, "parts", all);
    for (size_t k = 0; k < n; k++) json_array_append_new(all, chart_object(&charts[k]));
    return print_object(s, root, out_text);
}

/* --- maps ------------------------------------------------------------------------------------ */

static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

/* The middles of n cells. */
static json_t *cells(const cri_svg_axis *axis, bool is_log, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        double at = cri_cell(axis->low, axis->high, i, n);
        json_array_append_new(list, number(is_log ? pow(10, at) : at));
    }
    return list;
}

/* z as rows along y of values along x. */
static json_t *map_object(const cri_maps *m, const cri_map *map)
{
    json_t *o = json_object(), *rows = json_array();
    json_object_set_new(o, "name", json_string_nocheck(map->title));
    json_object_set_new(o, "z", rows);
    for (size_t i = 0; i < m->rows; i++)
        json_array_append_new(rows, numbers(map->z + i * m->cols, m->cols));
    return o;
}

cr_status cri_maps_json(cr_scratch *s, const cri_maps *m, const char **out_text)
{
    json_t *root = json_object(), *all = json_array(), *points = json_object(),
           *mark = json_object();
    json_object_set_new(root, "title", json_string_nocheck(m->title));
    json_object_set_new(root, "x_title", json_string_nocheck(m->x.title));
    json_object_set_new(root, "y_title", json_string_nocheck(m->y.title));
    json_object_set_new(root, "x", cells(&m->x, m->log_x, m->cols));
    json_object_set_new(root, "y", cells(&m->y, m->log_y, m->rows));
    json_object_set_new(root, "maps", all);
    for (size_t k = 0; k < m->n; k++) json_array_append_new(all, map_object(m, &m->map[k]));
    json_object_set_new(points, "x", numbers(m->at_x, m->points));
    json_object_set_new(points, "y", numbers(m->at_y, m->points));
    if (m->points) json_object_set(root, "points", points);
    json_object_set_new(mark, "name", json_string_nocheck(m->marked ? m->mark_label : ""));
    json_object_set_new(mark, "x", number(m->log_x ? pow(10, m->mark_x) : m->mark_x));
    json_object_set_new(mark, "y", number(m->log_y ? pow(10, m->mark_y) : m->mark_y));
    if (m->marked) json_object_set(root, "mark", mark);
    json_decref(points);
    json_decref(mark);
    return print_object(s, root, out_text);
}
