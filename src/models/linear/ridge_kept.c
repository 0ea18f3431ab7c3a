/* ridge_kept.c -- the rows that a sparse ridge in the dual keeps, and the leverages they give. */
#include "ridge_sparse.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/chol.h"

#include <math.h>

CRI_RECORD_TABLE(, cri_kept_rows_record, cri_kept_rows, CRI_KEPT_ROWS);
CRI_RECORD_FREE(cri_kept_rows);

bool cri_kept_rows_fit(const cri_kept_rows *k, size_t p)
{
    if (k->starts != k->n + 1 || k->start[0] != 0 || k->start[k->n] != k->entries) return false;
    for (size_t e = 0; e < k->entries; e++)
        if (k->column[e] >= p) return false;
    for (size_t i = 0; i < k->n; i++)
        if (!(k->L[i * k->n + i] > 0)) return false;
    return true;
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
        for (size_t e = k->start[r]; e < k->start[r + 1]; e++) sum += k->value[e] * v[k->column[e]];
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
        for (size_t e = k->start[r]; e < k->start[r + 1]; e++) {
            size_t j = k->column[e];
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
