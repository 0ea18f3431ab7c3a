/* gp_pivots.c -- partial Cholesky with pivoting, and rows that stand for the others. */
#include "gp_pivots.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { ROWS = 512, CANDIDATES = 4096, SMALL = 1000000, TELL = 16 };
static const double LEAST = 1e-12; /* of the mean variance: beyond that a row adds nothing */

typedef struct work {
    size_t  n, most, at, pivot;
    double *F, *left, *column; /* [n x most], [n], [n] */
} work;

/* Column `at` of F from that of K, and what is left of the diagonal. */
static void reduce_rows(void *arg, size_t b)
{
    work         *w = arg;
    cri_range     r = cri_block_range(w->n, ROWS, b);
    const double *row = w->F + w->pivot * w->most;
    double        root = sqrt(w->left[w->pivot]);
    for (size_t i = r.begin; i < r.end; i++) {
        double *f = w->F + i * w->most;
        w->column[i] = (w->column[i] - cr_dot(f, row, w->at)) / root;
    }
}

/* The row with most left; the first of several. */
static size_t largest(const double *left, size_t n)
{
    size_t at = 0;
    for (size_t i = 1; i < n; i++)
        if (left[i] > left[at]) at = i;
    return at;
}

cr_status cri_gp_pivots(cr_ctx *cx, const cri_gp_data *data, const cr_kernel *k, size_t most,
                        double least, size_t *out_pivots, double *F, size_t *out_rank,
                        double *opt_left)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = data->n, rank = 0;
    cr_kernel_input in = cri_gp_inputs(data);
    work            w = {
                   .n = n, .most = most, .F = F, .left = cr_scratch_f64(&s, n), .column = cr_scratch_f64(&s, n)
    };
    double mean = 0, trace = 0;

    CR_TRY(s.status);
    memset(F, 0, n * most * sizeof *F);
    CR_TRY(cr_kernel_diagonal(cx, k, &in, false, w.left));
    for (size_t i = 0; i < n; i++) mean += w.left[i] / (double)n;
    for (; rank < most && rank < n; rank++) {
        if (rank % TELL == 0) cr_progress(cx, "gp: landmarks", (double)rank, (double)most);
        w.at = rank;
        w.pivot = largest(w.left, n);
        if (!(w.left[w.pivot] > least * mean)) break;
        cri_gp_data     one = { .n = 1,
                                .d = data->d,
                                .c = data->c,
                                .X = data->X + w.pivot * data->d,
                                .codes = data->codes + w.pivot * data->c };
        cr_kernel_input in_one = cri_gp_inputs(&one);
        CR_TRY(cr_kernel_cross(cx, k, &in, &in_one, cr_mat_of(w.column, n, 1)));
        if (n * rank < SMALL) /* not worth sharing */
            for (size_t b = 0; b < cri_block_count(n, ROWS); b++) reduce_rows(&w, b);
        else
            CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(n, ROWS), reduce_rows, &w));
        for (size_t i = 0; i < n; i++) {
            F[i * most + rank] = w.column[i];
            w.left[i] -= w.column[i] * w.column[i];
        }
        w.left[w.pivot] = 0;
        out_pivots[rank] = w.pivot;
    }
    for (size_t i = 0; i < n; i++) trace += fmax(w.left[i], 0);
    *out_rank = rank;
    if (opt_left) *opt_left = trace;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_landmarks(cr_ctx *cx, const cri_gp_data *data, const cr_kernel *k, size_t most,
                           uint64_t seed, cri_gp_data *out_Z)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      some = most > CANDIDATES / 2 ? 2 * most : CANDIDATES, rank = 0;
    cri_gp_data from = { 0 }, Z = { 0 };
    size_t     *pivots = NULL;
    double     *F = NULL;

    if (some > data->n) some = data->n;
    if (most > some) most = some;
    CR_TRY(cri_gp_data_draw(cx, data, some, seed, &from));
    pivots = cr_scratch_index(&s, most);
    F = cr_scratch_matrix(&s, some, most);
    CR_TRY(s.status);
    CR_TRY(cri_gp_pivots(cx, &from, k, most, LEAST, pivots, F, &rank, NULL));
    if (rank == 0) rank = 1, pivots[0] = 0;
    CR_TRY(cri_gp_data_draw(cx, &from, rank, seed, &Z)); /* for its memory */
    for (size_t i = 0; i < rank; i++) {
        for (size_t j = 0; j < Z.d; j++) Z.X[i * Z.d + j] = from.X[pivots[i] * Z.d + j];
        for (size_t j = 0; j < Z.c; j++) Z.codes[i * Z.c + j] = from.codes[pivots[i] * Z.c + j];
        Z.y[i] = from.y[pivots[i]];
        Z.r[i] = from.r[pivots[i]];
        Z.first[i] = from.first[pivots[i]];
    }
    *out_Z = Z;
    Z = (cri_gp_data){ 0 };
done:
    cri_gp_data_free(cx, &from);
    cri_gp_data_free(cx, &Z);
    cr_scratch_end(&s);
    return st;
}
