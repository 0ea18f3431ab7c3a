/* bn_pieces.h -- what is missing in rows, in pieces that have no table in common given what is seen.
 * A piece is a shape (its open variables and the tables these stand in) and an entry of each table at the first states;
 * pieces that are equal, of whichever rows, are one with their weights added up, so that a pass costs not rows but
 * different situations.  Tables of which nothing is missing are counted once for all passes.  Rows with a piece of more
 * than 65536 terms go through a junction tree, each by itself.  (Internal header.) */
#ifndef CREDENCE_MODELS_NETWORK_BN_PIECES_H
#define CREDENCE_MODELS_NETWORK_BN_PIECES_H

#include "bn.h"

/* Open variables with `states` assignments together, and the tables they stand in. */
typedef struct cri_bn_shape {
    uint32_t *key; /* [2 + open + tables]: open, tables, the variables, the tables */
    size_t    length, open, tables, states, next;
    uint32_t *offset; /* [states x tables] from the entry at the first states */
} cri_bn_shape;

typedef struct cri_bn_piece {
    size_t    shape, next;
    uint32_t *entry; /* [tables] of all tables at the first states of the open variables */
    double    weight;
    size_t    row; /* one that it is of */
} cri_bn_piece;

struct cri_bn_counter {
    cr_ctx            *cx;
    cr_scratch         s;
    const cri_bn      *m;
    const cri_bn_rows *data;
    cri_cases_table    cases;    /* different rows */
    double            *base;     /* [m->size] counts of tables of which nothing is missing */
    size_t            *base_row; /* [m->size] one such row of each entry */
    cri_bn_shape      *shape;
    size_t             shapes, shape_room;
    cri_bn_piece      *piece;
    size_t             pieces, piece_room;
    uint32_t          *tree_row; /* [tree_rows] of the cases, that go through the tree */
    size_t             tree_rows;
    size_t             most_states;    /* of a cri_bn_shape */
    uint32_t *shape_head, *piece_head; /* 1 + the first of a hash, linked by `next`; 0: none */
    /* for a row */
    size_t   *root, *label; /* [p] */
    uint16_t *row;          /* [p] */
    /* for a pass */
    const double *value;
    /* for one row */
    uint32_t *key, *entry; /* [2 p + 2], [p] */
    double   *terms;       /* [p] */
};

static inline size_t cri_bn_states(const cri_bn_counter *c, size_t v)
{
    return cr_network_states(c->m->net, v);
}
/* The scope of the table of v: its parents, then v. */
const size_t *cri_bn_scope(const cri_bn_counter *c, size_t v, size_t *out_n);
/* The terms of a piece, by c->value, into term [states]; their sum.  Pure. */
double cri_bn_sum_piece(const cri_bn_counter *c, const cri_bn_piece *a, double *term);
/* The piece of c->row, number `row` of the cases, whose open variables have this root: which shape, and its entries. */
cr_status cri_bn_find_piece(cri_bn_counter *c, size_t row, size_t root, size_t *out_shape,
                            uint32_t *entry);
/* c->row and c->root of row number `row` of the cases; the number of terms of its largest piece. */
double cri_bn_open_row(cri_bn_counter *c, size_t row);

enum { CRI_BN_MOST_TERMS = 1 << 16 };

#endif
