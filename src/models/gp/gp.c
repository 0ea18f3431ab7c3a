/* gp.c -- Gaussian process regression.
 *   y = h(x) . b + f(x) + e,   f ~ GP(0, k),   e ~ N(0, noise / weight)
 * The kernel is an expression (math/kernel); its parameters and the noise are learned by maximising the
 * evidence, exact up to some thousand rows, a bound of a sparse approximation beyond.
 * Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, ch. 2, 5. */
#include "gp_learn.h"
#include "gp_cg.h"
#include "gp_mcmc.h"
#include "gp_pivots.h"
#include "gp_posterior.h"
#include "gp_rff.h"
#include "gp_sparse.h"
#include "gp_svgp.h"
#include "gp_update.h"
#include "../../base/context_internal.h"
#include "../../base/scratch.h"
#include "../../math/kernel/kernel_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define GP_OPTIONS(X)                                                                                \
    X(text,   kernel,       "", "", "covariance, an expression of kernels and columns (credence models "\
      "kernels); not given: rbf(ard) of the numbers, times hamming of the categories",               \
      "'matern52(ard) + linear'")                                                                    \
    X(text,   mean,         "auto", "", "mean function: zero, constant, linear or poly:K; auto: constant, "\
      "or zero with --scale-target standard", "linear")                                              \
    X(real,   noise,        "", ">=0", "variance of the noise; not given: learned, or 0 when the kernel "\
      "holds white", "0.01")                                                              \
    X(text,   noise_column, "", "COLUMN", "column of known variances of the noise, one a row", "v")  \
    X(choice, optimize,     "evidence", "evidence|none",                                             \
      "learn the hyper-parameters by the evidence, or keep them as given", "none")                   \
    X(count,  restarts,     "0", "0..10000", "further random starts of the search", "10")            \
    X(count,  max_iter,     "200", "1..1000000", "most steps of one run of the search", "50")        \
    X(choice, approx,       "auto", "auto|exact|sor|dtc|fitc|vfe|svgp|nystrom|rff",                  \
      "exact, or through inducing inputs, landmarks or random features; auto: exact up to 4000 distinct " \
      "inputs, vfe beyond", "vfe")                                                                   \
    X(count,  inducing,     "500", "1..100000", "number of inducing inputs, landmarks or features", "100") \
    X(flag,   optimize_inducing, "false", "", "move the inducing inputs too, after the rest", "true") \
    X(choice, solver,       "cholesky", "cholesky|cg", "how an exact process is solved: by a Cholesky factor, "\
      "or by conjugate gradients, for tens of thousands of rows", "cg")                              \
    X(choice, hyper,        "best", "best|mcmc", "hyper-parameters at their best values, or predictions " \
      "averaged over draws of Markov chains", "mcmc")                                                \
    X(count,  draws_hyper,  "100", "4..100000", "draws of hyper-parameters, of four chains", "400")  \
    X(count,  batch,        "1024", "1..10000000", "rows of a step of svgp", "256")                  \
    X(count,  epochs,       "20", "1..100000", "passes of svgp over the rows at the most", "50")
/* clang-format on */
enum { OPTIMIZE_EVIDENCE, OPTIMIZE_NONE };
enum { SOLVER_CHOLESKY, SOLVER_CG };
enum { HYPER_BEST, HYPER_MCMC };
enum { EXACT_ROWS = 4000, SEARCH_ROWS = 512, TELL_ROWS = 3000, SPREAD_ROWS = 700, SPREAD_PARAMETERS = 30, ONE_THREAD_ROWS = 256 };

