/* classify_sparse.c -- the variational bound of a sparse Gaussian process classifier. */
#include "classify_sparse.h"
#include "../logistic/softmax_normal.h"
#include "../../base/parallel.h"
#include "../../math/chol.h"
#include "../../math/dense.h"
#include "../../math/special.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1024, ROWS = 128, ATTEMPTS = 6, STEPS = 200 };
/* Converged when a step raises the bound by less than this times 1 + its size. */
static const double GAIN = 1e-11;

double cri_svgp_numbers(size_t n, size_t m, size_t F)
{
    double rows = (double)n, inputs = (double)m, functions = (double)F;
    return rows * inputs + (functions + 4) * inputs * inputs + 10 * functions * rows + 2.0 * BLOCK * inputs;
}

cr_status cri_svgp_new(cr_scratch *s, const cri_classify_data *data, const cri_gp_data *Z, double *L,
                       double *factor, cri_svgp *out)
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
                       .b = cr_scratch_matrix(s, F, n),
                       .next_lambda = cr_scratch_matrix(s, F, n),
                       .next_b = cr_scratch_matrix(s, F, n),
                       .mean = cr_scratch_matrix(s, F, n),
                       .variance = cr_scratch_matrix(s, F, n),
                       .slope = cr_scratch_matrix(s, F, n),
                       .part = cr_scratch_f64(s, cri_block_count(n, ROWS)),
                       .points = cr_scratch_matrix(s, CRI_SVGP_POINTS, F),
                       .work = F > 1 ? cr_scratch_matrix(s, n, 3 * F) : NULL };
    if (s->status != CR_OK) return s->status;
    cri_hermite_fill(&out->rule);
    cri_softmax_points(F, CRI_SVGP_POINTS, out->points);
    cri_softmax_whiten(F, CRI_SVGP_POINTS, out->points);
    return CR_OK;
}

/* --- the kernel ------------------------------------------------------------------------------ */

/* L: K_mm plus as little jitter as it needs, from 1e-12 of its diagonal up. */
static cr_status factor_inducing(cr_ctx *cx, const cr_kernel *k, cri_svgp *v)
{
    cr_status       st = CR_OK;
    size_t          m = v->m;
    cr_kernel_input z = cri_gp_inputs(v->Z);
    double          mean = 0;
    v->jitter = 0;
    for (int attempt = 0; attempt <= ATTEMPTS; attempt++) {
        CR_TRY(cr_kernel_gram(cx, k, &z, CR_FILL_LOWER, cr_mat_of(v->L, m, m)));
        if (attempt == 0)
            for (size_t i = 0; i < m; i++) mean += v->L[i * m + i] / (double)m;
        if (attempt > 0) v->jitter = 1e-13 * mean * pow(10, attempt);
        for (size_t i = 0; i < m; i++) v->L[i * m + i] += v->jitter;
        st = cr_chol(cx, cr_mat_of(v->L, m, m));
        if (st != CR_ENUMERIC) break;
    }
done:
    return st;
}

