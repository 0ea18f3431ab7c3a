/* source.c -- opening and reading: bytes as they are decoded (source_decode.c), and a buffer of those that
 * were looked at but not yet taken. */
#include "source_internal.h"
#include "base/context_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- life ------------------------------------------------------------------------------------ */

/* open(2), which waits for the other end of a named pipe: an interruption may end that. */
static cr_status open_path(cri_source *s, const char *path)
{
    cr_status st = CR_OK;
    do s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (s->fd < 0 && errno == EINTR && (st = cr_check_interrupt(s->cx)) == CR_OK);
    s->owns_fd = true;
    return st;
}

/* What the descriptor is of: a file, or something that can be read once. */
static cr_status look_at_descriptor(cri_source *s)
{
    struct stat info;
    if (s->fd < 0 || fstat(s->fd, &info) != 0)
        return cr_fail(s->cx, CR_EIO, "cannot open %s: %m", s->name);
    if (S_ISDIR(info.st_mode))
        return cr_fail(s->cx, CR_EIO, "cannot read %s: it is a directory", s->name);
    s->origin = CRI_FROM_PIPE;
    if (!S_ISREG(info.st_mode)) return CR_OK;
    s->start = lseek(s->fd, 0, SEEK_CUR);
    if (s->start < 0) return CR_OK;
    s->origin = CRI_FROM_FILE;
    s->size = info.st_size > s->start ? (size_t)(info.st_size - s->start) : 0;
    return CR_OK;
}

/* Opens `path`, or where it is NULL the descriptor, or where that is -1 the bytes. */
static cr_status open_any(cr_ctx *cx, const char *path, const char *name, int fd, const void *bytes,
                          size_t size, cri_source **out_source)
{
    cr_status   st = CR_OK;
    cri_source *s = cr_alloc(cx, 1, sizeof *s);
    if (!s && fd > STDIN_FILENO) close(fd);
    if (!s) return CR_ENOMEM;
    *s = (cri_source){ .cx = cx,
                       .fd = fd,
                       .owns_fd = fd > STDIN_FILENO,
                       .origin = CRI_FROM_MEMORY,
                       .memory = bytes ? bytes : "",
                       .size = size,
                       .end = size };
    s->name = cri_string_copy(cx, name);
    if (!s->name) CR_TRY(CR_ENOMEM);
    if (path) CR_TRY(open_path(s, path));
    if (path || fd >= 0) CR_TRY(look_at_descriptor(s));
    CR_TRY(cri_source_begin(s));
    *out_source = s;
    return CR_OK;
done:
    cri_source_close(s);
    return st;
}

cr_status cri_source_open(cr_ctx *cx, const char *path, cri_source **out_source)
{
    if (strcmp(path, "-") == 0)
        return open_any(cx, NULL, "stdin", STDIN_FILENO, NULL, 0, out_source);
    return open_any(cx, path, path, -1, NULL, 0, out_source);
}

cr_status cri_source_open_descriptor(cr_ctx *cx, const char *name, int fd, cri_source **out_source)
{
    return open_any(cx, NULL, name, fd, NULL, 0, out_source);
}

cr_status cri_source_open_bytes(cr_ctx *cx, const char *name, const void *bytes, size_t size,
                                cri_source **out_source)
{
    return open_any(cx, NULL, name, -1, bytes, size, out_source);
}

void cri_source_close(cri_source *s)
{
    if (!s) return;
    if (s->has_inflate) inflateEnd(&s->inflate);
    ZSTD_freeDStream(s->zstd);
    if (s->owns_fd && s->fd >= 0) close(s->fd);
    cr_free(s->cx, s->buffer, s->capacity, 1);
    cr_free(s->cx, s->head, s->head_capacity, 1);
    cr_free(s->cx, s->early, s->early_capacity, 1);
    cri_text_decoder_free(s->cx, &s->text);
    cri_string_free(s->cx, s->name);
    cr_free(s->cx, s, 1, sizeof *s);
}

const char *cri_source_name(const cri_source *s) { return s->name; }

size_t cri_source_size(const cri_source *s)
{
    bool halved = s->is_text && s->text.encoding >= CRI_ENCODING_UTF_16LE;
    return s->codec == CRI_PLAIN && !halved ? s->size : 0;
}