CR_OPTIONS_STRUCT(gp_options, GP_OPTIONS);
#define ROW(...) CR_OPTION_ROW(gp_options, __VA_ARGS__)
static const cr_option gp_table[] = { GP_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW
static const char *const gp_roles[] = { "noise_column", NULL };

/* --- what is asked for ----------------------------------------------------------------------- */

static bool holds_white(const cr_kernel *k)
{
    for (size_t i = 0; i < k->n_nodes; i++)
        if (k->nodes[i].class == &cri_kernel_white) return true;
    return false;
}

/* The noise: given, a column, to be learned (-1 until there is a start), or in the kernel. */
static cr_status read_noise(cr_ctx *cx, const gp_options *o, const cri_rows *rows,
                            cri_gp_posterior *m)
{
    bool given = !isnan(o->noise);
    m->noise_column = rows->roles[0] != NULL;
    if (m->noise_column && given)
        return cr_fail(cx, CR_EARG, "--noise and --noise-column do not go together");
    for (size_t i = 0; m->noise_column && i < rows->n; i++)
        if (!(rows->roles[0][i] > 0))
            return cr_fail(cx, CR_EDATA, "%s: a variance of the noise is %g; it must be above 0",
                           rows->design->roles[0], rows->roles[0][i]);
    bool learned = !m->noise_column && !given && !m->white;
    m->noise_learned = learned && o->optimize == OPTIMIZE_EVIDENCE;
    m->noise = m->noise_column ? 1 /* times the column */ : learned ? -1 : given ? o->noise : 0;
    return CR_OK;
}

static cr_status check_weights(cr_ctx *cx, const cri_rows *rows)
{
    for (size_t i = 0; rows->w && i < rows->n; i++)
        if (rows->w[i] != 0 && rows->w[i] != 1) {
            cr_fail(cx, CR_EUNSUPPORTED, "gp: weights other than 0 and 1 do not go with a white kernel");
            return cr_fail_hint(cx, "leave white out of the kernel: the noise is learned anyway");
        }
    return CR_OK;
}

/* --solver cg: an exact process, without a factor. */
static cr_status check_solver(cr_ctx *cx, const gp_options *o, cri_gp_posterior *m)
{
    m->cg = o->solver == SOLVER_CG;
    if (o->hyper == HYPER_MCMC) {
        if (m->cg || (o->approx != CRI_GP_AUTO && o->approx != CRI_GP_EXACT))
            return cr_fail(cx, CR_EARG, "--hyper mcmc is for an exact process: it does not go with --approx "
                                        "and --solver cg");
        if (o->optimize == OPTIMIZE_NONE)
            return cr_fail(cx, CR_EARG, "--hyper mcmc does not go with --optimize none");
    }
    if (!m->cg) return CR_OK;
    if (o->approx != CRI_GP_AUTO && o->approx != CRI_GP_EXACT)
        return cr_fail(cx, CR_EARG, "--solver cg is for an exact process: it does not go with --approx");
    if (m->white || m->noise == 0)
        return cr_fail(cx, CR_EUNSUPPORTED, "--solver cg needs noise above 0, from --noise rather than from "
                                            "a white kernel");
    return CR_OK;
}

/* The approximation in force, told when nobody asked for it. */
static size_t choose_approx(cr_ctx *cx, const gp_options *o, size_t n)
{
    if (o->solver == SOLVER_CG || o->hyper == HYPER_MCMC) return CRI_GP_EXACT;
    if (o->approx != CRI_GP_AUTO) return (size_t)o->approx;
    if (n <= EXACT_ROWS) return CRI_GP_EXACT;
    cr_log(cx, CR_LOG_WARNING, "gp: %zu distinct inputs: the sparse approximation vfe with %zu inducing "
                               "inputs is used; --approx exact needs %.3g GB and about %.3g operations for "
                               "each evaluation", n, o->inducing, 16e-9 * (double)n * (double)n,
           pow((double)n, 3));
    return CRI_GP_VFE;
}

static cr_status check_memory(cr_ctx *cx, size_t n)
{
    double square = 8 * (double)n * (double)n;
    if (2.2 * square > (double)cri_memory_left(cx)) {
        cr_fail(cx, CR_ENOMEM, "an exact Gaussian process of %zu rows needs %.3g GB, of which %.3g GB are left",
                n, 2.2 * square / 1e9, (double)cri_memory_left(cx) / 1e9);
        return cr_fail_hint(cx, "--approx vfe --inducing 500");
    }
    if (n > TELL_ROWS)
        cr_log(cx, CR_LOG_INFO, "gp: %zu distinct inputs: %.3g GB of memory, about %.3g operations for "
                                "each evaluation of the evidence", n, 2 * square / 1e9,
               pow((double)n, 3));
    return CR_OK;
}

/* What conjugate gradients need: the root, its factor before, and some columns; K where there is room. */
static cr_status check_memory_cg(cr_ctx *cx, const gp_options *o, size_t n)
{
    double rank = (double)(o->inducing < n ? o->inducing : n), rows = (double)n;
    double need = 8 * rows * (4 * rank + 1000);
    if (need > (double)cri_memory_left(cx)) {
        cr_fail(cx, CR_ENOMEM, "conjugate gradients for %zu rows need %.3g GB, of which %.3g GB are left", n,
                need / 1e9, (double)cri_memory_left(cx) / 1e9);
        return cr_fail_hint(cx, "--inducing %zu, or --approx vfe", o->inducing / 4 + 1);
    }
    cr_log(cx, CR_LOG_INFO, "gp: %zu distinct inputs by conjugate gradients: %.3g GB of memory and as much as "
                            "%.3g GB for the covariance if there is room; about %.3g operations for each "
                            "step of an evaluation, %.3g for each step towards the variances", n, need / 1e9,
           8e-9 * rows * rows, 40 * rows * rows, 2 * rank * rows * rows);
    return CR_OK;
}

static cr_status check_sparse(cr_ctx *cx, const cri_gp_posterior *m)
{
    if (m->white)
        return cr_fail(cx, CR_EUNSUPPORTED, "a sparse Gaussian process takes its noise from --noise, not "
                                            "from a white kernel");
    if (m->noise == 0)
        return cr_fail(cx, CR_EUNSUPPORTED, "a sparse Gaussian process needs noise above 0");
    return CR_OK;
}

/* --- fit ------------------------------------------------------------------------------------- */

/* One fit on its way. */
typedef struct job {
    const gp_options *o;
    const cri_rows   *rows;
    uint64_t          seed;
    cri_gp_posterior *m;
    cri_gp_data       data;    /* of a sparse fit; an exact one has them in m->at */
    size_t           *group;   /* [rows] the distinct input of each               */
    double           *H;
    cri_gp_problem    problem;
    cri_gp_sparse     sparse;
    cri_gp_spectrum   spectrum; /* of rff */
    cri_gp_rff        rff;
} job;

static cr_status set_mean(cr_ctx *cx, const job *j, const cri_gp_data *data)
{
    cr_status        st = CR_OK;
    int              degree = 0;
    size_t           dropped = 0;
    const cr_design *design = j->rows->design;
    bool             centred = design->target_shift != 0 || design->target_scale != 1;
    if (strcmp(j->o->mean, "auto") == 0) degree = centred ? -1 : 0;
    else CR_TRY(cri_gp_mean_degree(cx, j->o->mean, &degree));
    CR_TRY(cri_gp_mean_new(cx, degree, data, &j->m->mean, &dropped));
    if (dropped)
        cr_log(cx, CR_LOG_WARNING, "%zu terms of the mean function depend on others and were left out",
               dropped);
done:
    return st;
}

static void tell_bounds(cr_ctx *cx, const char *at_bound)
{
    if (!at_bound[0]) return;
    cr_log(cx, CR_LOG_WARNING,
           "the evidence is best at a bound of: %s; a length-scale at its upper bound means that the "
           "column has no influence, the noise at its lower that the data look free of noise",
           at_bound);
}

static cr_status check_noise_free(cr_ctx *cx, const job *j)
{
    const cri_gp_posterior *m = j->m;
    const cri_gp_data      *data = &j->data;
    const cri_rows         *rows = j->rows;
    if (m->noise > 0 || m->noise_learned || m->white || m->noise < 0) return CR_OK;
    for (size_t i = 0; i < rows->n; i++) {
        if (rows->w && !(rows->w[i] > 0)) continue;
        size_t g = j->group[i], row = rows->index ? rows->index[i] : i;
        if (row == data->first[g]) continue;
        if (fabs(rows->y[i] - data->y[g]) <= 1e-12 * fabs(data->y[g])) continue;
        cr_fail(cx, CR_EDATA,
                "rows %zu and %zu have the same inputs but different targets, which no function without "
                "noise can give", data->first[g] + 1, row + 1);
        return cr_fail_hint(cx, "leave out --noise 0: the noise is learned then");
    }
    return CR_OK;
}

static cri_gp_cg cg_of(const job *j)
{
    const cri_gp_posterior *m = j->m;
    return (cri_gp_cg){ .settings = cri_gp_cg_defaults(j->seed), .alpha = m->alpha, .beta = m->beta,
                        .U = m->U, .A = m->A };
}

/* By mini-batches or conjugate gradients: the exact evidence of some rows first, then all. */
static cr_status learn_from_few(cr_ctx *cx, job *j, const cri_gp_task *task, cri_gp_learned *learned)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    cri_gp_posterior   *m = j->m;
    const cri_gp_data  *data = j->problem.data;
    cri_gp_data         part = { 0 };
    cri_gp_problem      few = { .q = m->q };
    cri_gp_task         search = *task;
    cri_gp_svgp_options o = { j->o->batch, j->o->epochs, j->o->optimize_inducing };
    double             *H;

    CR_TRY(cri_gp_data_draw(cx, data, data->n < SEARCH_ROWS ? data->n : SEARCH_ROWS, j->seed, &part));
    H = cr_scratch_matrix(&s, part.n, m->q);
    CR_TRY(s.status);
    cri_gp_mean_fill(&m->mean, part.X, part.n, H);
    few.data = &part;
    few.H = H;
    search.problem = &few;
    search.objective = task->search_objective;
    search.method = task->search_method;
    CR_TRY(cri_gp_learn(cx, &search, m->kernel, &m->noise, learned));
    learned->at_bound[0] = '\0';
    cri_gp_cg cg = cg_of(j);
    CR_TRY(m->cg ? cri_gp_cg_learn(cx, task, &cg, m->kernel, &m->noise, learned)
                 : cri_gp_svgp_learn(cx, task, &o, &j->sparse, m->kernel, &m->noise, learned));
done:
    cri_gp_data_free(cx, &part);
    cr_scratch_end(&s);
    return st;
}

