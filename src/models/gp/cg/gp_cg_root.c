/* gp_cg_root.c -- a root of C^-1 for variances, and how good it is. */
#include "gp_cg.h"
#include "gp_nearest.h"
#include "base/parallel.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 128, CHECKED = 16 };
static const double CLOSE = 1e-5; /* residual of the solutions that the root is checked by */
static const double FINE = 0.01;  /* relative error of an sd that is left                  */

size_t cri_gp_cg_root_rank(size_t n, size_t inducing)
{
    return n <= inducing || (n / 4 <= inducing && cri_gp_cg_rank(n) == n) ? n : inducing;
}

/* W [n x r] = C R, some columns at a time. */
static cr_status multiply_all(cr_ctx *cx, const cri_gp_operator *op, const double *R, size_t r,
                              double *W)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = op->data->n, most = r < COLUMNS ? r : COLUMNS;
    double    *X = cr_scratch_matrix(&s, n, most), *Y = cr_scratch_matrix(&s, n, most);

    CR_TRY(s.status);
    for (size_t b = 0; b < cri_block_count(r, COLUMNS); b++) {
        cri_range g = cri_block_range(r, COLUMNS, b);
        size_t    t = g.end - g.begin;
        cr_progress(cx, "gp: variances", (double)g.begin, (double)r);
        for (size_t i = 0; i < n; i++) memcpy(X + i * t, R + i * r + g.begin, t * sizeof *X);
        CR_TRY(cri_gp_multiply(cx, op, X, t, Y));
        for (size_t i = 0; i < n; i++) memcpy(W + i * r + g.begin, Y + i * t, t * sizeof *Y);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* A [n x r] := A L^-T. */
static cr_status divide(cr_ctx *cx, const double *L, size_t n, size_t r, double *A)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *T = cr_scratch_matrix(&s, r, n);

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < r; j++) T[j * n + i] = A[i * r + j];
    CR_TRY(cr_chol_forward(cx, cr_cmat_of(L, r, r), cr_mat_of(T, r, n)));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < r; j++) A[i * r + j] = T[j * n + i];
done:
    cr_scratch_end(&s);
    return st;
}

/* Moves each of some rows half way to the input nearest to it, or nearly as far away from it: to
 * where there are no data. */
static cr_status move_between(cr_ctx *cx, const cri_gp_operator *op, cri_gp_data *some, double *B)
{
    const cri_gp_data *a = op->data;
    cr_kernel_input    in = cri_gp_inputs(a), rows = cri_gp_inputs(some);
    cr_status          st = cr_kernel_cross(cx, op->k, &in, &rows, cr_mat_of(B, a->n, some->n));
    for (size_t c = 0; st == CR_OK && c < some->n; c++) {
        double *x = some->X + c * a->d;
        size_t  at = a->n;
        for (size_t i = 0; i < a->n; i++) {
            bool same = memcmp(a->X + i * a->d, x, a->d * sizeof *x) == 0;
            if (!same && (at == a->n || B[i * some->n + c] > B[at * some->n + c])) at = i;
        }
        double part = c % 2 ? 0.5 : -0.7;
        for (size_t j = 0; at < a->n && j < a->d; j++) x[j] += part * (a->X[at * a->d + j] - x[j]);
    }
    return st;
}

/* Some places between the rows: k of them, and what C^-1 explains of their variance. */
typedef struct places {
    size_t  t;
    double *B, *T; /* [n x t] k, [r x t] R^T k                                */
    double *prior, *exact, *root, *near; /* [t] k(x, x); what is explained of it, in three ways */
} places;

static cr_status find_places(cr_ctx *cx, const cri_gp_operator *op, const cri_gp_preconditioner *p,
                             const cri_gp_cg_settings *o, const cri_gp_cg_root_of *root, places *a)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    size_t           n = op->data->n, t = a->t, r = root->rank;
    cri_gp_data      some = { 0 };
    double          *X = cr_scratch_matrix(&s, n, t);
    cri_gp_cg_run    run = { .close = t,
                             .tolerance = CLOSE,
                             .max_iter = o->max_iter,
                             .what = "gp: check of the variances" };
    cri_gp_cg_report report;

    CR_TRY(s.status);
    CR_TRY(cri_gp_data_draw(cx, op->data, t, o->seed, &some));
    CR_TRY(move_between(cx, op, &some, a->B));
    cr_kernel_input in = cri_gp_inputs(op->data), rows = cri_gp_inputs(&some);
    CR_TRY(cr_kernel_cross(cx, op->k, &in, &rows, cr_mat_of(a->B, n, t)));
    CR_TRY(cr_kernel_diagonal(cx, op->k, &rows, false, a->prior));
    CR_TRY(cri_gp_cg_solve(cx, op, p, a->B, t, &run, X, &report));
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(root->R, n, r), CR_TRANSPOSED, cr_cmat_of(a->B, n, t),
                   CR_PLAIN, 0, cr_mat_of(a->T, r, t)));
    for (size_t c = 0; c < t; c++) {
        a->exact[c] = a->root[c] = 0;
        for (size_t i = 0; i < n; i++) a->exact[c] += a->B[i * t + c] * X[i * t + c];
        for (size_t j = 0; j < r; j++) a->root[c] += a->T[j * t + c] * a->T[j * t + c];
    }
