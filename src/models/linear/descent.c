/* descent.c -- coordinate descent for the elastic net, from one lambda to the next. */
#include "descent.h"
#include "../../math/dense.h"
#include "../../math/lapack.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_DIRECT = 1500 };      /* terms whose equations are solved as they stand */
static const double SLIGHT = 0.1; /* violations below this share of the tolerance are left alone */

static double l1_of(const cri_descent *d) { return d->lambda * d->settings.l1_ratio; }
static double l2_of(const cri_descent *d) { return d->lambda * (1 - d->settings.l1_ratio); }

/* --- setting up ------------------------------------------------------------------------------ */

static cr_status place_arrays(cr_scratch *s, cri_descent *d)
{
    size_t p = d->p;
    d->most = p < MOST_DIRECT ? p : MOST_DIRECT;
    d->order = cr_scratch_index(s, p);
    d->b = cr_scratch_bytes(s, p, sizeof(double));
    d->before = cr_scratch_bytes(s, p, sizeof(double));
    d->c = cr_scratch_f64(s, p);
    d->c0 = cr_scratch_f64(s, p);
    d->square = cr_scratch_f64(s, p);
    d->K = cr_scratch_matrix(s, d->most, d->most);
    d->d = cr_scratch_f64(s, d->most);
    d->slope = cr_scratch_f64(s, d->most);
    d->sign = cr_scratch_f64(s, d->most);
    d->support = cr_scratch_index(s, d->most);
    for (size_t i = 0; s->status == CR_OK && i < p; i++) d->order[i] = i;
    d->lambda = INFINITY;
    d->converged = true;
    return s->status;
}

cr_status cri_descent_of_gram(cr_scratch *s, cri_gram *g, const cri_descent_settings *settings,
                              cri_descent *out)
{
    size_t      p = g->p;
    cri_descent d = {
        .settings = *settings, .p = p, .weight = g->weight, .G = g->G, .tt = g->tt / g->weight
    };
    cr_status st = place_arrays(s, &d);
    if (st != CR_OK) return st;
    for (size_t i = 0; i < p * p; i++) d.G[i] /= d.weight;
    for (size_t i = 0; i < p; i++) {
        d.c[i] = d.c0[i] = g->g[i] / d.weight;
        d.square[i] = d.G[i * p + i];
    }
    d.unit = sqrt(d.tt);
    *out = d;
    return CR_OK;
}

cr_status cri_descent_of_columns(cr_scratch *s, const cri_columns *X,
                                 const cri_descent_settings *settings, cri_descent *out)
{
    cri_descent d = {
        .settings = *settings, .p = X->p, .weight = X->weight, .X = X, .tt = X->tt / X->weight
    };
    d.r = cr_scratch_f64(s, X->room);
    d.z = cr_scratch_f64(s, X->room);
    cr_status st = place_arrays(s, &d);
    if (st != CR_OK) return st;
    X->start(X, d.r);
    for (size_t j = 0; j < d.p; j++) {
        d.square[j] = X->square[j];
        d.c[j] = d.c0[j] = X->square[j] > 0 ? X->dot(X, j, d.r) / d.weight : 0;
    }
    d.unit = sqrt(d.tt);
    *out = d;
    return CR_OK;
}

double cri_descent_lambda_max(const cri_descent *d)
{
    double most = 0;
    for (size_t i = 0; i < d->p; i++)
        if (d->square[i] > 0) most = fmax(most, fabs(d->c0[i]));
    /* so that lambda r is not below it by rounding */
    return most / fmax(d->settings.l1_ratio, 1e-3) * (1 + 2 * DBL_EPSILON);
}

/* --- places ---------------------------------------------------------------------------------- */

static void swap_numbers(double *a, double *b)
{
    double keep = *a;
    *a = *b, *b = keep;
}

/* Exchanges two places, in G the rows and the columns. */
static void exchange(cri_descent *d, size_t i, size_t j)
{
    size_t p = d->p, term = d->order[i];
    if (i == j) return;
    d->order[i] = d->order[j], d->order[j] = term;
    double *arrays[] = { d->b, d->before, d->c, d->c0, d->square };
    for (size_t k = 0; k < 5; k++) swap_numbers(&arrays[k][i], &arrays[k][j]);
    if (!d->G) return;
    cblas_dswap((int)p, d->G + i * p, 1, d->G + j * p, 1);
    cblas_dswap((int)p, d->G + i, (int)p, d->G + j, (int)p);
}

