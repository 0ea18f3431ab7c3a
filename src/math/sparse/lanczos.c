/* lanczos.c -- the largest eigenvalues of a symmetric map, by block Lanczos with thick restarts. */
#include "lanczos.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"
#include "math/dense/decompose.h"
#include "math/dense/dense.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Q [k x n] spans the space so far, and A Q' = Q' T + (the last block of W)':
 * the block behind it, of `next` vectors, is orthogonal to it and is what A is applied to next; R [b x b] has the
 * last block as combinations of that one, W_c = sum_d R_dc Q_(k + d). */
typedef struct lanczos {
    const cri_symmetric_map *A;
    size_t                   n, b, capacity; /* vectors that Q may span, without the block behind */
    size_t                   k, last, next;  /* spanned; of the last block; of the block behind   */
    bool                     restarted;      /* since the last product                            */
    double                  *Q;              /* [(capacity + b) x n]                              */
    double                  *W;              /* [b x n]                                           */
    double                  *T, *R, *H;      /* [capacity^2], [b x b], [(capacity + b) x b]       */
    double                  *theta, *Y; /* [capacity], [capacity^2] of T, ascending; Y in columns */
    double                   norm;      /* of A: the longest product so far                  */
    uint64_t                 seed, drawn; /* random vectors so far                             */
} lanczos;

/* --- orthogonal vectors ----------------------------------------------------------------------- */

static double norm_of(const double *x, size_t n) { return cblas_dnrm2((int)n, x, 1); }

/* Takes off x [n] what lies along the k rows of Q, twice, so that nothing is left of it; h [k], where it is wanted,
 * takes the coefficients in. */
static void take_off(const double *Q, size_t k, size_t n, double *x, double *h, double *opt_sum)
{
    for (int pass = 0; pass < 2 && k > 0; pass++) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)k, (int)n, 1, Q, (int)n, x, 1, 0, h, 1);
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)k, (int)n, -1, Q, (int)n, h, 1, 1, x, 1);
        for (size_t i = 0; opt_sum && i < k; i++) opt_sum[i] += h[i];
    }
}

void cri_orthonormal_rows(double *V, size_t k, size_t n, double least)
{
    cri_blas_enter();
    for (size_t j = 0; j < k; j++) {
        double *v = V + j * n, before = norm_of(v, n);
        for (int pass = 0; pass < 2; pass++)
            for (size_t i = 0; i < j; i++)
                cblas_daxpy((int)n, -cblas_ddot((int)n, V + i * n, 1, v, 1), V + i * n, 1, v, 1);
        double after = norm_of(v, n), by = after > least * before ? 1 / after : 0;
        for (size_t i = 0; i < n; i++) v[i] *= by;
    }
    cri_blas_leave();
}

/* A random unit vector orthogonal to the first `so_far` of Q; false where they span all there is. */
static bool draw(lanczos *z, size_t so_far, double *x)
{
    for (int tries = 0; tries < 3 && so_far < z->n; tries++) {
        cr_rng r = cr_rng_stream(z->seed, z->drawn++);
        for (size_t i = 0; i < z->n; i++) x[i] = cr_rng_normal(&r);
        double before = norm_of(x, z->n);
        take_off(z->Q, so_far, z->n, x, z->H, NULL);
        double after = norm_of(x, z->n);
        if (!(after > 1e-8 * before)) continue;
        cblas_dscal((int)z->n, 1 / after, x, 1);
        return true;
    }
    return false;
}

/* to [b x n] = W [b x n] with orthonormal rows, W = L to, by the Cholesky factor L [b x b] of W W'; false where a row
 * has too little of its own for that, or is not longer than `least`. */
