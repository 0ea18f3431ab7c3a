/* schema.c -- JSON Schema (2020-12) from the tables of results. */
#include "surface.h"

#include <stdio.h>
#include <string.h>

/* Objects stay open: results only ever gain keys. */
static json_t *object_schema(const cr_field *table);

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

static json_t *statistics_schema(void);

/* The schema of one field's value. */
static json_t *value_schema(const cr_field *f)
{
    json_t *s = NULL;
    switch (f->type) {
    case CR_FIELD_TEXT:
        return type_schema("string");
    case CR_FIELD_COUNT:
        return json_pack("{s:s, s:i}", "type", "integer", "minimum", 0);
    case CR_FIELD_NUMBER:
        return type_schema("number");
    case CR_FIELD_FLAG:
        return type_schema("boolean");
    case CR_FIELD_TEXTS:
        return array_schema(type_schema("string"));
    case CR_FIELD_OBJECT:
        return object_schema(f->inner);
    case CR_FIELD_ROWS:
        return array_schema(object_schema(f->inner));
    case CR_FIELD_NUMBERS:
        return map_schema(number_or_null());
    case CR_FIELD_SCORES:
        s = object_schema(f->inner);
        json_object_set_new(s, "additionalProperties", number_or_null());
        return array_schema(s);
    case CR_FIELD_WORDS:
        return map_schema(type_schema("string"));
    case CR_FIELD_VALUES:
        return map_schema(json_pack("{s:[s, s, s]}", "type", "string", "number", "null"));
    case CR_FIELD_ARRAY:
        return array_schema(number_or_null());
    case CR_FIELD_PLACES:
        return array_schema(json_pack("{s:[s, s, s]}", "type", "number", "string", "null"));
    case CR_FIELD_MATRIX:
        return array_schema(array_schema(number_or_null()));
    case CR_FIELD_ENTRIES:
        return json_pack("{s:[s, s, s], s:o}", "type", "number", "array", "null", "items",
                         number_or_null());
    case CR_FIELD_STATISTICS:
        return statistics_schema();
    case CR_FIELD_ANY:
        return json_object();
    case CR_FIELD_END:
        break;
    }
    return NULL;
}

/* What a field is, with its unit. */
static json_t *description_of(const cr_field *f)
{
    return f->unit ? json_sprintf("%s; unit: %s", f->help, f->unit) : json_string(f->help);
}

static json_t *field_schema(const cr_field *f)
{
    json_t *s = value_schema(f);
    if (f->marks & CR_FIELD_NULL)
        json_object_set_new(s, "type", json_pack("[O, s]", json_object_get(s, "type"), "null"));
    json_object_set_new(s, "description", description_of(f));
    return s;
}

static void add_fields(const cr_field *table, bool optional, json_t *properties, json_t *required)
{
    for (const cr_field *f = table; f->name; f++) {
        json_object_set_new(properties, f->name, field_schema(f));
        if (!optional && !(f->marks & CR_FIELD_SOMETIMES))
            json_array_append_new(required, json_string(f->name));
    }
}

static json_t *object_schema(const cr_field *table)
{
    json_t *properties = json_object(), *required = json_array();
    add_fields(table, false, properties, required);
    return json_pack("{s:s, s:o, s:o}", "type", "object", "properties", properties, "required",
                     required);
}

/* --- what models say ------------------------------------------------------------------------- */

/* rows(CLASS) as the pattern of names that it stands for; NULL where the name is just a name. */
static json_t *pattern_of(const cr_field *f)
{
    int head = (int)strcspn(f->name, "(");
    return f->name[head] ? json_sprintf("^%.*s\\(.*\\)$", head, f->name) : NULL;
}

/* A statistic of one model more: another model may have one of its name, of another kind. */
static void add_statistic(json_t *schemas, const char *key, const cr_model_class *m,
                          const cr_field *f)
{
    json_t *all = json_object_get(schemas, key), *one = field_schema(f);
    json_t *text = json_object_get(one, "description");
    json_object_set_new(one, "description",
                        json_sprintf("of %s: %s", cr_class_name(m), json_string_value(text)));
    if (!all) json_object_set_new(schemas, key, all = json_pack("{s:[]}", "anyOf"));
    json_array_append_new(json_object_get(all, "anyOf"), one);
}

/* An object of all that models may say: each statistic with what it is in which model. */
static json_t *statistics_schema(void)
{
    json_t *names = json_object(), *patterns = json_object();
    for (size_t i = 0; i < cr_class_count(); i++)
        for (const cr_field *f = cr_class_statistics(cr_class_at(i)); f->name; f++) {
            json_t *pattern = pattern_of(f);
            add_statistic(pattern ? patterns : names,
                          pattern ? json_string_value(pattern) : f->name, cr_class_at(i), f);
            json_decref(pattern);
        }
    return json_pack("{s:s, s:o, s:o}", "type", "object", "properties", names, "patternProperties",
                     patterns);
}

static void add_model(bool optional, json_t *properties, json_t *required)
{
    add_fields(cr_description_table, optional, properties, required);
    for (size_t i = 0; i < cr_class_count(); i++)
        add_fields(cr_class_tables(cr_class_at(i)), true, properties, required);
}

json_t *cli_schema(const cli_verb *verb)
{
    char    title[64];
    json_t *s = object_schema(result_common), *properties = json_object_get(s, "properties");
    json_t *required = json_object_get(s, "required");
    if (verb->describes) add_model(verb->describes == MAY_DESCRIBE_MODEL, properties, required);
    add_fields(verb->result, false, properties, required);
    snprintf(title, sizeof title, "credence.%s/1", verb->name);
    json_object_set_new(json_object_get(properties, "schema"), "const", json_string(title));
    json_t *whole =
        json_pack("{s:s, s:s, s:s}", "$schema", "https://json-schema.org/draft/2020-12/schema",
                  "title", title, "description", verb->summary);
    json_object_update(whole, s);
    json_decref(s);
    return whole;
}
