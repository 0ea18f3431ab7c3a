/* classify_sparse.c -- the variational bound of a sparse Gaussian process classifier. */
#include "classify_sparse.h"
#include "classify_tilted.h"
#include "models/gp/sparse/gp_sparse.h"
#include "base/parallel.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

enum { MANY = 1000, BLOCK = 1024, ROWS = 64, STEPS = 100 };
/* Converged when a step raises the bound by less than this times 1 + its size; the second with many
 * rows. */
static const double GAIN = 1e-11, ROUGH_GAIN = 1e-9;

double cri_svgp_numbers(size_t n, size_t m, size_t F)
{
    double rows = (double)n, inputs = (double)m, functions = (double)F;
    return rows * inputs + (functions + 4) * inputs * inputs + (10 + functions) * functions * rows +
           2.0 * BLOCK * inputs;
}

cr_status cri_svgp_new(cr_scratch *s, const cri_classify_data *data, const cri_gp_data *Z,
                       double *L, double *factor, cri_svgp *out)
{
    size_t n = data->at->n, m = Z->n, F = data->F;
    *out = (cri_svgp){ .data = data,
                       .Z = Z,
                       .m = m,
                       .L = L,
                       .factor = factor,
                       .mu = cr_scratch_matrix(s, F, m),
                       .A = cr_scratch_matrix(s, m, n),
                       .left = cr_scratch_f64(s, n),
                       .lambda = cr_scratch_matrix(s, F, n),
                       .next = cr_scratch_matrix(s, F, n),
                       .bend = F > 1 ? cr_scratch_matrix(s, n * F, F) : NULL,
                       .mean = cr_scratch_matrix(s, F, n),
                       .variance = cr_scratch_matrix(s, F, n),
                       .slope = cr_scratch_matrix(s, F, n),
                       .part = cr_scratch_f64(s, cri_block_count(n, ROWS)),
                       .work = cr_scratch_matrix(s, cri_block_count(n, ROWS), 2 * F * F + 8 * F) };
    if (s->status != CR_OK) return s->status;
    cri_hermite_fill(&out->rule);
    return CR_OK;
}

/* --- the kernel ------------------------------------------------------------------------------ */

/* L, A and what A leaves of the diagonal. */
static cr_status set_kernel(cr_ctx *cx, const cr_kernel *k, cri_svgp *v)
{
    cr_status       st = CR_OK;
    size_t          n = v->data->at->n, m = v->m;
    cr_kernel_input z = cri_gp_inputs(v->Z), rows = cri_gp_inputs(v->data->at);
    CR_TRY(cri_gp_inducing_factor(cx, k, v->Z, v->L, &v->jitter));
    CR_TRY(cr_kernel_cross(cx, k, &z, &rows, cr_mat_of(v->A, m, n)));
    CR_TRY(cr_chol_forward(cx, cr_cmat_of(v->L, m, m), cr_mat_of(v->A, m, n)));
    CR_TRY(cr_kernel_diagonal(cx, k, &rows, false, v->left));
    for (size_t a = 0; a < m; a++)
        for (size_t i = 0; i < n; i++) v->left[i] -= v->A[a * n + i] * v->A[a * n + i];
    for (size_t i = 0; i < n; i++) v->left[i] = fmax(v->left[i], 0);
done:
    return st;
}

/* Columns [begin, end) of A into T [m x count], times scale where it is given. */
static void take_columns(const cri_svgp *v, cri_range r, const double *opt_scale, double *T)
{
    size_t n = v->data->at->n, count = r.end - r.begin;
    for (size_t a = 0; a < v->m; a++)
        for (size_t i = 0; i < count; i++)
            T[a * count + i] = v->A[a * n + r.begin + i] * (opt_scale ? opt_scale[r.begin + i] : 1);
}

/* --- q --------------------------------------------------------------------------------------- */

/* P [m x m] := the factor of I + A diag(weight) A^T.  root [n], T [m x BLOCK] are workspace. */
static cr_status factor_weighted(cr_ctx *cx, const cri_svgp *v, const double *weight, double *root,
                                 double *T, double *P)
{
    cr_status st = CR_OK;
    size_t    n = v->data->at->n, m = v->m;
    for (size_t i = 0; i < n; i++) root[i] = sqrt(weight[i]);
    memset(P, 0, m * m * sizeof *P);
    for (size_t a = 0; a < m; a++) P[a * m + a] = 1;
    for (size_t k = 0; k < cri_block_count(n, BLOCK); k++) {
        cri_range r = cri_block_range(n, BLOCK, k);
        take_columns(v, r, root, T);
        CR_TRY(cr_syrk(cx, 1, cr_cmat_of(T, m, r.end - r.begin), CR_PLAIN, 1, cr_mat_of(P, m, m)));
    }
    CR_TRY(cr_chol(cx, cr_mat_of(P, m, m)));
done:
    return st;
}

