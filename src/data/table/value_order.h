/* value_order.h -- rows of a table in an order that follows from what is in them.
 * What is drawn by the numbers of rows in this order, such as folds, does not depend on the order in the file.
 * (Internal header.) */
#ifndef CREDENCE_DATA_TABLE_VALUE_ORDER_H
#define CREDENCE_DATA_TABLE_VALUE_ORDER_H

#include "table.h"

/* The table with its rows by a hash of their cells; equal rows stand together.  O(rows (columns + log rows)), and a
 * copy of the table. */
cr_status cri_table_by_values(cr_ctx *cx, const cr_table *table, cr_table **out_table);

#endif
