/* gp_lowrank.c -- the low-rank form of a Gaussian process: made, kept in files, and predicting. */
#include "gp_lowrank.h"
#include "gp_method.h"
#include "models/gp/exact/gp_pivoted_cholesky.h"
#include "base/parallel.h"
#include "math/dense/blas_internal.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum {
    FEWEST = 256,      /* inputs: below, the dense formulas are quick */
    SHARE = 4,         /* the rank is at most this part of them       */
    ROWS = 256,        /* of the residual at a time                   */
    STRIP = 64,        /* rows predicted by one thread at a time      */
    MOST_BLOCK = 4096, /* rows predicted at a time                   */
    VALUE =
        8 /* operations that a value of the kernel costs, about: beyond rank^2 of them, means without
                     variances are quicker by the dense formulas */
};

CRI_RECORD_TABLE(, cri_gp_lowrank_record, cri_gp_lowrank, CRI_GP_LOWRANK);

/* --- made ------------------------------------------------------------------------------------ */

/* D [n] of inputs, and the largest of their k(x, x). */
static cr_status fill_noise(cr_ctx *cx, const cri_gp_posterior *m, double *D, double *out_largest)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = m->at.n;
    cr_kernel_input in = cri_gp_inputs(&m->at);
    double         *with = cr_scratch_f64(&s, n), *without = cr_scratch_f64(&s, n);

    CR_TRY(s.status);
    CR_TRY(cr_kernel_diagonal(cx, m->kernel, &in, true, with));
    CR_TRY(cr_kernel_diagonal(cx, m->kernel, &in, false, without));
    *out_largest = 0;
    for (size_t i = 0; i < n; i++) {
        D[i] = m->noise * m->at.r[i] + m->jitter + (with[i] - without[i]);
        *out_largest = fmax(*out_largest, without[i]);
    }
done:
    cr_scratch_end(&s);
    return st;
}

typedef struct squares_work {
    const double *T; /* [rows x cols] */
    size_t        rows, cols, once;
    double       *sums;
} squares_work;

/* The squares of a row; columns before `once` stand for their mirror images too. */
static void add_row(void *arg, size_t i)
{
    squares_work *w = arg;
    const double *t = w->T + i * w->cols;
    w->sums[i] = 2 * cr_dot(t, t, w->once) + cr_dot(t + w->once, t + w->once, w->cols - w->once);
}

/* rho, the Frobenius norm of T = D^-1/2 K D^-1/2 - F F^T, F [n x r] by rows of D^-1/2; and the root
 * of |T a| |a| >= alpha^T R alpha, a = D^1/2 alpha. */
static cr_status measure_residual(cr_ctx *cx, const cri_gp_posterior *m, cr_cmat F,
                                  const double *root, const double *a, double *out_rho,
                                  double *out_pull)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = m->at.n;
    double    *T = cr_scratch_matrix(&s, n < ROWS ? n : ROWS, n), *sums = cr_scratch_f64(&s, ROWS);
    double    *Ta = cr_scratch_bytes(&s, n, sizeof(double)), sum = 0;

    CR_TRY(s.status);
    for (size_t b = 0; b < cri_block_count(n, ROWS); b++) {
        cri_range       g = cri_block_range(n, ROWS, b);
        size_t          count = g.end - g.begin;
        cri_gp_data     some = cri_gp_data_view(&m->at, g.begin, g.end);
        cri_gp_data     before = cri_gp_data_view(&m->at, 0, g.end);
        cr_kernel_input in = cri_gp_inputs(&some), all = cri_gp_inputs(&before);
        cr_mat          block = cr_mat_of(T, count, g.end);
        CR_TRY(cr_kernel_cross(cx, m->kernel, &in, &all, block));
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < g.end; j++) T[i * g.end + j] /= root[g.begin + i] * root[j];
        CR_TRY(cr_gemm(cx, -1, cr_cmat_part(F, g.begin, 0, count, F.cols), CR_PLAIN,
                       cr_cmat_part(F, 0, 0, g.end, F.cols), CR_TRANSPOSED, 1, block));
        squares_work w = { T, count, g.end, g.begin, sums };
        CR_TRY(cri_parallel_for(cx, NULL, count, add_row, &w));
        for (size_t i = 0; i < count; i++) sum += sums[i];
        CR_TRY(cr_gemv(cx, 1, cr_const(block), CR_PLAIN, a, 1, Ta + g.begin));
        if (g.begin > 0)
            CR_TRY(cr_gemv(cx, 1, cr_const(cr_mat_part(block, 0, 0, count, g.begin)), CR_TRANSPOSED,
                           a + g.begin, 1, Ta));
    }
    *out_rho = sqrt(sum);
    *out_pull = sqrt(cr_norm2(Ta, n) * cr_norm2(a, n));
