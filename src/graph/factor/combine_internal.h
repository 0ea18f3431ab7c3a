/* combine_internal.h -- how a joint table is walked: the loops, how tables lie in a block, and what is
 * done with one.  (Internal header.) */
#ifndef CREDENCE_GRAPH_FACTOR_COMBINE_INTERNAL_H
#define CREDENCE_GRAPH_FACTOR_COMBINE_INTERNAL_H

#include "combine.h"

typedef enum cri_pattern { CRI_STRAIGHT, CRI_CONSTANT, CRI_LISTED } cri_pattern;

/* One step of folding a block onto an output: [outer x states x inner] loses its middle. */
typedef struct cri_fold {
    size_t outer, states, inner;
} cri_fold;

/* How one table is walked. */
typedef struct cri_track {
    const double   *value;
    size_t          step[CRI_MOST_DIMS]; /* by which the offset moves (mod 2^64) when outer
                                          variable p goes on and those after it start again */
    size_t          stride[CRI_MOST_DIMS];
    cri_pattern     shape;
    const uint32_t *place; /* [block] for CRI_LISTED */
    size_t          folds; /* of a CRI_LISTED output: its missing variables, slowest first */
    cri_fold        fold[16];
    size_t level;  /* 0: the same in every block; else 1 + the innermost outer variable it has */
    size_t buffer; /* for its product: tables of one level share that of the first of them */
} cri_track;

/* --- the loops (combine_loops.c) ---------------------------------------------------------- */

enum { CRI_MOST_PARTS = 64 };

typedef struct cri_loops {
    cri_semiring semiring;
    size_t       outer, states[CRI_MOST_DIMS]; /* the odometer, outermost first */
    size_t       block;                        /* entries of the inner variables */
    size_t       inner, inner_states[CRI_MOST_DIMS];
    size_t       summed; /* product of the states of the outer variables that do not come first */
    size_t     cuts; /* several outputs: parts, one for each state of the outer variables that do */
    size_t     inputs, outputs;
    cri_track *in, *out; /* inputs sorted by level */
    const cri_output *to;
    size_t            runs; /* odometer steps in all */
    size_t            parts;
} cri_loops;

/* The variables of the space, neighbours joined where every table allows it. */
typedef struct cri_joined {
    size_t n, states[CRI_MOST_DIMS],
        first[CRI_MOST_DIMS]; /* first: the last variable of the group */
} cri_joined;

/* The loops of the work, and how it is cut; sizes [outputs] and cut, order [CRI_MOST_DIMS] are
 * set. */
cri_loops cri_plan_loops(const cri_space *space, cri_semiring semiring, size_t inputs,
                         const cri_operand *in, size_t outputs, const cri_output *out,
                         size_t *sizes, size_t *order, bool *cut, cri_joined *j);
/* Makes the tracks of all tables in `workspace`, of so many bytes, which has them and the places. */
void   cri_lay_tracks(cri_loops *p, char *workspace, const size_t *order, const cri_operand *in);
size_t cri_track_bytes(const cri_loops *p);

/* --- the walk (combine_walk.c) ------------------------------------------------------------ */

/* Walks from one step of the odometer to another, asking now and then whether to stop.  *out_lost: a
 * product underflowed; the caller's flags are as before.  false: out of memory, or stopped. */
bool cri_walk(cr_ctx *cx, const cri_loops *p, size_t begin, size_t end, bool *out_lost);
/* What it holds meanwhile. */
size_t cri_walker_bytes(const cri_loops *p);

/* --- one block (combine_block.c) ---------------------------------------------------------- */

/* to = from * table (or from + table for logarithms); from may be to. */
void cri_block_multiply(const cri_track *t, const double *v, size_t n, bool logs,
                        const double *from, double *to);
/* to = table. */
void cri_block_spread(const cri_track *t, const double *v, size_t n, double *to);
/* out += r; workspace [n] to fold in. */
void cri_block_add(const cri_track *t, double *out, const double *r, size_t n, double *workspace);
/* out = max(out, r). */
void cri_block_max(const cri_track *t, double *out, const double *r, size_t n);
/* The same where r is larger, noting which; the output is straight: its variables alone make the
 * block. */
void cri_block_argmax(double *out, uint16_t *arg, const double *r, size_t n, uint16_t which);
/* out += exp(r - peak). */
void cri_block_add_exp(const cri_track *t, double *out, const double *peak, const double *r,
                       size_t n);

#endif
