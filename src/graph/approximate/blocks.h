/* blocks.h -- sets of variables that can be drawn together, given the others.
 * Variables are eliminated while the tables this makes stay below a bound; when none can be, one
 * with many neighbours is cut out: it stays as it is while the others are drawn (a w-cutset). Those
 * drawn come in one exact draw: sums forward in the order of elimination, states backward.  Further
 * blocks spare the variables that have been cut, until each is in some block; a network that is
 * small enough is one block, and each draw is then independent of the last. Bidyuk & Dechter
 * (2007), JAIR 28; Hamze & de Freitas (2004), UAI.  (Internal header.) */
#ifndef CREDENCE_GRAPH_APPROXIMATE_BLOCKS_H
#define CREDENCE_GRAPH_APPROXIMATE_BLOCKS_H

#include "factor_graph.h"
#include "base/rng.h"
#include "base/scratch.h"

/* What multiplies into the table of one variable: index[e] of its values for each entry e. */
typedef struct cri_part {
    const cr_factor *table; /* NULL: what came from the variable `from` */
    size_t           from;
    uint32_t        *index; /* [size of the cluster] */
    size_t           n;     /* variables of the table that are not drawn: */
    size_t          *var, *stride;
} cri_part;

/* A variable with those that it is drawn after: entry = (states of these) x states + x. */
typedef struct cri_cell {
    size_t    v, states, size, at; /* size of the table; where it begins among all */
    size_t    sum_at;              /* where its sums begin */
    size_t    n;
    size_t   *later, *stride; /* [n] variables, and strides in rows */
    cri_part *part;
    size_t    parts;
} cri_cell;

typedef struct cri_block {
    size_t    n; /* cells, in the order of elimination */
    cri_cell *cell;
    size_t    workspace, largest; /* numbers to work in; entries of the largest table */
} cri_block;

typedef struct cri_blocks {
    cri_block *block;
    size_t     n;
    size_t     workspace, largest;
} cri_blocks;

/* Tables of at most `most` entries, or as large as one of the network's that has zeros (not
 * if most is 1).  All memory comes from the arena s. */
cr_status cri_blocks_new(cr_ctx *cx, cr_scratch *s, const cri_fgraph *g, size_t most, uint64_t seed,
                         cri_blocks *out);
/* Draws the variables of a block given the others; workspace [blocks->workspace].  false: every state is
 * impossible given the others; the states are then as before. */
bool cri_block_draw(const cri_block *b, cr_rng *r, double *workspace, size_t *inout_state);
/* The same; the distribution that each is drawn from, given those drawn before it and all that is
 * not of the block, goes to p[start[v] ...]. */
bool cri_block_draw_from(const cri_block *b, cr_rng *r, double *workspace, size_t *inout_state,
                         const size_t *start, double *p);
/* Sets them to the best states given the others; false: nothing has changed. */
bool cri_block_best(const cri_block *b, double *workspace, size_t *inout_state);

#endif
