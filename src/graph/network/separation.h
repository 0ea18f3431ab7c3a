/* separation.h -- which variables tell nothing about which, from the graph alone.
 * d-separation: a trail is active given Z when every collider on it is in Z or has a descendant in
 * Z and no other node on it is in Z.  x and y are d-separated given Z when no trail between them is
 * active; then they are independent given Z in every distribution over the graph. Koller & Friedman
 * (2009), sec. 3.3 (algorithm 3.1), 4.3; deterministic nodes: Geiger, Verma & Pearl (1990),
 * "Identifying independence in Bayesian networks". */
#ifndef CREDENCE_GRAPH_NETWORK_SEPARATION_H
#define CREDENCE_GRAPH_NETWORK_SEPARATION_H

#include "structure.h"

/* Are x and y separated given the marked variables (given [variables])?  In a Bayesian network by
 * d-separation, in a Markov network by paths.  If not, opt_trail [variables] gets the nodes of an
 * active trail from x to y, and *opt_length how many.  x or y that is given is separated from
 * everything. O(variables + arcs). */
CR_API cr_status cr_separated(cr_ctx *cx, const cr_network *net, size_t x, size_t y,
                              const bool *given, bool *out_separated, size_t *opt_trail,
                              size_t *opt_length);
/* Marks the variables that an active trail from x reaches given the marked ones. */
CR_API cr_status cr_reachable(cr_ctx *cx, const cr_network *net, size_t x, const bool *given,
                              bool *out_mark);
/* Adds to the given variables those that they determine: nodes of deterministic tables (each row
 * has a 1) whose parents are all given.  With it, cr_separated finds more independences. */
CR_API cr_status cr_determined(cr_ctx *cx, const cr_network *net, bool *inout_given);
/* Is every independence of `map` (Bayesian) one of `net`, as far as graphs tell?  Checks that each
 * variable of map is separated in net from its non-descendants given its parents (the local
 * independences, which imply all).  If not, the variable and one it depends on.  Both networks have
 * the same variables. */
CR_API cr_status cr_is_i_map(cr_ctx *cx, const cr_network *map, const cr_network *net, bool *out_is,
                             size_t *opt_x, size_t *opt_y);

#endif
