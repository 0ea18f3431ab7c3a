/* anderson.c -- see anderson.h. */
#include "anderson.h"
#include "math/dense/chol.h"

#include <math.h>
#include <string.h>

static const double RIDGE = 1e-8;

void cri_anderson_begin(cr_scratch *s, size_t n, size_t m, cri_anderson *out)
{
    *out = (cri_anderson){ .n = n, .m = m };
    out->F = cr_scratch_matrix(s, m, n);
    out->G = cr_scratch_matrix(s, m, n);
    out->f = cr_scratch_f64(s, n);
    out->g = cr_scratch_f64(s, n);
    out->A = cr_scratch_matrix(s, m, m);
    out->b = cr_scratch_f64(s, m);
}

void cri_anderson_forget(cri_anderson *a)
{
    a->k = a->next = 0;
    a->started = false;
}

static double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

void cri_anderson_note(cri_anderson *a, const double *x, const double *g)
{
    double size = 0;
    for (size_t i = 0; a->started && i < a->n; i++) {
        double F = g[i] - x[i] - a->f[i];
        size += F * F;
    }
    if (size > 1e-200 && isfinite(size)) { /* the oldest one is overwritten */
        double *F = a->F + a->next * a->n, *G = a->G + a->next * a->n;
        for (size_t i = 0; i < a->n; i++) F[i] = g[i] - x[i] - a->f[i], G[i] = g[i] - a->g[i];
        a->next = (a->next + 1) % a->m;
        if (a->k < a->m) a->k++;
    }
    for (size_t i = 0; i < a->n; i++) a->f[i] = g[i] - x[i], a->g[i] = g[i];
    a->started = true;
}

cr_status cri_anderson_next(cr_ctx *cx, cri_anderson *a, double *out)
{
    cr_status st = CR_OK;
    size_t    n = a->n, k = a->k;

    memcpy(out, a->g, n * sizeof *out);
    if (k == 0) goto done;
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j <= i; j++)
            a->A[i * k + j] = a->A[j * k + i] = dot(a->F + i * n, a->F + j * n, n);
        a->b[i] = dot(a->F + i * n, a->f, n);
        a->A[i * (k + 1)] *= 1 + RIDGE;
    }
    CR_TRY(cr_chol(cx, cr_mat_of(a->A, k, k)));
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(a->A, k, k), cr_mat_of(a->b, k, 1)));
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < n; i++) out[i] -= a->b[j] * a->G[j * n + i];
done:
    return st;
}
