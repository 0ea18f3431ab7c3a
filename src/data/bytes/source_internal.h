/* source_internal.h -- what a source of bytes is: raw bytes below, a decoder above.  (Internal header.) */
#ifndef CREDENCE_DATA_BYTES_SOURCE_INTERNAL_H
#define CREDENCE_DATA_BYTES_SOURCE_INTERNAL_H

#include "source.h"
#include "text_decoder.h"

#include <sys/types.h>
#include <zlib.h>
#include <zstd.h>

typedef enum cri_origin { CRI_FROM_FILE, CRI_FROM_PIPE, CRI_FROM_MEMORY } cri_origin;
typedef enum cri_codec { CRI_PLAIN, CRI_GZIP, CRI_ZSTD } cri_codec;

struct cri_source {
    cr_ctx    *cx;
    char      *name;
    cri_origin origin;
    cri_codec  codec;
    int        fd;
    bool       owns_fd;
    off_t      start; /* of a file: where the first byte is */
    size_t     size;  /* raw bytes in all, 0 if not known */

    /* Raw bytes: of a file the current chunk, of a pipe all so far, of memory the whole. */
    char       *buffer;
    size_t      capacity;
    const char *memory;
    size_t      at, end; /* those not yet decoded */
    bool        raw_ended;
    bool        forgets;          /* of a pipe only these are kept */
    uint64_t    fetched, decoded; /* bytes since the start: raw, and of a packed source unpacked */

    char  *head; /* decoded bytes that were peeked at */
    size_t head_capacity, head_at, head_end;

    bool             is_text; /* what is read is UTF-8, by the decoder */
    cri_text_decoder text;
    char            *early; /* bytes that were peeked at before it was known to be text, */
    size_t           early_capacity, early_at, early_end; /* and are to be decoded first */
    bool             over;                                /* there is nothing more to read */

    bool          in_stream; /* inside a gzip member or zstd frame */
    bool          ended;
    bool          has_inflate;
    z_stream      inflate;
    ZSTD_DStream *zstd;
};

/* Finds out by the first bytes how they are packed, and begins to unpack. */
cr_status cri_source_begin(cri_source *s);
/* Some bytes into out, none only at the end. */
cr_status cri_source_decode(cri_source *s, char *out, size_t size, size_t *out_got);

#endif
