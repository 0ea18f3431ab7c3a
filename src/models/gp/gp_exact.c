/* gp_exact.c -- evidence and gradient of an exact Gaussian process. */
#include "gp_exact.h"
#include "../../base/context_internal.h"
#include "../../base/parallel.h"
#include "../../base/scratch.h"
#include "../../math/chol.h"
#include "../../math/dense.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 64 }; /* of a matrix worked on at a time */

double cri_gp_merged(const cri_gp_data *data, double noise)
{
    double shares = data->log_shares, surplus = data->count - (double)data->n;
    for (size_t g = 0; g < data->n; g++) shares -= log(data->r[g]);
    if (noise == 0) return 0;
    return -0.5 * (data->spread / noise + surplus * log(2 * M_PI * noise) + shares);
}

/* --- factor ---------------------------------------------------------------------------------- */

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
        snprintf(out, size, "rows %zu and %zu are most alike (correlation %.15g)",
                 (data->first ? data->first[a] : a) + 1, (data->first ? data->first[b] : b) + 1,
                 most);
}

#define SINGULAR "the covariance of the rows is not positive definite in double precision"

static double mean_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum / (double)n;
}

/* What is solved by a factor of C loses the digits of the condition of S^-1/2 C S^-1/2, S the
 * diagonal of C, at the most (Demmel 1989; Higham 2002, sec. 10.1); three are to be left. */
static const double TRUSTED = 1e-3 / DBL_EPSILON;

double cri_gp_nugget(size_t n) { return 2 * (double)n / TRUSTED; }

/* x := S^1/2 C^-1 S^1/2 x. */
static cr_status solve_scaled(cr_ctx *cx, const double *L, const double *diagonal, size_t n,
                              double *x)
{
    for (size_t i = 0; i < n; i++) x[i] *= sqrt(diagonal[i]);
    cr_status st = cr_chol_solve(cx, cr_cmat_of(L, n, n), cr_mat_of(x, n, 1));
    for (size_t i = 0; i < n; i++) x[i] *= sqrt(diagonal[i]);
    return st;
}

/* A lower bound of the 1-norm of S^1/2 C^-1 S^1/2, seldom below a third of it: Hager's climb among
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

/* Fails where three digits would not be left.  Each row's own variance is a share `own` of its
 * diagonal or more: that alone often tells that they are, as n / own is above the condition. */
static cr_status check_condition(cr_ctx *cx, const double *L, const double *diagonal, double own,
                                 size_t n)
{
    double    norm = 0;
    cr_status st = CR_OK;
    if (own * TRUSTED >= (double)n) return CR_OK;
    st = inverse_norm(cx, L, diagonal, n, &norm);
    if (st != CR_OK || (double)n * norm <= TRUSTED) return st;
    return cr_fail(cx, CR_ENUMERIC, "gp: " SINGULAR);
}

/* The least share of the diagonal of C that is a row's alone: noise, white kernels and what was
 * added. */
static cr_status own_share(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                           double noise, double added, const double *diagonal, double *out)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = problem->data->n;
    cr_kernel_input in = cri_gp_inputs(problem->data);
    double         *with = cr_scratch_f64(&s, n), *without = cr_scratch_f64(&s, n), least = 1;

    CR_TRY(s.status);
    CR_TRY(cr_kernel_diagonal(cx, k, &in, true, with));
    CR_TRY(cr_kernel_diagonal(cx, k, &in, false, without));
    for (size_t i = 0; i < n; i++)
        least =
            fmin(least, (with[i] - without[i] + noise * problem->data->r[i] + added) / diagonal[i]);
    *out = least;
done:
    cr_scratch_end(&s);
    return st;
}

/* The least variance, of powers of ten times the nugget, with which C has a factor to trust; the
 * upper triangle of C stays.  CR_ENUMERIC when none up to the mean of the diagonal does. */
static cr_status least_jitter(cr_ctx *cx, double *C, const double *diagonal, size_t n,
                              double *out_jitter)
{
    cr_status st = CR_ENUMERIC;
    double    mean = mean_of(diagonal, n);
    for (double part = cri_gp_nugget(n); part < 2 && st == CR_ENUMERIC; part *= 10) {
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < i; j++) C[i * n + j] = C[j * n + i];
            C[i * n + i] = diagonal[i] + part * mean;
        }
        st = cr_chol(cx, cr_mat_of(C, n, n));
        if (st == CR_OK) st = check_condition(cx, C, diagonal, 0, n);
        if (st == CR_OK) *out_jitter = part * mean;
    }
    return st;
}

