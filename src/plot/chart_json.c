/* chart_json.c -- the points of a figure, for programs. */
#include "chart.h"
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

/* A series of the legend; those without a name only help the eye. */
static json_t *series_object(const cri_chart_series *k)
{
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string_nocheck(k->look.label));
    json_object_set_new(o, "form", json_string(marks[k->look.mark]));
    json_object_set_new(o, "x", numbers(k->x, k->n));
    json_object_set_new(o, k->upper ? "lower" : "y", numbers(k->y, k->n));
    if (k->upper) json_object_set_new(o, "upper", numbers(k->upper, k->n));
    return o;
}

cr_status cri_chart_json(cr_scratch *s, const cri_chart *chart, const char **out_text)
{
    json_t *root = json_object(), *all = json_array();
    json_object_set_new(root, "title", json_string_nocheck(chart->title));
    json_object_set_new(root, "x_title", json_string_nocheck(chart->x.title));
    json_object_set_new(root, "y_title", json_string_nocheck(chart->y.title));
    json_object_set_new(root, "series", all);
    for (size_t k = 0; k < chart->n; k++)
        if (chart->series[k].look.label) json_array_append_new(all, series_object(&chart->series[k]));
    size_t length = json_dumpb(root, NULL, 0, JSON_COMPACT);
    char  *text = length ? cr_scratch_bytes(s, length + 1, 1) : NULL;
    if (text) json_dumpb(root, text, length, JSON_COMPACT), text[length] = 0;
    json_decref(root);
    *out_text = text;
    return length ? s->status : cri_fail_memory(s->cx, 1);
}