/* The strong rule (Tibshirani et al. 2012, sec. 4): who was this close at the last lambda. */
static void admit_strong(cri_descent *d, double last)
{
    double bound = d->settings.l1_ratio * (2 * d->lambda - last);
    for (size_t i = d->m; i < d->p; i++)
        if (d->square[i] > 0 && fabs(d->c[i]) >= bound) exchange(d, i, d->m++);
}

/* --- one step -------------------------------------------------------------------------------- */

static double shrink(double u, double by) { return u > by ? u - by : u < -by ? u + by : 0; }

static double gradient_at(const cri_descent *d, size_t i)
{
    return d->G ? d->c[i] : d->X->dot(d->X, d->order[i], d->r) / d->weight;
}

/* What a change of b_i does to the gradients of the working set, or to the residual. */
static void follow(cri_descent *d, size_t i, double change)
{
    if (d->G)
        cblas_daxpy((int)d->m, -change, d->G + i * d->p, 1, d->c, 1);
    else
        d->X->add(d->X, d->order[i], -change, d->r);
}

/* The step of one coordinate from its gradient c, 0 where it is not worth the while; notes the
 * violation, as it was before. */
static double step_of(const cri_descent *d, size_t i, double c, double *worst)
{
    double square = d->square[i], curvature = square + l2_of(d);
    double change = shrink(c + square * d->b[i], l1_of(d)) / curvature - d->b[i];
    double violation = fabs(change) * curvature / sqrt(square);
    *worst = fmax(*worst, violation);
    return violation > SLIGHT * d->settings.tolerance * d->unit ? change : 0;
}

static double sweep_columns(cri_descent *d, bool nonzero)
{
    double worst = 0;
    for (size_t i = 0; i < d->m; i++) {
        if (nonzero && d->b[i] == 0) continue;
        double change = step_of(d, i, gradient_at(d, i), &worst);
        if (change == 0) continue;
        d->b[i] += change;
        follow(d, i, change);
    }
    return worst;
}

/* c -= G change, of k places from `first` on. */
static void follow_block(cri_descent *d, size_t first, size_t k, const double *change)
{
    size_t changed = 0;
    for (size_t a = 0; a < k; a++) changed += change[a] != 0;
    if (2 * changed > k)
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)k, (int)d->m, -1, d->G + first * d->p,
                    (int)d->p, change, 1, 1, d->c, 1);
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
        const double *G = d->G + first * (d->p + 1);
        memcpy(c, d->c + first, k * sizeof(double));
        memset(change, 0, k * sizeof(double));
        for (int time = 0; time < TIMES; time++) {
            double now = 0;
            for (size_t a = 0; a < k; a++) {
                if (nonzero && d->b[first + a] == 0) continue;
                double step = step_of(d, first + a, c[a], &now);
                if (step == 0) continue;
                d->b[first + a] += step;
                change[a] += step;
                for (size_t e = 0; e < k; e++) c[e] -= step * G[a * d->p + e];
            }
            if (time == 0) worst = fmax(worst, now);
            if (now <= SLIGHT * d->settings.tolerance * d->unit) break;
        }
        follow_block(d, first, k, change);
    }
    return worst;
}

/* One pass over the working set, or over its terms that are not 0.  The largest violation met on
 * the way, each as it was before its own first step. */
static double sweep(cri_descent *d, bool nonzero)
{
    double worst = d->G ? sweep_blocks(d, nonzero) : sweep_columns(d, nonzero);
    d->sweeps++;
    return worst / d->unit;
}

/* --- the equations as they stand ------------------------------------------------------------- */

static size_t find_support(cri_descent *d)
{
    size_t k = 0;
    for (size_t i = 0; i < d->m; i++) {
        if (d->b[i] == 0) continue;
        if (k == d->most) return 0;
        d->support[k++] = i;
    }
    return k;
}

/* K = G + (l2 + ridge) I of k places, a triangle of it (the upper one for LAPACK), factored; false
 * when it is not safely positive definite. */