cr_status cri_gp_fail_singular(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                               double noise, size_t settings, double *L)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *data = problem->data;
    size_t             n = data->n;
    cr_kernel_input    in = cri_gp_inputs(data);
    double            *diagonal = cr_scratch_f64(&s, n), jitter = 0;
    char               alike[160], needs[80] = "";

    CR_TRY(s.status);
    CR_TRY(cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(L, n, n)));
    for (size_t i = 0; i < n; i++) diagonal[i] = L[i * n + i] += noise * data->r[i];
    name_nearest(data, L, diagonal, alike, sizeof alike);
    st = least_jitter(cx, L, diagonal, n, &jitter);
    if (st != CR_OK && st != CR_ENUMERIC) goto done;
    if (jitter > 0)
        snprintf(needs, sizeof needs, ": it needs a variance of %g added to each row", jitter);
    st = cr_fail(cx, CR_ENUMERIC,
                 "gp: " SINGULAR ", at any of %zu settings of the hyper-parameters%s; %s", settings,
                 needs, alike);
    if (noise == 0)
        cr_fail_hint(cx,
                     "without --noise it is learned; --optimize none adds the variance it needs");
done:
    cr_scratch_end(&s);
    return st;
}

static void tell_jitter(cr_ctx *cx, const cri_gp_data *data, const double *C,
                        const double *diagonal, double jitter)
{
    char alike[160];
    name_nearest(data, C, diagonal, alike, sizeof alike);
    cr_log(cx, CR_LOG_WARNING, SINGULAR ": the variance %g was added to each row; %s", jitter,
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
                return cr_fail_hint(
                    cx,
                    "--scale standard brings the columns to size 1; or other values in --kernel");
            }
    return CR_OK;
}

/* C in both triangles, or the lower, and its factor. */
static cr_status factor(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k, double noise,
                        cri_gp_jitter jitter, double nugget, double *L, double *out_jitter)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *data = problem->data;
    size_t             n = data->n;
    cr_kernel_input    in = cri_gp_inputs(data);
    bool               mend = jitter != CRI_GP_NO_JITTER;
    double            *diagonal = cr_scratch_f64(&s, n), added = 0, own;

    CR_TRY(s.status);
    CR_TRY(cr_kernel_gram(cx, k, &in, mend ? CR_FILL_BOTH : CR_FILL_LOWER, cr_mat_of(L, n, n)));
    if (mend) CR_TRY(check_finite(cx, data, L));
    for (size_t i = 0; i < n; i++) diagonal[i] = L[i * n + i] += noise * data->r[i];
    if (nugget > 0) added = nugget * mean_of(diagonal, n);
    for (size_t i = 0; i < n; i++) L[i * n + i] += added;
    CR_TRY(own_share(cx, problem, k, noise, added, diagonal, &own));
    st = cr_chol(cx, cr_mat_of(L, n, n));
    if (st == CR_OK) st = check_condition(cx, L, diagonal, own, n);
    if (st == CR_ENUMERIC && mend) st = least_jitter(cx, L, diagonal, n, &added);
    CR_TRY(st);
    if (jitter == CRI_GP_JITTER && added > 0) tell_jitter(cx, data, L, diagonal, added);
    *out_jitter = added;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_check_factor(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                              double noise, double added, const double *L)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = problem->data->n;
    cr_kernel_input in = cri_gp_inputs(problem->data);
    double         *diagonal = cr_scratch_f64(&s, n), own;

    CR_TRY(s.status);
    CR_TRY(cr_kernel_diagonal(cx, k, &in, true, diagonal));
    for (size_t i = 0; i < n; i++) diagonal[i] += noise * problem->data->r[i];
    CR_TRY(own_share(cx, problem, k, noise, added, diagonal, &own));
    CR_TRY(check_condition(cx, L, diagonal, own, n));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- solve ----------------------------------------------------------------------------------- */

