/* linear_rows.c -- sums over the rows of a linear machine. */
#include "linear_rows.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 256, SPANS = 8 };

double cri_svm_linear_square(const cri_svm_linear_rows *x, size_t i)
{
    double sum = 0;
    if (x->dense) {
        const double *row = x->dense + i * x->p;
        for (size_t j = 0; j < x->p; j++) sum += row[j] * row[j];
    } else {
        for (size_t e = x->sparse.start[i]; e < x->sparse.start[i + 1]; e++)
            sum += x->sparse.value[e] * x->sparse.value[e];
    }
    return sum;
}

/* --- products -------------------------------------------------------------------------------- */

typedef struct product {
    const cri_svm_linear_rows *x;
    const double              *v;
    double                     b;
    double                    *out;
} product;

static void score_rows(void *arg, cri_range rows, double *workspace)
{
    const product *s = arg;
    (void)workspace;
    for (size_t i = rows.begin; i < rows.end; i++)
        s->out[i] = cri_svm_linear_dot(s->x, i, s->v) + s->b;
}

cr_status cri_svm_linear_scores(cr_ctx *cx, const cri_svm_linear_rows *x, const double *w, double b,
                                double *out)
{
    product s = { x, w, b, out };
    return cri_parallel_rows(cx, NULL, x->n, 16 * BLOCK, 0, score_rows, &s);
}

static void add_rows(void *arg, cri_range rows, double *acc)
{
    const product *s = arg;
    for (size_t i = rows.begin; i < rows.end; i++) {
        if (s->v[i] == 0) continue;
        cri_svm_linear_add(s->x, i, s->v[i], acc);
        acc[s->x->p] += s->v[i];
    }
}

static void add_ones(void *arg, cri_range rows, double *acc)
{
    const product *s = arg;
    for (size_t i = rows.begin; i < rows.end; i++) acc[0] += s->v[i];
}

cr_status cri_svm_linear_transpose_times(cr_ctx *cx, const cri_svm_linear_rows *x, const double *v,
                                         double *out)
{
    product   s = { x, v, 0, NULL };
    cr_status st = CR_OK;
    if (x->dense || x->p <= 4096)
        return cri_parallel_sum(cx, NULL, x->n, 4 * BLOCK, x->p + 1, add_rows, &s, out);
    CR_TRY(cri_sparse_transpose_times(cx, &x->sparse, v, out));
    CR_TRY(cri_parallel_sum(cx, NULL, x->n, 4 * BLOCK, 1, add_ones, &s, out + x->p));
done:
    return st;
}

/* --- cross-products -------------------------------------------------------------------------- */

typedef struct gram {
    const cri_svm_linear_rows *x;
    const double              *v;
    size_t                     spans, q;
    double                    *sums; /* [spans x q x q] */
    double                    *rows; /* [spans x BLOCK x q]: of dense rows, times sqrt(v) */
} gram;

static void gram_sparse(const gram *g, cri_range rows, double *G)
{
    const cri_sparse *X = &g->x->sparse;
    size_t            q = g->q;
    double           *ones = G + g->x->p * q;
    for (size_t i = rows.begin; i < rows.end; i++) {
        size_t begin = X->start[i], end = X->start[i + 1];
        double v = g->v[i];
        if (v == 0) continue;
        for (size_t e = begin; e < end; e++) {
            double a = v * X->value[e], *row = G + X->column[e] * q;
            for (size_t f = begin; f <= e; f++) row[X->column[f]] += a * X->value[f];
            ones[X->column[e]] += a;
        }
        ones[g->x->p] += v;
    }
}

static void gram_dense(const gram *g, cri_range rows, double *work, double *G)
{
    size_t p = g->x->p, q = g->q, k = 0;
    for (size_t i = rows.begin; i < rows.end; i++) {
        double root = sqrt(g->v[i]), *row = work + k * q;
        if (root == 0) continue;
        for (size_t j = 0; j < p; j++) row[j] = root * g->x->dense[i * p + j];
        row[p] = root;
        k++;
    }
    if (k > 0)
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)q, (int)k, 1, work, (int)q, 1, G,
                    (int)q);
}

static void gram_span(void *arg, size_t span)
{
    const gram *g = arg;
    size_t      n = g->x->n, begin = n * span / g->spans, end = n * (span + 1) / g->spans;
    double     *G = g->sums + span * g->q * g->q;
    memset(G, 0, g->q * g->q * sizeof *G);
    for (; begin < end; begin += BLOCK) {
        cri_range block = { begin, end - begin < BLOCK ? end : begin + BLOCK };
        if (g->x->dense)
            gram_dense(g, block, g->rows + span * BLOCK * g->q, G);
        else
            gram_sparse(g, block, G);
    }
}

/* As many as pay for the matrix that each has. */
static size_t spans_of(const cri_svm_linear_rows *x)
{
    size_t some = x->n / 4096, most = x->p < 700 ? SPANS : 2;
    return some < 1 ? 1 : some < most ? some : most;
}

cr_status cri_svm_linear_gram(cr_ctx *cx, const cri_svm_linear_rows *x, const double *v,
                              double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     q = x->p + 1, spans = spans_of(x);
    gram       g = { .x = x, .v = v, .spans = spans, .q = q };
    g.sums = cr_scratch_matrix(&s, spans * q, q);
    if (x->dense) g.rows = cr_scratch_matrix(&s, spans * BLOCK, q);
    CR_TRY(s.status);
    CR_TRY(cri_blas_check(cx, "svm", (cr_cmat){ g.sums, q, q, q }));
    cri_blas_enter();
    st = cri_parallel_for(cx, NULL, spans, gram_span, &g);
    cri_blas_leave();
    CR_TRY(st);
    memcpy(out, g.sums, q * q * sizeof *out);
    for (size_t k = 1; k < spans; k++)
        for (size_t a = 0; a < q * q; a++) out[a] += g.sums[k * q * q + a];
done:
    cr_scratch_end(&s);
    return st;
}

double cri_svm_linear_gram_cost(const cri_svm_linear_rows *x)
{
    double cost = 0, p = (double)x->p;
    if (x->dense) return (double)x->n * p * p / 8; /* by matrix kernels */
    for (size_t i = 0; i < x->n; i++) {
        double length = (double)(x->sparse.start[i + 1] - x->sparse.start[i]);
        cost += length * (length + 3) / 2;
    }
    return cost + 4 * p * p; /* the spans */
}
