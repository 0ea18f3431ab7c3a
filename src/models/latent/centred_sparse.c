/* centred_sparse.c -- products with sparse rows that are centred and scaled implicitly.
 * Z = M_r (X - 1 centre') M_c with diagonal M_r = sqrt(w) and M_c = 1 / scale has the same form from either side: what
 * lives on one, x = M b, is carried over the entries to the other, y = M (A x - offset (offset' x)), where A is X or
 * X' and the offset of the rows is 1, that of the columns the centre.  Products with Z'Z and Z Z' go over and back. */
#include "centred.h"
#include "base/parallel.h"

#include <string.h>

/* Vectors go by panels of this many, side by side, so that an entry of the rows meets all of them at once. */
enum { PANEL = CRI_SPARSE_FEW, BLOCK = 256 };

typedef struct side {
    size_t            n;
    const cri_sparse *A;          /* [n x of the other] */
    const double     *offset;     /* [n]; NULL = 1      */
    const double     *multiplier; /* [n]; NULL = 1      */
} side;

static side rows_of(const cri_centred *z) { return (side){ z->n, z->rows->sparse, NULL, z->root }; }
static side columns_of(const cri_centred *z)
{
    return (side){ z->p, &z->columns.view, z->centre, z->per_scale };
}

/* A panel on its way from one side to the other. */
typedef struct crossing {
    const side   *to;
    size_t        width;
    const double *B;            /* [width x n] vectors to begin with                   */
    const double *in;           /* [other n x PANEL] what comes over                   */
    double       *out;          /* [n x PANEL] what it becomes                         */
    double       *vectors;      /* [width x n] where it ends; NULL: it goes on         */
    double        level[PANEL]; /* offset' x of what comes in                          */
    double       *levels;       /* [blocks x PANEL] the same of what goes on           */
} crossing;

/* A block of the vectors becomes part of a panel. */
static void enter_block(void *arg, size_t b)
{
    const crossing *q = arg;
    const side     *s = q->to;
    cri_range       r = cri_block_range(s->n, BLOCK, b);
    double         *level = q->levels + b * PANEL;
    memset(level, 0, PANEL * sizeof *level);
    memset(q->out + r.begin * PANEL, 0, (r.end - r.begin) * PANEL * sizeof *q->out);
    for (size_t c = 0; c < q->width; c++)
        for (size_t i = r.begin; i < r.end; i++) {
            double x = (s->multiplier ? s->multiplier[i] : 1) * q->B[c * s->n + i];
            q->out[i * PANEL + c] = x;
            level[c] += (s->offset ? s->offset[i] : 1) * x;
        }
}

/* What a block of the other side gets: it ends there, or is made ready to go back. */
static void cross_block(void *arg, size_t b)
{
    const crossing   *q = arg;
    const side       *s = q->to;
    const cri_sparse *A = s->A;
    cri_range         r = cri_block_range(s->n, BLOCK, b);
    double           *level = q->levels + b * PANEL, y[PANEL];
    memset(level, 0, PANEL * sizeof *level);
    for (size_t i = r.begin; i < r.end; i++) {
        size_t end, begin = cri_sparse_row(A, i, &end), last = A->index ? end : A->start[A->n];
        double offset = s->offset ? s->offset[i] : 1, by = s->multiplier ? s->multiplier[i] : 1;
        cri_sparse_gather_few(A->column + begin, A->value + begin, end - begin, last - end, q->in,
                              y);
        for (size_t c = 0; c < PANEL; c++) y[c] = by * (y[c] - offset * q->level[c]);
        if (q->vectors) {
            for (size_t c = 0; c < q->width; c++) q->vectors[c * s->n + i] = y[c];
            continue;
        }
        for (size_t c = 0; c < PANEL; c++) {
            double x = q->out[i * PANEL + c] = by * y[c];
            level[c] += offset * x;
        }
    }
}

