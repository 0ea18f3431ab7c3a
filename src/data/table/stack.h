/* stack.h -- tables of the same columns, one below the other.  (Internal header.) */
#ifndef CREDENCE_DATA_TABLE_STACK_H
#define CREDENCE_DATA_TABLE_STACK_H

#include "table.h"

/* The rows of n tables, n > 0, that follow each other in one source and have the same columns, types and
 * levels, as the blocks of a stream have; copied, columns of a sparse block spread out.  Messages
 * name a row by its place in the source.  O(rows x columns). */
cr_status cri_table_stack(cr_ctx *cx, cr_table *const *parts, size_t n, cr_table **out_table);

#endif
