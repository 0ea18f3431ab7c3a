/* classify_normals.c -- the normals of the latent functions at new rows. */
#include "classify_normals.h"
#include "models/common/softmax_grid.h"
#include "models/common/softmax_normal.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

typedef cri_classify_block block;
enum { POINTS = 4096, LEAST_POINTS = 64 };

size_t cri_classify_rows(const cri_rows *rows)
{
    return rows->n < CRI_CLASSIFY_BLOCK ? rows->n : CRI_CLASSIFY_BLOCK;
}

size_t cri_classify_work(size_t F) { return 2 * F + (F + 3) * F; }

cr_status cri_classify_block_new(cr_scratch *s, const cri_classify *m, size_t p, size_t count,
                                 size_t n_points, cri_classify_block *out)
{
    size_t n = m->n, F = m->F;
    bool   joint = F > 1 && !m->sparse && m->infer != CRI_CLASSIFY_BOUND;
    *out = (cri_classify_block){ .m = m,
                                 .K = m->K,
                                 .workspace = cr_scratch_matrix(s, count, p),
                                 .X = cr_scratch_matrix(s, count, m->gp.at.d),
                                 .codes = cr_scratch_bytes(s, count * m->gp.at.c, sizeof(uint32_t)),
                                 .C = cr_scratch_matrix(s, n, count),
                                 .T = cr_scratch_matrix(s, n, count),
                                 .r = joint ? cr_scratch_matrix(s, F * n, count) : NULL,
                                 .prior = cr_scratch_f64(s, count),
                                 .mean = cr_scratch_matrix(s, F, count),
                                 .cov = cr_scratch_matrix(s, count * F, F),
                                 .n_points = n_points,
                                 .points = cr_scratch_matrix(s, n_points, F),
                                 .work = cr_scratch_matrix(s, count, cri_classify_work(F)) };
    if (s->status != CR_OK) return s->status;
    cri_softmax_points(F, n_points, out->points);
    if (n_points) cri_softmax_whiten(F, n_points, out->points);
    return CR_OK;
}

/* out[i] += sign sum_a A[a, i]^2, A [rows x count]; `step` numbers between the out[i]. */
static void add_squares(const double *A, size_t rows, size_t count, double sign, double *out,
                        size_t step)
{
    for (size_t a = 0; a < rows; a++)
        for (size_t i = 0; i < count; i++)
            out[i * step] += sign * A[a * count + i] * A[a * count + i];
}

/* T := diag(root) C. */
static void scale_by(const double *root, const double *C, size_t n, size_t count, double *T)
{
    for (size_t a = 0; a < n; a++)
        for (size_t i = 0; i < count; i++) T[a * count + i] = root[a] * C[a * count + i];
}

/* --- averages --------------------------------------------------------------------------------- */

size_t cri_classify_points(size_t F, size_t parts)
{
    size_t n = POINTS / F / parts;
    return F <= CRI_GRID_SCORES ? 0 : n < LEAST_POINTS ? LEAST_POINTS : n;
}

void cri_classify_softmax(size_t F, const double *points, size_t n_points, const double *mean,
                          const double *cov, double *workspace, double *out)
{
    double *C = workspace, *m = C + F * F, *p = m + F, *softmax = p + F;
    if (n_points == 0) {
        cri_softmax_grid(F, mean, cov, out);
        return;
    }
    memset(out, 0, F * sizeof *out);
    for (size_t first = 0; first < F; first++) {
        for (size_t i = 0; i < F; i++) {
            size_t from = (first + i) % F;
            m[i] = mean[from];
            for (size_t j = 0; j < F; j++) C[i * F + j] = cov[from * F + (first + j) % F];
        }
        cri_factor_small(C, F);
        cri_softmax_normal(points, n_points, F, m, C, softmax, p);
        for (size_t i = 0; i < F; i++) out[(first + i) % F] += p[i] / (double)F;
    }
}

/* --- covariances ------------------------------------------------------------------------------ */

