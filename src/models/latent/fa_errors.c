/* fa_errors.c -- standard errors of factor analysis.
 * With A = S^-1, B = A W^T [p x q], D = W B [q x q], Fisher's information of n normal rows about the loadings w_ir
 * (column i, factor r) and the uniquenesses is
 *   I(w_ir, w_js) = n (A_ij D_rs + B_is B_jr),   I(w_ir, psi_j) = n A_ij B_jr,   I(psi_i, psi_j) = n/2 A_ij^2.
 * It knows nothing of rotations: N I = 0 for the k = q (q - 1) / 2 directions N [k x m] of W -> T W.  What fixes the axes,
 * c(W, psi) = 0 with gradient C [k x m], makes up for that: the covariance is P (I + N^T N)^-1 P^T with
 * P = 1 - N^T (C N^T)^-1 C, which leaves out what goes along a rotation.  What is shown, columns divided by their sds,
 * factors at any angles, is a function of these numbers: J P (I + N^T N)^-1 P^T J^T, J by central differences.
 * Archer & Jennrich (1973), Psychometrika 38; Jennrich (1974), Psychometrika 39. */
#include "fa.h"
#include "rotation.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/decompose.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

static const double MOST = 2e10; /* operations that the errors may take */
static const double STEP = 1e-5; /* of differences                      */
static const double FLAT =
    1e-10; /* axes whose condition has a gradient of less than this share are not fixed */

bool cri_fa_affordable(size_t p, size_t q) { return pow((double)cri_fa_width(p, q), 3) <= MOST; }

/* --- the information -------------------------------------------------------------------------- */

/* A = S^-1 of the columns at [n], and B = A W^T [n x q]. */
static cr_status invert(cr_ctx *cx, const cri_fa_fitted *of, const size_t *at, size_t n, double *A,
                        double *B)
{
    cr_status st = CR_OK;
    size_t    p = of->p, q = of->q;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            A[i * n + j] = i == j ? of->psi[at[i]] : 0;
            for (size_t r = 0; r < q; r++)
                A[i * n + j] += of->W[r * p + at[i]] * of->W[r * p + at[j]];
        }
    CR_TRY(cr_chol(cx, cr_mat_of(A, n, n)));
    CR_TRY(cr_chol_inverse(cx, cr_cmat_of(A, n, n), cr_mat_of(A, n, n)));
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < q; r++) {
            B[i * q + r] = 0;
            for (size_t j = 0; j < n; j++) B[i * q + r] += A[i * n + j] * of->W[r * p + at[j]];
        }
done:
    return st;
}

cr_status cri_fa_add_information(cr_ctx *cx, const cri_fa_fitted *of, const size_t *at, size_t n,
                                 double weight, double *I)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = of->p, q = of->q, m = cri_fa_width(p, q);
    double    *A = cr_scratch_matrix(&s, n, n), *B = cr_scratch_matrix(&s, n, q);
    double    *D = cr_scratch_matrix(&s, q, q);

    CR_TRY(s.status);
    CR_TRY(invert(cx, of, at, n, A, B));
    for (size_t r = 0; r < q; r++)
        for (size_t t = 0; t < q; t++) {
            D[r * q + t] = 0;
            for (size_t i = 0; i < n; i++) D[r * q + t] += of->W[r * p + at[i]] * B[i * q + t];
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double  a = A[i * n + j];
            double *block = I + at[i] * (q + 1) * m + at[j] * (q + 1);
            for (size_t r = 0; r < q; r++) {
                for (size_t t = 0; t < q; t++)
                    block[r * m + t] += weight * (a * D[r * q + t] + B[i * q + t] * B[j * q + r]);
                block[r * m + q] += weight * a * B[j * q + r];
                block[q * m + r] += weight * a * B[i * q + r];
            }
            block[q * m + q] += weight * 0.5 * a * a;
        }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the covariance of loadings and uniquenesses ---------------------------------------------- */

/* How the loadings change when factors a and b turn in their plane: out [m]. */
static void set_rotation(const cri_fa_fitted *of, size_t a, size_t b, double *out)
{
    size_t p = of->p, q = of->q;
    memset(out, 0, cri_fa_width(p, q) * sizeof *out);
    for (size_t i = 0; i < p; i++) {
        out[i * (q + 1) + a] = of->W[b * p + i];
        out[i * (q + 1) + b] = -of->W[a * p + i];
    }
}

/* The gradient of what fixes these two: of varimax, or of w_a . diag(psi)^-1 w_b = 0. */
static void set_condition(const cri_fa_fitted *of, size_t a, size_t b, double *out)
{
    size_t p = of->p, q = of->q;
    if (of->rotation != CRI_ROTATION_NONE) {
        cri_varimax_condition(p, q, of->W, a, b, out);
        return;
    }
    memset(out, 0, cri_fa_width(p, q) * sizeof *out);
    for (size_t i = 0; i < p; i++) {
        double x = of->W[a * p + i], y = of->W[b * p + i], psi = of->psi[i];
        out[i * (q + 1) + a] = y / psi;
        out[i * (q + 1) + b] = x / psi;
        out[i * (q + 1) + q] = of->at_bound[i] > 0 ? 0 : -x * y / (psi * psi);
    }
}

