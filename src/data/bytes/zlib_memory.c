/* zlib_memory.c -- the size is kept in front of each block. */
#include "zlib_memory.h"

#include <stddef.h>

typedef union block_head {
    size_t      bytes;
    max_align_t align;
} block_head;

static void *zlib_alloc(void *cx, unsigned count, unsigned size)
{
    size_t      bytes = (size_t)count * size + sizeof(block_head);
    block_head *b = cr_alloc(cx, bytes, 1);
    if (!b) return NULL;
    b->bytes = bytes;
    return b + 1;
}

static void zlib_free(void *cx, void *p)
{
    block_head *b = (block_head *)p - 1;
    cr_free(cx, b, b->bytes, 1);
}

void cri_zlib_use(z_stream *stream, cr_ctx *cx)
{
    stream->zalloc = zlib_alloc;
    stream->zfree = zlib_free;
    stream->opaque = cx;
}
