/* layered.h -- a directed graph without cycles drawn in layers, arrows downwards.
 * Four steps (Sugiyama, Tagawa & Toda 1981): layers, so that every arrow goes down and arrows are
 * short; an order within each layer with few crossings, arrows that pass a layer being a place of
 * their own in it; positions, so that long arrows run straight (Brandes & Koepf 2002); and a place
 * for each arrow on the edges of its boxes.  Parts that hang together are drawn one beside another.
 * O(sweeps x links x log boxes), where a link counts once for every layer it crosses.
 * (Internal header.) */
#ifndef CREDENCE_PLOT_LAYERED_H
#define CREDENCE_PLOT_LAYERED_H

#include "base/scratch.h"

typedef struct cri_box {
    double width, height; /* given                            */
    double x, y;          /* the middle, found                */
    size_t layer;         /* found: 0 is at the top           */
} cri_box;

typedef struct cri_link {
    size_t  from, to; /* boxes                                                     */
    size_t  n;        /* found: its points, first on one box, last on the other    */
    double *x, *y;    /* [n] at each point but the ends the line runs vertically   */
} cri_link;

typedef struct cri_spacing {
    double across; /* between boxes of a layer                                 */
    double down;   /* between layers, at the least                             */
    double slope;  /* more between them where lines go far: this part of that  */
    double aspect; /* wanted width to height, where parts can be moved freely  */
} cri_spacing;

/* Places n boxes and m links (no loops, no cycle: CR_EARG), from (0, 0).  Memory is the arena's. */
cr_status cri_layered_place(cr_scratch *s, size_t n, cri_box *box, size_t m, cri_link *link,
                            const cri_spacing *spacing, double *out_width, double *out_height);

#endif
