/* linear_smooth.c -- the hinge of many rows, few of which lie near the margin.
 * The hinge of u = t - s f is the greatest a u with 0 <= a <= c.  Near a guess a0 of its a it becomes smooth,
 *   l_h(u) = max_(0 <= a <= c) a u - h (a - a0)^2 / (2 c),   at a(u) = clip(a0 + c u / h, 0, c),
 * and Newton's method with exact steps finds the minimum of |w|^2 / 2 + sum l_h: of a quadratic function wherever the
 * same pieces lie between their bounds, whose Hessian is the cross-products of those alone.  Then a0 <- a(u) and h is
 * halved: the method of multipliers, which ends at the optimum with an h that leaves some hundreds of pieces between.
 * The first steps are for every s-th piece, those of the first round for all, later ones for pieces within some h of the
 * margin: the rest stays at its bounds, for which one sum stands, until a round ends, when what is then on the wrong side
 * joins in.  Cost: O(entries) a round, O(those of the part + p^3 / 3) a step; memory of 8 numbers a piece and a copy of
 * the rows.  Where that does not get to the optimum, the interior point does.
 * Chapelle (2007), Neural Computation 19; Yan & Li (2020), J. Mach. Learn. Res. 21 (multipliers and Newton's method). */
#include "linear_svm.h"
#include "base/scratch.h"
#include "math/dense/chol.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 40, MOST_STEPS = 150, LEAST_PART = 2000 };

typedef struct smooth {
    cri_svm_linear_work          *work;
    const cri_svm_linear_problem *q;
    size_t                        p;
    double                        h;
    double                        times;  /* how far a part goes, in h */
    size_t                        n;      /* pieces of the part, each with a row of its own */
    size_t                       *piece;  /* [m] which */
    bool                         *chosen; /* [m] */
    cri_svm_linear_rows           rows;
    double *sign, *target, *cost, *guess, *alpha; /* [m], of which n are used; guess = a0 */
    double *f, *df, *v;                           /* [m] the same */
    double *w, *fixed, *grad, *d; /* [p + 1]; fixed = [X 1]'(s a) of pieces outside */
    double *H;                    /* [p + 1 x p + 1] */
    double  gap, size;            /* of the part, nearly; of grad, squared */
} smooth;

/* --- a part ---------------------------------------------------------------------------------- */

/* The rows of the part, one for each piece. */
static cr_status copy_rows(cr_scratch *s, smooth *t)
{
    const cri_svm_linear_problem *q = t->q;
    const cri_svm_linear_rows    *x = q->x;
    size_t                        entries = 0, p = x->p;
    t->rows = (cri_svm_linear_rows){ .n = t->n, .p = p };
    if (x->dense) {
        double *X = cr_scratch_matrix(s, t->n, p);
        for (size_t k = 0; X && k < t->n; k++)
            memcpy(X + k * p, x->dense + cri_svm_linear_row(q, t->piece[k]) * p, p * sizeof *X);
        t->rows.dense = X;
        return s->status;
    }
    const size_t *start = x->sparse.start;
    for (size_t k = 0; k < t->n; k++) {
        size_t i = cri_svm_linear_row(q, t->piece[k]);
        entries += start[i + 1] - start[i];
    }
    size_t   *first = cr_scratch_index(s, t->n + 1);
    uint32_t *column = cr_scratch_bytes(s, entries, sizeof *column);
    double   *value = cr_scratch_f64(s, entries);
    if (s->status != CR_OK) return s->status;
    entries = 0;
    for (size_t k = 0; k < t->n; k++) {
        size_t i = cri_svm_linear_row(q, t->piece[k]), length = start[i + 1] - start[i];
        first[k] = entries;
        memcpy(column + entries, x->sparse.column + start[i], length * sizeof *column);
        memcpy(value + entries, x->sparse.value + start[i], length * sizeof *value);
        entries += length;
    }
    first[t->n] = entries;
    t->rows.sparse = (cri_sparse){
        .n = t->n, .p = p, .start = first, .column = column, .value = value, .plain = true
    };
    return CR_OK;
}

static void join(smooth *t, size_t k, double times)
{
    size_t at = t->n++;
    t->piece[at] = k;
    t->chosen[k] = true;
    t->sign[at] = t->q->sign[k];
    t->target[at] = t->q->target[k];
    t->cost[at] = times * t->q->cost[k];
}

