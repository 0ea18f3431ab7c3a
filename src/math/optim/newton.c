/* newton.c -- Newton's method in a trust region.
 *   minimise g.p + p.H p / 2 over |p| <= radius:  p = -(H + lambda I)^-1 g, lambda >= 0
 * When H is positive definite and its Newton step is short enough, that is the step; else the
 * eigenvectors of H give |p| for every lambda, and lambda is found by safeguarded Newton on
 * 1/radius - 1/|p| (More & Sorensen 1983; Nocedal & Wright 2006, sec. 4.3).  In the hard case, g
 * orthogonal to the lowest eigenvectors, one of these fills the step up to the radius.  The radius
 * follows Nocedal & Wright, alg. 4.1.  O(n^3) per Hessian; a rejected step costs O(n^2). */
#include "run.h"
#include "math/dense/chol.h"
#include "math/dense/decompose.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

typedef struct region {
    size_t  n;
    double  radius;
    double *H, *L, *V, *w; /* [n x n] Hessian, its factor, eigenvectors; [n] eigenvalues    */
    double *newton;        /* [n]: the full step, when H is positive definite               */
    double *u, *p;         /* [n]: V^T g; the step                                          */
    bool    definite, decomposed;
} region;

static bool all_finite(const double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(a[i])) return false;
    return true;
}

/* Factors the Hessian at the current point and takes the full step, if it can. */
static cr_status prepare(cri_run *run, region *t)
{
    cr_status st;
    size_t    n = t->n;
    t->decomposed = false;
    memcpy(t->L, t->H, n * n * sizeof *t->H);
    for (size_t i = 0; i < n; i++) t->newton[i] = -run->g[i];
    st = cr_chol(run->cx, cr_mat_of(t->L, n, n));
    t->definite = st == CR_OK;
    if (st == CR_OK)
        st = cr_chol_solve(run->cx, cr_cmat_of(t->L, n, n), cr_mat_of(t->newton, n, 1));
    if (!all_finite(t->newton, n)) t->definite = false;
    return st == CR_ENUMERIC ? CR_OK : st;
}

/* |p(lambda)|, and its derivative. */
static double length_at(const region *t, double lambda, double *out_derivative)
{
    double square = 0, sum = 0;
    for (size_t i = 0; i < t->n; i++) {
        double q = t->u[i] / (t->w[i] + lambda);
        square += q * q;
        sum += q * q / (t->w[i] + lambda);
    }
    *out_derivative = -sum / sqrt(square);
    return sqrt(square);
}

/* lambda with |p(lambda)| = radius, above least = max(0, -lowest eigenvalue). */
static double find_lambda(const region *t, double least, double g_norm)
{
    double low = least, high = least + g_norm / t->radius, lambda = high;
    for (int k = 0; k < 100; k++) {
        double slope, length = length_at(t, lambda, &slope);
        if (fabs(length - t->radius) <= 1e-10 * t->radius) break;
        if (length > t->radius)
            low = lambda;
        else
            high = lambda;
        double next = lambda - (length / t->radius) * (length - t->radius) / slope;
        if (!(next > low && next < high)) next = low + (high - low) / 2;
        if (next == lambda) break;
        lambda = next;
    }
    return lambda;
}

/* p on the boundary of the region, by the eigenvectors. */
static cr_status boundary_step(cri_run *run, region *t)
{
    cr_status st = CR_OK;
    size_t    n = t->n;
    cr_cmat   V = cr_cmat_of(t->V, n, n);
    double    slope, fill = 0;
    if (!t->decomposed) {
        CR_TRY(cr_eigen(run->cx, cr_cmat_of(t->H, n, n), t->w, cr_mat_of(t->V, n, n)));
        t->decomposed = true;
    }
    CR_TRY(cr_gemv(run->cx, 1, V, CR_TRANSPOSED, run->g, 0, t->u));
    double size = fmax(fabs(t->w[0]), fabs(t->w[n - 1])), lowest = t->w[0];
    double least = fmax(0, -lowest), tiny = 0x1p-50 * fmax(size, 0x1p-900);
    double length = length_at(t, least + tiny, &slope), lambda;
    if (length > t->radius) {
        lambda = find_lambda(t, least, cr_norm2(run->g, n));
    } else { /* the hard case, or an inner step of a matrix that rounding made indefinite */
        lambda = least + tiny;
        if (lowest <= 0) fill = sqrt(t->radius * t->radius - length * length);
    }
    for (size_t i = 0; i < n; i++) t->u[i] = -t->u[i] / (t->w[i] + lambda);
    t->u[0] += t->u[0] < 0 ? -fill : fill;
    CR_TRY(cr_gemv(run->cx, 1, V, CR_PLAIN, t->u, 0, t->p));
done:
    return st;
}

