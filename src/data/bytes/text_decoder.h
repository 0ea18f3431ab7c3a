/* text_decoder.h -- bytes in some encoding to UTF-8, piece by piece.
 * Text that is UTF-8 passes as it is, at the speed of looking at it.  Under `auto` a byte that is not
 * part of any UTF-8 character is taken as one of Windows-1252: files that mix both are read as they
 * were meant, and nothing needs to be read twice.  UTF-16 under `auto` is told by its byte-order mark,
 * which becomes that of UTF-8.
 *
 * Lines can be blanked on the way, so that whoever reads the text skips them and still counts them:
 * the first `skip`, and those that begin with `comment`.  A line that begins inside a quoted field is
 * not one of these.  A quote opens a field at the start of a line or behind a delimiter, which where it
 * is not given is the one of , ; tab | that the first line has most of; of lines that are JSON objects
 * quotes do not span lines.  (Internal header.) */
#ifndef CREDENCE_DATA_BYTES_TEXT_DECODER_H
#define CREDENCE_DATA_BYTES_TEXT_DECODER_H

#include "base/context.h"

/* In the order of the choices of --encoding. */
typedef enum cri_encoding {
    CRI_ENCODING_AUTO,
    CRI_ENCODING_UTF_8,
    CRI_ENCODING_LATIN1,
    CRI_ENCODING_WINDOWS_1252,
    CRI_ENCODING_UTF_16LE,
    CRI_ENCODING_UTF_16BE
} cri_encoding;

/* Gives the next bytes to decode: at least one, 0 only at the end. */
typedef cr_status cri_more_bytes_fn(void *user, char *out, size_t size, size_t *out_got);

typedef struct cri_text_decoder {
    cri_encoding encoding;
    char         comment; /* '\0': none */
    size_t       skip;    /* lines at the start */

    size_t
        foreign;  /* under auto and utf-8: where the first byte that is not UTF-8 stands in the text
                       that comes out; SIZE_MAX = none so far */
    size_t given; /* bytes that came out */
    char   cut[4]; /* the first bytes of a character whose others have not come */
    size_t n_cut;
    bool   ended;

    char  *raw; /* bytes to be converted, [capacity]; converted ones, [3 capacity + some] */
    char  *text;
    size_t capacity, at, end; /* text[at .. end) waits to be given */

    size_t line;              /* lines that are over, up to skip */
    bool   in_line, blanking; /* inside a line; that is to be blanked */
    char   delimiter;         /* '\0': not known yet, '\n': none */
    size_t seen[4];           /* of each that it may be, in the first line */
    bool   opens;             /* a quote would open a field */
    bool   quoted, quote;     /* inside a quoted field; right behind a quote that may close it */
    bool   object;            /* in a line that is a JSON object */
} cri_text_decoder;

/* A decoder at the start of its text. */
cri_text_decoder cri_text_decoder_of(cri_encoding encoding, char comment, size_t skip);
void             cri_text_decoder_free(cr_ctx *cx, cri_text_decoder *d);
/* Back to the start of the text. */
void cri_text_decoder_rewind(cri_text_decoder *d);
/* Some text: at least one byte, 0 only at the end. */
cr_status cri_text_decode(cr_ctx *cx, cri_text_decoder *d, cri_more_bytes_fn *more, void *user,
                          char *out, size_t size, size_t *out_got);

#endif
