/* columns.c -- dense standardised columns, shared by all rows and the folds.
 * A residual is kept with the weights in it, u = sqrt(w) r: rows that weigh nothing are 0.  With
 * an intercept all residuals and columns have sum u = 0, so that the shift drops out of
 *   z_j . r = (Z_j . u - shift_j sum u) / spread_j = Z_j . u / spread_j. */
#include "columns.h"
#include "models/common/moments.h"
#include "base/pages.h"
#include "base/parallel.h"
#include "math/dense/blas_internal.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { SIDE_BY_SIDE = 64 };

static double weight_of(const double *w, size_t i) { return w ? w[i] : 1; }

/* --- access ---------------------------------------------------------------------------------- */

static double dense_dot(const cri_columns *X, size_t j, const double *u)
{
    return cblas_ddot((int)X->n, X->Z + j * X->n, 1, u, 1) / X->spread[j];
}

static void dense_dots(const cri_columns *X, size_t j, const double *R, size_t count, double *out)
{
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)count, (int)X->n, 1 / X->spread[j], R,
                (int)X->residual_size, X->Z + j * X->n, 1, 0, out, 1);
}

static void dense_add(const cri_columns *X, size_t j, double a, double *u)
{
    const double *z = X->Z + j * X->n;
    double        step = a / X->spread[j], shift = X->shift[j];
    for (size_t i = 0; i < X->n; i++) u[i] += weight_of(X->w, i) * step * (z[i] - shift);
}

static void dense_start(const cri_columns *X, double *u) { memcpy(u, X->t, X->n * sizeof(double)); }

static void dense_copy(const cri_columns *X, size_t j, double *u)
{
    memset(u, 0, X->n * sizeof(double));
    dense_add(X, j, 1, u);
}

static double dense_inner(const cri_columns *X, const double *a, const double *u)
{
    double sum = 0;
    if (!X->w) return cblas_ddot((int)X->n, a, 1, u, 1);
    for (size_t i = 0; i < X->n; i++) sum += X->w[i] > 0 ? a[i] * u[i] / X->w[i] : 0;
    return sum;
}

/* --- all rows -------------------------------------------------------------------------------- */

static double sum_of(const double *x, const double *w, size_t n)
{
    double sum = 0;
    if (w) {
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < n; i++) sum += w[i] * x[i];
    } else {
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < n; i++) sum += x[i];
    }
    return sum;
}

/* out: the sums of w (x - mean) and of w (x - mean)^2. */
static void sums_about(const double *x, const double *w, size_t n, double mean, double out[2])
{
    double left = 0, about = 0;
    if (w) {
#pragma omp simd reduction(+ : left, about)
        for (size_t i = 0; i < n; i++) {
            double d = x[i] - mean, wd = w[i] * d;
            left += wd;
            about += wd * d;
        }
    } else {
#pragma omp simd reduction(+ : left, about)
        for (size_t i = 0; i < n; i++) {
            double d = x[i] - mean;
            left += d;
            about += d * d;
        }
    }
    out[0] = left, out[1] = about;
}

/* Weighted mean, and sum of squares about it: two passes. */
static void measure(const double *x, const double *w, size_t n, double weight, double *mean,
                    double *square)
{
    double sums[2];
    *mean = sum_of(x, w, n) / weight;
    sums_about(x, w, n, *mean, sums);
    *mean += sums[0] / weight;
    *square = fmax(sums[1] - sums[0] * sums[0] / weight, 0);
}

static double total(const double *w, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += weight_of(w, i);
    return sum;
}

/* Whether a sum of squares about a mean is rounding. */
static bool is_constant(double square, double weight, double mean)
{
    return !(square > 1e-26 * weight * mean * mean);
}

typedef struct share_work {
    const cri_rows *rows;
    bool            intercept;
    double          weight;
    double         *Z, *mean, *sd;
    double         *square, *size; /* [p] sum of squares and size, for the checks */
} share_work;

