/* graphical_lasso.c -- groups of connected columns, and Newton steps for each. */
#include "graphical_lasso.h"
#include "graphical_lasso_group.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-15
#define SUFFICIENT 1e-3 /* share of the decrease that the model promises which a step must reach */
enum { MOST_HALVINGS = 50, MOST_IDLE = 2 };

/* --- one group ------------------------------------------------------------------------------- */

/* The objective of T [m x m], whose Cholesky factor becomes L; *out_valid is false where T is not positive definite. */
static cr_status evaluate(const cri_lasso_group *g, const double *T, double *L, double *out,
                          bool *out_valid)
{
    size_t    m = g->m;
    double    trace = 0, size = 0;
    cr_mat    factor = cr_mat_of(L, m, m);
    cr_status st;
    memcpy(L, T, m * m * sizeof *L);
    st = cr_chol(g->cx, factor);
    *out_valid = st == CR_OK;
    if (st != CR_OK) return st == CR_ENUMERIC ? CR_OK : st;
    for (size_t i = 0; i < m; i++) {
        trace += g->S[i * m + i] * T[i * m + i];
        for (size_t j = 0; j < i; j++) {
            trace += 2 * g->S[i * m + j] * T[i * m + j];
            size += 2 * fabs(T[i * m + j]);
        }
    }
    *out = -cr_chol_logdet(cr_const(factor)) + trace + g->lambda * size;
    *out_valid = isfinite(*out);
    return CR_OK;
}

/* How far the objective is from the optimum at most, by the dual point that is nearest to W; infinite where that is
 * not positive definite.  Overwrites next. */
static cr_status find_gap(cri_lasso_group *g, double *out)
{
    cr_status st;
    size_t    m = g->m;
    double   *A = g->next;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            double s = g->S[i * m + j], off = g->W[i * m + j] - s;
            A[i * m + j] = i == j ? s
                           : !cri_lasso_allows(g, i, j)
                               ? s + off
                               : s + fmax(-g->lambda, fmin(g->lambda, off));
        }
    st = cr_chol(g->cx, cr_mat_of(A, m, m));
    *out = INFINITY;
    if (st == CR_ENUMERIC) return CR_OK;
    if (st == CR_OK) *out = g->objective - cr_chol_logdet(cr_cmat_of(A, m, m)) - (double)m;
    return st;
}

/* Fills `next` with T + share D. */
static void step_to(const cri_lasso_group *g, double share)
{
    const cri_free_entries *f = &g->free;
    memcpy(g->next, g->T, g->m * g->m * sizeof *g->next);
    for (size_t i = 0; i < g->m; i++)
        for (size_t k = f->start[i]; k < f->start[i + 1]; k++)
            g->next[i * g->m + f->column[k]] += share * f->D[k];
}

/* The slope of the objective along D, the penalty counted as it falls over the whole step. */
static double promised(const cri_lasso_group *g)
{
    const cri_free_entries *f = &g->free;
    double                  sum = 0;
    for (size_t i = 0; i < g->m; i++)
        for (size_t k = f->start[i]; k < f->start[i + 1]; k++) {
            size_t at = i * g->m + f->column[k];
            sum += (g->S[at] - g->W[at]) * f->D[k];
            if (f->column[k] != i) sum += g->lambda * (fabs(g->T[at] + f->D[k]) - fabs(g->T[at]));
        }
    return sum;
}

/* Goes along D as far as the objective falls.  *out_end: no further, since it does not, or by less than its rounding
 * shows: then the gap alone can say whether the step was good. */