/* Mean and variance of f_c with factor_c and mu_c as they are; adds to the divergence. */
static cr_status spread_function(cr_ctx *cx, cri_svgp *v, size_t c, double *T, double *S)
{
    cr_status st = CR_OK;
    size_t    n = v->data->at->n, m = v->m;
    double   *mu = v->mu + c * m, *variance = v->variance + c * n, trace = 0;
    cr_cmat   P = cr_cmat_of(v->factor + c * m * m, m, m);

    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(v->A, m, n), CR_TRANSPOSED, mu, 0, v->mean + c * n));
    memcpy(variance, v->left, n * sizeof *variance);
    for (size_t k = 0; k < cri_block_count(n, BLOCK); k++) {
        cri_range r = cri_block_range(n, BLOCK, k);
        size_t    count = r.end - r.begin;
        take_columns(v, r, NULL, T);
        CR_TRY(cr_chol_forward(cx, P, cr_mat_of(T, m, count)));
        for (size_t a = 0; a < m; a++)
            for (size_t i = 0; i < count; i++)
                variance[r.begin + i] += T[a * count + i] * T[a * count + i];
    }
    CR_TRY(cr_chol_inverse(cx, P, cr_mat_of(S, m, m)));
    for (size_t a = 0; a < m; a++) trace += S[a * m + a];
    v->divergence += 0.5 * (trace + cr_dot(mu, mu, m) - (double)m + cr_chol_logdet(P));
done:
    return st;
}

/* --- expectations ---------------------------------------------------------------------------- */

static size_t workspace_size(size_t F) { return 2 * F * F + 8 * F; }

/* More than two classes at input i: the bound of E log p; slope, bend, and lambda = -2 dE /
 * dvariance. */
static double expect_softmax(const cri_svgp *v, size_t i, double *work)
{
    size_t        n = v->data->at->n, F = v->data->F;
    const double *counts = v->data->counts + i * F;
    double       *m = work, *variance = m + F, *g = variance + F, *bend = v->bend + i * F * F;
    double        weight = 0, expected = 0;
    for (size_t c = 0; c < F; c++) {
        m[c] = v->mean[c * n + i];
        variance[c] = v->variance[c * n + i];
        weight += counts[c];
        expected += counts[c] * m[c];
    }
    expected -= weight * cri_tilted(F, m, variance, g + F, g, bend);
    for (size_t c = 0; c < F * F; c++) bend[c] *= weight;
    for (size_t c = 0; c < F; c++) {
        v->slope[c * n + i] = counts[c] - weight * g[c];
        v->next[c * n + i] = weight * g[c] * (1 - g[c]);
    }
    return expected;
}

static void expect_rows(void *arg, size_t number)
{
    const cri_svgp *v = arg;
    size_t          F = v->data->F;
    cri_range       r = cri_block_range(v->data->at->n, ROWS, number);
    double          sum = 0;
    for (size_t i = r.begin; i < r.end; i++) {
        if (F > 1) {
            sum += expect_softmax(v, i, v->work + number * workspace_size(F));
        } else {
            cri_classify_slope s = cri_classify_expect(
                v->data->link, &v->rule, v->data->counts + 2 * i, v->mean[i], v->variance[i]);
            sum += s.log_p;
            v->slope[i] = s.first;
            v->next[i] = s.minus_second;
        }
    }
    v->part[number] = sum;
}

/* Workspace of some functions: root [n], T [m x BLOCK], S [m x m]. */
typedef struct workspace {
    double *root, *T, *S;
} workspace;

static cr_status workspace_new(cr_scratch *s, const cri_svgp *v, workspace *out)
{
    size_t n = v->data->at->n;
    *out = (workspace){ cr_scratch_f64(s, n), cr_scratch_matrix(s, v->m, n < BLOCK ? n : BLOCK),
                        cr_scratch_matrix(s, v->m, v->m) };
    return s->status;
}

/* The bound, from factors and mu as they are. */
static cr_status look(cr_ctx *cx, cri_svgp *v, const workspace *w)
{
    cr_status st = CR_OK;
    size_t    blocks = cri_block_count(v->data->at->n, ROWS);
    v->divergence = v->expected = 0;
    for (size_t c = 0; c < v->data->F; c++) CR_TRY(spread_function(cx, v, c, w->T, w->S));
    CR_TRY(cri_parallel_for(cx, NULL, blocks, expect_rows, v));
    for (size_t k = 0; k < blocks; k++) v->expected += v->part[k];
    v->bound = v->expected - v->divergence;
done:
    return st;
}