/* The best hyper-parameters give way to draws; m stands at the mean of these. */
static cr_status draw_hyper(cr_ctx *cx, job *j, const cri_gp_task *task)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_gp_posterior *m = j->m;
    size_t            count = (j->o->draws_hyper + CRI_GP_CHAINS - 1) / CRI_GP_CHAINS * CRI_GP_CHAINS;
    size_t            width = m->n_theta + 1, evaluations = 0;
    double           *centre = cr_scratch_bytes(&s, width, sizeof(double)), rhat, ess;

    CR_TRY(s.status);
    if (m->n_theta + m->noise_learned == 0) goto done;
    m->draws = cr_alloc(cx, count * width, sizeof(double));
    if (!m->draws) CR_TRY(CR_ENOMEM);
    m->n_draws = count;
    CR_TRY(cri_gp_mcmc(cx, task, m->kernel, m->noise, count, m->draws, &evaluations));
    m->evaluations += evaluations;
    for (size_t c = 0; c < width; c++)
        for (size_t h = 0; h < count; h++) centre[c] += m->draws[h * width + c] / (double)count;
    cri_gp_mcmc_agreement(m, &rhat, &ess);
    CR_TRY(cr_kernel_set_theta(cx, m->kernel, centre));
    if (m->noise_learned) m->noise = exp(centre[m->n_theta]);
    if (rhat > 1.1)
        cr_log(cx, CR_LOG_WARNING, "the chains of the hyper-parameters do not agree yet (R-hat %.2f): "
                                   "--draws-hyper %zu would help", rhat, 4 * count);
