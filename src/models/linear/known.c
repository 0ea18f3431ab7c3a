/* known.c -- what the gradients at earlier residuals tell of the one at another residual. */
#include "known.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* How many directions are worth keeping of columns: 0 where they are as short as what is kept. */
static size_t known_most(const cri_columns *X)
{
    enum { LEAST = 2, MOST = 16, LONGER = 16 }; /* a column against what is kept of it */
    size_t most = X->Z ? X->n / LONGER : 0;
    return most < LEAST ? 0 : most < MOST ? most : MOST;
}

cr_status cri_known_new(cr_scratch *s, const cri_columns *X, const double *r,
                        const double *products, cri_known_gradients *out)
{
    size_t              most = known_most(X);
    cri_known_gradients k = { .X = X,
                              .most = most,
                              .Q = cr_scratch_matrix(s, most, X->residual_size),
                              .P = cr_scratch_matrix(s, most, X->p),
                              .a = cr_scratch_f64(s, most),
                              .v = cr_scratch_f64(s, most ? X->residual_size : 0),
                              .guess = cr_scratch_f64(s, most ? X->p : 0) };
    if (s->status != CR_OK) return s->status;
    if (most > 0) {
        cri_known_look(&k, r);
        cri_known_add(&k, products, 1);
    }
    *out = k;
    return CR_OK;
}

/* v -= Q^T Q v, what is taken off added to a. */
static void take_off(cri_known_gradients *k)
{
    const cri_columns *X = k->X;
    for (size_t e = 0; e < k->count; e++) {
        const double *q = k->Q + e * X->residual_size;
        double        share = X->inner(X, q, k->v);
        k->a[e] += share;
        cblas_daxpy((int)X->residual_size, -share, q, 1, k->v, 1);
    }
}

void cri_known_look(cri_known_gradients *k, const double *r)
{
    const double       ROUNDING = 1e-10; /* far above it */
    const cri_columns *X = k->X;
    memcpy(k->v, r, X->residual_size * sizeof(double));
    memset(k->a, 0, k->count * sizeof(double));
    take_off(k);
    take_off(k); /* what rounding left */
    k->rounding = ROUNDING * sqrt(X->inner(X, r, r));
    k->length = sqrt(X->inner(X, k->v, k->v)) + k->rounding;
    if (k->count == 0)
        memset(k->guess, 0, X->p * sizeof(double));
    else
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)k->count, (int)X->p, 1, k->P, (int)X->p, k->a,
                    1, 0, k->guess, 1);
}

/* Where there is no room, the part of the residual last looked at that lies in the span of all
 * directions takes their place: along a path the oldest tell the least. */
static void reserve(cri_known_gradients *k)
{
    const cri_columns *X = k->X;
    double             length = cblas_dnrm2((int)k->count, k->a, 1);
    if (k->count < k->most) return;
    k->count = length > 0;
    if (!(length > 0)) return;
    cblas_dscal((int)X->residual_size, k->a[0] / length, k->Q, 1);
    for (size_t e = 1; e < k->most; e++)
        cblas_daxpy((int)X->residual_size, k->a[e] / length, k->Q + e * X->residual_size, 1, k->Q,
                    1);
    for (size_t j = 0; j < X->p; j++) k->P[j] = k->guess[j] / length;
}

void cri_known_add(cri_known_gradients *k, const double *products, size_t stride)
{
    const cri_columns *X = k->X;
    double             length = k->length - k->rounding;
    if (!(length > k->rounding)) return; /* no direction, only rounding */
    reserve(k);
    double *q = k->Q + k->count * X->residual_size, *P = k->P + k->count * X->p;
    for (size_t i = 0; i < X->residual_size; i++) q[i] = k->v[i] / length;
    for (size_t j = 0; j < X->p; j++) P[j] = products[j * stride] / length;
    k->count++;
}
