/* rvm_joint.c -- all prior precisions at once.
 *   d log p(y) / d log a_m = (1 - a_m H_mm - a_m mu_m^2 / s^2) / 2
 * the noise being at its own maximum.  O(M^3) for a look; steps by limited-memory BFGS. */
#include "rvm_gauss.h"
#include "math/optim/minimize.h"

#include <math.h>
#include <string.h>

typedef struct joint {
    cr_ctx        *cx;
    cri_rvm_gauss *g;
} joint;

static cr_status minus_evidence(void *user, const double *x, size_t n, double *out_f,
                                double *opt_gradient)
{
    joint         *j = user;
    cri_rvm_gauss *g = j->g;
    for (size_t m = 0; m < n; m++) g->a[m] = exp(x[m]);
    cr_status st = cri_rvm_gauss_factor(j->cx, g);
    if (st != CR_OK) return st;
    double noise = cri_rvm_gauss_noise(g, g->E);
    *out_f = -cri_rvm_gauss_evidence(g);
    for (size_t m = 0; opt_gradient && m < n; m++)
        opt_gradient[m] = -0.5 * (1 - g->a[m] * g->H[m * g->capacity + m] -
                                  g->a[m] * g->mu[m] * g->mu[m] / noise);
    return CR_OK;
}

cr_status cri_rvm_gauss_move(cr_ctx *cx, cri_rvm_gauss *g, size_t most, double tol)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    double             *x = cr_scratch_f64(&s, g->M), *lower = cr_scratch_f64(&s, g->M);
    double             *upper = cr_scratch_f64(&s, g->M);
    joint               j = { cx, g };
    cr_problem          problem = { .n = g->M,
                                    .objective = minus_evidence,
                                    .lower = lower,
                                    .upper = upper,
                                    .first_step = 1,
                                    .user = &j };
    cr_minimize_options o = cr_minimize_defaults();
    cr_minimize_report  report;

    CR_TRY(s.status);
    if (g->M == 0) goto done;
    o.max_iter = most;
    o.f_tolerance = o.gradient_tolerance = tol;
    o.memory = 30;
    for (size_t m = 0; m < g->M; m++) {
        double size = g->diag[g->at[m]];
        x[m] = log(g->a[m]);
        lower[m] = fmin(log(1e-14 * size), x[m]);
        upper[m] = fmax(log(1e8 * size), x[m]);
    }
    CR_TRY(cr_minimize(cx, &problem, &o, x, &report));
    for (size_t m = 0; m < g->M; m++) g->a[m] = exp(x[m]);
    CR_TRY(cri_rvm_gauss_factor(cx, g));
done:
    cr_scratch_end(&s);
    return st;
}
