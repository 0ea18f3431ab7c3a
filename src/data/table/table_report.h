/* table_report.h -- what each column of a table holds, as a sheet.  (Internal header.) */
#ifndef CREDENCE_DATA_TABLE_TABLE_REPORT_H
#define CREDENCE_DATA_TABLE_TABLE_REPORT_H

#include "table.h"
#include "base/sheet.h"

/* What a row of "columns" may hold. */
extern const cr_field cri_table_column_fields[];

/* The part of the cells that is kept. */
double cri_density(const cr_csr *X);
/* File, kind, rows, and a list with a row for each column, and one for all of a sparse block.  Warns of what is
 * odd about a column. */
cr_status cri_report_table(cr_ctx *cx, const cr_table *table, cri_sheet *to,
                           cri_sheet **out_columns);

#endif
