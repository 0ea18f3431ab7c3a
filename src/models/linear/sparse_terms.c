/* sparse_terms.c -- sparse rows, centred and scaled implicitly. */
#include "sparse_terms.h"
#include "models/common/moments.h"
#include "base/parallel.h"

#include <math.h>

bool cri_rows_are_sparse(const cri_rows *rows) { return rows->sparse && rows->sparse->plain; }

/* --- measuring ------------------------------------------------------------------------------- */

/* The target: its mean where it is wanted, and t. */
static cr_status measure_target(cr_ctx *cx, const cri_rows *rows, bool intercept,
                                cri_sparse_terms *z)
{
    double mean = 0, square = 0, about = 0;
    for (size_t i = 0; i < z->n; i++) z->weight += z->w ? z->w[i] : 1;
    for (int pass = 0; pass < 2; pass++) { /* the second takes up what the first lost */
        double sum = 0;
        for (size_t i = 0; i < z->n; i++) sum += (z->w ? z->w[i] : 1) * (rows->y[i] - mean);
        mean += sum / z->weight;
    }
    for (size_t i = 0; i < z->n; i++) {
        double w = z->w ? z->w[i] : 1, d = rows->y[i] - mean;
        square += w * rows->y[i] * rows->y[i];
        about += w * d * d;
    }
    z->offset = intercept ? mean : 0;
    for (size_t i = 0; i < z->n; i++)
        z->t[i] = (z->root ? z->root[i] : 1) * (rows->y[i] - z->offset);
    z->tt = intercept ? about : square;
    return cri_check_squares(cx, z->p, z->p, square, fabs(mean) + sqrt(about / z->weight));
}

cr_status cri_sparse_terms_new(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, bool intercept,
                               bool standardise, cri_sparse_terms *out)
{
    cr_status        st = CR_OK;
    size_t           n = rows->n, p = rows->p;
    cri_sparse_terms z = { .X = rows->sparse,
                           .n = n,
                           .p = p,
                           .w = rows->w,
                           .root = rows->w ? cr_scratch_f64(s, n) : NULL,
                           .mean = cr_scratch_f64(s, p),
                           .centre = cr_scratch_f64(s, p),
                           .scale = cr_scratch_f64(s, p),
                           .square = cr_scratch_f64(s, p),
                           .t = cr_scratch_f64(s, n) };

    CR_TRY(s->status);
    for (size_t i = 0; rows->w && i < n; i++) z.root[i] = sqrt(rows->w[i]);
    CR_TRY(measure_target(cx, rows, intercept, &z));
    CR_TRY(cri_sparse_moments(cx, z.X, z.w, z.mean, z.square)); /* variances for now */
    for (size_t j = 0; j < p; j++) {
        double mean = z.mean[j], variance = z.square[j], raw = mean * mean;
        bool   constant = !(variance > 1e-26 * raw);
        CR_TRY(
            cri_check_squares(cx, j, p, z.weight * (variance + raw), fabs(mean) + sqrt(variance)));
        z.centre[j] = intercept ? mean : 0;
        z.scale[j] = standardise && !constant ? sqrt(variance) : 1;
        z.square[j] = intercept && constant ? 0
                                            : z.weight * (variance + (intercept ? 0 : raw)) /
                                                  (z.scale[j] * z.scale[j]);
    }
    *out = z;
done:
    return st;
}

/* --- products -------------------------------------------------------------------------------- */

enum { BLOCK = 8192 };

typedef struct terms_work {
    const cri_sparse_terms *z;
    const double           *b;
    double                 *workspace, *out;
    double                  sum;
} terms_work;

/* v = b / scale, and the sum of centre . v. */
static void enter_terms(void *arg, cri_range range, double *acc)
{
    const terms_work       *w = arg;
    const cri_sparse_terms *z = w->z;
    double                  level = 0;
    for (size_t j = range.begin; j < range.end; j++) {
        w->workspace[j] = z->square[j] > 0 ? w->b[j] / z->scale[j] : 0;
        level += z->centre[j] * w->workspace[j];
    }
    acc[0] += level;
}

cr_status cri_sparse_terms_times(cr_ctx *cx, const cri_sparse_terms *z, const double *b,
                                 double *workspace, double *out)
{
    cr_status  st = CR_OK;
    terms_work w = { .z = z, .b = b, .workspace = workspace };
    double     level;
    CR_TRY(cri_parallel_sum(cx, NULL, z->p, BLOCK, 1, enter_terms, &w, &level));
    CR_TRY(cri_sparse_times(cx, z->X, workspace, out));
    for (size_t i = 0; i < z->n; i++) out[i] = (z->root ? z->root[i] : 1) * (out[i] - level);
done:
    return st;
}

/* (X' q - centre sum q) / scale from X' q. */
static void leave_terms(void *arg, size_t block)
{
    const terms_work       *w = arg;
    const cri_sparse_terms *z = w->z;
    cri_range               range = cri_block_range(z->p, BLOCK, block);
    for (size_t j = range.begin; j < range.end; j++)
        w->out[j] = z->square[j] > 0 ? (w->out[j] - z->centre[j] * w->sum) / z->scale[j] : 0;
}

cr_status cri_sparse_terms_transpose(cr_ctx *cx, const cri_sparse_terms *z, const double *r,
                                     double *workspace, double *out)
{
    cr_status  st = CR_OK;
    terms_work w = { .z = z, .out = out };
    for (size_t i = 0; i < z->n; i++) {
        workspace[i] = (z->root ? z->root[i] : 1) * r[i];
        w.sum += workspace[i];
    }
    CR_TRY(z->columns ? cri_sparse_times(cx, z->columns, workspace, out)
                      : cri_sparse_transpose_times(cx, z->X, workspace, out));
    CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(z->p, BLOCK), leave_terms, &w));
done:
    return st;
}

/* z_i . z_k = x_i . D x_k - a_i - a_k + a0,  D = 1 / scale^2,  a_i = x_i . D centre. */
cr_status cri_sparse_terms_outer(cr_ctx *cx, const cri_sparse_terms *z, double *K)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = z->n, p = z->p;
    double         *D = cr_scratch_f64(&s, p), *a = cr_scratch_f64(&s, n), a0 = 0;
    double         *v = cr_scratch_f64(&s, p);
    cri_sparse_copy columns = { 0 };

    CR_TRY(s.status);
    for (size_t j = 0; j < p; j++) {
        D[j] = z->square[j] > 0 ? 1 / (z->scale[j] * z->scale[j]) : 0;
        v[j] = D[j] * z->centre[j];
        a0 += v[j] * z->centre[j];
    }
    CR_TRY(cri_sparse_transpose(cx, z->X, &columns));
    CR_TRY(cri_sparse_gram(cx, &columns.view, D, K));
    CR_TRY(cri_sparse_times(cx, z->X, v, a));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            double both = z->root ? z->root[i] * z->root[k] : 1;
            K[i * n + k] = both * (K[i * n + k] - a[i] - a[k] + a0);
        }
done:
    cri_sparse_free(cx, &columns);
    cr_scratch_end(&s);
    return st;
}
