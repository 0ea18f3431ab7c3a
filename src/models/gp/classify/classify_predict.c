/* classify_predict.c -- latent normals and probabilities of new rows.
 * Two classes: the likelihood averaged over one normal, exactly or to 1e-12.  Three or four: over
 * as many normals by a grid (softmax_grid.h), to 1e-6 and better unless they are very wide.  More:
 * by a lattice of points and their mirror images (softmax_normal.h), scaled to have unit
 * covariance, 8192 in all, which start at each class in turn, so that no class is preferred; the
 * error is about 1e-3.  Intervals of probabilities: the quantiles of the latent function through the link, or, with
 * more than two classes, those of the softmax at 4096 points of the lattice. */
#include "classify.h"
#include "models/common/softmax_grid.h"
#include "models/common/softmax_normal.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256, ROWS = 16, POINTS = 4096, LEAST_POINTS = 64 };

/* Some rows on their way through the formulas. */
typedef struct block {
    const cri_classify *m;
    size_t              count, K;
    double             *workspace, *X; /* [count x p], [count x d]                          */
    uint32_t           *codes;         /* [count x c]                                       */
    double             *C, *T;         /* [n x count] k, then w; workspace                       */
    double             *r;             /* [F x n x count], more than one function, not sparse */
    double             *prior;         /* [count] k(x, x)                                   */
    double             *mean;          /* [F x count]                                       */
    double             *cov;           /* [count x F x F]                                   */
    size_t              n_points;      /* 0: there is a better rule for so few functions    */
    double             *points;        /* [n_points x F] of a lattice                       */
    double             *work;          /* [count x work_size]                               */
    double             *prob;          /* [count x K]                                       */
} block;

static size_t work_size(size_t F) { return 2 * F + (F + 3) * F; }

/* The points of the lattice that averages are over. */
static size_t count_points(size_t F)
{
    size_t n = POINTS / F;
    return F <= CRI_GRID_SCORES ? 0 : n < LEAST_POINTS ? LEAST_POINTS : n;
}

static cr_status block_new(cr_scratch *s, const cri_classify *m, size_t p, size_t count,
                           size_t n_points, block *out)
{
    size_t n = m->n, F = m->F;
    bool   joint = F > 1 && !m->sparse;
    *out = (block){ .m = m,
                    .K = m->K,
                    .workspace = cr_scratch_matrix(s, count, p),
                    .X = cr_scratch_matrix(s, count, m->gp.at.d),
                    .codes = cr_scratch_bytes(s, count * m->gp.at.c, sizeof(uint32_t)),
                    .C = cr_scratch_matrix(s, n, count),
                    .T = cr_scratch_matrix(s, n, count),
                    .r = joint ? cr_scratch_matrix(s, F * n, count) : NULL,
                    .prior = cr_scratch_f64(s, count),
                    .mean = cr_scratch_matrix(s, F, count),
                    .cov = cr_scratch_matrix(s, count * F, F),
                    .n_points = n_points,
                    .points = cr_scratch_matrix(s, n_points, F),
                    .work = cr_scratch_matrix(s, count, work_size(F)) };
    if (s->status != CR_OK) return s->status;
    cri_softmax_points(F, n_points, out->points);
    if (n_points) cri_softmax_whiten(F, n_points, out->points);
    return CR_OK;
}

/* out[i] += sign sum_a A[a, i]^2, A [rows x count]; `step` numbers between the out[i]. */
static void add_squares(const double *A, size_t rows, size_t count, double sign, double *out,
                        size_t step)
{
    for (size_t a = 0; a < rows; a++)
        for (size_t i = 0; i < count; i++)
            out[i * step] += sign * A[a * count + i] * A[a * count + i];
}

/* T := diag(root) C. */
static void scale_by(const double *root, const double *C, size_t n, size_t count, double *T)
{
    for (size_t a = 0; a < n; a++)
        for (size_t i = 0; i < count; i++) T[a * count + i] = root[a] * C[a * count + i];
}

