/* schema.c -- JSON Schema (2020-12) from the tables of results.
 * Objects stay open: results only ever gain keys. */
#include "surface.h"

#include <stdio.h>
#include <string.h>

/* "type" of a value: one word, or several with bars between them. */
static void put_type(cri_sheet *s, const char *words, bool or_null)
{
    cri_sheet *list = strchr(words, '|') || or_null ? cri_put_list(s, "type") : NULL;
    if (!list) cri_put_text(s, "type", words);
    for (size_t n; list && *words; words += n + (words[n] == '|')) {
        n = strcspn(words, "|");
        cri_put_textf(list, NULL, "%.*s", (int)n, words);
    }
    if (list && or_null) cri_put_text(list, NULL, "null");
}

/* A schema of values of this type alone, under a name. */
static void put_plain(cri_sheet *s, const char *name, const char *words)
{
    put_type(cri_put_object(s, name), words, false);
}

static void put_object(cri_sheet *s, const cr_field *table);
static void put_statistics(cri_sheet *s);

/* What is in an array or object. */
static void put_inside(cri_sheet *s, const cr_field *f)
{
    static const char *const items[] = {
        [CR_FIELD_TEXTS] = "string",
        [CR_FIELD_ARRAY] = "number|null",
        [CR_FIELD_ENTRIES] = "number|null",
        [CR_FIELD_PLACES] = "number|string|null",
        [CR_FIELD_ANY] = NULL,
    };
    static const char *const values[] = {
        [CR_FIELD_NUMBERS] = "number|null",
        [CR_FIELD_WORDS] = "string",
        [CR_FIELD_VALUES] = "string|number|null",
        [CR_FIELD_ANY] = NULL,
    };
    cri_sheet *item;
    if (items[f->type]) put_plain(s, "items", items[f->type]);
    if (values[f->type]) put_plain(s, "additionalProperties", values[f->type]);
    if (f->type == CR_FIELD_OBJECT) put_object(s, f->inner);
    if (f->type == CR_FIELD_STATISTICS) put_statistics(s);
    if (f->type == CR_FIELD_MATRIX) {
        item = cri_put_object(s, "items");
        put_type(item, "array", false);
        put_plain(item, "items", "number|null");
    }
    if (f->type == CR_FIELD_ROWS || f->type == CR_FIELD_SCORES) {
        item = cri_put_object(s, "items");
        put_type(item, "object", false);
        put_object(item, f->inner);
        if (f->type == CR_FIELD_SCORES) put_plain(item, "additionalProperties", "number|null");
    }
}

/* One field; opt_model: the model that it is of. */
static void put_field(cri_sheet *s, const cr_field *f, const char *opt_model)
{
    static const char *const types[] = {
        [CR_FIELD_TEXT] = "string",
        [CR_FIELD_COUNT] = "integer",
        [CR_FIELD_NUMBER] = "number",
        [CR_FIELD_FLAG] = "boolean",
        [CR_FIELD_TEXTS] = "array",
        [CR_FIELD_OBJECT] = "object",
        [CR_FIELD_ROWS] = "array",
        [CR_FIELD_NUMBERS] = "object",
        [CR_FIELD_SCORES] = "array",
        [CR_FIELD_WORDS] = "object",
        [CR_FIELD_VALUES] = "object",
        [CR_FIELD_ARRAY] = "array",
        [CR_FIELD_ENTRIES] = "number|array|null",
        [CR_FIELD_PLACES] = "array",
        [CR_FIELD_MATRIX] = "array",
        [CR_FIELD_STATISTICS] = "object",
        [CR_FIELD_ANY] = NULL,
    };
    if (types[f->type]) put_type(s, types[f->type], f->marks & CR_FIELD_NULL);
    if (f->type == CR_FIELD_COUNT) cri_put_count(s, "minimum", 0);
    put_inside(s, f);
    cri_put_textf(s, "description", "%s%s%s%s%s%s", opt_model ? "of " : "",
                  opt_model ? opt_model : "", opt_model ? ": " : "", f->help,
                  f->unit ? "; unit: " : "", f->unit ? f->unit : "");
}

