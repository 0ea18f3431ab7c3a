/* gp_job_learn.c -- the hyper-parameters of a fit: the right search for each approximation. */
#include "models/gp/search/gp_diagonal.h"
#include "gp_job.h"
#include "models/gp/search/gp_lowrank_evidence.h"
#include "models/gp/posterior/gp_mcmc.h"
#include "models/gp/sparse/gp_svgp.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum {
    ADAPT_ROWS = 8192,
    BATCH_STEPS = 50,
    LEAST_BATCH = 128,
    MOST_BATCH = 1024,
    LEAST_STEPS = 400
};
enum { CG_ROWS = 2000 }; /* whose factor costs little against conjugate gradients */
enum {
    SEARCH_ROWS = 512,
    SCREEN_ROWS = 200,
    SPREAD_ROWS = 700,
    SPREAD_PARAMETERS = 30,
    ONE_THREAD_ROWS = 256
};

/* Some rows of a job, with their H of the scratch. */
static cr_status draw_rows(cr_ctx *cx, cr_scratch *s, const cri_gp_job *j, size_t most,
                           cri_gp_data *part, cri_gp_problem *out)
{
    cr_status          st = CR_OK;
    const cri_gp_data *data = j->problem.data;
    size_t             q = j->m->q;
    CR_TRY(cri_gp_data_draw(cx, data, data->n < most ? data->n : most, j->seed, part));
    double *H = cr_scratch_matrix(s, part->n, q);
    CR_TRY(s->status);
    cri_gp_mean_fill(&j->m->mean, part->X, part->n, H);
    *out = (cri_gp_problem){ .data = part, .H = H, .q = q };
done:
    return st;
}

/* The bound likes more noise and longer scales than the evidence of few rows does. */
static cr_status adapt_to_bound(cr_ctx *cx, cri_gp_job *j, const cri_gp_learning *learning)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cri_gp_data     part = { 0 };
    cri_gp_problem  some;
    cri_gp_learning bound = *learning;

    CR_TRY(draw_rows(cx, &s, j, ADAPT_ROWS, &part, &some));
    bound.problem = &some;
    CR_TRY(cri_gp_adapt(cx, &bound, j->m->kernel, &j->m->noise));
done:
    cri_gp_data_free(cx, &part);
    cr_scratch_end(&s);
    return st;
}

/* Rows of a step where nothing is asked for: all of them if they are few, else as many as give
 * enough steps. */
static size_t choose_batch(size_t n)
{
    if (n <= MOST_BATCH) return n;
    size_t batch = n / BATCH_STEPS;
    return batch < LEAST_BATCH ? LEAST_BATCH : batch > MOST_BATCH ? MOST_BATCH : batch;
}

/* As asked for, and more where these are but a few steps. */
static size_t choose_epochs(size_t epochs, size_t n, size_t batch)
{
    size_t steps = (n + batch - 1) / batch, least = (LEAST_STEPS + steps - 1) / steps;
    return epochs > least ? epochs : least;
}

static void report_unsettled(cr_ctx *cx, size_t epochs)
{
    cr_log(cx, CR_LOG_WARNING,
           "the bound still moved in the last of %zu passes over the rows: --epochs %zu goes on "
           "for longer, and "
           "--approx vfe takes all rows at a time",
           epochs, 4 * epochs);
}

/* By mini-batches or conjugate gradients: the exact evidence of some rows first, then all, if there
 * are more. */
