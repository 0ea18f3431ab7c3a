/* gp_factor.c -- the factor of the covariance of the rows, and what it needs on the diagonal.
 * C = K + s diag r is positive definite, but near to singular where K is smooth and the noise small.
 * Rounding changes C by some units of DBL_EPSILON times its norm, which is below its trace:
 *   noise (or white):  evidence and means are right where the least variance that a row has for its
 *                      own is ten times as much, ROUNDINGS eps tr C; it is made up to that
 *   none:              as many digits are lost as the condition of C has (Demmel 1989); three are
 *                      to be left
 * and neither is asked of a C whose condition leaves three digits as it is; but searches do not look
 * at the condition where there is noise, as their value would jump where that passes a limit. */
#include "gp_exact.h"
#include "base/scratch.h"
#include "math/dense/chol.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

static const double ROUNDINGS = 10;
static const double TRUSTED = 1e-3 / DBL_EPSILON; /* the largest condition */

double cri_gp_nugget(size_t n) { return 2 * (double)n / TRUSTED; }

/* --- condition ------------------------------------------------------------------------------- */

/* x := S^1/2 C^-1 S^1/2 x, S the diagonal of C: the condition of S^-1/2 C S^-1/2 is what counts
 * (Higham 2002, sec. 10.1). */
static cr_status solve_scaled(cr_ctx *cx, const double *L, const double *diagonal, size_t n,
                              double *x)
{
    for (size_t i = 0; i < n; i++) x[i] *= sqrt(diagonal[i]);
    cr_status st = cr_chol_solve(cx, cr_cmat_of(L, n, n), cr_mat_of(x, n, 1));
    for (size_t i = 0; i < n; i++) x[i] *= sqrt(diagonal[i]);
    return st;
}

/* A lower bound of the 1-norm of S^1/2 C^-1 S^1/2, seldom below a third of it: Hager's ascent among
 * the columns (Higham 2002, alg. 15.1), O(n^2). */
static cr_status inverse_norm(cr_ctx *cx, const double *L, const double *diagonal, size_t n,
                              double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *y = cr_scratch_f64(&s, n), *z = cr_scratch_f64(&s, n), norm = 0;
    size_t     column = SIZE_MAX;

    CR_TRY(s.status);
    for (int step = 0; step < 5; step++) {
        double sum = 0, slope = 0;
        size_t steepest = 0;
        for (size_t i = 0; i < n; i++) y[i] = column == SIZE_MAX ? 1 / (double)n : i == column;
        CR_TRY(solve_scaled(cx, L, diagonal, n, y));
        for (size_t i = 0; i < n; i++) sum += fabs(y[i]), z[i] = y[i] < 0 ? -1 : 1;
        if (step > 0 && !(sum > norm)) break;
        norm = sum;
        CR_TRY(solve_scaled(cx, L, diagonal, n, z));
        for (size_t i = 0; i < n; i++) {
            slope += column == SIZE_MAX ? z[i] / (double)n : i == column ? z[i] : 0;
            if (fabs(z[i]) > fabs(z[steepest])) steepest = i;
        }
        if (!(fabs(z[steepest]) > slope) || steepest == column) break;
        column = steepest;
    }
    *out = norm;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- sentences ------------------------------------------------------------------------------- */

#define SINGULAR "the covariance of the rows is not positive definite in double precision"

/* "rows 3 and 7 are most alike (correlation 1)", from the upper triangle of C and its diagonal. */
static void name_nearest(const cri_gp_data *data, const double *C, const double *diagonal,
                         char *out, size_t size)
{
    size_t n = data->n, a = 0, b = 0;
    double most = -INFINITY;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            double c = C[i * n + j] / sqrt(diagonal[i] * diagonal[j]);
            if (c > most) most = c, a = i, b = j;
        }
    if (isinf(most))
        snprintf(out, size, "the variance of every row is 0");
    else
        snprintf(out, size, "rows %zu and %zu are the most similar (correlation %.15g)",
                 (data->first ? data->first[a] : a) + 1, (data->first ? data->first[b] : b) + 1,
                 most);
}

/* What was added, to no noise or to one that rounding drowns. */
static void report_jitter(cr_ctx *cx, const cri_gp_data *data, const double *C,
                          const double *diagonal, double own, double jitter)
{
    char alike[160];
    name_nearest(data, C, diagonal, alike, sizeof alike);
    if (own > 0)
        cr_log(cx, CR_LOG_WARNING,
               "a noise of %g is lost in the rounding of the covariance of the rows: a variance of "
               "%g was added to each row; %s",
               own, jitter, alike);
    else
        cr_log(cx, CR_LOG_WARNING, SINGULAR ": a variance of %g was added to each row; %s", jitter,
               alike);
}

/* Values that overflow, told by their rows. */
static cr_status check_finite(cr_ctx *cx, const cri_gp_data *data, const double *C)
{
    for (size_t i = 0; i < data->n; i++)
        for (size_t j = 0; j <= i; j++)
            if (!isfinite(C[i * data->n + j])) {
                cr_fail(cx, CR_ENUMERIC,
                        "gp: the kernel between rows %zu and %zu is not a finite number: its "
                        "parameters do not suit the size of the columns",
                        (data->first ? data->first[j] : j) + 1,
                        (data->first ? data->first[i] : i) + 1);
                return cr_fail_hint(cx, "use --scale standard, which brings the columns to size 1, "
                                        "or other values in --kernel");
            }
    return CR_OK;
}

