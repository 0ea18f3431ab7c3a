/* reference.c -- the rows that centre(...) takes its means over, and the means once they are
 * settled. */
#include "kernel_internal.h"
#include "base/context_internal.h"

#include <math.h>
#include <string.h>

bool cr_kernel_needs_rows(const cr_kernel *k)
{
    for (size_t i = k->begin; i < k->n_nodes; i++)
        if (cri_is_centre(&k->nodes[i])) return true;
    return false;
}

/* --- life ------------------------------------------------------------------------------------ */

static void forget(cr_ctx *cx, cri_reference *r)
{
    for (size_t i = 0; r->mean && i < r->n_nodes; i++)
        cr_free(cx, r->mean[i], r->in.rows, sizeof(double));
    for (size_t i = 0; r->slope && i < r->n_nodes; i++)
        cr_free(cx, r->slope[i], r->n_params, sizeof(double));
    cr_free(cx, r->mean, r->n_nodes, sizeof *r->mean);
    cr_free(cx, r->slope, r->n_nodes, sizeof *r->slope);
    cr_free(cx, r->total, r->n_nodes, sizeof *r->total);
    r->mean = r->slope = NULL, r->total = NULL, r->n_nodes = 0;
}

void cri_reference_free(cr_ctx *cx, cri_reference *r)
{
    if (!r) return;
    size_t n = r->in.rows;
    forget(cx, r);
    for (size_t i = 0; r->texts && i < n * r->in.text_columns; i++)
        cri_string_free(cx, r->texts[i]);
    cr_free(cx, r->texts, n * r->in.text_columns, sizeof *r->texts);
    cr_free(cx, r->numbers, n * r->in.numbers.cols, sizeof *r->numbers);
    cr_free(cx, r->codes, n * r->in.categories, sizeof *r->codes);
    cr_free(cx, r->p, n, sizeof *r->p);
    cr_free(cx, r, 1, sizeof *r);
}

static cr_status copy_texts(cr_ctx *cx, const cr_kernel_input *rows, cri_reference *r)
{
    size_t n = rows->rows * rows->text_columns;
    if (!rows->texts) return CR_OK;
    r->texts = cr_alloc(cx, n, sizeof *r->texts);
    r->in.text_columns = rows->text_columns;
    for (size_t i = 0; r->texts && i < n; i++)
        if (!(r->texts[i] = cri_string_copy(cx, rows->texts[i] ? rows->texts[i] : "")))
            return CR_ENOMEM;
    r->in.texts = (const char *const *)r->texts;
    return r->texts ? CR_OK : CR_ENOMEM;
}

/* Copies of the rows, and room for their weights. */
static cr_status new_reference(cr_ctx *cx, const cr_kernel_input *rows, cri_reference **out)
{
    cr_status      st = CR_OK;
    size_t         n = rows->rows, d = rows->numbers.cols, c = rows->codes ? rows->categories : 0;
    cri_reference *r = cr_alloc(cx, 1, sizeof *r);
    if (!r) return CR_ENOMEM;
    r->in = (cr_kernel_input){ .rows = n, .categories = c, .names = rows->names };
    r->numbers = cr_alloc(cx, n * d, sizeof *r->numbers);
    r->in.numbers = cr_cmat_of(r->numbers, n, d);
    r->in.codes = r->codes = cr_alloc(cx, n * c, sizeof *r->codes);
    r->p = cr_alloc(cx, n, sizeof *r->p);
    if (!r->numbers || !r->codes || !r->p) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; d > 0 && i < n; i++)
        memcpy(r->numbers + i * d, rows->numbers.a + i * rows->numbers.stride, d * sizeof(double));
    if (n * c > 0) memcpy(r->codes, rows->codes, n * c * sizeof *r->codes);
    CR_TRY(copy_texts(cx, rows, r));
    *out = r;
    r = NULL;
done:
    cri_reference_free(cx, r);
    return st;
}

/* Room for the means of n_nodes nodes, of those that `from` has. */
static cr_status reserve(cr_ctx *cx, size_t n_nodes, double *const *from, cri_reference *r)
{
    r->n_nodes = n_nodes;
    r->mean = cr_alloc(cx, n_nodes, sizeof *r->mean);
    r->total = cr_alloc(cx, n_nodes, sizeof *r->total);
    if (!r->mean || !r->total) return CR_ENOMEM;
    for (size_t i = 0; i < n_nodes; i++)
        if (from[i] && !(r->mean[i] = cr_alloc(cx, r->in.rows, sizeof(double)))) return CR_ENOMEM;
    return CR_OK;
}

cr_status cri_reference_copy(cr_ctx *cx, const cri_reference *from, cri_reference **out)
{
    cr_status      st = CR_OK;
    cri_reference *r = NULL;
    if (!from) return *out = NULL, CR_OK;
    CR_TRY(new_reference(cx, &from->in, &r));
    memcpy(r->p, from->p, from->in.rows * sizeof *r->p);
    if (from->mean) { /* slopes are not copied */
        CR_TRY(reserve(cx, from->n_nodes, from->mean, r));
        memcpy(r->total, from->total, from->n_nodes * sizeof *r->total);
        for (size_t i = 0; i < from->n_nodes; i++)
            if (from->mean[i]) memcpy(r->mean[i], from->mean[i], from->in.rows * sizeof(double));
    }
    *out = r;
    r = NULL;
done:
    cri_reference_free(cx, r);
    return st;
}

