/* grid_internal.h -- the ways to label a grid.  (Internal header.) */
#ifndef CREDENCE_GRAPH_IMAGE_GRID_INTERNAL_H
#define CREDENCE_GRAPH_IMAGE_GRID_INTERNAL_H

#include "grid.h"

/* J min(|a - b|, T). */
static inline double cri_grid_pair(const cr_grid *g, size_t a, size_t b)
{
    double d = a > b ? (double)(a - b) : (double)(b - a);
    return g->coupling * (d < g->truncate ? d : g->truncate);
}

/* Each starts from x, and leaves its labels there. */
cr_status cri_grid_cut(cr_ctx *cx, const cr_grid *g, const cr_grid_options *o, size_t *x,
                       cr_grid_report *r);
cr_status cri_grid_max_product(cr_ctx *cx, const cr_grid *g, const cr_grid_options *o, size_t *x,
                               cr_grid_report *r);

#endif
