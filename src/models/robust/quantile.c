/* quantile.c -- the interior point method of quantile regression, and the step to a vertex. */
#include "quantile.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "base/sort.h"
#include "math/dense/blas_internal.h"
#include "math/dense/lapack.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 15 }; /* rows between two looks at the clock */

/* The rows are scaled by their weights, A = W X and c = W y, which leaves the loss as it is.  Then
 *   max c.a,  A^T a = (1 - t) A^T 1,  a >= 0,  s = 1 - a >= 0,
 * has the multipliers b, and v, z >= 0 of the bounds, with  c - A b = z - v,  v a = 0,  z s = 0.
 * a starts inside and z - v = c - A b is kept, so both sides stay feasible. */
typedef struct programme {
    size_t  n, p;
    double  t;
    double *A, *c;             /* [n x p], [n]             */
    double *a, *s, *z, *v;     /* [n]                      */
    double *da, *ds, *dz, *dv; /* [n]                      */
    double *q, *rhs;           /* [n]                      */
    double *b, *db, *d;        /* [p]  d = (1 - t) A^T 1   */
    double *G, *B;             /* [p x p], [n x p]         */
} programme;

static double row_dot(const programme *k, size_t i, const double *b)
{
    double sum = 0;
    for (size_t j = 0; j < k->p; j++) sum += k->A[i * k->p + j] * b[j];
    return sum;
}

static double loss(const programme *k, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < k->n; i++) {
        double r = k->c[i] - row_dot(k, i, b);
        sum += r > 0 ? k->t * r : (k->t - 1) * r;
    }
    return sum;
}

static double dual_value(const programme *k)
{
    double sum = 0;
    for (size_t i = 0; i < k->n; i++) sum += k->c[i] * (k->a[i] - (1 - k->t));
    return sum;
}

/* --- one Newton step ------------------------------------------------------------------------- */

/* G = A^T Q A, Q = 1 / (z/s + v/a), factored; *out_sound is false where it is singular to working
 * precision. */
static cr_status factor(cr_ctx *cx, programme *k, bool *out_sound)
{
    cr_status st = CR_OK;
    for (size_t begin = 0; begin < k->n; begin += BLOCK) {
        size_t end = k->n - begin < BLOCK ? k->n : begin + BLOCK;
        CR_TRY(cr_check_interrupt(cx));
        for (size_t i = begin; i < end; i++) {
            k->q[i] = 1 / (k->z[i] / k->s[i] + k->v[i] / k->a[i]);
            double root = sqrt(k->q[i]);
            for (size_t j = 0; j < k->p; j++) k->B[i * k->p + j] = root * k->A[i * k->p + j];
        }
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)k->p, (int)(end - begin), 1,
                    k->B + begin * k->p, (int)k->p, begin > 0, k->G,
                    (int)k->p); /* row-major upper is column-major lower */
    }
    *out_sound = cri_dpotrf('L', (int)k->p, k->G, (int)k->p) == 0;
done:
    return st;
}

/* Directions towards a complementarity of mu, the products of the last ones taken into account when
 * `second`:  da = q (rhs - A db),  A^T da = d - A^T a. */
static void set_directions(programme *k, double mu, bool second)
{
    int info = 0, p = (int)k->p, one = 1;
    memcpy(k->db, k->d, k->p * sizeof *k->db);
    for (size_t j = 0; j < k->p; j++) k->db[j] = -k->db[j];
    for (size_t i = 0; i < k->n; i++) {
        double at_zero = mu - (second ? k->da[i] * k->dv[i] : 0);
        double at_one = mu - (second ? k->ds[i] * k->dz[i] : 0);
        k->rhs[i] = k->z[i] - k->v[i] - at_one / k->s[i] + at_zero / k->a[i];
        double pull = k->q[i] * k->rhs[i] + k->a[i];
        for (size_t j = 0; j < k->p; j++) k->db[j] += pull * k->A[i * k->p + j];
    }
    dpotrs_("L", &p, &one, k->G, &p, k->db, &p, &info, 1);
    for (size_t i = 0; i < k->n; i++) {
        double at_zero = mu - (second ? k->da[i] * k->dv[i] : 0);
        double at_one = mu - (second ? k->ds[i] * k->dz[i] : 0);
        double da = k->q[i] * (k->rhs[i] - row_dot(k, i, k->db));
        k->da[i] = da;
        k->ds[i] = -da;
        k->dz[i] = (at_one + k->z[i] * da) / k->s[i] - k->z[i];
        k->dv[i] = (at_zero - k->v[i] * da) / k->a[i] - k->v[i];
    }
}

