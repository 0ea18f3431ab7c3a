/* rows_basis.c -- columns of numbers that come in as functions of a basis. */
#include "design_block.h"
#include "data/table/table_internal.h"

#include <math.h>

static bool overflows(const cri_basis *b, double x)
{
    double f[CRI_MOST_FUNCTIONS];
    bool   finite = true;
    cri_basis_eval(b, x, f);
    for (size_t k = 0; k < b->n; k++) finite = finite && isfinite(f[k]);
    return !finite;
}

cr_status cri_rows_check_bases(cr_ctx *cx, const cri_rows *r)
{
    for (size_t i = 0; i < r->design->n_columns; i++) {
        const cri_basis *b = &r->design->columns[i].basis;
        const cr_column *c = r->columns[i];
        size_t           low = 0, high = 0, rows = cr_table_rows(r->table);
        char             where[512];
        if (b->kind == CRI_BASIS_NONE) continue;
        for (size_t k = 0; k < rows; k++) {
            double x = c->values[k * c->stride];
            if (x < c->values[low * c->stride] || isnan(c->values[low * c->stride])) low = k;
            if (x > c->values[high * c->stride] || isnan(c->values[high * c->stride])) high = k;
        }
        if (rows == 0 || isnan(c->values[low * c->stride])) continue;
        size_t at = overflows(b, c->values[low * c->stride]) ? low : high;
        if (overflows(b, c->values[at * c->stride]))
            return cr_fail(cx, CR_EDATA, "%s: the %s basis of column '%s' overflows",
                           cri_table_where(r->table, at, where, sizeof where),
                           cri_basis_kind_name(b->kind), c->name);
    }
    return CR_OK;
}

void cri_rows_fill_basis(const cri_rows *r, const cri_design_term *terms, size_t count,
                         const double *shift, const double *scale, size_t begin, size_t end,
                         double *out, size_t stride)
{
    const cr_column *c = r->columns[terms->column];
    const cri_basis *b = &r->design->columns[terms->column].basis;
    double           f[CRI_MOST_FUNCTIONS], fill = r->design->columns[terms->column].fill;
    if (r->design->missing != CR_MISSING_IMPUTE) fill = NAN;
    for (size_t i = begin; i < end; i++, out += stride) {
        double x = c->values[(r->index ? r->index[i] : i) * c->stride];
        cri_basis_eval(b, isnan(x) ? fill : x, f);
        for (size_t m = 0; m < count; m++) out[m] = (f[terms[m].level] - shift[m]) / scale[m];
    }
}

size_t cri_rows_basis_run(const cr_design *d, size_t k)
{
    size_t column = d->terms[k].column, end = k;
    if (!cri_design_has_basis(d, column)) return 0;
    while (end < d->n_terms && d->terms[end].column == column) end++;
    return end - k;
}