done:
    cr_scratch_end(&s);
    return st;
}

/* Learns the hyper-parameters, where there is anything to learn from. */
static cr_status learn(cr_ctx *cx, job *j, cr_report *report)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_gp_posterior *m = j->m;
    bool              exact = m->approx == CRI_GP_EXACT, rff = m->approx == CRI_GP_RFF;
    size_t            n = j->problem.data->n, few = n < SEARCH_ROWS ? n : SEARCH_ROWS;
    size_t            threads = cr_ctx_threads(cx);
    cri_gp_exact_room room = { m->L, cri_gp_posterior_solution(m) };
    cri_gp_learned    learned = { .converged = true };
    double            square = 0;
    cri_gp_task       task = { .problem = &j->problem,
                               .objective = exact ? cri_gp_exact_objective
                                            : rff ? cri_gp_rff_objective
                                                  : cri_gp_sparse_objective,
                               .method = exact ? (void *)&room : rff ? (void *)&j->rff : &j->sparse,
                               .search_objective = cri_gp_exact_objective,
                               .search_method = &room,
                               .learn_noise = m->noise_learned,
                               .restarts = j->o->restarts,
                               .max_iter = j->o->max_iter,
                               .seed = j->seed,
                               .search_rows = SEARCH_ROWS };

    if (!exact || m->cg) { /* the search for starts is exact, on some rows */
        room.L = cr_scratch_matrix(&s, few, few);
        room.solution.alpha = cr_scratch_f64(&s, few);
        room.solution.U = cr_scratch_matrix(&s, few, m->q);
    }
    if (n <= ONE_THREAD_ROWS) cr_ctx_set_threads(cx, 1); /* work too small to share */
    CR_TRY(s.status);
    CR_TRY(cri_gp_target_variance(cx, &j->problem, &task.variance));
    for (size_t i = 0; i < n; i++) square += pow(j->problem.data->y[i], 2) / (double)n;
    bool still = !(task.variance > 1e-24 * square) || n <= m->q;
    if (still) task.variance = square > 0 ? square : 1;
    if (m->noise < 0) m->noise = 0.1 * task.variance;
    report->stop = CR_STOP_CLOSED_FORM;
    if (j->o->optimize == OPTIMIZE_NONE) goto done;
    if (still) {
        cr_log(cx, CR_LOG_WARNING, "the target does not vary about its mean: nothing can be learned of "
                                   "the hyper-parameters");
        goto done;
    }
    bool batches = (m->approx == CRI_GP_SVGP && j->o->batch < n) || m->cg;
    CR_TRY(batches ? learn_from_few(cx, j, &task, &learned)
                   : cri_gp_learn(cx, &task, m->kernel, &m->noise, &learned));
    if (!exact && !batches && !rff && m->approx != CRI_GP_NYSTROM && j->o->optimize_inducing)
        CR_TRY(cri_gp_learn_inducing(cx, &task, &j->sparse, m->kernel, &m->noise, &learned));
    m->starts = learned.starts;
    m->agreed = learned.agreed;
    m->evaluations = learned.evaluations;
    report->iterations = learned.iterations;
    report->stop = !learned.converged       ? CR_STOP_LIMIT
                   : learned.iterations > 0 ? CR_STOP_TOLERANCE
                                            : CR_STOP_CLOSED_FORM;
    cri_string_free(cx, m->at_bound);
    m->at_bound = cri_string_copy(cx, learned.at_bound);
    if (!m->at_bound) CR_TRY(CR_ENOMEM);
    tell_bounds(cx, m->at_bound);
    if (j->o->hyper == HYPER_MCMC) CR_TRY(draw_hyper(cx, j, &task));
    else if (!m->cg && n <= SPREAD_ROWS && m->n_theta <= SPREAD_PARAMETERS)
        CR_TRY(cri_gp_spread(cx, &task, m->kernel, m->noise, m->sd));
