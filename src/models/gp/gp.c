/* gp.c -- Gaussian process regression.
 *   y = h(x) . b + f(x) + e,   f ~ GP(0, k),   e ~ N(0, noise / weight)
 * The kernel is an expression (math/kernel); its parameters and the noise are learned by maximising the
 * evidence, exact up to some thousand rows, a bound of a sparse approximation beyond.
 * Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, ch. 2, 5. */
#include "gp_learn.h"
#include "gp_posterior.h"
#include "gp_update.h"
#include "../../base/context_internal.h"
#include "../../base/number.h"
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
    X(text,   noise,        "auto", "", "variance of the noise: learn or a number; auto: learn, or 0 when "\
      "the kernel holds white", "0.01")                                                              \
    X(text,   noise_column, "", "COLUMN", "column of known variances of the noise, one a row", "v")  \
    X(choice, optimize,     "evidence", "evidence|none",                                             \
      "learn the hyper-parameters by the evidence, or keep them as given", "none")                   \
    X(count,  restarts,     "0", "0..10000", "further random starts of the search", "10")            \
    X(count,  max_iter,     "200", "1..1000000", "most steps of one run of the search", "50")
/* clang-format on */
enum { OPTIMIZE_EVIDENCE, OPTIMIZE_NONE };
enum { SEARCH_ROWS = 512, TELL_ROWS = 3000, SPREAD_ROWS = 700, SPREAD_PARAMETERS = 30, ONE_THREAD_ROWS = 256 };

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

