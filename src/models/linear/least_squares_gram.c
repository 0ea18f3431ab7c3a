/* least_squares_gram.c -- least squares from cross-products, for many rows.
 * The centred, scaled columns keep the squared condition number in check; the correction step takes
 * the residuals from the rows themselves (Bjorck 1987: corrected semi-normal equations), so
 * well-conditioned problems come out as accurate as by QR.  O(n p^2), two passes over the rows,
 * O(p^2) memory. */
#include "least_squares.h"
#include "models/common/moments.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"
#include "math/dense/chol.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* Reciprocal condition of G below which QR is called for: about 1e4 for the columns themselves. */
static const double ENOUGH = 1e-8;

enum { BLOCK = 64 }; /* rows at a time: few enough to stay in the cache */

typedef struct residual_work {
    const cri_rows *rows;
    const cri_gram *g;
    const double   *slope; /* [p] coefficients of x - centre */
} residual_work;

enum { TOTALS = 4 }; /* sums beside those of the terms */

/* acc [p + TOTALS]: sum of w (x - centre) e for each term, of w e, of w e^2, with
 * e = y - offset - (x - centre) . slope; and of w (y - offset), w (y - offset)^2.  workspace: the
 * rows of the block [BLOCK x p], and e. */
static void add_residuals(void *arg, cri_range range, double *acc, double *workspace)
{
    const residual_work *r = arg;
    const cri_gram      *g = r->g;
    size_t               n = range.end - range.begin, p = g->p;
    double              *X = workspace, *e = workspace + BLOCK * p;

    cri_rows_fill(r->rows, range.begin, range.end, X, p);
    for (size_t i = 0; i < n; i++) {
        double w = r->rows->w ? r->rows->w[range.begin + i] : 1;
        for (size_t j = 0; j < p; j++) X[i * p + j] -= g->centre[j];
        e[i] = r->rows->y[range.begin + i] - g->offset;
        acc[p + 2] += w * e[i];
        acc[p + 3] += w * e[i] * e[i];
    }
    if (p > 0)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)n, (int)p, -1, X, (int)p, r->slope, 1, 1, e,
                    1);
    for (size_t i = 0; i < n; i++) {
        double w = r->rows->w ? r->rows->w[range.begin + i] : 1;
        acc[p + 1] += w * e[i] * e[i];
        e[i] *= w;
        acc[p] += e[i];
    }
    if (p > 0)
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)n, (int)p, 1, X, (int)p, e, 1, 1, acc, 1);
}

/* sums [p + TOTALS] as in add_residuals, over all rows, for coefficients b of the scaled terms. */
static cr_status sum_residuals(cr_ctx *cx, const cri_rows *rows, const cri_gram *g, const double *b,
                               double *slope, double *sums)
{
    size_t        p = g->p;
    residual_work w = { rows, g, slope };
    for (size_t j = 0; j < p; j++) slope[j] = b[j] / g->scale[j];
    cri_blas_enter();
    cr_status st = cri_parallel_sum_in(cx, "correcting", rows->n, BLOCK, p + TOTALS,
                                       BLOCK * (p + 1), add_residuals, &w, sums);
    cri_blas_leave();
    for (size_t j = 0; j < p && st == CR_OK; j++) sums[j] /= g->scale[j];
    return st;
}

static double one_norm(const double *G, size_t p)
{
    double norm = 0;
    for (size_t i = 0; i < p; i++) {
        double sum = 0;
        for (size_t j = 0; j < p; j++) sum += fabs(G[i * p + j]);
        norm = fmax(norm, sum);
    }
    return norm;
}

/* L [p x p] over G's copy; false in *good when G is not safely positive definite. */
static cr_status factor(cr_ctx *cx, const cri_gram *g, double *L, double *rcond, bool *good)
{
    size_t p = g->p;
    memcpy(L, g->G, p * p * sizeof(double));
    cr_status st = cr_chol(cx, cr_mat_of(L, p, p));
    *good = st == CR_OK;
    if (st == CR_ENUMERIC) return CR_OK;
    if (st == CR_OK) st = cr_chol_rcond(cx, cr_cmat_of(L, p, p), one_norm(g->G, p), rcond);
    *good = st == CR_OK && *rcond > ENOUGH;
    return st;
}

