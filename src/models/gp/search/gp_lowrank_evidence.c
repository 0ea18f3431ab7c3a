/* gp_lowrank_evidence.c -- evidence and gradient through a factor of small rank. */
#include "gp_lowrank_evidence.h"
#include "math/constants.h"
#include "models/gp/exact/gp_pivoted_cholesky.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"
#include "math/kernel/kernel_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    FEWEST = 800, /* inputs: below, the dense formulas are quick                                  */
    SHARE =
        8, /* of them are pivots at the most: these take no products of matrices and more time */
    MOST_SKIPS = 16
};

/* Everything by rows of D^-1/2. */
typedef struct work {
    const cri_gp_problem *problem;
    const cr_kernel      *k;
    double                noise;
    size_t                n, r, q;
    double               *root;   /* [n] D^1/2                              */
    cr_cmat               G;      /* [n x r]                                */
    double               *M;      /* [r x r]                                */
    double               *a, *x;  /* [n] D^1/2 C0^-1 (y - H b), [r] F^T C0^-1 (y - H b) */
    double                square; /* |a|^2                                */
} work;

/* root [n], and the trace of D^-1 R with the rounding of its terms; infinite where there is white
 * or no noise. */
static cr_status fill_root(cr_ctx *cx, const work *w, const cri_gp_pivoted *factor,
                           double *out_trace)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *data = w->problem->data;
    cr_kernel_input    in = cri_gp_inputs(data);
    double            *with = cr_scratch_f64(&s, w->n), *without = cr_scratch_f64(&s, w->n);

    CR_TRY(s.status);
    CR_TRY(cr_kernel_diagonal(cx, w->k, &in, true, with));
    CR_TRY(cr_kernel_diagonal(cx, w->k, &in, false, without));
    *out_trace = 0;
    for (size_t i = 0; i < w->n; i++) {
        const double *f = factor->F.a + i * factor->F.stride;
        double        D = w->noise * data->r[i], left = without[i] - cr_dot(f, f, w->r);
        if (with[i] != without[i] || !(D > 0)) D = 0;
        w->root[i] = sqrt(D);
        *out_trace += (fmax(left, 0) + 4 * DBL_EPSILON * without[i]) / D;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Y [n x m] by rows of D^-1/2: X [r x m] := (M M^T)^-1 G^T Y, Y := Y - G X. */
static cr_status solve(cr_ctx *cx, const work *w, double *Y, size_t m, double *X)
{
    cr_status st = CR_OK;
    cr_mat    of_X = cr_mat_of(X, w->r, m), of_Y = cr_mat_of(Y, w->n, m);
    CR_TRY(cr_gemm(cx, 1, w->G, CR_TRANSPOSED, cr_const(of_Y), CR_PLAIN, 0, of_X));
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(w->M, w->r, w->r), of_X));
    CR_TRY(cr_gemm(cx, -1, w->G, CR_PLAIN, cr_const(of_X), CR_PLAIN, 1, of_Y));
done:
    return st;
}

/* w->a and w->x, b at its estimate. */
static cr_status solve_targets(cr_ctx *cx, work *w)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = w->n, q = w->q, m = q + 1;
    double    *Y = cr_scratch_matrix(&s, n, m), *X = cr_scratch_matrix(&s, w->r, m);
    double    *A = cr_scratch_matrix(&s, q, q), *b = cr_scratch_f64(&s, q),
           *P = cr_scratch_matrix(&s, m, m);
    const double *y = w->problem->data->y, *H = w->problem->H;

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) Y[i * m + j] = (j < q ? H[i * q + j] : y[i]) / w->root[i];
    CR_TRY(solve(cx, w, Y, m, X));
    CR_TRY(cr_syrk(cx, 1, cr_cmat_of(Y, n, m), CR_TRANSPOSED, 0, cr_mat_of(P, m, m)));
    CR_TRY(cr_syrk(cx, 1, cr_cmat_of(X, w->r, m), CR_TRANSPOSED, 1, cr_mat_of(P, m, m)));
    for (size_t j = 0; j < q; j++) {
        memcpy(A + j * q, P + j * m, q * sizeof *A);
        b[j] = P[j * m + q];
    }
    if (q) {
        CR_TRY(cr_chol(cx, cr_mat_of(A, q, q)));
        CR_TRY(cr_chol_solve(cx, cr_cmat_of(A, q, q), cr_mat_of(b, q, 1)));
    }
    for (size_t i = 0; i < n; i++) w->a[i] = Y[i * m + q] - cr_dot(Y + i * m, b, q);
    for (size_t i = 0; i < w->r; i++) w->x[i] = X[i * m + q] - cr_dot(X + i * m, b, q);
    w->square = cr_dot(w->a, w->a, n);