static cr_status learn_from_few(cr_ctx *cx, cri_gp_job *j, const cri_gp_learning *learning,
                                cri_gp_learned *learned)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    cri_gp_posterior   *m = j->m;
    cri_gp_data         part = { 0 };
    cri_gp_problem      few;
    cri_gp_learning     search = *learning;
    cri_gp_svgp_options o = { j->o.batch,
                              choose_epochs(j->o.epochs, j->problem.data->n, j->o.batch),
                              j->o.move_inputs };

    CR_TRY(draw_rows(cx, &s, j, m->cg ? CG_ROWS : SEARCH_ROWS, &part, &few));
    search.problem = &few;
    search.objective = learning->search_objective;
    search.method = learning->search_method;
    CR_TRY(cri_gp_learn(cx, &search, m->kernel, &m->noise, learned));
    if (m->cg && part.n == j->problem.data->n) goto done;
    learned->at_bound[0] = '\0';
    if (!m->cg) CR_TRY(adapt_to_bound(cx, j, learning));
    cri_gp_cg cg = cri_gp_job_cg(j);
    CR_TRY(m->cg ? cri_gp_cg_learn(cx, learning, &cg, m->kernel, &m->noise, learned)
                 : cri_gp_svgp_learn(cx, learning, &o, &j->sparse, m->kernel, &m->noise, learned));
    if (!m->cg && learned->stop == CR_STOP_LIMIT) report_unsettled(cx, o.epochs);
done:
    cri_gp_data_free(cx, &part);
    cr_scratch_end(&s);
    return st;
}

/* true when the mean of f at the rows is within some sds of the variance added: C^-1 (y - H b) is
 * the rest over it. */
static cr_status check_rest(cr_ctx *cx, cri_gp_job *j, const cri_gp_learning *learning, bool *out)
{
    cr_status               st = CR_OK;
    const cri_gp_data      *data = j->problem.data;
    cri_gp_quick_workspace *quick = learning->method;
    cri_gp_exact_workspace *workspace = &quick->exact;
    double                  square = 0, value;
    CR_TRY(cri_gp_exact_objective(cx, workspace, &j->problem, j->m->kernel, j->m->noise, &value,
                                  NULL));
    for (size_t i = 0; i < data->n; i++)
        square += workspace->solution.jitter * pow(workspace->solution.alpha[i], 2);
    *out = square <= 100 * (double)data->n;
done:
    return st;
}

/* Of an exact learning, whose search with few rows is by the same method. */
static void set_nugget(const cri_gp_learning *learning, double share)
{
    cri_gp_quick_workspace *quick = learning->method;
    quick->exact.solution.nugget = share;
}

/* Without noise the covariance of a smooth kernel is singular up to rounding wherever it suits
 * smooth data.  Where the search met such settings, another adds a variance to each row that is far
 * below what the rows tell apart; what it finds is taken if the rows can be met so closely and the
 * evidence is better. */
static cr_status learn_all(cr_ctx *cx, cri_gp_job *j, const cri_gp_learning *learning,
                           cri_gp_learned *learned)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_gp_posterior *m = j->m;
    bool    none = m->approx == CRI_GP_EXACT && !m->noise_learned && m->noise == 0 && !m->white;
    bool    met = false;
    double *given = cr_scratch_f64(&s, m->n_theta + 1), *plain = cr_scratch_f64(&s, m->n_theta + 1);
    double  nugget = cri_gp_nugget(j->problem.data->n);
    cri_gp_learned near = { 0 };

    CR_TRY(s.status);
    cr_kernel_theta(m->kernel, given);
    cr_status first = cri_gp_learn(cx, learning, m->kernel, &m->noise, learned);
    if (!none || (first == CR_OK && learned->refused == 0) ||
        (first != CR_OK && first != CR_ENUMERIC)) {
        st = first;
        goto done;
    }
    cr_kernel_theta(m->kernel, plain);
    CR_TRY(cr_kernel_set_theta(cx, m->kernel, given));
    set_nugget(learning, nugget);
    st = cri_gp_learn(cx, learning, m->kernel, &m->noise, &near);
    if (st == CR_OK) st = check_rest(cx, j, learning, &met);
    if (st != CR_OK && st != CR_ENUMERIC) goto done;
    st = CR_OK;
    if (met && (first != CR_OK || !(near.value <= learned->value + 0.01))) {
        j->nugget = nugget;
        *learned = near;
        goto done;
    }
    set_nugget(learning, 0);
    CR_TRY(cr_kernel_set_theta(cx, m->kernel, first == CR_OK ? plain : given));
    if (first != CR_OK)
        CR_TRY(cri_gp_learn(cx, learning, m->kernel, &m->noise, learned)); /* fails as before */
