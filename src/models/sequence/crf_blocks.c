/* crf_blocks.c -- the objective over all blocks of a stream: its value, gradient and Hessian are sums of
 * those of the blocks, and a pass over the stream each.  The first of these passes keeps what it has read, the numbers of
 * attributes, which are less than the text and are there at once in the next pass: as long as they are at most a quarter
 * of the memory that was left.  Beyond that nothing is kept, and every pass reads the stream. */
#include "crf_objective.h"
#include "base/context_internal.h"
#include "models/core/passes.h"
#include "math/optim/differences.h"

#include <string.h>

/* --- blocks ---------------------------------------------------------------------------------- */

/* A block, in memory of its own. */
typedef struct kept_block {
    cr_scratch      s;
    cri_crf_rows    rows;
    cri_crf_problem part;
} kept_block;

struct cri_crf_kept {
    bool         complete; /* all blocks are there */
    size_t       n, room, bytes, most;
    kept_block **block; /* [room] */
};

static void close_block(cr_ctx *cx, kept_block *b)
{
    if (!b) return;
    cri_crf_rows_close(cx, &b->rows);
    cr_scratch_end(&b->s);
    cr_free(cx, b, 1, sizeof *b);
}

static void forget_blocks(cr_ctx *cx, cri_crf_problem *p)
{
    struct cri_crf_kept *k = p->kept;
    if (!k) return;
    for (size_t i = 0; i < k->n; i++) close_block(cx, k->block[i]);
    cr_free(cx, k->block, k->room, sizeof(kept_block *));
    cr_free(cx, k, 1, sizeof *k);
    p->kept = NULL;
}

void cri_crf_problem_close(cri_crf_problem *p) { forget_blocks(p->cx, p); }

static cr_status open_block(cr_ctx *cx, cri_crf_problem *all, const cri_rows *rows,
                            kept_block **out)
{
    cr_status   st = CR_OK;
    size_t     *begin, sequences = rows->sequences->n;
    kept_block *b = cr_alloc(cx, 1, sizeof *b);
    if (!b) return CR_ENOMEM;
    b->s = cr_scratch_begin(cx);
    CR_TRY(cri_crf_rows_open(cx, &b->s, rows, all->making, false, &b->rows));
    begin = cr_scratch_index(&b->s, sequences + 1);
    CR_TRY(b->s.status);
    memcpy(begin, rows->sequences->start, (sequences + 1) * sizeof *begin);
    b->part = *all;
    b->part.passes = NULL;
    b->part.kept = NULL;
    b->part.lambda = b->part.l1 = 0;
    cri_crf_problem_rows(&b->part, rows, &b->rows);
    b->part.begin = begin;
    CR_TRY(cri_crf_problem_lay_out(&b->s, &b->part));
    *out = b;
    b = NULL;
done:
    close_block(cx, b);
    return st;
}

/* As much as it holds, nearly. */
static size_t bytes_of(const kept_block *b)
{
    const cri_attribute_rows *a = &b->rows.attributes;
    size_t                    value = a->value ? sizeof(double) : 0;
    return a->room * (sizeof(uint32_t) + value) + a->start[a->n] * (sizeof(uint32_t) + value) +
           (a->n + b->part.A + 3 * b->part.sequences) * sizeof(size_t) + a->n * sizeof(uint32_t) +
           sizeof *b;
}

/* Keeps the block, or gives up keeping any: NULL then. */
static cr_status keep_block(cr_ctx *cx, cri_crf_problem *all, kept_block **b)
{
    struct cri_crf_kept *k = all->kept;
    if (bytes_of(*b) > k->most - k->bytes) {
        cr_log(cx, CR_LOG_INFO,
               "the features take more than a quarter of the memory: every pass reads the file");
        forget_blocks(cx, all);
        return CR_OK;
    }
    cr_status st = cri_array_grow(cx, &k->block, k->n, &k->room, sizeof(kept_block *));
    if (st != CR_OK) return st;
    k->bytes += bytes_of(*b);
    k->block[k->n++] = *b;
    *b = NULL;
    return CR_OK;
}

typedef struct part_work {
    cri_crf_problem *all;
    cri_crf_part_fn *body;
    void            *arg;
} part_work;

static cr_status take_block(cr_ctx *cx, void *arg, const cri_rows *rows)
{
    const part_work *w = arg;
    kept_block      *b = NULL;
    cr_status        st = open_block(cx, w->all, rows, &b);
    if (st == CR_OK) st = w->body(cx, w->arg, &b->part);
    if (st == CR_OK && w->all->kept) st = keep_block(cx, w->all, &b);
    close_block(cx, b);
    return st;
}

