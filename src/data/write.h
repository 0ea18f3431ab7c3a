/* write.h -- tables as CSV (RFC 4180, but lines end with LF).
 * A first line with the names, then one line per row.  Numbers are the shortest texts that read back
 * to the same doubles, truth values are true and false, missing values are empty fields; texts are
 * quoted where a reader could take them for anything else.  So that reading gives the same types back,
 * a real column that holds only whole numbers is written with ".0"; and in a table of one column, whose
 * missing values would make blank lines, these are written NA.  Categories whose levels are all numbers
 * read back as numbers, unless the reader is told (--category). */
#ifndef CREDENCE_DATA_WRITE_H
#define CREDENCE_DATA_WRITE_H

#include "table.h"

/* Writes all of the table to a file, atomically.  O(size) time, a bounded buffer.  Fails with CR_EIO
 * (then the old file is as it was), CR_ENOMEM or CR_EINTERRUPTED. */
CR_API cr_status cr_table_write_csv(cr_ctx *cx, const cr_table *table, const char *path);

/* --- inside the library: lines of CSV into memory, for files, pipes and terminals alike ---------- */

/* Text that grows; its first failure sticks, and later calls do nothing. */
typedef struct cri_csv {
    cr_ctx   *cx;
    cr_status status;
    char     *text;      /* [length] used of [capacity], no final '\0' */
    size_t    length, capacity;
    bool      in_row;    /* a field of the current line has been written */
} cri_csv;

cri_csv cri_csv_begin(cr_ctx *cx);
void    cri_csv_end(cri_csv *csv);

/* The next field of the line: a text, quoted where needed, NULL = missing; a number, NaN = missing; a
 * number of a real column, with ".0" if it is whole; these bytes as they are. */
void cri_csv_text(cri_csv *csv, const char *text);
void cri_csv_number(cri_csv *csv, double x);
void cri_csv_real(cri_csv *csv, double x);
void cri_csv_raw(cri_csv *csv, const char *bytes, size_t length);
void cri_csv_end_row(cri_csv *csv);

#endif