/* --- covariances ----------------------------------------------------------------------------- */

/* cov_cc += r_c . r_c and so on, of all pairs of functions. */
static void add_products(const block *b)
{
    const cri_classify *m = b->m;
    size_t              F = m->F, n = m->n, count = b->count;
    for (size_t c = 0; c < F; c++)
        for (size_t e = 0; e <= c; e++) {
            const double *x = b->r + c * n * count, *z = b->r + e * n * count;
            double       *to = b->cov + c * F + e, *mirror = b->cov + e * F + c;
            for (size_t a = 0; a < n; a++)
                for (size_t i = 0; i < count; i++)
                    to[i * F * F] += x[a * count + i] * z[a * count + i];
            for (size_t i = 0; e < c && i < count; i++) mirror[i * F * F] = to[i * F * F];
        }
}

/* Laplace: the own part of function c, and its r. */
static cr_status spread_laplace(cr_ctx *cx, const block *b, size_t c)
{
    cr_status           st = CR_OK;
    const cri_classify *m = b->m;
    size_t              n = m->n, F = m->F, count = b->count;
    cr_mat              T = cr_mat_of(F > 1 ? b->r + c * n * count : b->T, n, count);
    cr_cmat             L = cr_cmat_of(m->gp.L, n, n);
    cr_cmat             B = F > 1 ? cr_cmat_of(m->factor + c * n * n, n, n) : L;
    scale_by(m->root + c * n, b->C, n, count, T.a);
    CR_TRY(cr_chol_forward(cx, B, T));
    add_squares(T.a, n, count, -1, b->cov + c * F + c, F * F);
    for (size_t i = 0; i < count; i++) {
        double *v = b->cov + i * F * F + c * F + c;
        *v = fmax(*v, 0);
    }
    if (F == 1) goto done;
    CR_TRY(cr_chol_backward(cx, B, T));
    scale_by(m->root + c * n, T.a, n, count, T.a);
    CR_TRY(cr_chol_forward(cx, L, T));
done:
    return st;
}

/* Sparse: b->C holds w. */
static cr_status spread_sparse(cr_ctx *cx, const block *b, size_t c)
{
    const cri_classify *m = b->m;
    size_t              n = m->n, F = m->F, count = b->count;
    double             *v = b->cov + c * F + c;
    add_squares(b->C, n, count, -1, v, F * F);
    for (size_t i = 0; i < count; i++) v[i * F * F] = fmax(v[i * F * F], 0);
    memcpy(b->T, b->C, n * count * sizeof(double));
    cr_status st =
        cr_chol_forward(cx, cr_cmat_of(m->factor + c * n * n, n, n), cr_mat_of(b->T, n, count));
    if (st == CR_OK) add_squares(b->T, n, count, 1, v, F * F);
    return st;
}

/* Means and covariances of rows [begin, end). */
static cr_status find_normals(cr_ctx *cx, const cri_rows *rows, cri_range r, block *b)
{
    cr_status           st = CR_OK;
    const cri_classify *m = b->m;
    size_t              n = m->n, F = m->F, count = r.end - r.begin;
    cr_kernel_input     at = cri_gp_inputs(&m->gp.at);
    cr_kernel_input     in = { .rows = count,
                               .numbers = cr_cmat_of(b->X, count, m->gp.at.d),
                               .codes = b->codes,
                               .categories = m->gp.at.c,
                               .names = cri_gp_names(rows) };

    b->count = count;
    cri_gp_split(rows, r.begin, r.end, b->workspace, b->X, b->codes);
    CR_TRY(cri_gp_check_inputs(cx, m->gp.kernel, rows, r.begin, &in));
    CR_TRY(cr_kernel_cross(cx, m->gp.kernel, &at, &in, cr_mat_of(b->C, n, count)));
    CR_TRY(cr_kernel_diagonal(cx, m->gp.kernel, &in, true, b->prior));
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(m->latent, F, n), CR_PLAIN, cr_cmat_of(b->C, n, count),
                   CR_PLAIN, 0, cr_mat_of(b->mean, F, count)));
    if (m->sparse)
        CR_TRY(cr_chol_forward(cx, cr_cmat_of(m->gp.L, n, n), cr_mat_of(b->C, n, count)));
    memset(b->cov, 0, count * F * F * sizeof(double));
    for (size_t c = 0; c < F; c++) {
        for (size_t i = 0; i < count; i++) b->cov[i * F * F + c * F + c] = b->prior[i];
        CR_TRY(m->sparse ? spread_sparse(cx, b, c) : spread_laplace(cx, b, c));
    }
    if (b->r) add_products(b);
