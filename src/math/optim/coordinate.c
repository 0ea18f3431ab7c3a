/* coordinate.c -- one variable at a time, by Brent's method; also the method brent itself.
 * A step of coordinate descent is a sweep over all variables.  Each keeps the size of its last move
 * as the first step of its next search.  Values of f alone are used; the price is slow progress
 * along valleys that are not parallel to an axis. */
#include "run.h"
#include "brent_internal.h"

#include <math.h>
#include <string.h>

typedef struct axis {
    cri_run *run;
    size_t   i;
} axis;

/* f at the trial point with x_i = t. */
static cr_status along(void *arg, double t, double *out_f)
{
    axis  *a = arg;
    double kept = a->run->trial_x[a->i];
    a->run->trial_x[a->i] = t;
    cr_status st = cri_run_evaluate(a->run, a->run->trial_x, out_f, NULL);
    a->run->trial_x[a->i] = kept;
    return st;
}

static cr_status sweep(cri_run *run, double *h)
{
    enum { VALUES = 40 };
    static const double TOLERANCE = 1e-6; /* of each search: the next sweep comes back to it */
    cr_status           st = CR_OK;
    for (size_t i = 0; i < run->n; i++) {
        axis   a = { run, i };
        double x = run->trial_x[i], least = 1e-9 * fmax(1, fabs(x)), at, f;
        if (run->report->f_evaluations >= run->options->max_evaluations) break;
        CR_TRY(cri_brent_from(run->cx, along, &a, cri_run_lower(run, i), cri_run_upper(run, i),
                              h[i], x, run->trial_f, TOLERANCE, VALUES, &at, &f));
        if (f < run->trial_f) {
            run->trial_x[i] = at;
            run->trial_f = f;
            h[i] = fmax(least, fabs(at - x));
        } else {
            h[i] = fmax(least, 0.1 * h[i]);
        }
    }
done:
    return st;
}

cr_status cri_minimize_coordinate(cri_run *run)
{
    cr_status st = CR_OK;
    double   *h = cr_scratch_f64(run->scratch, run->n);
    bool      over = false;
    CR_TRY(run->scratch->status);
    for (size_t i = 0; i < run->n; i++) h[i] = 0.1 * fmax(1, fabs(run->x[i]));
    while (!over) {
        CR_TRY(cri_run_tick(run));
        memcpy(run->trial_x, run->x, run->n * sizeof *run->x);
        run->trial_f = run->f;
        CR_TRY(sweep(run, h));
        over = cri_run_accept(run, (cr_step){ 0 });
    }
done:
    return st;
}

/* Between two bounds the whole interval is searched, from the start when that lies inside;
 * otherwise downhill from the start. */
cr_status cri_minimize_brent(cri_run *run)
{
    enum { VALUES = 1000 };
    cr_status st = CR_OK;
    axis      a = { run, 0 };
    double    low = cri_run_lower(run, 0), high = cri_run_upper(run, 0), at, f, end;
    double    tolerance = run->options->x_tolerance;
    size_t    most = run->options->max_iter < VALUES ? run->options->max_iter : VALUES;

    run->trial_x[0] = run->x[0];
    if (isfinite(high - low)) {
        CR_TRY(cri_brent_between(run->cx, along, &a, low, high, run->x[0], run->f, tolerance, most,
                                 &at, &f));
        for (int k = 0; k < 2; k++) {
            CR_TRY(along(&a, k ? high : low, &end));
            if (end < f) at = k ? high : low, f = end;
        }
    } else {
        CR_TRY(cri_brent_from(run->cx, along, &a, low, high, 0.1 * fmax(1, fabs(run->x[0])),
                              run->x[0], run->f, tolerance, most, &at, &f));
    }
    run->trial_x[0] = at;
    run->trial_f = f;
    cri_run_accept(run, (cr_step){ 0 });
    bool limited = most < VALUES && run->report->f_evaluations > most;
    run->report->stop = f == -INFINITY ? CR_END_UNBOUNDED : limited ? CR_END_MAX_ITER : CR_END_X;
done:
    return st;
}
