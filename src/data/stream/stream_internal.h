/* stream_internal.h -- what the readers of a stream share.
 * A reader gives raw blocks of one format; the stream around it (stream.c) sees to the options, to
 * equal levels in all blocks and to the first pass.  (Internal header.) */
#ifndef CREDENCE_DATA_STREAM_STREAM_INTERNAL_H
#define CREDENCE_DATA_STREAM_STREAM_INTERNAL_H

#include "data/bytes/source.h"
#include "stream.h"

/* Block sizes: at most `rows` rows when it is not 0, else what `bytes` of the source hold.  A pipe
 * in blocks of rows is followed: no reader of text waits for more than the rows of the block. */
typedef struct cri_block_size {
    size_t rows, bytes;
} cri_block_size;

/* The columns that a reader of blocks wants. */
typedef struct cri_wanted {
    bool (*is)(const void *arg, const char *column);
    const void *arg;
} cri_wanted;

/* One format.  Functions take the reader's own state; next gives NULL at the end, and never a table
 * of no rows. */
typedef struct cri_stream_format {
    cr_status (*open)(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                      cri_block_size size, void **out_reader);
    cr_status (*next)(cr_ctx *cx, void *reader, cr_table **out_table);
    /* From the start again, after a first pass. */
    cr_status (*rewind)(cr_ctx *cx, void *reader);
    /* At the start of the source: true when a first pass is needed, and after it, when one more is.
     * Blocks then need to hold only what it looks for. */
    bool (*start_scan)(void *reader);
    /* Before the first block: leaves out the other columns, and gives each block only the levels it has; NULL where
     * there is nothing to gain. */
    void (*choose)(void *reader, cri_wanted wanted);
    void (*free)(cr_ctx *cx, void *reader);
    bool retypes; /* the reader has seen to the column options itself */
} cri_stream_format;

extern const cri_stream_format cri_stream_csv, cri_stream_jsonl, cri_stream_libsvm, cri_stream_npy;

static inline bool cri_stream_follows(const cri_source *source, cri_block_size size)
{
    return size.rows > 0 && !cri_source_is_seekable(source);
}

/* Lets blocks of a pipe have levels of this column that the first block lacks: such a block has its
 * own levels.  The name is borrowed; NULL ends it. */
void cri_stream_leave_open(cr_stream *stream, const char *column);

/* As cr_stream_open, for a reader that knows the types and the levels, as a fitted model does: there is no first pass,
 * other columns may be left out, and levels may differ from block to block. */
cr_status cri_stream_open_known(cr_ctx *cx, const char *path, const cr_read_options *options,
                                size_t rows, cri_wanted wanted, cr_stream **out_stream);

/* Back to the first block, for another pass.  CR_EUNSUPPORTED for a pipe. */
cr_status cri_stream_rewind(cr_ctx *cx, cr_stream *stream);

/* As cr_stream_open, of a source that is taken over, also on failure; `bytes` instead of 16 MiB. */
cr_status cri_stream_open_source(cr_ctx *cx, const char *path, cri_source *source,
                                 const cr_read_options *options, cri_block_size size,
                                 cr_stream **out_stream);

#endif
