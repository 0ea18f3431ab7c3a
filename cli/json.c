/* json.c -- results as JSON, and what is still made by jansson on its way to a sheet. */
#include "cli.h"

#include <string.h>

static void put_bytes(void *arg, const char *bytes, size_t n) { out_bytes(arg, bytes, n); }

static cri_sheet_sink sink_of(cli *c) { return (cri_sheet_sink){ put_bytes, c }; }

static void put(cli *c, const char *text) { out_bytes(c, text, strlen(text)); }

/* --- sheets ---------------------------------------------------------------------------------- */

static void put_member(cli *c, const char *name, const cri_sheet *value)
{
    cri_sheet_sink out = sink_of(c);
    cri_sheet_write_gap(&out, false, true, 1);
    cri_sheet_write_text(&out, name);
    put(c, ": ");
    cri_sheet_write(&out, value, 1);
}

static void put_warnings(cli *c)
{
    const cri_sheet *list = cli_warnings(c);
    if (cri_sheet_status(c->said) == CR_OK)
        put_member(c, "warnings", list);
    else
        out_fail(c, CR_ENOMEM);
}

static void put_members(cli *c, const char *schema, const cri_sheet *object)
{
    put(c, "{\n  \"schema\": \"credence.");
    put(c, schema);
    put(c, "/1\"");
    for (const cri_sheet *v = cri_sheet_first(object); v; v = cri_sheet_next(v))
        put_member(c, cri_sheet_name(v), v);
}

void out_result(cli *c, const char *schema, const cri_sheet *object)
{
    put_members(c, schema, object);
    put_warnings(c);
    put(c, "\n}\n");
}

static void begin_array(cli *c, const char *array)
{
    cri_sheet_sink out = sink_of(c);
    cri_sheet_write_gap(&out, false, true, 1);
    cri_sheet_write_text(&out, array);
    put(c, ": [");
}

void out_result_begin(cli *c, const char *schema, const cri_sheet *object, const char *array)
{
    put_members(c, schema, object);
    put_warnings(c);
    begin_array(c, array);
}

void out_result_begin_rows(cli *c, const char *schema, const cri_sheet *object, const char *array)
{
    put_members(c, schema, object);
    begin_array(c, array);
}

void out_result_item(cli *c, const cri_sheet *value, bool first)
{
    cri_sheet_sink out = sink_of(c);
    cri_sheet_write_gap(&out, first, true, 2);
    cri_sheet_write(&out, value, 2);
}

void out_json_end(cli *c) { put(c, "\n  ]\n}\n"); }

void out_json_end_rows(cli *c)
{
    put(c, "\n  ]");
    put_warnings(c);
    put(c, "\n}\n");
}

void out_result_line(cli *c, const cri_sheet *value)
{
    cri_sheet_sink out = sink_of(c);
    cri_sheet_write(&out, value, 2);
    put(c, "\n");
}

/* --- jansson --------------------------------------------------------------------------------- */

static void copy_json(cri_sheet *s, const char *name, const json_t *value)
{
    const char *key;
    size_t      i;
    json_t     *part;
    cri_sheet  *group;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        group = cri_put_object(s, name);
        json_object_foreach((json_t *)(uintptr_t)value, key, part) copy_json(group, key, part);
        return;
    case JSON_ARRAY:
        group = cri_put_list(s, name);
        json_array_foreach(value, i, part) copy_json(group, NULL, part);
        return;
    case JSON_STRING:
        cri_put_text(s, name, json_string_value(value));
        return;
    case JSON_INTEGER:
        cri_put_count(s, name, (size_t)json_integer_value(value));
        return;
    case JSON_REAL:
        cri_put_real(s, name, json_real_value(value));
        return;
    case JSON_TRUE:
    case JSON_FALSE:
        cri_put_flag(s, name, json_is_true(value));
        return;
    case JSON_NULL:
        cri_put_null(s, name);
    }
}

static cri_sheet *sheet_of(cli *c, const json_t *value)
{
    cri_sheet *s = cri_sheet_new(c->cx);
    if (value) copy_json(s, "it", value);
    return s;
}

#define WITH_SHEET(c, value, action)                                                               \
    do {                                                                                           \
        cri_sheet       *whole = sheet_of(c, value);                                               \
        const cri_sheet *it = cri_sheet_get(whole, "it");                                          \
        if (cri_sheet_status(whole) == CR_OK)                                                      \
            action;                                                                                \
        else                                                                                       \
            out_fail(c, CR_ENOMEM);                                                                \
        cri_sheet_free(whole);                                                                     \
    } while (0)

void out_json(cli *c, const char *schema, const json_t *object)
{
    WITH_SHEET(c, object, out_result(c, schema, it));
}

void out_json_begin(cli *c, const char *schema, const json_t *object, const char *array)
{
    WITH_SHEET(c, object, out_result_begin(c, schema, it, array));
}

void out_json_begin_rows(cli *c, const char *schema, const json_t *object, const char *array)
{
    WITH_SHEET(c, object, out_result_begin_rows(c, schema, it, array));
}

void out_json_item(cli *c, const json_t *value, bool first)
{
    WITH_SHEET(c, value, out_result_item(c, it, first));
}

void out_json_line(cli *c, const json_t *value) { WITH_SHEET(c, value, out_result_line(c, it)); }

void out_table(cli *c, const json_t *rows) { WITH_SHEET(c, rows, out_rows(c, it)); }

void out_pairs(cli *c, const json_t *object) { WITH_SHEET(c, object, out_values(c, it)); }

void out_distribution(cli *c, const json_t *object) { WITH_SHEET(c, object, out_named(c, it)); }
