/* gp_nearest.c -- what the inputs nearest to a row explain beyond a root. */
#include "gp_nearest.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { SHARED = 400 };
static const double FLOOR = 1e-10; /* of the variance, added to M: what rounding leaves of it */

/* Is a further from the row than b?  Of equals the later one. */
static bool is_further(const double *k, size_t a, size_t b)
{
    double x = fabs(k[a]), y = fabs(k[b]);
    return x < y || (x == y && a > b);
}

/* Lets the item at the top of a heap, whose top is the furthest, down to its place. */
static void sift(const double *k, size_t *heap, size_t count, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_further(k, heap[child + 1], heap[child])) child++;
        if (!is_further(k, heap[child], heap[at])) return;
        size_t swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
    }
}

/* The `count` inputs with the largest |k|; in the order of a heap. */
static void find_nearest(const double *k, size_t n, size_t count, size_t *out)
{
    for (size_t i = 0; i < count; i++) out[i] = i;
    for (size_t i = count / 2; i-- > 0;) sift(k, out, count, i);
    for (size_t i = count; i < n; i++) {
        if (!is_further(k, out[0], i)) continue;
        out[0] = i;
        sift(k, out, count, 0);
    }
}

typedef struct work {
    size_t     *nearest; /* [count]                                      */
    double     *k, *t, *u;
    double     *M, *V; /* [count x count], [count x rank] rows of W      */
    cri_gp_data some;  /* the nearest inputs                             */
} work;

static cr_status take_row(cr_ctx *cx, const cri_gp_nearest *a, work *w, double *taken)
{
    cr_status          st = CR_OK;
    const cri_gp_data *at = a->at;
    size_t             m = a->count, r = a->rank;
    double             floor = 0;
    cr_jitter          jitter;

    find_nearest(w->k, at->n, m, w->nearest);
    for (size_t i = 0; i < m; i++) {
        size_t row = w->nearest[i];
        if (at->d) memcpy(w->some.X + i * at->d, at->X + row * at->d, at->d * sizeof(double));
        if (at->c)
            memcpy(w->some.codes + i * at->c, at->codes + row * at->c, at->c * sizeof(uint32_t));
        if (r) memcpy(w->V + i * r, a->W + row * r, r * sizeof(double));
        w->u[i] = w->k[row] - cr_dot(w->V + i * r, w->t, r);
    }
    cr_kernel_input in = cri_gp_inputs(&w->some);
    CR_TRY(cr_kernel_gram(cx, a->k, &in, CR_FILL_BOTH, cr_mat_of(w->M, m, m)));
    for (size_t i = 0; i < m; i++) floor += FLOOR * w->M[i * m + i] / (double)m;
    if (r) CR_TRY(cr_syrk(cx, -1, cr_cmat_of(w->V, m, r), CR_PLAIN, 1, cr_mat_of(w->M, m, m)));
    for (size_t i = 0; i < m; i++) w->M[i * m + i] += a->noise * at->r[w->nearest[i]] + floor;
    CR_TRY(cr_chol_jitter(cx, cr_mat_of(w->M, m, m), &jitter));
    CR_TRY(cr_chol_forward(cx, cr_cmat_of(w->M, m, m), cr_mat_of(w->u, m, 1)));
    *taken += cr_dot(w->u, w->u, m);
done:
    return st;
}

cr_status cri_gp_nearest_take(cr_ctx *cx, const cri_gp_nearest *a, const double *K, const double *T,
                              size_t rows, double *taken)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = a->at->n, m = a->count, r = a->rank, threads = cr_ctx_threads(cx);
    work       w = { .nearest = cr_scratch_index(&s, m),
                     .k = cr_scratch_f64(&s, n),
                     .t = cr_scratch_f64(&s, r),
                     .u = cr_scratch_f64(&s, m),
                     .M = cr_scratch_matrix(&s, m, m),
                     .V = cr_scratch_matrix(&s, m, r) };

    CR_TRY(s.status);
    CR_TRY(cri_gp_data_new(cx, m, a->at->d, a->at->c, &w.some));
    if (m < SHARED) cr_ctx_set_threads(cx, 1); /* a row is too little work to share */
    for (size_t i = 0; i < rows; i++) {
        CR_TRY(cr_check_interrupt(cx));
        for (size_t j = 0; j < n; j++) w.k[j] = K[j * rows + i];
        for (size_t j = 0; j < r; j++) w.t[j] = T[j * rows + i];
        CR_TRY(take_row(cx, a, &w, &taken[i]));
    }
done:
    cr_ctx_set_threads(cx, threads);
    cri_gp_data_free(cx, &w.some);
    cr_scratch_end(&s);
    return st;
}