done:
    return st;
}

/* --- probabilities --------------------------------------------------------------------------- */

/* out [F] := E softmax(f) by the lattice, its first coordinate that of each function in turn; workspace
 * [(F + 3) F]. */
static void average_in_turn(const block *b, const double *mean, const double *cov,
                            double *workspace, double *out)
{
    size_t  F = b->m->F;
    double *C = workspace, *m = C + F * F, *p = m + F, *softmax = p + F;
    memset(out, 0, F * sizeof *out);
    for (size_t first = 0; first < F; first++) {
        for (size_t i = 0; i < F; i++) {
            size_t from = (first + i) % F;
            m[i] = mean[from];
            for (size_t j = 0; j < F; j++) C[i * F + j] = cov[from * F + (first + j) % F];
        }
        cri_factor_small(C, F);
        cri_softmax_normal(b->points, b->n_points, F, m, C, softmax, p);
        for (size_t i = 0; i < F; i++) out[(first + i) % F] += p[i] / (double)F;
    }
}

static void answer_rows(void *arg, size_t number)
{
    const block        *b = arg;
    const cri_classify *m = b->m;
    size_t              F = m->F, K = m->K;
    cri_range           r = cri_block_range(b->count, ROWS, number);
    for (size_t i = r.begin; i < r.end; i++) {
        double *cov = b->cov + i * F * F, *p = b->prob + i * K, sum = 0;
        double *mean = b->work + work_size(F) * i, *out = mean + F, *workspace = out + F, two[2];
        for (size_t c = 0; c < F; c++) mean[c] = b->mean[c * b->count + i];
        if (F == 1) {
            two[0] = cri_classify_probability((cri_classify_link)m->link, mean[0], cov[0]);
            two[1] = cri_classify_probability((cri_classify_link)m->link, -mean[0], cov[0]);
            out = two;
        } else if (b->n_points == 0) {
            cri_softmax_grid(F, mean, cov, out);
        } else {
            average_in_turn(b, mean, cov, workspace, out);
        }
        for (size_t k = 0; k < K; k++) sum += p[k] = m->place[k] < 0 ? 0 : out[(size_t)m->place[k]];
        for (size_t k = 0; k < K; k++) p[k] /= sum;
    }
}

cr_status cri_classify_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                               cr_prediction *out)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    const cri_classify *m = state;
    block               b;

    CR_TRY(block_new(&s, m, rows->p, rows->n < BLOCK ? rows->n : BLOCK, count_points(m->F), &b));
    for (size_t k = 0; k < cri_block_count(rows->n, BLOCK); k++) {
        cri_range r = cri_block_range(rows->n, BLOCK, k);
        CR_TRY(find_normals(cx, rows, r, &b));
        b.prob = out->prob + r.begin * m->K;
        CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(b.count, ROWS), answer_rows, &b));
    }
    for (size_t i = 0; i < rows->n * m->K; i++)
        if (isnan(out->prob[i]))
            CR_TRY(cr_fail(cx, CR_ENUMERIC,
                           "the values of a row are so large that its latent function overflows"));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- intervals ------------------------------------------------------------------------------- */

typedef struct interval_work {
    const block *b;
    double       level;
    double      *lower, *upper; /* [count x K] */
} interval_work;

