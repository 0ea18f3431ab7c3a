/* lbfgs_box.c -- the step of L-BFGS-B: along the projected gradient to the first minimiser of the
 * quadratic model (the generalised Cauchy point), then to the minimiser over the variables that are
 * free there, brought back into the box.
 * Byrd, Lu, Nocedal & Zhu (1995), SIAM J. Sci. Comput. 16(5), algorithm CP and sec. 5.1; the
 * projection of the subspace minimiser: Morales & Nocedal (2011), ACM TOMS 38(1). */
#include "lbfgs.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

cr_status cri_lbfgsb_begin(cri_run *run, cri_lbfgs *memory, cri_lbfgsb *out_box)
{
    cr_scratch *s = run->scratch;
    size_t      n = run->n, w = 2 * memory->m;
    *out_box = (cri_lbfgsb){
        .memory = memory,
        .t = cr_scratch_f64(s, n),
        .cauchy = cr_scratch_f64(s, n),
        .heap = cr_scratch_index(s, n),
        .free = cr_scratch_index(s, n),
        .K = cr_scratch_matrix(s, w, w),
        .N = cr_scratch_matrix(s, w, w),
        .G = cr_scratch_matrix(s, w, w),
        .pivot_K = cr_scratch_index(s, w),
        .pivot_N = cr_scratch_index(s, w),
        .p = cr_scratch_f64(s, w),
        .c = cr_scratch_f64(s, w),
        .w = cr_scratch_f64(s, w),
        .v = cr_scratch_f64(s, w),
    };
    return s->status;
}

/* --- small dense systems --------------------------------------------------------------------- */

/* A [w x w] becomes its LU factors with partial pivoting; false when it is singular. */
static bool factor(double *A, size_t w, size_t *pivot)
{
    for (size_t k = 0; k < w; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < w; i++)
            if (fabs(A[i * w + k]) > fabs(A[best * w + k])) best = i;
        pivot[k] = best;
        if (!(fabs(A[best * w + k]) > 0) || !isfinite(A[best * w + k])) return false;
        for (size_t j = 0; best != k && j < w; j++) {
            double kept = A[k * w + j];
            A[k * w + j] = A[best * w + j];
            A[best * w + j] = kept;
        }
        for (size_t i = k + 1; i < w; i++) {
            double r = A[i * w + k] /= A[k * w + k];
            for (size_t j = k + 1; r != 0 && j < w; j++) A[i * w + j] -= r * A[k * w + j];
        }
    }
    return true;
}

static void solve(const double *LU, size_t w, const size_t *pivot, double *b)
{
    for (size_t k = 0; k < w; k++) {
        double kept = b[k];
        b[k] = b[pivot[k]];
        b[pivot[k]] = kept;
    }
    for (size_t i = 1; i < w; i++)
        for (size_t j = 0; j < i; j++) b[i] -= LU[i * w + j] * b[j];
    for (size_t i = w; i-- > 0;) {
        for (size_t j = i + 1; j < w; j++) b[i] -= LU[i * w + j] * b[j];
        b[i] /= LU[i * w + i];
    }
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* --- the compact matrix ---------------------------------------------------------------------- */

/* K = M^-1 [2k x 2k]. */
static void build_middle(const cri_lbfgs *q, double *K)
{
    size_t k = q->k, w = 2 * k, m = q->m;
    memset(K, 0, w * w * sizeof *K);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            size_t a = cri_lbfgs_row(q, i), b = cri_lbfgs_row(q, j);
            if (i == j) K[i * w + i] = -q->SY[a * m + a];
            if (i > j) K[(k + i) * w + j] = K[j * w + k + i] = q->SY[a * m + b];
            K[(k + i) * w + k + j] = q->theta * q->SS[a * m + b];
        }
}

/* w [2k] = row i of W. */
static void row_of_w(const cri_lbfgs *q, size_t i, double *w)
{
    for (size_t j = 0; j < q->k; j++) {
        size_t r = cri_lbfgs_row(q, j);
        w[j] = q->Y[r * q->n + i];
        w[q->k + j] = q->theta * q->S[r * q->n + i];
    }
}

/* out [2k] = W^T d. */
static void times_w(const cri_lbfgs *q, const double *d, double *out)
{
    for (size_t j = 0; j < q->k; j++) {
        size_t r = cri_lbfgs_row(q, j);
        out[j] = cr_dot(q->Y + r * q->n, d, q->n);
        out[q->k + j] = q->theta * cr_dot(q->S + r * q->n, d, q->n);
    }
}