/* Blocks of the side that is reached; their levels are added up in order. */
static cr_status go(cr_ctx *cx, crossing *q, void (*body)(void *arg, size_t b))
{
    size_t    blocks = cri_block_count(q->to->n, BLOCK);
    cr_status st = cri_parallel_for(cx, NULL, blocks, body, q);
    memset(q->level, 0, sizeof q->level);
    for (size_t b = 0; b < blocks && st == CR_OK; b++)
        for (size_t c = 0; c < PANEL; c++) q->level[c] += q->levels[b * PANEL + c];
    return st;
}

/* out [k x to n] = B [k x from n] carried over; and where `back`, out [k x from n] over and back. */
static cr_status carry(cr_ctx *cx, const side *from, const side *to, bool back, const double *B,
                       size_t k, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     longest = from->n > to->n ? from->n : to->n, end = back ? from->n : to->n;
    double    *here = cr_scratch_matrix(&s, from->n, PANEL);
    double    *there = back ? cr_scratch_matrix(&s, to->n, PANEL) : NULL;
    crossing   q = { .levels = cr_scratch_matrix(&s, cri_block_count(longest, BLOCK), PANEL) };

    CR_TRY(s.status);
    for (size_t first = 0; first < k; first += PANEL) {
        q.width = k - first < PANEL ? k - first : PANEL;
        q.B = B + first * from->n;
        q.to = from, q.out = here, q.vectors = NULL;
        CR_TRY(go(cx, &q, enter_block));
        q.to = to, q.in = here, q.out = there, q.vectors = back ? NULL : out + first * end;
        CR_TRY(go(cx, &q, cross_block));
        if (!back) continue;
        q.to = from, q.in = there, q.vectors = out + first * end;
        CR_TRY(go(cx, &q, cross_block));
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_centred_times(cr_ctx *cx, const cri_centred *z, const double *B, size_t k,
                            double *out)
{
    side rows = rows_of(z), columns = columns_of(z);
    return carry(cx, &columns, &rows, false, B, k, out);
}

cr_status cri_centred_transpose(cr_ctx *cx, const cri_centred *z, const double *U, size_t k,
                                double *out)
{
    side rows = rows_of(z), columns = columns_of(z);
    return carry(cx, &rows, &columns, false, U, k, out);
}

cr_status cri_centred_over_rows(cr_ctx *cx, const cri_centred *z, const double *B, size_t k,
                                double *out)
{
    side rows = rows_of(z), columns = columns_of(z);
    return carry(cx, &columns, &rows, true, B, k, out);
}

cr_status cri_centred_over_columns(cr_ctx *cx, const cri_centred *z, const double *U, size_t k,
                                   double *out)
{
    side rows = rows_of(z), columns = columns_of(z);
    return carry(cx, &rows, &columns, true, U, k, out);
}

/* z_i . z_k = x_i . D x_k - a_i - a_k + a0,  D = 1 / scale^2,  a_i = x_i . D centre. */
cr_status cri_centred_outer(cr_ctx *cx, const cri_centred *z, double *K)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = z->n;
    double    *D = cr_scratch_f64(&s, z->p), *v = cr_scratch_f64(&s, z->p);
    double    *a = cr_scratch_f64(&s, n), a0 = 0;

    CR_TRY(s.status);
    for (size_t j = 0; j < z->p; j++) {
        D[j] = z->per_scale[j] * z->per_scale[j];
        v[j] = D[j] * z->centre[j];
        a0 += v[j] * z->centre[j];
    }
    CR_TRY(cri_sparse_gram(cx, &z->columns.view, D, K));
    CR_TRY(cri_sparse_times(cx, z->rows->sparse, v, a));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            double both = z->root ? z->root[i] * z->root[k] : 1;
            K[i * n + k] = both * (K[i * n + k] - a[i] - a[k] + a0);
        }
done:
    cr_scratch_end(&s);
    return st;
}