done:
    cri_gp_data_free(cx, &some);
    cr_scratch_end(&s);
    return st;
}

/* The largest relative error of the sd of a target when root [+ near] is what is explained. */
static double worst_error(const places *a, double noise, bool near)
{
    double worst = 0;
    for (size_t c = 0; c < a->t; c++) {
        double exact = a->prior[c] + noise - a->exact[c];
        double ours = a->prior[c] + noise - a->root[c] - (near ? a->near[c] : 0);
        worst = fmax(worst, fabs(sqrt(fmax(ours, 0) / exact) - 1));
    }
    return worst;
}

/* The errors by the root alone and with the nearest inputs: twice as many until they do. */
static cr_status check_root(cr_ctx *cx, const cri_gp_operator *op, const cri_gp_preconditioner *p,
                            const cri_gp_cg_settings *o, cri_gp_cg_root_of *root)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = op->data->n, t = n < CHECKED ? n : CHECKED,
           most = n < CRI_GP_NEAREST_MOST ? n : CRI_GP_NEAREST_MOST;
    places a = { .t = t,
                 .B = cr_scratch_matrix(&s, n, t),
                 .T = cr_scratch_matrix(&s, root->rank, t),
                 .prior = cr_scratch_f64(&s, t),
                 .exact = cr_scratch_f64(&s, t),
                 .root = cr_scratch_f64(&s, t),
                 .near = cr_scratch_f64(&s, t) };

    CR_TRY(s.status);
    CR_TRY(find_places(cx, op, p, o, root, &a));
    root->error = root->near_error = worst_error(&a, op->noise, false);
    root->near = 0;
    for (size_t near = CRI_GP_NEAREST_LEAST; root->near_error > FINE && root->near < most;
         near *= 2) {
        root->near = near < most ? near : most;
        cri_gp_nearest by = { op->data, op->k, op->noise, root->rank, root->near, root->W };
        memset(a.near, 0, t * sizeof *a.near);
        cr_progress(cx, "gp: check of the variances", (double)near,
                    (double)CRI_GP_NEAREST_MOST + (double)near);
        CR_TRY(cri_gp_nearest_take(cx, &by, a.B, a.T, t, a.near));
        root->near_error = worst_error(&a, op->noise, true);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* R [n x r] := P^-1 F = D^-1/2 G^T (I + G G^T)^-1, its first r columns. */
static cr_status span(cr_ctx *cx, const cri_gp_preconditioner *p, size_t r, double *R)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = p->n, m = p->rank;
    double    *Y = cr_scratch_matrix(&s, m, m), *T = cr_scratch_matrix(&s, m, r);

    CR_TRY(s.status);
    CR_TRY(cr_chol_inverse(cx, cr_cmat_of(p->L, m, m), cr_mat_of(Y, m, m)));
    for (size_t i = 0; i < m; i++) memcpy(T + i * r, Y + i * m, r * sizeof *T);
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(p->G, m, n), CR_TRANSPOSED, cr_cmat_of(T, m, r), CR_PLAIN, 0,
                   cr_mat_of(R, n, r)));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < r; j++) R[i * r + j] /= sqrt(p->D[i]);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_cg_root(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                         double noise, const cri_gp_cg_settings *settings, size_t most,
                         cri_gp_cg_root_of *root)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = problem->data->n, r, rank = settings->rank ? settings->rank : cri_gp_cg_rank(n);
    size_t     wanted = most > rank ? most : rank;
    size_t    *landmarks = cr_scratch_index(&s, wanted < n ? wanted : n);
    cri_gp_operator       op;
    cri_gp_preconditioner p;
    cr_jitter             jitter;
    double               *G;

    CR_TRY(s.status);
    CR_TRY(cri_gp_operator_new(cx, &s, problem->data, k, noise, &op));
    CR_TRY(cri_gp_cg_landmarks(cx, &op, wanted, settings->seed, landmarks, &rank));
    CR_TRY(cri_gp_preconditioner_new(cx, &s, &op, landmarks, rank, &p));
    root->rank = r = rank < most ? rank : most;
    G = cr_scratch_matrix(&s, r, r);
    CR_TRY(s.status);
    CR_TRY(span(cx, &p, r, root->R));
    CR_TRY(multiply_all(cx, &op, root->R, r, root->W));
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(root->R, n, r), CR_TRANSPOSED, cr_cmat_of(root->W, n, r),
                   CR_PLAIN, 0, cr_mat_of(G, r, r)));
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < i; j++)
            G[i * r + j] = G[j * r + i] = 0.5 * (G[i * r + j] + G[j * r + i]);
    CR_TRY(cr_chol_jitter(cx, cr_mat_of(G, r, r), &jitter));
    CR_TRY(divide(cx, G, n, r, root->R));
    CR_TRY(divide(cx, G, n, r, root->W));
    CR_TRY(check_root(cx, &op, &p, settings, root));
done:
    cr_scratch_end(&s);
    return st;
}
