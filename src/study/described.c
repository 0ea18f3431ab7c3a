/* described.c -- reading a model's own description. */
#include "described.h"

#include <math.h>
#include <string.h>

cr_status cri_parameters_of(cr_ctx *cx, const cr_model *model, json_t **out)
{
    char     *text = NULL;
    cr_status st = cr_describe(cx, model, &text);
    if (st != CR_OK) return st;
    json_t *d = json_loads(text, 0, NULL);
    cr_free(cx, text, strlen(text) + 1, 1);
    if (!d) return cr_fail(cx, CR_ENOMEM, "out of memory");
    json_t *list = json_incref(json_object_get(d, "parameters"));
    json_decref(d);
    if (!list) return cr_fail(cx, CR_EUNSUPPORTED, "the model has no list of parameters");
    *out = list;
    return CR_OK;
}

const char *cri_parameter_name(const json_t *list, size_t i)
{
    const char *name = json_string_value(json_object_get(json_array_get(list, i), "name"));
    return name ? name : "";
}

double cri_parameter_value(const json_t *list, size_t i)
{
    const json_t *value = json_object_get(json_array_get(list, i), "value");
    return json_is_number(value) ? json_number_value(value) : NAN;
}
