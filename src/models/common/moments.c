/* moments.c -- sufficient statistics of Gaussian linear models. */
#include "moments.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

CRI_RECORD_TABLE(, cri_moments_record, cri_moments, CRI_MOMENTS);
CRI_RECORD_FREE(cri_moments);

cr_status cri_moments_new(cr_ctx *cx, size_t p, cri_moments *out)
{
    cri_moments m = { .p = p, .q = p + 1 };
    cr_status   st = cri_record_allocate(cx, cri_moments_record, &m);
    if (st == CR_OK)
        *out = m;
    else
        cri_moments_free(cx, &m);
    return st;
}

bool cri_moments_fit(cri_moments *m, size_t p)
{
    m->p = p;
    return m->mean && m->q == p + 1 && m->weight > 0; /* 0: of a part of the rows alone */
}

/* Chan, Golub & LeVeque (1983), for vectors: means and scatter of the union of two samples. */
void cri_moments_merge(cri_moments *a, const cri_moments *b)
{
    size_t q = a->p + 1;
    double total = a->weight + b->weight;
    if (!(b->weight > 0)) return;
    double cross = a->weight * b->weight / total;
    for (size_t i = 0; i < q; i++) {
        double di = b->mean[i] - a->mean[i];
        for (size_t j = 0; j < q; j++)
            a->S[i * q + j] += b->S[i * q + j] + cross * di * (b->mean[j] - a->mean[j]);
    }
    for (size_t i = 0; i < q; i++) a->mean[i] += b->weight / total * (b->mean[i] - a->mean[i]);
    a->weight = total;
    a->rows += b->rows;
}

/* --- over the rows --------------------------------------------------------------------------- */

/* The rows are cut into blocks, and the blocks into spans, by n and q alone; a span gathers its
 * blocks in order, and the spans are put together in order.  Few columns: one pass, each block
 * about its own mean, merged.  From MANY on: a pass for the mean, and one that adds the products
 * about it, so that no block costs more than its products.  From WIDE on the work is shared out by
 * tiles of the products instead (moments_wide.c). */
enum { MANY = 128, WIDE = 512 };

typedef struct pass {
    const cri_rows *rows;
    size_t          block, blocks, spans;
    cri_moments    *span;   /* [spans]                                   */
    cri_slots       slots;  /* of what follows, taken by spans at work   */
    cri_moments    *single; /* [slots] the moments of the block at hand  */
    double         *Z;      /* [slots][block x q]                        */
    const double   *mean;   /* [q] in the second pass                    */
} pass;

static double *Z_of(const pass *w, size_t slot)
{
    return w->Z + slot * w->block * (w->rows->p + 1);
}

/* The rows of block b with their targets, Z [rows x q]. */
static cri_range fill_block(const pass *w, size_t b, double *Z)
{
    size_t    p = w->rows->p, q = p + 1;
    cri_range range = cri_block_range(w->rows->n, w->block, b);
    cri_rows_fill(w->rows, range.begin, range.end, Z, q);
    for (size_t i = range.begin; i < range.end; i++)
        Z[(i - range.begin) * q + p] = cri_target_of(w->rows, i);
    return range;
}

/* Adds the weight, the rows and the weighted sums of a block to m, whose mean holds sums. */
static void add_sums(const cri_rows *rows, cri_range range, const double *Z, cri_moments *m)
{
    size_t        q = m->p + 1, n = range.end - range.begin;
    const double *w = rows->w ? rows->w + range.begin : NULL;
    for (size_t i = 0; i < n; i++) {
        double wi = w ? w[i] : 1;
        m->weight += wi;
        m->rows += wi > 0;
        for (size_t j = 0; j < q; j++) m->mean[j] += wi * Z[i * q + j];
    }
}

/* S (its lower triangle) = beta S + the products of a block about `mean`; Z is overwritten. */
static void add_products(const cri_rows *rows, cri_range range, const double *mean, double beta,
                         double *Z, cri_moments *m)
{
    size_t        q = m->p + 1, n = range.end - range.begin;
    const double *w = rows->w ? rows->w + range.begin : NULL;
    for (size_t i = 0; i < n; i++) {
        double root = w ? sqrt(w[i]) : 1;
        for (size_t j = 0; j < q; j++) Z[i * q + j] = root * (Z[i * q + j] - mean[j]);
    }
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)q, (int)n, 1, Z, (int)q, beta, m->S,
                (int)q);
}

