/* read.h -- from a file, a pipe or a database to a table.
 * The format is told by magic bytes and the name: CSV and TSV (RFC 4180; also gzip and zstd),
 * LIBSVM, NPY, NPZ, `sqlite:FILE?table` or `sqlite:FILE?query=SELECT ...`; "-" is standard input.
 * The lists are those of base/option.h: names and texts with commas are written in double
 * quotes. */
#ifndef CREDENCE_DATA_READ_H
#define CREDENCE_DATA_READ_H

#include "../base/option.h"
#include "table.h"

#define CR_READ_OPTIONS(X)                                                                         \
    X(choice, from, "auto", "auto|csv|tsv|libsvm|npy|npz|sqlite|bif|xmlbif|net|uai|cred|json",     \
      "format of the data, or of a network; auto looks at the bytes and the name", "tsv")          \
    X(text, delimiter, "", "", "the character between fields; found by itself if not given", ";")  \
    X(choice, header, "auto", "auto|yes|no", "whether the first line holds the column names",      \
      "no")                                                                                        \
    X(list, category, "", "COLUMN", "columns to take as categories, whatever they look like",      \
      "zip,year")                                                                                  \
    X(list, real, "", "COLUMN", "columns that must be numbers", "price")                           \
    X(list, missing_values, "", "", "further texts that mean a missing value", "-999")

CR_OPTIONS_STRUCT(cr_read_options, CR_READ_OPTIONS);

/* The table of these options. */
extern CR_API const cr_option cr_read_table[];

/* Reads all of `path` into a new table.  O(size).  Fails with CR_EDATA (file:line:column, what is
 * wrong there), CR_EARG (a query or option that cannot be), CR_EIO, CR_ENOMEM or CR_EINTERRUPTED;
 * then *out_table is left as it was. */
CR_API cr_status cr_table_read(cr_ctx *cx, const char *path, const cr_read_options *options,
                               cr_table **out_table);

#endif