static cr_status factor_all(cr_ctx *cx, cri_svgp *v, const workspace *w)
{
    cr_status st = CR_OK;
    size_t    n = v->data->at->n, m = v->m;
    for (size_t c = 0; st == CR_OK && c < v->data->F; c++)
        st = factor_weighted(cx, v, v->lambda + c * n, w->root, w->T, v->factor + c * m * m);
    return st;
}

cr_status cri_svgp_bound(cr_ctx *cx, cri_svgp *v)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    workspace  w;
    CR_TRY(workspace_new(&s, v, &w));
    CR_TRY(factor_all(cx, v, &w));
    CR_TRY(look(cx, v, &w));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the maximum over q ---------------------------------------------------------------------- */

/* lambda as if f were 0, and mu = 0. */
static void set_first(cri_svgp *v)
{
    size_t n = v->data->at->n, F = v->data->F;
    double p = 1 / (double)F;
    memset(v->mu, 0, F * v->m * sizeof *v->mu);
    for (size_t i = 0; i < n; i++) {
        const double *counts = v->data->counts + i * v->data->C;
        double        weight = 0;
        for (size_t c = 0; c < v->data->C; c++) weight += counts[c];
        for (size_t c = 0; c < F; c++)
            v->lambda[c * n + i] = F > 1 ? weight * p * (1 - p)
                                         : cri_classify_at(v->data->link, counts, 0).minus_second;
    }
}

/* out_c := x_c + A sum_d bend_cd t_d,  t_c = A^T x_c.  t [F x n], u [F]. */
static cr_status curve(cr_ctx *cx, const cri_svgp *v, const double *x, double *t, double *u,
                       double *out)
{
    cr_status st = CR_OK;
    size_t    n = v->data->at->n, m = v->m, F = v->data->F;
    cr_cmat   A = cr_cmat_of(v->A, m, n);
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(x, F, m), CR_PLAIN, A, CR_PLAIN, 0, cr_mat_of(t, F, n)));
    for (size_t i = 0; i < n; i++) {
        const double *bend = v->bend + i * F * F;
        for (size_t c = 0; c < F; c++) {
            u[c] = 0;
            for (size_t d = 0; d < F; d++) u[c] += bend[c * F + d] * t[d * n + i];
        }
        for (size_t c = 0; c < F; c++) t[c * n + i] = u[c];
    }
    memcpy(out, x, F * m * sizeof *out);
    CR_TRY(
        cr_gemm(cx, 1, cr_cmat_of(t, F, n), CR_PLAIN, A, CR_TRANSPOSED, 1, cr_mat_of(out, F, m)));
done:
    return st;
}

/* x [F x m] := H^-1 x, H as `curve` has it, by conjugate gradients preconditioned by all S_c^-1. */
static cr_status solve_curve(cr_ctx *cx, const cri_svgp *v, double *x)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     m = v->m, F = v->data->F, size = F * m;
    double    *r = cr_scratch_f64(&s, size), *z = cr_scratch_f64(&s, size),
           *d = cr_scratch_f64(&s, size);
    double *q = cr_scratch_f64(&s, size), *t = cr_scratch_matrix(&s, F, v->data->at->n);
    double *u = cr_scratch_f64(&s, F), rho = 0, first = 0;

    CR_TRY(s.status);
    memcpy(r, x, size * sizeof *r);
    memset(x, 0, size * sizeof *x);
    for (int k = 0; k < 200; k++) {
        memcpy(z, r, size * sizeof *z);
        for (size_t c = 0; c < F; c++)
            CR_TRY(cr_chol_solve(cx, cr_cmat_of(v->factor + c * m * m, m, m),
                                 cr_mat_of(z + c * m, m, 1)));
        double last = rho;
        rho = cr_dot(r, z, size);
        if (k == 0) first = rho;
        if (!(rho > 1e-10 * first)) break; /* the error is below 1e-5 in that norm */
        for (size_t i = 0; i < size; i++) d[i] = z[i] + (k ? rho / last * d[i] : 0);
        CR_TRY(curve(cx, v, d, t, u, q));
        double share = rho / cr_dot(d, q, size);
        for (size_t i = 0; i < size; i++) x[i] += share * d[i], r[i] -= share * q[i];
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* step [F x m] := A e_c - mu_c, the gradient by mu; more than one function: Newton's step for
 * it. */
static cr_status find_step(cr_ctx *cx, const cri_svgp *v, double *step)
{
    cr_status st = CR_OK;
    size_t    n = v->data->at->n, m = v->m, F = v->data->F;
    memcpy(step, v->mu, F * m * sizeof *step);
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(v->slope, F, n), CR_PLAIN, cr_cmat_of(v->A, m, n),
                   CR_TRANSPOSED, -1, cr_mat_of(step, F, m)));
    if (F > 1) CR_TRY(solve_curve(cx, v, step));
