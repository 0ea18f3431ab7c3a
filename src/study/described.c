/* described.c -- reading a model's own description. */
#include "described.h"

cr_status cri_parameters_of(cr_ctx *cx, const cr_model *model, cri_sheet **out_sheet,
                            const cri_sheet **out_list)
{
    cr_status st = cri_model_describe(cx, model, out_sheet);
    if (st != CR_OK) return st;
    *out_list = cri_sheet_get(*out_sheet, "parameters");
    return *out_list ? CR_OK : cr_fail(cx, CR_EUNSUPPORTED, "the model has no list of parameters");
}

const char *cri_parameter_name(const cri_sheet *row)
{
    const char *name = cri_sheet_text(cri_sheet_get(row, "name"));
    return name ? name : "";
}

double cri_parameter_value(const cri_sheet *row)
{
    return cri_sheet_real(cri_sheet_get(row, "value"));
}
