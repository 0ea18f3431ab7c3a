/* source_decode.c -- raw bytes of a source (file, pipe, memory), and its decoder (none, zlib, libzstd). */
#include "source_internal.h"
#include "expansion.h"
#include "zlib_memory.h"
#include "base/context_internal.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include <zstd_errors.h>

enum { CHUNK = 1 << 18 }; /* raw bytes asked from the system at a time */

/* --- raw bytes ------------------------------------------------------------------------------- */

static const char *raw(const cri_source *s)
{
    return (s->origin == CRI_FROM_MEMORY ? s->memory : s->buffer) + s->at;
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
    size_t wanted = s->origin == CRI_FROM_PIPE ? s->end + CHUNK : CHUNK;
    if (wanted <= s->capacity) return CR_OK;
    if (s->origin == CRI_FROM_PIPE && wanted < s->capacity + s->capacity / 2)
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
    if (s->origin == CRI_FROM_MEMORY || s->raw_ended) {
        s->raw_ended = true;
        return CR_OK;
    }
    if ((s->origin == CRI_FROM_FILE || s->forgets) && s->at == s->end) s->at = s->end = 0;
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
    if (s->at == s->end && s->origin == CRI_FROM_FILE) { /* straight to where they are wanted */
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
    if (s->codec == CRI_PLAIN) return decode_plain(s, out, size, out_got);
    cr_status st = s->codec == CRI_GZIP ? decode_gzip(s, out, size, out_got)
                                        : decode_zstd(s, out, size, out_got);
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

cr_status cri_source_decode(cri_source *s, char *out, size_t size, size_t *out_got)
{
    cr_status st = s->is_text ? cri_text_decode(s->cx, &s->text, more_bytes, s, out, size, out_got)
                              : unpack(s, out, size, out_got);
    s->over = st == CR_OK && (s->is_text ? *out_got == 0 : s->ended);
    return st;
}

/* --- the beginning --------------------------------------------------------------------------- */

static cri_codec tell_codec(const unsigned char *p, size_t n)
{
    if (n >= 3 && p[0] == 0x1f && p[1] == 0x8b && p[2] == 8) return CRI_GZIP;
    if (n >= 4 && p[0] == 0x28 && p[1] == 0xb5 && p[2] == 0x2f && p[3] == 0xfd) return CRI_ZSTD;
    if (n >= 4 && (p[0] & 0xf0) == 0x50 && p[1] == 0x2a && p[2] == 0x4d && p[3] == 0x18)
        return CRI_ZSTD; /* a skippable frame */
    return CRI_PLAIN;
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

cr_status cri_source_begin(cri_source *s)
{
    cr_status st = CR_OK;
    while (s->end - s->at < 4 && !s->raw_ended) CR_TRY(fetch(s));
    s->codec = tell_codec((const unsigned char *)raw(s), s->end - s->at);
    if (s->codec == CRI_GZIP) {
        cri_zlib_use(&s->inflate, s->cx);
        s->has_inflate = inflateInit2(&s->inflate, 15 + 16) == Z_OK; /* 16: gzip, not zlib */
        s->in_stream = true;
        if (!s->has_inflate)
            CR_TRY(cr_fail(s->cx, CR_ENOMEM, "out of memory: cannot decompress %s", s->name));
    } else if (s->codec == CRI_ZSTD) {
        s->zstd = ZSTD_createDStream(); /* has no hook for memory in its stable interface */
        s->in_stream = true;
        if (!s->zstd)
            CR_TRY(cr_fail(s->cx, CR_ENOMEM, "out of memory: cannot decompress %s", s->name));
        bound_window(s);
    }
done:
    return st;
}