static void make_symmetric(cri_moments *m)
{
    size_t q = m->p + 1;
    for (size_t i = 0; i < q; i++)
        for (size_t j = i + 1; j < q; j++) m->S[i * q + j] = m->S[j * q + i];
}

static void divide_sums(cri_moments *m)
{
    for (size_t j = 0; j <= m->p && m->weight > 0; j++) m->mean[j] /= m->weight;
}

/* m = the moments of the block in Z [n x q], which is centred and weighted in place. */
static void gather_block(const cri_rows *rows, cri_range range, double *Z, cri_moments *m)
{
    m->weight = 0;
    m->rows = 0;
    memset(m->mean, 0, (m->p + 1) * sizeof(double));
    add_sums(rows, range, Z, m);
    divide_sums(m);
    add_products(rows, range, m->mean, 0, Z, m);
    make_symmetric(m);
}

static cri_range blocks_of(const pass *w, size_t s)
{
    return (cri_range){ s * w->blocks / w->spans, (s + 1) * w->blocks / w->spans };
}

static void gather_span(void *arg, size_t s)
{
    pass     *w = arg;
    size_t    slot = cri_slot_take(&w->slots);
    double   *Z = Z_of(w, slot);
    cri_range blocks = blocks_of(w, s);
    for (size_t b = blocks.begin; b < blocks.end; b++) {
        cri_range range = fill_block(w, b, Z);
        gather_block(w->rows, range, Z, &w->single[slot]);
        cri_moments_merge(&w->span[s], &w->single[slot]);
    }
    cri_slot_leave(&w->slots, slot);
}

static void sum_span(void *arg, size_t s)
{
    pass     *w = arg;
    size_t    slot = cri_slot_take(&w->slots);
    double   *Z = Z_of(w, slot);
    cri_range blocks = blocks_of(w, s);
    for (size_t b = blocks.begin; b < blocks.end; b++)
        add_sums(w->rows, fill_block(w, b, Z), Z, &w->span[s]);
    cri_slot_leave(&w->slots, slot);
}

static void multiply_span(void *arg, size_t s)
{
    pass     *w = arg;
    size_t    slot = cri_slot_take(&w->slots);
    double   *Z = Z_of(w, slot);
    cri_range blocks = blocks_of(w, s);
    for (size_t b = blocks.begin; b < blocks.end; b++)
        add_products(w->rows, fill_block(w, b, Z), w->mean, b > blocks.begin, Z, &w->span[s]);
    cri_slot_leave(&w->slots, slot);
}

static cri_moments place_moments(cr_scratch *s, size_t p)
{
    size_t      q = p + 1;
    cri_moments m = { .p = p,
                      .q = q,
                      .mean = cr_scratch_bytes(s, q, sizeof(double)),
                      .S = cr_scratch_matrix(s, q, q) };
    return m;
}

/* Cuts n rows into blocks and spans. */
static pass cut(const cri_rows *rows)
{
    enum { MOST_SPANS = 32, SPAN_BYTES = 1 << 28 };
    size_t q = rows->p + 1, most = SPAN_BYTES / sizeof(double) / q / q;
    pass   w = { .rows = rows, .block = q < MANY ? 512 : 256 };
    w.blocks = cri_block_count(rows->n, w.block);
    w.spans = w.blocks < MOST_SPANS ? w.blocks : MOST_SPANS;
    if (q >= MANY && w.spans > rows->n / q) w.spans = rows->n / q; /* at least q rows to each */
    if (w.spans > most) w.spans = most;
    if (w.spans < 2) w.spans = 2;
    if (w.spans > w.blocks) w.spans = w.blocks;
    return w;
}

