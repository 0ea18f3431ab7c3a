/* bfgs.c -- dense BFGS on the inverse H of the Hessian.
 *   H' = (I - s y^T / sy) H (I - y s^T / sy) + s s^T / sy,
 * H = I (s.y / y.y) before the first update.  Nocedal & Wright (2006), alg. 6.1, (6.17), (6.20).
 * O(n^2) per step and n^2 numbers. */
#include "run.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

static void set_scaled_identity(double *H, size_t n, double scale)
{
    memset(H, 0, n * n * sizeof *H);
    for (size_t i = 0; i < n; i++) H[i * n + i] = scale;
}

/* The update by the pair of trial and current point; `fresh`: H holds no pair yet.  Returns false,
 * and leaves H, when s . y is not clearly positive.  work [3n]. */
static bool update(const cri_run *run, double *H, bool fresh, double *work)
{
    size_t  n = run->n;
    double *s = work, *y = work + n, *Hy = work + 2 * n;
    for (size_t i = 0; i < n; i++) {
        s[i] = run->trial_x[i] - run->x[i];
        y[i] = run->trial_g[i] - run->g[i];
    }
    double sy = cr_dot(s, y, n), yy = cr_dot(y, y, n);
    if (!(sy > 0x1p-52 * yy) || !isfinite(yy / sy)) return false;
    if (fresh) set_scaled_identity(H, n, sy / yy);
    for (size_t i = 0; i < n; i++) Hy[i] = cr_dot(H + i * n, y, n);
    double scale = (1 + cr_dot(y, Hy, n) / sy) / sy;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double change = scale * s[i] * s[j] - (Hy[i] * s[j] + s[i] * Hy[j]) / sy;
            H[i * n + j] += change;
            if (i != j) H[j * n + i] = H[i * n + j];
        }
    return true;
}

cr_status cri_minimize_bfgs(cri_run *run)
{
    cr_status st = CR_OK;
    size_t    n = run->n;
    double   *H = cr_scratch_matrix(run->scratch, n, n), *d = cr_scratch_f64(run->scratch, n);
    double   *work = cr_scratch_matrix(run->scratch, 3, n);
    bool      fresh = true, over = false;

    CR_TRY(run->scratch->status);
    set_scaled_identity(H, n, 1);
    while (!over) {
        cr_step step;
        bool    found = false;
        CR_TRY(cri_run_tick(run));
        for (size_t i = 0; i < n; i++) d[i] = -cr_dot(H + i * n, run->g, n);
        double first = fresh ? 1 / cr_norm2(d, n) : 1;
        CR_TRY(cri_run_search(run, d, first, INFINITY, cri_run_curvature(run, 0.9), &step, &found));
        if (found) {
            if (update(run, H, fresh, work)) fresh = false;
            over = cri_run_accept(run, step);
        } else if (!fresh) {
            set_scaled_identity(H, n, 1);
            fresh = true;
        } else {
            run->report->stop = CR_END_NO_PROGRESS;
            over = true;
        }
    }
done:
    return st;
}