/* L, A and what A leaves of the diagonal. */
static cr_status set_kernel(cr_ctx *cx, const cr_kernel *k, cri_svgp *v)
{
    cr_status       st = CR_OK;
    size_t          n = v->data->at->n, m = v->m;
    cr_kernel_input z = cri_gp_inputs(v->Z), rows = cri_gp_inputs(v->data->at);
    CR_TRY(factor_inducing(cx, k, v));
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

/* --- q ---------------------------------------------------------------------------------------- */

/* factor_c, mu_c, mean and variance of f_c from lambda_c and b_c; adds to the divergence. */
static cr_status set_function(cr_ctx *cx, cri_svgp *v, size_t c, double *root, double *T, double *S)
{
    cr_status st = CR_OK;
    size_t    n = v->data->at->n, m = v->m, blocks = cri_block_count(n, BLOCK);
    double   *P = v->factor + c * m * m, *mu = v->mu + c * m, *variance = v->variance + c * n;
    double    trace = 0;

    for (size_t i = 0; i < n; i++) root[i] = sqrt(v->lambda[c * n + i]);
    memset(P, 0, m * m * sizeof *P);
    for (size_t a = 0; a < m; a++) P[a * m + a] = 1;
    for (size_t k = 0; k < blocks; k++) {
        cri_range r = cri_block_range(n, BLOCK, k);
        take_columns(v, r, root, T);
        CR_TRY(cr_syrk(cx, 1, cr_cmat_of(T, m, r.end - r.begin), CR_PLAIN, 1, cr_mat_of(P, m, m)));
    }
    CR_TRY(cr_chol(cx, cr_mat_of(P, m, m)));
    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(v->A, m, n), CR_PLAIN, v->b + c * n, 0, mu));
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(P, m, m), cr_mat_of(mu, m, 1)));
    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(v->A, m, n), CR_TRANSPOSED, mu, 0, v->mean + c * n));
    memcpy(variance, v->left, n * sizeof *variance);
    for (size_t k = 0; k < blocks; k++) {
        cri_range r = cri_block_range(n, BLOCK, k);
        size_t    count = r.end - r.begin;
        take_columns(v, r, NULL, T);
        CR_TRY(cr_chol_forward(cx, cr_cmat_of(P, m, m), cr_mat_of(T, m, count)));
        for (size_t a = 0; a < m; a++)
            for (size_t i = 0; i < count; i++) variance[r.begin + i] += T[a * count + i] * T[a * count + i];
    }
    CR_TRY(cr_chol_inverse(cx, cr_cmat_of(P, m, m), cr_mat_of(S, m, m)));
    for (size_t a = 0; a < m; a++) trace += S[a * m + a];
    v->divergence += 0.5 * (trace + cr_dot(mu, mu, m) - (double)m + cr_chol_logdet(cr_cmat_of(P, m, m)));
done:
    return st;
}

/* --- expectations ---------------------------------------------------------------------------- */

/* More than two classes at input i: E log p; slope, and lambda = -2 dE / dvariance, of the rule itself. */
static double expect_softmax(const cri_svgp *v, size_t i, double *p, double *mean_p, double *moment)
{
    size_t        n = v->data->at->n, F = v->data->F;
    const double *counts = v->data->counts + i * F;
    double        weight = 0, expected = 0, share = 0.5 / CRI_SVGP_POINTS;
    memset(mean_p, 0, F * sizeof *mean_p);
    memset(moment, 0, F * sizeof *moment);
    for (size_t c = 0; c < F; c++) {
        weight += counts[c];
        expected += counts[c] * v->mean[c * n + i];
    }
    for (size_t t = 0; t < 2 * CRI_SVGP_POINTS; t++) {
        const double *x = v->points + t / 2 * F;
        double        sign = t % 2 ? -1 : 1;
        for (size_t c = 0; c < F; c++) p[c] = v->mean[c * n + i] + sign * x[c] * sqrt(v->variance[c * n + i]);
        double sum = cr_logsumexp(p, F);
        expected -= weight * share * sum;
        for (size_t c = 0; c < F; c++) {
            double q = exp(p[c] - sum), sd = sqrt(v->variance[c * n + i]);
            mean_p[c] += share * q;
            moment[c] += share * (sd > 1e-5 ? q * sign * x[c] / sd : q * (1 - q));
        }
    }
    for (size_t c = 0; c < F; c++) {
        v->slope[c * n + i] = counts[c] - weight * mean_p[c];
        v->next_lambda[c * n + i] = fmax(weight * moment[c], 0);
    }
    return expected;
}