/* Kernel, mean and noise into m; *out_learn_noise. */
static cr_status read_noise(cr_ctx *cx, const gp_options *o, const cri_rows *rows,
                            cri_gp_posterior *m)
{
    const char *text = o->noise;
    bool        automatic = strcmp(text, "auto") == 0;
    m->noise_column = rows->roles[0] != NULL;
    if (m->noise_column) {
        if (!automatic)
            return cr_fail(cx, CR_EARG, "--noise and --noise-column do not go together");
        m->noise = 1; /* times the column */
        for (size_t i = 0; i < rows->n; i++)
            if (!(rows->roles[0][i] > 0))
                return cr_fail(cx, CR_EDATA, "%s: a variance of the noise is %g; it must be above 0",
                               rows->design->roles[0], rows->roles[0][i]);
        return CR_OK;
    }
    m->noise_learned = strcmp(text, "learn") == 0 || (automatic && !m->white);
    if (m->noise_learned) {
        m->noise = -1;
        m->noise_learned = o->optimize == OPTIMIZE_EVIDENCE;
        return CR_OK;
    }
    m->noise = 0;
    if (automatic) return CR_OK;
    double    value = 0;
    size_t    length = strlen(text);
    if (length == 0 || cri_parse_double(text, text + length, &value) != length || !(value >= 0) || isinf(value)) {
        cr_fail(cx, CR_EARG, "--noise '%s' is neither learn nor a variance", text);
        return cr_fail_hint(cx, "--noise learn, --noise 0.01, or --noise-column COLUMN");
    }
    m->noise = value;
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

static cr_status check_noise_free(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                                  const size_t *group)
{
    if (m->noise > 0 || m->noise_learned || m->white || m->noise < 0) return CR_OK;
    for (size_t i = 0; i < rows->n; i++) {
        if (rows->w && !(rows->w[i] > 0)) continue;
        size_t g = group[i], row = rows->index ? rows->index[i] : i;
        if (row == m->at.first[g]) continue;
        if (fabs(rows->y[i] - m->at.y[g]) <= 1e-12 * fabs(m->at.y[g])) continue;
        cr_fail(cx, CR_EDATA,
                "rows %zu and %zu have the same inputs but different targets, which no function without "
                "noise can give", m->at.first[g] + 1, row + 1);
        return cr_fail_hint(cx, "--noise learn");
    }
    return CR_OK;
}

static cr_status check_memory(cr_ctx *cx, size_t n)
{
    double square = 8 * (double)n * (double)n;
    if (2.2 * square > (double)cri_memory_left(cx)) {
        cr_fail(cx, CR_ENOMEM, "an exact Gaussian process of %zu rows needs %.3g GB, of which %.3g GB are left",
                n, 2.2 * square / 1e9, (double)cri_memory_left(cx) / 1e9);
        return cr_fail_hint(cx, "fewer rows, or an approximation");
    }
    if (n > TELL_ROWS)
        cr_log(cx, CR_LOG_INFO, "gp: %zu distinct inputs: %.3g GB of memory, about %.3g operations for "
                                "each evaluation of the evidence", n, 2 * square / 1e9,
               pow((double)n, 3));
    return CR_OK;
}

/* --- fit ------------------------------------------------------------------------------------- */

static cr_status set_mean(cr_ctx *cx, const gp_options *o, const cr_design *design, cri_gp_posterior *m)
{
    cr_status st = CR_OK;
    int       degree = 0;
    size_t    dropped = 0;
    bool      centred = design->target_shift != 0 || design->target_scale != 1;
    if (strcmp(o->mean, "auto") == 0) degree = centred ? -1 : 0;
    else CR_TRY(cri_gp_mean_degree(cx, o->mean, &degree));
    CR_TRY(cri_gp_mean_new(cx, degree, &m->at, &m->mean, &dropped));
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

/* Learns the hyper-parameters, where there is anything to learn from. */
static cr_status learn(cr_ctx *cx, const gp_options *o, uint64_t seed, const cri_gp_problem *problem,
                       cri_gp_posterior *m, cr_report *report)
{
    cr_status         st = CR_OK;
    cri_gp_exact_room room = { m->L, cri_gp_posterior_solution(m) };
    cri_gp_learned    learned = { .converged = true };
    double            square = 0, n = (double)m->at.n;
    size_t            threads = cr_ctx_threads(cx);
    cri_gp_task       task = { .problem = problem,
                               .objective = cri_gp_exact_objective,
                               .method = &room,
                               .learn_noise = m->noise_learned,
                               .restarts = o->restarts,
                               .max_iter = o->max_iter,
                               .seed = seed,
                               .search_rows = SEARCH_ROWS };

    if (m->at.n <= ONE_THREAD_ROWS) cr_ctx_set_threads(cx, 1); /* work too small to share */
    CR_TRY(cri_gp_target_variance(cx, problem, &task.variance));
    for (size_t i = 0; i < m->at.n; i++) square += m->at.y[i] * m->at.y[i] / n;
    bool still = !(task.variance > 1e-24 * square) || m->at.n <= m->q;
    if (still) task.variance = square > 0 ? square : 1;
    if (m->noise < 0 || (still && m->noise_learned)) m->noise = 0.1 * task.variance;
    report->stop = CR_STOP_CLOSED_FORM;
    if (o->optimize == OPTIMIZE_NONE) goto done;
    if (still) {
        cr_log(cx, CR_LOG_WARNING, "the target does not vary about its mean: nothing can be learned of "
                                   "the hyper-parameters");
        goto done;
    }
    CR_TRY(cri_gp_learn(cx, &task, m->kernel, &m->noise, &learned));
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
    if (m->at.n <= SPREAD_ROWS && m->n_theta <= SPREAD_PARAMETERS)
        CR_TRY(cri_gp_spread(cx, &task, m->kernel, m->noise, m->sd));
done:
    cr_ctx_set_threads(cx, threads);
    return st;
}

/* Factor, weights and leave-one-out at the hyper-parameters that m has. */
static cr_status condition(cr_ctx *cx, const cri_gp_problem *problem, const cri_rows *rows,
                           const size_t *group, cri_gp_posterior *m)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cri_gp_solution solution = cri_gp_posterior_solution(m);
    double         *inverse = cr_scratch_matrix(&s, m->at.n, m->at.n);

    CR_TRY(s.status);
    CR_TRY(cri_gp_solve(cx, problem, m->kernel, m->noise, CRI_GP_JITTER, m->L, &solution));
    m->evidence = solution.log_evidence;
    m->jitter = solution.jitter;
    CR_TRY(cri_gp_leave_one_out(cx, problem, rows, rows->roles[0], group, m->noise, &solution, m->L,
                                inverse, &m->loo_score, &m->loo_rmse));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status gp_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                        void **out_state, cr_report *report)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    const gp_options *o = options;
    cri_gp_posterior *m = cr_alloc(cx, 1, sizeof *m);
    size_t           *group = cr_scratch_index(&s, rows->n);
    cri_gp_problem    problem = { 0 };
    double           *H = NULL;

    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(s.status);
    m->approx = CRI_GP_EXACT;
    CR_TRY(cri_gp_kernel_scaled(cx, o->kernel, rows->design, &m->kernel));
    m->white = holds_white(m->kernel);
    CR_TRY(read_noise(cx, o, rows, m));
    if (m->white) CR_TRY(check_weights(cx, rows));
    CR_TRY(cri_gp_data_add(cx, &m->at, rows, rows->roles[0], !m->white, group));
    CR_TRY(check_noise_free(cx, m, rows, group));
    CR_TRY(check_memory(cx, m->at.n));
    CR_TRY(set_mean(cx, o, rows->design, m));
    CR_TRY(cri_gp_posterior_allocate(cx, m, false));
    H = cr_scratch_matrix(&s, m->at.n, m->q);
    CR_TRY(s.status);
    cri_gp_mean_fill(&m->mean, m->at.X, m->at.n, H);
    problem = (cri_gp_problem){ &m->at, m->q, H };
    CR_TRY(learn(cx, o, seed, &problem, m, report));
    CR_TRY(condition(cx, &problem, rows, group, m));
    m->rows = m->at.count;
    report->log_evidence = m->evidence - m->rows * log(rows->design->target_scale);
    report->evidence = CR_EVIDENCE_EXACT;
    *out_state = m;
    m = NULL;
done:
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
    report->log_evidence = m->evidence - m->rows * log(rows->design->target_scale);
    report->evidence = CR_EVIDENCE_EXACT;
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
    .predict = cri_gp_predict,
    .sample = cri_gp_sample,
    .describe = cri_gp_describe,
    .write = cri_gp_write,
    .read = cri_gp_read,
    .free = cri_gp_posterior_free,
};
