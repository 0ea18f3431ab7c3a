/* linear_svm.c -- chooses the method, and certifies what it found. */
#include "linear_svm.h"
#include "base/scratch.h"

#include <float.h>
#include <math.h>

bool cri_svm_linear_over(const cri_svm_linear_work *work)
{
    return work->solution->iterations >= work->options->max_iter ||
           (work->options->clock && cri_clock_over(work->options->clock));
}

/* --- certificate ----------------------------------------------------------------------------- */

/* s . a = 0 again, by less of the side that has too much: of what is between its bounds first, so that as much as can
 * stays at them. */
static void balance(const cri_svm_linear_problem *q, double *alpha)
{
    double side[2] = { 0, 0 }, between[2] = { 0, 0 };
    for (size_t k = 0; k < q->m; k++) {
        side[q->sign[k] > 0] += alpha[k];
        if (q->squared || alpha[k] < q->cost[k]) between[q->sign[k] > 0] += alpha[k];
    }
    bool   more = side[1] > side[0], some;
    double excess = side[more] - side[!more];
    if (excess == 0) return;
    some = between[more] >= 2 * excess;
    double factor = 1 - excess / (some ? between[more] : side[more]);
    for (size_t k = 0; k < q->m; k++)
        if ((q->sign[k] > 0) == more && !(some && !q->squared && alpha[k] >= q->cost[k]))
            alpha[k] *= factor;
}

/* |w|^2 / 2 or |w|_1 */
static double penalty(const cri_svm_linear_problem *q, const double *w)
{
    double sum = 0;
    for (size_t j = 0; j < q->x->p; j++) sum += q->l1 ? fabs(w[j]) : w[j] * w[j] / 2;
    return sum;
}

/* v [n] = s a, by rows */
static void by_rows(const cri_svm_linear_problem *q, const double *alpha, double *v)
{
    for (size_t i = 0; i < q->x->n; i++) v[i] = q->sign[i] * alpha[i];
    for (size_t k = q->x->n; k < q->m; k++) v[cri_svm_linear_row(q, k)] += q->sign[k] * alpha[k];
}

/* The dual value of alpha, of which g = X'(s a); for |w|_1 alpha shrinks until |g| <= 1. */
static double dual_value(const cri_svm_linear_problem *q, double *alpha, const double *g)
{
    double linear = 0, square = 0, most = 0, shrink = 1;
    for (size_t k = 0; k < q->m; k++) {
        if (q->cost[k] == 0) continue;
        linear += q->target[k] * alpha[k];
        if (q->squared) square += alpha[k] * (alpha[k] / (4 * q->cost[k]));
    }
    if (!q->l1) return linear - square - penalty(q, g);
    for (size_t j = 0; j < q->x->p; j++) most = fmax(most, fabs(g[j]));
    if (most > 1) shrink = 1 / most;
    if (square > 0 && linear > 0) shrink = fmin(shrink, linear / (2 * square)); /* or best inside */
    for (size_t k = 0; k < q->m; k++) alpha[k] *= shrink;
    return shrink * (linear - shrink * square);
}

cr_status cri_svm_linear_certify(cri_svm_linear_work *work, bool by_slack, bool *out_converged)
{
    cr_status                     st = CR_OK;
    const cri_svm_linear_problem *q = work->problem;
    cri_svm_linear_solution      *o = work->solution;
    double                        loss = 0;

    CR_TRY(cri_svm_linear_scores(work->cx, q->x, o->w, o->b, work->f));
    for (size_t k = 0; k < q->m; k++) {
        double u = cri_svm_linear_slack(q, k, work->f[cri_svm_linear_row(q, k)]);
        loss += q->cost[k] * (q->squared ? u * u : u);
        if (by_slack) o->alpha[k] = 2 * q->cost[k] * u;
    }
    if (q->intercept) balance(q, o->alpha);
    by_rows(q, o->alpha, work->v);
    CR_TRY(cri_svm_linear_transpose_times(work->cx, q->x, work->v, work->g));
    o->primal = loss + penalty(q, o->w);
    o->dual = dual_value(q, o->alpha, work->g);
    o->gap = o->primal - o->dual;
    if (!isfinite(o->gap))
        CR_TRY(cr_fail(work->cx, CR_ENUMERIC, "the objective of the linear machine overflows"));
    *out_converged = o->gap <= work->options->tol * fmax(fabs(o->primal), DBL_MIN);
done:
    return st;
}

/* --- exact steps ----------------------------------------------------------------------------- */

/* The slope, and its slope, of P at (w, b) + step (d, .). */
static double slope_at(const cri_svm_linear_work *work, const double *f, const double *df,
                       const double *d, double step, double *out_curvature)
{
    const cri_svm_linear_problem *q = work->problem;
    const double                 *w = work->solution->w;
    double                        slope = 0, curvature = 0;
    for (size_t k = 0; k < q->m; k++) {
        size_t i = cri_svm_linear_row(q, k);
        double u = q->target[k] - q->sign[k] * (f[i] + step * df[i]);
        if (u <= 0) continue;
        slope -= 2 * q->cost[k] * u * q->sign[k] * df[i];
        curvature += 2 * q->cost[k] * df[i] * df[i];
    }
    for (size_t j = 0; j < q->x->p; j++) {
        double at = w[j] + step * d[j];
        slope += q->l1 ? (at > 0 ? d[j] : at < 0 ? -d[j] : fabs(d[j])) : at * d[j];
        curvature += q->l1 ? 0 : d[j] * d[j];
    }
    *out_curvature = curvature;
    return slope;
}

