/* design_block.c -- the sparse columns that a design uses, and what it learns of them. */
#include "design_block.h"
#include "data/table/table_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

void cri_design_free_block(cr_ctx *cx, cri_design_block *b)
{
    cr_free(cx, b->index, b->n, sizeof *b->index);
    cr_free(cx, b->fill, b->n, sizeof *b->fill);
    cr_free(cx, b->names, b->n, CR_NAME_SIZE);
    *b = (cri_design_block){ 0 };
}

/* shift or scale with room for n terms in front, which get `value`. */
static double *widen(cr_ctx *cx, const double *old, size_t n_old, size_t n, double value)
{
    double *a = cr_alloc(cx, n + n_old, sizeof *a);
    if (!a) return NULL;
    for (size_t j = 0; j < n; j++) a[j] = value;
    for (size_t j = 0; j < n_old; j++) a[n + j] = old[j];
    return a;
}

cr_status cri_design_add_block(cr_ctx *cx, cr_design *d, size_t n, size_t width,
                               const uint32_t *opt_index, bool fill)
{
    cri_design_block b = { .n = n, .width = width };
    double          *shift = widen(cx, d->shift, d->p, n, 0);
    double          *scale = shift ? widen(cx, d->scale, d->p, n, 1) : NULL;
    b.names = scale ? cr_alloc(cx, n, CR_NAME_SIZE) : NULL;
    if (b.names && opt_index) b.index = cr_resize(cx, NULL, 0, n, sizeof *b.index);
    if (b.names && fill) b.fill = cr_alloc(cx, n, sizeof *b.fill);
    if (!b.names || (opt_index && !b.index) || (fill && !b.fill)) {
        cri_design_free_block(cx, &b);
        cr_free(cx, shift, n + d->p, sizeof *shift);
        cr_free(cx, scale, n + d->p, sizeof *scale);
        return CR_ENOMEM;
    }
    if (opt_index) memcpy(b.index, opt_index, n * sizeof *b.index);
    for (size_t k = 0; k < n; k++)
        cri_numbered_name(opt_index ? opt_index[k] : k, b.names + k * CR_NAME_SIZE);
    cr_free(cx, d->shift, d->p, sizeof *d->shift);
    cr_free(cx, d->scale, d->p, sizeof *d->scale);
    d->shift = shift;
    d->scale = scale;
    d->block = b;
    d->p += n;
    return CR_OK;
}

/* --- means ----------------------------------------------------------------------------------- */

/* mean [columns] of the values that are there; weights are divided by their sum first, so that no
 * sum of finite values overflows but for a moment.  gaps [columns] is scratch. */
static void find_means(const cr_csr *X, const cr_column *opt_w, double *mean, double *gaps)
{
    double all = 0;
    for (size_t i = 0; i < X->rows; i++) all += cri_row_weight(opt_w, i);
    memset(mean, 0, X->columns * sizeof *mean);
    memset(gaps, 0, X->columns * sizeof *gaps);
    for (size_t i = 0; i < X->rows; i++) {
        double w = all > 0 ? cri_row_weight(opt_w, i) / all : 0;
        for (size_t e = X->row_start[i]; e < X->row_start[i + 1] && w > 0; e++) {
            if (isnan(X->value[e]))
                gaps[X->column[e]] += w;
            else
                mean[X->column[e]] += w * X->value[e];
        }
    }
    for (size_t j = 0; j < X->columns; j++)
        if (gaps[j] > 0) mean[j] = gaps[j] < 1 ? mean[j] / (1 - gaps[j]) : 0;
}

static cr_status learn_fill(cr_ctx *cx, const cr_table *t, const cr_column *opt_w, cr_design *d)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    const cr_csr *X = cr_table_csr(t);
    double       *mean = cr_scratch_f64(&s, X->columns), *gaps = cr_scratch_f64(&s, X->columns);

    CR_TRY(s.status);
    find_means(X, opt_w, mean, gaps);
    for (size_t k = 0; k < d->block.n; k++) {
        double m = mean[d->block.index ? d->block.index[k] : k];
        if (!isfinite(m) &&
            !cri_table_csr_infinite(t)) /* an infinite value is refused with its place */
            CR_TRY(cr_fail(cx, CR_ENUMERIC, "%s: the mean of column '%s' overflows",
                           cr_table_source(t), cr_design_column_name(d, k)));
        d->block.fill[k] = isfinite(m) ? m : 0;
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_design_fit_block(cr_ctx *cx, const cr_table *t, const cr_design_options *o,
                               const bool *chosen, cr_design *d)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     width = cr_table_csr(t)->columns, n = 0;
    bool       impute = d->missing == CR_MISSING_IMPUTE;
    uint32_t  *index = cr_scratch_bytes(&s, width, sizeof *index);

    CR_TRY(s.status);
    for (size_t j = 0; j < width; j++)
        if (chosen[j]) index[n++] = (uint32_t)j;
    if (n == 0) goto done;
    CR_TRY(cri_design_add_block(cx, d, n, width, n < width ? index : NULL, impute));
    d->block.type = cr_table_csr_type(t);
    if (impute) CR_TRY(learn_fill(cx, t, o->weights ? cr_table_find(t, o->weights) : NULL, d));
done:
    cr_scratch_end(&s);
    return st;
}
