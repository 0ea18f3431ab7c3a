/* gp_fit_learn.c -- the hyper-parameters of a fit: learned where there is anything to learn them from, and
 * how sure they are. */
#include "gp_fit.h"
#include "base/context_internal.h"

#include <math.h>

enum { MANY_STARTS = 3 };
enum { ONE_THREAD_ROWS = 256 }; /* whose covariance is too small to share among threads */

/* A constant target says nothing of the noise: as much is taken as rounding needs beside the kernel
 * as it is. */
static cr_status take_least_noise(cr_ctx *cx, cri_gp_fit *f)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *data = f->problem.data;
    cr_kernel_input    in = cri_gp_inputs(data);
    double            *diagonal = cr_scratch_f64(&s, data->n), most = 0;

    CR_TRY(s.status);
    CR_TRY(cr_kernel_diagonal(cx, f->m->kernel, &in, false, diagonal));
    for (size_t i = 0; i < data->n; i++) most = fmax(most, diagonal[i]);
    if (most > 0 && isfinite(most)) f->m->noise = CRI_GP_NOISE_FLOOR * most;
    cr_log(cx, CR_LOG_WARNING,
           "the target does not vary around its mean: the hyper-parameters cannot be learned, and "
           "the noise is assumed to be almost zero");
done:
    cr_scratch_end(&s);
    return st;
}

/* Priors, and memory for what Laplace's approximation says. */
static cr_status open_hyper(cr_scratch *s, cri_gp_fit *f)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *m = f->m;
    size_t            size = m->n_theta + m->noise_learned;
    cri_gp_space      space;
    if (f->hyper == CRI_GP_CHOICE_BEST) goto done;
    CR_TRY(cri_gp_space_new(s, m->kernel, &f->problem, f->learning.variance, m->noise,
                            m->noise_learned, &space));
    CR_TRY(cri_gp_prior_new(s, m->kernel, &space, f->problem.data->count, &f->prior));
    f->laplace.root = cr_scratch_matrix(s, size, size);
    f->learning.prior = &f->prior;
    m->hyper = CRI_GP_HYPER_MAP;
done:
    return st == CR_OK ? s->status : st;
}

/* How sure the hyper-parameters are; where --hyper auto is to average over them, it does. */
static cr_status find_spread(cr_ctx *cx, cri_gp_fit *f)
{
    cr_status st = CR_OK;
    bool      averaged = false;
    if (f->method->hyper) CR_TRY(f->method->hyper(cx, f));
    cri_progress_stage(cx, 0.95);
    if (f->hyper == CRI_GP_CHOICE_AUTO && f->method == &cri_gp_method_exact && !f->m->gradient)
        CR_TRY(cri_gp_average_if_open(cx, f, &averaged));
    if (averaged && f->m->n_draws) f->method = &cri_gp_method_mcmc;
done:
    return st;
}

/* Starts that lead to as many optima leave open whether there is a better one; an average over hyper-parameters does not
 * hang on it. */
static void report_starts(cr_ctx *cx, const cri_gp_fit *f, const cri_gp_learned *learned)
{
    if (learned->starts < MANY_STARTS || learned->agreed > 1 || learned->expired) return;
    cr_log(cx, CR_LOG_WARNING,
           "only 1 of %zu starts of the search for hyper-parameters ended at the best optimum: use "
           "--restarts %zu to look for a better one",
           learned->starts, f->restarts ? 4 * f->restarts : 10);
}

cr_status cri_gp_fit_learn(cr_ctx *cx, cr_scratch *s, cri_gp_fit *f, cr_report *report)
{
    cr_status          st = CR_OK;
    cri_gp_posterior  *m = f->m;
    const cri_gp_data *data = f->problem.data;
    cri_gp_learned     learned = { .stop = CR_STOP_CLOSED_FORM };
    size_t             n = data->n, threads = cr_ctx_threads(cx);
    double             square = 0;

    if (n <= ONE_THREAD_ROWS) cr_ctx_set_threads(cx, 1); /* work too small to share */
    CR_TRY(cri_gp_target_variance(cx, &f->problem, &f->learning.variance));
    for (size_t i = 0; i < n; i++) square += pow(data->y[i], 2) / (double)n;
    bool constant = !(f->learning.variance > 1e-24 * square), few_inputs = n <= m->q;
    if (constant) f->learning.variance = square > 0 ? square : 1;
    if (m->noise < 0) m->noise = 0.1 * f->learning.variance;
    report->stop = CR_STOP_CLOSED_FORM;
    if (!f->optimize) goto done;
    if (constant && !few_inputs && m->noise_learned) {
        CR_TRY(take_least_noise(cx, f));
        goto done;
    }
    if (constant || few_inputs) {
        cri_gp_learn_noise_alone(cx, data, constant, m->noise_learned, &m->noise);
        goto done;
    }
    CR_TRY(open_hyper(s, f));
    cri_progress_stage(cx, f->hyper == CRI_GP_CHOICE_MCMC ? 0.3 : 0.9);
    CR_TRY(f->method->learn(cx, f, &learned));
    CR_TRY(cri_gp_posterior_learned(cx, m, &learned, false, report));
    if (learned.expired) f->loo = false; /* the time is for predictions */
    if (!learned.expired || f->learning.chains) CR_TRY(find_spread(cx, f));
    if (f->expired) report->stop = CR_STOP_TIME;
    if (m->n_draws == 0) report_starts(cx, f, &learned);
done:
    cr_ctx_set_threads(cx, threads);
    return st;
}