/* m = all moments of at least MANY columns, in two passes. */
static cr_status gather_many(cr_ctx *cx, pass *w, cri_moments *m)
{
    cr_status st = cri_parallel_for(cx, "gathering means", w->spans, sum_span, w);
    size_t    q = m->p + 1;
    if (st != CR_OK) return st;
    for (size_t s = 0; s < w->spans; s++) {
        m->weight += w->span[s].weight;
        m->rows += w->span[s].rows;
        for (size_t j = 0; j < q; j++) m->mean[j] += w->span[s].mean[j];
    }
    divide_sums(m);
    w->mean = m->mean;
    st = cri_parallel_for(cx, "gathering moments", w->spans, multiply_span, w);
    if (st != CR_OK) return st;
    for (size_t s = 0; s < w->spans; s++)
        for (size_t i = 0; i < q; i++)
            for (size_t j = 0; j <= i; j++) m->S[i * q + j] += w->span[s].S[i * q + j];
    make_symmetric(m);
    return CR_OK;
}

static cr_status gather_few(cr_ctx *cx, pass *w, cri_moments *m)
{
    size_t    q = m->p + 1;
    cr_status st;
    for (size_t s = 0; s < w->spans; s++) memset(w->span[s].S, 0, q * q * sizeof(double));
    st = cri_parallel_for(cx, "gathering moments", w->spans, gather_span, w);
    for (size_t s = 0; s < w->spans && st == CR_OK; s++) cri_moments_merge(m, &w->span[s]);
    return st;
}

/* Rows with so few entries that going through them is quicker than filled blocks. */
static bool entries_pay(const cri_rows *rows)
{
    if (!rows->sparse || !rows->sparse->plain || rows->p < 16) return false;
    return (double)cri_sparse_entries(rows->sparse) < 0.15 * (double)rows->n * (double)rows->p;
}

cr_status cri_moments_of_rows(cr_ctx *cx, const cri_rows *rows, cri_moments *out)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cri_moments m = { 0 };
    pass        w = cut(rows);
    bool        few = rows->p + 1 < MANY, good = false;

    if (entries_pay(rows))
        CR_TRY(cri_moments_of_sparse(cx, rows, out, &good));
    else if (rows->p >= WIDE)
        CR_TRY(cri_moments_of_wide(cx, rows, out, &good));
    if (good) goto done;
    w.span = cr_scratch_bytes(&s, w.spans, sizeof *w.span);
    w.slots.n = cri_slots_needed(cx, w.spans);
    w.single = cr_scratch_bytes(&s, w.slots.n, sizeof *w.single);
    w.Z = cr_scratch_matrix(&s, w.slots.n * w.block, rows->p + 1);
    CR_TRY(s.status);
    for (size_t i = 0; i < w.spans; i++) w.span[i] = place_moments(&s, rows->p);
    for (size_t i = 0; i < w.slots.n && few; i++) w.single[i] = place_moments(&s, rows->p);
    CR_TRY(s.status);
    CR_TRY(cri_blas_reserve(cx));
    CR_TRY(cri_moments_new(cx, rows->p, &m));
    cri_blas_enter();
    st = few ? gather_few(cx, &w, &m) : gather_many(cx, &w, &m);
    cri_blas_leave();
    CR_TRY(st);
    *out = m;
    m = (cri_moments){ 0 };
done:
    cri_moments_free(cx, &m);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_moments_gather(cr_ctx *cx, const void *state, const cri_rows *rows,
                             const void *options, void *moments)
{
    (void)state, (void)options;
    return cri_moments_of_rows(cx, rows, moments);
}

cr_status cri_moments_add(cr_ctx *cx, const void *state, void *a, const void *b)
{
    (void)cx, (void)state;
    cri_moments_merge(a, b);
    return CR_OK;
}

/* --- centred, scaled ------------------------------------------------------------------------- */

/* S_jj below this fraction of weight * mean^2 is rounding, not spread. */
static const double CONSTANT = 1e-26;

static bool is_constant(const cri_moments *m, size_t j)
{
    return !(m->S[j * (m->p + 2)] > CONSTANT * m->weight * m->mean[j] * m->mean[j]);
}

