/* gp_draws.c -- draws through the Cholesky factor, or a pivoted one where S is singular. */
#include "gp_draws.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"
#include "base/find.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* F [n x n] := a root of S, S = F F^T up to the floor, by Cholesky with pivoting; columns beyond
 * the rank are 0.  left [n] is workspace. */
static cr_status pivoted_root(cr_ctx *cx, const double *S, size_t n, double floor, double *left,
                              double *F)
{
    cr_status st = CR_OK;
    memset(F, 0, n * n * sizeof *F);
    for (size_t i = 0; i < n; i++) left[i] = S[i * n + i];
    for (size_t r = 0; r < n; r++) {
        size_t p = cri_largest(left, n);
        if (!(left[p] > floor)) break;
        double root = sqrt(left[p]);
        for (size_t i = 0; i < n; i++) {
            F[i * n + r] = i == p ? root : (S[p * n + i] - cr_dot(F + i * n, F + p * n, r)) / root;
            left[i] -= F[i * n + r] * F[i * n + r];
        }
        left[p] = 0;
        CR_TRY(cr_check_interrupt(cx));
    }
done:
    return st;
}

/* F [n x n] := a root of S: its Cholesky factor where there is one. */
static cr_status root_of(cr_ctx *cx, const double *S, size_t n, double floor, double *left,
                         double *F)
{
    memcpy(F, S, n * n * sizeof *F);
    cr_status st = cr_chol(cx, cr_mat_of(F, n, n));
    if (st == CR_ENUMERIC) return pivoted_root(cx, S, n, floor, left, F);
    for (size_t i = 0; st == CR_OK && i < n; i++)
        for (size_t j = i + 1; j < n; j++) F[i * n + j] = 0;
    return st;
}

cr_status cri_gp_draw(cr_ctx *cx, const double *mean, const double *S, size_t n,
                      const double *prior, size_t count, uint64_t seed, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *F = cr_scratch_matrix(&s, n, n), *Z = cr_scratch_matrix(&s, n, count);
    double    *left = cr_scratch_f64(&s, n), most = 0;

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) most = fmax(most, prior[i]);
    CR_TRY(root_of(cx, S, n, 4 * (double)n * DBL_EPSILON * most, left, F));
    for (size_t c = 0; c < count; c++) {
        cr_rng rng = cr_rng_stream(seed, c);
        for (size_t i = 0; i < n; i++) Z[i * count + c] = cr_rng_normal(&rng);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < count; c++) out[i * count + c] = mean[i];
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(F, n, n), CR_PLAIN, cr_cmat_of(Z, n, count), CR_PLAIN, 1,
                   cr_mat_of(out, n, count)));
done:
    cr_scratch_end(&s);
    return st;
}