/* Solves A [k x k] X = B [k x m] over B; false where A has no inverse. */
static cr_status solve_small(cr_ctx *cx, const double *A, size_t k, double *B, size_t m,
                             bool *out_solved)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *b = cr_scratch_f64(&s, k);
    cr_qr      qr = { 0 };
    CR_TRY(s.status);
    CR_TRY(cr_qr_new(cx, cr_cmat_of(A, k, k), FLAT, &qr));
    *out_solved = qr.rank == k;
    for (size_t j = 0; j < m && *out_solved; j++) {
        for (size_t i = 0; i < k; i++) b[i] = B[i * m + j];
        CR_TRY(cr_qr_apply(cx, &qr, true, b));
        cr_qr_solve_r(&qr, false, b);
        for (size_t i = 0; i < k; i++) B[qr.pivot[i] * m + j] = b[i];
    }
done:
    cr_qr_free(cx, &qr);
    cr_scratch_end(&s);
    return st;
}

/* G = (I + c N^T N)^-1 over I, uniquenesses at their bounds taken as known; false where it has none.  c makes both of
 * one size. */
static cr_status invert_information(cr_ctx *cx, const cri_fa_fitted *of, const double *N, size_t k,
                                    double *I, bool *out_known)
{
    cr_status st = CR_OK;
    size_t    q = of->q, m = cri_fa_width(of->p, q);
    double    trace = 0, square = 0;
    for (size_t i = 0; i < of->p; i++) {
        size_t u = i * (q + 1) + q;
        for (size_t j = 0; j < m && of->at_bound[i] > 0; j++) I[u * m + j] = I[j * m + u] = j == u;
        for (size_t r = 0; r < q; r++) trace += I[(i * (q + 1) + r) * (m + 1)];
    }
    for (size_t i = 0; i < k * m; i++) square += N[i] * N[i];
    if (k > 0)
        CR_TRY(cr_gemm(cx, trace / square, cr_cmat_of(N, k, m), CR_TRANSPOSED, cr_cmat_of(N, k, m),
                       CR_PLAIN, 1, cr_mat_of(I, m, m)));
    st = cr_chol(cx, cr_mat_of(I, m, m));
    *out_known = st == CR_OK;
    if (st == CR_ENUMERIC) st = CR_OK;
    CR_TRY(st);
    if (!*out_known) goto done;
    CR_TRY(cr_chol_inverse(cx, cr_cmat_of(I, m, m), cr_mat_of(I, m, m)));
    for (size_t i = 0; i < of->p; i++)
        for (size_t j = 0, u = i * (q + 1) + q; j < m && of->at_bound[i] > 0; j++)
            I[u * m + j] = I[j * m + u] = 0;
done:
    return st;
}

/* J := J P = J - (J N^T) (C N^T)^-1 C, J [n x m]; false where the axes are not fixed. */
static cr_status fix_axes(cr_ctx *cx, const cri_fa_fitted *of, const double *N, size_t k, double *J,
                          size_t n, bool *out_fixed)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     m = cri_fa_width(of->p, of->q), at = 0;
    double    *C = cr_scratch_matrix(&s, k, m), *CN = cr_scratch_matrix(&s, k, k);
    double    *JN = cr_scratch_matrix(&s, n, k);

    CR_TRY(s.status);
    *out_fixed = true;
    if (k == 0) goto done;
    for (size_t a = 0; a < of->q; a++)
        for (size_t b = a + 1; b < of->q; b++) set_condition(of, a, b, C + m * at++);
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(C, k, m), CR_PLAIN, cr_cmat_of(N, k, m), CR_TRANSPOSED, 0,
                   cr_mat_of(CN, k, k)));
    CR_TRY(solve_small(cx, CN, k, C, m, out_fixed));
    if (!*out_fixed) goto done;
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(J, n, m), CR_PLAIN, cr_cmat_of(N, k, m), CR_TRANSPOSED, 0,
                   cr_mat_of(JN, n, k)));
    CR_TRY(cr_gemm(cx, -1, cr_cmat_of(JN, n, k), CR_PLAIN, cr_cmat_of(C, k, m), CR_PLAIN, 1,
                   cr_mat_of(J, n, m)));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- what is shown ---------------------------------------------------------------------------- */

/* Numbers that are shown: loadings and uniquenesses, column by column, then the correlations of factors. */
static size_t shown_width(size_t p, size_t q) { return cri_fa_width(p, q) + q * q; }

