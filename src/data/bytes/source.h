/* source.h -- bytes from a file, a pipe or memory, in pieces, and again from the start.
 * gzip (any number of members) and zstd (any number of frames) are told by their first bytes and
 * decompressed on the way, whatever the name says.  Regular files, also as standard input, are read
 * again by seeking; what came through a pipe is kept, as it came, so that it can be read again.
 * (Internal header.) */
#ifndef CREDENCE_DATA_BYTES_SOURCE_H
#define CREDENCE_DATA_BYTES_SOURCE_H

#include "base/context.h"
#include "text_decoder.h"

typedef struct cri_source cri_source;

/* Opens a path, or standard input for "-".  Fails with CR_EIO, naming path and reason: also for a
 * directory. */
cr_status cri_source_open(cr_ctx *cx, const char *path, cri_source **out_source);
/* The same of a descriptor, which is taken over, also on failure; `name` serves in messages. */
cr_status cri_source_open_descriptor(cr_ctx *cx, const char *name, int fd, cri_source **out_source);
/* The same for bytes in memory, which must outlive the source; `name` serves in messages. */
cr_status cri_source_open_bytes(cr_ctx *cx, const char *name, const void *bytes, size_t size,
                                cri_source **out_source);
/* NULL is allowed. */
void cri_source_close(cri_source *source);

/* "stdin", or the path as it was given. */
const char *cri_source_name(const cri_source *source);
/* The number of bytes it will give, where that is known before reading; else 0. */
size_t cri_source_size(const cri_source *source);

/* From now on the source gives text: UTF-8, whatever the bytes are (text_decoder.h).  `how` is as
 * cri_text_decoder_of made it.  Nothing may have been read yet, but looked at; once. */
cr_status cri_source_set_text(cri_source *source, const cri_text_decoder *how);
/* Where the first byte that is not UTF-8 stands in the text that was given; SIZE_MAX = nowhere. */
size_t cri_source_foreign(const cri_source *source);

/* The next bytes without taking them: `want` of them, fewer only at the end.  Valid until the next
 * call on the source.  Fails like cri_source_read. */
cr_status cri_source_peek(cri_source *source, size_t want, const char **out_bytes,
                          size_t *out_size);
/* The next bytes up to the end of line `lines`, or all that are left where there are fewer lines,
 * but at most `most`; waits for no byte more, and gives the same however the bytes arrive. */
cr_status cri_source_peek_lines(cri_source *source, size_t lines, size_t most,
                                const char **out_bytes, size_t *out_size);
/* Takes the next bytes: `size` of them, fewer only at the end.  Fails with CR_EIO, with CR_EDATA
 * for a damaged or cut off gzip or zstd stream, CR_ENOMEM or CR_EINTERRUPTED. */
cr_status cri_source_read(cri_source *source, char *out, size_t size, size_t *out_got);
/* The same, but takes what is there without waiting for more: at least one byte, 0 at the end. */
cr_status cri_source_read_some(cri_source *source, char *out, size_t size, size_t *out_got);
/* true when it can be read again without keeping it: a regular file, or memory. */
bool cri_source_is_seekable(const cri_source *source);
/* From now on what has come through a pipe is not kept: memory stays bounded, and a rewind fails.
 */
void cri_source_forget(cri_source *source);
/* Back to the first byte. */
cr_status cri_source_rewind(cri_source *source);

typedef struct cri_block {
    char  *bytes; /* [capacity], freed by cri_block_free */
    size_t size, capacity;
    bool   mapped; /* they are the file itself, and may only be read */
} cri_block;

/* All the bytes that are left, into an empty block, which is to be freed also on failure. */
cr_status cri_source_load(cr_ctx *cx, cri_source *source, cri_block *out);
/* The same, for reading only: a plain file of some size, of which nothing was taken yet, is mapped
 * instead of copied.  No memory is counted for it, since the system can drop its pages at any time.
 * Whoever shortens the file in place before the block is freed ends the process (SIGBUS): a file that
 * may be in use is replaced by renaming a new one over it. */
cr_status cri_source_hold(cr_ctx *cx, cri_source *source, cri_block *out);
void      cri_block_free(cr_ctx *cx, cri_block *block);

#endif
