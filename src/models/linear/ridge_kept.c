/* ridge_kept.c -- the rows that a sparse ridge in the dual keeps, and the leverages they give. */
#include "ridge_sparse.h"
#include "../fields.h"
#include "../../base/parallel.h"
#include "../../base/scratch.h"
#include "../../math/blas_internal.h"
#include "../../math/chol.h"

#include <math.h>
#include <string.h>

static const cri_member kept_fields[] = {
    { "kept_rows", CRI_MEMBER_count, offsetof(cri_kept_rows, n), 0, 0, "", "", NULL },
    { "kept_starts", CRI_MEMBER_count, offsetof(cri_kept_rows, starts), 0, 0, "", "", NULL },
    { "kept_entries", CRI_MEMBER_count, offsetof(cri_kept_rows, entries), 0, 0, "", "", NULL },
    { "kept_lambda", CRI_MEMBER_real, offsetof(cri_kept_rows, lambda), 0, 0, "any none", "", NULL },
    { "kept/start", CRI_MEMBER_vector, offsetof(cri_kept_rows, start),
      offsetof(cri_kept_rows, starts), 0, "any", "", NULL },
    { "kept/column", CRI_MEMBER_vector, offsetof(cri_kept_rows, column),
      offsetof(cri_kept_rows, entries), 0, "any", "", NULL },
    { "kept/value", CRI_MEMBER_vector, offsetof(cri_kept_rows, value),
      offsetof(cri_kept_rows, entries), 0, "any", "", NULL },
    { "kept/root", CRI_MEMBER_vector, offsetof(cri_kept_rows, root), offsetof(cri_kept_rows, n), 0,
      "any", "", NULL },
    { "kept/factor", CRI_MEMBER_matrix, offsetof(cri_kept_rows, L), offsetof(cri_kept_rows, n),
      offsetof(cri_kept_rows, n), "any", "", NULL },
    CRI_FIELD_LAST,
};

void cri_kept_rows_free(cr_ctx *cx, cri_kept_rows *kept)
{
    cri_record_free(cx, kept_fields, kept);
    *kept = (cri_kept_rows){ 0 };
}

cr_status cri_kept_rows_write(cr_ctx *cx, const cri_kept_rows *kept, cri_store *store, json_t *out)
{
    return cri_record_write(cx, kept_fields, kept, store, out);
}

/* Starts that rise from 0 to the entries, and columns below p, in order within a row. */
static bool is_sound(const cri_kept_rows *k, size_t p)
{
    if (k->starts != k->n + 1 || k->start[0] != 0 || k->start[k->n] != (double)k->entries)
        return false;
    for (size_t i = 0; i < k->n; i++)
        if (!(k->start[i + 1] >= k->start[i]) || k->start[i] != floor(k->start[i])) return false;
    for (size_t e = 0; e < k->entries; e++)
        if (!(k->column[e] >= 0 && k->column[e] < (double)p) || k->column[e] != floor(k->column[e]))
            return false;
    for (size_t i = 0; i < k->n; i++)
        if (!(k->L[i * k->n + i] > 0)) return false;
    return k->lambda > 0 && isfinite(k->lambda);
}

cr_status cri_kept_rows_read(cr_ctx *cx, const cri_store *store, const json_t *in, size_t p,
                             cri_kept_rows *out)
{
    cr_status     st = CR_OK;
    cri_kept_rows k = { 0 };
    CR_TRY(cri_record_read(cx, kept_fields, store, in, &k));
    if (!is_sound(&k, p))
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: the rows kept in the model file are damaged",
                       cri_store_source(store)));
    *out = k;
    k = (cri_kept_rows){ 0 };
done:
    cri_kept_rows_free(cx, &k);
    return st;
}

/* --- leverages ------------------------------------------------------------------------------- */

enum { BLOCK = 64, MOST_SLOTS = 8 };

typedef struct spread_work {
    const cri_kept_rows *k;
    const cri_predictor *fit;
    const cri_sparse    *X;
    cr_prediction       *out;
    double               base;  /* |centre / scale|^2                            */
    double              *v;     /* [slots x p] 0 between rows                     */
    double              *U;     /* [n x block] L^-1 Z u of the block, by columns  */
    double              *plain; /* [block] |u|^2                                  */
    size_t               begin, width, slots;
    const double        *offset; /* [n] z_i . (centre / scale), without sqrt(w)    */
} spread_work;