/* What is shown for loadings and uniquenesses x [m]: out [shown_width].  work [2 q p + 5 q q]. */
static void show(const cri_fa_fitted *of, const double *x, double *out, double *work)
{
    size_t  p = of->p, q = of->q, m = cri_fa_width(p, q);
    double *W = work, *pattern = W + q * p, *turn = pattern + q * p, *rest = turn + q * q;
    memset(out + m, 0, q * q * sizeof *out);
    for (size_t i = 0; i < p; i++) {
        double variance = x[i * (q + 1) + q];
        for (size_t r = 0; r < q; r++) variance += x[i * (q + 1) + r] * x[i * (q + 1) + r];
        for (size_t r = 0; r < q; r++) W[r * p + i] = x[i * (q + 1) + r] / sqrt(variance);
        out[i * (q + 1) + q] = x[i * (q + 1) + q] / (of->standardised ? variance : 1);
    }
    bool oblique = of->rotation == CRI_ROTATION_PROMAX &&
                   cri_promax(p, q, of->power, W, pattern, turn, out + m, rest);
    for (size_t i = 0; i < p; i++) {
        double unit = 1;
        if (!of->standardised) {
            double variance = x[i * (q + 1) + q];
            for (size_t r = 0; r < q; r++) variance += x[i * (q + 1) + r] * x[i * (q + 1) + r];
            unit = sqrt(variance);
        }
        for (size_t r = 0; r < q; r++)
            out[i * (q + 1) + r] = unit * (oblique ? pattern : W)[r * p + i];
    }
}

/* J [shown_width x m] by central differences. */
static cr_status differentiate(cr_ctx *cx, const cri_fa_fitted *of, double *J)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = of->p, q = of->q, m = cri_fa_width(p, q), n = shown_width(p, q);
    double *x = cr_scratch_f64(&s, m), *up = cr_scratch_f64(&s, n), *down = cr_scratch_f64(&s, n);
    double *work = cr_scratch_f64(&s, 2 * q * p + 5 * q * q);

    CR_TRY(s.status);
    for (size_t i = 0; i < p; i++) {
        for (size_t r = 0; r < q; r++) x[i * (q + 1) + r] = of->W[r * p + i];
        x[i * (q + 1) + q] = of->psi[i];
    }
    for (size_t j = 0; j < m; j++) {
        double at = x[j];
        if (j % 64 == 0) CR_TRY(cr_check_interrupt(cx));
        x[j] = at + STEP, show(of, x, up, work);
        x[j] = at - STEP, show(of, x, down, work);
        x[j] = at;
        for (size_t i = 0; i < n; i++) J[i * m + j] = (up[i] - down[i]) / (2 * STEP);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* sd [n]: the roots of the diagonal of J G J^T, JG [n x m] workspace. */
static cr_status find_sds(cr_ctx *cx, const double *J, const double *G, size_t n, size_t m,
                          double *JG, double *sd)
{
    cr_status st = cr_gemm(cx, 1, cr_cmat_of(J, n, m), CR_PLAIN, cr_cmat_of(G, m, m), CR_PLAIN, 0,
                           cr_mat_of(JG, n, m));
    for (size_t i = 0; i < n && st == CR_OK; i++)
        sd[i] = sqrt(fmax(cr_dot(J + i * m, JG + i * m, m), 0));
    return st;
}

cr_status cri_fa_errors(cr_ctx *cx, const cri_fa_fitted *of, double *I, double *loading_sd,
                        double *psi_sd, double *correlation_sd)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = of->p, q = of->q, m = cri_fa_width(p, q), n = shown_width(p, q), at = 0;
    size_t     k = q * (q - 1) / 2;
    double    *N = cr_scratch_matrix(&s, k, m), *J = cr_scratch_matrix(&s, n, m);
    double    *JG = cr_scratch_matrix(&s, n, m), *sd = cr_scratch_f64(&s, n);
    bool       known = false, fixed = false;

    CR_TRY(s.status);
    for (size_t a = 0; a < q; a++)
        for (size_t b = a + 1; b < q; b++) set_rotation(of, a, b, N + m * at++);
    CR_TRY(invert_information(cx, of, N, k, I, &known));
    for (size_t i = 0; i < n; i++) sd[i] = INFINITY;
    if (known) {
        CR_TRY(differentiate(cx, of, J));
        CR_TRY(fix_axes(cx, of, N, k, J, n, &fixed));
        CR_TRY(find_sds(cx, J, I, n, m, JG, sd));
    }
    for (size_t i = 0; i < p; i++) {
        for (size_t r = 0; r < q; r++)
            loading_sd[r * p + i] = fixed ? sd[i * (q + 1) + r] : INFINITY;
        psi_sd[i] = of->at_bound[i] > 0 ? INFINITY : sd[i * (q + 1) + q];
    }
    for (size_t r = 0; r < q * q; r++) correlation_sd[r] = fixed ? sd[m + r] : INFINITY;
done:
    cr_scratch_end(&s);
    return st;
}
