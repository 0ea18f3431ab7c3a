/* check_gradient.c -- a gradient against extrapolated differences. */
#include "check_gradient.h"
#include "differences.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

static cr_status value(void *arg, const double *x, double *out_f)
{
    const cr_problem *p = arg;
    *out_f = NAN;
    cr_status st = p->objective(p->user, x, p->n, out_f, NULL);
    return st == CR_ENUMERIC ? CR_OK : st;
}

static double gradient_error(double given, double measured, double f)
{
    double scale = fmax(fmax(fabs(given), fabs(measured)), 1e-6 * fmax(1, fabs(f)));
    double error = fabs(given - measured) / scale;
    return isnan(error) ? INFINITY : error; /* no difference could be measured */
}

cr_status cr_check_gradient(cr_ctx *cx, const cr_problem *p, const double *x,
                            cr_gradient_check *out_check)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    size_t            n = p->n;
    double           *at = cr_scratch_f64(&s, n), *g = cr_scratch_f64(&s, n), f = NAN;
    cr_gradient_check check = { 0, 0, 0, 0 };
    cr_problem        copy = *p;

    CR_TRY(s.status);
    if (n > 0) memcpy(at, x, n * sizeof *x);
    CR_TRY(p->objective(p->user, at, n, &f, g));
    if (!isfinite(f)) CR_TRY(cr_fail(cx, CR_ENUMERIC, "check gradient: f is %g at x", f));
    for (size_t i = 0; i < n; i++) {
        double measured;
        if (!isfinite(g[i]))
            CR_TRY(cr_fail(cx, CR_ENUMERIC, "check gradient: entry %zu is %g at x", i, g[i]));
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_ridders(value, &copy, at, i, &measured));
        double error = gradient_error(g[i], measured, f);
        if (i == 0 || error > check.error) check = (cr_gradient_check){ i, g[i], measured, error };
    }
    *out_check = check;
done:
    if (st != CR_OK && cr_error_status(cx) != st)
        cr_fail(cx, st, "check gradient: the objective failed");
    cr_scratch_end(&s);
    return st;
}
