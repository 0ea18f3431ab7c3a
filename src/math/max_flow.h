/* max_flow.h -- the largest flow, and with it the smallest cut, between a source and a sink.
 * Every vertex may have an arc from the source and one to the sink; arcs between vertices have a
 * capacity in each direction.  Capacities are any numbers >= 0.
 * Dinic (1970): blocking flows in layers; O(vertices^2 arcs), on grids of images much less.
 * (Internal header.) */
#ifndef CREDENCE_MATH_MAX_FLOW_H
#define CREDENCE_MATH_MAX_FLOW_H

#include "base/scratch.h"

typedef struct cri_flow cri_flow;

/* A network of n vertices with room for m pairs of arcs, in the arena; NULL once that has failed.
 */
cri_flow *cri_flow_new(cr_scratch *s, size_t n, size_t m);
/* Takes all arcs and capacities out again. */
void cri_flow_clear(cri_flow *f);
/* Adds to the capacities from the source to v and from v to the sink. */
void cri_flow_terminal(cri_flow *f, size_t v, double from_source, double to_sink);
/* Adds a pair of arcs: u to v, and back. */
void cri_flow_arc(cri_flow *f, size_t u, size_t v, double there, double back);
/* Finds the largest flow, *out_flow, once all arcs are there. */
cr_status cri_flow_run(cr_scratch *s, cri_flow *f, double *out_flow);
/* Is v on the source's side of a smallest cut? */
bool cri_flow_reached(const cri_flow *f, size_t v);

#endif
