/* text_rows.h -- delimited text as rows of texts, one at a time: for readers that give a meaning to
 * cells themselves.  The first record names the columns.  Memory is that of the longest record and
 * one buffer; a row is given as soon as its last byte has come, so that pipes can be answered row
 * by row.  Quotes, blanks and missing values are as in csv.h.  (Internal header.) */
#ifndef CREDENCE_DATA_FORMATS_TEXT_ROWS_H
#define CREDENCE_DATA_FORMATS_TEXT_ROWS_H

#include "read.h"
#include "data/bytes/source.h"

typedef struct cri_text_rows cri_text_rows;

/* Reads the header.  *out_rows stays NULL where the text is not fit for it: without a line feed, or
 * empty.  The delimiter is that of the options, or of comma, semicolon, tab and bar the one that
 * the header has most of. */
cr_status cri_text_rows_open(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                             cri_text_rows **out_rows);
void      cri_text_rows_free(cri_text_rows *rows);
/* How many columns, and the name of column i. */
size_t      cri_text_rows_columns(const cri_text_rows *rows);
const char *cri_text_rows_name(const cri_text_rows *rows, size_t i);
/* Back before the first row; not of a pipe that forgets. */
cr_status cri_text_rows_rewind(cri_text_rows *rows);
/* Is the next row here already, without waiting? */
bool cri_text_rows_ready(const cri_text_rows *rows);
/* The next row: *out_cells [columns], NULL where a value is missing, valid until the next call;
 * NULL at the end.  CR_EDATA, with the line, for a row of other than that many fields. */
cr_status cri_text_rows_next(cri_text_rows *rows, const char *const **out_cells);
/* Cell i of that row as it is written, also where it reads as a missing value: for columns in which
 * "NA" or "?" has a meaning.  NULL where the options name it as missing, or where it is empty. */
const char *cri_text_rows_written(const cri_text_rows *rows, size_t i);
/* The line on which that row began. */
size_t cri_text_rows_line(const cri_text_rows *rows);
/* Where cell i of that row begins on its line: characters from 1, as in the text. */
size_t cri_text_rows_place(const cri_text_rows *rows, size_t i);

#endif
