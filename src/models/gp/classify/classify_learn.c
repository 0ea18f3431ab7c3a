/* classify_learn.c -- hyper-parameters and posterior of a Gaussian process classifier. */
#include "classify_average.h"
#include "models/gp/search/gp_optimiser.h"
#include "models/gp/posterior/gp_method.h"
#include "base/clock.h"
#include "base/context_internal.h"
#include "math/dense/chol.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

enum {
    SEARCH_ROWS = 200,
    SPARSE_ROWS = 300,
    MANY_ROWS = 300,
    SDS_ROWS = 700,
    SDS_PARAMETERS = 30,
    ONE_THREAD_ROWS = 600
};
/* Of the time left, what the ascent of a bound may take: an evaluation more comes after it. */
static const double      SHARE_OF_TIME = 0.6;
typedef cri_classify_fit fit;

/* The sds of the hyper-parameters, where they are cheap. */
static cr_status find_sds(cr_ctx *cx, const fit *f, const cri_gp_learning *learning)
{
    const cri_gp_posterior *g = &f->m->gp;
    if (learning->problem->data->n * f->m->F > SDS_ROWS || g->n_theta > SDS_PARAMETERS)
        return CR_OK;
    return cri_gp_laplace_at(cx, learning, g->kernel, 0, &(cri_gp_laplace){ .sd = g->sd });
}

/* Learns the hyper-parameters. */
static cr_status learn(cr_ctx *cx, fit *f, cri_gp_learning *learning, cr_report *report)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *g = &f->m->gp;
    cri_gp_learned    learned = { .stop = CR_STOP_CLOSED_FORM };
    double            none = 0;
    CR_TRY(cri_gp_learn(cx, learning, g->kernel, &none, &learned));
    CR_TRY(cri_gp_posterior_learned(cx, g, &learned, true, report));
    f->expired = learned.expired;
    if (!f->m->sparse) CR_TRY(find_sds(cx, f, learning));
done:
    return st;
}

/* From the hyper-parameters that Laplace's evidence of all or some rows taught to the optimum of another one. */
static cr_status learn_near(cr_ctx *cx, fit *f, const cri_gp_learning *by, cr_report *report)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *g = &f->m->gp;
    cri_gp_learning   learning = *by;
    cri_gp_learned    learned = { .stop = CR_STOP_CLOSED_FORM };
    double            none = 0;
    learning.near = true;
    CR_TRY(cri_gp_learn(cx, &learning, g->kernel, &none, &learned));
    learned.evaluations += (size_t)g->evaluations;
    learned.starts = (size_t)g->starts, learned.agreed = (size_t)g->agreed;
    CR_TRY(cri_gp_posterior_learned(cx, g, &learned, true, report));
    f->expired = learned.expired;
    if (!f->m->sparse && !f->expired) CR_TRY(find_sds(cx, f, &learning));
done:
    return st;
}

/* --- the bound of many rows ------------------------------------------------------------------ */

typedef struct ascent {
    cr_ctx               *cx;
    cri_svgp             *workspace;
    const cri_gp_problem *problem;
    const cri_gp_prior   *opt_prior;
    cr_kernel            *k;
    double               *gradient; /* [theta + 1] */
} ascent;

static cr_status minus_bound(void *user, const double *x, size_t n, double *out_f,
                             double *opt_gradient)
{
    ascent   *g = user;
    cr_status st = CR_OK;
    double    value;
    CR_TRY(cr_kernel_set_theta(g->cx, g->k, x));
    CR_TRY(cri_svgp_objective(g->cx, g->workspace, g->problem, g->k, 0, &value,
                              opt_gradient ? g->gradient : NULL));
    value += cri_gp_log_prior(g->opt_prior, g->k, x, opt_gradient ? g->gradient : NULL);
    if (!isfinite(value)) CR_TRY(CR_ENUMERIC);
    *out_f = -value;
    for (size_t i = 0; opt_gradient && i < n; i++) opt_gradient[i] = -g->gradient[i];
done:
    return st;
}

