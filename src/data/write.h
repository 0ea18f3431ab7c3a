/* write.h -- tables as CSV (RFC 4180, but lines end with LF).
 * A first line with the names, then one line per row.  Numbers are the shortest texts that read
 * back to the same doubles, truth values are true and false, missing values are empty fields, texts
 * are quoted where needed.  So that reading gives the same types back, a real column that holds
 * only whole numbers is written with ".0"; and in a table of one column, whose missing values would
 * make blank lines, these are written NA.  What CSV cannot say: that a text which looks like a
 * number, a truth value or a missing value is a text; such a category reads back as itself only
 * when the reader is told (--category). */
#ifndef CREDENCE_DATA_WRITE_H
#define CREDENCE_DATA_WRITE_H

#include "table.h"

/* Writes all of the table to a file, atomically.  O(size) time, a bounded buffer.  Fails with
 * CR_EIO (then the old file is as it was), CR_ENOMEM or CR_EINTERRUPTED. */
CR_API cr_status cr_table_write_csv(cr_ctx *cx, const cr_table *table, const char *path);

/* --- inside the library: lines of CSV into memory, for files, pipes and terminals alike ------- */

/* Text that grows; its first failure sticks, and later calls do nothing. */
typedef struct cri_writer {
    cr_ctx   *cx;
    cr_status status;
    char     *text; /* [length] used of [capacity], no final '\0' */
    size_t    length, capacity;
    bool      in_row;       /* a field of the current line has been written */
    bool      quote_blanks; /* texts with blanks are quoted: set for tables of one column */
} cri_writer;

cri_writer cri_writer_begin(cr_ctx *cx);
void       cri_writer_end(cri_writer *out);

/* The next field of the line: a text, quoted where needed, NULL = missing; a number, NaN = missing;
 * a number of a real column, with ".0" if it is whole; these bytes as they are. */
void cri_write_text(cri_writer *out, const char *text);
void cri_write_number(cri_writer *out, double x);
void cri_write_real(cri_writer *out, double x);
void cri_write_raw(cri_writer *out, const char *bytes, size_t length);
void cri_write_end_row(cri_writer *out);

#endif
