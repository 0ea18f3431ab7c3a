/* gp_check.c -- rows whose numbers do not suit a kernel: which row, which column. */
#include "gp_data.h"
#include "data/table/table_internal.h"
#include "math/kernel/kernel_internal.h"

/* The term of the design that is number `column` of a kernel. */
static size_t term_of(const cr_design *d, size_t column)
{
    size_t j = 0;
    while (j < d->p && (cri_design_is_code(d, j) || column-- > 0)) j++;
    return j;
}

cr_status cri_gp_fail_value(cr_ctx *cx, const cr_design *d, const cr_table *table, size_t row,
                            const cri_kernel_fault *f)
{
    size_t j = term_of(d, f->column);
    char   where[512];
    bool   scaled = d->shift[j] != 0 || d->scale[j] != 1;
    double value = f->value * d->scale[j] + d->shift[j];
    cri_table_where(table, row, where, sizeof where);
    if (!scaled)
        return cr_fail(cx, CR_EDATA,
                       "%s: column '%s' is %g, but the kernel %s needs numbers that are %s", where,
                       cr_design_term_name(d, j), value, f->kernel, f->needs);
    cr_fail(cx, CR_EDATA,
            "%s: column '%s' is %g, which is %g once standardised, but the kernel %s needs numbers "
            "that "
            "are %s",
            where, cr_design_term_name(d, j), value, f->value, f->kernel, f->needs);
    return cr_fail_hint(cx, "--scale none leaves the numbers as they are");
}

cr_status cri_gp_check_inputs(cr_ctx *cx, const cr_kernel *k, const cri_rows *rows, size_t begin,
                              const cr_kernel_input *in)
{
    cri_kernel_fault f;
    if (!cri_kernel_find_fault(k, in, &f)) return CR_OK;
    size_t i = begin + f.row;
    return cri_gp_fail_value(cx, rows->design, rows->table, rows->index ? rows->index[i] : i, &f);
}

cr_status cri_gp_check_data(cr_ctx *cx, const cr_kernel *k, const cri_rows *rows,
                            const cri_gp_data *data)
{
    cri_kernel_fault f;
    cr_kernel_input  in = cri_gp_inputs(data);
    if (!cri_kernel_find_fault(k, &in, &f)) return CR_OK;
    return cri_gp_fail_value(cx, rows->design, rows->table, data->first[f.row], &f);
}
