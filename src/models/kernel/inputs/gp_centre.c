/* gp_centre.c -- rows for centre(...), from data, and kernels in files. */
#include "gp_centre.h"
#include "base/scratch.h"
#include "math/kernel/kernel_internal.h"

cr_status cri_gp_centre(cr_ctx *cx, cr_kernel *k, const cri_gp_data *data, const cri_rows *opt_rows,
                        const size_t *opt_group)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cr_kernel_input in = cri_gp_inputs(data);
    double         *w = cr_scratch_bytes(&s, data->n, sizeof *w);

    CR_TRY(s.status);
    for (size_t i = 0; !opt_group && i < data->n; i++) w[i] = 1 / data->r[i];
    for (size_t i = 0; opt_group && i < opt_rows->n; i++) {
        double one = opt_rows->w ? opt_rows->w[i] : 1;
        if (one > 0) w[opt_group[i]] += one;
    }
    CR_TRY(cr_kernel_centre_on(cx, k, &in, w));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- files ----------------------------------------------------------------------------------- */

CRI_RECORD_TABLE(, cri_gp_centre_rows_record, cri_gp_centre_rows, CRI_GP_CENTRE_ROWS);

cr_status cri_gp_kernel_keep(cr_ctx *cx, const cr_kernel *k, char **out_text,
                             cri_gp_centre_rows *out_rows)
{
    const cri_reference *r = k->reference;
    *out_text = cri_gp_kernel_text(cx, k);
    if (!*out_text) return cr_error_status(cx);
    if (!r) return CR_OK;
    cri_gp_centre_rows view = { .rows = r->in.rows,
                                .numbers = r->in.numbers.cols,
                                .categories = r->in.categories,
                                .weights = r->p,
                                .X = r->numbers,
                                .codes = r->codes };
    return cri_record_copy(cx, cri_gp_centre_rows_record, &view, out_rows);
}

bool cri_gp_codes_fit(const cr_design *design, const uint32_t *codes, size_t n, size_t c)
{
    for (size_t place = 0; place < c; place++) {
        size_t levels = cri_gp_codes(design, place);
        for (size_t i = 0; i < n; i++)
            if (codes[i * c + place] >= levels) return false;
    }
    return true;
}

/* The rows of centre(...) as the kernel's, where it has any. */
static cr_status centre_again(cr_ctx *cx, const cri_gp_centre_rows *m, const cr_design *design,
                              cr_kernel *k)
{
    size_t d, c;
    if (!cr_kernel_needs_rows(k)) return CR_OK;
    cri_gp_shape(design, &d, &c);
    if (m->rows == 0 || m->numbers != d || m->categories != c ||
        !cri_gp_codes_fit(design, m->codes, m->rows, c))
        return CR_EDATA;
    cr_kernel_input in = {
        .rows = m->rows, .numbers = cr_cmat_of(m->X, m->rows, d), .codes = m->codes, .categories = c
    };
    cr_status st = cr_kernel_centre_on(cx, k, &in, m->weights);
    return st == CR_OK ? cri_kernel_settle(cx, k) : st;
}

/* read: cri_gp_kernel, or cri_gp_kernel_any. */
static cr_status restore(cr_ctx *cx, const char *text, const cri_gp_centre_rows *rows,
                         const cr_kernel_input *inputs, const cr_design *design,
                         cr_status (*read)(cr_ctx *, const char *, const cr_design *, cr_kernel **),
                         cr_kernel **out_kernel)
{
    cr_status st = read(cx, text, design, out_kernel);
    if (st == CR_OK) st = centre_again(cx, rows, design, *out_kernel);
    if (st == CR_OK) st = cr_kernel_check(cx, *out_kernel, inputs);
    if (st == CR_EDATA || st == CR_EARG || st == CR_EUNSUPPORTED)
        st = cr_fail(cx, CR_EARG, "the kernel in the model file does not fit");
    return st;
}

cr_status cri_gp_kernel_restore(cr_ctx *cx, const char *text, const cri_gp_centre_rows *rows,
                                const cr_kernel_input *inputs, const cr_design *design,
                                cr_kernel **out_kernel)
{
    return restore(cx, text, rows, inputs, design, cri_gp_kernel, out_kernel);
}

cr_status cri_gp_kernel_restore_any(cr_ctx *cx, const char *text, const cri_gp_centre_rows *rows,
                                    const cr_kernel_input *inputs, const cr_design *design,
                                    cr_kernel **out_kernel)
{
    return restore(cx, text, rows, inputs, design, cri_gp_kernel_any, out_kernel);
}
