/* descent_solve.c -- the working set at one lambda: sweeps over its coordinates, and the equations
 * of its terms that are not 0 as they stand. */
#include "descent.h"
#include "base/context_internal.h"
#include "math/dense/lapack.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

static const double SLIGHT = 0.1; /* violations below this share of the tolerance are left alone */

/* --- gradients ------------------------------------------------------------------------------- */

double cri_descent_violation(const cri_descent *d, size_t i, double c)
{
    double b = d->b[i], l1 = cri_descent_l1(d);
    if (!(d->square[i] > 0)) return 0;
    double v = b != 0 ? fabs(c - cri_descent_l2(d) * b - copysign(l1, b)) : fmax(fabs(c) - l1, 0);
    return v / (d->unit * sqrt(d->square[i]));
}

static double dot(const cri_descent *d, size_t i, const double *r)
{
    double per_weight = 1 / d->weight; /* beside the product, which would wait for a division */
    return d->X->dot(d->X, d->order[i], r) * per_weight;
}

static double gradient_at(const cri_descent *d, size_t i)
{
    return cri_descent_by_products(d) ? d->c[i] : dot(d, i, d->r);
}

/* What a change of b_i does to the gradients of the working set, or to the residual. */
static void follow(cri_descent *d, size_t i, double change)
{
    if (cri_descent_by_products(d))
        cblas_daxpy((int)d->m, -change, d->G + i * d->stride, 1, d->c, 1);
    else
        d->X->add(d->X, d->order[i], -change, d->r);
}

static void set_residual(cri_descent *d)
{
    d->X->start(d->X, d->r);
    for (size_t i = 0; i < d->m; i++)
        if (d->b[i] != 0) d->X->add(d->X, d->order[i], -d->b[i], d->r);
}

static void take_dots(const cri_columns *X, size_t j, const double *R, size_t count, double *out)
{
    if (X->dots)
        X->dots(X, j, R, count, out);
    else
        for (size_t a = 0; a < count; a++) out[a] = X->dot(X, j, R + a * X->residual_size);
}

/* The rows and columns of G for the places that joined the set, some at a time, so that a column
 * is read once for all of them.  O(n m) for each place. */
static void extend_products(cri_descent *d)
{
    double dots[CRI_DESCENT_JOIN];
    while (d->known < d->m) {
        size_t first = d->known,
               k = d->m - first < CRI_DESCENT_JOIN ? d->m - first : CRI_DESCENT_JOIN;
        for (size_t a = 0; a < k; a++)
            d->X->copy(d->X, d->order[first + a], d->joining + a * d->X->residual_size);
        for (size_t e = 0; e < first + k; e++) {
            take_dots(d->X, d->order[e], d->joining, k, dots);
            for (size_t a = e < first ? 0 : e - first; a < k; a++)
                d->G[(first + a) * d->stride + e] = d->G[e * d->stride + first + a] =
                    dots[a] / d->weight;
        }
        d->known += k;
    }
}

void cri_descent_refresh(cri_descent *d)
{
    if (!d->X) {
        memcpy(d->c, d->c0, d->m * sizeof(double));
        if (d->m > 0)
            cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)d->m, (int)d->m, -1, d->G, (int)d->stride,
                        d->b, 1, 1, d->c, 1);
        return;
    }
    set_residual(d);
    if (!cri_descent_by_products(d)) return;
    extend_products(d);
    for (size_t i = 0; i < d->m; i++) d->c[i] = dot(d, i, d->r);
}

/* --- one sweep ------------------------------------------------------------------------------- */

static double shrink(double u, double by) { return u > by ? u - by : u < -by ? u + by : 0; }

/* What coordinates have in common at a lambda, and the largest violation met, squared: roots would
 * take longer than a step on a column of few entries. */
static cri_column_pass begin_pass(const cri_descent *d, bool nonzero)
{
    double slight = SLIGHT * d->settings.tolerance * d->unit;
    return (cri_column_pass){ .m = d->m,
                              .order = d->order,
                              .b = d->b,
                              .square = d->square,
                              .nonzero = nonzero,
                              .l1 = cri_descent_l1(d),
                              .l2 = cri_descent_l2(d),
                              .slight = slight * slight };
}

