/* rows_factor.c -- triangular factors of centred rows: made, merged, kept. */
#include "rows_factor.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"
#include "math/dense/chol.h"
#include "math/dense/lapack.h"

#include <math.h>
#include <string.h>

CRI_RECORD_TABLE(, cri_rows_factor_record, cri_rows_factor, CRI_ROWS_FACTOR);
CRI_RECORD_FREE(cri_rows_factor);

bool cri_rows_factor_fits(cri_rows_factor *f, size_t p)
{
    f->p = p;
    return f->q == p + 1 && f->weight > 0; /* 0: of a part of the rows alone */
}

static cr_status allocate(cr_ctx *cx, size_t p, cri_rows_factor *out)
{
    cri_rows_factor f = { .p = p, .q = p + 1 };
    cr_status       st = cri_record_allocate(cx, cri_rows_factor_record, &f);
    if (st == CR_OK)
        *out = f;
    else
        cri_rows_factor_free(cx, &f);
    return st;
}

/* --- QR in blocks ---------------------------------------------------------------------------- */

/* A stack [lead x q], column-major: a triangle in its first q rows, and rows to be taken into it
 * below; the rest of a column's room is not looked at. */
typedef struct stack {
    size_t  q, lead;
    double *A, *tau, *work; /* [lead x q], [q], [q x 32] */
} stack;

static stack place_stack(cr_scratch *s, size_t q, size_t more)
{
    return (stack){ .q = q,
                    .lead = q + more,
                    .A = cr_scratch_bytes(s, (q + more) * q, sizeof(double)),
                    .tau = cr_scratch_f64(s, q),
                    .work = cr_scratch_f64(s, q * 32) };
}

/* Takes `more` rows below the triangle into it. */
static void absorb(stack *k, size_t more)
{
    cri_dgeqrf((int)(k->q + more), (int)k->q, k->A, (int)k->lead, k->tau, k->work,
               (int)(k->q * 32));
    for (size_t j = 0; j < k->q; j++) /* reflectors away */
        memset(k->A + j * k->lead + j + 1, 0, (k->lead - j - 1) * sizeof(double));
}

static void read_triangle(const stack *k, double *R)
{
    for (size_t i = 0; i < k->q; i++)
        for (size_t j = 0; j < k->q; j++) R[i * k->q + j] = j >= i ? k->A[j * k->lead + i] : 0;
}

/* Rows of a row-major triangle, scaled, below the stack's own. */
static void put_triangle(stack *k, const double *R)
{
    for (size_t j = 0; j < k->q; j++)
        for (size_t i = 0; i <= j; i++) k->A[j * k->lead + k->q + i] = R[i * k->q + j];
}

enum { BLOCK = 256, MOST_SPANS = 16 };

typedef struct pass {
    const cri_rows *rows;
    const double   *mean; /* [q] */
    size_t          spans;
    stack          *stack; /* [spans] */
    double         *Z;     /* [spans][BLOCK x q] */
} pass;

static void factor_span(void *arg, size_t s)
{
    const pass     *w = arg;
    const cri_rows *rows = w->rows;
    stack          *k = &w->stack[s];
    size_t          q = k->q, blocks = cri_block_count(rows->n, BLOCK);
    double         *Z = w->Z + s * BLOCK * q;
    for (size_t b = s * blocks / w->spans; b < (s + 1) * blocks / w->spans; b++) {
        cri_range range = cri_block_range(rows->n, BLOCK, b);
        size_t    n = range.end - range.begin;
        cri_rows_fill(rows, range.begin, range.end, Z, q);
        for (size_t i = 0; i < n; i++) {
            double root = rows->w ? sqrt(rows->w[range.begin + i]) : 1;
            Z[i * q + q - 1] = rows->y[range.begin + i];
            for (size_t j = 0; j < q; j++)
                k->A[j * k->lead + q + i] = root * (Z[i * q + j] - w->mean[j]);
        }
        absorb(k, n);
    }
}