/* --- factor ---------------------------------------------------------------------------------- */

/* A covariance that is to be factored. */
typedef struct covariance {
    const cri_gp_problem *problem;
    const cr_kernel      *k;
    double               *L;        /* [n x n]                                                   */
    double               *diagonal; /* [n] of C, nothing added                                   */
    double                mean;     /* of the diagonal                                           */
    double                own;      /* the least variance that a row has for its own, no less    */
    size_t                quietest; /* than 0; which row                                         */
} covariance;

static double mean_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum / (double)n;
}

/* The diagonal of C from that of K, which L holds, and what of it is each row's alone. */
static cr_status look_at_diagonal(cr_scratch *s, double noise, covariance *c)
{
    cr_status          st = CR_OK;
    const cri_gp_data *data = c->problem->data;
    size_t             n = data->n;
    cr_kernel_input    in = cri_gp_inputs(data);
    double            *with = cr_scratch_f64(s, n), *without = cr_scratch_f64(s, n);

    c->diagonal = cr_scratch_f64(s, n);
    c->own = INFINITY;
    CR_TRY(s->status);
    CR_TRY(cr_kernel_diagonal(s->cx, c->k, &in, true, with));
    CR_TRY(cr_kernel_diagonal(s->cx, c->k, &in, false, without));
    for (size_t i = 0; i < n; i++) {
        double own = noise * data->r[i] + (with[i] - without[i]);
        c->diagonal[i] = (c->L ? c->L[i * n + i] : with[i]) + noise * data->r[i];
        if (own < c->own) c->own = fmax(own, 0), c->quietest = i;
    }
    c->mean = mean_of(c->diagonal, n);
done:
    return st;
}

/* What the least own variance must be: of noise, or of a variance added where there is none. */
static double least_own(const covariance *c)
{
    double n = (double)c->problem->data->n;
    return c->mean * (c->own > 0 ? ROUNDINGS * DBL_EPSILON * n : n / TRUSTED);
}

/* L, which holds K, := the factor of C with `added` on its diagonal. */
static cr_status try_factor(cr_ctx *cx, const covariance *c, double added)
{
    size_t n = c->problem->data->n;
    for (size_t i = 0; i < n; i++) c->L[i * n + i] = c->diagonal[i] + added;
    return cr_chol(cx, cr_mat_of(c->L, n, n));
}

/* The same after a failure that overwritten L; K stays in the upper triangle, for sentences. */
static cr_status factor_again(cr_ctx *cx, const covariance *c, double added)
{
    size_t          n = c->problem->data->n;
    cr_kernel_input in = cri_gp_inputs(c->problem->data);
    cr_status       st = cr_kernel_gram(cx, c->k, &in, CR_FILL_BOTH, cr_mat_of(c->L, n, n));
    if (st == CR_OK) st = check_finite(cx, c->problem->data, c->L);
    return st == CR_OK ? try_factor(cx, c, added) : st;
}

/* CR_ENUMERIC unless three digits are left by the factor L; *opt_least: the least eigenvalue of C
 * over its diagonal, about. */
static cr_status check_condition(cr_ctx *cx, const covariance *c, const double *L,
                                 double *opt_least)
{
    size_t    n = c->problem->data->n;
    double    norm = 0;
    cr_status st = inverse_norm(cx, L, c->diagonal, n, &norm);
    if (st != CR_OK) return st;
    if (opt_least) *opt_least = 1 / norm;
    return (double)n * norm <= TRUSTED ? CR_OK : cr_fail(cx, CR_ENUMERIC, "gp: " SINGULAR);
}

/* The factor with the least variance, `from` or ten times as much, and again, for which there is
 * one.  CR_ENUMERIC when none up to the mean of the diagonal does. */
static cr_status add_until(cr_ctx *cx, const covariance *c, double from, double *out_added)
{
    cr_status st = CR_ENUMERIC;
    for (double added = from; added < 2 * c->mean && st == CR_ENUMERIC; added *= 10) {
        st = factor_again(cx, c, added);
        if (st == CR_OK) *out_added = added;
    }
    return st;
}

/* The same for a C without noise that had no factor, or none to trust and an eigenvalue that small:
 * ten times what this lacks, nothing where it lacks nothing. */
static cr_status lift_spectrum(cr_ctx *cx, const covariance *c, double least, double *out_added)
{
    double lack = (double)c->problem->data->n / TRUSTED - least;
    return add_until(cx, c, 10 * fmax(lack, DBL_EPSILON) * c->mean, out_added);
}

/* The factor of a C with noise, of which too little, made up to what it needs.  That is added whether
 * or not C has a factor without: to ask would let the value jump where the answer changes. */
