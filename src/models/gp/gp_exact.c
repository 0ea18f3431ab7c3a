/* gp_exact.c -- evidence and gradient of an exact Gaussian process. */
#include "gp_exact.h"
#include "../../base/context_internal.h"
#include "../../base/parallel.h"
#include "../../base/scratch.h"
#include "../../math/chol.h"
#include "../../math/dense.h"

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
static void name_nearest(const cri_gp_data *data, const double *C, const double *diagonal, char *out, size_t size)
{
    size_t n = data->n, a = 0, b = 0;
    double most = -INFINITY;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            double c = C[i * n + j] / sqrt(diagonal[i] * diagonal[j]);
            if (c > most) most = c, a = i, b = j;
        }
    if (isinf(most)) snprintf(out, size, "the variance of every row is 0");
    else
        snprintf(out, size, "rows %zu and %zu are most alike (correlation %.15g)",
                 (data->first ? data->first[a] : a) + 1, (data->first ? data->first[b] : b) + 1, most);
}

#define SINGULAR "the covariance of the rows is not positive definite in double precision"

/* The least variance, of powers of ten times the mean of the diagonal, with which C has a factor; the upper
 * triangle of C stays.  0 when none up to 1 does. */
static double least_jitter(cr_ctx *cx, double *C, const double *diagonal, size_t n)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++) mean += diagonal[i] / (double)n;
    for (double part = 1e-14; part < 2; part *= 10) {
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < i; j++) C[i * n + j] = C[j * n + i];
            C[i * n + i] = diagonal[i] + part * mean;
        }
        if (cr_chol(cx, cr_mat_of(C, n, n)) == CR_OK) return part * mean;
    }
    return 0;
}

cr_status cri_gp_fail_singular(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k, double noise,
                               size_t settings, double *L)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *data = problem->data;
    size_t             n = data->n;
    cr_kernel_input    in = cri_gp_inputs(data);
    double            *diagonal = cr_scratch_f64(&s, n), jitter;
    char               alike[160];

    CR_TRY(s.status);
    CR_TRY(cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(L, n, n)));
    for (size_t i = 0; i < n; i++) diagonal[i] = L[i * n + i] += noise * data->r[i];
    name_nearest(data, L, diagonal, alike, sizeof alike);
    jitter = least_jitter(cx, L, diagonal, n);
    st = cr_fail(cx, CR_ENUMERIC, "gp: " SINGULAR ", at any of %zu settings of the hyper-parameters: it needs a "
                 "variance of %g added to each row; %s", settings, jitter, alike);
    if (noise == 0) cr_fail_hint(cx, "without --noise it is learned; --optimize none adds the variance it needs");
done:
    cr_scratch_end(&s);
    return st;
}

/* Values that overflow, told by their rows. */
static cr_status check_finite(cr_ctx *cx, const cri_gp_data *data, const double *C)
{
    for (size_t i = 0; i < data->n; i++)
        for (size_t j = 0; j <= i; j++)
            if (!isfinite(C[i * data->n + j])) {
                cr_fail(cx, CR_ENUMERIC, "gp: the kernel between rows %zu and %zu is not a finite number: its "
                                         "parameters do not suit the size of the columns",
                        data->first[j] + 1, data->first[i] + 1);
                return cr_fail_hint(cx, "--scale standard brings the columns to size 1; or other values in --kernel");
            }
    return CR_OK;
}

/* C in both triangles, or the lower, and its factor. */
static cr_status factor(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k, double noise,
                        cri_gp_jitter jitter, double *L, double *out_jitter)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *data = problem->data;
    size_t             n = data->n;
    cr_kernel_input    in = cri_gp_inputs(data);
    cr_mat             C = cr_mat_of(L, n, n);
    cr_jitter          added = { 0 };

    *out_jitter = 0;
    CR_TRY(cr_kernel_gram(cx, k, &in, jitter == CRI_GP_JITTER ? CR_FILL_BOTH : CR_FILL_LOWER, C));
    for (size_t i = 0; i < n; i++) L[i * n + i] += noise * data->r[i];
    if (jitter == CRI_GP_NO_JITTER) CR_TRY(cr_chol(cx, C));
    else {
        double *diagonal = cr_scratch_f64(&s, n);
        CR_TRY(s.status);
        CR_TRY(check_finite(cx, data, L));
        for (size_t i = 0; i < n; i++) diagonal[i] = L[i * n + i];
        CR_TRY(cr_chol_jitter(cx, C, &added));
        *out_jitter = added.added;
        if (added.added > 0) {
            char alike[160];
            name_nearest(data, L, diagonal, alike, sizeof alike); /* the upper triangle is still that of C */
            cr_log(cx, CR_LOG_WARNING, SINGULAR ": the variance %g was added to each row; %s", added.added, alike);
        }
    }
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
    cr_status st = factor(cx, problem, k, noise, jitter, L, &out->jitter);
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
    out->log_evidence = -0.5 * (cr_dot(z, z, n) + cr_chol_logdet(factored) +
                                (double)n * log(2 * M_PI)) +
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
    double             by_noise = 0;

    CR_TRY(cr_chol_inverse(cx, cr_cmat_of(L, n, n), cr_mat_of(L, n, n)));
    CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(n, ROWS), weigh_rows, &w));
    for (size_t i = 0; i < n; i++) by_noise += noise * data->r[i] * L[i * n + i];
    if (noise > 0) by_noise += 0.5 * (data->spread / noise - (data->count - (double)n));
    CR_TRY(cr_kernel_gram_gradient(cx, k, &in, cr_cmat_of(L, n, n), out_gradient));
    out_gradient[p] = by_noise;
done:
    return st;
}