/* cov_cc += r_c . r_c and so on, of all pairs of functions. */
static void add_products(const block *b)
{
    const cri_classify *m = b->m;
    size_t              F = m->F, n = m->n, count = b->count;
    for (size_t c = 0; c < F; c++)
        for (size_t e = 0; e <= c; e++) {
            const double *x = b->r + c * n * count, *z = b->r + e * n * count;
            double       *to = b->cov + c * F + e, *mirror = b->cov + e * F + c;
            for (size_t a = 0; a < n; a++)
                for (size_t i = 0; i < count; i++)
                    to[i * F * F] += x[a * count + i] * z[a * count + i];
            for (size_t i = 0; e < c && i < count; i++) mirror[i * F * F] = to[i * F * F];
        }
}

/* Not sparse: the own part of function c, and, where functions depend on each other, its r. */
static cr_status spread_all(cr_ctx *cx, const block *b, size_t c)
{
    cr_status           st = CR_OK;
    const cri_classify *m = b->m;
    size_t              n = m->n, F = m->F, count = b->count;
    cr_mat              T = cr_mat_of(b->r ? b->r + c * n * count : b->T, n, count);
    cr_cmat             L = cr_cmat_of(m->gp.L, n, n);
    cr_cmat             B = F > 1 ? cr_cmat_of(m->factor + c * n * n, n, n) : L;
    scale_by(m->root + c * n, b->C, n, count, T.a);
    CR_TRY(cr_chol_forward(cx, B, T));
    add_squares(T.a, n, count, -1, b->cov + c * F + c, F * F);
    for (size_t i = 0; i < count; i++) {
        double *v = b->cov + i * F * F + c * F + c;
        *v = fmax(*v, 0);
    }
    if (!b->r) goto done;
    CR_TRY(cr_chol_backward(cx, B, T));
    scale_by(m->root + c * n, T.a, n, count, T.a);
    CR_TRY(cr_chol_forward(cx, L, T));
done:
    return st;
}

/* Sparse: b->C holds w. */
static cr_status spread_sparse(cr_ctx *cx, const block *b, size_t c)
{
    const cri_classify *m = b->m;
    size_t              n = m->n, F = m->F, count = b->count;
    double             *v = b->cov + c * F + c;
    add_squares(b->C, n, count, -1, v, F * F);
    for (size_t i = 0; i < count; i++) v[i * F * F] = fmax(v[i * F * F], 0);
    memcpy(b->T, b->C, n * count * sizeof(double));
    cr_status st =
        cr_chol_forward(cx, cr_cmat_of(m->factor + c * n * n, n, n), cr_mat_of(b->T, n, count));
    if (st == CR_OK) add_squares(b->T, n, count, 1, v, F * F);
    return st;
}

cr_status cri_classify_normals(cr_ctx *cx, const cri_rows *rows, cri_range r, block *b)
{
    cr_status           st = CR_OK;
    const cri_classify *m = b->m;
    size_t              n = m->n, F = m->F, count = r.end - r.begin;
    cr_kernel_input     at = cri_gp_inputs(&m->gp.at);
    cr_kernel_input     in = { .rows = count,
                               .numbers = cr_cmat_of(b->X, count, m->gp.at.d),
                               .codes = b->codes,
                               .categories = m->gp.at.c,
                               .names = cri_gp_names(rows) };

    b->count = count;
    cri_gp_split(rows, r.begin, r.end, b->workspace, b->X, b->codes);
    CR_TRY(cri_gp_check_inputs(cx, m->gp.kernel, rows, r.begin, &in));
    CR_TRY(cr_kernel_cross(cx, m->gp.kernel, &at, &in, cr_mat_of(b->C, n, count)));
    CR_TRY(cr_kernel_diagonal(cx, m->gp.kernel, &in, true, b->prior));
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(m->latent, F, n), CR_PLAIN, cr_cmat_of(b->C, n, count),
                   CR_PLAIN, 0, cr_mat_of(b->mean, F, count)));
    if (m->sparse)
        CR_TRY(cr_chol_forward(cx, cr_cmat_of(m->gp.L, n, n), cr_mat_of(b->C, n, count)));
    memset(b->cov, 0, count * F * F * sizeof(double));
    for (size_t c = 0; c < F; c++) {
        for (size_t i = 0; i < count; i++) b->cov[i * F * F + c * F + c] = b->prior[i];
        CR_TRY(m->sparse ? spread_sparse(cx, b, c) : spread_all(cx, b, c));
    }
    if (b->r) add_products(b);
done:
    return st;
}
