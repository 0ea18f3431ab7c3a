/* rows_check.c -- one class only, too few rows. */
#include "rows_check.h"
#include "../base/scratch.h"

cr_status cri_check_classes(cr_ctx *cx, const cr_design *design, const double *weight)
{
    size_t there = 0, last = 0, K = cr_design_classes(design);
    for (size_t k = 0; k < K; k++)
        if (weight[k] > 0) there++, last = k;
    if (there >= 2) return CR_OK;
    if (there == 0)
        return cr_fail(cx, CR_EDATA, "no row with a class of the target '%s' has weight",
                       cr_design_target(design));
    cr_fail(cx, CR_EDATA,
            "the target '%s' has one class only, '%s': there is nothing to tell apart",
            cr_design_target(design), cr_design_class(design, last));
    return cr_fail_hint(cx, "at least two classes are needed, with rows that have weight");
}

cr_status cri_check_row_classes(cr_ctx *cx, const cri_rows *rows)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *weight = cr_scratch_bytes(&s, cr_design_classes(rows->design), sizeof *weight);
    CR_TRY(s.status);
    for (size_t i = 0; i < rows->n; i++) weight[(size_t)rows->y[i]] += rows->w ? rows->w[i] : 1;
    st = cri_check_classes(cx, rows->design, weight);
    if (st == CR_EDATA && rows->more)
        cr_fail_hint(cx, "these are the first %zu rows of the stream: shuffle the rows, or read a larger --block",
                     rows->n);
done:
    cr_scratch_end(&s);
    return st;
}

void cri_warn_no_spread(cr_ctx *cx)
{
    cr_log(cx, CR_LOG_WARNING,
           "there are too few rows to tell the noise: no standard errors or intervals can be given");
}
