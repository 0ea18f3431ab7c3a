/* sheet_json.c -- a sheet as JSON: for programs, but laid out so that people and grep can read it. */
#include "sheet.h"
#include "number.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

static void put(const cri_sheet_sink *out, const char *text)
{
    out->put(out->arg, text, strlen(text));
}

/* --- texts and numbers ----------------------------------------------------------------------- */

/* Whether a character of n bytes (0: none of UTF-8) stands in a text of JSON as it is. */
static bool is_plain(const char *at, size_t n)
{
    unsigned char byte = (unsigned char)*at;
    return n > 0 && byte != '"' && byte != '\\' && byte >= 0x20 && byte != 0x7f;
}

static void put_special(const cri_sheet_sink *out, unsigned char byte)
{
    char escape[8];
    snprintf(escape, sizeof escape, "\\u%04x", byte);
    put(out, byte == '"'    ? "\\\""
             : byte == '\\' ? "\\\\"
             : byte == '\n' ? "\\n"
             : byte == '\t' ? "\\t"
                            : escape);
}

void cri_sheet_write_text(const cri_sheet_sink *out, const char *text)
{
    put(out, "\"");
    while (*text) {
        size_t n, plain = 0;
        while (text[plain] && is_plain(text + plain, n = cri_utf8_length(text + plain))) plain += n;
        out->put(out->arg, text, plain);
        text += plain;
        if (!*text) break;
        if (cri_utf8_length(text) == 0)
            put(out, "\xEF\xBF\xBD"); /* U+FFFD, the replacement character */
        else
            put_special(out, (unsigned char)*text);
        text++;
    }
    put(out, "\"");
}

/* A real is told from a whole number by its point or exponent. */
static void put_real(const cri_sheet_sink *out, double x)
{
    char   text[CRI_DOUBLE_SIZE + 3];
    size_t n = cri_print_double(x, text);
    text[n] = '\0';
    put(out, text);
    if (!strpbrk(text, ".en")) put(out, ".0");
}

static void put_scalar(const cri_sheet_sink *out, const cri_sheet *value)
{
    char text[32];
    switch (cri_sheet_kind_of(value)) {
    case CRI_SHEET_TEXT:
        cri_sheet_write_text(out, cri_sheet_text(value));
        return;
    case CRI_SHEET_REAL:
        put_real(out, cri_sheet_real(value));
        return;
    case CRI_SHEET_COUNT:
        snprintf(text, sizeof text, "%zu", cri_sheet_count(value));
        put(out, text);
        return;
    case CRI_SHEET_FLAG:
        put(out, cri_sheet_is_true(value) ? "true" : "false");
        return;
    case CRI_SHEET_LIST:
    case CRI_SHEET_OBJECT:
    case CRI_SHEET_NULL:
        break;
    }
    put(out, "null");
}

/* --- groups ---------------------------------------------------------------------------------- */

static bool is_group(const cri_sheet *value)
{
    cri_sheet_kind k = cri_sheet_kind_of(value);
    return k == CRI_SHEET_LIST || k == CRI_SHEET_OBJECT;
}

void cri_sheet_write_gap(const cri_sheet_sink *out, bool first, bool line, size_t depth)
{
    if (!first) put(out, line ? "," : ", ");
    if (!line) return;
    put(out, "\n");
    for (size_t i = 0; i < depth; i++) put(out, "  ");
}

void cri_sheet_write(const cri_sheet_sink *out, const cri_sheet *value, size_t depth)
{
    const cri_sheet *first = cri_sheet_first(value);
    bool             object = cri_sheet_kind_of(value) == CRI_SHEET_OBJECT;
    bool             lines = depth < 2 && (object ? first != NULL : is_group(first));
    if (!is_group(value)) {
        put_scalar(out, value);
        return;
    }
    put(out, object ? "{" : "[");
    for (const cri_sheet *v = first; v; v = cri_sheet_next(v)) {
        cri_sheet_write_gap(out, v == first, lines, depth + 1);
        if (object) cri_sheet_write_text(out, cri_sheet_name(v));
        if (object) put(out, ": ");
        cri_sheet_write(out, v, depth + 1);
    }
    if (lines) cri_sheet_write_gap(out, true, true, depth);
    put(out, object ? "}" : "]");
}

/* --- as one text ----------------------------------------------------------------------------- */

typedef struct text {
    char  *bytes; /* NULL: only the length is wanted */
    size_t length;
} text;

static void append(void *arg, const char *bytes, size_t n)
{
    text *t = arg;
    if (t->bytes) memcpy(t->bytes + t->length, bytes, n);
    t->length += n;
}

cr_status cri_sheet_to_json(cr_ctx *cx, const cri_sheet *sheet, char **out_text)
{
    text t = { 0 };
    if (cri_sheet_status(sheet) != CR_OK) return cri_sheet_status(sheet);
    cri_sheet_write(&(cri_sheet_sink){ append, &t }, sheet, 0);
    t.bytes = cr_alloc(cx, t.length + 1, 1);
    if (!t.bytes) return CR_ENOMEM;
    t.length = 0;
    cri_sheet_write(&(cri_sheet_sink){ append, &t }, sheet, 0);
    t.bytes[t.length] = '\0';
    *out_text = t.bytes;
    return CR_OK;
}