/* The kernel goes uphill by the bound of all rows from what some rows taught. */
static cr_status ascend_bound(cr_ctx *cx, fit *f, const cri_gp_learning *learning,
                              const cri_gp_problem *problem, cr_report *report)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    cri_gp_posterior   *g = &f->m->gp;
    size_t              p = cr_kernel_theta_size(g->kernel);
    double             *x = cr_scratch_f64(&s, p + 1);
    ascent              user = { .cx = cx,
                                 .workspace = &f->sparse,
                                 .problem = problem,
                                 .opt_prior = learning->prior,
                                 .k = g->kernel,
                                 .gradient = cr_scratch_f64(&s, p + 1) };
    cri_gp_space        u;
    cr_minimize_options o = cr_minimize_defaults();
    cr_minimize_report  done_report;

    CR_TRY(s.status);
    if (p == 0) goto done;
    CR_TRY(cri_gp_space_new(&s, g->kernel, learning->problem, learning->variance, 0, false, &u));
    cr_kernel_theta(g->kernel, x);
    cr_problem minimum = {
        .n = p, .objective = minus_bound, .lower = u.lower, .upper = u.upper, .user = &user
    };
    o.max_iter = f->o->max_iter;
    o.gradient_tolerance = 1e-4;
    o.f_tolerance = 5e-6;
    if (isfinite(cri_time_left(cx))) o.time_limit = SHARE_OF_TIME * cri_time_left(cx);
    CR_TRY(cr_minimize(cx, &minimum, &o, x, &done_report));
    f->expired = done_report.stop == CR_END_TIME;
    if (f->expired)
        cri_gp_report_expired(cx, done_report.f_evaluations, f->data.at->n, f->data.at->n);
    CR_TRY(cr_kernel_set_theta(cx, g->kernel, x));
    g->evaluations += done_report.f_evaluations;
    report->iterations = done_report.iterations;
    report->stop = cri_gp_stop(&done_report);
done:
    cr_scratch_end(&s);
    return st;
}

/* Some of the rows by Laplace's approximation first, then all by the bound. */
static cr_status learn_sparse(cr_ctx *cx, fit *f, const cri_gp_learning *learning,
                              cr_report *report)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cri_gp_data     part = { 0 };
    cri_gp_problem  some = { &part, 0, learning->problem->H };
    cri_gp_learning first = *learning;
    cri_laplace     workspace;

    size_t n = f->data.at->n, rows = learning->search_rows < n ? learning->search_rows : n;
    CR_TRY(cri_gp_data_draw(cx, f->data.at, rows, f->seed, &part));
    CR_TRY(cri_laplace_new(&s, &f->data, part.n, NULL, NULL, &workspace));
    first.problem = &some;
    first.objective = first.search_objective = cri_laplace_objective;
    first.workspace = first.search_workspace = &workspace;
    CR_TRY(learn(cx, f, &first, report));
    if (f->expired) goto done;
    CR_TRY(f->closely ? learn_near(cx, f, learning, report)
                      : ascend_bound(cx, f, &first, learning->problem, report));
done:
    cri_gp_data_free(cx, &part);
    cr_scratch_end(&s);
    return st;
}

/* --- the posterior --------------------------------------------------------------------------- */

static cr_status keep_laplace(cr_ctx *cx, fit *f)
{
    cri_classify *m = f->m;
    cri_laplace  *workspace = &f->laplace;
    size_t        size = m->F * m->n * sizeof(double);
    memcpy(m->latent, workspace->a, size);
    memcpy(m->root, workspace->root, size);
    m->gp.evidence = workspace->log_evidence;
    m->log_likelihood = workspace->log_likelihood;
    m->steps = (double)workspace->iterations;
    return m->F > 1 ? cri_laplace_factors(cx, workspace, m->factor) : CR_OK;
}

static cr_status keep_sparse(cr_ctx *cx, fit *f)
{
    cr_status     st = CR_OK;
    cri_classify *m = f->m;
    cri_svgp     *workspace = &f->sparse;
    memcpy(m->latent, workspace->mu, m->F * m->n * sizeof(double));
    for (size_t c = 0; c < m->F; c++)
        CR_TRY(cr_chol_backward(cx, cr_cmat_of(workspace->L, m->n, m->n),
                                cr_mat_of(m->latent + c * m->n, m->n, 1)));
    m->gp.evidence = workspace->bound;
    m->gp.jitter = workspace->jitter;
    m->log_likelihood = workspace->expected;
    m->steps = (double)workspace->steps;
    if (m->gp.jitter > 0)
        cr_log(cx, CR_LOG_INFO, "gp-classify: %g was added to the variance at the inducing inputs",
               m->gp.jitter);
done:
    return st;
}

/* --- expectation propagation ----------------------------------------------------------------- */

/* How far the probabilities of the normal of EP at the inputs are from those of Laplace's: the root of
 * the mean square.  The variances of the latter are of the same K. */
static double misfit(const cri_ep *ep, const double *mean, const double *variance, size_t n)
{
    cri_classify_link link = ep->laplace->all->link;
    double            sum = 0;
    for (size_t i = 0; i < n; i++) {
        double d = cri_classify_probability(link, ep->mean[i], ep->variance[i]) -
                   cri_classify_probability(link, mean[i], variance[i]);
        sum += d * d;
    }
    return sqrt(sum / (double)n);
}

