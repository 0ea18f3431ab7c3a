/* table_internal.h -- how readers build tables without copying. */
#ifndef CREDENCE_DATA_TABLE_INTERNAL_H
#define CREDENCE_DATA_TABLE_INTERNAL_H

#include "table.h"

/* Adds a column that takes over `values` (rows doubles from cr_alloc or cr_resize), also on
 * failure.  Counts the missing values. */
cr_status cri_table_own_numbers(cr_ctx *cx, cr_table *table, const char *name, cr_type type,
                                double *values);
/* The table frees this block of bytes (from cr_alloc or cr_resize), which its borrowed columns point
 * into, when it is freed itself.  At most one. */
void cri_table_keep_block(cr_table *table, void *block, size_t bytes);
/* Takes over `codes` (rows codes from cr_alloc or cr_resize), also on failure; copies the levels,
 * sorts them and renumbers the codes.  Levels that no row uses are dropped. */
cr_status cri_table_own_category(cr_ctx *cx, cr_table *table, const char *name, uint32_t *codes,
                                 const char *const *levels, size_t n_levels);
/* The same for codes into the levels of a column of another table: the column gets its name and all
 * its levels, also those that no row uses here, and the codes stay as they are. */
cr_status cri_table_own_codes(cr_ctx *cx, cr_table *table, const cr_column *like, uint32_t *codes);

/* Lets messages say where a row stood: line = first_line + row.  0 = not known. */
void cri_table_set_first_line(cr_table *table, size_t first_line);
/* The same for a table whose row i is row rows[i] of `from`: messages name the place there.  Once. */
cr_status cri_table_set_origin(cr_ctx *cx, cr_table *table, const cr_table *from,
                               const size_t *rows);

/* "houses.csv:12" where the line of the row is known, else "houses.csv, row 11" (the first is 1). */
const char *cri_table_where(const cr_table *table, size_t row, char *out, size_t size);

/* Fails with CR_EDATA: "column 'prise' not found in houses.csv", with the columns and the nearest. */
cr_status cri_table_no_column(cr_ctx *cx, const cr_table *table, const char *name);

#endif