static void expect_rows(void *arg, size_t number)
{
    const cri_svgp *v = arg;
    size_t          n = v->data->at->n, F = v->data->F;
    cri_range       r = cri_block_range(n, ROWS, number);
    double          sum = 0;
    for (size_t i = r.begin; i < r.end; i++) {
        if (F > 1) {
            double *work = v->work + 3 * F * i;
            sum += expect_softmax(v, i, work, work + F, work + 2 * F);
        } else {
            cri_classify_slope s = cri_classify_expect(v->data->link, &v->rule, v->data->counts + 2 * i, v->mean[i],
                                                       v->variance[i]);
            sum += s.log_p;
            v->slope[i] = s.first;
            v->next_lambda[i] = s.minus_second;
        }
        for (size_t c = 0; c < F; c++)
            v->next_b[c * n + i] = v->slope[c * n + i] + v->next_lambda[c * n + i] * v->mean[c * n + i];
    }
    v->part[number] = sum;
}

cr_status cri_svgp_bound(cr_ctx *cx, cri_svgp *v)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = v->data->at->n, blocks = cri_block_count(n, ROWS);
    double    *root = cr_scratch_f64(&s, n), *T = cr_scratch_matrix(&s, v->m, n < BLOCK ? n : BLOCK);
    double    *S = cr_scratch_matrix(&s, v->m, v->m);

    CR_TRY(s.status);
    v->divergence = v->expected = 0;
    for (size_t c = 0; c < v->data->F; c++) CR_TRY(set_function(cx, v, c, root, T, S));
    CR_TRY(cri_parallel_for(cx, NULL, blocks, expect_rows, v));
    for (size_t k = 0; k < blocks; k++) v->expected += v->part[k];
    v->bound = v->expected - v->divergence;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the maximum over q ----------------------------------------------------------------------- */

/* lambda and b as if f were 0. */
static void set_first(cri_svgp *v)
{
    size_t n = v->data->at->n, F = v->data->F;
    for (size_t i = 0; i < n; i++) {
        const double *counts = v->data->counts + i * v->data->C;
        double        weight = 0, p = 1 / (double)F;
        if (F == 1) {
            cri_classify_slope s = cri_classify_at(v->data->link, counts, 0);
            v->lambda[i] = s.minus_second;
            v->b[i] = s.first;
            continue;
        }
        for (size_t c = 0; c < F; c++) weight += counts[c];
        for (size_t c = 0; c < F; c++) {
            v->lambda[c * n + i] = weight * p * (1 - p);
            v->b[c * n + i] = counts[c] - weight * p;
        }
    }
}

