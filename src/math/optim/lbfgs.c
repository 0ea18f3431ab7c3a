/* lbfgs.c -- limited-memory BFGS, free or in a box. */
#include "lbfgs.h"
#include "math/dense/decompose.h"
#include "math/dense/dense.h"

#include <math.h>

/* --- the memory ------------------------------------------------------------------------------ */

cr_status cri_lbfgs_begin(cri_run *run, size_t m, bool products, cri_lbfgs *out_memory)
{
    cr_scratch *s = run->scratch;
    cri_lbfgs   memory = { .n = run->n,
                           .m = m,
                           .theta = 1,
                           .products = products,
                           .S = cr_scratch_matrix(s, m, run->n),
                           .Y = cr_scratch_matrix(s, m, run->n),
                           .SS = cr_scratch_matrix(s, m, m),
                           .SY = cr_scratch_matrix(s, m, m),
                           .YY = cr_scratch_matrix(s, m, m),
                           .alpha = cr_scratch_f64(s, m) };
    *out_memory = memory;
    return s->status;
}

static void lbfgs_forget(cri_lbfgs *memory)
{
    memory->k = memory->first = 0;
    memory->theta = 1;
}

/* The pair in row `row` of the ring, the newest, is counted; its products with the others. */
static void count_pair(cri_lbfgs *q, size_t row, double sy, double yy)
{
    size_t n = q->n, m = q->m;
    if (q->k == m)
        q->first = (q->first + 1) % m;
    else
        q->k++;
    q->theta = yy / sy;
    q->SY[row * m + row] = sy;
    for (size_t i = 0; q->products && i < q->k; i++) {
        size_t        r = cri_lbfgs_row(q, i);
        const double *s = q->S + row * n, *y = q->Y + row * n, *sr = q->S + r * n,
                     *yr = q->Y + r * n;
        q->SS[row * m + r] = q->SS[r * m + row] = cr_dot(s, sr, n);
        q->YY[row * m + r] = q->YY[r * m + row] = cr_dot(y, yr, n);
        q->SY[row * m + r] = cr_dot(s, yr, n);
        q->SY[r * m + row] = cr_dot(sr, y, n);
    }
}

void cri_lbfgs_remember(cri_lbfgs *q, const cri_run *run)
{
    size_t  n = q->n, m = q->m, row = (q->first + q->k) % m;
    double *s = q->S + row * n, *y = q->Y + row * n, sy = 0, yy = 0;
    for (size_t i = 0; i < n; i++) {
        double si = run->trial_x[i] - run->x[i], yi = run->trial_g[i] - run->g[i];
        sy += si * yi;
        yy += yi * yi;
    }
    if (!(sy > 0x1p-52 * yy) || !isfinite(yy / sy)) return;
    for (size_t i = 0; i < n; i++) {
        s[i] = run->trial_x[i] - run->x[i];
        y[i] = run->trial_g[i] - run->g[i];
    }
    count_pair(q, row, sy, yy);
}

/* B as if pairs along the eigenvectors of A [n x n] had been met: s = v, y = w v, for those of w >
 * 0.  B = A then if there are n of them.  The room must do for n pairs. */
static cr_status lbfgs_set(cri_lbfgs *q, cr_ctx *cx, const double *A)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    size_t     n = q->n;
    double    *w = cr_scratch_f64(&scratch, n), *V = cr_scratch_matrix(&scratch, n, n);

    CR_TRY(scratch.status);
    CR_TRY(cr_eigen(cx, cr_cmat_of(A, n, n), w, cr_mat_of(V, n, n)));
    lbfgs_forget(q);
    for (size_t j = 0; j < n; j++) {
        size_t row = (q->first + q->k) % q->m;
        if (!(w[j] > 0x1p-52 * w[n - 1])) continue;
        for (size_t i = 0; i < n; i++) {
            q->S[row * n + i] = V[i * n + j];
            q->Y[row * n + i] = w[j] * V[i * n + j];
        }
        count_pair(q, row, w[j], w[j] * w[j]);
    }
done:
    cr_scratch_end(&scratch);
    return st;
}

