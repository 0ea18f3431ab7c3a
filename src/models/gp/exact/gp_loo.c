/* gp_loo.c -- leave-one-out prediction in closed form.
 * With Q = C^-1 - C^-1 H (H^T C^-1 H)^-1 H^T C^-1 the prediction of an input from all others has
 * the error (Q y)_g / Q_gg and the variance 1 / Q_gg.  Where several rows share an input, only one
 * of them is left out: its likelihood is divided out of the posterior of f there. */
#include "gp_exact.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/chol_internal.h"

#include <math.h>
#include <string.h>

/* q [n] = the diagonal of Q, from the diagonal of C^-1 in it: takes off |A^-1/2 (C^-1 H)_g|^2. */
static cr_status project_mean(cr_ctx *cx, const cri_gp_problem *problem,
                              const cri_gp_solution *solution, const double *L, double *q)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = problem->data->n, m = problem->q;
    double    *V = cr_scratch_matrix(&s, n, m), *T = cr_scratch_matrix(&s, m, n);

    CR_TRY(s.status);
    if (m == 0) goto done;
    memcpy(V, solution->U, n * m * sizeof(double));
    CR_TRY(cr_chol_backward(cx, cr_cmat_of(L, n, n), cr_mat_of(V, n, m)));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) T[j * n + i] = V[i * m + j];
    CR_TRY(cr_chol_forward(cx, cr_cmat_of(solution->A, m, m), cr_mat_of(T, m, n)));
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < n; i++) q[i] -= T[j * n + i] * T[j * n + i];
done:
    cr_scratch_end(&s);
    return st;
}

/* Error and variance of one of the rows at input g, whose own noise is v and whose share is not all
 * that was seen there. */
static void leave_part(const cri_gp_data *data, size_t g, double y, double v, double noise,
                       double a, double q, double *out_error, double *out_variance)
{
    double s = noise * data->r[g], mean = data->y[g] - s * a, variance = s - s * s * q;
    double precision = 1 / variance - 1 / v;
    double centre = (mean / variance - y / v) / precision;
    *out_error = y - centre;
    *out_variance = 1 / precision + v;
}

cr_status cri_gp_leave_one_out(cr_ctx *cx, const cri_gp_problem *problem, const cri_rows *rows,
                               const double *opt_shares, const size_t *group, double noise,
                               const cri_gp_solution *solution, const double *L, double *workspace,
                               double *opt_diagonal, double *out_log_score, double *out_rmse)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *data = problem->data;
    size_t             n = data->n;
    double            *q = cr_scratch_f64(&s, n), score = 0, square = 0, weight = 0;

    CR_TRY(s.status);
    CR_TRY(cri_chol_inverse_diagonal(cx, cr_cmat_of(L, n, n), cr_mat_of(workspace, n, n), q));
    CR_TRY(project_mean(cx, problem, solution, L, q));
    if (opt_diagonal) memcpy(opt_diagonal, q, n * sizeof *q);
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1, v = opt_shares ? opt_shares[i] : 1, error, variance;
        if (!(w > 0)) continue;
        size_t g = group[i];
        double a = solution->alpha[g];
        if (w == 1 && fabs(data->r[g] - v) <= 1e-12 * v)
            error = a / q[g], variance = 1 / q[g];
        else
            leave_part(data, g, rows->y[i], noise * v, noise, a, q[g], &error, &variance);
        score -= 0.5 * w * (log(2 * M_PI * variance) + error * error / variance);
        square += w * error * error;
        weight += w;
    }
    *out_log_score = score;
    *out_rmse = sqrt(square / weight);
done:
    cr_scratch_end(&s);
    return st;
}
