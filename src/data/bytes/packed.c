/* packed.c -- gzip and zstd on the way to an atomic file. */
#include "packed.h"
#include "zlib_memory.h"
#include "base/file.h"

#include <string.h>
#include <zstd.h>

enum { STEP = 1 << 16, GZIP_LEVEL = 6, ZSTD_LEVEL = 3 };

struct cri_packed {
    cr_ctx       *cx;
    cri_file     *file;
    bool          gzip; /* deflate is open */
    z_stream      deflate;
    ZSTD_CStream *zstd; /* NULL: none */
    char          buffer[STEP];
};

static bool ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcmp(path + n - m, ending) == 0;
}

bool cri_is_packed_name(const char *path) { return ends_in(path, ".gz") || ends_in(path, ".zst"); }

static void free_packed(cri_packed *p)
{
    if (p->gzip) deflateEnd(&p->deflate);
    ZSTD_freeCStream(p->zstd);
    cr_free(p->cx, p, 1, sizeof *p);
}

static cr_status begin_packing(cri_packed *p, const char *path)
{
    cr_status st = CR_OK;
    if (ends_in(path, ".gz")) {
        cri_zlib_use(&p->deflate, p->cx);
        p->gzip = deflateInit2(&p->deflate, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8,
                               Z_DEFAULT_STRATEGY) == Z_OK; /* 16: gzip, not zlib */
        if (!p->gzip) CR_TRY(cr_fail(p->cx, CR_ENOMEM, "out of memory: cannot compress %s", path));
    } else if (ends_in(path, ".zst")) {
        p->zstd = ZSTD_createCStream(); /* has no hook for memory in its stable interface */
        if (!p->zstd || ZSTD_isError(ZSTD_initCStream(p->zstd, ZSTD_LEVEL)))
            CR_TRY(cr_fail(p->cx, CR_ENOMEM, "out of memory: cannot compress %s", path));
    }
done:
    return st;
}

cr_status cri_packed_create(cr_ctx *cx, const char *path, cri_packed **out_file)
{
    cr_status   st = CR_OK;
    cri_packed *p = cr_alloc(cx, 1, sizeof *p);
    if (!p) return CR_ENOMEM;
    p->cx = cx;
    CR_TRY(begin_packing(p, path));
    CR_TRY(cri_file_create(cx, path, &p->file));
    *out_file = p;
    p = NULL;
done:
    if (p) free_packed(p);
    return st;
}

/* Z_FINISH: to the end of the stream. */
static cr_status deflate_bytes(cri_packed *p, const void *bytes, size_t size, int flush)
{
    cr_status st = CR_OK;
    int       code = Z_OK;
    p->deflate.next_in = (unsigned char *)(uintptr_t)bytes;
    p->deflate.avail_in = (unsigned)size;
    do {
        p->deflate.next_out = (unsigned char *)p->buffer;
        p->deflate.avail_out = STEP;
        code = deflate(&p->deflate, flush);
        CR_TRY(cri_file_write(p->file, p->buffer, STEP - p->deflate.avail_out));
    } while (p->deflate.avail_out == 0 || (flush == Z_FINISH && code == Z_OK));
done:
    return st;
}

static cr_status zstd_bytes(cri_packed *p, const void *bytes, size_t size, bool last)
{
    cr_status     st = CR_OK;
    ZSTD_inBuffer in = { bytes, size, 0 };
    size_t        left;
    do {
        ZSTD_outBuffer out = { p->buffer, STEP, 0 };
        left = ZSTD_compressStream2(p->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            CR_TRY(cr_fail(p->cx, CR_ENOMEM, "cannot compress: %s", ZSTD_getErrorName(left)));
        CR_TRY(cri_file_write(p->file, p->buffer, out.pos));
    } while (last ? left > 0 : in.pos < in.size);
done:
    return st;
}

cr_status cri_packed_write(cri_packed *p, const void *bytes, size_t size)
{
    cr_status   st = CR_OK;
    const char *at = bytes;
    if (!p->gzip && !p->zstd) return cri_file_write(p->file, bytes, size);
    while (size > 0) {
        size_t part = size < (1 << 20) ? size : 1 << 20;
        CR_TRY(p->gzip ? deflate_bytes(p, at, part, Z_NO_FLUSH) : zstd_bytes(p, at, part, false));
        at += part;
        size -= part;
    }
done:
    return st;
}

cr_status cri_packed_commit(cri_packed *p)
{
    cr_status st = CR_OK;
    if (p->gzip) CR_TRY(deflate_bytes(p, "", 0, Z_FINISH));
    if (p->zstd) CR_TRY(zstd_bytes(p, "", 0, true));
    st = cri_file_commit(p->file);
    p->file = NULL;
done:
    cri_packed_abandon(p);
    return st;
}

void cri_packed_abandon(cri_packed *p)
{
    if (!p) return;
    cri_file_abandon(p->file);
    free_packed(p);
}
