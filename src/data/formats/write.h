/* write.h -- tables to files: CSV (RFC 4180, but lines end with LF), NPY and LIBSVM.
 * A first line with the names, then one line per row.  Numbers are the shortest texts that read
 * back to the same doubles, truth values are true and false, missing values are empty fields, texts
 * are quoted where needed.  So that reading gives the same types back, a real column that holds
 * only whole numbers is written with ".0"; and in a table of one column, whose missing values would
 * make blank lines, these are written NA.  What CSV cannot say: that a text which looks like a
 * number, a truth value or a missing value is a text; such a category reads back as itself only
 * when the reader is told (--category). */
#ifndef CREDENCE_DATA_FORMATS_WRITE_H
#define CREDENCE_DATA_FORMATS_WRITE_H

#include "data/table/table.h"

/* Writes all of the table to a file, atomically, compressed where its name ends in .gz or .zst.
 * O(size) time, a bounded buffer.  Fails with CR_EIO (then the old file is as it was), CR_ENOMEM or
 * CR_EINTERRUPTED. */
CR_API cr_status cr_table_write_csv(cr_ctx *cx, const cr_table *table, const char *path);

/* Writes a table of numbers as a rows x columns array of doubles (missing = NaN), atomically; names
 * and types of columns are not kept.  O(rows * columns), a bounded buffer.  Fails with CR_EDATA,
 * naming the column, when one is a category, or with CR_EIO. */
CR_API cr_status cr_table_write_npy(cr_ctx *cx, const cr_table *table, const char *path);

/* Writes a table of numbers as LIBSVM text, atomically: the column opt_label (NULL: y) first, then,
 * of the others in their order, index:value of what is not 0; missing values are nan.  Names and
 * types of columns are not kept.  O(cells), of a sparse block O(entries).  Fails with CR_EDATA,
 * naming the column, for a category, an infinite value or a missing label; or with CR_EIO. */
CR_API cr_status cr_table_write_libsvm(cr_ctx *cx, const cr_table *table, const char *opt_label,
                                       const char *path);

#endif