/* r [n] += scale W v. */
static void add_w(const cri_lbfgs *q, double scale, const double *v, double *restrict r)
{
    for (size_t j = 0; j < q->k; j++) {
        size_t        row = cri_lbfgs_row(q, j);
        const double *y = q->Y + row * q->n, *s = q->S + row * q->n;
        double        a = scale * v[j], b = scale * q->theta * v[q->k + j];
        for (size_t i = 0; i < q->n; i++) r[i] += a * y[i] + b * s[i];
    }
}

/* --- the generalised Cauchy point ------------------------------------------------------------ */

static void sink(size_t *heap, size_t count, size_t at, const double *t)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && t[heap[child + 1]] < t[heap[child]]) child++;
        if (t[heap[at]] <= t[heap[child]]) return;
        size_t kept = heap[at];
        heap[at] = heap[child];
        heap[child] = kept;
    }
}

/* t, the direction d of the projected gradient at x, and the heap of finite breakpoints. */
static size_t find_breakpoints(cri_lbfgsb *b, const cri_run *run, double *d)
{
    size_t count = 0;
    for (size_t i = 0; i < run->n; i++) {
        double g = run->g[i], bound = g > 0 ? cri_run_lower(run, i) : cri_run_upper(run, i);
        b->t[i] = g == 0 || isinf(bound) ? INFINITY : (run->x[i] - bound) / g;
        d[i] = b->t[i] > 0 ? -g : 0;
        b->cauchy[i] = run->x[i];
        if (b->t[i] > 0 && b->t[i] < INFINITY) b->heap[count++] = i;
    }
    for (size_t i = count / 2; i-- > 0;) sink(b->heap, count, i, b->t);
    return count;
}

/* M v for the 2k vector v, into out. */
static void times_middle(const cri_lbfgsb *b, const double *v, double *out)
{
    size_t w = 2 * b->memory->k;
    memcpy(out, v, w * sizeof *v);
    solve(b->K, w, b->pivot_K, out);
}

/* Algorithm CP.  c = W^T (cauchy - x) on return; d is overwritten. */
static void cauchy_point(cri_lbfgsb *b, const cri_run *run, double *d)
{
    const cri_lbfgs *q = b->memory;
    size_t           n = run->n, w = 2 * q->k, count = find_breakpoints(b, run, d);
    double           f1 = -dot(d, d, n), f2, f2_start, t_old = 0, dt_min;

    times_w(q, d, b->p);
    memset(b->c, 0, w * sizeof *b->c);
    times_middle(b, b->p, b->v);
    f2 = f2_start = -q->theta * f1 - dot(b->p, b->v, w);
    dt_min = f2 > 0 ? -f1 / f2 : INFINITY;
    while (count > 0 && f1 < 0) {
        size_t i = b->heap[0];
        double dt = b->t[i] - t_old, g = run->g[i];
        if (dt_min < dt) break;
        b->heap[0] = b->heap[--count];
        sink(b->heap, count, 0, b->t);
        b->cauchy[i] = g > 0 ? cri_run_lower(run, i) : cri_run_upper(run, i);
        for (size_t j = 0; j < w; j++) b->c[j] += dt * b->p[j];
        row_of_w(q, i, b->w);
        times_middle(b, b->w, b->v); /* v = M w_b */
        f1 += dt * f2 + g * g + q->theta * g * (b->cauchy[i] - run->x[i]) - g * dot(b->v, b->c, w);
        f2 += -q->theta * g * g - 2 * g * dot(b->v, b->p, w) - g * g * dot(b->v, b->w, w);
        f2 = fmax(f2, 0x1p-52 * f2_start);
        for (size_t j = 0; j < w; j++) b->p[j] += g * b->w[j];
        d[i] = 0;
        t_old = b->t[i];
        dt_min = f2 > 0 ? -f1 / f2 : 0;
    }
    if (!(dt_min > 0)) dt_min = 0;
    if (isinf(dt_min)) dt_min = 1; /* a model without curvature: one step of steepest descent */
    for (size_t i = 0; i < n; i++)
        if (d[i] != 0) b->cauchy[i] = cri_run_clamp(run, i, run->x[i] + (t_old + dt_min) * d[i]);
    for (size_t j = 0; j < w; j++) b->c[j] += dt_min * b->p[j];
}

/* --- the minimum over the free variables ----------------------------------------------------- */

/* W^T W [2k x 2k], lower triangle, from the products that the memory keeps; entry (i, j). */
static double gram(const cri_lbfgs *q, size_t i, size_t j)
{
    size_t k = q->k, a = cri_lbfgs_row(q, i % k) * q->m + cri_lbfgs_row(q, j % k);
    if (i < k) return q->YY[a];
    return j < k ? q->theta * q->SY[a] : q->theta * q->theta * q->SS[a];
}