static double least_ratio(const double *x, const double *dx, size_t n)
{
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        if (dx[i] < 0 && -x[i] / dx[i] < least) least = -x[i] / dx[i];
    return least;
}

/* How far one may go along both and stay inside. */
static double step_length(const double *x, const double *dx, const double *y, const double *dy,
                          size_t n)
{
    return fmin(1, 0.99995 * fmin(least_ratio(x, dx, n), least_ratio(y, dy, n)));
}

/* z.s + v.a after steps of these lengths. */
static double complementarity(const programme *k, double f, double g)
{
    double sum = 0;
    for (size_t i = 0; i < k->n; i++)
        sum += (k->z[i] + g * k->dz[i]) * (k->s[i] + f * k->ds[i]) +
               (k->v[i] + g * k->dv[i]) * (k->a[i] + f * k->da[i]);
    return sum;
}

static void move(programme *k, double f, double g)
{
    for (size_t i = 0; i < k->n; i++) {
        k->a[i] += f * k->da[i], k->s[i] += f * k->ds[i];
        k->z[i] += g * k->dz[i], k->v[i] += g * k->dv[i];
    }
    for (size_t j = 0; j < k->p; j++) k->b[j] += g * k->db[j];
}

/* Predictor, then corrector where the predictor cannot go all the way; *out_moved is false when it
 * is stuck. */
static cr_status newton_step(cr_ctx *cx, programme *k, bool *out_moved)
{
    cr_status st = factor(cx, k, out_moved);
    if (st != CR_OK || !*out_moved) return st;
    set_directions(k, 0, false);
    double f = step_length(k->a, k->da, k->s, k->ds, k->n);
    double g = step_length(k->z, k->dz, k->v, k->dv, k->n);
    if (fmin(f, g) < 1) {
        double now = complementarity(k, 0, 0), then = complementarity(k, f, g);
        double mu = now * pow(then / now, 3) / (2 * (double)k->n);
        set_directions(k, mu, true);
        f = step_length(k->a, k->da, k->s, k->ds, k->n);
        g = step_length(k->z, k->dz, k->v, k->dv, k->n);
    }
    *out_moved = isfinite(f + g) && fmax(f, g) >= 1e-14;
    if (*out_moved) move(k, f, g);
    return CR_OK;
}

/* --- the vertex ------------------------------------------------------------------------------ */

typedef struct near_row {
    double distance;
    size_t row;
} near_row;

CRI_COMPARE_BY_TWO(compare_rows, near_row, distance, row);

/* The b through the p nearest rows that are independent, by elimination; false when there are
 * none. */
static bool through_rows(const programme *k, const near_row *order, double *M, double *b)
{
    size_t p = k->p, w = p + 1, found = 0;
    for (size_t o = 0; o < k->n && found < p; o++) {
        double *row = M + found * w, size = 0, largest = 0;
        size_t  i = order[o].row, pivot = 0;
        memcpy(row, k->A + i * p, p * sizeof *row);
        row[p] = k->c[i];
        for (size_t j = 0; j < p; j++) size = fmax(size, fabs(row[j]));
        for (size_t m = 0; m < found; m++) { /* pivot of row m stands in b */
            const double *with = M + m * w;
            double        factor = row[(size_t)b[m]] / with[(size_t)b[m]];
            for (size_t j = 0; j < w; j++) row[j] -= factor * with[j];
            row[(size_t)b[m]] = 0;
        }
        for (size_t j = 0; j < p; j++)
            if (fabs(row[j]) > largest) largest = fabs(row[j]), pivot = j;
        if (largest > 1e-9 * size) b[found++] = (double)pivot;
    }
    if (found < p) return false;
    double *pivots = M + p * w; /* b is about to be overwritten */
    memcpy(pivots, b, p * sizeof *b);
    for (size_t m = p; m-- > 0;) {
        size_t at = (size_t)pivots[m];
        double rest = M[m * w + p];
        for (size_t l = m + 1; l < p; l++)
            rest -= M[m * w + (size_t)pivots[l]] * b[(size_t)pivots[l]];
        b[at] = rest / M[m * w + at];
    }
    return true;
}