done:
    cr_ctx_set_threads(cx, threads);
    cr_scratch_end(&s);
    return st;
}

/* Factor, weights and leave-one-out at the hyper-parameters that m has. */
static cr_status condition(cr_ctx *cx, const job *j)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_gp_posterior *m = j->m;
    cri_gp_solution   solution = cri_gp_posterior_solution(m);
    double           *inverse = cr_scratch_matrix(&s, m->at.n, m->at.n);

    CR_TRY(s.status);
    CR_TRY(cri_gp_solve(cx, &j->problem, m->kernel, m->noise, CRI_GP_JITTER, m->L, &solution));
    m->evidence = solution.log_evidence;
    m->jitter = solution.jitter;
    CR_TRY(cri_gp_leave_one_out(cx, &j->problem, j->rows, j->rows->roles[0], j->group, m->noise,
                                &solution, m->L, inverse, NULL, &m->loo_score, &m->loo_rmse));
done:
    cr_scratch_end(&s);
    return st;
}

/* Evidence, weights and root by conjugate gradients. */
static cr_status condition_cg(cr_ctx *cx, const job *j)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_gp_posterior *m = j->m;
    cri_gp_cg         cg = cg_of(j);
    size_t            n = m->at.n, most = j->o->inducing < n ? j->o->inducing : n, rank = 0;
    double           *root = cr_scratch_matrix(&s, n, most);

    CR_TRY(s.status);
    CR_TRY(cri_gp_cg_evidence(cx, &j->problem, m->kernel, m->noise, &cg, NULL));
    CR_TRY(cri_gp_cg_root(cx, &j->problem, m->kernel, m->noise, &cg.settings, most, root, &rank,
                          &m->sd_error));
    m->root = cr_alloc(cx, n * rank, sizeof(double));
    if (!m->root) CR_TRY(CR_ENOMEM);
    memcpy(m->root, root, n * rank * sizeof(double));
    m->rank = rank;
    m->evidence = cg.value;
    m->evidence_se = cg.se;
    m->residual = cg.report.residual;
    m->cg_iterations = cg.report.iterations;
    m->loo_score = m->loo_rmse = NAN;
    if (m->residual > 1e-6)
        cr_log(cx, CR_LOG_WARNING, "conjugate gradients stopped after %zu steps at a residual of %.2g: more "
                                   "noise or --approx vfe would make the system easier", m->cg_iterations,
               m->residual);
    if (m->sd_error > 0.05)
        cr_log(cx, CR_LOG_WARNING, "predicted sds may be too large by %.0f %%: --inducing %zu would mend it",
               100 * m->sd_error, 4 * rank < n ? 4 * rank : n);
