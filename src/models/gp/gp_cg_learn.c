/* gp_cg_learn.c -- hyper-parameters by the evidence and gradient that conjugate gradients estimate.
 */
#include "gp_cg.h"
#include "../../base/scratch.h"

#include <math.h>
#include <string.h>

static const double LEARNING_TOLERANCE = 1e-4; /* of the residuals, while the search goes on */

enum { LEARNING_RANK = 200 };

typedef struct search {
    cr_ctx            *cx;
    const cri_gp_task *task;
    cri_gp_cg         *cg;
    cr_kernel         *k;
    double             noise, *gradient;
    size_t             p, evaluations;
} search;

static cr_status objective(void *user, const double *x, size_t n, double *out_f,
                           double *opt_gradient)
{
    search   *g = user;
    cr_status st = cr_kernel_set_theta(g->cx, g->k, x);
    if (g->task->learn_noise) g->noise = exp(x[g->p]);
    if (st == CR_OK)
        st = cri_gp_cg_evidence(g->cx, g->task->problem, g->k, g->noise, g->cg,
                                opt_gradient ? g->gradient : NULL);
    if (st != CR_OK) return st;
    *out_f = -g->cg->value - cr_kernel_log_prior(g->k, false, opt_gradient ? g->gradient : NULL);
    for (size_t j = 0; opt_gradient && j < n; j++) opt_gradient[j] = -g->gradient[j];
    g->evaluations++;
    cr_progress(g->cx, "gp: learning", (double)g->evaluations, (double)g->task->max_iter);
    return CR_OK;
}

cr_status cri_gp_cg_learn(cr_ctx *cx, const cri_gp_task *task, cri_gp_cg *cg, cr_kernel *k,
                          double *noise, cri_gp_learned *learned)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    size_t              p = cr_kernel_theta_size(k), size = p + task->learn_noise;
    cri_gp_cg_settings  keep = cg->settings;
    cri_gp_search       u;
    search              g = { .cx = cx,
                              .task = task,
                              .cg = cg,
                              .k = k,
                              .noise = *noise,
                              .p = p,
                              .gradient = cr_scratch_f64(&s, p + 1) };
    double             *x = cr_scratch_f64(&s, p + 1);
    cr_minimize_options o = cr_minimize_defaults();
    cr_minimize_report  report;
    cr_problem          problem = { .n = size, .objective = objective, .user = &g };

    CR_TRY(s.status);
    if (size == 0) goto done;
    CR_TRY(cri_gp_search_new(&s, k, task->problem, task->variance, *noise, task->learn_noise, &u));
    problem.lower = u.lower;
    problem.upper = u.upper;
    cr_kernel_theta(k, x);
    if (task->learn_noise) x[p] = log(*noise);
    for (size_t j = 0; j < size; j++) x[j] = fmin(fmax(x[j], u.lower[j]), u.upper[j]);
    o.max_iter = task->max_iter;
    o.gradient_tolerance = 1e-3;
    o.f_tolerance = 1e-6; /* the probes tell no more */
    cg->settings.tolerance = LEARNING_TOLERANCE;
    cg->settings.rank = LEARNING_RANK; /* each gradient takes n^2 times that */
    CR_TRY(cr_minimize(cx, &problem, &o, x, &report));
    CR_TRY(cr_kernel_set_theta(cx, k, x));
    if (task->learn_noise) *noise = exp(x[p]);
    learned->value = -report.f;
    learned->iterations = report.iterations;
    learned->evaluations += g.evaluations;
    learned->converged = report.stop != CR_END_MAX_ITER && report.stop != CR_END_TIME;
done:
    cg->settings = keep;
    cr_scratch_end(&s);
    return st;
}