done:
    cr_scratch_end(&s);
    return st;
}

/* M, F^T alpha, H^T C^-1 F and the figures of the bounds, F by rows of D^-1/2; rho first, and no
 * more when it is above `worst`. */
static cr_status fill_form(cr_ctx *cx, const cri_gp_posterior *m, cr_cmat F, const double *root,
                           double worst, cri_gp_lowrank *low)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = m->at.n, r = low->rank, q = m->q;
    double    *a = cr_scratch_f64(&s, n), *G = cr_scratch_matrix(&s, n, q);
    cr_mat     M = cr_mat_of(low->inner_factor, r, r);

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) a[i] = root[i] * m->alpha[i];
    CR_TRY(measure_residual(cx, m, F, root, a, &low->residual, &low->pull));
    if (!(low->residual <= worst)) goto done;
    CR_TRY(cr_gemv(cx, 1, F, CR_TRANSPOSED, a, 0, low->pivot_weights));
    CR_TRY(cr_syrk(cx, 1, F, CR_TRANSPOSED, 0, M));
    for (size_t i = 0; i < r; i++) M.a[i * r + i] += 1;
    CR_TRY(cr_chol(cx, M));
    if (q == 0) goto done;
    memcpy(G, m->U, n * q * sizeof *G);
    CR_TRY(cr_chol_backward(cx, cr_cmat_of(m->L, n, n), cr_mat_of(G, n, q)));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < q; j++) G[i * q + j] *= root[i];
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(G, n, q), CR_TRANSPOSED, F, CR_PLAIN, 0,
                   cr_mat_of(low->pivot_terms, q, r)));
done:
    cr_scratch_end(&s);
    return st;
}

/* Memory of its rank, with pivots, L and the figures of rounding; D [n]. */
static cr_status lowrank_allocate(cr_ctx *cx, const cri_gp_posterior *m,
                                  const cri_gp_pivoted *factor, const double *D, double largest,
                                  cri_gp_lowrank *low)
{
    cr_status st = CR_OK;
    double    precision = 0;
    low->rank = factor->rank;
    low->terms = m->q;
    CR_TRY(cri_record_allocate(cx, cri_gp_lowrank_record, low));
    cri_gp_pivoted_rows(factor, low->pivot_factor);
    for (size_t i = 0; i < low->rank; i++) low->pivots[i] = factor->pivots[i];
    low->least_noise = INFINITY;
    for (size_t i = 0; i < m->at.n; i++) {
        low->least_noise = fmin(low->least_noise, D[i]);
        precision += 1 / D[i];
    }
    low->rounding = DBL_EPSILON * sqrt(largest * precision);
    low->weight_rounding = 4 * DBL_EPSILON * sqrt(largest) * cr_norm2(m->alpha, m->at.n);
done:
    return st;
}

cr_status cri_gp_lowrank_new(cr_ctx *cx, const cri_gp_posterior *m, double least, double worst,
                             cri_gp_lowrank *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    size_t         n = m->at.n;
    double        *root = cr_scratch_f64(&s, n), largest;
    cri_gp_pivoted factor = { .memory = cr_scratch_begin(cx) };
    cri_gp_lowrank low = { 0 };

    *out = (cri_gp_lowrank){ 0 };
    CR_TRY(s.status);
    if (m->approx != CRI_GP_EXACT || !m->L || n < FEWEST) goto done;
    CR_TRY(fill_noise(cx, m, root, &largest));
    for (size_t i = 0; i < n; i++)
        if (!(root[i] > 0)) goto done;
    CR_TRY(cri_gp_pivoted_begin(cx, &m->at, m->kernel, least, n / SHARE, &factor));
    if (factor.rank == 0) goto done;
    CR_TRY(lowrank_allocate(cx, m, &factor, root, largest, &low));
    for (size_t i = 0; i < n; i++) {
        root[i] = sqrt(root[i]);
        for (size_t j = 0; j < factor.rank; j++) factor.F.a[i * factor.F.stride + j] /= root[i];
    }
    CR_TRY(fill_form(cx, m, cr_const(factor.F), root, worst, &low));
    if (!(low.residual <= worst)) goto done;
    *out = low;
    low = (cri_gp_lowrank){ 0 };
done:
    cri_record_free(cx, cri_gp_lowrank_record, &low);
    cri_gp_pivoted_end(&factor);
    cr_scratch_end(&s);
    return st;
}

