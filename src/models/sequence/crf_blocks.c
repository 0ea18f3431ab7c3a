/* crf_blocks.c -- the objective over all blocks of a stream: its value, gradient and Hessian are sums of
 * those of the blocks, and a pass over the stream each. */
#include "crf_objective.h"
#include "models/core/passes.h"
#include "math/optim/differences.h"

#include <string.h>

/* The problem of a block alone, whose weights are those of all, without penalty; then body. */
typedef cr_status part_fn(cr_ctx *cx, void *arg, cri_crf_problem *part);

typedef struct part_work {
    const cri_crf_problem *all;
    part_fn               *body;
    void                  *arg;
} part_work;

static cr_status take_block(cr_ctx *cx, void *arg, const cri_rows *rows)
{
    const part_work *w = arg;
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    cri_crf_rows     r = { 0 };
    cri_crf_problem  part = *w->all;

    CR_TRY(cri_crf_rows_open(cx, &s, rows, w->all->making, false, &r));
    part.passes = NULL;
    part.lambda = part.l1 = 0;
    cri_crf_problem_rows(&part, rows, &r);
    CR_TRY(cri_crf_problem_open_rows(&s, &part));
    CR_TRY(w->body(cx, w->arg, &part));
done:
    cri_crf_rows_close(cx, &r);
    cr_scratch_end(&s);
    return st;
}

static cr_status each_block(const cri_crf_problem *p, part_fn *body, void *arg)
{
    part_work w = { p, body, arg };
    return cri_passes_each(p->cx, p->passes, take_block, &w);
}

/* --- value and gradient ---------------------------------------------------------------------- */

typedef struct totals {
    cri_crf_problem *all;
    bool             gradient;
} totals;

static cr_status add_value(cr_ctx *cx, void *arg, cri_crf_problem *part)
{
    totals   *w = arg;
    size_t    n = (part->A + part->K) * part->stride;
    cr_status st = cri_crf_sum_rows(part, w->gradient);
    (void)cx;
    if (st != CR_OK) return st;
    w->all->nll += part->nll;
    for (size_t i = 0; w->gradient && i < n; i++) w->all->G[i] += part->G[i];
    return CR_OK;
}

cr_status cri_crf_sum_blocks(cri_crf_problem *p, bool gradient)
{
    totals w = { p, gradient };
    p->nll = 0;
    if (gradient) memset(p->G, 0, (p->A + p->K) * p->stride * sizeof *p->G);
    return each_block(p, add_value, &w);
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
    curvature *w = arg;
    cr_status  st = cri_extrapolated_hessian(cx, gradient_at, part, part->D, w->theta, w->step,
                                             w->work, w->part);
    for (size_t i = 0; st == CR_OK && i < part->D * part->D; i++) w->H[i] += w->part[i];
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
    CR_TRY(each_block(p, add_hessian, &w));
    for (size_t d = 0; d < D; d++) H[d * D + d] += p->lambda;
done:
    cr_scratch_end(&s);
    return st;
}