/* The step of one coordinate from its gradient c, 0 where it is not worth the while; notes the
 * violation, as it was before. */
static double step_of(const cri_descent *d, size_t i, double c, cri_column_pass *of)
{
    double square = d->square[i], curvature = square + of->l2, inverse = 1 / curvature;
    double change = shrink(c + square * d->b[i], of->l1) * inverse - d->b[i];
    double violation = change * curvature, size = violation * violation; /* times the square */
    if (size > of->worst * square) of->worst = size / square;
    return size > of->slight * square ? change : 0;
}

static double sweep_columns(cri_descent *d, bool nonzero)
{
    cri_column_pass of = begin_pass(d, nonzero);
    if (d->X->sweep) d->X->sweep(d->X, &of, d->r);
    for (size_t i = 0; !d->X->sweep && i < d->m; i++) {
        if (nonzero && d->b[i] == 0) continue;
        double change = step_of(d, i, dot(d, i, d->r), &of);
        if (change == 0) continue;
        d->b[i] += change;
        d->X->add(d->X, d->order[i], -change, d->r);
    }
    return sqrt(of.worst);
}

/* c -= G change, of k places from `first` on. */
static void follow_block(cri_descent *d, size_t first, size_t k, const double *change)
{
    size_t changed = 0;
    for (size_t a = 0; a < k; a++) changed += change[a] != 0;
    if (2 * changed > k)
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)k, (int)d->m, -1, d->G + first * d->stride,
                    (int)d->stride, change, 1, 1, d->c, 1);
    else
        for (size_t a = 0; a < k && changed > 0; a++)
            if (change[a] != 0) follow(d, first + a, change[a]);
}

/* Some places at a time: their own gradients are kept up to date as they change, those of all
 * others follow at the end, for all changes at once.  A block is gone through a few times, which
 * costs little beside that and saves sweeps. */
static double sweep_blocks(cri_descent *d, bool nonzero)
{
    enum { BLOCK = 64, TIMES = 4 };
    double c[BLOCK], change[BLOCK], worst = 0;
    for (size_t first = 0; first < d->m; first += BLOCK) {
        size_t        k = d->m - first < BLOCK ? d->m - first : BLOCK;
        const double *G = d->G + first * (d->stride + 1);
        memcpy(c, d->c + first, k * sizeof(double));
        memset(change, 0, k * sizeof(double));
        for (int time = 0; time < TIMES; time++) {
            cri_column_pass now = begin_pass(d, nonzero);
            for (size_t a = 0; a < k; a++) {
                if (nonzero && d->b[first + a] == 0) continue;
                double step = step_of(d, first + a, c[a], &now);
                if (step == 0) continue;
                d->b[first + a] += step;
                change[a] += step;
                for (size_t e = 0; e < k; e++) c[e] -= step * G[a * d->stride + e];
            }
            if (time == 0) worst = fmax(worst, now.worst);
            if (now.worst <= now.slight) break;
        }
        follow_block(d, first, k, change);
    }
    return sqrt(worst);
}

/* One pass over the working set, or over its terms that are not 0.  The largest violation met on
 * the way, each as it was before its own first step. */
static double sweep(cri_descent *d, bool nonzero)
{
    double worst =
        cri_descent_by_products(d) ? sweep_blocks(d, nonzero) : sweep_columns(d, nonzero);
    d->sweeps++;
    d->since++;
    return worst / d->unit;
}

/* --- the equations as they stand ------------------------------------------------------------- */

size_t cri_descent_support(cri_descent *d)
{
    size_t k = 0;
    for (size_t i = 0; i < d->m; i++) {
        if (d->b[i] != 0) d->support[k++] = i;
    }
    return k;
}

/* K = G + (l2 + ridge) I of k places, a triangle of it (the upper one for LAPACK), factored; false
 * when it is not safely positive definite. */
