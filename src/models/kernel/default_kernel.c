/* default_kernel.c -- kernels by the distances between the rows. */
#include "default_kernel.h"
#include "models/kernel/inputs/gp_centre.h"
#include "models/gp/search/gp_starts.h"
#include "base/scratch.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

cr_status cri_default_kernel(cr_ctx *cx, const char *text, const cr_design *design,
                             const cri_gp_data *data, double times, const char *opt_why,
                             cr_kernel **out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    cri_gp_problem problem = { .data = data };
    cr_kernel     *k = NULL;
    cri_gp_space   u;
    if (text) {
        CR_TRY(cri_gp_kernel_for(cx, text, design, opt_why, &k));
        CR_TRY(cri_gp_centre(cx, k, data, NULL, NULL));
        CR_TRY(cri_kernel_settle(cx, k));
        *out = k;
        k = NULL;
        goto done;
    }
    CR_TRY(cri_gp_kernel(cx,
                         data->d == 0   ? "hamming"
                         : data->c == 0 ? "rbf"
                                        : "rbf*hamming",
                         design, &k));
    CR_TRY(cri_gp_space_new(&s, k, &problem, 1, 1, false, &u));
    for (size_t j = 0; j < u.p; j++)
        if (u.kind[j] == CRI_GP_LENGTH) u.given[j] = u.unit[j] + log(times);
    CR_TRY(cr_kernel_set_theta(cx, k, u.given));
    *out = k;
    k = NULL;
done:
    cr_kernel_free(cx, k);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_inputs_add(cr_ctx *cx, cri_gp_data *data, const cri_rows *rows)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_rows   with = *rows;
    with.y = cr_scratch_f64(&s, rows->n);
    CR_TRY(s.status);
    memset(with.y, 0, rows->n * sizeof(double));
    CR_TRY(cri_gp_data_add(cx, data, &with, NULL, true, NULL));
done:
    cr_scratch_end(&s);
    return st;
}
