/* gp_linear_model.c -- a Bayesian linear model from its sums over the rows. */
#include "gp_linear_model.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

cri_gp_linear_model cri_gp_linear_model_new(cr_scratch *s, size_t m, size_t q)
{
    return (cri_gp_linear_model){ .m = m,
                                  .q = q,
                                  .Phi = cr_scratch_bytes(s, m * m, sizeof(double)),
                                  .M = cr_scratch_bytes(s, m * (q + 1), sizeof(double)),
                                  .S = cr_scratch_bytes(s, (q + 1) * (q + 1), sizeof(double)) };
}

void cri_gp_linear_model_scale(const cri_gp_problem *problem, size_t begin, const double *D,
                               size_t b, double *E, double *V, size_t m)
{
    size_t q = problem->q;
    for (size_t i = 0; i < b; i++) {
        double root = 1 / sqrt(D[i]);
        for (size_t j = 0; j < q; j++) E[i * (q + 1) + j] = root * problem->H[(begin + i) * q + j];
        E[i * (q + 1) + q] = root * problem->data->y[begin + i];
    }
    for (size_t a = 0; a < m; a++)
        for (size_t i = 0; i < b; i++) V[a * b + i] /= sqrt(D[i]);
}

cr_status cri_gp_linear_model_add(cr_ctx *cx, cri_gp_linear_model *sums, const double *V,
                                  const double *E, const double *D, size_t b)
{
    cr_status st = CR_OK;
    size_t    m = sums->m, w = sums->q + 1;
    CR_TRY(cr_syrk(cx, 1, cr_cmat_of(V, m, b), CR_PLAIN, 1, cr_mat_of(sums->Phi, m, m)));
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(V, m, b), CR_PLAIN, cr_cmat_of(E, b, w), CR_PLAIN, 1,
                   cr_mat_of(sums->M, m, w)));
    CR_TRY(cr_syrk(cx, 1, cr_cmat_of(E, b, w), CR_TRANSPOSED, 1, cr_mat_of(sums->S, w, w)));
    for (size_t i = 0; i < b; i++) sums->log_D += log(D[i]);
done:
    return st;
}

/* U, A, b and g from N = L2^-1 M and S = E^T C^-1 E; *out: the quadratic form at b. */
static cr_status solve_mean(cr_ctx *cx, const cri_gp_linear_model *sums, const double *N,
                            const double *S, const double *L2, double *g, double *beta, double *U,
                            double *A, double *out_quadratic)
{
    cr_status st = CR_OK;
    size_t    m = sums->m, q = sums->q, w = q + 1;
    double    quadratic = S[q * w + q];
    for (size_t a = 0; a < q; a++) {
        for (size_t c = 0; c < q; c++) A[a * q + c] = S[a * w + c];
        for (size_t i = 0; i < m; i++) U[i * q + a] = N[i * w + a];
        beta[a] = S[a * w + q];
    }
    if (q) {
        CR_TRY(cr_chol(cx, cr_mat_of(A, q, q)));
        CR_TRY(cr_chol_solve(cx, cr_cmat_of(A, q, q), cr_mat_of(beta, q, 1)));
        for (size_t a = 0; a < q; a++) quadratic -= beta[a] * S[a * w + q];
    }
    for (size_t i = 0; i < m; i++) {
        g[i] = N[i * w + q];
        for (size_t a = 0; a < q; a++) g[i] -= N[i * w + a] * beta[a];
    }
    CR_TRY(cr_chol_backward(cx, cr_cmat_of(L2, m, m), cr_mat_of(g, m, 1)));
    *out_quadratic = quadratic;
done:
    return st;
}

cr_status cri_gp_linear_model_solve(cr_ctx *cx, const cri_gp_linear_model *sums, double *L2,
                                    double *g, double *beta, double *U, double *A,
                                    double *out_log_density)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     m = sums->m, w = sums->q + 1;
    double    *N = cr_scratch_matrix(&s, m, w), *S = cr_scratch_matrix(&s, w, w), quadratic;

    CR_TRY(s.status);
    memcpy(L2, sums->Phi, m * m * sizeof(double));
    for (size_t i = 0; i < m; i++) L2[i * m + i] += 1;
    CR_TRY(cr_chol(cx, cr_mat_of(L2, m, m)));
    memcpy(N, sums->M, m * w * sizeof(double));
    memcpy(S, sums->S, w * w * sizeof(double));
    CR_TRY(cr_chol_forward(cx, cr_cmat_of(L2, m, m), cr_mat_of(N, m, w)));
    CR_TRY(cr_syrk(cx, -1, cr_cmat_of(N, m, w), CR_TRANSPOSED, 1, cr_mat_of(S, w, w)));
    CR_TRY(solve_mean(cx, sums, N, S, L2, g, beta, U, A, &quadratic));
    *out_log_density = -0.5 * (quadratic + sums->log_D + cr_chol_logdet(cr_cmat_of(L2, m, m)));
done:
    cr_scratch_end(&s);
    return st;
}