/* F = L^-1. */
static cr_status set_factor(cr_ctx *cx, const double *L, cri_predictor *fit)
{
    size_t p = fit->p;
    for (size_t i = 0; i < p; i++) fit->factor[i * p + i] = 1;
    return cr_chol_forward(cx, cr_cmat_of(L, p, p), cr_mat_of(fit->factor, p, p));
}

/* The solution after its correction. */
typedef struct answer {
    double *b;     /* [p] of the scaled terms                           */
    double  shift; /* of the mean; 0 without intercept                  */
    double  rss, tss;
    double  correction; /* the largest change of b, relative to the largest b */
} answer;

/* Solves by the factor, and once more for what the residuals of the rows leave. */
static cr_status solve_and_correct(cr_ctx *cx, const cri_rows *rows, bool intercept,
                                   const cri_gram *g, const double *L, answer *a)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = g->p;
    cr_cmat    factor_L = cr_cmat_of(L, p, p);
    double    *sums = cr_scratch_f64(&s, p + TOTALS), *delta = cr_scratch_f64(&s, p);
    double     change = 0, size = 0;

    CR_TRY(s.status);
    memcpy(a->b, g->g, p * sizeof(double));
    CR_TRY(cr_chol_solve(cx, factor_L, cr_mat_of(a->b, p, 1)));
    CR_TRY(sum_residuals(cx, rows, g, a->b, delta, sums));
    memcpy(delta, sums, p * sizeof(double));
    CR_TRY(cr_chol_solve(cx, factor_L, cr_mat_of(delta, p, 1)));
    a->shift = intercept ? sums[p] / g->weight : 0;
    double gain = a->shift * sums[p];
    for (size_t j = 0; j < p; j++) {
        gain += delta[j] * sums[j]; /* what the step takes off the residual sum of squares */
        a->b[j] += delta[j];
        change = fmax(change, fabs(delta[j]));
        size = fmax(size, fabs(a->b[j]));
    }
    a->rss = fmax(sums[p + 1] - gain, 0);
    /* about the mean itself, not about the mean as it was rounded */
    a->tss = sums[p + 3] - (intercept ? sums[p + 2] * sums[p + 2] / g->weight : 0);
    a->correction = size > 0 ? change / size : 0;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_least_squares_gram(cr_ctx *cx, const cri_rows *rows, bool intercept,
                                 cri_predictor *out_fit, cri_least_squares *out_facts,
                                 cri_moments *opt_moments, bool *out_good)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        p = rows->p;
    double       *L = cr_scratch_matrix(&s, p, p), rcond = 1;
    answer        a = { .b = cr_scratch_f64(&s, p) };
    cri_moments   m = { 0 };
    cri_gram      g = { 0 };
    cri_predictor fit = { 0 };
    bool          good = false;

    CR_TRY(s.status);
    CR_TRY(cri_moments_of_rows(cx, rows, &m));
    *out_good = false;
    st = cri_gram_new(cx, &m, intercept, true, &g);
    if (st == CR_ENUMERIC) { /* squares out of range: QR has none */
        st = CR_OK;
        goto done;
    }
    CR_TRY(st);
    CR_TRY(factor(cx, &g, L, &rcond, &good));
    *out_good = good;
    if (!good) goto done;

    CR_TRY(solve_and_correct(cx, rows, intercept, &g, L, &a));
    CR_TRY(cri_predictor_new(cx, p, p, &fit));
    memcpy(fit.centre, g.centre, p * sizeof(double));
    memcpy(fit.scale, g.scale, p * sizeof(double));
    cri_predictor_set_coef(&fit, a.b, g.offset + a.shift);
    CR_TRY(set_factor(cx, L, &fit));
    cri_predictor_set_noise(&fit, intercept, g.weight, p, a.rss);
    *out_facts = (cri_least_squares){ .rank = p,
                                      .gram = true,
                                      .weight = g.weight,
                                      .rss = a.rss,
                                      .tss = a.tss,
                                      .condition = 1 / sqrt(rcond),
                                      .correction = a.correction,
                                      .refinements = 1 };
    *out_fit = fit;
    fit = (cri_predictor){ 0 };
    if (opt_moments) *opt_moments = m, m = (cri_moments){ 0 };
done:
    cri_predictor_free(cx, &fit);
    cri_gram_free(cx, &g);
    cri_moments_free(cx, &m);
    cr_scratch_end(&s);
    return st;
}