done:
    cr_scratch_end(&s);
    return st;
}

static void set_sparse(job *j)
{
    cri_gp_posterior *m = j->m;
    cri_gp_approx     approx = m->approx == CRI_GP_SVGP      ? CRI_GP_VFE
                               : m->approx == CRI_GP_NYSTROM ? CRI_GP_SOR
                                                             : (cri_gp_approx)m->approx;
    j->sparse = (cri_gp_sparse){ .approx = approx, .Z = m->at, .L = m->L, .L2 = m->L2,
                                 .alpha = m->alpha, .beta = m->beta, .U = m->U, .A = m->A };
}

/* The rows that stand best for the others, at the hyper-parameters that m has. */
static cr_status choose_landmarks(cr_ctx *cx, job *j)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *m = j->m;
    cri_gp_data       Z;
    double           *sd = NULL;
    size_t            size = m->n_theta + 1;

    CR_TRY(cri_gp_landmarks(cx, j->problem.data, m->kernel, j->o->inducing, j->seed, &Z));
    sd = m->sd;
    m->sd = NULL;
    cri_gp_posterior_drop(cx, m);
    cri_gp_data_free(cx, &m->at);
    m->at = Z;
    CR_TRY(cri_gp_posterior_allocate(cx, m, true));
    memcpy(m->sd, sd, size * sizeof *sd);
    set_sparse(j);
