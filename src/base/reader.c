/* reader.c -- the bounded reader. */
#include "reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

cri_reader cri_reader_open(cr_ctx *cx, const char *source, const void *bytes, size_t size)
{
    const char *text = bytes;
    return (cri_reader){ .cx = cx,
                         .source = source,
                         .begin = text,
                         .at = text,
                         .end = size ? text + size : text,
                         .line_begin = text,
                         .line = 1 };
}

const void *cri_read_bytes(cri_reader *r, size_t n)
{
    if (r->status != CR_OK) return NULL;
    if (cri_reader_left(r) < n) {
        cri_reader_fail(r, "the file ends too early: %zu bytes are missing at byte %zu",
                        n - cri_reader_left(r), (size_t)(r->end - r->begin));
        return NULL;
    }
    const void *p = r->at;
    r->at += n;
    return p;
}

static uint64_t read_little_endian(cri_reader *r, size_t n)
{
    const unsigned char *p = cri_read_bytes(r, n);
    uint64_t             v = 0;
    for (size_t i = n; p && i-- > 0;) v = v << 8 | p[i];
    return v;
}

uint16_t cri_read_u16(cri_reader *r) { return (uint16_t)read_little_endian(r, 2); }
uint32_t cri_read_u32(cri_reader *r) { return (uint32_t)read_little_endian(r, 4); }
void     cri_step(cri_reader *r)
{
    if (r->at >= r->end) return;
    if (*r->at++ == '\n') r->line++, r->line_begin = r->at;
}

/* --- messages -------------------------------------------------------------------------------- */

/* A byte as it may be shown on a terminal. */
static char printable(char c) { return (unsigned char)c < ' ' || c == 0x7f ? ' ' : c; }

/* The line with the fault and a caret under it, cut to a window of WIDTH bytes around the fault. */
static void show_line(cri_reader *r, const char *from, size_t length)
{
    enum { WIDTH = 72 };
    const char *first = r->line_begin, *last = from;
    while (last < r->end && *last != '\n' && *last != '\r') last++;
    if (from - first > WIDTH - 16) first = from - (WIDTH - 16);
    if (last - first > WIDTH) last = first + WIDTH;

    char   shown[WIDTH + 1], caret[2 * WIDTH + 2];
    size_t n = (size_t)(last - first), before = (size_t)(from - first);
    for (size_t i = 0; i < n; i++) shown[i] = printable(first[i]);
    shown[n] = '\0';
    if (before + length > n) length = n > before ? n - before : 1;
    if (length == 0) length = 1;
    memset(caret, ' ', before);
    caret[before] = '^';
    memset(caret + before + 1, '~', length - 1);
    caret[before + length] = '\0';
    cr_fail_note(r->cx, "%4zu | %s", r->line, shown);
    cr_fail_note(r->cx, "     | %s", caret);
}

cr_status cri_reader_fail_at(cri_reader *r, const char *from, size_t length, const char *format,
                             ...)
{
    if (r->status != CR_OK) return r->status;
    char    text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->status = cr_fail(r->cx, CR_EDATA, "%s:%zu:%zu: %s", r->source, r->line,
                        (size_t)(from - r->line_begin) + 1, text);
    show_line(r, from, length);
    r->at = r->end; /* text reads find nothing more */
    return r->status;
}

cr_status cri_reader_fail(cri_reader *r, const char *format, ...)
{
    if (r->status != CR_OK) return r->status;
    char    text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->at = r->end;
    return r->status = cr_fail(r->cx, CR_EDATA, "%s: %s", r->source, text);
}
