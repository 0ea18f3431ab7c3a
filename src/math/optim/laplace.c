/* laplace.c -- mode, curvature, covariance, normaliser. */
#include "laplace.h"
#include "math/constants.h"
#include "math/dense/chol.h"
#include "base/scratch.h"
#include "differences.h"

#include <math.h>
#include <string.h>

/* --- minus the log density, for the optimisers ----------------------------------------------- */

static cr_status negated(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    const cr_log_density *p = user;
    double                f = NAN;
    cr_status             st = p->log_density(p->user, x, n, &f, opt_g);
    if (st != CR_OK) return st;
    *out_f = -f;
    for (size_t i = 0; opt_g && i < n; i++) opt_g[i] = -opt_g[i];
    return CR_OK;
}

static cr_status negated_hessian(void *user, const double *x, size_t n, double *out_h)
{
    const cr_log_density *p = user;
    cr_status             st = p->hessian(p->user, x, n, out_h);
    for (size_t i = 0; st == CR_OK && i < n * n; i++) out_h[i] = -out_h[i];
    return st;
}

static cr_status value(void *arg, const double *x, double *out_f)
{
    const cr_log_density *p = arg;
    *out_f = NAN;
    cr_status st = negated(arg, x, p->n, out_f, NULL);
    return st == CR_ENUMERIC ? CR_OK : st; /* NaN: no value there */
}

static cr_status gradient(void *arg, const double *x, double *out_g)
{
    const cr_log_density *p = arg;
    double                f;
    return negated(arg, x, p->n, &f, out_g);
}

/* --- curvature ------------------------------------------------------------------------------- */

