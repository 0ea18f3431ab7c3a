/* fuzz_stream.c -- any bytes in blocks of any size give the rows of the whole table, or one
 * sentence, within the memory limit, and no leak.  The first byte chooses block and format. */
#include "base/context.h"
#include "data/formats/read_internal.h"
#include "data/stream/stream_internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Reads all blocks; *out_rows counts their rows. */
static cr_status read_blocks(cr_ctx *cx, const uint8_t *bytes, size_t size,
                             const cr_read_options *options, cri_block_size block, size_t *out_rows)
{
    cri_source *source = NULL;
    cr_stream  *s = NULL;
    cr_table   *t = NULL;
    size_t      columns = 0;
    cr_status   st = cri_source_open_bytes(cx, "fuzz", bytes, size, &source);
    if (st == CR_OK) st = cri_stream_open_source(cx, "fuzz", source, options, block, &s);
    *out_rows = 0;
    while (st == CR_OK) {
        st = cr_stream_next(cx, s, &t);
        if (st != CR_OK || !t) break;
        if (cr_table_rows(t) == 0 || (block.rows && cr_table_rows(t) > block.rows)) abort();
        if (columns && columns != cr_table_columns(t)) abort();
        columns = cr_table_columns(t);
        *out_rows += cr_table_rows(t);
        cr_table_free(cx, t);
        t = NULL;
    }
    if (t || (st == CR_OK && *out_rows != cr_stream_rows(s))) abort();
    cr_stream_free(cx, s);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    cr_ctx         *cx = NULL;
    cr_read_options options = { .from = size ? bytes[0] >> 4 & 3 : 0 }; /* auto, csv, tsv, libsvm */
    cri_block_size  block = { size ? bytes[0] & 7 : 0, 64 }, whole = { SIZE_MAX, 0 };
    size_t          rows, all;
    if (cr_ctx_new(NULL, &cx) != CR_OK) return 0;
    cr_ctx_set_memory_limit(cx, (size_t)32 << 20);
    cr_ctx_set_threads(cx, 1); /* to start threads takes longer than to read */
    const uint8_t *text = size ? bytes + 1 : bytes;
    size_t         length = size ? size - 1 : 0;
    cr_status      st = read_blocks(cx, text, length, &options, block, &rows);
    if (st != CR_OK && cr_error(cx)[0] == '\0') abort();
    if (st == CR_OK && read_blocks(cx, text, length, &options, whole, &all) == CR_OK && all != rows)
        abort();
    if (cr_ctx_memory(cx) != 0) abort();
    cr_ctx_free(cx);
    return 0;
}
