/* jsonl_records.c -- see jsonl_records.h. */
#include "jsonl_records.h"
#include "base/reader.h"
#include "jsonl_value.h"

#include <string.h>

enum { FIRST_CAPACITY = 1 << 18, SHOWN = 1 << 10 };

/* --- the buffer ------------------------------------------------------------------------------ */

static cr_status grow_buffer(cri_jsonl_records *r)
{
    size_t more = r->capacity ? 2 * r->capacity : FIRST_CAPACITY;
    char  *buffer = cr_alloc(r->cx, more, 1), *space = cr_alloc(r->cx, more, 1);
    if (!buffer || !space) {
        cr_free(r->cx, buffer, more, 1);
        cr_free(r->cx, space, more, 1);
        return CR_ENOMEM;
    }
    if (r->buffer) memcpy(buffer, r->buffer, r->end);
    cr_free(r->cx, r->buffer, r->capacity, 1);
    cr_free(r->cx, r->space, r->capacity, 1);
    r->buffer = buffer;
    r->space = space;
    r->capacity = more;
    return CR_OK;
}

/* More of the source behind what is left, which moves to the front with some of what is before it on its line, for
 * failures to be shown in. */
static cr_status fill_buffer(cri_jsonl_records *r)
{
    size_t    got = 0, passed = r->at > SHOWN ? r->at - SHOWN : 0;
    cr_status st = CR_OK;
    if (passed > 0) memmove(r->buffer, r->buffer + passed, r->end - passed);
    r->end -= passed;
    r->at -= passed;
    if (r->capacity - r->end < FIRST_CAPACITY / 2) CR_TRY(grow_buffer(r));
    CR_TRY(cr_check_interrupt(r->cx));
    CR_TRY(cri_source_read_some(r->source, r->buffer + r->end, r->capacity - r->end - 1, &got));
    r->end += got;
    r->ended = got == 0;
    if (r->ended && r->end > 0 && r->buffer[r->end - 1] != '\n') r->buffer[r->end++] = '\n';
done:
    return st;
}

/* Passes over what is before `to`. */
static void advance(cri_jsonl_records *r, const char *to)
{
    for (const char *p = r->buffer + r->at; p < to; p++) r->passed += *p == '\n';
    r->offset += (size_t)(to - r->buffer) - r->at;
    r->at = (size_t)(to - r->buffer);
}

/* --- lines ----------------------------------------------------------------------------------- */

static cr_status next_line(cri_jsonl_records *r, const char **out_begin, const char **out_end)
{
    cr_status st = CR_OK;
    for (size_t looked = 0;;) {
        size_t      left = r->end - r->at;
        const char *begin = r->buffer + r->at;
        const char *stop = left > looked ? memchr(begin + looked, '\n', left - looked) : NULL;
        if (stop) {
            *out_begin = begin;
            *out_end = stop;
            r->at = (size_t)(stop + 1 - r->buffer);
            r->offset += (size_t)(stop + 1 - begin);
            r->line = ++r->passed;
            return CR_OK;
        }
        if (r->ended) return CR_OK;
        looked = left;
        CR_TRY(fill_buffer(r));
    }
done:
    return st;
}

/* --- elements of an array -------------------------------------------------------------------- */

/* The next character that is not blank; '\0' at the end of the source. */
static cr_status next_character(cri_jsonl_records *r, char *out)
{
    cr_status st = CR_OK;
    for (;;) {
        const char *end = r->buffer + r->end;
        advance(r, cri_jsonl_skip(r->buffer + r->at, end));
        *out = r->at < r->end ? r->buffer[r->at] : '\0';
        if (r->at < r->end || r->ended) return CR_OK;
        CR_TRY(fill_buffer(r));
    }
done:
    return st;
}

static cr_status fail_here(cri_jsonl_records *r, const char *what)
{
    r->line = r->passed + 1;
    return cri_jsonl_fail_at(r, r->buffer + r->at, r->buffer + r->end, r->buffer + r->at, what);
}

/* Behind the brace that closes the one at `begin`; NULL where it is not in the buffer. */
static const char *object_end(const char *begin, const char *end)
{
    size_t depth = 0;
    bool   quoted = false;
    for (const char *p = begin; p < end; p++) {
        if (quoted && *p == '\\')
            p++;
        else if (*p == '"')
            quoted = !quoted;
        else if (!quoted && *p == '{')
            depth++;
        else if (!quoted && *p == '}' && --depth == 0)
            return p + 1;
    }
    return NULL;
}

