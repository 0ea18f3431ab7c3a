/* fuzz_jsonl.c -- any bytes give a table or one sentence, within the memory limit, and no leak; in blocks
 * as in one. */
#include "base/context.h"
#include "data/formats/jsonl.h"
#include "data/stream/stream_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { JSONL = 7 }; /* of the choices of --from */

static cr_status read_whole(cr_ctx *cx, const uint8_t *bytes, size_t size, cr_table **out)
{
    const cr_read_options options = { .from = JSONL };
    cri_source           *source = NULL;
    cr_status             st = cri_source_open_bytes(cx, "fuzz", bytes, size, &source);
    if (st == CR_OK) st = cri_jsonl_read(cx, source, &options, out);
    cri_source_close(source);
    return st;
}

/* The rows of all blocks of two. */
static cr_status read_blocks(cr_ctx *cx, const uint8_t *bytes, size_t size, size_t *out_rows)
{
    const cr_read_options options = { .from = JSONL };
    cri_source           *source = NULL;
    cr_stream            *s = NULL;
    cr_table             *t = NULL;
    cr_status             st = cri_source_open_bytes(cx, "fuzz", bytes, size, &source);
    *out_rows = 0;
    if (st == CR_OK)
        st =
            cri_stream_open_source(cx, "fuzz", source, &options, (cri_block_size){ .rows = 2 }, &s);
    while (st == CR_OK) {
        st = cr_stream_next(cx, s, &t);
        if (st != CR_OK || !t) break;
        *out_rows += cr_table_rows(t);
        cr_table_free(cx, t);
        t = NULL;
    }
    cr_stream_free(cx, s);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    cr_ctx   *cx = NULL;
    cr_table *t = NULL;
    size_t    rows = 0;
    if (cr_ctx_new(NULL, &cx) != CR_OK) return 0;
    cr_ctx_set_memory_limit(cx, (size_t)16 << 20);
    cr_ctx_set_threads(cx, 1); /* to start threads takes longer than to read */
    cr_status st = read_whole(cx, bytes, size, &t);
    if (st != CR_OK && (t || cr_error(cx)[0] == '\0')) abort();
    cr_status blocks = read_blocks(cx, bytes, size, &rows);
    if (st != CR_ENOMEM && blocks != CR_ENOMEM && (st == CR_OK) != (blocks == CR_OK)) abort();
    if (st == CR_OK && blocks == CR_OK && rows != cr_table_rows(t)) abort();
    cr_table_free(cx, t);
    if (cr_ctx_memory(cx) != 0) abort();
    cr_ctx_free(cx);
    return 0;
}