bool cri_gp_lowrank_fits(const cri_gp_posterior *m)
{
    const cri_gp_lowrank *low = &m->low;
    bool fits = m->approx == CRI_GP_EXACT && m->L && !m->n_draws && low->terms == m->q &&
                low->rank <= m->at.n;
    for (size_t i = 0; fits && i < low->rank; i++)
        fits = low->pivots[i] < m->at.n && low->pivot_factor[i * low->rank + i] > 0 &&
               low->inner_factor[i * low->rank + i] > 0;
    return fits;
}

/* --- predicting ------------------------------------------------------------------------------ */

cr_status cri_gp_lowrank_open(cr_scratch *s, const cri_gp_posterior *m, size_t rows,
                              cri_gp_lowrank_workspace *out)
{
    out->C = cr_scratch_matrix(s, rows, m->low.rank);
    return cri_gp_data_pick(s, &m->at, m->low.pivots, m->low.rank, &out->at);
}

typedef struct predict_work {
    const cri_gp_posterior    *m;
    const cri_gp_lowrank_rows *rows;
    double                    *C, *R; /* [count x rank], [count x q] */
} predict_work;

/* Rows [count x r] := their solutions with L: row L^-T. */
static void solve_rows(const double *L, size_t r, double *C, size_t count)
{
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)count, (int)r,
                1, L, (int)r, C, (int)r);
}

/* t^2 = |A^-1 (h - H^T C^-1 F phi)|^2; z [q] is workspace. */
static double square_of_terms(const cri_gp_posterior *m, const double *h, const double *phi,
                              double *z)
{
    size_t q = m->q, r = m->low.rank;
    double sum = 0;
    for (size_t j = 0; j < q; j++) {
        z[j] = h[j] - cr_dot(m->low.pivot_terms + j * r, phi, r);
        for (size_t l = 0; l < j; l++) z[j] -= m->A[j * q + l] * z[l];
        z[j] /= m->A[j * q + j];
        sum += z[j] * z[j];
    }
    return sum;
}

/* kappa = |phi / diag L|. */
static double roughness(const cri_gp_lowrank *low, const double *phi)
{
    double square = 0;
    for (size_t j = 0; j < low->rank; j++) {
        double ratio = phi[j] / low->pivot_factor[j * low->rank + j];
        square += ratio * ratio;
    }
    return sqrt(square);
}

/* The formulas at the top of the header, of some rows. */
static void predict_strip(void *arg, size_t b)
{
    const predict_work        *w = arg;
    const cri_gp_posterior    *m = w->m;
    const cri_gp_lowrank      *low = &m->low;
    const cri_gp_lowrank_rows *o = w->rows;
    cri_range                  g = cri_block_range(o->count, STRIP, b);
    size_t                     r = low->rank, q = m->q, count = g.end - g.begin;
    double                     rho = low->residual, eps[STRIP], t2[STRIP], u[STRIP];

    solve_rows(low->pivot_factor, r, w->C + g.begin * r, count);
    for (size_t i = g.begin, a = 0; i < g.end; i++, a++) {
        const double *phi = w->C + i * r, *h = o->H + i * q;
        double        prior = o->prior[i], kappa = roughness(low, phi), lost = kappa * sqrt(prior);
        eps[a] = prior - cr_dot(phi, phi, r);
        double at_most = sqrt(fabs(eps[a]) + DBL_EPSILON * (4 + 2 * kappa) * prior);
        u[a] = sqrt(rho) * at_most + low->rounding * lost;
        o->mean[i] = cr_dot(phi, low->pivot_weights, r);
        for (size_t j = 0; j < q; j++) o->mean[i] += h[j] * m->beta[j];
        o->mean_error[i] = low->pull * at_most + low->weight_rounding * lost;
        t2[a] = o->variance ? square_of_terms(m, h, phi, w->R + i * q) : 0;
    }
    if (!o->variance) return;
    solve_rows(low->inner_factor, r, w->C + g.begin * r, count);
    for (size_t i = g.begin, a = 0; i < g.end; i++, a++) {
        const double *psi = w->C + i * r;
        double        s2 = cr_dot(psi, psi, r);
        o->variance[i] = fmax(eps[a] + s2, 0) + t2[a];
        o->variance_error[i] =
            rho * s2 + 2 * u[a] * (sqrt(s2) * (1 + rho) + sqrt(t2[a])) + 2 * u[a] * u[a];
    }
}