double cri_svm_linear_exact_step(const cri_svm_linear_work *work, const double *f, const double *df,
                                 const double *d)
{
    double low = 0, high = INFINITY, step = 1, curvature;
    double first = slope_at(work, f, df, d, 0, &curvature);
    if (!(first < 0)) return 0;
    if (work->problem->l1) high = 1; /* beyond 1 a w_j that is to end at 0 would change its sign */
    for (int k = 0; k < 60; k++) { /* the slope rises along the way, in pieces that are straight */
        double slope = slope_at(work, f, df, d, step, &curvature);
        if (fabs(slope) <= 1e-10 * fabs(first) || slope == 0) break;
        if (slope <= 0 && step >= high) break;
        if (slope > 0)
            high = step;
        else
            low = step;
        double next = curvature > 0 ? step - slope / curvature : INFINITY;
        if (!(next > low && next < high)) next = isfinite(high) ? (low + high) / 2 : 2 * step;
        if (next == step || next == low || next == high) break;
        step = next;
    }
    return step;
}

/* --- the start and the method ---------------------------------------------------------------- */

double cri_svm_linear_best_constant(const cri_svm_linear_problem *q)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < q->m; k++) {
        low = fmin(low, q->sign[k] * q->target[k]);
        high = fmax(high, q->sign[k] * q->target[k]);
    }
    for (int round = 0; round < 20 && q->intercept; round++) {
        double b = (low + high) / 2, slope = 0;
        for (size_t k = 0; k < q->m; k++)
            if (q->target[k] > q->sign[k] * b) slope -= q->sign[k] * q->cost[k];
        if (slope > 0)
            high = b;
        else
            low = b;
    }
    return q->intercept ? (low + high) / 2 : 0;
}

/* Cross-products pay where they cost as much as some sweeps. */
bool cri_svm_linear_is_narrow(const cri_svm_linear_rows *x)
{
    double p = (double)x->p, entries = x->dense ? (double)x->n * p : (double)x->sparse.start[x->n];
    return x->p <= 3000 && cri_svm_linear_gram_cost(x) + p * p * p / 12 <= 100 * entries + 1e8;
}

enum { MANY_PIECES = 20000 };

static cri_svm_linear_method choose(const cri_svm_linear_problem *q)
{
    if (q->l1) return CRI_SVM_LINEAR_ABSOLUTE;
    if (q->squared) return CRI_SVM_LINEAR_NEWTON;
    if (!cri_svm_linear_is_narrow(q->x)) return CRI_SVM_LINEAR_COORDINATE;
    return q->m >= MANY_PIECES ? CRI_SVM_LINEAR_SMOOTH : CRI_SVM_LINEAR_INTERIOR;
}

static bool serves(const cri_svm_linear_problem *q, cri_svm_linear_method method)
{
    switch (method) {
    case CRI_SVM_LINEAR_INTERIOR:
    case CRI_SVM_LINEAR_SMOOTH:
        return !q->squared && !q->l1;
    case CRI_SVM_LINEAR_COORDINATE:
        return !q->l1;
    case CRI_SVM_LINEAR_NEWTON:
        return q->squared && !q->l1;
    default:
        return q->squared && q->l1;
    }
}

cr_status cri_svm_linear_solve(cr_ctx *cx, const cri_svm_linear_problem *problem,
                               const cri_svm_linear_options *options,
                               cri_svm_linear_solution      *solution)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    size_t              n = problem->x->n, p = problem->x->p;
    cri_svm_linear_work work = { .cx = cx,
                                 .problem = problem,
                                 .options = options,
                                 .solution = solution,
                                 .f = cr_scratch_f64(&s, n),
                                 .v = cr_scratch_f64(&s, n),
                                 .g = cr_scratch_f64(&s, p + 1) };
    CR_TRY(s.status);
    solution->method = options->method == CRI_SVM_LINEAR_AUTO ? choose(problem) : options->method;
    solution->iterations = 0;
    solution->converged = false;
    if (!serves(problem, solution->method))
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "this method does not serve this loss and penalty"));
    if (!options->warm) {
        for (size_t j = 0; j < p; j++) solution->w[j] = 0;
        for (size_t k = 0; k < problem->m; k++) solution->alpha[k] = 0;
        solution->b = 0;
    }
    switch (solution->method) {
    case CRI_SVM_LINEAR_INTERIOR:
        CR_TRY(cri_svm_linear_interior(&work));
        break;
    case CRI_SVM_LINEAR_SMOOTH:
        CR_TRY(cri_svm_linear_smooth(&work));
        break;
    case CRI_SVM_LINEAR_COORDINATE:
        CR_TRY(cri_svm_linear_coordinate(&work));
        break;
    case CRI_SVM_LINEAR_NEWTON:
        CR_TRY(cri_svm_linear_newton(&work));
        break;
    default:
        CR_TRY(cri_svm_linear_absolute(&work));
    }
done:
    cr_scratch_end(&s);
    return st;
}
