/* dag.h -- directed graphs without cycles as they are searched, and what a search must keep to.
 * Sets of variables are rows of bits, `words` 64-bit words each.  Beside the parents a graph keeps for each variable its
 * ancestors, so that whether an arc closes a cycle is one look.  (Internal header.) */
#ifndef CREDENCE_GRAPH_LEARN_DAG_H
#define CREDENCE_GRAPH_LEARN_DAG_H

#include "base/context.h"
#include "base/scratch.h"

#include <stdint.h>

/* --- sets of variables ------------------------------------------------------------------------ */

static inline size_t cri_bit_words(size_t n) { return n / 64 + (n % 64 != 0); }
static inline bool cri_bit_has(const uint64_t *set, size_t i) { return set[i / 64] >> i % 64 & 1; }
static inline void cri_bit_add(uint64_t *set, size_t i) { set[i / 64] |= UINT64_C(1) << i % 64; }
static inline void cri_bit_drop(uint64_t *set, size_t i)
{
    set[i / 64] &= ~(UINT64_C(1) << i % 64);
}
/* The members, ascending, into out; how many. */
size_t cri_bit_list(const uint64_t *set, size_t words, uint32_t *out);
size_t cri_bit_count(const uint64_t *set, size_t words);

/* --- the graph -------------------------------------------------------------------------------- */

typedef struct cri_dag {
    size_t    n, words;
    uint64_t *parents;   /* [n x words] row v: the parents of v   */
    uint64_t *ancestors; /* [n x words] row v: v not among them   */
    uint64_t *work;      /* [n] of the functions below            */
    size_t    arcs;
} cri_dag;

/* Without arcs, in the arena; check s->status.  O(n^2 / 64). */
cri_dag cri_dag_new(cr_scratch *s, size_t n);
/* to = from, of the same size. */
void                    cri_dag_copy(const cri_dag *from, cri_dag *to);
static inline uint64_t *cri_dag_parents(const cri_dag *g, size_t v)
{
    return g->parents + v * g->words;
}
static inline bool cri_dag_has(const cri_dag *g, size_t from, size_t to)
{
    return cri_bit_has(cri_dag_parents(g, to), from);
}
/* true when there is a way along arcs from a to b. */
static inline bool cri_dag_reaches(const cri_dag *g, size_t a, size_t b)
{
    return cri_bit_has(g->ancestors + b * g->words, a);
}
/* Adds an arc that is not there and closes no cycle (the caller has looked).  O(n^2 / 64). */
void cri_dag_add(cri_dag *g, size_t from, size_t to);
/* Drops an arc that is there.  O((n + arcs) n / 64) at worst. */
void cri_dag_drop(cri_dag *g, size_t from, size_t to);
/* May from -> to be reversed without a cycle: is it the only way from one to the other?  O(parents). */
bool cri_dag_can_reverse(const cri_dag *g, size_t from, size_t to);
/* Counts arcs and finds ancestors where parents were written directly; false where there is a cycle, and *opt_on is on it. */
bool cri_dag_close(cri_dag *g, size_t *opt_on);
/* Parents before children: by the number of ancestors, then by that of the variable.  out [n]. */
void cri_dag_order(const cri_dag *g, uint32_t *out);
/* An arc u -> v is covered when the parents of v are u and the parents of u: reversed, the class stays the same. */
bool cri_dag_is_covered(const cri_dag *g, size_t from, size_t to);

/* The equivalence class (CPDAG): bit u of row v of out [n x words] is set where u -> v or u - v; u - v has both bits.
 * Chickering (1995), A transformational characterization of equivalent Bayesian network structures, UAI.  O(n arcs). */
cr_status cri_dag_class(cr_ctx *cx, const cri_dag *g, uint64_t *out);

/* --- what a search must keep to --------------------------------------------------------------- */

enum { CRI_MOST_PARENTS = 60 }; /* whatever rules say: with two states each, a table of 2^60 rows */

typedef struct cri_arc_rules {
    size_t    n, words;
    uint64_t *allowed;  /* [n x words] row v: u may be a parent of v; v itself never is */
    uint64_t *required; /* [n x words] row v: u must be; these form no cycle, and are allowed */
    uint64_t *
        start; /* [n x words] the graph to start from, with the required arcs, within the rules; acyclic */
    size_t most_parents; /* of any variable, at least as many as are required */
} cri_arc_rules;

/* All arcs allowed, none required, no arcs at the start; in the arena. */
cr_status          cri_arc_rules_new(cr_scratch *s, size_t n, cri_arc_rules *out);
static inline bool cri_arc_allowed(const cri_arc_rules *r, size_t from, size_t to)
{
    return cri_bit_has(r->allowed + to * r->words, from);
}
static inline bool cri_arc_required(const cri_arc_rules *r, size_t from, size_t to)
{
    return cri_bit_has(r->required + to * r->words, from);
}
/* Completes rules whose sets were written by the caller: required arcs join the start, and what is not allowed leaves it.
 * Fails with CR_EARG, in words with the names, where required arcs are excluded, too many, or form a cycle. */
cr_status cri_arc_rules_check(cr_ctx *cx, cri_arc_rules *r, const char *const *names);

#endif