static bool factor_equations(cri_descent *d, size_t k, double ridge)
{
    for (size_t a = 0; a < k; a++) {
        size_t i = d->support[a];
        if (d->X) d->X->copy(d->X, d->order[i], d->z);
        for (size_t e = 0; e <= a; e++)
            d->K[a * k + e] = d->G ? d->G[i * d->p + d->support[e]]
                                   : d->X->dot(d->X, d->order[d->support[e]], d->z) / d->weight;
        d->K[a * k + a] += l2_of(d) + ridge;
    }
    if (cri_dpotrf('U', (int)k, d->K, (int)k) != 0) return false;
    for (size_t a = 0; a < k; a++)
        if (!(d->K[a * k + a] > 1e-7 * sqrt(d->square[d->support[a]]))) return false;
    return true;
}

/* With the signs that the support has now: what is left of the conditions, q = -gradient. */
static double slope_at(const cri_descent *d, size_t i, double sign)
{
    return gradient_at(d, i) - l2_of(d) * d->b[i] - copysign(l1_of(d), sign);
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

/* Towards the minimum over the terms that are not 0 with the signs they have.  All that would turn
 * their sign become 0; where that gains nothing, only the first of them.  Equations that cannot be
 * solved get a small ridge: the objective falls all the same.  O(k^3). */
static void solve_directly(cri_descent *d, size_t k)
{
    double *slope = d->slope, largest = 0;
    int     info, n = (int)k, one = 1;
    for (size_t a = 0; a < k; a++) {
        size_t i = d->support[a];
        d->sign[a] = d->b[i];
        slope[a] = slope_at(d, i, d->b[i]);
        largest = fmax(largest, d->square[i]);
    }
    if (!factor_equations(d, k, 0) && !factor_equations(d, k, 1e-9 * largest)) return;
    for (int first = 0; first < 2; first++) {
        memcpy(d->d, slope, k * sizeof(double));
        dpotrs_("U", &n, &one, d->K, &n, d->d, &n, &info, 1);
        double share = first ? admissible(d, d->d, k) : 1;
        for (size_t a = 0; a < k; a++)
            if (!isfinite(d->d[a])) return;
        if (move(d, k, share, slope) >= 0 || first) return;
        for (size_t a = 0; a < k; a++) { /* back */
            d->b[d->support[a]] = d->sign[a];
            follow(d, d->support[a], -d->d[a]);
        }
    }
}

/* Worth while when descent has cost about as much: k^3/3 operations in blocks against m or n times
 * k in a sweep. */
static bool direct_is_due(const cri_descent *d, size_t since, size_t k)
{
    return k > 0 && since > 3 + (d->G ? k / 16 : k / 4);
}

/* --- one lambda ------------------------------------------------------------------------------ */

/* Solves for the working set; false when the sweeps are used up. */
static bool solve_working_set(cri_descent *d, size_t *since)
{
    double tolerance = d->settings.tolerance;
    while (sweep(d, false) > tolerance) {
        double worst = INFINITY;
        while (worst > tolerance) {
            if (d->sweeps >= d->settings.most_sweeps) return false;
            worst = sweep(d, true);
            size_t k = worst > tolerance ? find_support(d) : 0;
            if (!direct_is_due(d, (*since)++, k)) continue;
            solve_directly(d, k);
            *since = 0;
        }
    }
    return true;
}

/* Gradients of the terms in the first m places anew from b, or of the residual. */
static void refresh_some(cri_descent *d, size_t places)
{
    if (d->G) {
        memcpy(d->c, d->c0, places * sizeof(double));
        if (d->m > 0)
            cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)places, (int)d->m, -1, d->G, (int)d->p,
                        d->b, 1, 1, d->c, 1);
        return;
    }
    d->X->start(d->X, d->r);
    for (size_t i = 0; i < d->m; i++)
        if (d->b[i] != 0) follow(d, i, d->b[i]);
}

/* Gradients of all terms anew: what rounding has piled up is gone. */
static void refresh(cri_descent *d)
{
    refresh_some(d, d->p);
    for (size_t i = 0; d->X && i < d->p; i++) d->c[i] = d->square[i] > 0 ? gradient_at(d, i) : 0;
}

static double violation_at(const cri_descent *d, size_t i)
{
    double c = d->c[i], b = d->b[i], l1 = l1_of(d);
    if (!(d->square[i] > 0)) return 0;
    double v = b != 0 ? fabs(c - l2_of(d) * b - copysign(l1, b)) : fmax(fabs(c) - l1, 0);
    return v / (d->unit * sqrt(d->square[i]));
}

