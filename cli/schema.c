/* schema.c -- JSON Schema (2020-12) from the tables of results. */
#include "surface.h"

#include <stdio.h>

/* Objects stay open: results only ever gain keys. */
static json_t *object_schema(const cli_field *table);

static json_t *type_schema(const char *type) { return json_pack("{s:s}", "type", type); }

static json_t *map_schema(json_t *values)
{
    return json_pack("{s:s, s:o}", "type", "object", "additionalProperties", values);
}

static json_t *array_schema(json_t *items)
{
    return json_pack("{s:s, s:o}", "type", "array", "items", items);
}

static json_t *number_or_null(void) { return json_pack("{s:[s, s]}", "type", "number", "null"); }

/* The schema of one field's value. */
static json_t *value_schema(const cli_field *f)
{
    json_t *s = NULL;
    switch (f->type) {
    case FIELD_TEXT:
        return type_schema("string");
    case FIELD_COUNT:
        return json_pack("{s:s, s:i}", "type", "integer", "minimum", 0);
    case FIELD_NUMBER:
        return type_schema("number");
    case FIELD_FLAG:
        return type_schema("boolean");
    case FIELD_TEXTS:
        return array_schema(type_schema("string"));
    case FIELD_OBJECT:
        return object_schema(f->inner);
    case FIELD_ROWS:
        return array_schema(object_schema(f->inner));
    case FIELD_NUMBERS:
        return map_schema(number_or_null());
    case FIELD_SCORES:
        s = object_schema(f->inner);
        json_object_set_new(s, "additionalProperties", number_or_null());
        return array_schema(s);
    case FIELD_WORDS:
        return map_schema(type_schema("string"));
    case FIELD_VALUES:
        return map_schema(json_pack("{s:[s, s, s]}", "type", "string", "number", "null"));
    case FIELD_ARRAY:
        return array_schema(number_or_null());
    case FIELD_PLACES:
        return array_schema(json_pack("{s:[s, s, s]}", "type", "number", "string", "null"));
    case FIELD_MATRIX:
        return array_schema(array_schema(number_or_null()));
    case FIELD_ENTRIES:
        return json_pack("{s:[s, s, s], s:o}", "type", "number", "array", "null", "items",
                         number_or_null());
    case FIELD_ANY:
        return json_object();
    case FIELD_END:
        break;
    }
    return NULL;
}

static void add_fields(const cli_field *table, json_t *properties, json_t *required)
{
    for (const cli_field *f = table; f->name; f++) {
        json_t *s = value_schema(f);
        if (f->marks & FIELD_NULL) {
            json_t *types = json_pack("[O, s]", json_object_get(s, "type"), "null");
            json_object_set_new(s, "type", types);
        }
        json_object_set_new(s, "description", json_string(f->help));
        json_object_set_new(properties, f->name, s);
        if (!(f->marks & FIELD_SOMETIMES)) json_array_append_new(required, json_string(f->name));
    }
}

static json_t *object_schema(const cli_field *table)
{
    json_t *properties = json_object(), *required = json_array();
    add_fields(table, properties, required);
    return json_pack("{s:s, s:o, s:o}", "type", "object", "properties", properties, "required",
                     required);
}

json_t *cli_schema(const cli_verb *verb)
{
    char    title[64];
    json_t *s = object_schema(result_common), *properties = json_object_get(s, "properties");
    add_fields(verb->result, properties, json_object_get(s, "required"));
    snprintf(title, sizeof title, "credence.%s/1", verb->name);
    json_object_set_new(json_object_get(properties, "schema"), "const", json_string(title));
    json_t *whole =
        json_pack("{s:s, s:s, s:s}", "$schema", "https://json-schema.org/draft/2020-12/schema",
                  "title", title, "description", verb->summary);
    json_object_update(whole, s);
    json_decref(s);
    return whole;
}