/* Every s-th piece, for so many more. */
static void choose_some(smooth *t)
{
    size_t m = t->q->m, s = m / LEAST_PART < 10 ? m / LEAST_PART : 10;
    if (s == 0) s = 1;
    for (size_t k = 0; k < m; k += s) {
        if (!(t->q->cost[k] > 0)) continue;
        t->guess[t->n] = 0;
        join(t, k, (double)s);
    }
    memset(t->fixed, 0, (t->p + 1) * sizeof *t->fixed);
}

/* u of piece k at the scores of all rows. */
static double distance(const smooth *t, size_t k)
{
    const cri_svm_linear_problem *q = t->q;
    return q->target[k] - q->sign[k] * t->work->f[cri_svm_linear_row(q, k)];
}

/* The pieces whose u is at most near, and those outside that are on the wrong side; the others stay at the bound of
 * their side of the margin. */
static cr_status choose_near(smooth *t, double near)
{
    cr_status                     st = CR_OK;
    const cri_svm_linear_problem *q = t->q;
    double                       *alpha = t->work->solution->alpha, *v = t->work->v;
    t->n = 0;
    memset(v, 0, q->x->n * sizeof *v);
    for (size_t k = 0; k < q->m; k++) {
        double u = distance(t, k), c = q->cost[k];
        t->chosen[k] = false;
        if (c == 0) continue;
        if (fabs(u) <= near || (alpha[k] > 0 && alpha[k] < c) || (u > 0) != (alpha[k] > 0)) {
            t->guess[t->n] = alpha[k];
            join(t, k, 1);
        } else
            v[cri_svm_linear_row(q, k)] += q->sign[k] * alpha[k];
    }
    CR_TRY(cri_svm_linear_transpose_times(t->work->cx, q->x, v, t->fixed));
done:
    return st;
}

/* true where the part can balance what is outside: s . a = 0 with room to spare. */
static bool balances(const smooth *t)
{
    double side[2] = { t->fixed[t->p], t->fixed[t->p] };
    for (size_t k = 0; k < t->n; k++) side[t->sign[k] > 0] += 0.7 * t->sign[k] * t->cost[k];
    return !t->q->intercept || (side[0] < 0 && side[1] > 0);
}

/* A part around the margin, of some h; at first all pieces. */
static cr_status choose_part(smooth *t, bool all)
{
    cr_status st = CR_OK;
    double    near = all ? INFINITY : t->times * t->h;
    do {
        CR_TRY(choose_near(t, near));
        near *= 2;
    } while (!balances(t) && near < INFINITY);
done:
    return st;
}

/* How many pieces outside the part are on the wrong side of the margin. */
static size_t count_wrong(const smooth *t)
{
    size_t        wrong = 0;
    const double *alpha = t->work->solution->alpha;
    for (size_t k = 0; k < t->q->m; k++)
        wrong += !t->chosen[k] && t->q->cost[k] > 0 && (distance(t, k) > 0) != (alpha[k] > 0);
    return wrong;
}

/* --- Newton's method on a part --------------------------------------------------------------- */

/* alpha and the gradient at w, and what is between the primal and the dual of the part. */
static cr_status set_gradient(smooth *t)
{
    cr_status st = CR_OK;
    size_t    p = t->p;
    t->gap = t->size = 0;
    for (size_t k = 0; k < t->n; k++) {
        double c = t->cost[k], u = t->target[k] - t->sign[k] * t->f[k];
        double a = t->guess[k] + c / t->h * u;
        a = a < 0 ? 0 : a > c ? c : a;
        t->alpha[k] = a;
        t->v[k] = t->sign[k] * a;
        t->gap += ((u > 0 ? c : 0) - a) * u;
    }
    CR_TRY(cri_svm_linear_transpose_times(t->work->cx, &t->rows, t->v, t->grad));
    for (size_t j = 0; j <= p; j++) {
        t->grad[j] = (j < p ? t->w[j] : 0) - t->grad[j] - t->fixed[j];
        if (j == p && !t->q->intercept) t->grad[j] = 0;
        t->size += t->grad[j] * t->grad[j];
    }
    t->gap += t->size / 2;
done:
    return st;
}

