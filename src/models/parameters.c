/* parameters.c -- entries of the list of parameters. */
#include "parameters.h"

#include <math.h>

json_t *cri_json_number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

cr_status cri_parameter_add(cr_ctx *cx, json_t *list, json_t *name, double value, double sd,
                            json_t **opt_item)
{
    cr_status st = CR_OK;
    json_t   *item = json_object();
    st = cri_store_append(cx, list, item);
    if (st != CR_OK) {
        json_decref(name);
        return st;
    }
    CR_TRY(cri_store_set(cx, item, "name", name));
    CR_TRY(cri_store_set(cx, item, "value", cri_json_number(value)));
    CR_TRY(cri_store_set(cx, item, "sd", cri_json_number(sd)));
    if (opt_item) *opt_item = item;
done:
    return st;
}

cr_status cri_parameter_interval(cr_ctx *cx, json_t *item, double value, double half)
{
    cr_status st = cri_store_set(cx, item, "lower", cri_json_number(value - half));
    return st == CR_OK ? cri_store_set(cx, item, "upper", cri_json_number(value + half)) : st;
}
