/* map.h -- values over a plane as data: one or two maps side by side; drawn as SVG or as text.
 * (Internal header.) */
#ifndef CREDENCE_PLOT_MAP_H
#define CREDENCE_PLOT_MAP_H

#include "chart.h"

enum { CRI_MAPS = 2, CRI_MAP_LEVELS = 6, CRI_MAP_GROUPS = 7 };

typedef struct cri_map {
    const char   *title;
    const double *z;  /* [rows x cols] at the middles of the cells, the first row at the bottom */
    double low, high; /* of the colours                                                        */
} cri_map;

/* Rows of one class: the points begin .. end - 1. */
typedef struct cri_map_group {
    const char *name;
    size_t      begin, end;
} cri_map_group;

typedef struct cri_maps {
    const char   *title, *description, *caption[2];
    const char   *text_caption; /* of text, where the maps stand below each other and have no lines;
                                 * NULL: caption[0] */
    cri_svg_axis  x, y;
    bool          log_x, log_y; /* the axis holds logarithms to base 10 */
    size_t        rows, cols;
    cri_map       map[CRI_MAPS];
    size_t        n;
    const double *at_x, *at_y; /* [points] rows of the data                     */
    size_t        points;
    cri_map_group group[CRI_MAP_GROUPS]; /* of the points; without any all look the same */
    size_t        groups;
    const double *ring_x, *ring_y; /* [rings] rings about some places, with this name */
    size_t        rings;
    const char   *ring_label;
    bool          marked; /* a cross at (mark_x, mark_y), with this name   */
    double        mark_x, mark_y;
    const char   *mark_label;
    double        level[CRI_MAP_LEVELS]; /* contours of the first map  */
    size_t        levels;
    const char   *level_label;
} cri_maps;

/* The middle of cell i of n between low and high. */
static inline double cri_cell(double low, double high, size_t i, size_t n)
{
    double t = ((double)i + 0.5) / (double)n;
    return (1 - t) * low + t * high;
}

/* Draws to a file. */
cr_status cri_maps_svg(cr_ctx *cx, const cri_maps *maps, const char *path);
/* Draws each map into about width x height characters; the text is the scratch's. */
cr_status cri_maps_text(cr_scratch *s, const cri_maps *maps, size_t width, size_t height,
                        const char **out_text);
/* The middles of the cells along both axes, the values there, points and mark, for programs:
 * title, x_title, y_title, x, y, maps (chart_points.c). */
void cri_maps_put(const cri_maps *maps, cri_sheet *to);

#endif