/* A [n x n] and the gradient g [n] of -log p at x, f = -log p(x); x is changed and put back. */
static cr_status curvature(cr_ctx *cx, cr_log_density *p, double *x, double f, double *g, double *A)
{
    cr_status  st = CR_OK;
    size_t     n = p->n;
    cr_scratch s = cr_scratch_begin(cx);
    double    *step = cr_scratch_f64(&s, n), *work = cr_scratch_matrix(&s, 3, n);

    CR_TRY(s.status);
    if (!p->hessian || p->no_gradient) CR_TRY(cri_curvature_steps(cx, value, p, n, x, f, step));
    if (p->hessian)
        CR_TRY(negated_hessian(p, x, n, A));
    else if (p->no_gradient)
        CR_TRY(cri_second_differences(cx, value, p, n, x, f, step, A));
    else
        CR_TRY(cri_extrapolated_hessian(cx, gradient, p, n, x, step, work, A));
    if (!p->no_gradient) CR_TRY(gradient(p, x, g));
    for (size_t i = 0; p->no_gradient && i < n; i++) { /* over the same steps as the curvature */
        double up, down, kept = x[i];
        x[i] = kept + step[i];
        CR_TRY(value(p, x, &up));
        x[i] = kept - step[i];
        CR_TRY(value(p, x, &down));
        x[i] = kept;
        g[i] = (up - down) / (2 * step[i]);
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status check_curvature(cr_ctx *cx, const double *A, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            if (!isfinite(A[i * n + j]))
                return cr_fail(cx, CR_ENUMERIC,
                               "laplace: the curvature at the mode is not finite "
                               "between x[%zu] and x[%zu]",
                               i, j);
        if (!(A[i * n + i] > 0))
            return cr_fail(cx, CR_ENUMERIC,
                           "laplace: the log density is not curved downwards along "
                           "x[%zu] at the mode: its curvature is %g",
                           i, -A[i * n + i]);
    }
    return CR_OK;
}

/* The error that A may have, relative to its diagonal. */
static double curvature_error(const cr_log_density *p)
{
    return p->hessian ? 0x1p-50 * (double)p->n : p->no_gradient ? 1e-7 : 1e-8;
}

/* A becomes its Cholesky factor.  L_ii^2 / A_ii is the share of the curvature along x_i that is
 * left when the variables before it are free to follow: as small as the error, it says nothing. */
static cr_status factor(cr_ctx *cx, const cr_log_density *p, double *A)
{
    cr_status  st = CR_OK;
    size_t     n = p->n, bad = n;
    cr_scratch s = cr_scratch_begin(cx);
    double    *diagonal = cr_scratch_f64(&s, n);

    CR_TRY(s.status);
    CR_TRY(check_curvature(cx, A, n));
    for (size_t i = 0; i < n; i++) diagonal[i] = A[i * n + i];
    st = cr_chol(cx, cr_mat_of(A, n, n));
    for (size_t i = n; st == CR_OK && i-- > 0;)
        if (A[i * n + i] * A[i * n + i] <= curvature_error(p) * diagonal[i]) bad = i;
    if (st == CR_ENUMERIC || bad < n) {
        if (bad < n)
            cr_fail(cx, CR_ENUMERIC,
                    "laplace: the curvature at the mode is not positive definite: "
                    "x[%zu] may follow the variables before it",
                    bad);
        else
            cr_fail(cx, CR_ENUMERIC, "laplace: the curvature at the mode is not positive definite");
        CR_TRY(
            cr_fail_hint(cx, "add a prior: some combination of the parameters is not determined"));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* One step of Newton from x, kept when it lowers -log p: L the factor of A, g the gradient. */
static cr_status polish(cr_ctx *cx, cr_log_density *p, const double *L, double *g, double *x,
                        double *f)
{
    cr_status  st = CR_OK;
    size_t     n = p->n;
    cr_scratch s = cr_scratch_begin(cx);
    double    *at = cr_scratch_f64(&s, n), there;

    CR_TRY(s.status);
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(L, n, n), cr_mat_of(g, n, 1)));
    for (size_t i = 0; i < n; i++) at[i] = x[i] - g[i];
    CR_TRY(value(p, at, &there));
    if (there <= *f) {
        memcpy(x, at, n * sizeof *x);
        *f = there;
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_laplace(cr_ctx *cx, const cr_log_density *density, const cr_minimize_options *options,
                     double *x, const cr_mat *opt_covariance, cr_laplace_report *out_report)
{
    cr_status           st = CR_OK;
    size_t              n = density->n;
    cr_scratch          s = cr_scratch_begin(cx);
    double             *at = cr_scratch_f64(&s, n), *g = cr_scratch_f64(&s, n);
    double             *A = cr_scratch_matrix(&s, n, n);
    cr_log_density      p = *density;
    cr_problem          problem = { .n = n,
                                    .objective = negated,
                                    .user = &p,
                                    .hessian = p.hessian ? negated_hessian : NULL,
                                    .no_gradient = p.no_gradient };
    cr_laplace_report   report;
    cr_minimize_options finer = cr_minimize_defaults();
    bool                wanted = opt_covariance && opt_covariance->a;

    CR_TRY(s.status);
    if (wanted && (opt_covariance->rows != n || opt_covariance->cols != n))
        CR_TRY(cr_fail(cx, CR_EARG, "laplace: the covariance is %zu x %zu, not %zu x %zu",
                       opt_covariance->rows, opt_covariance->cols, n, n));
    if (n > 0) memcpy(at, x, n * sizeof *x);
    finer.gradient_tolerance = 1e-9;
    finer.f_tolerance = 1e-15;
    CR_TRY(cr_minimize(cx, &problem, options ? options : &finer, at, &report.search));
    double f = report.search.f;
    CR_TRY(curvature(cx, &p, at, f, g, A));
    CR_TRY(factor(cx, &p, A));
    CR_TRY(polish(cx, &p, A, g, at, &f));
    report.log_density = -f;
    report.log_det = cr_chol_logdet(cr_cmat_of(A, n, n));
    report.log_normaliser = -f + (double)n / 2 * CRI_LOG_2PI - report.log_det / 2;
    if (wanted) CR_TRY(cr_chol_inverse(cx, cr_cmat_of(A, n, n), cr_mat_of(A, n, n)));
    for (size_t i = 0; wanted && i < n; i++)
        memcpy(opt_covariance->a + i * opt_covariance->stride, A + i * n, n * sizeof *A);
    if (n > 0) memcpy(x, at, n * sizeof *x);
    *out_report = report;
done:
    cr_scratch_end(&s);
    return st;
}
