/* merge.h -- fewer tables before a large combination.
 * Multiplying two tables beforehand, when their joint scope is much smaller than the space, saves a
 * multiplication per entry of the space.  (Internal header.) */
#ifndef CREDENCE_GRAPH_FACTOR_MERGE_H
#define CREDENCE_GRAPH_FACTOR_MERGE_H

#include "combine.h"
#include "factor.h"

typedef struct cri_merged {
    size_t            n, capacity; /* tables now; of `in` */
    const cr_factor **in;          /* [n] */
    size_t            made;        /* how many are ours */
    cr_factor        *own;         /* [capacity] */
    bool              lost;        /* a product underflowed */
    bool              scopes_only; /* tables have no values: only what it would take is found */
    double            held, peak;  /* then: bytes of ours in the end, and at the most */
} cri_merged;

/* Plain tables only.  false: out of memory or stopped, nothing recorded; cri_merged_free is due
 * anyhow. */
bool cri_merge(cr_ctx *cx, const cri_space *space, size_t inputs, const cr_factor *const *in,
               bool threaded, cri_merged *out);
/* What that would take: `in` need no values, nor have the tables that are made. */
bool cri_merge_scopes(cr_ctx *cx, const cri_space *space, size_t inputs, const cr_factor *const *in,
                      bool threaded, cri_merged *out);
void cri_merged_free(cr_ctx *cx, cri_merged *m);

#endif