static cr_status set_hessian(smooth *t)
{
    cr_status st = CR_OK;
    size_t    p = t->p;
    double    trace = 0;
    for (size_t k = 0; k < t->n; k++)
        t->v[k] = t->alpha[k] > 0 && t->alpha[k] < t->cost[k] ? t->cost[k] / t->h : 0;
    CR_TRY(cri_svm_linear_gram(t->work->cx, &t->rows, t->v, t->H));
    if (!t->q->intercept) memset(t->H + p * (p + 1), 0, (p + 1) * sizeof *t->H);
    for (size_t j = 0; j <= p; j++) trace += t->H[j * (p + 1) + j];
    for (size_t j = 0; j <= p; j++)
        t->H[j * (p + 1) + j] += (j < p || !t->q->intercept) + 1e-14 * (trace + (double)p + 1);
done:
    return st;
}

/* The slope, and its slope, at w + step d. */
static double slope_at(const smooth *t, double step, double *out_curvature)
{
    double slope = 0, curvature = 0;
    for (size_t j = 0; j <= t->p; j++) {
        slope -= t->fixed[j] * t->d[j];
        if (j == t->p) break;
        slope += (t->w[j] + step * t->d[j]) * t->d[j];
        curvature += t->d[j] * t->d[j];
    }
    for (size_t k = 0; k < t->n; k++) {
        double c = t->cost[k], sdf = t->sign[k] * t->df[k], rate = c / t->h;
        double a = t->guess[k] + rate * (t->target[k] - t->sign[k] * t->f[k] - step * sdf);
        if (a <= 0) continue;
        slope -= sdf * (a < c ? a : c);
        curvature += a < c ? rate * sdf * sdf : 0;
    }
    *out_curvature = curvature;
    return slope;
}

