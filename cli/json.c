/* json.c -- results as JSON: for programs, but laid out so that people and grep can read them.
 * The members of the result stand on lines of their own, and so do the members of its objects and
 * the items of its arrays of objects; everything deeper is on one line.  Numbers have as many
 * digits as it takes to read them back. */
#include "cli.h"
#include "base/number.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

static void put(cli *c, const char *text) { out_bytes(c, text, strlen(text)); }

/* --- texts and numbers ----------------------------------------------------------------------- */

/* Whether a character of n bytes (0: none of UTF-8) stands in a text of JSON as it is. */
static bool is_plain(const char *at, size_t n)
{
    unsigned char byte = (unsigned char)*at;
    return n > 0 && byte != '"' && byte != '\\' && byte >= 0x20 && byte != 0x7f;
}

static void put_string(cli *c, const char *text)
{
    char escape[8];
    put(c, "\"");
    while (*text) {
        size_t n, plain = 0;
        while (text[plain] && is_plain(text + plain, n = cri_utf8_length(text + plain))) plain += n;
        out_bytes(c, text, plain);
        text += plain;
        if (!*text) break;
        if (cri_utf8_length(text) == 0)
            put(c, "\xEF\xBF\xBD"); /* U+FFFD, the replacement character */
        else {
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned char)*text);
            put(c, *text == '"'    ? "\\\""
                   : *text == '\\' ? "\\\\"
                   : *text == '\n' ? "\\n"
                   : *text == '\t' ? "\\t"
                                   : escape);
        }
        text++;
    }
    put(c, "\"");
}

/* A real is told from an integer by its point or exponent. */
static void put_real(cli *c, double x)
{
    char   text[CRI_DOUBLE_SIZE + 3];
    size_t n = cri_print_double(x, text);
    text[n] = '\0';
    put(c, text);
    if (!strpbrk(text, ".en")) put(c, ".0");
}

static void put_scalar(cli *c, const json_t *value)
{
    char text[32];
    switch (json_typeof(value)) {
    case JSON_STRING:
        put_string(c, json_string_value(value));
        return;
    case JSON_REAL:
        put_real(c, json_real_value(value));
        return;
    case JSON_INTEGER:
        snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
        put(c, text);
        return;
    case JSON_TRUE:
        put(c, "true");
        return;
    case JSON_FALSE:
        put(c, "false");
        return;
    case JSON_OBJECT:
    case JSON_ARRAY:
    case JSON_NULL:
        break;
    }
    put(c, "null");
}

/* --- groups ---------------------------------------------------------------------------------- */

/* Between the parts of a group; with depth > 0 they stand on lines of their own. */
static void put_gap(cli *c, bool first, bool lines, size_t depth)
{
    if (!first) put(c, lines ? "," : ", ");
    if (!lines) return;
    put(c, "\n");
    for (size_t i = 0; i < depth; i++) put(c, "  ");
}

static bool holds_groups(const json_t *array)
{
    const json_t *item = json_array_get(array, 0);
    return json_is_object(item) || json_is_array(item);
}

/* `depth` groups are open around the value. */
static void put_value(cli *c, const json_t *value, size_t depth);

static void put_object(cli *c, const json_t *object, size_t depth)
{
    const char *key;
    json_t     *value;
    bool        first = true, lines = depth < 2 && json_object_size(object) > 0;
    put(c, "{");
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        put_gap(c, first, lines, depth + 1);
        put_string(c, key);
        put(c, ": ");
        put_value(c, value, depth + 1);
        first = false;
    }
    if (lines) put_gap(c, true, true, depth);
    put(c, "}");
}

static void put_array(cli *c, const json_t *array, size_t depth)
{
    size_t  i;
    json_t *value;
    bool    lines = depth < 2 && holds_groups(array);
    put(c, "[");
    json_array_foreach(array, i, value)
    {
        put_gap(c, i == 0, lines, depth + 1);
        put_value(c, value, depth + 1);
    }
    if (lines) put_gap(c, true, true, depth);
    put(c, "]");
}

static void put_value(cli *c, const json_t *value, size_t depth)
{
    if (json_is_object(value))
        put_object(c, value, depth);
    else if (json_is_array(value))
        put_array(c, value, depth);
    else
        put_scalar(c, value);
}

/* --- the result ------------------------------------------------------------------------------ */

static void put_member(cli *c, const char *key, const json_t *value)
{
    put_gap(c, false, true, 1);
    put_string(c, key);
    put(c, ": ");
    put_value(c, value, 1);
}

static void put_members(cli *c, const char *schema, const json_t *object, bool warnings)
{
    const char *key;
    json_t     *value;
    put(c, "{\n  \"schema\": \"credence.");
    put(c, schema);
    put(c, "/1\"");
    json_object_foreach((json_t *)(uintptr_t)object, key, value) put_member(c, key, value);
    if (warnings) put_member(c, "warnings", c->warnings);
}

void out_json(cli *c, const char *schema, const json_t *object)
{
    put_members(c, schema, object, true);
    put(c, "\n}\n");
}

static void begin_array(cli *c, const char *schema, const json_t *object, const char *array,
                        bool warnings)
{
    put_members(c, schema, object, warnings);
    put_gap(c, false, true, 1);
    put_string(c, array);
    put(c, ": [");
}

void out_json_begin(cli *c, const char *schema, const json_t *object, const char *array)
{
    begin_array(c, schema, object, array, true);
}

void out_json_begin_rows(cli *c, const char *schema, const json_t *object, const char *array)
{
    begin_array(c, schema, object, array, false);
}

void out_json_item(cli *c, const json_t *value, bool first)
{
    put_gap(c, first, true, 2);
    put_value(c, value, 2);
}

void out_json_end(cli *c) { put(c, "\n  ]\n}\n"); }

void out_json_end_rows(cli *c)
{
    put(c, "\n  ]");
    put_member(c, "warnings", c->warnings);
    put(c, "\n}\n");
}

void out_json_line(cli *c, const json_t *value)
{
    put_value(c, value, 2);
    put(c, "\n");
}