cr_status cri_gp_lowrank_predict(cr_ctx *cx, const cri_gp_posterior *m, const cr_kernel_input *in,
                                 cri_gp_lowrank_workspace  *workspace,
                                 const cri_gp_lowrank_rows *rows)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cr_kernel_input at = cri_gp_inputs(&workspace->at);
    predict_work    w = { m, rows, workspace->C, cr_scratch_matrix(&s, rows->count, m->q) };

    cri_blas_enter();
    CR_TRY(s.status);
    CR_TRY(
        cr_kernel_cross(cx, m->kernel, in, &at, cr_mat_of(workspace->C, rows->count, m->low.rank)));
    CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(rows->count, STRIP), predict_strip, &w));
done:
    cri_blas_leave();
    cr_scratch_end(&s);
    return st;
}

bool cri_gp_lowrank_holds(const cri_gp_posterior *m, const cri_gp_lowrank_rows *rows, size_t i)
{
    double prior = rows->prior[i], noise = m->low.least_noise;
    if (!(rows->mean_error[i] <= CRI_GP_LOWRANK_ERROR * sqrt(prior + noise))) return false;
    if (!rows->variance) return true;
    double allowed = CRI_GP_LOWRANK_ERROR * (rows->variance[i] + noise);
    return rows->variance_error[i] <= fmax(allowed, CRI_GP_LOWRANK_DIGITS * prior);
}

cr_status cri_gp_lowrank_moments(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                                 double *mean, double *opt_variance)
{
    cr_status                st = CR_OK;
    cr_scratch               s = cr_scratch_begin(cx);
    size_t                   most = rows->n < MOST_BLOCK ? rows->n : MOST_BLOCK, others = 0;
    size_t                  *index = cr_scratch_index(&s, rows->n);
    double                  *errors = cr_scratch_f64(&s, 2 * most);
    cri_gp_lowrank_workspace workspace;
    cri_gp_block             b;

    if (!opt_variance && m->low.rank * m->low.rank > VALUE * m->at.n) {
        st = cri_gp_dense_moments(cx, m, rows, mean, NULL);
        goto done;
    }
    CR_TRY(cri_gp_block_new(&s, m, rows->p, most, false, &b));
    CR_TRY(cri_gp_lowrank_open(&s, m, most, &workspace));
    for (size_t k = 0; k < cri_block_count(rows->n, MOST_BLOCK); k++) {
        cri_range           r = cri_block_range(rows->n, MOST_BLOCK, k);
        cri_gp_lowrank_rows found = { .count = r.end - r.begin,
                                      .H = b.H,
                                      .prior = b.prior,
                                      .mean = mean + r.begin,
                                      .mean_error = errors,
                                      .variance = opt_variance ? opt_variance + r.begin : NULL,
                                      .variance_error = errors + most };
        CR_TRY(cri_gp_block_read(cx, m, rows, NULL, r.begin, r.end, &b));
        CR_TRY(cr_kernel_diagonal(cx, m->kernel, &b.in, false, b.prior));
        CR_TRY(cri_gp_lowrank_predict(cx, m, &b.in, &workspace, &found));
        for (size_t i = 0; i < b.count; i++)
            if (!cri_gp_lowrank_holds(m, &found, i)) index[others++] = r.begin + i;
    }
    if (others)
        CR_TRY(
            cri_gp_some_moments(cx, m, rows, index, others, m->kernel, true, mean, opt_variance));
done:
    cr_scratch_end(&s);
    return st;
}
