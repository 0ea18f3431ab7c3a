/* ridge_sparse.c -- ridge on sparse rows: in the dual, or by products with the rows alone. */
#include "ridge_sparse.h"
#include "sparse_dual.h"
#include "sparse_solve.h"
#include "base/parallel.h"
#include "math/dense/chol.h"

#include <math.h>
#include <string.h>

/* Centre, scale, offset and coefficients b of the standardised terms into a predictor without F. */
static cr_status set_fit(cr_ctx *cx, const cri_sparse_terms *z, const double *b, bool intercept,
                         cri_predictor *fit)
{
    cr_status st = cri_predictor_new(cx, z->p, 0, fit);
    if (st != CR_OK) return st;
    memcpy(fit->centre, z->centre, z->p * sizeof(double));
    memcpy(fit->scale, z->scale, z->p * sizeof(double));
    cri_predictor_set_coef(fit, b, z->offset);
    fit->has_intercept = intercept;
    return CR_OK;
}

bool cri_ridge_set_noise(double weight, double df, double rss, double lambda, cri_predictor *fit)
{
    double left = weight - df, rows = weight - fit->has_intercept;
    bool   prior = left < 1 && lambda > 0 && rows > 0;
    for (size_t j = 0; prior && j < fit->p; j++)
        rss += lambda * fit->coef[j] * fit->scale[j] * (fit->coef[j] * fit->scale[j]);
    if (prior) left = rows;
    fit->sigma = left > 0 ? sqrt(rss / left) : NAN; /* one row tells nothing of the noise */
    fit->dof = left > 0 ? left : INFINITY;
    return prior;
}

/* --- the dual -------------------------------------------------------------------------------- */

cr_status cri_kept_rows_new(cr_ctx *cx, const cri_sparse_terms *z, const double *L, double lambda,
                            cri_kept_rows *out)
{
    size_t        n = z->n, at = 0, end;
    cri_kept_rows k = {
        .n = n, .starts = n + 1, .entries = cri_sparse_entries(z->X), .lambda = lambda
    };
    cr_status st = cri_record_allocate(cx, cri_kept_rows_record, &k);
    if (st != CR_OK) {
        cri_kept_rows_free(cx, &k);
        return st;
    }
    for (size_t i = 0; i < n; i++) {
        k.root[i] = z->root ? z->root[i] : 1;
        for (size_t e = cri_sparse_row(z->X, i, &end); e < end; e++) {
            size_t j = z->X->column[e];
            k.column[at] = j;
            k.value[at++] =
                z->square[j] > 0 ? z->X->value[e] : z->centre[j]; /* constant: tells nothing */
        }
        k.start[i + 1] = at;
    }
    memcpy(k.L, L, n * n * sizeof(double));
    *out = k;
    return CR_OK;
}

typedef struct sd_work {
    const cri_sparse_terms *z;
    const cri_sparse       *columns; /* X' */
    double                 *B;       /* [n x width] columns of Z */
    size_t                  begin, width;
} sd_work;

static void fill_column(void *arg, size_t a)
{
    const sd_work          *w = arg;
    const cri_sparse_terms *z = w->z;
    size_t                  j = w->begin + a, end;
    double                  s = z->scale[j], empty = -z->centre[j] / s;
    for (size_t i = 0; i < z->n; i++)
        w->B[i * w->width + a] = z->square[j] > 0 ? empty * (z->root ? z->root[i] : 1) : 0;
    for (size_t e = cri_sparse_row(w->columns, j, &end); e < end && z->square[j] > 0; e++) {
        size_t i = w->columns->column[e];
        w->B[i * w->width + a] =
            (w->columns->value[e] - z->centre[j]) / s * (z->root ? z->root[i] : 1);
    }
}

