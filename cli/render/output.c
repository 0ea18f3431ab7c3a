/* output.c -- results: to standard output or a file, as text or CSV. */
#include "../cli.h"
#include "base/number.h"
#include "data/bytes/packed.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the sink -------------------------------------------------------------------------------- */

enum { HELD = 4096 };

struct sink {
    cri_packed *file; /* NULL: standard output */
    cr_status   status;
    size_t      used;
    char        held[HELD]; /* bytes that go on together: most pieces are a few of them */
};

cr_status out_open(cli *c, const char *opt_path)
{
    cli_clear_progress(c); /* the bar has had its time */
    c->sink = cr_alloc(c->cx, 1, sizeof *c->sink);
    if (!c->sink) return CR_ENOMEM;
    bool to_file = opt_path && strcmp(opt_path, "-") != 0;
    c->sink->status = to_file ? cri_packed_create(c->cx, opt_path, &c->sink->file) : CR_OK;
    return c->sink->status;
}

static cr_status fail_stdout(cli *c)
{
    int reason = errno;
    if (reason == EINTR && cr_check_interrupt(c->cx) != CR_OK) return cr_error_status(c->cx);
    return cr_fail(c->cx, CR_EIO, "cannot write to standard output: %s", strerror(reason));
}

void out_fail(cli *c, cr_status st)
{
    if (c->sink && c->sink->status == CR_OK) c->sink->status = st;
}

static void pass_on(cli *c, const char *bytes, size_t size)
{
    struct sink *s = c->sink;
    if (s->status != CR_OK || size == 0) return;
    if (s->file)
        s->status = cri_packed_write(s->file, bytes, size);
    else if (fwrite(bytes, 1, size, stdout) != size)
        s->status = fail_stdout(c);
}

static void pass_on_held(cli *c)
{
    pass_on(c, c->sink->held, c->sink->used);
    c->sink->used = 0;
}

void out_bytes(cli *c, const char *bytes, size_t size)
{
    struct sink *s = c->sink;
    if (!s || s->status != CR_OK || size == 0) return;
    if (size > HELD - s->used) pass_on_held(c);
    if (size > HELD) {
        pass_on(c, bytes, size);
        return;
    }
    memcpy(s->held + s->used, bytes, size);
    s->used += size;
}

void out_text(cli *c, const char *format, ...)
{
    char    small[512], *text = small;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (n >= (int)sizeof small) {
        text = cli_allocate((size_t)n + 1);
        va_start(args, format);
        vsnprintf(text, (size_t)n + 1, format, args);
        va_end(args);
    }
    if (c->format == FORMAT_TEXT)
        out_safe(c, text, "\n\t");
    else
        out_bytes(c, text, (size_t)n);
    if (text != small) free(text);
}

void out_lines(cli *c, const char *text, size_t most)
{
    for (const char *line = text; *line && most > 0; most--) {
        size_t n = strcspn(line, "\n");
        out_text(c, "  %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

cr_status out_flush(cli *c)
{
    struct sink *s = c->sink;
    pass_on_held(c);
    if (!s->file && s->status == CR_OK && fflush(stdout) != 0) s->status = fail_stdout(c);
    return s->status;
}

/* Finishes the result: the file appears only when all went well so far. */
cr_status out_close(cli *c, cr_status st)
{
    struct sink *s = c->sink;
    if (!s) return st;
    if (st == CR_OK)
        st = out_flush(c);
    else if (!s->file) /* what there was until then */
        pass_on_held(c);
    if (s->file && st == CR_OK)
        st = cri_packed_commit(s->file);
    else if (s->file)
        cri_packed_abandon(s->file);
    cr_free(c->cx, s, 1, sizeof *s);
    c->sink = NULL;
    return st;
}

/* --- numbers and fields ---------------------------------------------------------------------- */

const char *out_number(double x, bool all_digits, char buffer[32])
{
    if (isnan(x))
        buffer[0] = '\0';
    else if (all_digits)
        buffer[cri_print_double(x, buffer)] = '\0';
    else
        snprintf(buffer, 32, "%.6g", x);
    return buffer;
}

void out_csv_field(cli *c, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        out_bytes(c, text, strlen(text));
        return;
    }
    out_bytes(c, "\"", 1);
    for (const char *p = text; *p; p++) out_bytes(c, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
    out_bytes(c, "\"", 1);
}

size_t out_width(const char *text)
{
    size_t n = 0;
    for (; *text; text++) n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}