done:
    cr_scratch_end(&s);
    return st;
}

static double evidence_of(const work *w)
{
    double sum =
        w->square + cr_dot(w->x, w->x, w->r) + cr_chol_logdet(cr_cmat_of(w->M, w->r, w->r));
    for (size_t i = 0; i < w->n; i++) sum += 2 * log(w->root[i]) + CRI_LOG_2PI;
    return -0.5 * sum + cri_gp_merged(w->problem->data, w->noise);
}

/* sum_i D_i W_ii and the part of merged rows:  D_i (C0^-1)_ii adds up to n - r + tr (M M^T)^-1. */
static cr_status gradient_by_noise(cr_ctx *cx, const work *w, double *out)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *data = w->problem->data;
    size_t             r = w->r;
    double            *I = cr_scratch_bytes(&s, r * r, sizeof(double)), n = (double)w->n;

    CR_TRY(s.status);
    for (size_t i = 0; i < r; i++) I[i * r + i] = 1;
    CR_TRY(cr_chol_forward(cx, cr_cmat_of(w->M, r, r), cr_mat_of(I, r, r)));
    *out = 0.5 * (w->square - (n - (double)r + cr_dot(I, I, r * r))) +
           0.5 * (data->spread / w->noise - (data->count - n));
done:
    cr_scratch_end(&s);
    return st;
}

/* D^-1/2 T [n x r], T = F L^-1. */
static cr_status fill_weights(cr_ctx *cx, const work *w, const cri_gp_pivoted *factor, double *T)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = w->n, r = w->r;
    double    *L = cr_scratch_matrix(&s, r, r), *turned = cr_scratch_matrix(&s, r, n);

    CR_TRY(s.status);
    cri_gp_pivoted_rows(factor, L);
    for (size_t i = 0; i < r; i++) { /* the rows of the pivots have been divided */
        double by = w->root[factor->pivots[i]];
        for (size_t j = 0; j < r; j++) L[i * r + j] *= by;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < r; j++) turned[j * n + i] = w->G.a[i * w->G.stride + j];
    CR_TRY(cr_chol_backward(cx, cr_cmat_of(L, r, r), cr_mat_of(turned, r, n)));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < r; j++) T[i * r + j] = turned[j * n + i];
done:
    cr_scratch_end(&s);
    return st;
}