/* sd of coefficient j = sigma / scale sqrt((1 - |L^-1 z_j|^2) / lambda), O(n^2 p). */
static cr_status set_sds(cr_ctx *cx, const cri_sparse_terms *z, const cri_kept_rows *k,
                         cri_predictor *fit)
{
    enum { BLOCK = 128 };
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = z->n;
    cri_sparse_copy columns = { 0 };
    sd_work         w = { .z = z, .B = cr_scratch_matrix(&s, n, BLOCK) };

    CR_TRY(s.status);
    CR_TRY(cri_sparse_transpose(cx, z->X, &columns));
    w.columns = &columns.view;
    for (w.begin = 0; w.begin < z->p; w.begin += BLOCK) {
        w.width = z->p - w.begin < BLOCK ? z->p - w.begin : BLOCK;
        CR_TRY(cri_parallel_for(cx, NULL, w.width, fill_column, &w));
        CR_TRY(cr_chol_forward(cx, cr_cmat_of(k->L, n, n), cr_mat_of(w.B, n, w.width)));
        for (size_t a = 0; a < w.width; a++) {
            double told = 0;
            for (size_t i = 0; i < n; i++) told += w.B[i * w.width + a] * w.B[i * w.width + a];
            fit->coef_sd[w.begin + a] =
                fit->sigma * sqrt(fmax(1 - told, 0) / k->lambda) / z->scale[w.begin + a];
        }
    }
done:
    cri_sparse_free(cx, &columns);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_kept_rows_set_intercept_sd(cr_ctx *cx, const cri_kept_rows *k, cri_predictor *fit)
{
    size_t        start[2] = { 0, 0 };
    double        leverage, scale, dof;
    cri_sparse    X = { .n = 1, .p = fit->p, .start = start, .plain = true };
    cri_rows      rows = { .n = 1, .p = fit->p, .sparse = &X };
    cr_prediction at = { .n = 1, .leverage = &leverage, .scale = &scale, .dof = &dof };
    cr_status     st = cri_kept_rows_spread(cx, k, fit, &rows, &at);
    if (st == CR_OK) fit->intercept_sd = fit->has_intercept ? fit->sigma * sqrt(leverage) : NAN;
    return st;
}

/* What K^-1 and a = K^-1 t tell: the residual is lambda a, and row i has the leverage
 * w_i / n + 1 - lambda K^-1_ii. */
static void set_facts(const cri_sparse_terms *z, const double *inverse, const double *a,
                      double lambda, bool intercept, cri_ridge_facts *f)
{
    f->df = intercept;
    for (size_t i = 0; i < z->n; i++) {
        double told = 1 - lambda * inverse[i * z->n + i], e = lambda * a[i];
        double h = told + (intercept ? (z->w ? z->w[i] : 1) / z->weight : 0);
        f->df += told;
        f->rss += e * e;
        if (z->w && z->w[i] == 0) continue;
        f->loocv += h < 1 - 1e-10 ? e / (1 - h) * (e / (1 - h)) : INFINITY;
    }
    f->loocv /= z->weight;
    f->weight = z->weight;
    f->tt = z->tt;
    f->converged = true;
}

cr_status cri_ridge_dual_sparse(cr_ctx *cx, const cri_ridge_problem *o, cri_predictor *out_fit,
                                cri_kept_rows *out_kept, cri_ridge_facts *out_facts)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    size_t           n = o->rows->n, p = o->rows->p;
    double          *L = cr_scratch_matrix(&s, n, n), *inverse = cr_scratch_matrix(&s, n, n);
    double          *a = cr_scratch_f64(&s, n), *b = cr_scratch_f64(&s, p);
    double          *workspace = cr_scratch_f64(&s, n);
    cri_sparse_terms z;
    cri_predictor    fit = { 0 };
    cri_kept_rows    kept = { 0 };
    cri_ridge_facts  facts = { 0 };

    CR_TRY(s.status);
    CR_TRY(cri_sparse_terms_new(cx, &s, o->rows, o->intercept, o->standardise, &z));
    CR_TRY(cri_sparse_terms_outer(cx, &z, L));
    for (size_t i = 0; i < n; i++) L[i * n + i] += o->lambda;
    CR_TRY(cr_chol(cx, cr_mat_of(L, n, n)));
    memcpy(a, z.t, n * sizeof(double));
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(L, n, n), cr_mat_of(a, n, 1)));
    CR_TRY(cr_chol_inverse(cx, cr_cmat_of(L, n, n), cr_mat_of(inverse, n, n)));
    CR_TRY(cri_sparse_terms_transpose(cx, &z, a, workspace, b));
    set_facts(&z, inverse, a, o->lambda, o->intercept, &facts);
    CR_TRY(set_fit(cx, &z, b, o->intercept, &fit));
    fit.mean_share = o->intercept ? 1 / z.weight : 0;
    facts.by_prior = cri_ridge_set_noise(facts.weight, facts.df, facts.rss, o->lambda, &fit);
    CR_TRY(cri_kept_rows_new(cx, &z, L, o->lambda, &kept));
    if ((double)n * (double)n * (double)p <= 4e10) CR_TRY(set_sds(cx, &z, &kept, &fit));
    CR_TRY(cri_kept_rows_set_intercept_sd(cx, &kept, &fit));
    *out_fit = fit, *out_kept = kept, *out_facts = facts;
    fit = (cri_predictor){ 0 }, kept = (cri_kept_rows){ 0 };