/* true when row i of it is row j of these, which have the same columns. */
static bool same_row(const cri_reference *r, size_t i, const cr_kernel_input *rows, size_t j)
{
    size_t d = r->in.numbers.cols, c = r->in.categories, t = r->texts ? r->in.text_columns : 0;
    if (d > 0 && memcmp(r->numbers + i * d, rows->numbers.a + j * rows->numbers.stride,
                        d * sizeof(double)) != 0)
        return false;
    if (c > 0 && memcmp(r->codes + i * c, rows->codes + j * c, c * sizeof *r->codes) != 0)
        return false;
    for (size_t k = 0; k < t; k++) {
        const char *text = rows->texts[j * t + k];
        if (strcmp(r->texts[i * t + k], text ? text : "") != 0) return false;
    }
    return true;
}

size_t cri_reference_find(const cri_reference *r, const cr_kernel_input *rows)
{
    size_t n = rows->rows, d = rows->numbers.cols, c = rows->codes ? rows->categories : 0;
    bool   texts = rows->texts != NULL;
    if (rows == &r->in) return 0;
    if (n > r->in.rows || r->in.numbers.cols != d || r->in.categories != c ||
        texts != (r->texts != NULL) || (texts && r->in.text_columns != rows->text_columns) ||
        rows->names.text != r->in.names.text || rows->names.user != r->in.names.user)
        return SIZE_MAX;
    for (size_t from = 0; from + n <= r->in.rows; from++) {
        size_t i = 0;
        while (i < n && same_row(r, from + i, rows, i)) i++;
        if (i == n) return from;
    }
    return SIZE_MAX;
}

/* --- binding --------------------------------------------------------------------------------- */

/* The shares w / sum w; those that are such already stay as they are, bit by bit. */
static cr_status set_shares(cr_ctx *cx, const double *opt_weights, size_t n, double *p)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double w = p[i] = opt_weights ? opt_weights[i] : 1;
        if (!(w >= 0) || !isfinite(w))
            return cr_fail(cx, CR_EARG,
                           "kernel: the weight of row %zu is %g, but must be at least 0", i + 1, w);
        sum += w;
    }
    if (!(sum > 0) || !isfinite(sum))
        return cr_fail(cx, CR_EARG,
                       "kernel: centre(...) needs the mean of some rows, but their weights add up "
                       "to %g",
                       sum);
    for (size_t i = 0; fabs(sum - 1) > 1e-12 && i < n; i++) p[i] /= sum;
    return CR_OK;
}

cr_status cr_kernel_centre_on(cr_ctx *cx, cr_kernel *k, const cr_kernel_input *rows,
                              const double *opt_weights)
{
    cr_status      st = CR_OK;
    cri_reference *r = NULL, *before = k->reference;
    if (!cr_kernel_needs_rows(k)) return CR_OK;
    CR_TRY(new_reference(cx, rows, &r));
    CR_TRY(set_shares(cx, opt_weights, rows->rows, r->p));
    k->reference = r;
    st = cr_kernel_check(cx, k, &r->in);
    if (st != CR_OK)
        k->reference = before;
    else
        r = before;
done:
    cri_reference_free(cx, r);
    return st;
}

/* --- settled means --------------------------------------------------------------------------- */

void cri_kernel_unsettle(cr_ctx *cx, cr_kernel *k)
{
    if (k->reference && k->reference->mean) forget(cx, k->reference);
}

cr_status cri_kernel_settle(cr_ctx *cx, cr_kernel *k)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    cri_reference *r = k->reference;
    cri_job        job;
    double        *which[CRI_MOST_NODES] = { NULL };
    if (!r || r->mean || !cr_kernel_needs_rows(k)) goto done;
    CR_TRY(cri_job_begin(&s, k, &r->in, NULL, false, &job));
    for (size_t i = k->begin; i < k->n_nodes; i++)
        if (cri_is_centre(&k->nodes[i])) which[i] = job.a.node[i].diagonal;
    st = reserve(cx, k->n_nodes, which, r);
    for (size_t i = 0; st == CR_OK && i < k->n_nodes; i++) {
        if (!which[i]) continue;
        memcpy(r->mean[i], which[i], r->in.rows * sizeof(double));
        r->total[i] = job.total[i];
    }
    if (st != CR_OK) forget(cx, r);
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status settle_slopes(cr_ctx *cx, cr_kernel *k)
{
    cri_reference *r = k->reference;
    cr_status      st = CR_OK;
    r->n_params = k->n_params;
    r->slope = cr_alloc(cx, r->n_nodes, sizeof *r->slope);
    if (!r->slope) return CR_ENOMEM;
    for (size_t i = 0; st == CR_OK && i < r->n_nodes; i++) {
        if (!r->mean[i]) continue;
        r->slope[i] = cr_alloc(cx, k->n_params, sizeof(double));
        st = r->slope[i] ? cri_centre_slopes(cx, k, i, r->slope[i]) : CR_ENOMEM;
    }
    return st;
}

cr_status cri_kernel_settled(cr_ctx *cx, const cr_kernel *k, bool with_slopes, cr_kernel **out_copy)
{
    cr_status  st = CR_OK;
    cr_kernel *copy = NULL;
    *out_copy = NULL;
    if (!cr_kernel_needs_rows(k)) return CR_OK;
    CR_TRY(cr_kernel_copy(cx, k, &copy));
    CR_TRY(cri_kernel_settle(cx, copy));
    if (with_slopes) CR_TRY(settle_slopes(cx, copy));
    *out_copy = copy;
    copy = NULL;
done:
    cr_kernel_free(cx, copy);
    return st;
}