done:
    cr_scratch_end(&s);
    return st;
}

/* The best hyper-parameters give way to draws; m stands at the mean of these. */
static cr_status draw_hyper(cr_ctx *cx, cri_gp_job *j, const cri_gp_learning *learning)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_gp_posterior *m = j->m;
    size_t            count = (j->o.draws + CRI_GP_CHAINS - 1) / CRI_GP_CHAINS * CRI_GP_CHAINS;
    size_t            width = m->n_theta + 1, evaluations = 0;
    double           *centre = cr_scratch_bytes(&s, width, sizeof(double)), rhat, ess;

    CR_TRY(s.status);
    if (m->n_theta + m->noise_learned == 0) goto done;
    m->draws = cr_alloc(cx, count * width, sizeof(double));
    if (!m->draws) CR_TRY(CR_ENOMEM);
    m->n_draws = count;
    CR_TRY(cri_gp_mcmc(cx, learning, m->kernel, m->noise, count, m->draws, &evaluations));
    m->evaluations += evaluations;
    for (size_t c = 0; c < width; c++)
        for (size_t h = 0; h < count; h++) centre[c] += m->draws[h * width + c] / (double)count;
    cri_gp_mcmc_agreement(m, &rhat, &ess);
    CR_TRY(cr_kernel_set_theta(cx, m->kernel, centre));
    if (m->noise_learned) m->noise = exp(centre[m->n_theta]);
    if (isnan(rhat))
        cr_log(cx, CR_LOG_WARNING,
               "%zu draws of the hyper-parameters are too few to tell whether their chains agree: "
               "--draws-hyper 100 would do",
               count);
    if (rhat > 1.1)
        cr_log(cx, CR_LOG_WARNING,
               "the chains of the hyper-parameters do not agree yet (R-hat %.2f): "
               "--draws-hyper %zu would help",
               rhat, 4 * count);
done:
    cr_scratch_end(&s);
    return st;
}

/* A target that does not vary speaks for no noise: that which rounding needs beside the kernel as
 * it is. */
