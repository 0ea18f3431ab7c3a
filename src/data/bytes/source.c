/* source.c -- raw bytes below (file, pipe, memory), a decoder above (none, zlib, libzstd), and a
 * buffer of bytes that were looked at but not yet taken. */
#include "source.h"
#include "expansion.h"
#include "text_decoder.h"
#include "zlib_memory.h"
#include "base/context_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { CHUNK = 1 << 18 }; /* raw bytes asked from the system at a time */

typedef enum origin { FROM_FILE, FROM_PIPE, FROM_MEMORY } origin;
typedef enum codec { PLAIN, GZIP, ZSTD } codec;

struct cri_source {
    cr_ctx *cx;
    char   *name;
    origin  origin;
    codec   codec;
    int     fd;
    bool    owns_fd;
    off_t   start; /* of a file: where the first byte is */
    size_t  size;  /* raw bytes in all, 0 if not known */

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

/* --- raw bytes ------------------------------------------------------------------------------- */

static const char *raw(const cri_source *s)
{
    return (s->origin == FROM_MEMORY ? s->memory : s->buffer) + s->at;
}

/* read(2) through interruptions; a request to stop is seen at the latest when bytes arrive. */
static cr_status read_system(cri_source *s, char *out, size_t size, size_t *out_got)
{
    ssize_t got;
    do {
        cr_status st = cr_check_interrupt(s->cx);
        if (st != CR_OK) return st;
        got = read(s->fd, out, size < SSIZE_MAX ? size : SSIZE_MAX);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return cr_fail(s->cx, CR_EIO, "cannot read %s: %m", s->name);
    *out_got = (size_t)got;
    return CR_OK;
}

static cr_status reserve(cri_source *s)
{
    size_t wanted = s->origin == FROM_PIPE ? s->end + CHUNK : CHUNK;
    if (wanted <= s->capacity) return CR_OK;
    if (s->origin == FROM_PIPE && wanted < s->capacity + s->capacity / 2)
        wanted = s->capacity + s->capacity / 2;
    char *grown = cr_resize(s->cx, s->buffer, s->capacity, wanted, 1);
    if (!grown) return CR_ENOMEM;
    s->buffer = grown;
    s->capacity = wanted;
    return CR_OK;
}

/* Some more raw bytes behind those at hand, or raw_ended. */
static cr_status fetch(cri_source *s)
{
    size_t got = 0;
    if (s->origin == FROM_MEMORY || s->raw_ended) {
        s->raw_ended = true;
        return CR_OK;
    }
    if ((s->origin == FROM_FILE || s->forgets) && s->at == s->end) s->at = s->end = 0;
    cr_status st = reserve(s);
    if (st != CR_OK) return st;
    st = read_system(s, s->buffer + s->end, s->capacity - s->end, &got);
    if (st != CR_OK) return st;
    s->raw_ended = got == 0;
    s->end += got;
    s->fetched += got;
    return CR_OK;
}

/* --- decoders: some bytes into out, none only at the end ------------------------------------- */

static cr_status decode_plain(cri_source *s, char *out, size_t size, size_t *out_got)
{
    if (s->at == s->end && s->origin == FROM_FILE) { /* straight to where they are wanted */
        cr_status st = read_system(s, out, size, out_got);
        s->ended = st == CR_OK && *out_got == 0;
        return st;
    }
    if (s->at == s->end) {
        cr_status st = fetch(s);
        if (st != CR_OK) return st;
    }
    size_t n = s->end - s->at;
    if (n > size) n = size;
    if (n > 0) memcpy(out, raw(s), n);
    s->at += n;
    *out_got = n;
    s->ended = n == 0;
    return CR_OK;
}

static cr_status fail_cut_off(cri_source *s, const char *format)
{
    return cr_fail(s->cx, CR_EDATA, "%s: the %s data are cut off", s->name, format);
}

/* Between members: the next one, or the end (zeros may follow, as tapes leave them). */
static cr_status next_member(cri_source *s)
{
    for (;;) {
        while (s->at < s->end && *raw(s) == '\0') s->at++;
        if (s->at < s->end || s->raw_ended) break;
        cr_status st = fetch(s);
        if (st != CR_OK) return st;
    }
    s->ended = s->at == s->end;
    if (s->ended) return CR_OK;
    if ((unsigned char)*raw(s) != 0x1f)
        return cr_fail(s->cx, CR_EDATA, "%s: there are other bytes after the gzip data", s->name);
    inflateReset(&s->inflate);
    s->in_stream = true;
    return CR_OK;
}

static cr_status decode_gzip(cri_source *s, char *out, size_t size, size_t *out_got)
{
    cr_status st = CR_OK;
    unsigned  space = size < UINT_MAX / 2 ? (unsigned)size : UINT_MAX / 2;
    s->inflate.next_out = (unsigned char *)out;
    s->inflate.avail_out = space;
    while (s->inflate.avail_out == space && !s->ended) {
        if (!s->in_stream) {
            CR_TRY(next_member(s));
            continue;
        }
        if (s->at == s->end) {
            CR_TRY(fetch(s));
            if (s->raw_ended) CR_TRY(fail_cut_off(s, "gzip"));
        }
        size_t   left = s->end - s->at;
        unsigned given = left < UINT_MAX / 2 ? (unsigned)left : UINT_MAX / 2;
        s->inflate.next_in = (unsigned char *)(uintptr_t)raw(s);
        s->inflate.avail_in = given;
        int code = inflate(&s->inflate, Z_NO_FLUSH);
        s->at += given - s->inflate.avail_in;
        if (code == Z_STREAM_END)
            s->in_stream = false;
        else if (code == Z_MEM_ERROR)
            CR_TRY(cr_fail(s->cx, CR_ENOMEM, "out of memory while %s is decompressed", s->name));
        else if (code != Z_OK && code != Z_BUF_ERROR)
            CR_TRY(cr_fail(s->cx, CR_EDATA, "%s: the gzip data are damaged (%s)", s->name,
                           s->inflate.msg ? s->inflate.msg : "unknown reason"));
    }
    *out_got = space - s->inflate.avail_out;
done:
    return st;
}

static cr_status decode_zstd(cri_source *s, char *out, size_t size, size_t *out_got)
{
    ZSTD_outBuffer to = { out, size, 0 };
    while (to.pos == 0 && !s->ended) {
        if (s->at == s->end) {
            cr_status st = fetch(s);
            if (st != CR_OK) return st;
        }
        bool          last = s->at == s->end; /* the frame may still hold back decoded bytes */
        ZSTD_inBuffer from = { raw(s), s->end - s->at, 0 };
        size_t        code = s->in_stream || !last ? ZSTD_decompressStream(s->zstd, &to, &from) : 0;
        s->at += from.pos;
        ZSTD_ErrorCode reason = ZSTD_getErrorCode(code);
        if (reason == ZSTD_error_memory_allocation)
            return cr_fail(s->cx, CR_ENOMEM, "%s: out of memory for the zstd data", s->name);
        if (reason == ZSTD_error_frameParameter_windowTooLarge)
            return cr_fail(s->cx, CR_ENOMEM, "%s: out of memory: its zstd window is too large",
                           s->name);
        if (ZSTD_isError(code))
            return cr_fail(s->cx, CR_EDATA, "%s: the zstd data are damaged (%s)", s->name,
                           ZSTD_getErrorName(code));
        s->in_stream = code != 0;
        if (last && s->in_stream && to.pos == 0) return fail_cut_off(s, "zstd");
        s->ended = last && !s->in_stream && to.pos == 0;
    }
    *out_got = to.pos;
    return CR_OK;
}

static cr_status unpack(cri_source *s, char *out, size_t size, size_t *out_got)
{
    *out_got = 0;
    if (s->ended) return CR_OK;
    if (s->codec == PLAIN) return decode_plain(s, out, size, out_got);
    cr_status st =
        s->codec == GZIP ? decode_gzip(s, out, size, out_got) : decode_zstd(s, out, size, out_got);
    if (st != CR_OK) return st;
    s->decoded += *out_got;
    return cri_check_expansion(s->cx, s->name, s->size ? s->size : s->fetched, s->decoded);
}

/* Unpacked bytes for the decoder of text. */
static cr_status more_bytes(void *source, char *out, size_t size, size_t *out_got)
{
    cri_source *s = source;
    size_t      held = s->early_end - s->early_at;
    if (held == 0) return unpack(s, out, size, out_got);
    *out_got = held < size ? held : size;
    memcpy(out, s->early + s->early_at, *out_got);
    s->early_at += *out_got;
    return CR_OK;
}

static cr_status decode(cri_source *s, char *out, size_t size, size_t *out_got)
{
    cr_status st = s->is_text ? cri_text_decode(s->cx, &s->text, more_bytes, s, out, size, out_got)
                              : unpack(s, out, size, out_got);
    s->over = st == CR_OK && (s->is_text ? *out_got == 0 : s->ended);
    return st;
}

/* --- life ------------------------------------------------------------------------------------ */

static codec tell_codec(const unsigned char *p, size_t n)
{
    if (n >= 3 && p[0] == 0x1f && p[1] == 0x8b && p[2] == 8) return GZIP;
    if (n >= 4 && p[0] == 0x28 && p[1] == 0xb5 && p[2] == 0x2f && p[3] == 0xfd) return ZSTD;
    if (n >= 4 && (p[0] & 0xf0) == 0x50 && p[1] == 0x2a && p[2] == 0x4d && p[3] == 0x18)
        return ZSTD; /* a skippable frame */
    return PLAIN;
}

/* Most of what zstd takes is its window, whose size the frame says: at most half of what is left.  It
 * refuses more than 128 MiB by itself. */
static void bound_window(cri_source *s)
{
    int    bits = 27;
    size_t left = cri_memory_left(s->cx);
    while (bits > 10 && (size_t)1 << bits > left / 2) bits--;
    if (cri_memory_is_limited(s->cx)) ZSTD_DCtx_setParameter(s->zstd, ZSTD_d_windowLogMax, bits);
}

static cr_status begin_decoding(cri_source *s)
{
    cr_status st = CR_OK;
    while (s->end - s->at < 4 && !s->raw_ended) CR_TRY(fetch(s));
    s->codec = tell_codec((const unsigned char *)raw(s), s->end - s->at);
    if (s->codec == GZIP) {
        cri_zlib_use(&s->inflate, s->cx);
        s->has_inflate = inflateInit2(&s->inflate, 15 + 16) == Z_OK; /* 16: gzip, not zlib */
        s->in_stream = true;
        if (!s->has_inflate)
            CR_TRY(cr_fail(s->cx, CR_ENOMEM, "out of memory: cannot decompress %s", s->name));
    } else if (s->codec == ZSTD) {
        s->zstd = ZSTD_createDStream(); /* has no hook for memory in its stable interface */
        s->in_stream = true;
        if (!s->zstd)
            CR_TRY(cr_fail(s->cx, CR_ENOMEM, "out of memory: cannot decompress %s", s->name));
        bound_window(s);
    }
done:
    return st;
}

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
    s->origin = FROM_PIPE;
    if (!S_ISREG(info.st_mode)) return CR_OK;
    s->start = lseek(s->fd, 0, SEEK_CUR);
    if (s->start < 0) return CR_OK;
    s->origin = FROM_FILE;
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
                       .origin = FROM_MEMORY,
                       .memory = bytes ? bytes : "",
                       .size = size,
                       .end = size };
    s->name = cri_string_copy(cx, name);
    if (!s->name) CR_TRY(CR_ENOMEM);
    if (path) CR_TRY(open_path(s, path));
    if (path || fd >= 0) CR_TRY(look_at_descriptor(s));
    CR_TRY(begin_decoding(s));
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
    return s->codec == PLAIN && !halved ? s->size : 0;
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
        cr_status st = decode(s, out + filled, size - filled, &got);
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
        st = decode(s, s->head + held, most - held, &got);
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
    while (size > 0 && *out_got == 0 && !s->over && st == CR_OK) st = decode(s, out, size, out_got);
    return st;
}

bool cri_source_is_seekable(const cri_source *s) { return s->origin != FROM_PIPE; }
void cri_source_forget(cri_source *s) { s->forgets = s->origin == FROM_PIPE; }

cr_status cri_source_rewind(cri_source *s)
{
    if (s->forgets) return cr_fail(s->cx, CR_EIO, "%s cannot be read again", s->name);
    if (s->origin == FROM_FILE) {
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
    s->in_stream = s->codec != PLAIN;
    if (s->codec == GZIP) inflateReset(&s->inflate);
    if (s->codec == ZSTD) ZSTD_DCtx_reset(s->zstd, ZSTD_reset_session_only);
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
    if (s->origin != FROM_FILE || s->codec != PLAIN || s->is_text || s->start != 0 ||
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