/* The bytes in sight are not text yet: they wait to be decoded. */
static void put_back(cri_source *s)
{
    s->early = s->head, s->early_capacity = s->head_capacity;
    s->early_at = s->head_at, s->early_end = s->head_end;
    s->head = NULL;
    s->head_capacity = s->head_at = s->head_end = 0;
    s->over = false;
}

cr_status cri_source_set_text(cri_source *s, const cri_text_decoder *how)
{
    const char *bytes;
    size_t      size;
    if (s->is_text) return CR_OK;
    cr_status st = cri_source_peek(s, 2, &bytes, &size);
    if (st != CR_OK) return st;
    s->text = *how;
    if (how->encoding == CRI_ENCODING_AUTO && size == 2) {
        if (memcmp(bytes, "\xff\xfe", 2) == 0) s->text.encoding = CRI_ENCODING_UTF_16LE;
        if (memcmp(bytes, "\xfe\xff", 2) == 0) s->text.encoding = CRI_ENCODING_UTF_16BE;
    }
    put_back(s);
    s->is_text = true;
    return CR_OK;
}

size_t cri_source_foreign(const cri_source *s) { return s->is_text ? s->text.foreign : SIZE_MAX; }

/* --- reading --------------------------------------------------------------------------------- */

/* Fills out as far as there are bytes. */
static cr_status decode_all(cri_source *s, char *out, size_t size, size_t *out_got)
{
    size_t filled = 0;
    while (filled < size && !s->over) {
        size_t    got = 0;
        cr_status st = cri_source_decode(s, out + filled, size - filled, &got);
        if (st != CR_OK) return st;
        filled += got;
    }
    *out_got = filled;
    return CR_OK;
}

/* Room for `size` bytes ahead, with those that are held at its start. */
static cr_status make_head(cri_source *s, size_t size)
{
    size_t held = s->head_end - s->head_at;
    if (held > 0 && s->head_at > 0) memmove(s->head, s->head + s->head_at, held);
    s->head_at = 0, s->head_end = held;
    if (size <= s->head_capacity) return CR_OK;
    char *grown = cr_resize(s->cx, s->head, s->head_capacity, size, 1);
    if (!grown) return CR_ENOMEM;
    s->head = grown;
    s->head_capacity = size;
    return CR_OK;
}

cr_status cri_source_peek(cri_source *s, size_t want, const char **out_bytes, size_t *out_size)
{
    cr_status st = make_head(s, want);
    size_t    held = s->head_end, got = 0;
    if (st == CR_OK && want > held) st = decode_all(s, s->head + held, want - held, &got);
    if (st != CR_OK) return st;
    s->head_end += got;
    *out_bytes = s->head ? s->head : "";
    *out_size = s->head_end < want ? s->head_end : want;
    return CR_OK;
}

/* Behind the first `lines` lines; NULL where they are not all there. */
static const char *end_of_lines(const char *at, const char *end, size_t lines)
{
    for (; at && lines > 0; lines--) {
        at = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        if (at) at++;
    }
    return at;
}

cr_status cri_source_peek_lines(cri_source *s, size_t lines, size_t most, const char **out_bytes,
                                size_t *out_size)
{
    cr_status st = make_head(s, most);
    while (st == CR_OK) {
        size_t      held = s->head_end < most ? s->head_end : most, got = 0;
        const char *end = held ? end_of_lines(s->head, s->head + held, lines) : NULL;
        if (end || held == most || s->over) {
            *out_bytes = s->head ? s->head : "";
            *out_size = end ? (size_t)(end - s->head) : held;
            return CR_OK;
        }
        st = cri_source_decode(s, s->head + held, most - held, &got);
        s->head_end += got;
    }
    return st;
}

cr_status cri_source_read(cri_source *s, char *out, size_t size, size_t *out_got)
{
    size_t held = s->head_end - s->head_at, got = 0;
    if (held > size) held = size;
    if (held > 0) memcpy(out, s->head + s->head_at, held);
    if (held < size) {
        cr_status st = decode_all(s, out + held, size - held, &got);
        if (st != CR_OK) return st;
    }
    s->head_at += held;
    if (s->head_at == s->head_end) { /* no longer needed */
        cr_free(s->cx, s->head, s->head_capacity, 1);
        s->head = NULL;
        s->head_capacity = s->head_at = s->head_end = 0;
    }
    *out_got = held + got;
    return CR_OK;
}

