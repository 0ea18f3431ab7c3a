/* json.c -- results as JSON: the sheet of a verb with its schema and the warnings. */
#include "../cli.h"

#include <string.h>

const cr_field result_common[] = {
    CR_TEXT("schema", 0, "the kind of result, and its version"),
    CR_OTHER(TEXTS, "warnings", 0, "warnings about the result"),
    CR_FIELD_LAST,
};

static void put_bytes(void *arg, const char *bytes, size_t n) { out_bytes(arg, bytes, n); }

static cri_sheet_sink sink_of(cli *c) { return (cri_sheet_sink){ put_bytes, c }; }

static void put(cli *c, const char *text) { out_bytes(c, text, strlen(text)); }

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

void out_result_end(cli *c) { put(c, "\n  ]\n}\n"); }

void out_result_end_rows(cli *c)
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