static bool factor_equations(cri_descent *d, size_t k, double ridge)
{
    bool products = cri_descent_by_products(d);
    for (size_t a = 0; a < k; a++) {
        size_t i = d->support[a];
        if (!products) d->X->copy(d->X, d->order[i], d->z);
        for (size_t e = 0; e <= a; e++)
            d->K[a * k + e] =
                products ? d->G[i * d->stride + d->support[e]] : dot(d, d->support[e], d->z);
        d->K[a * k + a] += cri_descent_l2(d) + ridge;
    }
    if (cri_dpotrf('U', (int)k, d->K, (int)k) != 0) return false;
    for (size_t a = 0; a < k; a++)
        if (!(d->K[a * k + a] > 1e-7 * sqrt(d->square[d->support[a]]))) return false;
    return true;
}

/* out = (G + l2 I) v of k places, by the columns where there are such. */
static void multiply_equations(cri_descent *d, size_t k, const double *v, double *out)
{
    if (d->X) memset(d->z, 0, d->X->residual_size * sizeof(double));
    for (size_t a = 0; d->X && a < k; a++) d->X->add(d->X, d->order[d->support[a]], v[a], d->z);
    for (size_t a = 0; a < k; a++) {
        const double *row = d->G + d->support[a] * d->stride;
        out[a] = cri_descent_l2(d) * v[a];
        if (d->X) out[a] += dot(d, d->support[a], d->z);
        for (size_t e = 0; !d->X && e < k; e++) out[a] += row[d->support[e]] * v[e];
    }
}

/* d->d = (G + l2 I)^-1 slope of k places by conjugate gradients with the diagonal before them
 * (Golub & Van Loan, sec. 11.5), so far as a number of steps goes: whatever it is, it goes down. */
static void conjugate_gradients(cri_descent *d, size_t k, const double *slope)
{
    enum { MOST_STEPS = 100 };
    double *x = d->d, *left = d->left, *way = d->way, *product = d->product;
    double  last = 0, first = 0;
    memset(x, 0, k * sizeof(double));
    memcpy(left, slope, k * sizeof(double));
    for (size_t step = 0; step < MOST_STEPS; step++) {
        double now = 0, curvature = 0;
        for (size_t a = 0; a < k; a++)
            now += left[a] * left[a] / (d->square[d->support[a]] + cri_descent_l2(d));
        if (step == 0) first = now;
        d->gradient_steps = step;
        if (!(now > 1e-20 * first)) break;
        for (size_t a = 0; a < k; a++)
            way[a] = left[a] / (d->square[d->support[a]] + cri_descent_l2(d)) +
                     (step ? now / last * way[a] : 0);
        multiply_equations(d, k, way, product);
        for (size_t a = 0; a < k; a++) curvature += way[a] * product[a];
        if (!(curvature > 0)) break;
        for (size_t a = 0; a < k; a++) {
            x[a] += now / curvature * way[a];
            left[a] -= now / curvature * product[a];
        }
        last = now;
    }
}

/* With the signs that the support has now: what is left of the conditions, q = -gradient. */
static double slope_at(const cri_descent *d, size_t i, double sign)
{
    return gradient_at(d, i) - cri_descent_l2(d) * d->b[i] - copysign(cri_descent_l1(d), sign);
}

/* Moves the support to b + step d->d, terms that would turn their sign to 0; returns what that
 * takes off the objective, which is quadratic in between: (q before + q after) . change / 2.  d->d
 * becomes the change. */
static double move(cri_descent *d, size_t k, double share, const double *slope)
{
    double gain = 0;
    for (size_t a = 0; a < k; a++) {
        size_t i = d->support[a];
        double b = d->b[i], next = b + share * d->d[a];
        if (next * b <= 0) next = 0;
        d->d[a] = next - b;
    }
    for (size_t a = 0; a < k; a++) {
        d->b[d->support[a]] += d->d[a];
        follow(d, d->support[a], d->d[a]);
    }
    for (size_t a = 0; a < k; a++)
        gain += d->d[a] / 2 * (slope[a] + slope_at(d, d->support[a], d->sign[a]));
    return gain;
}

/* The longest share of the step, up to 1, that turns no sign. */
static double admissible(const cri_descent *d, const double *step, size_t k)
{
    double share = 1;
    for (size_t a = 0; a < k; a++) {
        double b = d->b[d->support[a]];
        if ((b + share * step[a]) * b <= 0 && step[a] != 0) share = -b / step[a];
    }
    return share;
}

