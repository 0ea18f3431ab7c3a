/* sparse_dual.c -- products with the dual matrix of sparse rows, and its preconditioner. */
#include "sparse_dual.h"
#include "base/parallel.h"
#include "math/dense/chol.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL = CRI_SPARSE_PANEL, PIECES = CRI_DUAL_PIECES, BLOCK = 512 };

/* --- columns by length ----------------------------------------------------------------------- */

/* Cuts the columns into pieces of about the same work. */
static void cut_columns(cri_sparse_dual *d)
{
    enum { EACH = 4 }; /* entries that a column is worth by itself */
    size_t p = d->z->p, all = d->columns.start[p] + EACH * p, b = 0;
    for (size_t r = 0; r < p; r++)
        while (b < PIECES && (d->columns.start[r] + EACH * r) >= all / PIECES * b) d->cut[b++] = r;
    while (b <= PIECES) d->cut[b++] = p;
}

/* Numbers the columns anew, and copies them. */
static cr_status set_columns(cr_ctx *cx, cr_scratch *s, cri_sparse_dual *d)
{
    cr_status         st = CR_OK;
    cr_scratch        local = cr_scratch_begin(cx);
    const cri_sparse *X = d->z->X;
    size_t            n = X->n, p = X->p, end, at = 0;
    size_t           *workspace = cr_scratch_index(&local, (n > p ? n : p) + 2);
    size_t           *rank = cr_scratch_index(&local, p);

    d->order = cr_scratch_index(s, p);
    d->row_start = cr_scratch_index(s, n + 1);
    d->column = cr_scratch_bytes(s, cri_sparse_entries(X), sizeof *d->column);
    CR_TRY(s->status);
    CR_TRY(local.status);
    cri_sparse_rank_columns(X, rank, workspace);
    CR_TRY(cri_sparse_transpose_ranked(cx, X, rank, &d->columns));
    d->columns.view.index = NULL;
    for (size_t j = 0; j < p; j++) d->order[rank[j]] = j;
    for (size_t i = 0; i < n; i++) {
        d->row_start[i] = at;
        for (size_t e = cri_sparse_row(X, i, &end); e < end; e++)
            d->column[at++] = (uint32_t)rank[X->column[e]];
    }
    d->row_start[n] = at;
    cut_columns(d);
done:
    cr_scratch_end(&local);
    return st;
}

/* --- the preconditioner ---------------------------------------------------------------------- */

typedef struct heavy {
    double square;
    size_t at; /* in the new order */
} heavy;