/* EP, roughly, from Laplace's normal at the same hyper-parameters; *out_misfit between the two. */
static cr_status check_laplace(cr_ctx *cx, const fit *f, const cri_gp_problem *problem, cri_ep *ep,
                               double *out_misfit)
{
    const double ROUGHLY = 0.05; /* sds: some three sweeps */
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    size_t       n = problem->data->n;
    double      *variance = cr_scratch_f64(&s, n), *mean = cr_scratch_f64(&s, n), value;
    CR_TRY(s.status);
    ep->tolerance = ROUGHLY;
    cri_ep_start(ep);
    CR_TRY(cri_ep_moments(cx, n, ep));
    memcpy(mean, ep->mean, n * sizeof *mean);
    memcpy(variance, ep->variance, n * sizeof *variance);
    CR_TRY(cri_ep_objective(cx, ep, problem, f->m->gp.kernel, 0, &value, NULL));
    *out_misfit = misfit(ep, mean, variance, n);
done:
    ep->tolerance = CRI_EP_CLOSE;
    cr_scratch_end(&s);
    return st;
}

static void keep_ep(fit *f, const cri_ep *ep)
{
    cri_classify *m = f->m;
    memcpy(m->latent, ep->b, m->n * sizeof(double));
    memcpy(m->root, ep->root, m->n * sizeof(double));
    for (size_t i = 0; i < m->n; i++) /* above the diagonal a factor leaves what was there */
        memcpy(m->gp.L + i * m->n, ep->L + i * m->n, (i + 1) * sizeof(double));
    m->gp.evidence = ep->log_evidence;
    m->log_likelihood = ep->log_likelihood;
    m->steps = (double)ep->sweeps;
    m->infer = CRI_CLASSIFY_EP;
}

/* true where no time or memory is left for EP, which is said. */
static bool is_out_of_reach(cr_ctx *cx, const fit *f, double seconds)
{
    const double EVALUATIONS = 20; /* of Laplace's that EP takes as long as, at the most */
    double       n = (double)f->data.at->n, bytes = 1.1 * 16 * n * n;
    bool         late = f->expired || cri_time_left(cx) < EVALUATIONS * seconds;
    if (!late && bytes <= (double)cri_memory_left(cx)) return false;
    cr_log(cx, CR_LOG_WARNING,
           "gp-classify: no %s is left for expectation propagation: Laplace's approximation is "
           "used and was not checked",
           late ? "time" : "memory");
    return true;
}

/* The optimum of EP's evidence, from that of Laplace's, and EP there. */
static cr_status learn_by_ep(cr_ctx *cx, fit *f, const cri_gp_learning *by, cri_ep *ep,
                             cr_report *report)
{
    cr_status       st = CR_OK;
    cri_gp_learning learning = *by;
    double          value;
    learning.objective = cri_ep_objective, learning.workspace = ep;
    if (f->o->optimize == CRI_OPTIMIZE_EVIDENCE) CR_TRY(learn_near(cx, f, &learning, report));
    CR_TRY(cri_kernel_settle(cx, f->m->gp.kernel));
    CR_TRY(cri_ep_objective(cx, ep, by->problem, f->m->gp.kernel, 0, &value, NULL));
done:
    return st;
}

/* Where the probabilities of Laplace's normal are not those of EP, or EP is asked for, it takes the place of
 * Laplace's; else that stays as it is.  seconds: of one evaluation of Laplace's evidence. */