done:
    cri_predictor_free(cx, &fit);
    cri_kept_rows_free(cx, &kept);
    cr_scratch_end(&s);
    return st;
}

/* --- products alone -------------------------------------------------------------------------- */

enum { MOST_STEPS = 20000 };

/* Conjugate gradients where they pay and rounding leaves them enough digits: fewer rows than
 * columns, and K of a condition, here bounded from above, that is not out of all bounds. */
static bool takes_dual(const cri_sparse_terms *z, double lambda)
{
    double trace = 0;
    for (size_t j = 0; j < z->p; j++) trace += z->square[j];
    return z->n < z->p && trace < 1e7 * lambda;
}

/* b [p], and the degrees of freedom, by conjugate gradients in the dual. */
static cr_status solve_cg(cr_ctx *cx, const cri_ridge_problem *o, const cri_sparse_terms *z,
                          double *b, cri_ridge_facts *f)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cri_sparse_dual d = { 0 };

    CR_TRY(cri_sparse_dual_open(cx, &s, z, o->lambda, &d));
    CR_TRY(cri_sparse_dual_solve(cx, &d, MOST_STEPS, b, &f->iterations, &f->converged));
    if (f->converged || o->products == CRI_PRODUCTS_CG)
        CR_TRY(cri_sparse_trace(cx, z, o->intercept, o->seed, cri_sparse_dual_measure, &d, &f->df,
                                &f->df_se));
    f->cg = true;
done:
    cri_sparse_dual_close(cx, &d);
    cr_scratch_end(&s);
    return st;
}

/* The same by LSQR, from the b at hand; *out_singular where lambda is 0 and b is not unique. */
static cr_status solve_lsqr(cr_ctx *cx, const cri_ridge_problem *o, cri_sparse_terms *z, double *b,
                            cri_ridge_facts *f, bool *out_singular)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    double          *d = cr_scratch_f64(&s, z->p);
    cri_sparse_copy  columns = { 0 };
    cri_sparse_ridge ridge = { z, o->lambda };
    cr_lsqr_report   report = { 0 };

    CR_TRY(s.status);
    CR_TRY(cri_sparse_transpose(cx, z->X, &columns));
    z->columns = &columns.view;
    CR_TRY(cri_sparse_solve(cx, z, z->t, o->lambda, 2e-14, MOST_STEPS, b, &report));
    if (o->lambda == 0) CR_TRY(cri_sparse_null(cx, z, b, MOST_STEPS, o->seed, d, out_singular));
    if (*out_singular) goto done;
    CR_TRY(cri_sparse_trace(cx, z, o->intercept, o->seed, cri_sparse_bidiagonal, &ridge, &f->df,
                            &f->df_se));
    f->cg = false;
    f->iterations += report.iterations;
    f->converged = report.converged;
done:
    z->columns = NULL;
    cri_sparse_free(cx, &columns);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_ridge_products(cr_ctx *cx, const cri_ridge_problem *o, cri_predictor *out_fit,
                             cri_ridge_facts *out_facts, bool *out_singular)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    double          *b = cr_scratch_bytes(&s, o->rows->p, sizeof *b);
    cri_sparse_terms z;
    cri_predictor    fit = { 0 };
    cri_ridge_facts  f = { 0 };
    bool             singular = false;

    CR_TRY(s.status);
    CR_TRY(cri_sparse_terms_new(cx, &s, o->rows, o->intercept, o->standardise, &z));
    bool dual = o->products == CRI_PRODUCTS_CG ||
                (o->products == CRI_PRODUCTS_AUTO && takes_dual(&z, o->lambda));
    if (dual) CR_TRY(solve_cg(cx, o, &z, b, &f));
    if (!dual || (!f.converged && o->products == CRI_PRODUCTS_AUTO))
        CR_TRY(solve_lsqr(cx, o, &z, b, &f, &singular));
    *out_singular = singular;
    if (singular) goto done;
    CR_TRY(cri_sparse_rss(cx, &z, b, &f.rss));
    f.df += o->intercept;
    f.loocv = NAN;
    f.weight = z.weight;
    f.tt = z.tt;
    CR_TRY(set_fit(cx, &z, b, o->intercept, &fit));
    fit.mean_share = f.df / f.weight;
    f.by_prior = cri_ridge_set_noise(f.weight, f.df, f.rss, o->lambda, &fit);
    if (f.by_prior) fit.sigma = NAN; /* the mean leverage is not that of a new row then */
    *out_fit = fit, *out_facts = f;
    fit = (cri_predictor){ 0 };
done:
    cri_predictor_free(cx, &fit);
    cr_scratch_end(&s);
    return st;
}
