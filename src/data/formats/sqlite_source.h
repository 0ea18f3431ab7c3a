/* sqlite_source.h -- a table or query of an SQLite database as a table.
 * The types come from the values, not from the declared affinity: INTEGER and REAL are numbers,
 * TEXT is a category, NULL is missing; a column that mixes text with numbers is a category, in
 * which the numbers stand as their text.  BLOBs and infinities are refused.
 * The database is opened for reading only, and an authorizer lets nothing but SELECT through: a
 * query cannot write, attach another file, change a setting or load an extension.  (SQLite itself
 * may leave its -shm file beside a database in WAL mode.)  (Internal header.) */
#ifndef CREDENCE_DATA_FORMATS_SQLITE_SOURCE_H
#define CREDENCE_DATA_FORMATS_SQLITE_SOURCE_H

#include "base/context.h"
#include "data/table/table.h"

/* Reads `FILE?table`, `FILE?query=SELECT ...`, or `FILE` when it holds a single table.  The file
 * name ends at the first "?query=", else at the last '?'.  O(cells).  Fails with CR_EIO when the
 * file cannot be opened, CR_EARG for a query that SQLite refuses, CR_EDATA for an unknown table
 * (with the nearest name), a damaged file or a value of no use, CR_ENOMEM, CR_EINTERRUPTED; then
 * *out_table is left as it was. */
cr_status cri_sqlite_read(cr_ctx *cx, const char *spec, cr_table **out_table);

#endif
