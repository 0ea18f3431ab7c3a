/* arc_options.h -- what options of structure learning ask of arcs, by the names of the variables.
 *   order     tiers, with commas between: no arc leads from a variable to one before it; + joins those of one tier
 *   require   arcs that must be there, FROM>TO
 *   forbid    arcs that must not be, FROM>TO; * stands for any variable
 *   start     a network file whose arcs a search starts from
 * (Internal header.) */
#ifndef CREDENCE_MODELS_NETWORK_ARC_OPTIONS_H
#define CREDENCE_MODELS_NETWORK_ARC_OPTIONS_H

#include "graph/learn/dag.h"

typedef struct cri_arc_options {
    const char *opt_order, *opt_require, *opt_forbid, *opt_start;
    size_t      most_parents; /* SIZE_MAX: as many as there are */
} cri_arc_options;

/* As rules of n variables, in the arena.  Fails with CR_EARG or CR_EDATA, in words. */
cr_status cri_arc_options_read(cr_scratch *s, size_t n, const char *const *names,
                               const cri_arc_options *o, cri_arc_rules *out);

/* Sets the arcs between these variables that a network file, or JSON itself, has, with states or Gaussian, in set [n x words];
 * `option` is its name in messages.  Fails where it has none of the variables, or is undirected. */
cr_status cri_arcs_of_file(cr_ctx *cx, const char *option, const char *path, size_t n,
                           const char *const *names, size_t words, uint64_t *set);

#endif
