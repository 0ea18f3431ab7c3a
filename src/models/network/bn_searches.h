/* bn_searches.h -- the ways to find arcs, by their names.
 * Each is a row of a table: what it takes, and a function from cases to a graph.  bn_structure.c makes
 * the cases and rules from rows and options, and takes the arcs.
 *   bn_searches.c   the table: one function a row
 *   bn_strength.c   how sure arcs are: bootstrap, posteriors
 * (Internal header.) */
#ifndef CREDENCE_MODELS_NETWORK_BN_SEARCHES_H
#define CREDENCE_MODELS_NETWORK_BN_SEARCHES_H

#include "base/context_internal.h"
#include "bn.h"
#include "graph/learn/pdag.h"
#include "graph/learn/search.h"

/* What a search works on. */
typedef struct cri_bn_search_task {
    cr_ctx                 *cx;
    const cri_bn_options   *o;
    size_t                  target; /* or CR_NONE */
    uint64_t                seed;
    cri_score_kind          kind;
    const cri_arc_rules    *rules;
    bool                    ruled; /* the rules leave something out or ask for something */
    const cri_cases_table  *cases;
    const cri_score_source *source; /* of these cases */
    cri_local_scores       *scores; /* of that */
    size_t                  restarts;
    size_t                  replicates; /* of the bootstrap, 0: none */
    const cri_clock        *clock;
} cri_bn_search_task;

/* What it has found: dag, steps, trace and whether time ended it in `result`. */
typedef struct cri_bn_found {
    cri_search_result result; /* trace from cr_alloc, or NULL */
    double           *arcs;   /* [n x n] P(u -> v), in the arena; NULL: not known */
    cri_pdag graph;      /* of a search by tests: what they leave open, from cr_alloc; else n = 0 */
    double   bound;      /* no graph within the rules scores more; NaN: not known */
    double   rhat;       /* of chains; NaN: none */
    size_t   replicates; /* of the bootstrap, or draws of all chains; 0: none */
} cri_bn_found;

/* Is this the name of a search? */
bool cri_bn_is_search(const char *name);
/* Runs the search of the options; with --bootstrap, and --average, what follows from it.  Fails with
 * CR_EARG where it cannot keep to the rules, or needs a target. */
cr_status cri_bn_search(cr_scratch *s, const cri_bn_search_task *t, cri_bn_found *out);
/* One search alone. */
cr_status cri_bn_search_once(cr_scratch *s, const cri_bn_search_task *t, cri_bn_found *out);
/* P(u -> v) by learning again from rows drawn with replacement (bn_strength.c). */
cr_status cri_bn_bootstrap(cr_scratch *s, const cri_bn_search_task *t, cri_bn_found *inout);

#endif