done:
    cr_free(cx, sd, size, sizeof *sd);
    return st;
}

static cr_status condition_rff(cr_ctx *cx, job *j)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *m = j->m;
    CR_TRY(cri_gp_rff_solve(cx, &j->problem, m->kernel, m->noise, &j->rff, NULL));
    CR_TRY(cri_gp_rff_error(cx, j->problem.data, m->kernel, &j->rff, &m->kernel_error));
    m->evidence = j->rff.value;
    m->loo_score = m->loo_rmse = NAN;
done:
    return st;
}

static cr_status condition_sparse(cr_ctx *cx, job *j)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *m = j->m;
    if (m->approx == CRI_GP_NYSTROM) CR_TRY(choose_landmarks(cx, j));
    CR_TRY(cri_gp_sparse_solve(cx, &j->problem, m->kernel, m->noise, &j->sparse, NULL, NULL));
    if (m->approx == CRI_GP_NYSTROM) m->kernel_error = j->sparse.left;
    m->evidence = j->sparse.value;
    m->jitter = j->sparse.jitter;
    m->loo_score = m->loo_rmse = NAN;
    if (m->jitter > 0)
        cr_log(cx, CR_LOG_INFO, "gp: %g was added to the variance at the inducing inputs", m->jitter);
done:
    return st;
}

/* Random features: their draws, and the memory for what they become. */
static cr_status prepare_features(cr_ctx *cx, cr_scratch *s, job *j)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *m = j->m;
    const cri_gp_data *data = &j->data;
    CR_TRY(cri_gp_spectrum_new(cx, s, m->kernel, j->o->inducing, data->d, j->seed, &j->spectrum));
    CR_TRY(cri_gp_data_new(cx, j->spectrum.m, data->d, data->c, &m->at));
done:
    return st;
}

/* Distinct inputs, inducing ones if any, mean function and memory. */
static cr_status prepare(cr_ctx *cx, cr_scratch *s, job *j)
{
    cr_status          st = CR_OK;
    cri_gp_posterior  *m = j->m;
    const cri_gp_data *data = &j->data;
    CR_TRY(cri_gp_data_add(cx, &j->data, j->rows, j->rows->roles[0], !m->white, j->group));
    m->rows = j->data.count;
    CR_TRY(check_solver(cx, j->o, m));
    m->approx = choose_approx(cx, j->o, j->data.n);
    CR_TRY(check_noise_free(cx, j));
    if (m->approx == CRI_GP_EXACT) {
        CR_TRY(m->cg ? check_memory_cg(cx, j->o, j->data.n) : check_memory(cx, j->data.n));
        m->at = j->data;
        j->data = (cri_gp_data){ 0 };
        data = &m->at;
    } else {
        CR_TRY(check_sparse(cx, m));
        CR_TRY(m->approx == CRI_GP_RFF ? prepare_features(cx, s, j)
                                       : cri_gp_inducing(cx, data, j->o->inducing, j->seed, &m->at));
    }
    CR_TRY(set_mean(cx, j, data));
    CR_TRY(cri_gp_posterior_allocate(cx, m, m->approx != CRI_GP_EXACT));
    j->H = cr_scratch_matrix(s, data->n, m->q);
    CR_TRY(s->status);
    cri_gp_mean_fill(&m->mean, data->X, data->n, j->H);
    j->problem = (cri_gp_problem){ data, m->q, j->H };
    j->rff = (cri_gp_rff){ .spectrum = &j->spectrum, .W = m->at.X, .weight = m->at.y, .phase = m->at.r,
                           .L2 = m->L2, .g = m->alpha, .beta = m->beta, .U = m->U, .A = m->A };
    set_sparse(j);
    m->kernel_error = NAN;
done:
    return st;
}

