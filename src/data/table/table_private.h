/* table_private.h -- what a table is made of, for the files that build it.  (Internal header.) */
#ifndef CREDENCE_DATA_TABLE_TABLE_PRIVATE_H
#define CREDENCE_DATA_TABLE_TABLE_PRIVATE_H

#include "table_internal.h"

#include <stdatomic.h>

typedef struct cri_owned_column {
    cr_column view; /* what the public sees; points at the owned parts below */
    char     *name;
    double   *values;
    uint32_t *codes;
    char    **levels;
    char     *format; /* of dates, as they were written; NULL = ISO 8601 */
} cri_owned_column;

/* A sparse column that somebody asked for: the values follow the view. */
typedef struct cri_spread {
    cr_column view;
    char      name[CR_NAME_SIZE];
    double    values[];
} cri_spread;

typedef _Atomic(cri_spread *) cri_spread_slot;

typedef struct cri_sparse_block {
    cr_csr                     view;
    cr_type                    type;
    size_t                     first;   /* the index of its first column in the table */
    size_t                     missing; /* entries that are NaN                       */
    bool                       infinite;
    size_t                    *start; /* the arrays of the view, where owned; else NULL */
    uint32_t                  *column;
    double                    *value;
    _Atomic(cri_spread_slot *) spread; /* [columns] those spread out; NULL = none so far */
} cri_sparse_block;

/* The row where each leaf begins. */
typedef struct cri_leaves {
    size_t n, start[];
} cri_leaves;

struct cr_table {
    cr_ctx           *cx;   /* that made it, for columns spread out later */
    struct cr_table  *self; /* for leaves, made when a const table is asked for them */
    char             *source;
    size_t            rows, n, capacity;
    size_t            first_line, first_row;
    size_t           *origin;  /* [rows] of the table these are rows of; NULL = their own */
    cri_owned_column *columns; /* [capacity] */
    size_t           *slots;   /* [2 capacity]: open hash of names, 0 = free, else 1 + column */
    cri_block         block;   /* that borrowed columns may point into */
    cri_sparse_block *sparse;  /* NULL = none */
    bool              open_ended;
    cr_read_options  *reading; /* what its cells mean, where its reader was told; NULL = nothing */
    _Atomic(cri_leaves *) leaves; /* NULL = nobody has set them or asked for them */
};

void cri_table_free_leaves(cr_ctx *cx, cr_table *table);
/* The leaves of a table whose row i is row rows[i] of `from`. */
cr_status cri_table_take_leaves(cr_ctx *cx, cr_table *table, const cr_table *from,
                                const size_t *rows);
/* Column j of the sparse block as a column; NULL when memory runs out. */
const cr_column *cri_table_spread(const cr_table *table, size_t j);
void             cri_table_free_csr(cr_ctx *cx, cr_table *table);

#endif