cr_status cri_check_squares(cr_ctx *cx, size_t j, size_t p, double square, double size)
{
    bool large = !isfinite(square);
    char what[96] = "the target";
    if (!large && (square >= 1e-290 || size == 0)) return CR_OK;
    if (j < p) snprintf(what, sizeof what, "term %zu of %zu", j + 1, p);
    cr_fail(cx, CR_ENUMERIC,
            large ? "%s is so large that its squares overflow"
                  : "%s is so small that its squares vanish",
            what);
    return cr_fail_hint(cx, "multiply the column by a power of ten");
}

static cr_status check_moments(cr_ctx *cx, const cri_moments *m)
{
    cr_status st = CR_OK;
    size_t    q = m->p + 1;
    for (size_t j = 0; j < q && st == CR_OK; j++) {
        double mean = m->mean[j], S = m->S[j * q + j];
        st = cri_check_squares(cx, j, m->p, S + m->weight * mean * mean, fabs(mean) + sqrt(S));
    }
    return st;
}

enum { GRAM_ROWS = 64 };

typedef struct standardised {
    const cri_moments *m;
    cri_gram          *g;
    const double      *share; /* [p] 1 / scale; 0 of a constant column about its mean         */
    double             raw;   /* without intercept the second moment is about zero: W, else 0 */
} standardised;

static void standardise_rows(void *arg, size_t b)
{
    const standardised *w = arg;
    size_t              p = w->m->p;
    const double       *mean = w->m->mean;
    cri_range           range = cri_block_range(p, GRAM_ROWS, b);
    for (size_t i = range.begin; i < range.end; i++) {
        const double *S = w->m->S + i * (p + 1);
        double       *G = w->g->G + i * p, raw = w->raw * mean[i];
        for (size_t j = 0; j < p; j++) G[j] = (S[j] + raw * mean[j]) * w->share[i] * w->share[j];
    }
}

cr_status cri_gram_new(cr_ctx *cx, const cri_moments *m, bool intercept, bool standardise,
                       cri_gram *out)
{
    cr_status st = check_moments(cx, m);
    if (st != CR_OK) return st;

    size_t        p = m->p, q = p + 1;
    const double *S = m->S, *mean = m->mean;
    double        W = m->weight;
    cri_gram      r = { .p = p,
                        .rows = m->rows,
                        .weight = W,
                        .offset = intercept ? mean[p] : 0,
                        .centre = cr_alloc(cx, p, sizeof(double)),
                        .scale = cr_alloc(cx, p, sizeof(double)),
                        .G = cr_resize(cx, NULL, 0, p, p * sizeof(double)), /* all is written */
                        .g = cr_alloc(cx, p, sizeof(double)) };
    if (!r.centre || !r.scale || !r.G || !r.g) {
        cri_gram_free(cx, &r);
        return CR_ENOMEM;
    }
    standardised w = { .m = m, .g = &r, .raw = intercept ? 0 : W };
    for (size_t j = 0; j < p; j++) {
        r.centre[j] = intercept ? mean[j] : 0;
        r.scale[j] = standardise && !is_constant(m, j) ? sqrt(S[j * q + j] / W) : 1;
        r.g[j] = intercept && is_constant(m, j) ? 0 : 1 / r.scale[j]; /* until it is used up */
    }
    w.share = r.g;
    st = cri_parallel_for(cx, NULL, cri_block_count(p, GRAM_ROWS), standardise_rows, &w);
    if (st != CR_OK) {
        cri_gram_free(cx, &r);
        return st;
    }
    for (size_t j = 0; j < p; j++) r.g[j] *= S[j * q + p] + w.raw * mean[j] * mean[p];
    r.tt = S[p * q + p] + w.raw * mean[p] * mean[p];
    *out = r;
    return CR_OK;
}

void cri_gram_free(cr_ctx *cx, cri_gram *r)
{
    size_t p = r->p;
    cr_free(cx, r->centre, p, sizeof(double));
    cr_free(cx, r->scale, p, sizeof(double));
    cr_free(cx, r->G, p, p * sizeof(double));
    cr_free(cx, r->g, p, sizeof(double));
    *r = (cri_gram){ 0 };
}
