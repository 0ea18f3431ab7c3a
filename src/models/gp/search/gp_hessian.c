/* gp_hessian.c -- the Hessian of the log evidence by the hyper-parameters: their standard deviations,
 * and the curvature that a run of the optimiser starts with. */
#include "gp_optimiser.h"
#include "base/scratch.h"
#include "math/constants.h"
#include "math/dense/chol.h"
#include "math/dense/decompose.h"

#include <math.h>
#include <string.h>

/* The least curvature that a run sets out with: a step of a gradient of 1 is no longer than a
 * factor of e^2. */
static const double FLAT = 0.5, STEP = 3e-4;
static const double FLATTEST = 3; /* sd of a logarithm of which the data say nothing */

/* Which parameters are within their bounds by more than a thousandth: at [size], *out_m of them. */
static void gp_within(const cri_gp_space *u, const double *x, size_t *at, size_t *out_m)
{
    size_t m = 0;
    for (size_t j = 0; j < u->size; j++)
        if (x[j] > u->lower[j] + 1e-3 && x[j] < u->upper[j] - 1e-3) at[m++] = j;
    *out_m = m;
}

/* Forward differences: their error, of the order of the step, is a small share of a standard
 * deviation. */
cr_status cri_gp_hessian(cri_gp_optimiser *r, const double *x, const size_t *at, size_t m,
                         double *out_gradient, double *B)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(r->cx);
    size_t     p = r->space.p;
    double    *z = cr_scratch_f64(&s, p + 1), *up = cr_scratch_f64(&s, p + 1), value;

    CR_TRY(s.status);
    CR_TRY(cri_gp_evaluate(r, x, &value, out_gradient));
    for (size_t i = 0; i < m; i++) {
        memcpy(z, x, r->space.size * sizeof *z);
        z[at[i]] = x[at[i]] + STEP;
        CR_TRY(cri_gp_evaluate(r, z, &value, up));
        for (size_t j = 0; j < m; j++) B[i * m + j] = (out_gradient[at[j]] - up[at[j]]) / STEP;
    }
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < i; j++)
            B[i * m + j] = B[j * m + i] = 0.5 * (B[i * m + j] + B[j * m + i]);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_hessian_ahead(cri_gp_optimiser *r, const double *x, double ratio, double *A)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(r->cx);
    size_t     size = r->space.size, m = 0, *at = cr_scratch_index(&s, size);
    double    *B = cr_scratch_matrix(&s, size, size), *V = cr_scratch_matrix(&s, size, size);
    double    *w = cr_scratch_f64(&s, size), *g = cr_scratch_f64(&s, r->space.p + 1);

    CR_TRY(s.status);
    gp_within(&r->space, x, at, &m);
    CR_TRY(cri_gp_hessian(r, x, at, m, g, B));
    for (size_t i = 0; i < m; i++) {
        double second, slope = cri_gp_slope_of_t(&r->space, at[i],
                                                 cri_gp_to_t(&r->space, at[i], x[at[i]]), &second);
        for (size_t j = 0; j < m; j++) {
            B[i * m + j] *= slope;
            B[j * m + i] *= slope;
        }
        B[i * m + i] -= g[at[i]] * second;
    }
    CR_TRY(cr_eigen(r->cx, cr_cmat_of(B, m, m), w, cr_mat_of(V, m, m)));
    for (size_t i = 0; i < size * size; i++) A[i] = i % (size + 1) == 0;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            double sum = 0;
            for (size_t e = 0; e < m; e++)
                sum += fmax(ratio * fabs(w[e]), FLAT) * V[i * m + e] * V[j * m + e];
            A[at[i] * size + at[j]] = sum;
        }
done:
    cr_scratch_end(&s);
    return st;
}

/* Of exp(value - z^T B z / 2) over m numbers, of the space `at`: the log integral, and
 * root [size x size] with root root^T = B^-1; a direction in which B is flatter than that has an sd
 * of FLATTEST.  A parameter at its bound stays there. */
static cr_status integrate(cri_gp_optimiser *r, double value, const double *B, const size_t *at,
                           size_t m, cri_gp_laplace *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(r->cx);
    size_t     size = r->space.size;
    double    *w = cr_scratch_f64(&s, m), *V = cr_scratch_matrix(&s, m, m);

    CR_TRY(s.status);
    CR_TRY(cr_eigen(r->cx, cr_cmat_of(B, m, m), w, cr_mat_of(V, m, m)));
    out->log_integral = value;
    memset(out->root, 0, size * size * sizeof *out->root);
    for (size_t e = 0; e < m; e++) {
        double sd = w[e] > pow(FLATTEST, -2) ? 1 / sqrt(w[e]) : FLATTEST;
        out->log_integral += CRI_HALF_LOG_2PI + log(sd);
        for (size_t i = 0; i < m; i++) out->root[at[i] * size + e] = sd * V[i * m + e];
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_laplace_at(cr_ctx *cx, const cri_gp_learning *learning, const cr_kernel *k,
                            double noise, cri_gp_laplace *out)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    size_t           m = 0, p = cr_kernel_theta_size(k);
    cri_gp_optimiser r = { .cx = cx };
    double          *x = cr_scratch_f64(&s, p + 1), *B = cr_scratch_matrix(&s, p + 1, p + 1);
    double          *g = cr_scratch_f64(&s, p + 1), value;
    size_t          *at = cr_scratch_index(&s, p + 1);

    CR_TRY(cri_gp_optimiser_begin(&s, learning, k, noise, &r));
    cr_kernel_theta(k, x);
    x[p] = noise > 0 ? log(noise) : 0;
    for (size_t j = 0; j <= p; j++) out->sd[j] = NAN;
    gp_within(&r.space, x, at, &m);
    st = cri_gp_evaluate(&r, x, &value, g);
    if (st == CR_OK) st = cri_gp_hessian(&r, x, at, m, g, B);
    if (st == CR_OK && out->root) st = integrate(&r, value, B, at, m, out);
    if (st == CR_OK) st = cr_chol(cx, cr_mat_of(B, m, m));
    if (st == CR_OK) st = cr_chol_inverse(cx, cr_cmat_of(B, m, m), cr_mat_of(B, m, m));
    for (size_t i = 0; st == CR_OK && i < m; i++) /* beyond e^5 the data say nothing */
        out->sd[at[i]] = B[i * m + i] < 25 ? sqrt(B[i * m + i]) : NAN;
    if (st == CR_ENUMERIC) st = CR_OK; /* flat or at no maximum: nothing to report */
done:
    cri_gp_optimiser_end(&r);
    cr_scratch_end(&s);
    return st;
}
