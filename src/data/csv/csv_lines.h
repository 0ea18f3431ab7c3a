/* csv_lines.h -- lines of CSV into memory, for files, pipes and terminals alike.  (Internal
 * header.) */
#ifndef CREDENCE_DATA_CSV_CSV_LINES_H
#define CREDENCE_DATA_CSV_CSV_LINES_H

#include "base/context.h"

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
