/* gp_basis.c -- row by row, with a bounded basis. */
#include "gp_basis.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

/* Inputs of the basis have a variance of their own, this share of that of f: L stays far from
 * singular, as it would not for inputs side by side, and predictions are those of noise larger by
 * that.  An input of which the basis leaves no more open is not taken in. */
static const double OWN = 1e-12;

cr_status cri_gp_basis_new(cr_scratch *s, size_t most, size_t d, size_t c, cri_gp_basis *out)
{
    size_t capacity = most + 1;
    *out = (cri_gp_basis){ .capacity = capacity,
                           .d = d,
                           .c = c,
                           .X = cr_scratch_matrix(s, capacity, d),
                           .codes = cr_scratch_bytes(s, capacity * c, sizeof(uint32_t)),
                           .mu = cr_scratch_f64(s, capacity),
                           .L = cr_scratch_matrix(s, capacity, capacity),
                           .Sigma = cr_scratch_matrix(s, capacity, capacity) };
    return s->status;
}

cr_status cri_gp_basis_from(cr_scratch *s, const cri_gp_data *at, const double *mu, const double *L,
                            const double *Sigma, size_t most, cri_gp_basis *out)
{
    cr_status st = CR_OK;
    size_t    n = at->n;
    CR_TRY(cri_gp_basis_new(s, most < n ? n : most, at->d, at->c, out));
    out->n = n;
    if (at->d) memcpy(out->X, at->X, n * at->d * sizeof(double));
    if (at->c) memcpy(out->codes, at->codes, n * at->c * sizeof(uint32_t));
    memcpy(out->mu, mu, n * sizeof(double));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            out->L[i * out->capacity + j] = j <= i ? L[i * n + j] : 0;
            out->Sigma[i * out->capacity + j] = Sigma[i * n + j];
        }
done:
    return st;
}

static cr_kernel_input inputs_of(const cri_gp_basis *b)
{
    return (cr_kernel_input){
        .rows = b->n, .numbers = cr_cmat_of(b->X, b->n, b->d), .codes = b->codes, .categories = b->c
    };
}

/* w = L^-1 k in place. */
static void solve_forward(const cri_gp_basis *b, double *w)
{
    for (size_t i = 0; i < b->n; i++) {
        const double *row = b->L + i * b->capacity;
        w[i] = (w[i] - cr_dot(row, w, i)) / row[i];
    }
}

/* --- removal --------------------------------------------------------------------------------- */

/* The input of least weight: Y [n x n] and T [n x n] are workspace. */
static cr_status least_needed(cr_ctx *cx, const cri_gp_basis *b, double *Y, double *T, double *a,
                              size_t *out)
{
    cr_status st = CR_OK;
    size_t    n = b->n;
    double    least = INFINITY;
    cr_cmat   L = cr_const(cr_mat_part(cr_mat_of(b->L, b->capacity, b->capacity), 0, 0, n, n));
    cr_cmat   Sigma =
        cr_const(cr_mat_part(cr_mat_of(b->Sigma, b->capacity, b->capacity), 0, 0, n, n));
    memset(Y, 0, n * n * sizeof *Y);
    for (size_t i = 0; i < n; i++) Y[i * (n + 1)] = 1, a[i] = b->mu[i];
    CR_TRY(cr_chol_forward(cx, L, cr_mat_of(Y, n, n))); /* L^-1 */
    CR_TRY(cr_chol_backward(cx, L, cr_mat_of(a, n, 1)));
    CR_TRY(cr_gemm(cx, 1, Sigma, CR_PLAIN, cr_cmat_of(Y, n, n), CR_PLAIN, 0, cr_mat_of(T, n, n)));
    for (size_t i = 0; i < n; i++) {
        double B = 0;
        for (size_t j = 0; j < n; j++) B += Y[j * n + i] * T[j * n + i];
        double score = a[i] * a[i] / B;
        if (score < least) least = score, *out = i;
    }
done:
    return st;
}

/* The coordinates j and j + 1 of u turned by (c, s). */
static void turn(cri_gp_basis *b, size_t j, double c, double s)
{
    size_t n = b->n, capacity = b->capacity;
    double p = b->mu[j], q = b->mu[j + 1];
    b->mu[j] = c * p + s * q;
    b->mu[j + 1] = c * q - s * p;
    for (size_t i = 0; i < n; i++) { /* columns of L and of Sigma */
        double *at = b->L + i * capacity + j, x = at[0], y = at[1];
        at[0] = c * x + s * y, at[1] = c * y - s * x;
        at = b->Sigma + i * capacity + j, x = at[0], y = at[1];
        at[0] = c * x + s * y, at[1] = c * y - s * x;
    }
    for (size_t i = 0; i < n; i++) { /* rows of Sigma */
        double *at = b->Sigma + j * capacity + i, x = at[0], y = at[capacity];
        at[0] = c * x + s * y, at[capacity] = c * y - s * x;
    }
}

/* Takes input `gone` out: its row of L goes, rotations make the rest triangular again, and the last
 * coordinate, which nothing turns on any more, is dropped. */
