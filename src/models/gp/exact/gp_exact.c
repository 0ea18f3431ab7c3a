/* gp_exact.c -- evidence and gradient of an exact Gaussian process. */
#include "gp_exact.h"
#include "base/parallel.h"
#include "math/constants.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { ROWS = 64 }; /* of a matrix worked on at a time */

double cri_gp_merged(const cri_gp_data *data, double noise)
{
    double shares = data->log_shares, surplus = data->count - (double)data->n;
    for (size_t g = 0; g < data->n; g++) shares -= log(data->r[g]);
    if (noise == 0) return 0;
    return -0.5 * (data->spread / noise + surplus * log(2 * M_PI * noise) + shares);
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
    cr_status st = cri_gp_factor(cx, problem, k, noise, jitter, L, out);
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
        -0.5 * (cr_dot(z, z, n) + cr_chol_logdet(factored) + (double)n * CRI_LOG_2PI) +
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
    for (size_t i = 0; i < n; i++) /* what was added goes with the diagonal of C */
        L[i * n + i] += (solution->nugget + solution->lifted) * trace / (double)n;
    if (noise > 0) by_noise += 0.5 * (data->spread / noise - (data->count - (double)n));
    CR_TRY(cr_kernel_gram_gradient(cx, k, &in, cr_cmat_of(L, n, n), out_gradient));
    out_gradient[p] = by_noise;
    if (solution->lifted > 0)
        CR_TRY(cri_gp_lift_gradient(cx, problem, k, noise, solution, trace, out_gradient));
done:
    return st;
}