static cr_status take_least_noise(cr_ctx *cx, cri_gp_job *j)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *data = j->problem.data;
    cr_kernel_input    in = cri_gp_inputs(data);
    double            *diagonal = cr_scratch_f64(&s, data->n), most = 0;

    CR_TRY(s.status);
    CR_TRY(cr_kernel_diagonal(cx, j->m->kernel, &in, false, diagonal));
    for (size_t i = 0; i < data->n; i++) most = fmax(most, diagonal[i]);
    if (most > 0 && isfinite(most)) j->m->noise = CRI_GP_NOISE_FLOOR * most;
    cr_log(
        cx, CR_LOG_WARNING,
        "the target does not vary about its mean: nothing can be learned of the hyper-parameters, "
        "and the noise is taken as next to nothing");
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_job_learn(cr_ctx *cx, cri_gp_job *j, cr_report *report)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_gp_posterior *m = j->m;
    bool              exact = m->approx == CRI_GP_EXACT, rff = m->approx == CRI_GP_RFF;
    size_t n = j->problem.data->n, most = m->cg ? CG_ROWS : SEARCH_ROWS, few = n < most ? n : most;
    size_t threads = cr_ctx_threads(cx);
    cri_gp_exact_workspace workspace = { m->L, cri_gp_posterior_solution(m) };
    cri_gp_quick_workspace quick = { .exact = workspace };
    cri_gp_learned         learned = { .stop = CR_STOP_CLOSED_FORM };
    double                 square = 0;
    cri_gp_learning        learning = { .problem = &j->problem,
                                        .objective = exact ? cri_gp_quick_objective
                                                     : rff ? cri_gp_rff_objective
                                                           : cri_gp_sparse_objective,
                                        .method = exact ? (void *)&quick
                                                  : rff ? (void *)&j->rff
                                                        : &j->sparse,
                                        .search_objective = exact && !m->cg ? cri_gp_quick_objective
                                                                            : cri_gp_exact_objective,
                                        .search_method = exact && !m->cg ? (void *)&quick : &workspace,
                                        .learn_noise = m->noise_learned,
                                        .restarts = j->o.restarts,
                                        .max_iter = j->o.max_iter,
                                        .seed = j->seed,
                                        .search_rows = SEARCH_ROWS,
                                        .screen_rows = exact && !m->cg ? SCREEN_ROWS : 0 };

    if (!exact || m->cg) { /* the search for starts is exact, on some rows */
        workspace.L = cr_scratch_matrix(&s, few, few);
        workspace.solution.alpha = cr_scratch_f64(&s, few);
        workspace.solution.U = cr_scratch_matrix(&s, few, m->q);
    }
    if (n <= ONE_THREAD_ROWS) cr_ctx_set_threads(cx, 1); /* work too small to share */
    CR_TRY(s.status);
    CR_TRY(cri_gp_target_variance(cx, &j->problem, &learning.variance));
    for (size_t i = 0; i < n; i++) square += pow(j->problem.data->y[i], 2) / (double)n;
    bool still = !(learning.variance > 1e-24 * square), few_inputs = n <= m->q;
    if (still) learning.variance = square > 0 ? square : 1;
    if (m->noise < 0) m->noise = 0.1 * learning.variance;
    report->stop = CR_STOP_CLOSED_FORM;
    if (!j->o.optimize) goto done;
    if (still && !few_inputs && m->noise_learned) {
        CR_TRY(take_least_noise(cx, j));
        goto done;
    }
    if (still || few_inputs) {
        cri_gp_learn_noise_alone(cx, j->problem.data, still, m->noise_learned, &m->noise);
        goto done;
    }
    if (j->o.batch == 0) j->o.batch = choose_batch(n);
    bool batches = (m->approx == CRI_GP_SVGP && j->o.batch < n) || m->cg;
    CR_TRY(batches ? learn_from_few(cx, j, &learning, &learned)
                   : learn_all(cx, j, &learning, &learned));
    if (!exact && !batches && !rff && m->approx != CRI_GP_NYSTROM && j->o.move_inputs)
        CR_TRY(cri_gp_learn_inducing(cx, &learning, &j->sparse, m->kernel, &m->noise, &learned));
    m->starts = learned.starts;
    m->agreed = learned.agreed;
    m->evaluations = learned.evaluations;
    report->iterations = learned.iterations;
    report->stop = learned.stop;
    bool apart = false;
    if (exact && !m->cg && !m->white && !j->o.mcmc)
        CR_TRY(cri_gp_check_diagonal(cx, &learning, m->kernel, &m->noise, &apart));
    if (apart) learned.at_bound[0] = '\0'; /* the evidence is flat there */
    cri_string_free(cx, m->at_bound);
    m->at_bound = cri_string_copy(cx, learned.at_bound);
    if (!m->at_bound) CR_TRY(CR_ENOMEM);
    cri_gp_report_bounds(cx, m->at_bound, false);
    if (j->o.mcmc)
        CR_TRY(draw_hyper(cx, j, &learning));
    else if (!m->cg && n <= SPREAD_ROWS && m->n_theta <= SPREAD_PARAMETERS)
        CR_TRY(cri_gp_hyper_sds(cx, &learning, m->kernel, m->noise, m->sd));
done:
    cr_ctx_set_threads(cx, threads);
    cr_scratch_end(&s);
    return st;
}
