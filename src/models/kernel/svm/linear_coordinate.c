/* linear_coordinate.c -- dual coordinate descent, with shrinking.
 * One a_k at a time goes to the minimum of -D along it,
 *   a_k <- clip(a_k - G_k / Q_k),   G_k = s_k (x_k . w + b) - t_k [+ a_k / (2 c_k)],   Q_k = |x_k|^2 + rho [+ 1 / (2 c_k)],
 * with w = X'(s a) kept up to date: O(entries of a row).  The condition s . a = 0 is met by the method of multipliers:
 * b = b0 + rho s . a with b0 fixed for a sweep, that is b held near b0 by (b - b0)^2 / (2 rho), and then b0 <- b.
 * A piece at a bound whose slope pushes it outwards by more than any slope of the sweep before did is left out, until the
 * others have converged.  Rows are taken in random order, and fetched ahead.  O(entries) a sweep; 4 numbers a piece. */
#include "linear_svm.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <math.h>

typedef struct descent {
    const cri_svm_linear_problem *q;
    double                       *w, *alpha, *Q; /* Q [m] */
    uint32_t                     *order;         /* [m] the active ones first */
    size_t                        active;
    double                        b0, excess, rho; /* excess = s . a */
    double                        rise, fall; /* the greatest and least slope of the sweep before */
    double                        most, least; /* of this one */
} descent;

static double upper_bound(const cri_svm_linear_problem *q, size_t k)
{
    return q->cost[k] == 0 ? 0 : q->squared ? INFINITY : q->cost[k];
}

static void fetch(const descent *d, size_t at)
{
    const cri_sparse *X = &d->q->x->sparse;
    if (d->q->x->dense || at >= d->active) return;
    size_t k = cri_svm_linear_row(d->q, d->order[at]), e = X->start[k], end = X->start[k + 1];
    for (; e < end; e += 8) {
        __builtin_prefetch(X->value + e);
        if (e % 16 < 8) __builtin_prefetch(X->column + e);
    }
}

/* One piece; true when it is to be left out from now on. */
static bool step_piece(descent *d, size_t k)
{
    const cri_svm_linear_problem *q = d->q;
    size_t                        i = cri_svm_linear_row(q, k);
    double                        a = d->alpha[k], top = upper_bound(q, k), s = q->sign[k];
    double G = s * (cri_svm_linear_dot(q->x, i, d->w) + d->b0 + d->rho * d->excess) - q->target[k];
    if (q->squared && top > 0) G += a / (2 * q->cost[k]);
    if (a <= 0 && G >= 0) {
        if (G > d->rise) return true;
        if (d->most < 0) d->most = 0;
        if (d->least > 0) d->least = 0;
        return false;
    }
    if (a >= top && G <= 0) {
        if (G < d->fall) return true;
        if (d->most < 0) d->most = 0;
        if (d->least > 0) d->least = 0;
        return false;
    }
    if (G > d->most) d->most = G;
    if (G < d->least) d->least = G;
    double next = a - G / d->Q[k];
    next = next < 0 ? 0 : next > top ? top : next;
    double change = s * (next - a);
    if (change == 0) return false;
    d->alpha[k] = next;
    d->excess += change;
    cri_svm_linear_add(q->x, i, change, d->w);
    return false;
}

/* One sweep over the active pieces, in an order of its own. */
static void sweep(descent *d, cr_rng *rng)
{
    enum { AHEAD = 4 };
    d->most = -INFINITY, d->least = INFINITY;
    for (size_t k = 0; k + 1 < d->active; k++) { /* Fisher & Yates */
        size_t   other = k + (size_t)(((uint64_t)cr_rng_u32(rng) * (d->active - k)) >> 32);
        uint32_t kept = d->order[k];
        d->order[k] = d->order[other];
        d->order[other] = kept;
    }
    for (size_t at = 0; at < d->active;) {
        fetch(d, at + AHEAD);
        uint32_t k = d->order[at];
        if (step_piece(d, k)) {
            d->active--;
            d->order[at] = d->order[d->active];
            d->order[d->active] = k;
        } else
            at++;
    }
    d->b0 += d->rho * d->excess;
}