static cr_status improve(cr_ctx *cx, fit *f, const cri_gp_learning *by, double seconds,
                         cr_report *report)
{
    const double TOO_FAR = 0.02; /* of probabilities */
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    cr_kernel   *k = f->m->gp.kernel;
    double      *theta = cr_scratch_f64(&s, cr_kernel_theta_size(k));
    cri_ep       ep;
    double       apart = 0, value;
    CR_TRY(s.status);
    if (is_out_of_reach(cx, f, seconds)) goto done;
    CR_TRY(cri_ep_new(&s, &f->laplace, f->data.at->n, &ep));
    cr_kernel_theta(k, theta);
    st = check_laplace(cx, f, by->problem, &ep, &apart);
    if (st == CR_OK && f->infer == CRI_CLASSIFY_AUTO && apart <= TOO_FAR) goto done;
    if (st == CR_OK) st = cri_ep_objective(cx, &ep, by->problem, k, 0, &value, NULL);
    size_t sweeps = ep.sweeps;
    if (st == CR_OK) st = learn_by_ep(cx, f, by, &ep, report);
    if (st == CR_ENUMERIC) {
        CR_TRY(cr_kernel_set_theta(cx, k, theta)); /* those that Laplace's normal is of */
        CR_TRY(cri_kernel_settle(cx, k));
        st = CR_OK;
        cr_log(cx, CR_LOG_WARNING,
               "gp-classify: expectation propagation did not converge: Laplace's approximation is "
               "used, whose probabilities may be too cautious");
        goto done;
    }
    CR_TRY(st);
    if (f->o->optimize == CRI_OPTIMIZE_NONE) report->iterations = sweeps;
    keep_ep(f, &ep);
    report->evidence = CR_EVIDENCE_ESTIMATE;
    if (f->infer == CRI_CLASSIFY_AUTO)
        cr_log(cx, CR_LOG_INFO,
               "Laplace's approximation of the posterior is poor here, with probabilities off by "
               "%.2g: expectation propagation is used instead",
               apart);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- fit ------------------------------------------------------------------------------------- */

/* The weakly informative priors, unless they are not wanted. */
static cr_status open_hyper(cr_scratch *s, fit *f, cri_gp_learning *learning, cri_gp_prior *out)
{
    const double      KNOWN = 1e9; /* rows: the variance is one of the link, not of the data */
    cr_status         st = CR_OK;
    cri_gp_posterior *g = &f->m->gp;
    cri_gp_space      space;
    if (f->o->hyper == CRI_HYPER_BEST || f->o->optimize == CRI_OPTIMIZE_NONE) goto done;
    CR_TRY(cri_gp_space_new(s, g->kernel, learning->problem, learning->variance, 0, false, &space));
    CR_TRY(cri_gp_prior_new(s, g->kernel, &space, KNOWN, out));
    learning->prior = out;
    g->hyper = CRI_GP_HYPER_MAP;
done:
    return st;
}

cr_status cri_classify_solve(cr_ctx *cx, fit *f, cr_report *report)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cri_gp_prior    prior;
    cri_classify   *m = f->m;
    size_t          threads = cr_ctx_threads(cx), n = f->data.at->n;
    size_t          few = m->F > 1    ? (size_t)(MANY_ROWS / cbrt((double)m->F))
                          : m->sparse ? SPARSE_ROWS
                                      : SEARCH_ROWS;
    double          nothing = 0, value;
    cri_gp_problem  problem = { f->data.at, 0, &nothing };
    cri_gp_learning learning = { .problem = &problem,
                                 .objective =
                                     m->sparse ? cri_svgp_objective : cri_laplace_objective,
                                 .workspace = m->sparse ? (void *)&f->sparse : &f->laplace,
                                 .variance = m->link == CRI_CLASSIFY_PROBIT ? 2 : 6,
                                 .restarts = f->o->restarts,
                                 .max_iter = f->o->max_iter,
                                 .seed = f->seed,
                                 .search_rows = few,
                                 .rough = true };

    if (n <= ONE_THREAD_ROWS) cr_ctx_set_threads(cx, 1); /* work too small to share */
    report->stop = CR_STOP_CLOSED_FORM;
    CR_TRY(open_hyper(&s, f, &learning, &prior));
    if (f->o->optimize == CRI_OPTIMIZE_EVIDENCE)
        CR_TRY(m->sparse && (n > few || f->closely) ? learn_sparse(cx, f, &learning, report)
                                                    : learn(cx, f, &learning, report));
    CR_TRY(cri_kernel_settle(cx, m->gp.kernel));
    double begun = cri_seconds();
    CR_TRY(learning.objective(cx, learning.workspace, &problem, m->gp.kernel, 0, &value, NULL));
    CR_TRY(m->sparse ? keep_sparse(cx, f) : keep_laplace(cx, f));
    if (report->stop == CR_STOP_CLOSED_FORM) /* nothing was learned: the steps to the posterior */
        report->stop = CR_STOP_TOLERANCE, report->iterations = (size_t)m->steps;
    if (!(m->sparse ? f->sparse.converged : f->laplace.converged)) report->stop = CR_STOP_LIMIT;
    report->evidence = m->sparse ? CR_EVIDENCE_BOUND : CR_EVIDENCE_LAPLACE;
    if (f->infer == CRI_CLASSIFY_EP || f->infer == CRI_CLASSIFY_AUTO)
        CR_TRY(improve(cx, f, &learning, cri_seconds() - begun, report));
    if (f->o->hyper == CRI_HYPER_AUTO && learning.prior && (m->F > 1 || !m->sparse) && !f->expired)
        CR_TRY(cri_classify_spread(cx, f, &learning));
    report->log_evidence = m->gp.evidence;
    report->log_likelihood = m->log_likelihood;
done:
    cr_ctx_set_threads(cx, threads);
    cr_scratch_end(&s);
    return st;
}