static cr_status factor_rows(cr_ctx *cx, const double *W, size_t b, size_t n, double least,
                             double *to, double *L, bool *out_good)
{
    const double own = 0.05; /* of its length: less would lose digits */
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    double      *inverse = cr_scratch_matrix(&s, b, b);
    CR_TRY(s.status);
    CR_TRY(cr_syrk(cx, 1, cr_cmat_of(W, b, n), CR_PLAIN, 0, cr_mat_of(L, b, b)));
    *out_good = true;
    for (size_t i = 0; i < b && *out_good; i++) {
        double square = L[i * b + i];
        for (size_t j = 0; j <= i; j++) {
            double sum = L[i * b + j];
            for (size_t c = 0; c < j; c++) sum -= L[i * b + c] * L[j * b + c];
            L[i * b + j] = i == j ? sqrt(fmax(sum, 0)) : sum / L[j * b + j];
        }
        memset(L + i * b + i + 1, 0, (b - i - 1) * sizeof *L);
        *out_good = isfinite(square) && L[i * b + i] > own * sqrt(square) && L[i * b + i] > least &&
                    square > DBL_MIN / DBL_EPSILON;
    }
    if (!*out_good) goto done;
    memset(inverse, 0, b * b * sizeof *inverse);
    for (size_t j = 0; j < b; j++)
        for (size_t i = j; i < b; i++) {
            double sum = i == j;
            for (size_t c = j; c < i; c++) sum -= L[i * b + c] * inverse[c * b + j];
            inverse[i * b + j] = sum / L[i * b + i];
        }
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(inverse, b, b), CR_PLAIN, cr_cmat_of(W, b, n), CR_PLAIN, 0,
                   cr_mat_of(to, b, n)));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_orthonormalise(cr_ctx *cx, double *V, size_t k, size_t n)
{
    enum { MOST = 256 }; /* rows whose factor is small beside them */
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    bool       good = k > 0 && k <= MOST;
    double    *once = good ? cr_scratch_matrix(&s, k, n) : NULL;
    double    *L = good ? cr_scratch_matrix(&s, k, k) : NULL;
    CR_TRY(s.status);
    CR_TRY(cri_blas_reserve(cx));
    if (good) CR_TRY(factor_rows(cx, V, k, n, 0, once, L, &good));
    if (good) CR_TRY(factor_rows(cx, once, k, n, 0, V, L, &good));
    if (!good) cri_orthonormal_rows(V, k, n, 0);
done:
    cr_scratch_end(&s);
    return st;
}

/* The block behind Q from all of W at once, twice, so that it is orthonormal to the last bit. */
static cr_status append_at_once(cr_ctx *cx, lanczos *z, bool *out_good)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     b = z->b, n = z->n;
    double    *L = cr_scratch_matrix(&s, b, b), *M = cr_scratch_matrix(&s, b, b);
    double    *once = cr_scratch_matrix(&s, b, n), *block = z->Q + z->k * n;
    CR_TRY(s.status);
    CR_TRY(factor_rows(cx, z->W, b, n, 1e-8 * z->norm, once, L, out_good));
    if (*out_good) CR_TRY(factor_rows(cx, once, b, n, 0.5, block, M, out_good));
    for (size_t c = 0; c < b && *out_good; c++) /* W = L M block */
        for (size_t d = 0; d < b; d++) {
            double sum = 0;
            for (size_t e = d; e <= c; e++) sum += L[c * b + e] * M[e * b + d];
            z->R[d * b + c] = sum;
        }
    z->next = *out_good ? b : 0;
done:
    cr_scratch_end(&s);
    return st;
}

/* The block behind Q from W [count x n], which is orthogonal to Q; what adds nothing is replaced by random vectors. */
static void append_block(lanczos *z, size_t count)
{
    size_t n = z->n;
    memset(z->R, 0, z->b * z->b * sizeof *z->R);
    z->next = 0;
    for (size_t c = 0; c < count && z->k + z->next < n; c++) {
        double *x = z->W + c * n, *block = z->Q + z->k * n, *to = block + z->next * n;
        double  sum[1024] = { 0 }, before = norm_of(x, n);
        take_off(block, z->next, n, x, z->H, sum);
        for (size_t d = 0; d < z->next; d++) z->R[d * z->b + c] = sum[d];
        double left = norm_of(x, n);
        double length = left;
        if (left < 0.1 * before) { /* what is left may be mostly rounding: once more, against all */
            take_off(z->Q, z->k + z->next, n, x, z->H, NULL);
            length = norm_of(x, n);
        }
        if (left > 1e-12 * z->norm && length > 0.5 * left) {
            for (size_t i = 0; i < n; i++) to[i] = x[i] / length;
            z->R[z->next++ * z->b + c] = left;
            continue;
        }
        if (draw(z, z->k + z->next, to)) z->next++;
    }
}