/* low, high [2]: the quantiles of the one latent function, through the link. */
static void ends_of_two(const cri_classify *m, double mean, double variance, double level,
                        double *low, double *high)
{
    cri_classify_link link = (cri_classify_link)m->link;
    double            half = -cr_norm_ppf((1 - level) / 2) * sqrt(fmax(variance, 0));
    low[0] = cri_classify_probability(link, mean - half, 0);
    high[0] = cri_classify_probability(link, mean + half, 0);
    low[1] = cri_classify_probability(link, -mean - half, 0);
    high[1] = cri_classify_probability(link, -mean + half, 0);
}

/* workspace: low, high [F + 1], mean, softmax [F], the covariance [F x F], and the values of the softmax. */
static size_t interval_workspace(const block *b)
{
    size_t F = b->m->F;
    return 4 * F + 2 + F * F + 2 * F * b->n_points;
}

static void interval_rows(void *arg, cri_range r, double *workspace)
{
    const interval_work *w = arg;
    const block         *b = w->b;
    const cri_classify  *m = b->m;
    size_t               F = m->F, K = m->K;
    double *low = workspace, *high = low + F + 1, *mean = high + F + 1, *softmax = mean + F;
    double *L = softmax + F, *values = L + F * F;
    for (size_t i = r.begin; i < r.end; i++) {
        for (size_t c = 0; c < F; c++) mean[c] = b->mean[c * b->count + i];
        memcpy(L, b->cov + i * F * F, F * F * sizeof *L);
        if (F == 1) {
            ends_of_two(m, mean[0], L[0], w->level, low, high);
        } else {
            cri_factor_small(L, F);
            cri_softmax_values(b->points, b->n_points, F, mean, L, softmax, 2 * b->n_points,
                               values);
            cri_central_intervals(values, F, 2 * b->n_points, w->level, low, high);
        }
        for (size_t k = 0; k < K; k++) {
            bool absent = m->place[k] < 0; /* no row of the class was seen */
            w->lower[i * K + k] = absent ? 0 : low[(size_t)m->place[k]];
            w->upper[i * K + k] = absent ? 0 : high[(size_t)m->place[k]];
        }
    }
}

cr_status cri_classify_intervals(cr_ctx *cx, const void *state, const cri_rows *rows, double level,
                                 double *lower, double *upper)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    const cri_classify *m = state;
    block               b;
    interval_work       w = { .b = &b, .level = level };

    CR_TRY(block_new(&s, m, rows->p, rows->n < BLOCK ? rows->n : BLOCK,
                     m->F > 1 ? CRI_INTERVAL_POINTS : 0, &b));
    for (size_t k = 0; k < cri_block_count(rows->n, BLOCK); k++) {
        cri_range r = cri_block_range(rows->n, BLOCK, k);
        CR_TRY(find_normals(cx, rows, r, &b));
        w.lower = lower + r.begin * m->K, w.upper = upper + r.begin * m->K;
        CR_TRY(
            cri_parallel_rows(cx, NULL, b.count, ROWS, interval_workspace(&b), interval_rows, &w));
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_classify_latent(cr_ctx *cx, const void *state, const cri_rows *rows, double *out)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    const cri_classify *m = state;
    size_t              F = m->F;
    block               b;

    CR_TRY(block_new(&s, m, rows->p, rows->n < BLOCK ? rows->n : BLOCK, 0, &b));
    for (size_t k = 0; k < cri_block_count(rows->n, BLOCK); k++) {
        cri_range r = cri_block_range(rows->n, BLOCK, k);
        CR_TRY(find_normals(cx, rows, r, &b));
        for (size_t i = 0; i < b.count; i++)
            for (size_t c = 0; c < F; c++) {
                double *to = out + (r.begin + i) * 2 * F + 2 * c;
                to[0] = b.mean[c * b.count + i];
                to[1] = sqrt(b.cov[i * F * F + c * F + c]);
            }
    }
done:
    cr_scratch_end(&s);
    return st;
}

const char *const *cri_classify_labels(const void *state, size_t *out_n)
{
    const cri_classify *m = state;
    *out_n = 2 * m->F;
    return (const char *const *)m->labels;
}
