/* csv.h -- delimited text to a table: RFC 4180, and what real files do beyond it.
 *
 * Records end with LF or CR LF (or CR alone, where the first part of the file has no LF).  A field
 * whose first character, after blanks, is a quote runs to the closing quote; "" inside is a quote;
 * line ends and delimiters inside are text.  A quote elsewhere is an ordinary character.  Blanks
 * around a field are dropped unless they are inside quotes, no-break and thin spaces around numbers too.  A byte-order mark is skipped.  Lines
 * that are empty or hold only spaces are skipped, also in a file of one column: a missing value is
 * written there as "" or NA.  The bytes may be in other encodings than UTF-8, lines at the start and
 * comments are left out as the options say (text_decoder.h).  A first line "sep=;" names the delimiter.
 *
 * Delimiter, if not given: of comma, semicolon, tab and bar the one that gives most records of the
 * first part of the file (64 KiB, or two records if that is more) as many fields as the first, at
 * least two, and of several the one that makes most fields of the first numbers; if none does, runs of blanks when they do; else comma.  A delimiter of one space means
 * runs of blanks.
 *
 * Header, if not told: the first record names the columns when it has all the names that a model
 * expects; when some column has a text there and only numbers (or booleans) below, and no first cell
 * is a boolean or has a decimal point or exponent (so `id,2019,2020` is a header over numbers); when
 * its values are in quotes and the numbers below are not; when all its cells are different texts; or
 * when its numbers are years or 0, 1, 2, ... and the records below are not of their kind
 * (csv_header.c), which is said to be in doubt where little speaks for it.  Otherwise columns are x1,
 * x2, ...; so is a first column with an empty name (row labels, as R and pandas write them), and
 * every column of a header that is all empty.
 *
 * Types are decided by the whole file: integer when every value is written as sign and digits and
 * is at most 2^53 in size; real when every value is a number (inf counts), but whole numbers alone of
 * which some would lose digits as doubles (cri_keeps_digits), or have leading zeros (in a stream: in the sample), are a
 * category; boolean when every value
 * is true or false in any case; else category, with the texts as written ("007" stays "007").  Numbers
 * like 1.234,50 or 5 % are numbers where the first part of the file leaves no doubt (csv_style.c).  A
 * column without any value is real.  Missing: an empty field, NA, N/A, #N/A, NaN in any case, null,
 * NULL, ?, and the texts of options->missing_values (those that are numbers also by value); quotes
 * make no difference.
 *
 * Cost: one pass over the bytes in batches of some MiB, each parsed in parallel straight into the
 * columns; a second pass only when a column turns out to be a category after the first part of the
 * file.  A leaf of the table (table_internal.h) is what ends in one stretch of 16 MiB of the text, a
 * record with its line end; two batches read it.  Memory: the columns, the texts of the categories, and two batches; a record longer than
 * that must fit as a whole.  The table depends neither on the threads nor on the sizes of pieces.
 * (Internal header.) */
#ifndef CREDENCE_DATA_CSV_CSV_H
#define CREDENCE_DATA_CSV_CSV_H

#include "data/bytes/read_options.h"
#include "data/bytes/source.h"
#include "data/table/table.h"

/* Reads all of the source, from its start.  Fails with CR_EDATA (file:line:column, what is wrong
 * there), CR_EARG for a delimiter that cannot be one, CR_EIO or CR_ENOMEM; then *out_table is left
 * as it was. */
cr_status cri_csv_read(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                       cr_table **out_table);
/* The same; a header alone gives a table without rows. */
cr_status cri_csv_read_any(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                           cr_table **out_table);

/* The sizes it works with, in bytes: a piece is what one thread parses at a time, a batch is
 * `pieces` of them, the sample is looked at for delimiter, header and first types. */
typedef struct cri_csv_sizes {
    size_t piece, pieces, sample;
    bool   may_be_empty; /* a header alone is a table without rows */
} cri_csv_sizes;

/* The same with other sizes (each at least 1), to let tests cut records in every place. */
cr_status cri_csv_read_cut(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                           const cri_csv_sizes *sizes, cr_table **out_table);

#endif