done:
    return st;
}

/* lambda and mu a share of the way from where they were; then the bound.  lambda [F n], mu [F m]:
 * from where. */
static cr_status go(cr_ctx *cx, cri_svgp *v, const workspace *w, double share, const double *lambda,
                    const double *next, const double *mu, const double *step)
{
    cr_status st = CR_OK;
    size_t    n = v->data->at->n, m = v->m, F = v->data->F;
    for (size_t i = 0; i < F * n; i++) v->lambda[i] = lambda[i] + share * (next[i] - lambda[i]);
    CR_TRY(factor_all(cx, v, w));
    memcpy(v->mu, step, F * m * sizeof *step);
    if (F == 1) CR_TRY(cr_chol_solve(cx, cr_cmat_of(v->factor, m, m), cr_mat_of(v->mu, m, 1)));
    for (size_t i = 0; i < F * m; i++) v->mu[i] = mu[i] + share * v->mu[i];
    CR_TRY(look(cx, v, w));
done:
    return st;
}

static cr_status maximise(cr_ctx *cx, cri_svgp *v)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     rows = v->data->F * v->data->at->n, inputs = v->data->F * v->m;
    double    *lambda = cr_scratch_f64(&s, rows), *next = cr_scratch_f64(&s, rows);
    double    *mu = cr_scratch_f64(&s, inputs), *step = cr_scratch_f64(&s, inputs), share = 1;
    workspace  w;

    CR_TRY(workspace_new(&s, v, &w));
    if (!v->warm) set_first(v);
    CR_TRY(factor_all(cx, v, &w));
    CR_TRY(look(cx, v, &w));
    v->converged = false;
    for (v->steps = 0; v->steps < STEPS && !v->converged && isfinite(v->bound); v->steps++) {
        double before = v->bound,
               small = (v->data->at->n > MANY ? ROUGH_GAIN : GAIN) * (1 + fabs(before));
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(find_step(cx, v, step));
        memcpy(lambda, v->lambda, rows * sizeof *lambda);
        memcpy(next, v->next, rows * sizeof *next);
        memcpy(mu, v->mu, inputs * sizeof *mu);
        share = fmin(1, 2 * share);
        for (int halvings = 0; halvings < 30; halvings++, share *= 0.5) {
            CR_TRY(go(cx, v, &w, share, lambda, next, mu, step));
            if (v->bound >= before - small) break;
        }
        v->converged = v->bound - before <= small;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the gradient ---------------------------------------------------------------------------- */

/* By K_mn, rows [begin, end): added to gradient.  G, T [m x count]. */
static cr_status add_cross(cr_ctx *cx, const cr_kernel *k, const cri_svgp *v, cri_range r,
                           double *G, double *T, double *piece, double *gradient)
{
    cr_status          st = CR_OK;
    const cri_gp_data *at = v->data->at;
    size_t             n = at->n, m = v->m, count = r.end - r.begin;
    cri_gp_data        part = cri_gp_data_view(at, r.begin, r.end);
    cr_kernel_input    z = cri_gp_inputs(v->Z), rows = cri_gp_inputs(&part);
    memset(G, 0, m * count * sizeof *G);
    for (size_t c = 0; c < v->data->F; c++) {
        const double *mu = v->mu + c * m, *slope = v->slope + c * n + r.begin;
        const double *lambda = v->next + c * n + r.begin;
        take_columns(v, r, NULL, T);
        CR_TRY(cr_chol_solve(cx, cr_cmat_of(v->factor + c * m * m, m, m), cr_mat_of(T, m, count)));
        for (size_t a = 0; a < m; a++)
            for (size_t i = 0; i < count; i++)
                G[a * count + i] +=
                    mu[a] * slope[i] + (v->A[a * n + r.begin + i] - T[a * count + i]) * lambda[i];
    }
    CR_TRY(cr_chol_backward(cx, cr_cmat_of(v->L, m, m), cr_mat_of(G, m, count)));
    CR_TRY(
        cr_kernel_cross_gradient(cx, k, &z, &rows, cr_cmat_of(G, m, count), piece, (cr_mat){ 0 }));
    for (size_t j = 0; j < cr_kernel_theta_size(k); j++) gradient[j] += piece[j];
done:
    return st;
}

/* M [m x m] := L^-T M L^-1 for a symmetric M. */
static cr_status sandwich(cr_ctx *cx, const cri_svgp *v, double *M)
{
    cr_status st = CR_OK;
    size_t    m = v->m;
    for (int side = 0; side < 2; side++) {
        CR_TRY(cr_chol_backward(cx, cr_cmat_of(v->L, m, m), cr_mat_of(M, m, m)));
        for (size_t a = 0; a < m; a++)
            for (size_t b = 0; b < a; b++) {
                double keep = M[a * m + b];
                M[a * m + b] = M[b * m + a];
                M[b * m + a] = keep;
            }
    }
done:
    return st;
}

/* By K_mm. */
static cr_status add_inducing(cr_ctx *cx, const cr_kernel *k, const cri_svgp *v, double *M,
                              double *S, double *piece, double *gradient)
{
    cr_status       st = CR_OK;
    size_t          m = v->m;
    cr_kernel_input z = cri_gp_inputs(v->Z);
    memset(M, 0, m * m * sizeof *M);
    for (size_t c = 0; c < v->data->F; c++) {
        const double *P = v->factor + c * m * m, *mu = v->mu + c * m;
        CR_TRY(cr_chol_inverse(cx, cr_cmat_of(P, m, m), cr_mat_of(S, m, m)));
        for (size_t a = 0; a < m; a++)
            for (size_t b = 0; b < m; b++)
                M[a * m + b] += mu[a] * mu[b] + S[a * m + b] - (a == b ? 2 : 0);
        for (size_t a = 0; a < m; a++) /* S^-1 = P P^T */
            for (size_t b = 0; b < m; b++) S[a * m + b] = b <= a ? P[a * m + b] : 0;
        CR_TRY(cr_syrk(cx, 1, cr_cmat_of(S, m, m), CR_PLAIN, 1, cr_mat_of(M, m, m)));
    }
    CR_TRY(sandwich(cx, v, M));
    for (size_t i = 0; i < m * m; i++) M[i] *= -0.5;
    CR_TRY(cr_kernel_gram_gradient(cx, k, &z, cr_cmat_of(M, m, m), piece));
    for (size_t j = 0; j < cr_kernel_theta_size(k); j++) gradient[j] += piece[j];
done:
    return st;
}

static cr_status find_gradient(cr_ctx *cx, const cr_kernel *k, const cri_svgp *v, double *gradient)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t  n = v->data->at->n, m = v->m, most = n < BLOCK ? n : BLOCK, p = cr_kernel_theta_size(k);
    double *G = cr_scratch_matrix(&s, m, most), *T = cr_scratch_matrix(&s, m, most);
    double *M = cr_scratch_matrix(&s, m, m), *S = cr_scratch_matrix(&s, m, m);
    double *piece = cr_scratch_f64(&s, p + 1), *w = cr_scratch_f64(&s, n);
    cr_kernel_input rows = cri_gp_inputs(v->data->at);

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) {
        w[i] = 0;
        for (size_t c = 0; c < v->data->F; c++) w[i] -= 0.5 * v->next[c * n + i];
    }
    CR_TRY(cr_kernel_diagonal_gradient(cx, k, &rows, w, false, gradient, (cr_mat){ 0 }));
    for (size_t b = 0; b < cri_block_count(n, BLOCK); b++)
        CR_TRY(add_cross(cx, k, v, cri_block_range(n, BLOCK, b), G, T, piece, gradient));
    CR_TRY(add_inducing(cx, k, v, M, S, piece, gradient));
    gradient[p] = 0;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_svgp_objective(cr_ctx *cx, void *method, const cri_gp_problem *problem,
                             const cr_kernel *k, double noise, double *out_value,
                             double *opt_gradient)
{
    cr_status  st = CR_OK;
    cri_svgp  *v = method;
    cr_kernel *settled = NULL;
    (void)problem, (void)noise;
    CR_TRY(cri_kernel_settled(cx, k, opt_gradient != NULL, &settled));
    if (settled) k = settled;
    CR_TRY(set_kernel(cx, k, v));
    CR_TRY(maximise(cx, v));
    v->warm = isfinite(v->bound);
    if (!v->warm) CR_TRY(cr_fail(cx, CR_ENUMERIC, "gp-classify: the bound is not finite"));
    if (opt_gradient) CR_TRY(find_gradient(cx, k, v, opt_gradient));
    *out_value = v->bound;
done:
    cr_kernel_free(cx, settled);
    return st;
}