static void take_out(cri_gp_basis *b, size_t gone)
{
    size_t n = b->n, capacity = b->capacity;
    for (size_t i = gone; i + 1 < n; i++) {
        memcpy(b->L + i * capacity, b->L + (i + 1) * capacity, n * sizeof(double));
        if (b->d) memcpy(b->X + i * b->d, b->X + (i + 1) * b->d, b->d * sizeof(double));
        if (b->c) memcpy(b->codes + i * b->c, b->codes + (i + 1) * b->c, b->c * sizeof(uint32_t));
    }
    for (size_t j = 0; j < n; j++) b->L[(n - 1) * capacity + j] = 0;
    for (size_t j = gone; j + 1 < n; j++) {
        double x = b->L[j * capacity + j], y = b->L[j * capacity + j + 1], r = hypot(x, y);
        turn(b, j, x / r, y / r);
        b->L[j * capacity + j + 1] = 0;
    }
    b->n--;
}

/* --- rows ------------------------------------------------------------------------------------ */

static void extend(cri_gp_basis *b, const cri_gp_data *data, size_t row, double *w, double open)
{
    size_t n = b->n, capacity = b->capacity;
    if (b->d) memcpy(b->X + n * b->d, data->X + row * b->d, b->d * sizeof(double));
    if (b->c) memcpy(b->codes + n * b->c, data->codes + row * b->c, b->c * sizeof(uint32_t));
    w[n] = sqrt(open);
    b->mu[n] = 0;
    for (size_t i = 0; i <= n; i++) {
        b->L[i * capacity + n] = 0;
        b->L[n * capacity + i] = w[i];
        b->Sigma[i * capacity + n] = b->Sigma[n * capacity + i] = i == n;
    }
    b->n++;
}

/* One row with k in w; t [capacity] is workspace. */
static void take_in(cri_gp_basis *b, const cri_gp_data *data, size_t row, double own, double y,
                    double noise, double *w, double *t)
{
    solve_forward(b, w);
    double open = fmax(own - cr_dot(w, w, b->n), 0), mean = cr_dot(w, b->mu, b->n);
    double little = OWN * own;
    if (open > little) {
        extend(b, data, row, w, open + little);
        open = 0;
    }
    size_t n = b->n, capacity = b->capacity;
    for (size_t i = 0; i < n; i++) t[i] = cr_dot(b->Sigma + i * capacity, w, n);
    double v = cr_dot(w, t, n) + open + noise, e = y - mean;
    b->log_score += -0.5 * (log(2 * M_PI * v) + e * e / v);
    for (size_t i = 0; i < n; i++) {
        b->mu[i] += t[i] * e / v;
        for (size_t j = 0; j < n; j++) b->Sigma[i * capacity + j] -= t[i] * t[j] / v;
    }
}

cr_status cri_gp_basis_add(cr_ctx *cx, const cr_kernel *k, double noise, const cri_gp_data *data,
                           cri_gp_basis *b)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     capacity = b->capacity, least = 0;
    double    *w = cr_scratch_f64(&s, capacity), *t = cr_scratch_f64(&s, capacity);
    double    *Y = cr_scratch_matrix(&s, capacity, capacity),
           *T = cr_scratch_matrix(&s, capacity, capacity);
    double         *own = cr_scratch_f64(&s, data->n);
    cr_kernel_input all = cri_gp_inputs(data);

    CR_TRY(s.status);
    CR_TRY(cr_kernel_diagonal(cx, k, &all, false, own));
    for (size_t i = 0; i < data->n; i++) {
        cr_kernel_input at = inputs_of(b);
        cr_kernel_input one = { .rows = 1,
                                .numbers = cr_cmat_of(data->X + i * data->d, 1, data->d),
                                .codes = data->codes + i * data->c,
                                .categories = data->c };
        if (b->n > 0) CR_TRY(cr_kernel_cross(cx, k, &at, &one, cr_mat_of(w, b->n, 1)));
        take_in(b, data, i, own[i], data->y[i], noise * data->r[i], w, t);
        if (b->n == capacity) {
            CR_TRY(least_needed(cx, b, Y, T, t, &least));
            take_out(b, least);
        }
        if (i % 64 == 0) CR_TRY(cr_check_interrupt(cx));
    }
    b->log_score += cri_gp_merged(data, noise);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_basis_solve(cr_ctx *cx, const cri_gp_basis *b, double *alpha, double *L2)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = b->n;
    double    *F = cr_scratch_matrix(&s, n, n);
    cr_jitter  added;

    CR_TRY(s.status);
    memcpy(alpha, b->mu, n * sizeof(double));
    CR_TRY(cr_chol_backward(
        cx, cr_const(cr_mat_part(cr_mat_of(b->L, b->capacity, b->capacity), 0, 0, n, n)),
        cr_mat_of(alpha, n, 1)));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            F[i * n + j] = 0.5 * (b->Sigma[i * b->capacity + j] + b->Sigma[j * b->capacity + i]);
    CR_TRY(cr_chol_jitter(cx, cr_mat_of(F, n, n), &added));
    CR_TRY(cr_chol_inverse(cx, cr_cmat_of(F, n, n), cr_mat_of(L2, n, n)));
    CR_TRY(cr_chol(cx, cr_mat_of(L2, n, n)));
done:
    cr_scratch_end(&s);
    return st;
}