static void share_column(const share_work *s, size_t j)
{
    size_t  n = s->rows->n;
    double *z = s->Z + j * n, mean, square;
    cri_rows_fill_term(s->rows, j, 0, n, z, 1);
    measure(z, s->rows->w, n, s->weight, &mean, &square);
    bool constant = is_constant(square, s->weight, mean);
    s->square[j] = square + s->weight * mean * mean;
    s->size[j] = fabs(mean) + sqrt(square);
    s->mean[j] = s->intercept ? mean : 0;
    s->sd[j] = constant ? 1 : sqrt(square / s->weight);
    for (size_t i = 0; i < n; i++)
        z[i] = constant && s->intercept ? 0 : (z[i] - s->mean[j]) / s->sd[j];
}

/* Columns side by side share the lines of memory in which rows stand. */
static void share_block(void *arg, size_t block)
{
    const share_work *s = arg;
    cri_range         range = cri_block_range(s->rows->p, SIDE_BY_SIDE, block);
    for (size_t j = range.begin; j < range.end; j++) share_column(s, j);
}

cr_status cri_shared_columns_of_rows(cr_ctx *cx, cr_scratch *s, const cri_rows *rows,
                                     bool intercept, cri_shared_columns *out)
{
    cr_status  st = CR_OK;
    size_t     n = rows->n, p = rows->p;
    share_work w = { .rows = rows, .intercept = intercept, .weight = total(rows->w, n) };
    double     mean, square;

    w.mean = cr_scratch_f64(s, p);
    w.sd = cr_scratch_f64(s, p);
    w.square = cr_scratch_f64(s, p);
    w.size = cr_scratch_f64(s, p);
    w.Z = cr_scratch_matrix(s, p, n);
    CR_TRY(s->status);
    /* threads that first touch small pages side by side wait for each other in the system */
    cri_large_pages pages = cri_large_pages_in(w.Z, p * n * sizeof(double), 0);
    if (!cri_large_pages_touch(&pages, w.Z + p * n)) cri_large_pages_drop(&pages);
    measure(rows->y, rows->w, n, w.weight, &mean, &square);
    CR_TRY(cri_check_squares(cx, p, p, square + w.weight * mean * mean, fabs(mean) + sqrt(square)));
    CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(p, SIDE_BY_SIDE), share_block, &w));
    for (size_t j = 0; j < p; j++) CR_TRY(cri_check_squares(cx, j, p, w.square[j], w.size[j]));
    *out = (cri_shared_columns){ n, p, w.Z, w.mean, w.sd };
done:
    return st;
}

/* --- with weights of their own --------------------------------------------------------------- */

typedef struct weigh_work {
    const cri_shared_columns *all;
    cri_columns              *X;
    double                   *shift, *spread;
    bool                      intercept, standardise;
} weigh_work;

static void weigh_column(const weigh_work *s, size_t j)
{
    cri_columns *X = s->X;
    double       mean, square, sd = s->all->sd[j];
    measure(X->Z + j * X->n, X->w, X->n, X->weight, &mean, &square);
    bool constant = is_constant(square, X->weight, mean);
    s->shift[j] = s->intercept ? mean : 0;
    s->spread[j] = s->standardise && !constant ? sqrt(square / X->weight) : 1 / sd;
    X->centre[j] = s->intercept ? s->all->mean[j] + sd * mean : 0;
    X->scale[j] = s->standardise && !constant ? sd * s->spread[j] : 1;
    double all = s->intercept ? (constant ? 0 : square) : square + X->weight * mean * mean;
    X->square[j] = all / X->weight / (s->spread[j] * s->spread[j]);
}

static void weigh_block(void *arg, size_t block)
{
    const weigh_work *s = arg;
    cri_range         range = cri_block_range(s->X->p, SIDE_BY_SIDE, block);
    for (size_t j = range.begin; j < range.end; j++) weigh_column(s, j);
}

