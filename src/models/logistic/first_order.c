/* first_order.c -- linear classifiers by gradients: L-BFGS and steepest descent through
 * cr_minimize. */
#include "solve.h"
#include "math/optim/minimize.h"

#include <math.h>

typedef struct objective {
    cr_ctx               *cx;
    const cri_likelihood *f;
} objective;

static cr_status value_of(void *user, const double *theta, size_t n, double *out_f,
                          double *opt_gradient)
{
    const objective     *w = user;
    cri_likelihood_value v = { .gradient = opt_gradient };
    (void)n;
    cr_status st = cri_likelihood_at(w->cx, w->f, theta, &v);
    if (st != CR_OK) return st;
    *out_f = v.f / w->f->x->weight;
    for (size_t j = 0; opt_gradient && j < n; j++) opt_gradient[j] /= w->f->x->weight;
    return CR_OK;
}

cr_status cri_solve_first_order(cr_ctx *cx, const cri_likelihood *f, const cri_solve_options *o,
                                cri_solution *s)
{
    cr_status           st = CR_OK;
    bool                lbfgs = s->solver == CRI_SOLVER_LBFGS;
    objective           w = { cx, f };
    cr_problem          problem = { .n = s->D, .objective = value_of, .user = &w };
    cr_minimize_options m = cr_minimize_defaults();
    cr_minimize_report  report;

    m.method = lbfgs ? CR_METHOD_LBFGS : CR_METHOD_GRADIENT;
    m.gradient_tolerance = sqrt(o->tol);
    m.f_tolerance = 1e-16;
    m.max_iter = o->max_iter != CR_COUNT_UNSET ? o->max_iter : lbfgs ? 2000 : 20000;
    CR_TRY(cr_minimize(cx, &problem, &m, s->theta, &report));
    s->iterations = report.iterations;
    s->stop = cr_end_converged(report.stop) ? CR_STOP_TOLERANCE : CR_STOP_LIMIT;
    if (report.stop == CR_END_NO_PROGRESS && report.gradient_norm < 1e-6)
        s->stop = CR_STOP_TOLERANCE;
done:
    return st;
}
