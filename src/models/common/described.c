/* described.c -- columns that a class describes as they are. */
#include "described.h"

cr_status cri_described_check(cr_ctx *cx, const char *model, const cr_design *d)
{
    bool expanded = d->n_terms != d->n_columns || cri_design_has_made(d);
    if (d->target.name) {
        cr_fail(cx, CR_EARG, "the model %s describes columns: it has no target", model);
        return cr_fail_hint(cx, "name the columns with --features %s", d->target.name);
    }
    if (d->p == 0) return cr_fail(cx, CR_EDATA, "there is no column for %s to describe", model);
    for (size_t j = 0; j < d->n_columns; j++) expanded |= cri_design_has_basis(d, j);
    if (expanded)
        return cr_fail(cx, CR_EARG,
                       "the model %s describes columns as they are: it cannot be combined with "
                       "--basis or made columns in --terms",
                       model);
    return CR_OK;
}

cr_status cri_check_numbers(cr_ctx *cx, const char *model, const cr_design *d)
{
    for (size_t j = 0; j < d->n_columns; j++) {
        if (d->columns[j].type != CR_CATEGORY) continue;
        cr_fail(cx, CR_EDATA, "column '%s' contains text, but %s describes numbers",
                d->columns[j].name, model);
        return cr_fail_hint(cx, "--features '!%s' leaves it out", d->columns[j].name);
    }
    return CR_OK;
}

cr_status cri_described_numbers(cr_ctx *cx, const char *model, const cr_design *d)
{
    cr_status st = cri_check_numbers(cx, model, d);
    return st == CR_OK ? cri_described_check(cx, model, d) : st;
}