/* --- a step, and a restart -------------------------------------------------------------------- */

/* A times the block behind Q, which then is part of Q: T grows by it.  The product has parts along this block, the one
 * before it and, behind a restart, all that was kept; these are taken off first, and what rounding leaves of all
 * then. */
static cr_status extend(cr_ctx *cx, lanczos *z)
{
    cr_status st = CR_OK;
    size_t    n = z->n, b = z->next, k = z->k + b;
    bool      good = false;
    CR_TRY(z->A->times(cx, z->A->user, z->Q + z->k * n, b, z->W));
    for (size_t c = 0; c < b; c++) z->norm = fmax(z->norm, norm_of(z->W + c * n, n));
    if (!isfinite(z->norm))
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "the products overflow: the numbers are too large"));
    for (size_t i = 0; i < k; i++) memset(z->T + i * z->capacity + z->k, 0, b * sizeof *z->T);
    for (int pass = 0; pass < 2; pass++) {
        size_t  from = pass == 0 && !z->restarted ? z->k - z->last : 0, rows = k - from;
        cr_cmat Q = cr_cmat_of(z->Q + from * n, rows, n);
        CR_TRY(cr_gemm(cx, 1, Q, CR_PLAIN, cr_cmat_of(z->W, b, n), CR_TRANSPOSED, 0,
                       cr_mat_of(z->H, rows, b)));
        CR_TRY(cr_gemm(cx, -1, cr_cmat_of(z->H, rows, b), CR_TRANSPOSED, Q, CR_PLAIN, 1,
                       cr_mat_of(z->W, b, n)));
        for (size_t i = 0; i < rows; i++)
            for (size_t c = 0; c < b; c++)
                z->T[(from + i) * z->capacity + z->k + c] += z->H[i * b + c];
    }
    for (size_t i = 0; i < k; i++) /* symmetric, rounding aside */
        for (size_t c = z->k; c < k; c++) {
            double *a = &z->T[i * z->capacity + c], *t = &z->T[c * z->capacity + i];
            if (i < z->k)
                *t = *a;
            else if (i < c)
                *a = *t = 0.5 * (*a + *t);
        }
    z->k = k;
    z->last = b;
    z->restarted = false;
    if (b == z->b && k + b <= n) CR_TRY(append_at_once(cx, z, &good));
    if (good) goto done;
    cri_blas_enter();
    append_block(z, b);
    cri_blas_leave();
done:
    return st;
}

static cr_status solve_small(cr_ctx *cx, lanczos *z)
{
    cr_cmat T = { z->T, z->k, z->k, z->capacity };
    return cr_eigen(cx, T, z->theta, cr_mat_of(z->Y, z->k, z->k));
}

/* |A v - theta v| of Ritz vector j, the largest being 0. */
static double residual_of(const lanczos *z, size_t j)
{
    size_t        k = z->k, at = k - 1 - j;
    const double *y = z->Y + (k - z->last) * k + at; /* of the last block, stride k */
    double        square = 0;
    for (size_t d = 0; d < z->next; d++) {
        double sum = 0;
        for (size_t c = 0; c < z->last; c++) sum += z->R[d * z->b + c] * y[c * k];
        square += sum * sum;
    }
    return sqrt(square);
}

/* The largest residual in units of what is allowed: at most 1 where all have converged. */
static double excess_of(const lanczos *z, const cri_lanczos_options *o)
{
    double floor = 1e-13 * fmax(z->theta[z->k - 1], z->norm), most = 0; /* rounding: no further */
    if (z->next == 0 && z->k == z->n) return 0;
    for (size_t j = 0; j < o->wanted; j++) {
        double allowed = o->tolerance * fmax(z->theta[z->k - 1 - j], 0) + floor;
        double residual = residual_of(z, j);
        most = residual <= allowed ? fmax(most, residual > 0 ? residual / allowed : 0)
                                   : fmax(most, fmin(residual / allowed, DBL_MAX));
    }
    return most;
}