static void add_scaled(double a, const double *x, size_t n, double *y)
{
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

void cri_lbfgs_direction(cri_lbfgs *q, const double *g, double *d)
{
    size_t n = q->n, m = q->m;
    for (size_t i = 0; i < n; i++) d[i] = -g[i];
    for (size_t i = q->k; i-- > 0;) {
        size_t r = cri_lbfgs_row(q, i);
        q->alpha[i] = cr_dot(q->S + r * n, d, n) / q->SY[r * m + r];
        add_scaled(-q->alpha[i], q->Y + r * n, n, d);
    }
    for (size_t i = 0; i < n; i++) d[i] /= q->theta;
    for (size_t i = 0; i < q->k; i++) {
        size_t r = cri_lbfgs_row(q, i);
        double beta = cr_dot(q->Y + r * n, d, n) / q->SY[r * m + r];
        add_scaled(q->alpha[i] - beta, q->S + r * n, n, d);
    }
}

/* --- the method ------------------------------------------------------------------------------ */

/* The longest step along d that stays in the box. */
static double longest_step(const cri_run *run, const double *d)
{
    double most = INFINITY;
    for (size_t i = 0; i < run->n; i++) {
        double distance = d[i] > 0   ? cri_run_upper(run, i) - run->x[i]
                          : d[i] < 0 ? cri_run_lower(run, i) - run->x[i]
                                     : INFINITY;
        if (d[i] != 0 && isfinite(distance)) most = fmin(most, fmax(0, distance / d[i]));
    }
    return most;
}

/* true when every variable has both bounds: their distance then is a scale for the first step. */
static bool all_boxed(const cri_run *run)
{
    for (size_t i = 0; i < run->n; i++)
        if (!isfinite(cri_run_upper(run, i) - cri_run_lower(run, i))) return false;
    return true;
}

/* d and the steps to try; false when there is no direction of descent. */
static bool choose_direction(cri_run *run, cri_lbfgs *memory, cri_lbfgsb *opt_box, double *d,
                             double *out_first, double *out_most)
{
    if (!opt_box)
        cri_lbfgs_direction(memory, run->g, d);
    else if (!cri_lbfgsb_direction(opt_box, run, d))
        return false;
    double slope = cr_dot(run->g, d, run->n);
    if (!(slope < 0) || slope == -INFINITY) return false;
    *out_first = 1;
    *out_most = INFINITY;
    if (opt_box) *out_most = fmax(1, longest_step(run, d));
    double norm = memory->k == 0 ? cr_norm2(d, run->n) : 0, reach = run->problem->first_step;
    if (memory->k == 0 && reach > 0) {
        *out_first = fmin(fmin(1, reach / norm), *out_most);
    } else if (memory->k == 0 && !(opt_box && all_boxed(run))) {
        if (opt_box) *out_most = 1;
        *out_first = fmin(1 / norm, *out_most);
    }
    return true;
}

cr_status cri_minimize_lbfgs(cri_run *run)
{
    cr_status  st = CR_OK;
    double    *d = cr_scratch_f64(run->scratch, run->n), first, most;
    bool       boxed = false, over = false;
    size_t     pairs = run->options->memory + (run->problem->curvature ? run->n : 0);
    cri_lbfgs  memory;
    cri_lbfgsb box;

    for (size_t i = 0; i < run->n; i++)
        boxed |= isfinite(cri_run_lower(run, i)) || isfinite(cri_run_upper(run, i));
    CR_TRY(cri_lbfgs_begin(run, pairs, boxed, &memory));
    if (run->problem->curvature) CR_TRY(lbfgs_set(&memory, run->cx, run->problem->curvature));
    if (boxed) CR_TRY(cri_lbfgsb_begin(run, &memory, &box));
    while (!over) {
        cr_step step;
        bool    found = false;
        CR_TRY(cri_run_tick(run));
        if (choose_direction(run, &memory, boxed ? &box : NULL, d, &first, &most))
            CR_TRY(cri_run_search(run, d, first, most, cri_run_curvature(run, 0.9), &step, &found));
        if (found) {
            cri_lbfgs_remember(&memory, run);
            over = cri_run_accept(run, step);
        } else if (memory.k > 0) {
            lbfgs_forget(&memory);
        } else {
            run->report->stop = CR_END_NO_PROGRESS;
            over = true;
        }
    }
done:
    return st;
}
