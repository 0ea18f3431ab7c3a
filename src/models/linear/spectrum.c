/* spectrum.c -- eigenvalues of cross-products. */
#include "spectrum.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"
#include "math/dense/decompose.h"
#include "math/dense/lapack.h"

#include <math.h>

/* Sizes of columns within this factor leave the plain decomposition all the accuracy it needs. */
static const double ALIKE = 16;

static bool columns_are_alike(const cri_gram *g)
{
    double least = INFINITY, most = 0;
    for (size_t j = 0; j < g->p; j++) {
        double size = sqrt(g->G[j * g->p + j]);
        if (size > 0) least = fmin(least, size);
        most = fmax(most, size);
    }
    return !(most > ALIKE * least);
}

/* Directions whose eigenvalue is rounding; returns their number, the first of the ascending d. */
static size_t count_untold(const double *d, size_t p)
{
    size_t n = 0;
    while (n < p && !(d[n] > 0x1p-50 * (double)p * d[p - 1])) n++;
    return n;
}

static cr_status plain_spectrum(cr_ctx *cx, const cri_gram *g, double *d, double *V)
{
    size_t    p = g->p;
    cr_status st = cr_eigen(cx, cr_cmat_of(g->G, p, p), d, cr_mat_of(V, p, p));
    for (size_t k = 0, n = st == CR_OK ? count_untold(d, p) : 0; k < n; k++) d[k] = 0;
    return st;
}

/* A [p x p] := diag(sqrt(e)) U^T D for C = U diag(e) U^T, so that A^T A = D C D = G; column-major.
 * C has ones on its diagonal (zeros for columns that are zero).  Returns via untold how many e are
 * 0. */
static cr_status factor_of(cr_ctx *cx, const cri_gram *g, cr_scratch *s, double *A, size_t *untold)
{
    cr_status st = CR_OK;
    size_t    p = g->p;
    double   *C = cr_scratch_matrix(s, p, p), *U = cr_scratch_matrix(s, p, p);
    double   *e = cr_scratch_f64(s, p), *size = cr_scratch_f64(s, p);
    CR_TRY(s->status);
    for (size_t j = 0; j < p; j++) size[j] = sqrt(g->G[j * p + j]);
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) {
            double by = size[i] * size[j];
            C[i * p + j] = by > 0 ? g->G[i * p + j] / by : 0;
        }
    CR_TRY(cr_eigen(cx, cr_cmat_of(C, p, p), e, cr_mat_of(U, p, p)));
    *untold = count_untold(e, p);
    for (size_t j = 0; j < p; j++)
        for (size_t k = 0; k < p; k++)
            A[j * p + k] = k < *untold ? 0 : sqrt(e[k]) * U[j * p + k] * size[j];
done:
    return st;
}

cr_status cri_gram_spectrum(cr_ctx *cx, const cri_gram *g, double *out_d, double *out_V)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = g->p, untold = 0;
    double    *A, *V, *singular, *work;

    if (columns_are_alike(g)) return plain_spectrum(cx, g, out_d, out_V);
    A = cr_scratch_matrix(&s, p, p);
    V = cr_scratch_matrix(&s, p, p);
    singular = cr_scratch_f64(&s, p);
    work = cr_scratch_f64(&s, p + p > 6 ? p + p : 6);
    CR_TRY(s.status);
    CR_TRY(cri_blas_check(cx, "spectrum", cr_cmat_of(g->G, p, p)));
    CR_TRY(factor_of(cx, g, &s, A, &untold));
    cri_blas_enter();
    int info = cri_dgesvj((int)p, A, singular, V, work, (int)(p + p > 6 ? p + p : 6));
    cri_blas_leave();
    if (info !=
        0) { /* rotations may go on for ever among directions that the rows do not tell of */
        CR_TRY(plain_spectrum(cx, g, out_d, out_V));
        goto done;
    }
    for (size_t k = 0; k < p; k++) { /* LAPACK's are descending, and times work[0] */
        double root = singular[p - 1 - k] * work[0];
        out_d[k] = k < untold ? 0 : root * root;
        for (size_t j = 0; j < p; j++) out_V[j * p + k] = V[(p - 1 - k) * p + j];
    }
done:
    cr_scratch_end(&s);
    return st;
}