/* Some eigenvalue was found as often as a block has vectors, and a smaller one is wanted too: more of the first may
 * stand before that. */
static bool may_miss(const lanczos *z, const cri_lanczos_options *o)
{
    double near = fmax(10 * o->tolerance, 1e-6);
    if (z->next == 0 && z->k == z->n) return false;
    for (size_t j = 0; j + z->b < o->wanted; j++) {
        double first = z->theta[z->k - 1 - j], last = z->theta[z->k - z->b - j];
        if (first > 1e-13 * z->norm && first - last <= near * first) return true;
    }
    return false;
}

/* out [count x n] = the leading Ritz vectors. */
static cr_status ritz_vectors(cr_ctx *cx, const lanczos *z, size_t count, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     k = z->k;
    double    *Y = cr_scratch_matrix(&s, count, k);
    CR_TRY(s.status);
    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; i < k; i++) Y[j * k + i] = z->Y[i * k + k - 1 - j];
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(Y, count, k), CR_PLAIN, cr_cmat_of(z->Q, k, z->n), CR_PLAIN, 0,
                   cr_mat_of(out, count, z->n)));
done:
    cr_scratch_end(&s);
    return st;
}

/* Q becomes its leading Ritz vectors, T their values, and the block behind them stays: what the space has learned.
 * In place, by tiles of columns. */