/* The model's fall of f over the step p: -(g.p + p.H p / 2). */
static double predicted_fall(const cri_run *run, const region *t)
{
    double fall = 0;
    for (size_t i = 0; i < t->n; i++)
        fall -= t->p[i] * (run->g[i] + cr_dot(t->H + i * t->n, t->p, t->n) / 2);
    return fall;
}

/* Tries steps until one lowers f, the radius vanishes, or the run must end (*out_ended). */
static cr_status take_step(cri_run *run, region *t, bool *out_found)
{
    cr_status st = CR_OK;
    double    slack = 0x1p-50 * fabs(run->f);
    *out_found = false;
    while (t->radius > 0x1p-52 * 0x1p-6 * fmax(1e-10, cr_norm2(run->x, t->n))) {
        double length = t->definite ? cr_norm2(t->newton, t->n) : INFINITY;
        CR_TRY(cr_check_interrupt(run->cx));
        if (length <= t->radius)
            memcpy(t->p, t->newton, t->n * sizeof *t->p);
        else
            CR_TRY(boundary_step(run, t));
        length = cr_norm2(t->p, t->n);
        for (size_t i = 0; i < t->n; i++) run->trial_x[i] = run->x[i] + t->p[i];
        CR_TRY(cri_run_evaluate(run, run->trial_x, &run->trial_f, run->trial_g));
        double fall = run->f - run->trial_f,
               ratio = (fall + slack) / (predicted_fall(run, t) + slack);
        if (!isfinite(run->trial_f) || !all_finite(run->trial_g, t->n)) ratio = -1;
        if (run->trial_f == -INFINITY) ratio = 1;
        if (!(ratio >= 0.25))
            t->radius = (ratio < -0.5 ? 0.1 : 0.25) * fmin(length, t->radius);
        else if (ratio > 0.75 && length >= 0.99 * t->radius)
            t->radius *= 3;
        if (ratio > 1e-4 && fall >= -slack) {
            *out_found = true;
            return CR_OK;
        }
        if (run->report->f_evaluations >= run->options->max_evaluations) return CR_OK;
    }
done:
    return st;
}

cr_status cri_minimize_newton(cri_run *run)
{
    cr_status   st = CR_OK;
    size_t      n = run->n;
    cr_scratch *s = run->scratch;
    region      t = { .n = n,
                      .H = cr_scratch_matrix(s, n, n),
                      .L = cr_scratch_matrix(s, n, n),
                      .V = cr_scratch_matrix(s, n, n),
                      .w = cr_scratch_f64(s, n),
                      .newton = cr_scratch_f64(s, n),
                      .u = cr_scratch_f64(s, n),
                      .p = cr_scratch_f64(s, n) };
    bool        over = false;

    CR_TRY(s->status);
    t.radius = fmax(1, cr_norm2(run->x, n));
    while (!over) {
        bool found;
        CR_TRY(cri_run_tick(run));
        CR_TRY(cri_run_hessian(run, run->x, run->g, t.H));
        if (!all_finite(t.H, n * n)) {
            run->report->stop = CR_END_NOT_FINITE;
            break;
        }
        CR_TRY(prepare(run, &t));
        CR_TRY(take_step(run, &t, &found));
        if (found) {
            over = cri_run_accept(run, (cr_step){ 0 });
        } else {
            if (!cri_run_at_end(run)) run->report->stop = CR_END_NO_PROGRESS;
            over = true;
        }
    }
done:
    return st;
}