static cr_status search(cri_lasso_group *g, bool *out_end)
{
    cr_status st = CR_OK;
    double    slope = promised(g), share = 1, objective;
    double    rounding = ROUNDING * (double)g->m * fmax(1, fabs(g->objective));
    bool      valid, seen = -slope > rounding;
    *out_end = !seen;
    for (int tries = 0; slope < 0 && tries < MOST_HALVINGS; tries++, share /= 2) {
        double *T = g->T, bound = seen ? SUFFICIENT * share * slope : rounding;
        step_to(g, share);
        CR_TRY(evaluate(g, g->next, g->L, &objective, &valid));
        if (!valid || objective > g->objective + bound) continue;
        g->T = g->next, g->next = T, g->objective = objective;
        return CR_OK;
    }
    *out_end = true;
    CR_TRY(evaluate(g, g->T, g->L, &objective, &valid)); /* L becomes that of T again */
done:
    return st;
}

/* The optimum of a group from T on; W becomes the inverse of T. */
static cr_status solve_group(cri_lasso_group *g, double tol, size_t max_iter,
                             const cri_clock *clock, cri_graphical_lasso_report *out)
{
    cr_status st = CR_OK;
    size_t    m = g->m, iteration = 0, idle = 0;
    double    gap = INFINITY, before;
    bool      valid, end = false, late = false;

    CR_TRY(evaluate(g, g->T, g->L, &g->objective, &valid));
    if (!valid) { /* nothing to start from */
        memset(g->T, 0, m * m * sizeof *g->T);
        for (size_t i = 0; i < m; i++) g->T[i * m + i] = 1 / g->S[i * m + i];
        CR_TRY(evaluate(g, g->T, g->L, &g->objective, &valid));
    }
    for (;; iteration++) {
        CR_TRY(cr_check_interrupt(g->cx));
        CR_TRY(cr_chol_inverse(g->cx, cr_cmat_of(g->L, m, m), cr_mat_of(g->W, m, m)));
        before = gap;
        CR_TRY(find_gap(g, &gap));
        if (gap <= tol * (double)m || iteration == max_iter) break;
        if (gap < before / 2)
            idle = 0;
        else if (end && ++idle > MOST_IDLE)
            break;
        if (cri_clock_over(clock)) {
            late = true;
            break;
        }
        CR_TRY(cri_lasso_step(g, iteration));
        CR_TRY(search(g, &end));
    }
    if (iteration > out->iterations) out->iterations = iteration;
    out->gap += fmax(gap, 0), out->objective += g->objective;
    out->late |= late;
    out->converged &= gap <= tol * (double)m || (end && isfinite(gap));
done:
    return st;
}

/* --- all groups ------------------------------------------------------------------------------ */

/* group_of [p]: the first column of the group of each; `stack` [p] is workspace. */
static void find_groups(const cri_graphical_lasso *a, size_t *group_of, size_t *stack)
{
    size_t p = a->p;
    for (size_t i = 0; i < p; i++) group_of[i] = SIZE_MAX;
    for (size_t first = 0; first < p; first++) {
        size_t n = 0;
        if (group_of[first] != SIZE_MAX) continue;
        group_of[first] = first;
        stack[n++] = first;
        while (n > 0) {
            size_t i = stack[--n];
            for (size_t j = first + 1; j < p; j++) {
                bool joined =
                    a->opt_graph ? a->opt_graph[i * p + j] != 0 : fabs(a->S[i * p + j]) > a->lambda;
                if (!joined || group_of[j] != SIZE_MAX) continue;
                group_of[j] = first;
                stack[n++] = j;
            }
        }
    }
}

/* The part of A by its lower triangle: all that follows is symmetric to the last bit. */
static void take_part(const double *A, size_t p, const size_t *which, size_t m, double *out)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++)
            out[i * m + j] = out[j * m + i] = A[which[i] * p + which[j]];
}

static void put_part(const double *part, size_t p, const size_t *which, size_t m, double *A)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) A[which[i] * p + which[j]] = part[i * m + j];
}