/* Takes every term outside the working set that violates the conditions into it, and notes the
 * largest violation; true when nothing more is to be done. */
static bool check(cri_descent *d)
{
    size_t before = d->m;
    double tolerance = d->settings.tolerance;
    d->violation = 0;
    for (size_t i = 0; i < d->p; i++) {
        double v = violation_at(d, i);
        d->violation = fmax(d->violation, v);
        if (i >= d->m && v > tolerance) exchange(d, i, d->m++);
    }
    return d->m == before && d->violation <= 4 * tolerance + 1e-13;
}

/* Solutions are linear in lambda between the points where a term enters or leaves: goes on along
 * the line through the last two, but turns no sign.  O(m^2) or O(n m). */
static void extrapolate(cri_descent *d, double lambda)
{
    double share = (lambda - d->lambda) / (d->lambda - d->lambda_before);
    for (size_t i = 0; i < d->m; i++) {
        double b = d->b[i], next = b + share * (b - d->before[i]);
        d->before[i] = b;
        if (b != 0 && isfinite(share) && next * b > 0) d->b[i] = next;
    }
    d->lambda_before = d->lambda;
}

/* To the solution at d->lambda from the gradients at hand. */
static void settle(cri_descent *d)
{
    size_t since = 0;
    do {
        d->converged = solve_working_set(d, &since);
        refresh(d);
    } while (!check(d) && d->converged && d->sweeps < d->settings.most_sweeps);
    d->converged = d->violation <= 4 * d->settings.tolerance + 1e-13;
}

static void start_lambda(cri_descent *d, double lambda)
{
    d->lambda = lambda;
    d->sweeps = 0;
    d->violation = 0;
    d->converged = true;
}

void cri_descent_step(cri_descent *d, double lambda)
{
    double last = isinf(d->lambda) ? fmax(cri_descent_lambda_max(d), lambda) : d->lambda;
    extrapolate(d, lambda);
    start_lambda(d, lambda);
    if (!(d->unit > 0)) return; /* nothing to explain */
    admit_strong(d, last);
    refresh_some(d, d->m);
    settle(d);
}

void cri_descent_finish(cri_descent *d, double lambda, const double *b)
{
    enum { ENOUGH = 200 }; /* sweeps that rounding may take in vain */
    cri_descent_settings settings = d->settings;
    bool                 converged = d->converged;
    start_lambda(d, lambda);
    if (!(d->unit > 0)) return;
    for (size_t i = 0; i < d->p; i++) d->b[i] = b[d->order[i]];
    refresh(d);
    size_t k = find_support(d);
    if (k > 0) solve_directly(d, k);
    d->settings.tolerance = fmin(settings.tolerance, 1e-12);
    if (d->settings.most_sweeps > ENOUGH) d->settings.most_sweeps = ENOUGH;
    settle(d);
    d->settings = settings;
    d->converged = converged; /* what is left now is beyond what was asked for */
}

/* --- looks ----------------------------------------------------------------------------------- */

double cri_descent_mse(const cri_descent *d)
{
    double mse = d->tt; /* b^T G b = b . (c0 - c) */
    if (d->X) return d->X->norm2(d->X, d->r) / d->weight;
    for (size_t i = 0; i < d->m; i++) mse -= d->b[i] * (d->c0[i] + d->c[i]);
    return fmax(mse, 0);
}

size_t cri_descent_nonzero(const cri_descent *d)
{
    size_t k = 0;
    for (size_t i = 0; i < d->m; i++) k += d->b[i] != 0;
    return k;
}

void cri_descent_coefficients(const cri_descent *d, double *out)
{
    for (size_t i = 0; i < d->p; i++) out[d->order[i]] = d->b[i];
}

void cri_descent_products(const cri_descent *d, const size_t *terms, size_t k, size_t *place,
                          double *out)
{
    for (size_t i = 0; i < d->p; i++) place[d->order[i]] = i;
    for (size_t a = 0; a < k; a++) {
        if (d->X) d->X->copy(d->X, terms[a], d->z);
        for (size_t e = 0; e <= a; e++)
            out[a * k + e] = out[e * k + a] = d->G ? d->G[place[terms[a]] * d->p + place[terms[e]]]
                                                   : d->X->dot(d->X, terms[e], d->z) / d->weight;
    }
}