/* The factor about f->mean, which is set. */
static cr_status factor_rows(cr_ctx *cx, const cri_rows *rows, cri_rows_factor *f)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     blocks = cri_block_count(rows->n, BLOCK), q = f->q;
    pass       w = { .rows = rows, .mean = f->mean };

    w.spans = blocks < 2 * q / BLOCK + 2 ? 1 : blocks / (2 * q / BLOCK + 2);
    if (w.spans > MOST_SPANS) w.spans = MOST_SPANS;
    w.stack = cr_scratch_bytes(&s, w.spans, sizeof *w.stack);
    w.Z = cr_scratch_matrix(&s, w.spans * BLOCK, q);
    CR_TRY(s.status);
    for (size_t i = 0; i < w.spans; i++) w.stack[i] = place_stack(&s, q, q > BLOCK ? q : BLOCK);
    CR_TRY(s.status);
    CR_TRY(cri_blas_reserve(cx));
    cri_blas_enter();
    st = cri_parallel_for(cx, "factoring rows", w.spans, factor_span, &w);
    for (size_t i = 1; i < w.spans && st == CR_OK; i++) {
        read_triangle(&w.stack[i], f->R);
        put_triangle(&w.stack[0], f->R);
        absorb(&w.stack[0], q);
    }
    cri_blas_leave();
    CR_TRY(st);
    read_triangle(&w.stack[0], f->R);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- from moments ---------------------------------------------------------------------------- */

/* R by Cholesky of the scatter; *out_good = false where squaring the columns has cost digits. */
static cr_status factor_moments(cr_ctx *cx, const cri_moments *m, cri_rows_factor *f,
                                bool *out_good)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     q = f->q;
    double    *L = cr_scratch_matrix(&s, q, q), *size = cr_scratch_f64(&s, q), norm = 0, rcond = 0;

    CR_TRY(s.status);
    *out_good = true;
    for (size_t j = 0; j < q; j++) {
        size[j] = sqrt(m->S[j * q + j]);
        *out_good = *out_good && size[j] * size[j] > 1e-5 * m->weight * m->mean[j] * m->mean[j];
    }
    if (!*out_good) goto done;
    for (size_t i = 0; i < q; i++) {
        double sum = 0;
        for (size_t j = 0; j < q; j++)
            sum += fabs(L[i * q + j] = m->S[i * q + j] / (size[i] * size[j]));
        norm = fmax(norm, sum);
    }
    st = cr_chol(cx, cr_mat_of(L, q, q));
    if (st == CR_OK) st = cr_chol_rcond(cx, cr_cmat_of(L, q, q), norm, &rcond);
    if (st == CR_ENUMERIC || st == CR_EDATA) st = CR_OK; /* squares out of range: not so by QR */
    CR_TRY(st);
    *out_good = rcond > 1e-5;
    for (size_t i = 0; i < q; i++)
        for (size_t j = 0; j < q; j++) f->R[i * q + j] = j >= i ? L[j * q + i] * size[j] : 0;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_rows_factor_of_rows(cr_ctx *cx, const cri_rows *rows, const cri_moments *opt_moments,
                                  cri_rows_factor *out)
{
    cr_status       st = CR_OK;
    cri_moments     own = { 0 };
    cri_rows_factor f = { 0 };
    bool            good = false;

    if (!opt_moments) CR_TRY(cri_moments_of_rows(cx, rows, &own));
    const cri_moments *m = opt_moments ? opt_moments : &own;
    CR_TRY(allocate(cx, rows->p, &f));
    f.rows = m->rows;
    f.weight = m->weight;
    memcpy(f.mean, m->mean, f.q * sizeof(double));
    CR_TRY(factor_moments(cx, m, &f, &good));
    if (!good) CR_TRY(factor_rows(cx, rows, &f));
    *out = f;
    f = (cri_rows_factor){ 0 };
done:
    cri_rows_factor_free(cx, &f);
    cri_moments_free(cx, &own);
    return st;
}

/* --- merging --------------------------------------------------------------------------------- */

cr_status cri_rows_factor_merge(cr_ctx *cx, cri_rows_factor *a, const cri_rows_factor *b)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     q = a->q;
    stack      k = place_stack(&s, q, q + 1);
    double     total = a->weight + b->weight, cross = sqrt(a->weight / total * b->weight);

    CR_TRY(s.status);
    if (!(b->weight > 0)) goto done;
    CR_TRY(cri_blas_reserve(cx));
    put_triangle(&k, a->R);
    cri_blas_enter();
    absorb(&k, q);
    put_triangle(&k, b->R);
    for (size_t j = 0; j < q; j++) k.A[j * k.lead + 2 * q] = cross * (b->mean[j] - a->mean[j]);
    absorb(&k, q + 1);
    cri_blas_leave();
    read_triangle(&k, a->R);
    for (size_t j = 0; j < q; j++) a->mean[j] += b->weight / total * (b->mean[j] - a->mean[j]);
    a->weight = total;
    a->rows += b->rows;
done:
    cr_scratch_end(&s);
    return st;
}