static void all_active(descent *d)
{
    d->active = d->q->m;
    d->rise = INFINITY, d->fall = -INFINITY;
}

/* w and s . a anew from alpha; opens what is needed. */
static cr_status open_descent(cri_svm_linear_work *work, cr_scratch *s, descent *d)
{
    cr_status                     st = CR_OK;
    const cri_svm_linear_problem *q = work->problem;
    double                        costs = 0;
    *d = (descent){ .q = q, .w = work->solution->w, .alpha = work->solution->alpha };
    d->Q = cr_scratch_f64(s, q->m);
    d->order = cr_scratch_bytes(s, q->m, sizeof *d->order);
    CR_TRY(s->status);
    if (q->m > UINT32_MAX)
        CR_TRY(cr_fail(work->cx, CR_EUNSUPPORTED, "%zu rows are too many for this method", q->m));
    for (size_t k = 0; k < q->m; k++) costs += q->cost[k];
    d->rho = q->intercept ? fmax(1, 4 / fmax(costs, 1e-300)) : 0;
    d->b0 = work->solution->b;
    for (size_t k = 0; k < q->m; k++) {
        d->order[k] = (uint32_t)k;
        d->alpha[k] = fmin(fmax(d->alpha[k], 0), upper_bound(q, k));
        d->Q[k] = cri_svm_linear_square(q->x, cri_svm_linear_row(q, k)) + d->rho;
        if (q->squared && q->cost[k] > 0) d->Q[k] += 1 / (2 * q->cost[k]);
        if (d->Q[k] <= 0)
            d->Q[k] = 1e-300; /* a row of zeros, without an intercept: straight to the bound */
        if (!isfinite(d->Q[k]))
            CR_TRY(cr_fail(work->cx, CR_ENUMERIC, "the square of a row overflows"));
    }
    for (size_t j = 0; j < q->x->p; j++) d->w[j] = 0;
    for (size_t k = 0; k < q->m; k++) {
        if (d->alpha[k] == 0) continue;
        cri_svm_linear_add(q->x, cri_svm_linear_row(q, k), q->sign[k] * d->alpha[k], d->w);
        d->excess += q->sign[k] * d->alpha[k];
    }
    all_active(d);
done:
    return st;
}

cr_status cri_svm_linear_coordinate(cri_svm_linear_work *work)
{
    cr_status                st = CR_OK;
    cr_scratch               s = cr_scratch_begin(work->cx);
    cri_svm_linear_solution *o = work->solution;
    descent                  d;
    double                   eps = 0.1;
    bool                     whole = true;

    CR_TRY(open_descent(work, &s, &d));
    for (; !o->converged; o->iterations++) {
        if (cri_svm_linear_over(work)) break;
        CR_TRY(cr_check_interrupt(work->cx));
        cr_rng rng = cr_rng_stream(work->options->seed, o->iterations);
        whole = d.active == d.q->m;
        sweep(&d, &rng);
        double spread = fmax(d.most, 0) - fmin(d.least, 0);
        bool   near = d.active == 0 || spread + d.rho * fabs(d.excess) <= eps;
        d.rise = d.most > 0 ? d.most : INFINITY;
        d.fall = d.least < 0 ? d.least : -INFINITY;
        if (!near) continue;
        if (!whole) {
            all_active(&d);
            continue;
        }
        o->b = d.b0;
        CR_TRY(cri_svm_linear_certify(work, false, &o->converged));
        if (o->converged) break;
        d.excess = 0; /* made feasible */
        for (size_t j = 0; j < d.q->x->p; j++) d.w[j] = work->g[j];
        eps /= 4;
        all_active(&d);
    }
    if (!o->converged) {
        o->b = d.b0;
        CR_TRY(cri_svm_linear_certify(work, false, &o->converged));
    }
done:
    cr_scratch_end(&s);
    return st;
}