/* N = M^-1 - W_F^T W_F / theta, W_F the rows of W of the free variables.  O(2 k^2) for each. */
static void build_reduced(cri_lbfgsb *b)
{
    const cri_lbfgs *q = b->memory;
    size_t           w = 2 * q->k;
    double          *N = b->N, *row = b->w, *restrict sum = b->G;
    bool             all = b->free_count == q->n;

    memset(sum, 0, w * w * sizeof *sum);
    for (size_t e = 0; !all && e < b->free_count; e++) {
        row_of_w(q, b->free[e], row);
        for (size_t i = 0; i < w; i++)
            for (size_t j = 0; j <= i; j++) sum[i * w + j] += row[i] * row[j];
    }
    build_middle(q, N);
    for (size_t i = 0; i < w; i++)
        for (size_t j = 0; j <= i; j++) {
            N[i * w + j] -= (all ? gram(q, i, j) : sum[i * w + j]) / q->theta;
            N[j * w + i] = N[i * w + j];
        }
}

/* r [n], 0 but for the free variables: from the reduced gradient at the Cauchy point to the step to
 * the minimum over the free variables, -B_F^-1 r by (5.11) of the paper; the rest of r is
 * overwritten. false when B_F is singular. */
static bool solve_reduced(cri_lbfgsb *b, double *r)
{
    const cri_lbfgs *q = b->memory;
    build_reduced(b);
    if (!factor(b->N, 2 * q->k, b->pivot_N)) return false;
    times_w(q, r, b->v);
    solve(b->N, 2 * q->k, b->pivot_N, b->v);
    add_w(q, 1 / q->theta, b->v, r);
    for (size_t i = 0; i < q->n; i++) r[i] /= -q->theta;
    return true;
}

static void list_free(cri_lbfgsb *b, const cri_run *run)
{
    b->free_count = 0;
    for (size_t i = 0; i < run->n; i++)
        if (b->cauchy[i] > cri_run_lower(run, i) && b->cauchy[i] < cri_run_upper(run, i))
            b->free[b->free_count++] = i;
}

/* The Cauchy point moves by the free entries of `step` [n]: projected, or, where that would not be
 * a descent from x, cut at the first bound. */
static void add_reduced(cri_lbfgsb *b, const cri_run *run, const double *step, double *d)
{
    double slope = 0, most = 1;
    for (size_t i = 0; i < run->n; i++) d[i] = b->cauchy[i] - run->x[i];
    for (size_t e = 0; e < b->free_count; e++) {
        size_t i = b->free[e];
        d[i] = cri_run_clamp(run, i, b->cauchy[i] + step[i]) - run->x[i];
        double distance = step[i] > 0 ? cri_run_upper(run, i) - b->cauchy[i]
                                      : cri_run_lower(run, i) - b->cauchy[i];
        if (step[i] != 0) most = fmin(most, distance / step[i]);
    }
    for (size_t i = 0; i < run->n; i++) slope += d[i] * run->g[i];
    if (slope < 0) return;
    for (size_t e = 0; e < b->free_count; e++) {
        size_t i = b->free[e];
        d[i] = cri_run_clamp(run, i, b->cauchy[i] + most * step[i]) - run->x[i];
    }
}

/* r [n] = g + theta (cauchy - x) - W M c for the free variables, else 0. */
static void reduced_gradient(cri_lbfgsb *b, const cri_run *run, double *r)
{
    const cri_lbfgs *q = b->memory;
    for (size_t i = 0; i < q->n; i++) r[i] = run->g[i] + q->theta * (b->cauchy[i] - run->x[i]);
    times_middle(b, b->c, b->v);
    add_w(q, -1, b->v, r);
    for (size_t i = 0, e = 0; i < q->n; i++) {
        bool is_free = e < b->free_count && b->free[e] == i;
        if (is_free)
            e++;
        else
            r[i] = 0;
    }
}

bool cri_lbfgsb_direction(cri_lbfgsb *b, const cri_run *run, double *d)
{
    const cri_lbfgs *q = b->memory;
    double          *r = b->t; /* the breakpoints are no longer needed then */

    build_middle(q, b->K);
    if (!factor(b->K, 2 * q->k, b->pivot_K)) return false;
    cauchy_point(b, run, d);
    if (q->k == 0) { /* B = I: the Cauchy point is the minimum */
        for (size_t i = 0; i < run->n; i++) d[i] = b->cauchy[i] - run->x[i];
        return true;
    }
    list_free(b, run);
    reduced_gradient(b, run, r);
    if (!solve_reduced(b, r)) return false;
    add_reduced(b, run, r, d);
    return true;
}