/* By theta: sums over 2 W T [n x r] and - T^T W T [r x r]. */
static cr_status gradient_by_theta(cr_ctx *cx, const work *w, const cri_gp_pivoted *factor,
                                   double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = w->n, r = w->r, p = cr_kernel_theta_size(w->k);
    double    *T = cr_scratch_matrix(&s, n, r), *Y = cr_scratch_matrix(&s, n, r),
           *X = cr_scratch_matrix(&s, r, r);
    double *V = cr_scratch_matrix(&s, r, r), *c = cr_scratch_f64(&s, r),
           *more = cr_scratch_f64(&s, p);
    cr_mat      of_V = cr_mat_of(V, r, r);
    cri_gp_data at;

    CR_TRY(cri_gp_data_pick(&s, w->problem->data, factor->pivots, factor->rank, &at));
    CR_TRY(fill_weights(cx, w, factor, T));
    memcpy(Y, T, n * r * sizeof *T);
    CR_TRY(solve(cx, w, Y, r, X)); /* Y = D^1/2 C0^-1 T */
    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(T, n, r), CR_TRANSPOSED, w->a, 0, c));
    CR_TRY(cr_gemm(cx, 0.5, cr_cmat_of(T, n, r), CR_TRANSPOSED, cr_cmat_of(Y, n, r), CR_PLAIN, 0,
                   of_V));
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < r; j++) V[i * r + j] -= 0.5 * c[i] * c[j];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < r; j++) Y[i * r + j] = (w->a[i] * c[j] - Y[i * r + j]) / w->root[i];
    cr_kernel_input in = cri_gp_inputs(w->problem->data), pivots = cri_gp_inputs(&at);
    CR_TRY(
        cr_kernel_cross_gradient(cx, w->k, &in, &pivots, cr_cmat_of(Y, n, r), more, (cr_mat){ 0 }));
    CR_TRY(cr_kernel_gram_gradient(cx, w->k, &pivots, cr_const(of_V), out));
    for (size_t j = 0; j < p; j++) out[j] += more[j];
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_lowrank_evidence(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                                  double noise, size_t most, double *out_value,
                                  double *opt_gradient, bool *out_held)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    size_t         n = problem->data->n;
    cri_gp_pivoted factor = { .memory = cr_scratch_begin(cx) };
    work           w = { .problem = problem, .k = k, .noise = noise, .n = n, .q = problem->q };
    double         trace, value;

    *out_held = false;
    if (!(noise > 0)) goto done;
    CR_TRY(cri_gp_pivoted_begin(cx, problem->data, k, CRI_GP_PIVOT_LEAST, most, &factor));
    if (factor.rank == 0) goto done;
    w.r = factor.rank;
    w.root = cr_scratch_f64(&s, n);
    w.a = cr_scratch_f64(&s, n);
    w.x = cr_scratch_f64(&s, w.r);
    w.M = cr_scratch_matrix(&s, w.r, w.r);
    CR_TRY(s.status);
    CR_TRY(fill_root(cx, &w, &factor, &trace));
    if (!isfinite(trace)) goto done;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < w.r; j++) factor.F.a[i * factor.F.stride + j] /= w.root[i];
    w.G = cr_const(factor.F);
    CR_TRY(cr_syrk(cx, 1, w.G, CR_TRANSPOSED, 0, cr_mat_of(w.M, w.r, w.r)));
    for (size_t i = 0; i < w.r; i++) w.M[i * w.r + i] += 1;
    CR_TRY(cr_chol(cx, cr_mat_of(w.M, w.r, w.r)));
    CR_TRY(solve_targets(cx, &w));
    value = evidence_of(&w);
    if (!(0.5 * trace * (1 + w.square) <=
          CRI_GP_LOWRANK_EVIDENCE_ERROR * fmax(fabs(value), (double)n)))
        goto done;
    if (opt_gradient) {
        CR_TRY(gradient_by_theta(cx, &w, &factor, opt_gradient));
        CR_TRY(gradient_by_noise(cx, &w, opt_gradient + cr_kernel_theta_size(k)));
    }
    *out_value = value;
    *out_held = true;
done:
    cri_gp_pivoted_end(&factor);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_quick_objective(cr_ctx *cx, void *method, const cri_gp_problem *problem,
                                 const cr_kernel *k, double noise, double *out_value,
                                 double *opt_gradient)
{
    cr_status               st = CR_OK;
    cri_gp_quick_workspace *workspace = method;
    cr_kernel              *settled = NULL;
    bool held = false, tried = problem->data->n >= FEWEST && workspace->skip == 0;

    if (problem->data->n >= FEWEST && workspace->skip > 0) workspace->skip--;
    if (tried) {
        CR_TRY(cri_kernel_settled(cx, k, opt_gradient != NULL, &settled));
        st = cri_gp_lowrank_evidence(cx, problem, settled ? settled : k, noise,
                                     problem->data->n / SHARE, out_value, opt_gradient, &held);
        if (st == CR_ENUMERIC) st = CR_OK;
        CR_TRY(st);
        workspace->failed = held                             ? 0
                            : workspace->failed == 0         ? 1
                            : workspace->failed < MOST_SKIPS ? 2 * workspace->failed
                                                             : MOST_SKIPS;
        workspace->skip = workspace->failed < MOST_SKIPS ? workspace->failed : MOST_SKIPS;
    }
    if (!held)
        CR_TRY(cri_gp_exact_objective(cx, &workspace->exact, problem, k, noise, out_value,
                                      opt_gradient));
done:
    cr_kernel_free(cx, settled);
    return st;
}