static cr_status maximise(cr_ctx *cx, cri_svgp *v)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     size = v->data->F * v->data->at->n;
    double    *from = cr_scratch_f64(&s, 2 * size), *to = cr_scratch_f64(&s, 2 * size), step = 1;

    CR_TRY(s.status);
    if (!v->warm) set_first(v);
    CR_TRY(cri_svgp_bound(cx, v));
    v->converged = false;
    for (v->steps = 0; v->steps < STEPS && !v->converged && isfinite(v->bound); v->steps++) {
        double before = v->bound, small = GAIN * (1 + fabs(before));
        CR_TRY(cr_check_interrupt(cx));
        memcpy(from, v->lambda, size * sizeof *from);
        memcpy(from + size, v->b, size * sizeof *from);
        memcpy(to, v->next_lambda, size * sizeof *to);
        memcpy(to + size, v->next_b, size * sizeof *to);
        step = fmin(1, 2 * step);
        for (int halvings = 0; halvings < 30; halvings++, step *= 0.5) {
            for (size_t i = 0; i < size; i++) {
                v->lambda[i] = from[i] + step * (to[i] - from[i]);
                v->b[i] = from[size + i] + step * (to[size + i] - from[size + i]);
            }
            CR_TRY(cri_svgp_bound(cx, v));
            if (v->bound >= before - small) break;
        }
        v->converged = v->bound - before <= small;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the gradient ----------------------------------------------------------------------------- */

/* By K_mn, rows [begin, end): added to gradient.  G, T [m x count]. */
static cr_status add_cross(cr_ctx *cx, const cr_kernel *k, const cri_svgp *v, cri_range r, double *G, double *T,
                           double *piece, double *gradient)
{
    cr_status          st = CR_OK;
    const cri_gp_data *at = v->data->at;
    size_t             n = at->n, m = v->m, count = r.end - r.begin;
    cri_gp_data        part = { .n = count, .d = at->d, .c = at->c,
                                .X = at->X + r.begin * at->d, .codes = at->codes + r.begin * at->c };
    cr_kernel_input    z = cri_gp_inputs(v->Z), rows = cri_gp_inputs(&part);
    memset(G, 0, m * count * sizeof *G);
    for (size_t c = 0; c < v->data->F; c++) {
        const double *mu = v->mu + c * m, *slope = v->slope + c * n + r.begin;
        const double *lambda = v->next_lambda + c * n + r.begin;
        take_columns(v, r, NULL, T);
        CR_TRY(cr_chol_solve(cx, cr_cmat_of(v->factor + c * m * m, m, m), cr_mat_of(T, m, count)));
        for (size_t a = 0; a < m; a++)
            for (size_t i = 0; i < count; i++)
                G[a * count + i] += mu[a] * slope[i] +
                                    (v->A[a * n + r.begin + i] - T[a * count + i]) * lambda[i];
    }
    CR_TRY(cr_chol_backward(cx, cr_cmat_of(v->L, m, m), cr_mat_of(G, m, count)));
    CR_TRY(cr_kernel_cross_gradient(cx, k, &z, &rows, cr_cmat_of(G, m, count), piece, (cr_mat){ 0 }));
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
static cr_status add_inducing(cr_ctx *cx, const cr_kernel *k, const cri_svgp *v, double *M, double *S,
                              double *piece, double *gradient)
{
    cr_status       st = CR_OK;
    size_t          m = v->m;
    cr_kernel_input z = cri_gp_inputs(v->Z);
    memset(M, 0, m * m * sizeof *M);
    for (size_t c = 0; c < v->data->F; c++) {
        const double *P = v->factor + c * m * m, *mu = v->mu + c * m;
        CR_TRY(cr_chol_inverse(cx, cr_cmat_of(P, m, m), cr_mat_of(S, m, m)));
        for (size_t a = 0; a < m; a++)
            for (size_t b = 0; b < m; b++) M[a * m + b] += mu[a] * mu[b] + S[a * m + b] - (a == b ? 2 : 0);
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
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = v->data->at->n, m = v->m, most = n < BLOCK ? n : BLOCK, p = cr_kernel_theta_size(k);
    double         *G = cr_scratch_matrix(&s, m, most), *T = cr_scratch_matrix(&s, m, most);
    double         *M = cr_scratch_matrix(&s, m, m), *S = cr_scratch_matrix(&s, m, m);
    double         *piece = cr_scratch_f64(&s, p + 1), *w = cr_scratch_f64(&s, n);
    cr_kernel_input rows = cri_gp_inputs(v->data->at);

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) {
        w[i] = 0;
        for (size_t c = 0; c < v->data->F; c++) w[i] -= 0.5 * v->next_lambda[c * n + i];
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

cr_status cri_svgp_objective(cr_ctx *cx, void *method, const cri_gp_problem *problem, const cr_kernel *k,
                             double noise, double *out_value, double *opt_gradient)
{
    cr_status st = CR_OK;
    cri_svgp *v = method;
    (void)problem, (void)noise;
    CR_TRY(set_kernel(cx, k, v));
    CR_TRY(maximise(cx, v));
    v->warm = isfinite(v->bound);
    if (!v->warm) CR_TRY(cr_fail(cx, CR_ENUMERIC, "gp-classify: the bound is not finite"));
    if (opt_gradient) CR_TRY(find_gradient(cx, k, v, opt_gradient));
    *out_value = v->bound;
done:
    return st;
}
