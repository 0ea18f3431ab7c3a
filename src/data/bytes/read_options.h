/* read_options.h -- how bytes become a table: the options of everything that reads.
 * The lists are those of base/option.h: names and texts with commas are written in double
 * quotes. */
#ifndef CREDENCE_DATA_BYTES_READ_OPTIONS_H
#define CREDENCE_DATA_BYTES_READ_OPTIONS_H

#include "base/option.h"

#define CR_READ_OPTIONS(X)                                                                         \
    X(choice, from, "auto",                                                                        \
      "auto|csv|tsv|libsvm|npy|npz|sqlite|jsonl|attributes|ldac|bif|xmlbif|net|uai|cred|json",     \
      "format of the data, or of a network; auto: by the contents and the name", "tsv")            \
    X(choice, encoding, "auto", "auto|utf-8|latin1|windows-1252|utf-16le|utf-16be",                \
      "encoding of text; auto: UTF-8, or UTF-16 with a byte-order mark; other bytes are read as "  \
      "Windows-1252",                                                                              \
      "latin1")                                                                                    \
    X(count, skip, "0", "", "number of lines to skip at the start of the text", "3")               \
    X(text, comment, "", "", "skip lines that begin with this character", "'#'")                   \
    X(text, delimiter, "", "", "the character between fields; detected if not given", ";")         \
    X(choice, header, "auto", "auto|yes|no", "whether the first line has the column names", "no")  \
    X(list, names, "", "", "names of all columns, in order, instead of those in the file",         \
      "id,qty,price")                                                                              \
    X(list, rename, "", "", "new names for columns; OLD.2 is the second column called OLD",        \
      "qty=ordered,qty.2=sent")                                                                    \
    X(text, decimal, "", "", "decimal character in numbers, . or ,; detected if not given", ",")   \
    X(text, thousands, "", "",                                                                     \
      "thousands separator: . , ' or space, or none; detected if not given", ".")                  \
    X(list, category, "", "COLUMN", "columns to treat as categories, whatever they look like",     \
      "zip,year")                                                                                  \
    X(list, real, "", "COLUMN", "columns that must be numbers", "price")                           \
    X(list, date, "", "COLUMN", "columns of dates that are not in ISO 8601, with their format",    \
      "'day:%d.%m.%Y'")                                                                            \
    X(list, missing_values, "", "", "additional values that mean missing", "-999")

CR_OPTIONS_STRUCT(cr_read_options, CR_READ_OPTIONS);

/* The table of these options. */
extern CR_API const cr_option cr_read_table[];

/* A copy that owns its texts; on failure it may still be freed. */
cr_status cri_read_options_copy(cr_ctx *cx, const cr_read_options *from, cr_read_options *to);

/* Some options say what a cell means, such as --missing-values: those a model keeps, for the rows it
 * reads later. */
bool cri_read_option_is_kept(const cr_option *option);
/* true when some of these are given. */
bool cri_read_options_any_kept(const cr_read_options *options);
/* The kept ones of `from`, for a struct that is initialised: lists are added to, and what `to` has
 * already wins. */
cr_status cri_read_options_keep(cr_ctx *cx, const cr_read_options *from, cr_read_options *to);
/* The same for reading another file: `decimal` and `thousands` of `from` are then only what is usual,
 * ",?", which a file whose own cells or delimiter show another style overrides (csv_style.c). */
cr_status cri_read_options_expect(cr_ctx *cx, const cr_read_options *from, cr_read_options *to);
/* true for the value of such an option. */
bool cri_read_option_is_usual(const char *opt_value);
/* Adds a name that the columns of the file should have, by the model that will read them, where --names
 * is not given: a first line with all of these is a header (csv_header.c). */
cr_status cri_read_options_expect_name(cr_ctx *cx, const char *name, cr_read_options *to);
/* Those names, as a list; NULL: there are none. */
const char *cri_read_expected_names(const cr_read_options *options);
/* The list that --names gives; NULL: it is not given. */
const char *cri_given_names(const cr_read_options *options);

#endif
