/* dense.c -- matrix products in fixed tiles over one-threaded BLAS.
 * C is cut into tiles, and when C is small and the inner dimension k long, k into spans as well;
 * all of it by the shape alone.  Each tile of each span is one call of BLAS, so its bits are fixed;
 * the spans of a tile are added up in order. */
#include "dense.h"
#include "blas_internal.h"
#include "dense_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <cblas.h>
#include <string.h>

enum {
    SMALL = 1 << 20, /* multiplications that one call does sooner than threads could start    */
    GRAIN = 1 << 18, /* the least worth a task                                                */
    EDGE_MIN = 128,  /* tiles: at least and at most this wide; packing costs 1/edge           */
    EDGE_MAX = 512,
    PIECES = 32,     /* spans of k times tiles: enough to keep many cores busy                */
    SPAN_MIN = 1024, /* rows of a span at least                                               */
    UNIT = 8         /* tiles begin at multiples of this                                      */
};

typedef struct product { /* C = alpha op(A) op(B) + beta C */
    double  alpha, beta;
    cr_cmat A, B;
    bool    tA, tB, symmetric; /* symmetric: op(B) = op(A)^T, lower tiles only, then mirrored */
    cr_mat  C;                 /* [m x n]                                                     */
    size_t  k;
    size_t  tile_rows, tile_cols, down, across; /* the cut of C                               */
    size_t  span, spans;                        /* the cut of k                               */
    double *partial;                            /* [spans x m x n] when spans > 1             */
} product;

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t round_up(size_t n, size_t unit) { return cri_block_count(n, unit) * unit; }

/* m n k > limit, without overflow. */
static bool exceeds(size_t m, size_t n, size_t k, double limit)
{
    return (double)m * (double)n * (double)k > limit;
}

/* The edge of about equal tiles for n rows, at least `least` long. */
static size_t tile_edge(size_t n, size_t least)
{
    size_t edge = larger(smaller(larger(cri_block_count(n, 4), EDGE_MIN), EDGE_MAX), least);
    return round_up(larger(cri_block_count(n, cri_block_count(n, edge)), 1), UNIT);
}

/* The least number of rows that makes rows x area multiplications worth a task. */
static size_t least_rows(size_t area_rows, size_t area_cols)
{
    return exceeds(area_rows, area_cols, 1, GRAIN) ? 1 : GRAIN / (area_rows * area_cols);
}

static void plan(product *p)
{
    size_t m = p->C.rows, n = p->C.cols, k = p->k;
    if (p->symmetric) {
        p->tile_rows = p->tile_cols = tile_edge(n, 1);
    } else {
        p->tile_cols = tile_edge(n, 1);
        p->tile_rows = tile_edge(m, least_rows(smaller(p->tile_cols, n), k));
        if (p->tile_rows >= m) p->tile_cols = tile_edge(n, least_rows(m, k));
    }
    p->down = cri_block_count(m, p->tile_rows);
    p->across = cri_block_count(n, p->tile_cols);

    size_t tiles = p->symmetric ? p->down * (p->down + 1) / 2 : p->down * p->across;
    size_t spans = smaller(cri_block_count(PIECES, tiles), k / larger(SPAN_MIN, least_rows(m, n)));
    p->spans = 2 * tiles < PIECES && spans > 1 ? spans : 1;
    p->span = round_up(cri_block_count(k, p->spans), UNIT);
    p->spans = cri_block_count(k, p->span);
}

/* Where element (i, l) of op(A) is. */
static const double *at(cr_cmat A, bool transposed, size_t i, size_t l)
{
    return transposed ? A.a + l * A.stride + i : A.a + i * A.stride + l;
}