/* The exact step along d, of which the slope at 0 is -decrease. */
static double step_along(const smooth *t, double decrease)
{
    double low = 0, high = INFINITY, step = 1, curvature;
    for (int round = 0; round < 60; round++) {
        double slope = slope_at(t, step, &curvature);
        if (fabs(slope) <= 1e-3 * decrease) break;
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

/* To the minimum at h, nearly. */
static cr_status minimise(smooth *t, double enough)
{
    enum { MOST = 50 };
    cr_status            st = CR_OK;
    cri_svm_linear_work *work = t->work;
    size_t               p = t->p;
    double               first = 0;
    CR_TRY(cri_svm_linear_scores(work->cx, &t->rows, t->w, t->w[p], t->f));
    for (int round = 0; round < MOST; round++) {
        double decrease = 0;
        CR_TRY(cr_check_interrupt(work->cx));
        CR_TRY(set_gradient(t));
        first = fmax(first, t->size);
        if (t->size <= fmax(0.01 * first, 0.25 * enough) || cri_svm_linear_over(work)) break;
        CR_TRY(set_hessian(t));
        CR_TRY(cr_chol(work->cx, cr_mat_of(t->H, p + 1, p + 1)));
        for (size_t j = 0; j <= p; j++) t->d[j] = -t->grad[j];
        CR_TRY(cr_chol_solve(work->cx, cr_cmat_of(t->H, p + 1, p + 1), cr_mat_of(t->d, p + 1, 1)));
        for (size_t j = 0; j <= p; j++) decrease -= t->grad[j] * t->d[j];
        if (!(decrease > 0)) break;
        CR_TRY(cri_svm_linear_scores(work->cx, &t->rows, t->d, t->d[p], t->df));
        double step = step_along(t, decrease);
        for (size_t j = 0; j <= p; j++) t->w[j] += step * t->d[j];
        for (size_t k = 0; k < t->n; k++) t->f[k] += step * t->df[k];
        work->solution->iterations++;
        if (!(step > 1e-12)) break;
    }
done:
    return st;
}

/* --- rounds ---------------------------------------------------------------------------------- */

/* h of the size of the losses at the best constant, and the first w, by some of the pieces. */
static cr_status begin(smooth *t)
{
    cr_status                     st = CR_OK;
    cr_scratch                    s = cr_scratch_begin(t->work->cx);
    const cri_svm_linear_problem *q = t->q;
    double                        loss[2] = { 0, 0 }, costs[2] = { 0, 0 };
    memset(t->w, 0, t->p * sizeof *t->w);
    t->w[t->p] = cri_svm_linear_best_constant(q);
    for (size_t k = 0; k < q->m; k++) {
        loss[q->sign[k] > 0] += q->cost[k] * fmax(q->target[k] - q->sign[k] * t->w[t->p], 0);
        costs[q->sign[k] > 0] += q->cost[k];
    }
    for (size_t k = 0; k < 2; k++)
        if (costs[k] > 0) t->h = fmax(t->h, loss[k] / costs[k] / 2);
    if (t->h == 0) t->h = 1;
    choose_some(t);
    CR_TRY(copy_rows(&s, t));
    CR_TRY(minimise(t, 0));
done:
    cr_scratch_end(&s);
    return st;
}

/* Solves one part, and looks at all rows. */
static cr_status take_round(smooth *t, bool all)
{
    cr_status                st = CR_OK;
    cr_scratch               s = cr_scratch_begin(t->work->cx);
    cri_svm_linear_solution *o = t->work->solution;
    CR_TRY(choose_part(t, all));
    CR_TRY(copy_rows(&s, t));
    CR_TRY(minimise(t, t->work->options->tol * fmax(fabs(o->primal), DBL_MIN)));
    for (size_t k = 0; k < t->n; k++) o->alpha[t->piece[k]] = t->alpha[k];
    CR_TRY(cri_svm_linear_scores(t->work->cx, t->q->x, t->w, t->w[t->p], t->work->f));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status certify(smooth *t)
{
    cri_svm_linear_solution *o = t->work->solution;
    memcpy(o->w, t->w, t->p * sizeof *o->w);
    o->b = t->w[t->p];
    return cri_svm_linear_certify(t->work, false, &o->converged);
}

/* alpha of all pieces from the scores, without a guess. */
static void guess_alpha(smooth *t)
{
    for (size_t k = 0; k < t->q->m; k++) {
        double c = t->q->cost[k], a = c / t->h * distance(t, k);
        t->work->solution->alpha[k] = a < 0 ? 0 : a > c ? c : a;
    }
}

cr_status cri_svm_linear_smooth(cri_svm_linear_work *work)
{
    cr_status                     st = CR_OK;
    cr_scratch                    s = cr_scratch_begin(work->cx);
    const cri_svm_linear_problem *q = work->problem;
    cri_svm_linear_solution      *o = work->solution;
    size_t                        m = q->m, p = q->x->p;
    double *pieces = cr_scratch_f64(&s, 8 * m), *columns = cr_scratch_f64(&s, 4 * (p + 1));
    smooth  t = { .work = work, .q = q, .p = p, .times = 3 };
    t.piece = cr_scratch_index(&s, m);
    t.chosen = cr_scratch_bytes(&s, m, sizeof(bool));
    t.H = cr_scratch_matrix(&s, p + 1, p + 1);
    CR_TRY(s.status);
    memset(t.chosen, 0, m * sizeof *t.chosen);
    t.sign = pieces, t.target = t.sign + m, t.cost = t.target + m, t.guess = t.cost + m;
    t.alpha = t.guess + m, t.f = t.alpha + m, t.df = t.f + m, t.v = t.df + m;
    t.w = columns, t.fixed = t.w + p + 1, t.grad = t.fixed + p + 1, t.d = t.grad + p + 1;
    CR_TRY(begin(&t));
    double least = t.h / 32, before = INFINITY;
    CR_TRY(certify(&t));
    guess_alpha(&t);
    for (int round = 0; !o->converged; round++) {
        if (cri_svm_linear_over(work)) break;
        if (round >= MOST_ROUNDS || o->iterations >= MOST_STEPS) {
            CR_TRY(cri_svm_linear_interior(work));
            break;
        }
        CR_TRY(take_round(&t, round == 0));
        size_t wrong = count_wrong(&t);
        if (wrong > t.n / 20) t.times *= 2;
        if (wrong > t.n / 200) continue; /* once more with them */
        if (t.gap <= 1.5 * work->options->tol * fabs(o->primal)) CR_TRY(certify(&t));
        if (t.h > 1.01 * least || t.gap > before / 2) t.h /= 2;
        before = t.gap;
    }
    if (!o->converged) CR_TRY(certify(&t));
done:
    cr_scratch_end(&s);
    return st;
}
