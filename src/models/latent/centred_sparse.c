/* centred_sparse.c -- products with sparse rows that are centred and scaled implicitly. */
#include "centred.h"

#include <string.h>

/* Vectors go by panels of this many, side by side, so that an entry of the rows meets all of them at once. */
enum { PANEL = CRI_SPARSE_PANEL };

static size_t width_of(size_t k, size_t first) { return k - first < PANEL ? k - first : PANEL; }

cr_status cri_centred_times(cr_ctx *cx, const cri_centred *z, const double *B, size_t k,
                            double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *V = cr_scratch_matrix(&s, z->p, PANEL), *Y = cr_scratch_matrix(&s, z->n, PANEL);

    CR_TRY(s.status);
    for (size_t first = 0; first < k; first += PANEL) {
        size_t width = width_of(k, first);
        double level[PANEL] = { 0 };
        memset(V, 0, z->p * PANEL * sizeof *V);
        for (size_t j = 0; j < z->p; j++)
            for (size_t c = 0; c < width; c++) {
                V[j * PANEL + c] = B[(first + c) * z->p + j] * z->per_scale[j];
                level[c] += z->centre[j] * V[j * PANEL + c];
            }
        CR_TRY(cri_sparse_times_panel(cx, z->rows->sparse, V, Y));
        for (size_t i = 0; i < z->n; i++)
            for (size_t c = 0; c < width; c++)
                out[(first + c) * z->n + i] =
                    (z->root ? z->root[i] : 1) * (Y[i * PANEL + c] - level[c]);
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_centred_transpose(cr_ctx *cx, const cri_centred *z, const double *U, size_t k,
                                double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *Q = cr_scratch_matrix(&s, z->n, PANEL), *G = cr_scratch_matrix(&s, z->p, PANEL);

    CR_TRY(s.status);
    for (size_t first = 0; first < k; first += PANEL) {
        size_t width = width_of(k, first);
        double sum[PANEL] = { 0 };
        memset(Q, 0, z->n * PANEL * sizeof *Q);
        for (size_t i = 0; i < z->n; i++)
            for (size_t c = 0; c < width; c++) {
                Q[i * PANEL + c] = (z->root ? z->root[i] : 1) * U[(first + c) * z->n + i];
                sum[c] += Q[i * PANEL + c];
            }
        CR_TRY(cri_sparse_times_panel(cx, &z->columns.view, Q, G));
        for (size_t j = 0; j < z->p; j++)
            for (size_t c = 0; c < width; c++)
                out[(first + c) * z->p + j] =
                    (G[j * PANEL + c] - z->centre[j] * sum[c]) * z->per_scale[j];
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* z_i . z_k = x_i . D x_k - a_i - a_k + a0,  D = 1 / scale^2,  a_i = x_i . D centre. */
cr_status cri_centred_outer(cr_ctx *cx, const cri_centred *z, double *K)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = z->n;
    double    *D = cr_scratch_f64(&s, z->p), *v = cr_scratch_f64(&s, z->p);
    double    *a = cr_scratch_f64(&s, n), a0 = 0;

    CR_TRY(s.status);
    for (size_t j = 0; j < z->p; j++) {
        D[j] = z->per_scale[j] * z->per_scale[j];
        v[j] = D[j] * z->centre[j];
        a0 += v[j] * z->centre[j];
    }
    CR_TRY(cri_sparse_gram(cx, &z->columns.view, D, K));
    CR_TRY(cri_sparse_times(cx, z->rows->sparse, v, a));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            double both = z->root ? z->root[i] * z->root[k] : 1;
            K[i * n + k] = both * (K[i * n + k] - a[i] - a[k] + a0);
        }
done:
    cr_scratch_end(&s);
    return st;
}