/* d->d = the step to the minimum over the support; by the factor in K, which is made when there is
 * none yet.  false when there is no such step.  Equations that cannot be solved get a small ridge:
 * the objective falls all the same. */
static bool find_step(cri_descent *d, size_t k, bool factored)
{
    int    info, n = (int)k, one = 1;
    double largest = 0;
    if (k > d->most) {
        conjugate_gradients(d, k, d->slope);
    } else {
        for (size_t a = 0; a < k; a++) largest = fmax(largest, d->square[d->support[a]]);
        if (!factored && !factor_equations(d, k, 0) && !factor_equations(d, k, 1e-9 * largest))
            return false;
        memcpy(d->d, d->slope, k * sizeof(double));
        dpotrs_("U", &n, &one, d->K, &n, d->d, &n, &info, 1);
    }
    for (size_t a = 0; a < k; a++)
        if (!isfinite(d->d[a])) return false;
    return true;
}

/* All terms that would turn their sign become 0; where that gains nothing, only the first of them.
 * O(k^3), or as many passes over the terms as conjugate gradients take. */
void cri_descent_solve_directly(cri_descent *d, size_t k)
{
    for (size_t a = 0; a < k; a++) {
        size_t i = d->support[a];
        d->sign[a] = d->b[i];
        d->slope[a] = slope_at(d, i, d->b[i]);
    }
    for (int first = 0; first < 2; first++) {
        if (!find_step(d, k, first)) return;
        double share = first ? admissible(d, d->d, k) : 1;
        if (move(d, k, share, d->slope) >= 0 || first) return;
        for (size_t a = 0; a < k; a++) { /* back */
            d->b[d->support[a]] = d->sign[a];
            follow(d, d->support[a], -d->d[a]);
        }
    }
}

/* What the equations as they stand cost, in sweeps over k places that are not 0: k^3/3 operations in
 * blocks against m or n times k, or as many sweeps as conjugate gradients took steps, within
 * bounds. */
static double direct_cost(const cri_descent *d, size_t k)
{
    enum { LEAST = 4, MOST = 20 };
    size_t steps = d->gradient_steps;
    if (k > d->most) return (double)(steps < LEAST ? LEAST : steps > MOST ? MOST : steps);
    if (!cri_descent_by_products(d)) return (double)k / 4;
    return (double)k * (double)k / (24 * (double)d->m);
}

/* Worth while when descent has cost about as much, or is going to: sweeps that met violations
 * `before` and `now` go on at that rate. */
static bool direct_is_due(const cri_descent *d, size_t k, double before, double now)
{
    enum { FEW = 2 };
    double cost = direct_cost(d, k), rate = log(before / now);
    double left = rate > 0 ? log(now / d->settings.tolerance) / rate : INFINITY;
    return k > 0 && ((double)d->since > 3 + 2 * cost || (d->since >= FEW && left > FEW + cost));
}

/* --- the working set ------------------------------------------------------------------------- */

static bool is_over(const cri_descent *d)
{
    return d->sweeps >= d->settings.most_sweeps ||
           (d->settings.cx && cri_should_stop(d->settings.cx));
}

/* The largest violation in the working set as it stands: what a sweep meets on its way may be far
 * less where the terms are nearly dependent.  Leaves the gradients in d->c. */
static double worst_of_set(cri_descent *d)
{
    double worst = 0;
    for (size_t i = 0; i < d->m; i++) {
        d->c[i] = gradient_at(d, i);
        worst = fmax(worst, cri_descent_violation(d, i, d->c[i]));
    }
    return worst;
}

void cri_descent_solve(cri_descent *d)
{
    double tolerance = d->settings.tolerance;
    cri_descent_refresh(d);
    while (worst_of_set(d) > tolerance && !is_over(d)) {
        sweep(d, false);
        for (double worst = INFINITY, before; worst > tolerance && !is_over(d);) {
            before = worst;
            worst = sweep(d, true);
            size_t k = cri_descent_support(d);
            if (!direct_is_due(d, k, before, worst)) continue;
            cri_descent_solve_directly(d, k);
            d->since = 0;
        }
    }
    if (d->X && cri_descent_by_products(d)) set_residual(d);
}
