/* gp_centre.c -- rows for centre(...), from data and from files. */
#include "gp_centre.h"
#include "../fields.h"
#include "../../base/scratch.h"
#include "../../math/kernel/kernel_internal.h"

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

/* The rows as a file has them. */
typedef struct kept {
    size_t  centre_rows, centre_numbers, centre_categories;
    double *centre_weights, *centre_X, *centre_codes;
} kept;

static const cri_member fields[] = {
    CRI_FIELD_COUNT(kept, centre_rows),
    CRI_FIELD_COUNT(kept, centre_numbers),
    CRI_FIELD_COUNT(kept, centre_categories),
    CRI_FIELD_VECTOR(kept, centre_weights, centre_rows),
    CRI_FIELD_MATRIX(kept, centre_X, centre_rows, centre_numbers),
    CRI_FIELD_MATRIX(kept, centre_codes, centre_rows, centre_categories),
    CRI_FIELD_LAST,
};

cr_status cri_gp_centre_write(cr_ctx *cx, const cr_kernel *k, cri_store *store, json_t *out)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const cri_reference *r = k->reference;
    if (!r) goto done;
    kept m = { .centre_rows = r->in.rows,
               .centre_numbers = r->in.numbers.cols,
               .centre_categories = r->in.categories,
               .centre_weights = r->p,
               .centre_X = r->numbers };
    m.centre_codes = cr_scratch_matrix(&s, m.centre_rows, m.centre_categories);
    CR_TRY(s.status);
    for (size_t i = 0; i < m.centre_rows * m.centre_categories; i++)
        m.centre_codes[i] = r->codes[i];
    CR_TRY(cri_record_write(cx, fields, &m, store, out));
done:
    cr_scratch_end(&s);
    return st;
}

/* The codes as whole numbers, each below the number of its category's levels; false when they are
 * not. */
static bool take_codes(const kept *m, const cr_design *design, uint32_t *codes)
{
    for (size_t place = 0; place < m->centre_categories; place++) {
        size_t levels = cri_gp_codes(design, place);
        for (size_t i = place; i < m->centre_rows * m->centre_categories;
             i += m->centre_categories) {
            if (!(m->centre_codes[i] >= 0 && m->centre_codes[i] < (double)levels)) return false;
            codes[i] = (uint32_t)m->centre_codes[i];
        }
    }
    return true;
}

cr_status cri_gp_centre_read(cr_ctx *cx, const cri_store *store, const json_t *in,
                             const cr_design *design, cr_kernel *k)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    kept       m = { 0 };
    size_t     d, c;
    if (!cr_kernel_needs_rows(k)) goto done;
    CR_TRY(cri_record_read(cx, fields, store, in, &m));
    cri_gp_shape(design, &d, &c);
    bool      fits = m.centre_rows > 0 && m.centre_numbers == d && m.centre_categories == c;
    uint32_t *codes = cr_scratch_bytes(&s, m.centre_rows * c, sizeof *codes);
    CR_TRY(s.status);
    fits = fits && take_codes(&m, design, codes);
    if (fits) {
        cr_kernel_input rows = { .rows = m.centre_rows,
                                 .numbers = cr_cmat_of(m.centre_X, m.centre_rows, d),
                                 .codes = codes,
                                 .categories = c };
        st = cr_kernel_centre_on(cx, k, &rows, m.centre_weights);
    }
    if (!fits || st == CR_EARG || st == CR_EDATA)
        st = cr_fail(cx, CR_EDATA, "%s: the rows of centre(...) in the model file do not fit",
                     cri_store_source(store));
    CR_TRY(st);
    CR_TRY(cri_kernel_settle(cx, k));
done:
    cri_record_free(cx, fields, &m);
    cr_scratch_end(&s);
    return st;
}