static int by_falling_square(const void *a, const void *b)
{
    const heavy *x = a, *y = b;
    if (x->square != y->square) return x->square > y->square ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* The columns of S, at the most MOST, whose squares are twice the mean of the diagonal of K or
 * more.  (Fewer than n / 2 columns can be.)  A column whose mean is out of all proportion to its sd
 * stays away: the sums of S would lose it. */
static cr_status choose_heavy(cr_scratch *s, cri_sparse_dual *d, heavy **out)
{
    enum { MOST = 512 };
    const cri_sparse_terms *z = d->z;
    heavy                  *S = cr_scratch_bytes(s, z->n / 2 + 1, sizeof *S);
    double                  trace = 0;
    size_t                  k = 0;
    if (s->status != CR_OK) return s->status;
    for (size_t j = 0; j < z->p; j++) trace += z->square[j];
    d->most = trace + d->lambda;
    for (size_t r = 0; r < z->p && k <= z->n / 2; r++) {
        size_t j = d->order[r];
        double shift = z->centre[j] / z->scale[j];
        if (z->square[j] > 2 * (d->lambda + trace / (double)z->n) &&
            z->weight * shift * shift < 1e6 * z->square[j])
            S[k++] = (heavy){ z->square[j], r };
    }
    qsort(S, k, sizeof *S, by_falling_square);
    d->k = k < MOST ? k : MOST;
    for (size_t a = 0; a < d->k; a++) trace -= S[a].square;
    d->mu = d->lambda + fmax(trace, 0) / (double)z->n;
    *out = S;
    return CR_OK;
}

/* L L' = Z_S' Z_S + mu I, from X_S' W X_S: less weight times centre centre', scaled. */
static cr_status factor_heavy(cr_ctx *cx, cri_sparse_dual *d)
{
    cr_status st = CR_OK;
    size_t    k = d->k;
    CR_TRY(cri_sparse_gram(cx, &d->heavy_rows.view, d->z->w, d->L));
    for (size_t a = 0; a < k; a++) {
        for (size_t b = 0; b < k; b++)
            d->L[a * k + b] = (d->L[a * k + b] - d->z->weight * d->centre[a] * d->centre[b]) *
                              d->per_scale[a] * d->per_scale[b];
        d->L[a * k + a] += d->mu;
    }
    CR_TRY(cr_chol(cx, cr_mat_of(d->L, k, k)));
done:
    return st;
}

static cr_status set_preconditioner(cr_ctx *cx, cr_scratch *s, cri_sparse_dual *d)
{
    cr_status               st = CR_OK;
    cr_scratch              local = cr_scratch_begin(cx);
    const cri_sparse_terms *z = d->z;
    size_t                 *index = NULL;
    heavy                  *S;

    CR_TRY(choose_heavy(&local, d, &S));
    d->centre = cr_scratch_f64(s, d->k);
    d->per_scale = cr_scratch_f64(s, d->k);
    d->L = cr_scratch_matrix(s, d->k, d->k);
    index = cr_scratch_index(&local, d->k);
    CR_TRY(s->status);
    CR_TRY(local.status);
    for (size_t a = 0; a < d->k; a++) {
        size_t j = d->order[S[a].at];
        index[a] = S[a].at;
        d->centre[a] = z->centre[j];
        d->per_scale[a] = 1 / z->scale[j];
    }
    if (d->k > 0) {
        cri_sparse columns = d->columns.view;
        columns.n = d->k;
        columns.index = index;
        CR_TRY(cri_sparse_transpose(cx, &columns, &d->heavy_rows));
        CR_TRY(cri_sparse_transpose(cx, &d->heavy_rows.view, &d->heavy_columns));
        CR_TRY(factor_heavy(cx, d));
    }
done:
    cr_scratch_end(&local);
    return st;
}

void cri_sparse_dual_close(cr_ctx *cx, cri_sparse_dual *d)
{
    if (d->columns.start) cri_sparse_free(cx, &d->columns);
    if (d->heavy_rows.start) cri_sparse_free(cx, &d->heavy_rows);
    if (d->heavy_columns.start) cri_sparse_free(cx, &d->heavy_columns);
}

cr_status cri_sparse_dual_open(cr_ctx *cx, cr_scratch *s, const cri_sparse_terms *z, double lambda,
                               cri_sparse_dual *out)
{
    cr_status       st = CR_OK;
    cri_sparse_dual d = {
        .z = z, .lambda = lambda, .mean = cr_scratch_f64(s, z->p), .shrink = cr_scratch_f64(s, z->p)
    };

    CR_TRY(s->status);
    CR_TRY(set_columns(cx, s, &d));
    for (size_t r = 0; r < z->p; r++) {
        size_t j = d.order[r];
        d.mean[r] = z->centre[j];
        d.shrink[r] = z->square[j] > 0 ? 1 / (z->scale[j] * z->scale[j]) : 0;
    }
    CR_TRY(set_preconditioner(cx, s, &d));
    *out = d;
    d = (cri_sparse_dual){ 0 };
done:
    cri_sparse_dual_close(cx, &d);
    return st;
}

/* --- products -------------------------------------------------------------------------------- */

cri_sparse_dual_workspace cri_sparse_dual_workspace_new(cr_scratch *s, const cri_sparse_dual *d,
                                                        size_t width)
{
    return (cri_sparse_dual_workspace){ .d = d,
                                        .width = width,
                                        .u = cr_scratch_matrix(s, d->z->n, width),
                                        .v = cr_scratch_matrix(s, d->z->p, width),
                                        .h = cr_scratch_matrix(s, d->k, width) };
}

typedef struct dual_work {
    const cri_sparse_dual_workspace *workspace;
    const double                    *from;
    double                          *out;
    double                           sum[PANEL], level[PANEL];
    double                           levels[PIECES][PANEL];
} dual_work;

/* Entries begin .. end - 1 of a row or column times a vector or a panel; more of them follow up to
 * `last`. */
static inline void gather(const uint32_t *at, const double *value, size_t begin, size_t end,
                          size_t last, const double *from, size_t width, double *sum)
{
    if (width == 1)
        sum[0] = cri_sparse_gather(at + begin, value, end - begin, from);
    else
        cri_sparse_gather_panel(at + begin, value, end - begin, last - end, from, sum);
}

/* u = sqrt(w) from, and its sums. */
static void enter_rows(void *arg, cri_range range, double *acc)
{
    const dual_work *w = arg;
    const double    *root = w->workspace->d->z->root;
    size_t           width = w->workspace->width;
    for (size_t i = range.begin; i < range.end; i++)
        for (size_t c = 0; c < width; c++) {
            double u = (root ? root[i] : 1) * w->from[i * width + c];
            w->workspace->u[i * width + c] = u;
            acc[c] += u;
        }
}

/* v = Z' from / scale of a piece of the columns, and its part of the sum of centre . v. */
static void piece_of_columns(void *arg, size_t piece)
{
    dual_work             *w = arg;
    const cri_sparse_dual *d = w->workspace->d;
    size_t                 width = w->workspace->width, last = d->columns.start[d->z->p];
    double                 g[PANEL], level[PANEL] = { 0 };
    for (size_t r = d->cut[piece]; r < d->cut[piece + 1]; r++) {
        double *v = w->workspace->v + r * width;
        gather(d->columns.column, d->columns.value + d->columns.start[r], d->columns.start[r],
               d->columns.start[r + 1], last, w->workspace->u, width, g);
        for (size_t c = 0; c < width; c++) {
            v[c] = (g[c] - d->mean[r] * w->sum[c]) * d->shrink[r];
            level[c] += d->mean[r] * v[c];
        }
    }
    memcpy(w->levels[piece], level, sizeof level);
}

/* out = sqrt(w) (X v - level) + lambda from, and the inner products of both. */
static void leave_rows(void *arg, cri_range range, double *acc)
{
    const dual_work        *w = arg;
    const cri_sparse_dual  *d = w->workspace->d;
    const cri_sparse_terms *z = d->z;
    size_t                  width = w->workspace->width, end, last = d->row_start[z->n];
    double                  g[PANEL];
    for (size_t i = range.begin; i < range.end; i++) {
        const double *from = w->from + i * width;
        double       *out = w->out + i * width, root = z->root ? z->root[i] : 1;
        const double *value = z->X->value + cri_sparse_row(z->X, i, &end);
        gather(d->column, value, d->row_start[i], d->row_start[i + 1], last, w->workspace->v, width,
               g);
        for (size_t c = 0; c < width; c++) {
            out[c] = root * (g[c] - w->level[c]) + d->lambda * from[c];
            acc[c] += from[c] * out[c];
        }
    }
}

cr_status cri_sparse_dual_times(cr_ctx *cx, const cri_sparse_dual_workspace *workspace,
                                const double *q, double *out, double *out_inner)
{
    cr_status st = CR_OK;
    dual_work w = { .workspace = workspace, .from = q, .out = out };
    size_t    n = workspace->d->z->n;
    CR_TRY(cri_parallel_sum(cx, NULL, n, BLOCK, workspace->width, enter_rows, &w, w.sum));
    CR_TRY(cri_parallel_for(cx, NULL, PIECES, piece_of_columns, &w));
    for (size_t b = 0; b < PIECES; b++)
        for (size_t c = 0; c < workspace->width; c++) w.level[c] += w.levels[b][c];
    CR_TRY(cri_parallel_sum(cx, NULL, n, BLOCK, workspace->width, leave_rows, &w, out_inner));
done:
    return st;
}

enum { HEAVY_BLOCK = 8 };

/* h = Z_S' from. */
static void heavy_columns(void *arg, size_t block)
{
    const dual_work       *w = arg;
    const cri_sparse_dual *d = w->workspace->d;
    const cri_sparse      *columns = &d->heavy_columns.view;
    size_t                 width = w->workspace->width, last = columns->start[d->k];
    cri_range              range = cri_block_range(d->k, HEAVY_BLOCK, block);
    double                 g[PANEL];
    for (size_t a = range.begin; a < range.end; a++) {
        gather(columns->column, columns->value + columns->start[a], columns->start[a],
               columns->start[a + 1], last, w->workspace->u, width, g);
        for (size_t c = 0; c < width; c++)
            w->workspace->h[a * width + c] = (g[c] - d->centre[a] * w->sum[c]) * d->per_scale[a];
    }
}

/* out = (from - Z_S h) / mu, h being divided by the scales, and the inner products of both. */
static void heavy_rows(void *arg, cri_range range, double *acc)
{
    const dual_work       *w = arg;
    const cri_sparse_dual *d = w->workspace->d;
    const cri_sparse      *rows = &d->heavy_rows.view;
    size_t                 width = w->workspace->width;
    double                 g[PANEL] = { 0 }, per_mu = 1 / d->mu;
    for (size_t i = range.begin; i < range.end; i++) {
        const double *from = w->from + i * width;
        double       *out = w->out + i * width, root = d->z->root ? d->z->root[i] : 1;
        if (d->k > 0)
            gather(rows->column, rows->value + rows->start[i], rows->start[i], rows->start[i + 1],
                   rows->start[rows->n], w->workspace->h, width, g);
        for (size_t c = 0; c < width; c++) {
            out[c] = (from[c] - root * (g[c] - w->level[c])) * per_mu;
            acc[c] += from[c] * out[c];
        }
    }
}

cr_status cri_sparse_dual_precondition(cr_ctx *cx, const cri_sparse_dual_workspace *workspace,
                                       const double *r, double *out, double *out_inner)
{
    cr_status              st = CR_OK;
    const cri_sparse_dual *d = workspace->d;
    dual_work              w = { .workspace = workspace, .from = r, .out = out };
    size_t                 n = d->z->n, k = d->k, width = workspace->width;
    if (k > 0) {
        CR_TRY(cri_parallel_sum(cx, NULL, n, BLOCK, width, enter_rows, &w, w.sum));
        CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(k, HEAVY_BLOCK), heavy_columns, &w));
        CR_TRY(cr_chol_solve(cx, cr_cmat_of(d->L, k, k), cr_mat_of(workspace->h, k, width)));
    }
    for (size_t a = 0; a < k; a++)
        for (size_t c = 0; c < width; c++) {
            workspace->h[a * width + c] *= d->per_scale[a];
            w.level[c] += d->centre[a] * workspace->h[a * width + c];
        }
    CR_TRY(cri_parallel_sum(cx, NULL, n, BLOCK, width, heavy_rows, &w, out_inner));
done:
    return st;
}