cr_status cri_columns_of_shared(cr_ctx *cx, cr_scratch *s, const cri_shared_columns *shared,
                                const double *y, const double *w, bool intercept, bool standardise,
                                cri_columns *out)
{
    cr_status   st = CR_OK;
    size_t      n = shared->n, p = shared->p;
    double     *t = cr_scratch_f64(s, n), mean, square;
    cri_columns X = { .n = n,
                      .p = p,
                      .residual_size = n,
                      .t = t,
                      .w = w,
                      .Z = shared->Z,
                      .dot = dense_dot,
                      .dots = dense_dots,
                      .add = dense_add,
                      .start = dense_start,
                      .copy = dense_copy,
                      .inner = dense_inner };
    weigh_work  work = {
         .all = shared, .X = &X, .intercept = intercept, .standardise = standardise
    };

    X.centre = cr_scratch_f64(s, p);
    X.scale = cr_scratch_f64(s, p);
    X.square = cr_scratch_f64(s, p);
    X.shift = work.shift = cr_scratch_f64(s, p);
    X.spread = work.spread = cr_scratch_f64(s, p);
    CR_TRY(s->status);
    X.weight = total(w, n);
    measure(y, w, n, X.weight, &mean, &square);
    X.offset = intercept ? mean : 0;
    for (size_t i = 0; i < n; i++) t[i] = weight_of(w, i) * (y[i] - X.offset);
    X.tt = dense_inner(&X, t, t);
    CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(p, SIDE_BY_SIDE), weigh_block, &work));
    *out = X;
done:
    return st;
}

/* --- gradients of all terms ------------------------------------------------------------------ */

enum { COLUMNS = 256 };

typedef struct gradient_work {
    const cri_columns *const *X;
    const double *const      *r;
    const double             *U; /* [count x n], or NULL for what is not shared */
    size_t                    count;
    double                   *out;
} gradient_work;

static void multiply_block(void *arg, size_t block)
{
    const gradient_work *g = arg;
    const cri_columns   *X = g->X[0];
    cri_range            range = cri_block_range(X->p, COLUMNS, block);
    size_t               n = X->n, k = g->count, begin = range.begin;
    if (k == 1)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)(range.end - begin), (int)n, 1,
                    X->Z + begin * n, (int)n, g->U, 1, 0, g->out + begin, 1);
    else
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)(range.end - begin), (int)k,
                    (int)n, 1, X->Z + begin * n, (int)n, g->U, (int)n, 0, g->out + begin * k,
                    (int)k);
    for (size_t j = begin; j < range.end; j++)
        for (size_t f = 0; f < k; f++) g->out[j * k + f] /= g->X[f]->spread[j];
}

static void dot_block(void *arg, size_t block)
{
    const gradient_work *g = arg;
    cri_range            range = cri_block_range(g->X[0]->p, COLUMNS, block);
    for (size_t f = 0; f < g->count; f++)
        for (size_t j = range.begin; j < range.end; j++)
            g->out[j * g->count + f] = g->X[f]->dot(g->X[f], j, g->r[f]);
}

cr_status cri_columns_gradients(cr_ctx *cx, const cri_columns *const *X, const double *const *r,
                                size_t count, double *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    bool          shared = X[0]->Z != NULL;
    size_t        n = X[0]->n;
    double       *U = shared ? cr_scratch_matrix(&s, count, n) : NULL;
    gradient_work g = { X, r, U, count, out };

    CR_TRY(s.status);
    for (size_t f = 0; shared && f < count; f++) memcpy(U + f * n, r[f], n * sizeof(double));
    cri_blas_enter();
    st = cri_parallel_for(cx, NULL, cri_block_count(X[0]->p, COLUMNS),
                          shared ? multiply_block : dot_block, &g);
    cri_blas_leave();
    CR_TRY(st);
done:
    cr_scratch_end(&s);
    return st;
}