cr_status cri_source_read_some(cri_source *s, char *out, size_t size, size_t *out_got)
{
    cr_status st = CR_OK;
    size_t    held = s->head_end - s->head_at;
    *out_got = 0;
    if (held > 0) return cri_source_read(s, out, held < size ? held : size, out_got);
    while (size > 0 && *out_got == 0 && !s->over && st == CR_OK)
        st = cri_source_decode(s, out, size, out_got);
    return st;
}

bool cri_source_is_seekable(const cri_source *s) { return s->origin != CRI_FROM_PIPE; }
void cri_source_forget(cri_source *s) { s->forgets = s->origin == CRI_FROM_PIPE; }

cr_status cri_source_rewind(cri_source *s)
{
    if (s->forgets) return cr_fail(s->cx, CR_EIO, "%s cannot be read again", s->name);
    if (s->origin == CRI_FROM_FILE) {
        if (lseek(s->fd, s->start, SEEK_SET) < 0)
            return cr_fail(s->cx, CR_EIO, "cannot read %s again: %m", s->name);
        s->end = 0;
        s->raw_ended = false;
    }
    s->at = 0; /* of a pipe or memory all raw bytes are still there */
    s->decoded = 0;
    s->head_at = s->head_end = s->early_at = s->early_end = 0;
    s->ended = s->over = false;
    cri_text_decoder_rewind(&s->text);
    s->in_stream = s->codec != CRI_PLAIN;
    if (s->codec == CRI_GZIP) inflateReset(&s->inflate);
    if (s->codec == CRI_ZSTD) ZSTD_DCtx_reset(s->zstd, ZSTD_reset_session_only);
    return CR_OK;
}

cr_status cri_source_load(cr_ctx *cx, cri_source *source, cri_block *out)
{
    size_t known = cri_source_size(source), more = known + 1 > 65536 ? known + 1 : 65536;
    for (;;) {
        char *bytes = cr_resize(cx, out->bytes, out->capacity, more, 1);
        if (!bytes) return CR_ENOMEM;
        out->bytes = bytes;
        out->capacity = more;
        size_t    got = 0, space = out->capacity - out->size;
        cr_status st = cri_source_read(source, out->bytes + out->size, space, &got);
        if (st != CR_OK) return st;
        out->size += got;
        if (got < space) return CR_OK;
        if (more > SIZE_MAX / 2) return cr_fail(cx, CR_ENOMEM, "the data do not fit into memory");
        more *= 2;
    }
}

/* Maps the file; false where that cannot be, or does not pay. */
static bool map_file(const cri_source *s, cri_block *out)
{
    const size_t least = (size_t)1 << 20;
    if (s->origin != CRI_FROM_FILE || s->codec != CRI_PLAIN || s->is_text || s->start != 0 ||
        s->size < least)
        return false;
    off_t held = (off_t)(s->head_end - s->head_at) + (off_t)(s->end - s->at);
    if (lseek(s->fd, 0, SEEK_CUR) != held) return false; /* some bytes were taken */
    struct stat info;
    if (fstat(s->fd, &info) != 0 || info.st_size != (off_t)s->size) return false;
    void *p = mmap(NULL, s->size, PROT_READ, MAP_PRIVATE, s->fd, 0);
    if (p == MAP_FAILED) return false;
    *out = (cri_block){ .bytes = p, .size = s->size, .capacity = s->size, .mapped = true };
    return true;
}

cr_status cri_source_hold(cr_ctx *cx, cri_source *source, cri_block *out)
{
    return map_file(source, out) ? CR_OK : cri_source_load(cx, source, out);
}

void cri_block_free(cr_ctx *cx, cri_block *block)
{
    if (block->mapped)
        munmap(block->bytes, block->capacity);
    else
        cr_free(cx, block->bytes, block->capacity, 1);
    *block = (cri_block){ .bytes = NULL };
}