/* Moves b to the nearest vertex if that is as good: the answer is then exact to rounding. */
static cr_status go_to_vertex(cr_ctx *cx, programme *k, double *objective)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    near_row  *order = cr_scratch_bytes(&s, k->n, sizeof *order);
    double    *M = cr_scratch_f64(&s, (k->p + 1) * (k->p + 2)), *b = cr_scratch_f64(&s, k->p);

    CR_TRY(s.status);
    for (size_t i = 0; i < k->n; i++)
        order[i] = (near_row){ fabs(k->c[i] - row_dot(k, i, k->b)), i };
    qsort(order, k->n, sizeof *order, compare_rows);
    if (through_rows(k, order, M, b)) {
        double there = loss(k, b);
        if (there <= *objective * (1 + 1e-10)) {
            memcpy(k->b, b, k->p * sizeof *b);
            *objective = there;
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the whole ------------------------------------------------------------------------------- */

static void start(programme *k)
{
    double size = 0;
    for (size_t i = 0; i < k->n; i++) size += fabs(k->c[i] - row_dot(k, i, k->b));
    double inside = fmax(0.1 * size / (double)k->n, 1e-300);
    memset(k->d, 0, k->p * sizeof *k->d);
    for (size_t i = 0; i < k->n; i++) {
        double r = k->c[i] - row_dot(k, i, k->b);
        k->a[i] = 1 - k->t, k->s[i] = k->t;
        k->z[i] = fmax(r, 0) + inside, k->v[i] = fmax(-r, 0) + inside;
        for (size_t j = 0; j < k->p; j++) k->d[j] += (1 - k->t) * k->A[i * k->p + j];
    }
}

static cr_status iterate(cr_ctx *cx, programme *k, size_t max_iter, cri_quantile_fit *out)
{
    cr_status st = CR_OK;
    double    size = 0;
    cri_clock clock = cri_clock_start(cx, NAN);
    for (size_t i = 0; i < k->n; i++) size += fabs(k->c[i]);
    start(k);
    for (out->iterations = 0;; out->iterations++) {
        bool moved;
        out->objective = loss(k, k->b);
        out->gap = out->objective - dual_value(k);
        out->converged = out->gap <= 1e-10 * out->objective + 1e-14 * size;
        if (out->converged || out->iterations == max_iter || cri_clock_over(&clock)) break;
        CR_TRY(newton_step(cx, k, &moved));
        if (!moved) break;
    }
    CR_TRY(go_to_vertex(cx, k, &out->objective));
    out->gap = fmax(out->objective - dual_value(k), 0);
    out->converged = out->gap <= 1e-8 * out->objective + 1e-13 * size;
done:
    return st;
}

cr_status cri_quantile_solve(cr_ctx *cx, const double *X, const double *y, const double *w,
                             size_t n, size_t p, double share, size_t max_iter, double *b,
                             cri_quantile_fit *out)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    cri_quantile_fit fit = { 0 };
    programme        k = { .n = 0, .p = p, .t = share, .b = b };

    k.A = cr_scratch_matrix(&s, n, p), k.B = cr_scratch_matrix(&s, n, p);
    k.G = cr_scratch_matrix(&s, p, p);
    k.db = cr_scratch_f64(&s, p), k.d = cr_scratch_f64(&s, p);
    double **vectors[] = { &k.c, &k.a, &k.s, &k.z, &k.v, &k.da, &k.ds, &k.dz, &k.dv, &k.q, &k.rhs };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = cr_scratch_f64(&s, n);
    CR_TRY(s.status);
    CR_TRY(cri_blas_reserve(cx));
    for (size_t i = 0; i < n; i++) { /* rows without weight say nothing */
        if (!(w[i] > 0)) continue;
        for (size_t j = 0; j < p; j++) k.A[k.n * p + j] = w[i] * X[i * p + j];
        k.c[k.n++] = w[i] * y[i];
    }
    cri_blas_enter();
    st = iterate(cx, &k, max_iter, &fit);
    cri_blas_leave();
    if (st == CR_OK) *out = fit;
done:
    cr_scratch_end(&s);
    return st;
}