/* One group, from and to its part of T and W. */
static cr_status take_group(cr_ctx *cx, const cri_graphical_lasso *a, const size_t *which, size_t m,
                            const cri_clock *clock, double *T, double *W,
                            cri_graphical_lasso_report *out)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    double         *graph = a->opt_graph ? cr_scratch_matrix(&s, m, m) : NULL;
    cri_lasso_group g = { .cx = cx, .m = m, .lambda = a->opt_graph ? 0 : a->lambda };
    g.S = cr_scratch_matrix(&s, m, m), g.T = cr_scratch_matrix(&s, m, m);
    g.W = cr_scratch_bytes(&s, m * m + CRI_LASSO_LANES, sizeof *g.W),
    g.L = cr_scratch_matrix(&s, m, m);
    g.next = cr_scratch_matrix(&s, m, m);
    g.slots = cri_slots_needed(cx, cri_block_count(m, CRI_LASSO_LANES));
    g.row = cr_scratch_matrix(&s, g.slots, m);
    g.r = cr_scratch_matrix(&s, g.slots * m, CRI_LASSO_LANES);
    g.free.start = cr_scratch_index(&s, m + 1), g.free.filled = cr_scratch_index(&s, m);
    CR_TRY(s.status);
    if (graph) take_part(a->opt_graph, a->p, which, m, graph);
    g.graph = graph;
    take_part(a->S, a->p, which, m, g.S);
    take_part(T, a->p, which, m, g.T);
    CR_TRY(solve_group(&g, a->tol, a->max_iter, clock, out));
    put_part(g.T, a->p, which, m, T);
    if (W) put_part(g.W, a->p, which, m, W);
done:
    cri_lasso_release(&g);
    cr_scratch_end(&s);
    return st;
}

static cr_status check(cr_ctx *cx, const cri_graphical_lasso *a)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = a->p;
    for (size_t i = 0; i < p; i++)
        if (!(a->S[i * p + i] > 0))
            CR_TRY(cr_fail(cx, CR_EDATA, "column %zu does not vary", i + 1));
    if (a->lambda == 0 && !a->opt_graph) {
        double *L = cr_scratch_matrix(&s, p, p);
        CR_TRY(s.status);
        memcpy(L, a->S, p * p * sizeof *L);
        st = cr_chol(cx, cr_mat_of(L, p, p));
        if (st == CR_ENUMERIC) {
            cr_fail(cx, CR_ENUMERIC,
                    "without a penalty there is no precision matrix: the covariance of the %zu "
                    "columns is singular",
                    p);
            cr_fail_hint(cx, "any penalty above 0 will do");
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_graphical_lasso_solve(cr_ctx *cx, const cri_graphical_lasso *a, double *T,
                                    double *opt_W, cri_graphical_lasso_report *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = a->p, *group_of = cr_scratch_index(&s, p), *which = cr_scratch_index(&s, p);
    double    *to = cr_scratch_matrix(&s, p, p);
    cri_clock  clock = cri_clock_start(cx, NAN);
    cri_graphical_lasso_report r = { .converged = true };

    CR_TRY(s.status);
    CR_TRY(check(cx, a));
    find_groups(a, group_of, which);
    memset(to, 0, p * p * sizeof *to);
    if (opt_W) memset(opt_W, 0, p * p * sizeof *opt_W);
    for (size_t first = 0; first < p; first++) {
        size_t m = 0;
        if (group_of[first] != first) continue;
        for (size_t j = first; j < p; j++)
            if (group_of[j] == first) which[m++] = j;
        r.groups++;
        if (m > r.largest) r.largest = m;
        if (m == 1) {
            double v = a->S[first * p + first];
            to[first * p + first] = 1 / v;
            if (opt_W) opt_W[first * p + first] = v;
            r.objective += log(v) + 1;
            continue;
        }
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < m; j++) to[which[i] * p + which[j]] = T[which[i] * p + which[j]];
        CR_TRY(take_group(cx, a, which, m, &clock, to, opt_W, &r));
    }
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < i; j++) r.edges += to[i * p + j] != 0;
    memcpy(T, to, p * p * sizeof *T);
    *out = r;
done:
    cr_scratch_end(&s);
    return st;
}