static cr_status factor_lifted(cr_ctx *cx, const covariance *c, cri_gp_solution *out)
{
    out->lifted = ROUNDINGS * DBL_EPSILON * (double)c->problem->data->n;
    out->quietest = c->quietest;
    out->jitter = least_own(c) - c->own;
    return factor_again(cx, c, out->jitter);
}

/* The factor of C that has too little of its own: as it is where that is one to trust, or with more. */
static cr_status factor_quiet(cr_ctx *cx, const covariance *c, cri_gp_jitter jitter, double nugget,
                              cri_gp_solution *out)
{
    double least = 0;
    bool   search = jitter == CRI_GP_NO_JITTER;
    if (search && c->own > 0) return factor_lifted(cx, c, out);
    cr_status st = try_factor(cx, c, nugget);
    if (st == CR_OK) st = check_condition(cx, c, c->L, &least);
    if (st != CR_ENUMERIC || search) return st;
    if (c->own > 0) {
        st = factor_lifted(cx, c, out);
        return st == CR_ENUMERIC ? add_until(cx, c, 10 * out->jitter, &out->jitter) : st;
    }
    return lift_spectrum(cx, c, least, &out->jitter);
}

cr_status cri_gp_factor(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k, double noise,
                        cri_gp_jitter jitter, double *L, cri_gp_solution *out)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = problem->data->n;
    cr_kernel_input in = cri_gp_inputs(problem->data);
    covariance      c = { .problem = problem, .k = k, .L = L };
    bool            mend = jitter != CRI_GP_NO_JITTER;

    CR_TRY(cr_kernel_gram(cx, k, &in, out->nugget > 0 ? CR_FILL_BOTH : CR_FILL_LOWER,
                          cr_mat_of(L, n, n)));
    CR_TRY(look_at_diagonal(&s, noise, &c));
    double nugget = out->nugget * c.mean;
    out->jitter = nugget;
    out->lifted = 0;
    if (c.own + nugget < least_own(&c)) {
        CR_TRY(factor_quiet(cx, &c, jitter, nugget, out));
    } else {
        st = try_factor(cx, &c, nugget);
        if (st == CR_ENUMERIC && mend) st = add_until(cx, &c, least_own(&c), &out->jitter);
        CR_TRY(st);
    }
    if (jitter == CRI_GP_JITTER && out->jitter > 0)
        report_jitter(cx, problem->data, L, c.diagonal, c.own, out->jitter);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_check_factor(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                              double noise, double added, const double *L)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    covariance c = { .problem = problem, .k = k };

    CR_TRY(look_at_diagonal(&s, noise, &c));
    if (c.own + added < least_own(&c)) CR_TRY(check_condition(cx, &c, L, NULL));
done:
    cr_scratch_end(&s);
    return st;
}

/* The variance added is  lifted mean_i C_ii - (own variance of row q): by log noise
 * lifted s mean r - s r_q, and by theta, beside the mean of K_ii, minus the change of the white part
 * of K_qq, that of a row with itself beyond that of two rows alike. */
cr_status cri_gp_lift_gradient(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                               double noise, const cri_gp_solution *solution, double trace,
                               double *gradient)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *data = problem->data;
    size_t             p = cr_kernel_theta_size(k), q = solution->quietest;
    double            *with = cr_scratch_f64(&s, p), *without = cr_scratch_f64(&s, p);
    cri_gp_data        row = cri_gp_data_view(data, q, q + 1);
    double             one = 1;

    CR_TRY(s.status);
    cr_kernel_input in = cri_gp_inputs(&row);
    CR_TRY(cr_kernel_gram_gradient(cx, k, &in, cr_cmat_of(&one, 1, 1), with));
    CR_TRY(
        cr_kernel_cross_gradient(cx, k, &in, &in, cr_cmat_of(&one, 1, 1), without, (cr_mat){ 0 }));
    for (size_t j = 0; j < p; j++) gradient[j] -= trace * (with[j] - without[j]);
    gradient[p] += trace * noise * (solution->lifted * mean_of(data->r, data->n) - data->r[q]);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_fail_singular(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                               double noise, size_t settings, double *L)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = problem->data->n;
    cr_kernel_input in = cri_gp_inputs(problem->data);
    covariance      c = { .problem = problem, .k = k, .L = L };
    double          jitter = 0;
    char            alike[160], needs[80] = "";

    CR_TRY(cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(L, n, n)));
    CR_TRY(look_at_diagonal(&s, noise, &c));
    name_nearest(problem->data, L, c.diagonal, alike, sizeof alike);
    st = lift_spectrum(cx, &c, 0, &jitter);
    if (st != CR_OK && st != CR_ENUMERIC) goto done;
    if (jitter > 0)
        snprintf(needs, sizeof needs, ": it needs a variance of %g added to each row", jitter);
    st = cr_fail(cx, CR_ENUMERIC,
                 "gp: " SINGULAR ", at any of %zu settings of the hyper-parameters%s; %s", settings,
                 needs, alike);
    if (noise == 0)
        cr_fail_hint(cx, "without --noise it is learned; --optimize none adds the variance needed");
done:
    cr_scratch_end(&s);
    return st;
}