/* Z u of one row x: u = (x - centre) / scale differs from -centre / scale at its entries alone.
 *   z_i . u = sum_j (x_ij - c_j) (x_j - c_j) / s_j^2 = x_i . v - c . v - (z_i . c / s),
 * v = x / s^2. */
static void project_row(const spread_work *w, size_t i, double *v)
{
    const cri_kept_rows *k = w->k;
    const cri_predictor *fit = w->fit;
    size_t               end, begin = cri_sparse_row(w->X, i, &end), at = i - w->begin;
    double               level = 0, plain = w->base;
    for (size_t e = begin; e < end; e++) {
        size_t j = w->X->column[e];
        double s = fit->scale[j], x = w->X->value[e] / s, c = fit->centre[j] / s;
        v[j] = x / s;
        level += c * x;
        plain += x * (x - 2 * c);
    }
    for (size_t r = 0; r < k->n; r++) {
        double sum = 0;
        for (size_t e = (size_t)k->start[r]; e < (size_t)k->start[r + 1]; e++)
            sum += k->value[e] * v[(size_t)k->column[e]];
        w->U[r * w->width + at] = k->root[r] * (sum - level - w->offset[r]);
    }
    for (size_t e = begin; e < end; e++) v[w->X->column[e]] = 0;
    w->plain[at] = plain;
}

static void project_slot(void *arg, size_t s)
{
    const spread_work *w = arg;
    for (size_t i = s; i < w->width; i += w->slots)
        project_row(w, w->begin + i, w->v + s * w->fit->p);
}

/* offset [n] = x_i . (c / s^2) - |c / s|^2. */
static void set_offsets(const cri_kept_rows *k, const cri_predictor *fit, double base,
                        double *offset)
{
    for (size_t r = 0; r < k->n; r++) {
        offset[r] = -base;
        for (size_t e = (size_t)k->start[r]; e < (size_t)k->start[r + 1]; e++) {
            size_t j = (size_t)k->column[e];
            offset[r] += k->value[e] * fit->centre[j] / (fit->scale[j] * fit->scale[j]);
        }
    }
}

static void fill_block(const spread_work *w)
{
    const cri_kept_rows *k = w->k;
    for (size_t i = 0; i < w->width; i++) {
        double told = 0;
        for (size_t r = 0; r < k->n; r++) told += w->U[r * w->width + i] * w->U[r * w->width + i];
        double h = w->fit->mean_share + (w->plain[i] - told) / k->lambda;
        if (h < 0) h = 0; /* a difference that rounding may turn */
        w->out->leverage[w->begin + i] = h;
        w->out->scale[w->begin + i] = w->fit->sigma * sqrt(1 + h);
        w->out->dof[w->begin + i] = w->fit->dof;
    }
}

cr_status cri_kept_rows_spread(cr_ctx *cx, const cri_kept_rows *k, const cri_predictor *fit,
                               const cri_rows *rows, cr_prediction *out)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    double     *offset = cr_scratch_f64(&s, k->n);
    spread_work w = { .k = k,
                      .fit = fit,
                      .X = rows->sparse,
                      .out = out,
                      .v = cr_scratch_bytes(&s, MOST_SLOTS * fit->p, sizeof(double)),
                      .U = cr_scratch_matrix(&s, k->n, BLOCK),
                      .plain = cr_scratch_f64(&s, BLOCK),
                      .slots = MOST_SLOTS,
                      .offset = offset };

    CR_TRY(s.status);
    for (size_t j = 0; j < fit->p; j++) {
        double c = fit->centre[j] / fit->scale[j];
        w.base += c * c;
    }
    set_offsets(k, fit, w.base, offset);
    for (w.begin = 0; w.begin < rows->n; w.begin += BLOCK) {
        w.width = rows->n - w.begin < BLOCK ? rows->n - w.begin : BLOCK;
        CR_TRY(cri_parallel_for(cx, NULL, MOST_SLOTS, project_slot, &w));
        CR_TRY(cr_chol_forward(cx, cr_cmat_of(k->L, k->n, k->n), cr_mat_of(w.U, k->n, w.width)));
        fill_block(&w);
    }
done:
    cr_scratch_end(&s);
    return st;
}
