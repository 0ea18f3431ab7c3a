/* table_sizes.h -- what the exact engines will hold in memory, predicted before they start.
 * Every table that an engine makes follows from scopes alone, and so does what a sum of products
 * holds beside its tables (message.h): walking through the work without doing it gives the bytes at
 * each step, and their largest is what must fit.  (Internal header.) */
#ifndef CREDENCE_GRAPH_EXACT_TABLE_SIZES_H
#define CREDENCE_GRAPH_EXACT_TABLE_SIZES_H

#include "base/scratch.h"
#include "graph/factor/combine.h"
#include "graph/factor/factor.h"
#include "problem.h"

typedef struct cri_scopes {
    cr_scratch        scratch;
    size_t            n;
    cr_factor        *f;  /* [capacity], no values */
    const cr_factor **in; /* [capacity] their addresses */
} cri_scopes;

/* Space for so many tables; a failure is kept in scratch.status, as of a scratch. */
void cri_scopes_begin(cr_ctx *cx, size_t capacity, cri_scopes *out);
void cri_scopes_end(cri_scopes *s);
/* Adds a table over these ranks, ascending. */
void cri_scopes_add(cri_scopes *s, const cri_problem *p, size_t n, const size_t *rank);
/* Adds what evidence leaves of table t of the network; none when that is a constant. */
void cri_scopes_add_table(cri_scopes *s, const cri_problem *p, size_t t);

/* The bytes of a table over n variables. */
double cri_table_bytes(size_t n, double size);
/* The bytes of table t of the network as cri_problem_table makes it; *out_first: its first rank
 * (CR_NONE: it is a constant). */
double cri_problem_table_bytes(const cri_problem *p, size_t t, size_t *out_first);
/* The bytes that a sum over a space of this size holds beside its tables, when it is too small to
 * be looked at: a generous guess. */
double cri_small_sum_bytes(double size, size_t inputs, size_t outputs);

/* Is a sum over so large a space worth looking at?  Small ones hardly count, huge ones are never
 * done, and those of very many tables take too long. */
bool cri_worth_a_look(double size, size_t tables);

#endif
