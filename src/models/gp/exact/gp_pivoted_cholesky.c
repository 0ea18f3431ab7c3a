/* gp_pivoted_cholesky.c -- the factor of a given width, one of the numerical rank, and landmarks. */
#include "gp_pivoted_cholesky.h"
#include "base/parallel.h"
#include "math/dense/dense.h"
#include "base/find.h"

#include <math.h>
#include <string.h>

enum {
    ROWS = 512,        /* reduced by a thread at a time                               */
    CANDIDATES = 4096, /* rows that landmarks are chosen from                         */
    SMALL = 1000000,   /* numbers of F: below, threads are not worth their start      */
    REPORT = 16,       /* pivots between two reports of progress                      */
    MOST = 600,        /* pivots of a factor of low rank at all                       */
    FIRST = 32         /* pivots of its first attempt                                 */
};
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
        if (rank % REPORT == 0) cr_progress(cx, "gp: landmarks", (double)rank, (double)most);
        w.at = rank;
        w.pivot = cri_largest(w.left, n);
        if (!(w.left[w.pivot] > least * mean)) break;
        cri_gp_data     one = cri_gp_data_view(data, w.pivot, w.pivot + 1);
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

/* --- a factor of the numerical rank ---------------------------------------------------------- */

/* Will the largest variance that is left, which falls at best as it did over the last half of the
 * pivots, be below `least` in time? */
static bool has_hope(const double *F, const size_t *pivots, size_t width, size_t most, double least)
{
    size_t half = width / 2, last = width - 1;
    double before = 2 * log(F[pivots[half] * width + half]),
           now = 2 * log(F[pivots[last] * width + last]);
    double slope = (now - before) / (double)(last - half);
    return now + slope * (double)(most - width) < log(least);
}

static cr_status mean_variance(cr_ctx *cx, const cri_gp_data *data, const cr_kernel *k, double *out)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cr_kernel_input in = cri_gp_inputs(data);
    double         *diagonal = cr_scratch_f64(&s, data->n);

    CR_TRY(s.status);
    CR_TRY(cr_kernel_diagonal(cx, k, &in, false, diagonal));
    *out = 0;
    for (size_t i = 0; i < data->n; i++) *out += diagonal[i] / (double)data->n;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_pivoted_begin(cr_ctx *cx, const cri_gp_data *data, const cr_kernel *k,
                               double least, size_t most, cri_gp_pivoted *out)
{
    cr_status st = CR_OK;
    size_t    n = data->n;
    double    mean, *F;

    *out = (cri_gp_pivoted){ .memory = cr_scratch_begin(cx) };
    if (most > MOST) most = MOST;
    if (most < FIRST || !cr_kernel_is_psd(k)) goto done;
    CR_TRY(mean_variance(cx, data, k, &mean));
    if (!(mean > 0 && isfinite(mean))) goto done;
    for (size_t width = FIRST;; width = 2 * width < most ? 2 * width : most) {
        cr_scratch_end(&out->memory);
        out->memory = cr_scratch_begin(cx);
        out->pivots = cr_scratch_index(&out->memory, width);
        F = cr_scratch_matrix(&out->memory, n, width);
        CR_TRY(out->memory.status);
        CR_TRY(cri_gp_pivots(cx, data, k, width, least, out->pivots, F, &out->rank, NULL));
        out->F = (cr_mat){ F, n, out->rank, width };
        if (out->rank < width) break;
        out->rank = 0;
        if (width == most || !has_hope(F, out->pivots, width, most, least * mean)) goto done;
    }
    for (size_t i = 0; i < out->rank; i++) /* what rounding left above L */
        for (size_t j = i + 1; j < out->rank; j++) F[out->pivots[i] * out->F.stride + j] = 0;
done:
    return st;
}

void cri_gp_pivoted_end(cri_gp_pivoted *factor)
{
    cr_scratch_end(&factor->memory);
    factor->rank = 0;
}

void cri_gp_pivoted_rows(const cri_gp_pivoted *factor, double *L)
{
    size_t r = factor->rank;
    for (size_t i = 0; i < r; i++)
        memcpy(L + i * r, factor->F.a + factor->pivots[i] * factor->F.stride, r * sizeof *L);
}
