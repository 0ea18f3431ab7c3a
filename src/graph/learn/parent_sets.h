/* parent_sets.h -- the sets of parents that can be part of a best network.
 * A set S is of use for v only if it scores more than every subset of it: a subset can always take its
 * place.  Where an upper bound is known of the score of S and all larger sets (bic and aic: minus the
 * penalty, as log likelihoods of tables are at most 0), sets that cannot score more are not even
 * counted.  Sets are 64 bits: at most 64 variables.  Teyssier & Koller (2005), lemma 1; de Campos & Ji
 * (2011), "Efficient structure learning of Bayesian networks using constraints", JMLR 12.
 * (Internal header.) */
#ifndef CREDENCE_GRAPH_LEARN_PARENT_SETS_H
#define CREDENCE_GRAPH_LEARN_PARENT_SETS_H

#include "dag.h"
#include "local_score.h"
#include "base/context_internal.h"

enum { CRI_MOST_SET_VARIABLES = 64 };

typedef struct cri_parent_set {
    uint64_t set;
    double   score;
} cri_parent_set;

/* The useful sets of each variable, best first; sets of equal score in the order of their numbers. */
typedef struct cri_parent_sets {
    size_t           n;
    size_t          *count;    /* [n] */
    size_t          *capacity; /* [n] */
    cri_parent_set **list;     /* [n] to [count] */
    double           families; /* scored */
} cri_parent_sets;

/* An upper bound of the scores of v given these parents and any more; NULL: none is known. */
typedef struct cri_score_bound {
    double (*most)(const void *own, size_t v, const uint32_t *parents, size_t k);
    const void *own;
} cri_score_bound;

/* Those of minus the penalty of bic (rate = ln(rows) / 2) and aic (1). */
typedef struct cri_penalty {
    const uint32_t *levels; /* [n] */
    double          rate;
} cri_penalty;
cri_score_bound cri_penalty_bound(const cri_penalty *p);

/* Scores all sets within the rules that can be useful.  Fails with CR_EUNSUPPORTED for more than 64
 * variables, with CR_ENOMEM, and a hint at fewer parents, where the sets of one size are too many to
 * fit.  O(n choose(n, most parents)) families; memory 16 bytes times the sets of one size for each
 * thread.  *out_complete is false where time ran out: the lists then lack sets.  Freed by the caller. */
cr_status cri_parent_sets_find(cr_ctx *cx, const cri_score_source *source,
                               const cri_arc_rules *rules, cri_score_bound opt_bound,
                               const cri_clock *opt_clock, cri_parent_sets *out,
                               bool *out_complete);
void      cri_parent_sets_free(cr_ctx *cx, cri_parent_sets *p);
/* The best set of v within `allowed`; there is always one that has the required parents only. */
const cri_parent_set *cri_parent_sets_best(const cri_parent_sets *p, size_t v, uint64_t allowed);
/* Is there a set within `allowed`? */
bool cri_parent_sets_any(const cri_parent_sets *p, size_t v, uint64_t allowed);

#endif