static CBLAS_TRANSPOSE blas_op(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

/* out = alpha op(A)[rows, ks] op(B)[ks, cols] + beta out; only the lower triangle of a tile on the
 * diagonal of a symmetric product. */
static void multiply(const product *p, cri_range rows, cri_range cols, cri_range ks, double beta,
                     cr_mat out)
{
    int           m = (int)(rows.end - rows.begin), n = (int)(cols.end - cols.begin);
    int           k = (int)(ks.end - ks.begin), lda = cri_blas_stride(p->A.stride);
    const double *a = at(p->A, p->tA, rows.begin, ks.begin);

    if (p->symmetric && rows.begin == cols.begin) {
        for (int i = 0; beta == 0 && i < m; i++) /* NaN must go, whatever BLAS makes of 0 * NaN */
            memset(out.a + (size_t)i * out.stride, 0, (size_t)(i + 1) * sizeof(double));
        cblas_dsyrk(CblasRowMajor, CblasLower, blas_op(p->tA), m, k, p->alpha, a, lda, beta, out.a,
                    cri_blas_stride(out.stride));
    } else {
        const double *b = at(p->B, p->tB, ks.begin, cols.begin);
        cblas_dgemm(CblasRowMajor, blas_op(p->tA), blas_op(p->tB), m, n, k, p->alpha, a, lda, b,
                    cri_blas_stride(p->B.stride), beta, out.a, cri_blas_stride(out.stride));
    }
}

/* The rows and columns of a tile; false for one above the diagonal of a symmetric product. */
static bool tile_of(const product *p, size_t tile, cri_range *rows, cri_range *cols)
{
    size_t i = tile / p->across, j = tile % p->across;
    *rows = cri_block_range(p->C.rows, p->tile_rows, i);
    *cols = cri_block_range(p->C.cols, p->tile_cols, j);
    return !p->symmetric || j <= i;
}

static void compute_tile(void *arg, size_t tile)
{
    const product *p = arg;
    cri_range      rows, cols;
    if (!tile_of(p, tile, &rows, &cols)) return;
    cr_mat out =
        cr_mat_part(p->C, rows.begin, cols.begin, rows.end - rows.begin, cols.end - cols.begin);
    multiply(p, rows, cols, (cri_range){ 0, p->k }, p->beta, out);
    if (p->symmetric) cri_mirror_lower(p->C, rows, cols);
}

static void compute_span(void *arg, size_t block)
{
    const product *p = arg;
    size_t         m = p->C.rows, n = p->C.cols, s = block % p->spans;
    cri_range      rows, cols;
    if (!tile_of(p, block / p->spans, &rows, &cols)) return;
    cr_mat part = cr_mat_of(p->partial + s * m * n, m, n);
    multiply(
        p, rows, cols, cri_block_range(p->k, p->span, s), 0,
        cr_mat_part(part, rows.begin, cols.begin, rows.end - rows.begin, cols.end - cols.begin));
}

static void add_spans(void *arg, size_t tile)
{
    const product *p = arg;
    size_t         n = p->C.cols, all = p->C.rows * n;
    cri_range      rows, cols;
    if (!tile_of(p, tile, &rows, &cols)) return;
    for (size_t i = rows.begin; i < rows.end; i++) {
        size_t end = p->symmetric ? smaller(cols.end, i + 1) : cols.end;
        for (size_t j = cols.begin; j < end; j++) {
            double *c = p->C.a + i * p->C.stride + j, sum = 0;
            for (size_t s = 0; s < p->spans; s++) sum += p->partial[s * all + i * n + j];
            *c = p->beta == 0 ? sum : sum + p->beta * *c;
        }
    }
    if (p->symmetric) cri_mirror_lower(p->C, rows, cols);
}

/* C = beta C, for products without terms. */
static void scale(double beta, cr_mat C)
{
    for (size_t i = 0; i < C.rows; i++)
        for (size_t j = 0; j < C.cols; j++) {
            double *c = C.a + i * C.stride + j;
            *c = beta == 0 ? 0 : beta * *c;
        }
}

static cr_status run(cr_ctx *cx, product *p)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     m = p->C.rows, n = p->C.cols;

    cri_blas_enter();
    if (m == 0 || n == 0) goto done;
    if (p->k == 0 || p->alpha == 0) {
        scale(p->beta, p->C);
        if (p->symmetric) cri_mirror_lower(p->C, (cri_range){ 0, m }, (cri_range){ 0, n });
    } else if (!exceeds(m, n, p->k, SMALL)) {
        p->tile_rows = m, p->tile_cols = n, p->down = p->across = 1;
        CR_TRY(cr_check_interrupt(cx));
        compute_tile(p, 0);
    } else {
        plan(p);
        if (p->spans == 1) {
            CR_TRY(cri_parallel_for(cx, NULL, p->down * p->across, compute_tile, p));
        } else {
            p->partial = cr_scratch_matrix(&s, p->spans * m, n);
            CR_TRY(s.status);
            CR_TRY(cri_parallel_for(cx, NULL, p->down * p->across * p->spans, compute_span, p));
            CR_TRY(cri_parallel_for(cx, NULL, p->down * p->across, add_spans, p));
        }
    }
done:
    cri_blas_leave();
    cr_scratch_end(&s);
    return st;
}

cr_status cr_gemm(cr_ctx *cx, double alpha, cr_cmat A, cr_transpose opA, cr_cmat B,
                  cr_transpose opB, double beta, cr_mat C)
{
    cr_status st = CR_OK;
    bool      tA = opA == CR_TRANSPOSED, tB = opB == CR_TRANSPOSED;
    size_t    m = tA ? A.cols : A.rows, k = tA ? A.rows : A.cols;
    size_t    l = tB ? B.cols : B.rows, n = tB ? B.rows : B.cols;

    CR_TRY(cri_blas_check(cx, "gemm", A));
    CR_TRY(cri_blas_check(cx, "gemm", B));
    CR_TRY(cri_blas_check(cx, "gemm", cr_const(C)));
    if (k != l || C.rows != m || C.cols != n)
        CR_TRY(cr_fail(cx, CR_EARG, "gemm: %zu x %zu times %zu x %zu does not give %zu x %zu", m, k,
                       l, n, C.rows, C.cols));
    CR_TRY(run(
        cx,
        &(product){
            .alpha = alpha, .beta = beta, .A = A, .B = B, .tA = tA, .tB = tB, .C = C, .k = k }));
done:
    return st;
}

cr_status cr_syrk(cr_ctx *cx, double alpha, cr_cmat A, cr_transpose op, double beta, cr_mat C)
{
    cr_status st = CR_OK;
    bool      tA = op == CR_TRANSPOSED;
    size_t    n = tA ? A.cols : A.rows, k = tA ? A.rows : A.cols;

    CR_TRY(cri_blas_check(cx, "syrk", A));
    CR_TRY(cri_blas_check(cx, "syrk", cr_const(C)));
    if (C.rows != n || C.cols != n)
        CR_TRY(cr_fail(cx, CR_EARG, "syrk: %zu x %zu times its transpose does not give %zu x %zu",
                       n, k, C.rows, C.cols));
    CR_TRY(run(cx, &(product){ .alpha = alpha,
                               .beta = beta,
                               .A = A,
                               .B = A,
                               .tA = tA,
                               .tB = !tA,
                               .symmetric = true,
                               .C = C,
                               .k = k }));
done:
    return st;
}
