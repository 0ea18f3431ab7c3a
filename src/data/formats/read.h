/* read.h -- from a file, a pipe or a database to a table.
 * The format is told by magic bytes and the name: CSV and TSV (RFC 4180; also gzip and zstd),
 * JSON lines, LIBSVM, attributes of sequences, documents of lda-c, NPY, NPZ, `sqlite:FILE?table` or `sqlite:FILE?query=SELECT ...`; "-" is standard input. */
#ifndef CREDENCE_DATA_FORMATS_READ_H
#define CREDENCE_DATA_FORMATS_READ_H

#include "data/bytes/read_options.h"
#include "data/table/table.h"

/* Reads all of `path` into a new table.  O(size).  Fails with CR_EDATA (file:line:column, what is
 * wrong there), CR_EARG (a query or option that cannot be), CR_EIO, CR_ENOMEM or CR_EINTERRUPTED;
 * then *out_table is left as it was. */
CR_API cr_status cr_table_read(cr_ctx *cx, const char *path, const cr_read_options *options,
                               cr_table **out_table);

#endif