/* b and U from z = L^-1 y, which becomes z - U b. */
static cr_status solve_mean(cr_ctx *cx, const cri_gp_problem *problem, const double *L,
                            cri_gp_solution *out, double *z)
{
    cr_status st = CR_OK;
    size_t    n = problem->data->n, q = problem->q;
    if (q == 0) return CR_OK;
    memcpy(out->U, problem->H, n * q * sizeof(double));
    CR_TRY(cr_chol_forward(cx, cr_cmat_of(L, n, n), cr_mat_of(out->U, n, q)));
    CR_TRY(cr_syrk(cx, 1, cr_cmat_of(out->U, n, q), CR_TRANSPOSED, 0, cr_mat_of(out->A, q, q)));
    CR_TRY(cr_chol(cx, cr_mat_of(out->A, q, q)));
    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(out->U, n, q), CR_TRANSPOSED, z, 0, out->beta));
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(out->A, q, q), cr_mat_of(out->beta, q, 1)));
    CR_TRY(cr_gemv(cx, -1, cr_cmat_of(out->U, n, q), CR_PLAIN, out->beta, 1, z));
done:
    return st;
}

cr_status cri_gp_solve(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k, double noise,
                       cri_gp_jitter jitter, double *L, cri_gp_solution *out)
{
    cr_status st = factor(cx, problem, k, noise, jitter, out->nugget, L, &out->jitter);
    return st == CR_OK ? cri_gp_resolve(cx, problem, noise, L, out) : st;
}

cr_status cri_gp_resolve(cr_ctx *cx, const cri_gp_problem *problem, double noise, const double *L,
                         cri_gp_solution *out)
{
    cr_status          st = CR_OK;
    const cri_gp_data *data = problem->data;
    size_t             n = data->n;
    cr_cmat            factored = cr_cmat_of(L, n, n);
    double            *z = out->alpha;

    memcpy(z, data->y, n * sizeof(double));
    CR_TRY(cr_chol_forward(cx, factored, cr_mat_of(z, n, 1)));
    CR_TRY(solve_mean(cx, problem, L, out, z));
    out->log_evidence =
        -0.5 * (cr_dot(z, z, n) + cr_chol_logdet(factored) + (double)n * log(2 * M_PI)) +
        cri_gp_merged(data, noise);
    CR_TRY(cr_chol_backward(cx, factored, cr_mat_of(out->alpha, n, 1)));
    if (!isfinite(out->log_evidence))
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "gp: the log evidence is not finite"));
done:
    return st;
}

/* --- gradient -------------------------------------------------------------------------------- */

typedef struct weigh_work {
    size_t        n;
    double       *W;
    const double *alpha;
} weigh_work;

/* The lower triangle of W = (a a^T - C^-1) / 2 over C^-1. */
static void weigh_rows(void *arg, size_t b)
{
    const weigh_work *w = arg;
    cri_range         rows = cri_block_range(w->n, ROWS, b);
    for (size_t i = rows.begin; i < rows.end; i++) {
        double *row = w->W + i * w->n, a = 0.5 * w->alpha[i];
        for (size_t j = 0; j <= i; j++) row[j] = a * w->alpha[j] - 0.5 * row[j];
    }
}

cr_status cri_gp_gradient(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                          double noise, const cri_gp_solution *solution, double *L,
                          double *out_gradient)
{
    cr_status          st = CR_OK;
    const cri_gp_data *data = problem->data;
    size_t             n = data->n, p = cr_kernel_theta_size(k);
    cr_kernel_input    in = cri_gp_inputs(data);
    weigh_work         w = { n, L, solution->alpha };
    double             by_noise = 0, trace = 0;

    CR_TRY(cr_chol_inverse(cx, cr_cmat_of(L, n, n), cr_mat_of(L, n, n)));
    CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(n, ROWS), weigh_rows, &w));
    for (size_t i = 0; i < n; i++) by_noise += noise * data->r[i] * L[i * n + i];
    for (size_t i = 0; i < n; i++) trace += L[i * n + i];
    for (size_t i = 0; i < n; i++)
        L[i * n + i] += solution->nugget * trace / (double)n; /* it goes with diag K */
    if (noise > 0) by_noise += 0.5 * (data->spread / noise - (data->count - (double)n));
    CR_TRY(cr_kernel_gram_gradient(cx, k, &in, cr_cmat_of(L, n, n), out_gradient));
    out_gradient[p] = by_noise;
done:
    return st;
}