static void report_evidence(const cri_gp_posterior *m, const cr_design *design, cr_report *report)
{
    report->log_evidence = m->evidence - m->rows * log(design->target_scale);
    report->evidence = m->cg                       ? CR_EVIDENCE_ESTIMATE
                       : m->approx == CRI_GP_EXACT ? CR_EVIDENCE_EXACT
                       : m->approx == CRI_GP_VFE || m->approx == CRI_GP_SVGP ? CR_EVIDENCE_BOUND
                                                                             : CR_EVIDENCE_ESTIMATE;
}

static cr_status gp_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                        void **out_state, cr_report *report)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    const gp_options *o = options;
    cri_gp_posterior *m = cr_alloc(cx, 1, sizeof *m);
    job               j = { .o = o, .rows = rows, .seed = seed, .m = m,
                            .group = cr_scratch_index(&s, rows->n) };

    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(s.status);
    CR_TRY(cri_gp_kernel_scaled(cx, o->kernel, rows->design, &m->kernel));
    m->white = holds_white(m->kernel);
    CR_TRY(read_noise(cx, o, rows, m));
    if (m->white) CR_TRY(check_weights(cx, rows));
    CR_TRY(prepare(cx, &s, &j));
    CR_TRY(learn(cx, &j, report));
    CR_TRY(m->cg                       ? condition_cg(cx, &j)
           : m->approx == CRI_GP_EXACT ? condition(cx, &j)
           : m->approx == CRI_GP_RFF ? condition_rff(cx, &j)
                                     : condition_sparse(cx, &j));
    report_evidence(m, rows->design, report);
    *out_state = m;
    m = NULL;
done:
    cri_gp_data_free(cx, &j.data);
    cri_gp_posterior_free(cx, m);
    cr_scratch_end(&s);
    return st;
}

static cr_status gp_update(cr_ctx *cx, const void *state, const cri_rows *rows, const void *options,
                           void **out_state, cr_report *report)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *m = NULL;
    (void)options;
    if (((const cri_gp_posterior *)state)->white) CR_TRY(check_weights(cx, rows));
    CR_TRY(cri_gp_extend(cx, state, rows, &m));
    report->stop = CR_STOP_CLOSED_FORM;
    report_evidence(m, rows->design, report);
    *out_state = m;
done:
    return st;
}

const cr_model_class cri_class_gp = {
    .name = "gp",
    .summary = "Gaussian process regression with a kernel of your choice",
    .formulas = "y = h(x).b + f(x) + e,   f ~ GP(0, k),   e ~ N(0, noise)\n"
                "kernel parameters and noise at the maximum of the evidence;\n"
                "prediction: normal, with the uncertainty of f and b",
    .reference = "Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, ch. 2, 5",
    .tasks = CR_TASK_REGRESSION,
    .options = gp_table,
    .options_size = sizeof(gp_options),
    .default_scale = CR_SCALE_NONE,
    .coding = CRI_CODING_CODE,
    .roles = gp_roles,
    .means_alone = true,
    .fit = gp_fit,
    .update = gp_update,
    .update_holds = true,
    .predict = cri_gp_predict,
    .sample = cri_gp_sample,
    .describe = cri_gp_describe,
    .write = cri_gp_write,
    .read = cri_gp_read,
    .free = cri_gp_posterior_free,
};
