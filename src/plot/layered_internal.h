/* layered_internal.h -- what the steps of a layered drawing share.  (Internal header.)
 * Vertices are the boxes, then a point for every layer that a link passes.  Segments join vertices
 * of neighbouring layers. */
#ifndef CREDENCE_PLOT_LAYERED_INTERNAL_H
#define CREDENCE_PLOT_LAYERED_INTERNAL_H

#include "layered.h"

/* For each vertex a list of neighbours: to[begin[v]] .. to[begin[v + 1] - 1]. */
typedef struct cri_lists {
    size_t *begin, *to;
} cri_lists;

typedef struct cri_layers {
    size_t    n, boxes;      /* vertices; of these, boxes           */
    size_t    layers, *size; /* [layers] vertices in each           */
    size_t  **order;         /* [layers][size] from left to right   */
    size_t   *layer, *place; /* [n] of a vertex, and where it is in it */
    double   *width;         /* [n] with half of the gap on each side  */
    double   *x;             /* [n] found                           */
    cri_lists up, down;      /* sorted by place                     */
} cri_layers;

/* Sorts the lists of neighbours by their places. */
void cri_layers_sort(cri_layers *g);
/* Orders the layers so that few segments cross. */
cr_status cri_layers_order(cr_scratch *s, cri_layers *g);
/* How many pairs of segments cross. */
cr_status cri_layers_crossings(cr_scratch *s, const cri_layers *g, size_t *out);
/* Finds x. */
cr_status cri_layers_align(cr_scratch *s, cri_layers *g);

#endif