/* What a pass over the stream comes to at the weights of the time. */
static cr_status each_kept(cri_crf_problem *p, cri_crf_part_fn *body, void *arg)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < p->kept->n && st == CR_OK; i++) {
        cri_crf_problem part = p->kept->block[i]->part;
        part.chain = p->chain;
        st = cr_check_interrupt(p->cx);
        if (st == CR_OK) st = body(p->cx, arg, &part);
    }
    return st;
}

static cr_status start_keeping(cri_crf_problem *p)
{
    forget_blocks(p->cx, p);
    p->kept = cr_alloc(p->cx, 1, sizeof *p->kept);
    if (!p->kept) return CR_ENOMEM;
    p->kept->most = cri_memory_left(p->cx) / 4;
    return CR_OK;
}

cr_status cri_crf_each_block(cri_crf_problem *p, cri_crf_part_fn *body, void *arg)
{
    cr_status st = CR_OK;
    part_work w = { p, body, arg };
    if (!p->passes) return body(p->cx, arg, p);
    if (p->kept && p->kept->complete) return each_kept(p, body, arg);
    if (!p->read_once) CR_TRY(start_keeping(p));
    CR_TRY(cri_passes_each(p->cx, p->passes, take_block, &w));
    p->read_once = true;
    if (p->kept) p->kept->complete = true;
done:
    if (st != CR_OK) forget_blocks(p->cx, p);
    return st;
}

/* --- value and gradient ---------------------------------------------------------------------- */

typedef struct totals {
    cri_crf_problem *all;
    bool             gradient;
} totals;

static cr_status add_value(cr_ctx *cx, void *arg, cri_crf_problem *part)
{
    cr_status  st = CR_OK;
    totals    *w = arg;
    size_t     n = (part->A + part->K) * part->stride;
    cr_scratch s = cr_scratch_begin(cx);
    CR_TRY(cri_crf_problem_make_workspace(&s, part));
    CR_TRY(cri_crf_sum_rows(part, w->gradient));
    w->all->nll += part->nll;
    for (size_t i = 0; w->gradient && i < n; i++) w->all->G[i] += part->G[i];
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_crf_sum_blocks(cri_crf_problem *p, bool gradient)
{
    totals w = { p, gradient };
    p->nll = 0;
    if (gradient) memset(p->G, 0, (p->A + p->K) * p->stride * sizeof *p->G);
    return cri_crf_each_block(p, add_value, &w);
}

/* --- Hessian --------------------------------------------------------------------------------- */

typedef struct curvature {
    double       *theta;
    const double *step;
    double       *H, *part, *work;
} curvature;

static cr_status gradient_at(void *problem, const double *theta, double *out_g)
{
    cri_crf_problem *p = problem;
    double           f;
    return cri_crf_value(p, theta, p->D, &f, out_g);
}

static cr_status add_hessian(cr_ctx *cx, void *arg, cri_crf_problem *part)
{
    cr_status  st = CR_OK;
    curvature *w = arg;
    cr_scratch s = cr_scratch_begin(cx);
    CR_TRY(cri_crf_problem_make_workspace(&s, part));
    CR_TRY(cri_extrapolated_hessian(cx, gradient_at, part, part->D, w->theta, w->step, w->work,
                                    w->part));
    for (size_t i = 0; i < part->D * part->D; i++) w->H[i] += w->part[i];
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_crf_hessian(cri_crf_problem *p, double *theta, const double *step, double *H)
{
    cr_status  st = CR_OK;
    size_t     D = p->D;
    cr_scratch s = cr_scratch_begin(p->cx);
    double    *work = cr_scratch_f64(&s, 3 * D);
    double    *part = p->passes ? cr_scratch_matrix(&s, D, D) : NULL;
    curvature  w = { theta, step, H, part, work };

    CR_TRY(s.status);
    if (!p->passes) {
        CR_TRY(cri_extrapolated_hessian(p->cx, gradient_at, p, D, theta, step, work, H));
        goto done;
    }
    memset(H, 0, D * D * sizeof *H);
    CR_TRY(cri_crf_each_block(p, add_hessian, &w));
    for (size_t d = 0; d < D; d++) H[d * D + d] += p->lambda;
done:
    cr_scratch_end(&s);
    return st;
}
