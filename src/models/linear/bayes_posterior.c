/* bayes_posterior.c -- the posterior of the coefficients once the scales are known: from moments,
 * from the rows in the dual, or with the levels of one category eliminated. */
#include "bayes_linear.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"
#include "spectrum.h"

#include <math.h>
#include <string.h>

/* Of one lambda: w = the mean in the basis V, and F. */
static void set_posterior(cri_predictor *fit, const double *d, const double *V, double lambda,
                          double *u)
{
    size_t p = fit->p;
    for (size_t k = 0; k < p; k++) {
        double precision = d[k] + lambda;
        u[k] /= precision;
        for (size_t j = 0; j < p; j++) fit->factor[k * p + j] = V[j * p + k] / sqrt(precision);
    }
}

/* Of the average: F = L' V' with L L' the scale^2 of w in the basis V over that of the noise. */
static cr_status set_average(cr_ctx *cx, const cri_scales *q, const double *d, const double *V,
                             double *u, cri_predictor *fit)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = fit->p;
    double    *M = cr_scratch_matrix(&s, p, q->nodes), *C = cr_scratch_matrix(&s, p, p);

    CR_TRY(s.status);
    cri_scales_spread(q, p, d, u, M);
    CR_TRY(cr_syrk(cx, 1 / q->sigma2, cr_cmat_of(M, p, q->nodes), CR_PLAIN, 0, cr_mat_of(C, p, p)));
    for (size_t k = 0; k < p; k++) {
        C[k * p + k] += cri_scales_square(q, d[k], false) / q->sigma2;
        u[k] = cri_scales_mean(q, d[k], u[k]);
    }
    CR_TRY(cr_chol(cx, cr_mat_of(C, p, p)));
    for (size_t k = 0; k < p; k++)
        for (size_t j = k + 1; j < p; j++) C[k * p + j] = 0;
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(C, p, p), CR_TRANSPOSED, cr_cmat_of(V, p, p), CR_TRANSPOSED, 0,
                   cr_mat_of(fit->factor, p, p)));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_bayes_condition(cr_ctx *cx, const cri_bayes_scales *scales, const double *d,
                              const double *V, double *u, cri_predictor *fit, double *out_w)
{
    size_t    p = fit->p;
    cr_status st = CR_OK;
    if (scales->average.nodes > 0)
        st = set_average(cx, &scales->average, d, V, u, fit);
    else
        set_posterior(fit, d, V, scales->lambda, u);
    return st == CR_OK ? cr_gemv(cx, 1, cr_cmat_of(V, p, p), CR_PLAIN, u, 0, out_w) : st;
}

/* --- from the moments ------------------------------------------------------------------------ */

cr_status cri_bayes_solve(cr_ctx *cx, const cr_design *design, const void *options, void *state,
                          cr_report *report)
{
    cr_status                st = CR_OK;
    cr_scratch               sc = cr_scratch_begin(cx);
    const cri_bayes_options *o = options;
    cri_bayes               *m = state;
    size_t                   p = m->moments.p;
    double                  *V = cr_scratch_matrix(&sc, p, p), *d = cr_scratch_f64(&sc, p);
    double                  *u = cr_scratch_f64(&sc, p), *w = cr_scratch_f64(&sc, p);
    cri_gram                 g = { 0 };
    cri_bayes_scales         scales = { 0 };

    CR_TRY(sc.status);
    CR_TRY(cri_gram_new(cx, &m->moments, o->intercept, design->standardised, &g));
    CR_TRY(cri_predictor_new(cx, p, p, &m->fit));
    memcpy(m->fit.centre, g.centre, p * sizeof(double));
    memcpy(m->fit.scale, g.scale, p * sizeof(double));
    CR_TRY(cri_gram_spectrum(cx, &g, d, V));
    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(V, p, p), CR_TRANSPOSED, g.g, 0, u));

    cri_shrinkage s = { .p = p, .r = p, .d = d, .u = u, .tt = g.tt, .top = p ? d[p - 1] : 0 };
    double        left = g.tt;
    for (size_t k = 0; k < p; k++) {
        if (d[k] > 0)
            left -= u[k] * u[k] / d[k];
        else
            u[k] = 0; /* no data in this direction */
    }
    CR_TRY(
        cri_bayes_learn(cx, &sc, m, &s, left, o, g.weight, design->target_scale, report, &scales));
    CR_TRY(cri_bayes_condition(cx, &scales, d, V, u, &m->fit, w));
    cri_predictor_set_coef(&m->fit, w, g.offset);
    cri_predictor_set_sds(&m->fit);
    if (!cri_bayes_is_flat(o)) m->fit.mean_share = 0; /* predictions take it as known */
done:
    cri_gram_free(cx, &g);
    cr_scratch_end(&sc);
    return st;
}

/* --- in the dual ----------------------------------------------------------------------------- */

/* The average in the basis of the dual, as dual.h has it: scale^2 of w over that of the noise is
 *   1/l0 (I - Z' U B U' Z),   B = l0 (diag(mean of R/n / (l (d + l))) - M M').
 * M M' is what the means of the nodes add; where it would leave B without a factor it is left out. */