static cr_status restart(cr_ctx *cx, lanczos *z, size_t keep)
{
    enum { TILE = 2048 };
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     k = z->k, n = z->n;
    double    *Y = cr_scratch_matrix(&s, keep, k), *tile = cr_scratch_matrix(&s, keep, TILE);
    CR_TRY(s.status);
    for (size_t j = 0; j < keep; j++)
        for (size_t i = 0; i < k; i++) Y[j * k + i] = z->Y[i * k + k - 1 - j];
    for (size_t at = 0; at < n; at += TILE) {
        size_t  cols = n - at < TILE ? n - at : TILE;
        cr_cmat old = { z->Q + at, k, cols, n };
        CR_TRY(cr_gemm(cx, 1, cr_cmat_of(Y, keep, k), CR_PLAIN, old, CR_PLAIN, 0,
                       cr_mat_of(tile, keep, cols)));
        for (size_t j = 0; j < keep; j++)
            memcpy(z->Q + j * n + at, tile + j * cols, cols * sizeof *tile);
    }
    memmove(z->Q + keep * n, z->Q + k * n, z->next * n * sizeof *z->Q);
    for (size_t i = 0; i < keep; i++)
        for (size_t j = 0; j < keep; j++)
            z->T[i * z->capacity + j] = i == j ? z->theta[k - 1 - i] : 0;
    z->k = keep;
    z->restarted = true;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* The first block: what there is to begin with, made orthonormal, and random vectors. */
static void begin(lanczos *z, const cri_lanczos_options *o)
{
    size_t start = o->opt_start ? o->n_start : 0;
    cri_blas_enter();
    if (start > z->b) start = z->b;
    z->norm = 1;
    if (start > 0) memcpy(z->W, o->opt_start, start * z->n * sizeof *z->W);
    append_block(z, start);
    while (z->next < z->b && draw(z, z->next, z->Q + z->next * z->n)) z->next++;
    z->norm = 0;
    cri_blas_leave();
}

/* Sizes by n, the number wanted and the block, 0: so many that none is missed. */
static void measure(lanczos *z, size_t wanted, size_t block)
{
    enum { PANEL = 8, MOST_BLOCKS = 12, LEAST_BLOCKS = 3, MOST_BLOCK = 1024 };
    const double most = 2.5e8; /* numbers in Q */
    z->b = (wanted + PANEL - 1) / PANEL * PANEL;
    if (z->b < wanted + 4) z->b += PANEL;
    if (z->b > MOST_BLOCK) z->b = MOST_BLOCK;
    if (z->b > z->n) z->b = z->n;
    double blocks = floor(most / (double)z->n / (double)z->b);
    z->capacity = z->b * (size_t)fmin(MOST_BLOCKS, fmax(LEAST_BLOCKS, blocks));
    if (z->capacity < 2 * wanted) z->capacity = 2 * wanted;
    if (z->capacity > z->n) z->capacity = z->n;
    if (block > 0 && block < z->b) z->b = block;
}

/* When T is decomposed: at the second look and behind a restart at once, then halfway to where the residuals, falling
 * as they fell since the last look, would be small enough. */
typedef struct looks {
    size_t last, next;
    double excess; /* at the last look */
} looks;

static void plan_look(looks *l, size_t now, double excess, bool restarted)
{
    double fall = l->last > 0 ? log(l->excess / excess) / (double)(now - l->last) : 0;
    double left = fall > 0 ? log(excess) / fall : 1, most = 1 + (double)now;
    *l = (looks){ now, now + (size_t)fmin(fmax(left / 2, 1), most), excess };
    if (restarted) *l = (looks){ 0, now + 1, 0 };
}

/* With blocks of this many vectors; *out_missed where more are needed. */
static cr_status search(cr_ctx *cx, const cri_symmetric_map *A, const cri_lanczos_options *o,
                        size_t block, double *lambda, double *V, cri_lanczos_report *report,
                        bool *out_missed)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    lanczos    z = { .A = A, .n = A->n, .seed = o->seed };
    looks      look = { 0 };
    cri_clock  clock = cri_clock_start(cx, NAN);
    bool       over = false, late = false;

    measure(&z, o->wanted, block);
    z.Q = cr_scratch_matrix(&s, z.capacity + z.b, z.n);
    z.W = cr_scratch_matrix(&s, z.b, z.n);
    z.T = cr_scratch_matrix(&s, z.capacity, z.capacity);
    z.R = cr_scratch_matrix(&s, z.b, z.b);
    z.H = cr_scratch_matrix(&s, z.capacity + z.b, z.b);
    z.theta = cr_scratch_f64(&s, z.capacity);
    z.Y = cr_scratch_matrix(&s, z.capacity, z.capacity);
    CR_TRY(s.status);
    begin(&z, o);
    while (!over) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(extend(cx, &z));
        report->iterations++;
        cr_progress(cx, "finding directions", (double)report->iterations, 0);
        bool full = z.k + z.next > z.capacity || z.next == 0;
        late = report->iterations >= o->max_iter || cri_clock_over(&clock);
        if (z.k < o->wanted || (!full && !late && report->iterations < look.next)) continue;
        CR_TRY(solve_small(cx, &z));
        double excess = excess_of(&z, o);
        report->converged = excess <= 1;
        over = report->converged || late || z.next == 0;
        if (!over && full)
            CR_TRY(restart(cx, &z, z.capacity / 2 > o->wanted ? z.capacity / 2 : o->wanted));
        if (!over) plan_look(&look, report->iterations, excess, full);
    }
    CR_TRY(ritz_vectors(cx, &z, o->wanted, V));
    for (size_t j = 0; j < o->wanted; j++) lambda[j] = fmax(z.theta[z.k - 1 - j], 0);
    *out_missed = !late && may_miss(&z, o);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_lanczos(cr_ctx *cx, const cri_symmetric_map *A, const cri_lanczos_options *o,
                      double *lambda, double *V, cri_lanczos_report *report)
{
    cr_status           st = CR_OK;
    cri_lanczos_options on = *o;
    size_t              block = o->opt_start && o->n_start > A->block ? 0 : A->block;
    bool                missed = false;

    CR_TRY(cri_blas_reserve(cx));
    *report = (cri_lanczos_report){ 0 };
    CR_TRY(search(cx, A, o, block, lambda, V, report, &missed));
    if (!missed) goto done;
    on.opt_start = NULL; /* what was found is an invariant space: it would lead nowhere else */
    CR_TRY(search(cx, A, &on, 0, lambda, V, report, &missed));
done:
    return st;
}