static void put_object(cri_sheet *s, const cr_field *table)
{
    cri_sheet *properties = cri_put_object(s, "properties"),
              *required = cri_put_list(s, "required");
    for (const cr_field *f = table; f->name; f++) {
        put_field(cri_put_object(properties, f->name), f, NULL);
        if (!(f->marks & CR_FIELD_SOMETIMES)) cri_put_text(required, NULL, f->name);
    }
}

/* --- what models say ------------------------------------------------------------------------- */

/* The name of a statistic; of rows(CLASS) the pattern of names that it stands for, and true. */
static bool key_of(const cr_field *f, char *out, size_t size)
{
    int  head = (int)strcspn(f->name, "(");
    bool pattern = f->name[head] != '\0';
    snprintf(out, size, pattern ? "^%.*s\\(.*\\)$" : "%.*s", head, f->name);
    return pattern;
}

/* An object of all that models may say: each statistic with what it is in which model, since another
 * model may have one of its name, of another kind. */
static void put_statistics(cri_sheet *s)
{
    cri_sheet *names = cri_put_object(s, "properties");
    cri_sheet *patterns = cri_put_object(s, "patternProperties");
    for (size_t i = 0; i < cr_class_count(); i++)
        for (const cr_field *f = cr_class_statistics(cr_class_at(i)); f->name; f++) {
            char       key[128];
            cri_sheet *group = key_of(f, key, sizeof key) ? patterns : names;
            cri_sheet *any = cri_sheet_get(cri_sheet_get(group, key), "anyOf");
            if (!any) any = cri_put_list(cri_put_object(group, key), "anyOf");
            put_field(cri_put_object(any, NULL), f, cr_class_name(cr_class_at(i)));
        }
}

/* --- a result -------------------------------------------------------------------------------- */

/* The tables of a result: what all have, what a model says, and the verb's own.  Where two declare
 * one name, the later one holds. */
enum { COMMON, MODEL, CLASSES };

static size_t table_count(void) { return CLASSES + cr_class_count() + 1; }

static const cr_field *table_at(const cli_verb *verb, size_t k)
{
    static const cr_field none[] = { CR_FIELD_LAST };
    if (k == COMMON) return result_common;
    if (k == table_count() - 1) return verb->result;
    if (!verb->describes) return none;
    return k == MODEL ? cr_description_table : cr_class_tables(cr_class_at(k - CLASSES));
}

/* Whether each result of the verb has what is not marked. */
static bool is_certain(const cli_verb *verb, size_t k)
{
    if (k == COMMON || k == table_count() - 1) return true;
    return k == MODEL && verb->describes == DESCRIBES_MODEL;
}

static bool is_declared_after(const cli_verb *verb, size_t k, const char *name)
{
    while (++k < table_count())
        for (const cr_field *f = table_at(verb, k); f->name; f++)
            if (strcmp(f->name, name) == 0) return true;
    return false;
}

void cli_schema(const cli_verb *verb, cri_sheet *out)
{
    char title[64];
    snprintf(title, sizeof title, "credence.%s/1", verb->name);
    cri_put_text(out, "$schema", "https://json-schema.org/draft/2020-12/schema");
    cri_put_text(out, "title", title);
    cri_put_text(out, "description", verb->summary);
    cri_put_text(out, "type", "object");
    cri_sheet *properties = cri_put_object(out, "properties");
    cri_sheet *required = cri_put_list(out, "required");
    for (size_t k = 0; k < table_count(); k++)
        for (const cr_field *f = table_at(verb, k); f->name; f++) {
            if (is_certain(verb, k) && !(f->marks & CR_FIELD_SOMETIMES))
                cri_put_text(required, NULL, f->name);
            if (is_declared_after(verb, k, f->name)) continue;
            cri_sheet *s = cri_put_object(properties, f->name);
            put_field(s, f, NULL);
            if (strcmp(f->name, "schema") == 0) cri_put_text(s, "const", title);
        }
}