static cr_status average_dual(cr_ctx *cx, cr_scratch *arena, const cri_scales *q, cri_dual *dual,
                              double *out_lambda)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = dual->n;
    double     lambda = q->sigma2 / cri_scales_square(q, 0, false), by = lambda / q->sigma2;
    double    *M = cr_scratch_matrix(&s, n, q->nodes), *e = cr_scratch_f64(&s, n);
    double    *mean = cr_scratch_f64(arena, n), *B = cr_scratch_matrix(arena, n, n);

    CR_TRY(s.status);
    CR_TRY(arena->status);
    cri_scales_spread(q, n, dual->d, dual->c, M);
    CR_TRY(cr_syrk(cx, -by, cr_cmat_of(M, n, q->nodes), CR_PLAIN, 0, cr_mat_of(B, n, n)));
    for (size_t k = 0; k < n; k++) {
        mean[k] = cri_scales_mean(q, dual->d[k], dual->c[k]);
        e[k] = dual->d[k] > 0 ? by * cri_scales_square(q, dual->d[k], true) : 1 / lambda;
        B[k * n + k] += e[k];
    }
    st = cr_chol(cx, cr_mat_of(B, n, n));
    for (size_t k = 0; st == CR_OK && k < n; k++)
        for (size_t j = k + 1; j < n; j++) B[k * n + j] = 0;
    if (st == CR_ENUMERIC) {
        st = CR_OK;
        memset(B, 0, n * n * sizeof *B);
        for (size_t k = 0; k < n; k++) B[k * n + k] = sqrt(e[k]);
    }
    CR_TRY(st);
    dual->mean = mean;
    dual->inner = B;
    *out_lambda = lambda;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_bayes_solve_dual(cr_ctx *cx, cri_bayes *m, const cri_rows *rows,
                               const cri_bayes_options *o, cr_report *report)
{
    cr_status        st = CR_OK;
    cr_scratch       sc = cr_scratch_begin(cx);
    const cr_design *design = rows->design;
    double          *u = cr_scratch_f64(&sc, rows->n);
    cri_dual         q;
    cri_bayes_scales scales = { 0 };

    CR_TRY(sc.status);
    m->dual = true;
    CR_TRY(cri_dual_new(cx, &sc, rows, o->intercept, design->standardised, &m->fit, &q));
    for (size_t k = 0; k < q.n; k++) u[k] = sqrt(q.d[k]) * q.c[k];
    /* no more than p directions, of which those of the largest d are listed */
    size_t        r = q.n < q.p ? q.n : q.p, from = q.n - r;
    cri_shrinkage s = { .p = q.p, .r = r, .d = q.d + from, .u = u + from, .tt = q.tt };
    s.top = r ? s.d[r - 1] : 0;
    CR_TRY(cri_bayes_learn(cx, &sc, m, &s, q.left, o, q.weight, design->target_scale, report,
                           &scales));
    if (m->averaged) CR_TRY(average_dual(cx, &sc, &scales.average, &q, &scales.lambda));
    CR_TRY(cri_dual_solve(cx, &q, scales.lambda, &m->fit, &m->kept));
    CR_TRY(cri_dual_set_sds(cx, &q, &m->kept, &m->fit));
    if (!cri_bayes_is_flat(o)) m->fit.mean_share = 0;
done:
    cr_scratch_end(&sc);
    return st;
}

/* --- by the levels of one category ----------------------------------------------------------- */

cr_status cri_bayes_solve_levels(cr_ctx *cx, cri_bayes *m, const cri_rows *rows,
                                 const cri_bayes_options *o, cr_report *report)
{
    cr_status        st = CR_OK;
    cr_scratch       sc = cr_scratch_begin(cx);
    const cr_design *design = rows->design;
    cri_shrinkage    s = { .p = rows->p, .r = rows->p, .x = cr_scratch_f64(&sc, rows->p + 1) };
    cri_bayes_scales scales = { 0 };
    cri_rows         view = { 0 };
    cri_sparse_terms z;
    cri_bordered     b;
    cri_shrunk       end;

    CR_TRY(sc.status);
    CR_TRY(cri_bordered_open(cx, &sc, rows, o->intercept, &view, &z, &b));
    s.levels = &b;
    s.tt = z.tt;
    for (size_t j = 0; j < s.p; j++) {
        s.top = fmax(s.top, z.square[j]);
        s.signal += z.square[j] / z.weight;
    }
    cri_bayes known = *m; /* the predictor is made once lambda is known */
    CR_TRY(cri_bayes_learn(cx, &sc, &known, &s, 0, o, z.weight, design->target_scale, report,
                           &scales));
    CR_TRY(cri_shrunk_levels(cx, &s, scales.lambda, &end));
    CR_TRY(cri_bordered_predictor(cx, &b, s.x, &m->fit));
    double sigma = known.fit.sigma, dof = known.fit.dof;
    known.fit = m->fit;
    *m = known;
    m->fit.sigma = sigma;
    m->fit.dof = dof;
    cri_predictor_set_sds(&m->fit);
    /* predictions take the intercept as known, which among the equations it is not */
    m->fit.mean_share = o->intercept && !cri_bayes_is_flat(o) ? -1 / z.weight : 0;
done:
    cri_rows_close_entries(cx, &view);
    cr_scratch_end(&sc);
    return st;
}
