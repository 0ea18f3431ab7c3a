/* store_json.c -- checked access to the members of model.json. */
#include "store.h"
#include "base/utf8.h"

#include <math.h>

static const char *type_in_words(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a text";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    default:
        return "null";
    }
}

static cr_status find_member(cr_ctx *cx, const cri_store *s, const json_t *object, const char *key,
                             json_t **out)
{
    json_t *value = json_object_get(object, key);
    if (!value)
        return cr_fail(cx, CR_EDATA, "%s: '%s' is missing in the model's description",
                       cri_store_source(s), key);
    *out = value;
    return CR_OK;
}

static cr_status fail_type(cr_ctx *cx, const cri_store *s, const char *key, const json_t *value,
                           const char *wanted)
{
    return cr_fail(cx, CR_EDATA, "%s: '%s' is %s, but must be %s", cri_store_source(s), key,
                   type_in_words(value), wanted);
}

/* *out is untouched on failure. */
static cr_status find_of_type(cr_ctx *cx, const cri_store *s, const json_t *object, const char *key,
                              json_type type, const char *wanted, json_t **out)
{
    json_t   *value = NULL;
    cr_status st = find_member(cx, s, object, key, &value);
    if (st != CR_OK) return st;
    if (json_typeof(value) != type) return fail_type(cx, s, key, value, wanted);
    *out = value;
    return CR_OK;
}

cr_status cri_store_get_real(cr_ctx *cx, const cri_store *s, const json_t *object, const char *key,
                             double *out)
{
    json_t   *value = NULL;
    cr_status st = find_member(cx, s, object, key, &value);
    if (st != CR_OK) return st;
    double x = json_number_value(value);
    if (!json_is_number(value) || !isfinite(x)) return fail_type(cx, s, key, value, "a number");
    *out = x;
    return CR_OK;
}

cr_status cri_store_get_count(cr_ctx *cx, const cri_store *s, const json_t *object, const char *key,
                              size_t *out)
{
    json_t   *value = NULL;
    cr_status st = find_of_type(cx, s, object, key, JSON_INTEGER, "a whole number", &value);
    if (st != CR_OK) return st;
    json_int_t n = json_integer_value(value);
    if (n < 0 || (uintmax_t)n > SIZE_MAX)
        return cr_fail(cx, CR_EDATA, "%s: '%s' is %lld, but must not be negative",
                       cri_store_source(s), key, (long long)n);
    *out = (size_t)n;
    return CR_OK;
}

cr_status cri_store_get_text(cr_ctx *cx, const cri_store *s, const json_t *object, const char *key,
                             const char **out)
{
    json_t   *value = NULL;
    cr_status st = find_of_type(cx, s, object, key, JSON_STRING, "a text", &value);
    if (st == CR_OK) *out = json_string_value(value);
    return st;
}

cr_status cri_store_get_object(cr_ctx *cx, const cri_store *s, const json_t *object,
                               const char *key, json_t **out)
{
    return find_of_type(cx, s, object, key, JSON_OBJECT, "an object", out);
}

cr_status cri_store_get_array(cr_ctx *cx, const cri_store *s, const json_t *object, const char *key,
                              json_t **out)
{
    return find_of_type(cx, s, object, key, JSON_ARRAY, "a list", out);
}

cr_status cri_store_set(cr_ctx *cx, json_t *object, const char *key, json_t *value)
{
    if (!value)
        return cr_fail(cx, CR_ENOMEM,
                       "no memory for '%s' of the model, or it is not finite or not UTF-8", key);
    if (json_object_get(object, key)) { /* two parts of a state that would overwrite each other */
        json_decref(value);
        return cr_fail(cx, CR_EARG, "'%s' of the model is written twice", key);
    }
    if (json_object_set_new(object, key, value) != 0)
        return cr_fail(cx, CR_ENOMEM, "no memory for '%s' of the model, or its name is not UTF-8",
                       key);
    return CR_OK;
}

cr_status cri_store_set_real(cr_ctx *cx, json_t *object, const char *key, double value)
{
    if (!isfinite(value))
        return cr_fail(cx, CR_ENUMERIC, "'%s' of the model is %g: only finite numbers can be saved",
                       key, value);
    return cri_store_set(cx, object, key, json_real(value));
}

cr_status cri_store_append(cr_ctx *cx, json_t *list, json_t *value)
{
    if (json_array_append_new(list, value) == 0) return CR_OK;
    return cr_fail(cx, CR_ENOMEM, "out of memory");
}

cr_status cri_store_set_text(cr_ctx *cx, json_t *object, const char *key, const char *value)
{
    if (!cri_utf8_valid(value)) {
        cr_fail(cx, CR_EDATA, "'%s' of the model is the text '%s', which is not UTF-8", key, value);
        return cr_fail_hint(cx, "convert the data first: iconv -f latin1 -t utf-8 OLD > NEW");
    }
    return cri_store_set(cx, object, key, json_string(value));
}
