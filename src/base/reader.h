/* reader.h -- one bounded reader for every parser.
 * A reader walks over bytes it does not own and never past them.  Its first failure sticks: later
 * reads give zeros and do nothing, so a parser may check once per record.  Text parsers get
 * messages with file, line, column and a caret; binary parsers get checked little-endian numbers.
 * (Internal header.) */
#ifndef CREDENCE_BASE_READER_H
#define CREDENCE_BASE_READER_H

#include "context.h"

typedef struct cri_reader {
    cr_ctx     *cx;
    const char *source; /* name for messages: a path, "stdin", ... */
    const char *begin, *at, *end;
    const char *line_begin; /* of the line that `at` is on */
    size_t      line;       /* 1 is the first */
    cr_status   status;
} cri_reader;

cri_reader cri_reader_open(cr_ctx *cx, const char *source, const void *bytes, size_t size);

/* Bytes left. */
static inline size_t cri_reader_left(const cri_reader *r) { return (size_t)(r->end - r->at); }

/* Binary: the next n bytes (NULL past the end), and little-endian unsigned numbers. */
const void *cri_read_bytes(cri_reader *r, size_t n);
uint16_t    cri_read_u16(cri_reader *r);
uint32_t    cri_read_u32(cri_reader *r);

/* Text: the current character, '\0' at the end; step over it, keeping the line count. */
static inline char cri_peek(const cri_reader *r) { return r->at < r->end ? *r->at : '\0'; }
void               cri_step(cri_reader *r);

/* Fails at [from, from + length) of the current line: "source:line:column: sentence", with the line
 * and a caret below it.  Sticks; returns the status. */
cr_status cri_reader_fail_at(cri_reader *r, const char *from, size_t length, const char *format,
                             ...) CR_PRINTF(4, 5);
/* Fails for a binary source: "source: sentence". */
cr_status cri_reader_fail(cri_reader *r, const char *format, ...) CR_PRINTF(2, 3);

#endif