/* Behind the last element: nothing may follow. */
static cr_status close_array(cri_jsonl_records *r)
{
    cr_status st = CR_OK;
    char      c;
    r->closed = true;
    advance(r, r->buffer + r->at + 1);
    CR_TRY(next_character(r, &c));
    if (r->at < r->end) CR_TRY(fail_here(r, "there is something after the array"));
done:
    return st;
}

static cr_status next_element(cri_jsonl_records *r, bool first, const char **out_begin,
                              const char **out_end)
{
    cr_status   st = CR_OK;
    const char *end;
    char        c;
    if (r->closed) return CR_OK;
    CR_TRY(next_character(r, &c));
    if (c == ']') return close_array(r);
    if (!first) {
        if (c != ',') CR_TRY(fail_here(r, "a comma or ] is expected here"));
        advance(r, r->buffer + r->at + 1);
        CR_TRY(next_character(r, &c));
    }
    if (c != '{') CR_TRY(fail_here(r, "an object { ... } is expected here"));
    while (!(end = object_end(r->buffer + r->at, r->buffer + r->end))) {
        if (r->ended) CR_TRY(fail_here(r, "this object is not closed"));
        CR_TRY(fill_buffer(r));
    }
    *out_begin = r->buffer + r->at;
    *out_end = end;
    r->line = r->passed + 1;
    advance(r, end);
done:
    return st;
}

/* --- both ------------------------------------------------------------------------------------ */

/* Behind a mark of UTF-8, and the bracket of an array. */
static cr_status begin(cri_jsonl_records *r)
{
    static const char mark[] = "\xef\xbb\xbf";
    cr_status         st = CR_OK;
    size_t            skipped = 0, blank = 0;
    while (!r->ended && (r->end < 3 || blank == r->end)) {
        CR_TRY(fill_buffer(r));
        skipped = r->end >= 3 && memcmp(r->buffer, mark, 3) == 0 ? 3 : 0;
        blank = (size_t)(cri_jsonl_skip(r->buffer + skipped, r->buffer + r->end) - r->buffer);
    }
    r->array = blank < r->end && r->buffer[blank] == '[';
    advance(r, r->buffer + (r->array ? blank + 1 : skipped));
    r->begun = true;
done:
    return st;
}

cr_status cri_jsonl_next(cri_jsonl_records *r, const char **out_begin, const char **out_end)
{
    cr_status st = CR_OK;
    bool      first = !r->begun;
    *out_begin = NULL;
    if (first) CR_TRY(begin(r));
    CR_TRY(r->array ? next_element(r, first, out_begin, out_end)
                    : next_line(r, out_begin, out_end));
done:
    return st;
}

cr_status cri_jsonl_fail_at(const cri_jsonl_records *r, const char *begin, const char *end,
                            const char *at, const char *what)
{
    size_t line = r->line;
    for (const char *p = begin; p < at; p++)
        if (*p == '\n') begin = p + 1, line++;
    while (begin > r->buffer && begin[-1] != '\n') begin--; /* as far back as the buffer reaches */
    const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    cri_reader  in = cri_reader_open(r->cx, cri_source_name(r->source), begin,
                                     (size_t)((stop ? stop : end) - begin));
    in.line = line;
    return cri_reader_fail_at(&in, at, 1, "%s", what);
}

cr_status cri_jsonl_records_open(cr_ctx *cx, cri_source *source, cri_jsonl_records *out)
{
    *out = (cri_jsonl_records){ .cx = cx, .source = source };
    return grow_buffer(out);
}

void cri_jsonl_records_close(cri_jsonl_records *r)
{
    cr_free(r->cx, r->buffer, r->capacity, 1);
    cr_free(r->cx, r->space, r->capacity, 1);
}

cr_status cri_jsonl_records_rewind(cri_jsonl_records *r)
{
    r->at = r->end = r->line = r->passed = 0;
    r->offset = 0;
    r->begun = r->ended = r->array = r->closed = false;
    return cri_source_rewind(r->source);
}
