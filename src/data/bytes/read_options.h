/* read_options.h -- how bytes become a table: the options of everything that reads.
 * The lists are those of base/option.h: names and texts with commas are written in double
 * quotes. */
#ifndef CREDENCE_DATA_BYTES_READ_OPTIONS_H
#define CREDENCE_DATA_BYTES_READ_OPTIONS_H

#include "base/option.h"

#define CR_READ_OPTIONS(X)                                                                         \
    X(choice, from, "auto", "auto|csv|tsv|libsvm|npy|npz|sqlite|bif|xmlbif|net|uai|cred|json",     \
      "format of the data, or of a network; auto looks at the bytes and the name", "tsv")          \
    X(text, delimiter, "", "", "the character between fields; found by itself if not given", ";")  \
    X(choice, header, "auto", "auto|yes|no", "whether the first line holds the column names",      \
      "no")                                                                                        \
    X(list, category, "", "COLUMN", "columns to take as categories, whatever they look like",      \
      "zip,year")                                                                                  \
    X(list, real, "", "COLUMN", "columns that must be numbers", "price")                           \
    X(list, date, "", "COLUMN", "columns of dates that are not of ISO 8601, with their format",    \
      "'day:%d.%m.%Y'")                                                                            \
    X(list, missing_values, "", "", "further texts that mean a missing value", "-999")

CR_OPTIONS_STRUCT(cr_read_options, CR_READ_OPTIONS);

/* The table of these options. */
extern CR_API const cr_option cr_read_table[];

#endif
