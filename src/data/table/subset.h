/* subset.h -- some rows of a table as a table of their own.  (Internal header.) */
#ifndef CREDENCE_DATA_TABLE_SUBSET_H
#define CREDENCE_DATA_TABLE_SUBSET_H

#include "table.h"

/* Rows rows[0..n) of the table, in that order, copied.  O(n x columns), of a
 * sparse block O(entries).  Categories keep all their
 * levels, so that a model fitted on some rows knows those of the others; messages name a row by its
 * place in the whole table. */
cr_status cri_table_subset(cr_ctx *cx, const cr_table *table, const size_t *rows, size_t n,
                           cr_table **out_table);
/* The whole table, in which the cells of one column are those of rows[0..n), n its rows: a permutation, or the value
 * of one row in all.  Numbers of the other columns are borrowed.  Fails with CR_EUNSUPPORTED for a column of a sparse
 * block. */
cr_status cri_table_rearrange(cr_ctx *cx, const cr_table *table, const char *column,
                              const size_t *rows, cr_table **out_table);

#endif
