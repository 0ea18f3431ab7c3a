/* gp.c -- Gaussian process regression.
 *   y = h(x) . b + f(x) + e,   f ~ GP(0, k),   e ~ N(0, noise / weight)
 * The kernel is an expression (math/kernel); its parameters and the noise are learned by maximising
 * the evidence, exact up to some thousand rows, a bound of a sparse approximation beyond.
 * Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, ch. 2, 5. */
#include "models/kernel/inputs/gp_centre.h"
#include "gp_cost.h"
#include "models/gp/posterior/gp_inducing_table.h"
#include "gp_job.h"
#include "models/gp/posterior/gp_parts.h"
#include "models/gp/posterior/gp_update.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "data/table/table_internal.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define GP_OPTIONS(X)                                                                                \
    X(text,   kernel,       "", "", "covariance, an expression of kernels and columns (credence models "\
      "kernels); not given: rbf(ard) of the numbers (beyond 200: rbf), times hamming of the categories",               \
      "'matern52(ard) + linear'")                                                                    \
    X(text,   mean,         "auto", "", "mean function: zero, constant, linear or poly:K; auto: constant, "\
      "or zero with --scale-target standard", "linear")                                              \
    X(real,   noise,        "", ">=0", "variance of the noise; not given: learned, or 0 when the kernel "\
      "holds white", "0.01")                                                              \
    X(text,   noise_column, "", "COLUMN", "column of known variances of the noise, one a row", "v")  \
    X(choice, optimize,     "evidence", "evidence|none",                                             \
      "learn the hyper-parameters by the evidence, or keep them as given", "none")                   \
    X(count,  restarts,     "0", "0..10000", "further random starts of the search", "10")            \
    X(count,  max_iter,     "200", "1..1000000", "most steps from a start to its optimum over all rows; the report " \
      "counts those of the best start", "50")        \
    X(choice, approx,       "auto", "auto|exact|sor|dtc|fitc|vfe|svgp|nystrom|rff",                  \
      "exact, or through inducing inputs, landmarks or random features; auto: exact up to 4000 distinct " \
      "inputs, vfe up to 100000, svgp beyond", "vfe")                                                                   \
    X(count,  inducing,     "500", "1..100000", "number of inducing inputs, landmarks or features", "100") \
    X(text,   inducing_inputs, "", "FILE", "file with the inducing inputs, one a row, columns by name; not given: " \
      "--inducing of them are chosen", "z.csv")                                                      \
    X(flag,   optimize_inducing, "false", "", "move the inducing inputs too, after the rest", "true") \
    X(choice, solver,       "cholesky", "cholesky|cg", "how an exact process is solved: by a Cholesky factor, "\
      "or by conjugate gradients, for tens of thousands of rows", "cg")                              \
    X(count,  probes,       "32", "2..10000", "probes that estimate the log determinant of --solver cg: the error of " \
      "the log evidence falls with their root", "128")                                               \
    X(choice, hyper,        "best", "best|mcmc", "hyper-parameters at their best values, or predictions " \
      "averaged over draws of Markov chains", "mcmc")                                                \
    X(count,  draws_hyper,  "100", "4..100000", "draws of hyper-parameters, of four chains", "400")  \
    X(count,  batch,        "0", "0..10000000", "rows of a step of svgp; 0: all up to 1024, else a fiftieth, at " \
      "least 128 and at most 1024", "256")                                                           \
    X(count,  epochs,       "20", "1..100000", "passes of svgp over the rows at the most; more where that makes " \
      "less than 400 steps", "50")                                                                   \
    X(flag,   gradient,     "false", "", "tell the gradient of the log evidence by the logarithm of each " \
      "hyper-parameter", "true")                                                                     \
    X(flag,   loo,          "true", "", "score each row of an exact process by a fit to all others, which takes about as " \
      "long as the factor of the covariance", "false")
/* clang-format on */
enum { OPTIMIZE_EVIDENCE, OPTIMIZE_NONE };
enum { SOLVER_CHOLESKY, SOLVER_CG };
enum { HYPER_BEST, HYPER_MCMC };

CR_OPTIONS_STRUCT(gp_options, GP_OPTIONS);
#define ROW(...) CR_OPTION_ROW(gp_options, __VA_ARGS__)
static const cr_option gp_table[] = { GP_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW
static const char *const gp_roles[] = { "noise_column", NULL };
static const cri_goes    gp_goes[] = {
       { "restarts", "optimize", "evidence", false },
       { "max_iter", "optimize", "evidence", false },
       { "draws_hyper", "hyper", "mcmc", false },
       { "probes", "solver", "cg", false },
       { "inducing_inputs", "approx", "vfe|sor|dtc|fitc|svgp|auto", false },
       { "inducing_inputs", "solver", "cholesky", false },
       { "inducing_inputs", "hyper", "best", false },
       { "gradient", "hyper", "best", false },
       { "optimize_inducing", "approx", "vfe|sor|dtc|fitc|svgp|auto", false },
       { "optimize_inducing", "solver", "cholesky", false },
       { "optimize_inducing", "hyper", "best", false },
       { "optimize_inducing", "optimize", "evidence", false },
       { "batch", "approx", "svgp|auto", false },
       { "batch", "solver", "cholesky", false },
       { "batch", "hyper", "best", false },
       { "batch", "optimize", "evidence", false },
       { "epochs", "approx", "svgp|auto", false },
       { "epochs", "solver", "cholesky", false },
       { "epochs", "hyper", "best", false },
       { "epochs", "optimize", "evidence", false },
       CRI_GOES_LAST,
};

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
        if (!(rows->roles[0][i] > 0)) {
            char where[512];
            return cr_fail(
                cx, CR_EDATA,
                "%s: the variance of the noise, column '%s', is %g; it must be above 0",
                cri_table_where(rows->table, rows->index ? rows->index[i] : i, where, sizeof where),
                rows->design->roles[0], rows->roles[0][i]);
        }
    bool learned = !m->noise_column && !given && !m->white;
    m->noise_learned = learned && o->optimize == OPTIMIZE_EVIDENCE;
    m->noise = m->noise_column ? 1 /* times the column */ : learned ? -1 : given ? o->noise : 0;
    return CR_OK;
}

static cr_status check_weights(cr_ctx *cx, const cri_rows *rows)
{
    for (size_t i = 0; rows->w && i < rows->n; i++)
        if (rows->w[i] != 0 && rows->w[i] != 1) {
            cr_fail(cx, CR_EUNSUPPORTED,
                    "gp: weights other than 0 and 1 do not go with a white kernel");
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
            return cr_fail(cx, CR_EARG,
                           "--hyper mcmc is for an exact process: it does not go with --approx "
                           "and --solver cg");
        if (o->optimize == OPTIMIZE_NONE)
            return cr_fail(cx, CR_EARG, "--hyper mcmc does not go with --optimize none");
    }
    if (!m->cg) return CR_OK;
    if (o->approx != CRI_GP_AUTO && o->approx != CRI_GP_EXACT)
        return cr_fail(cx, CR_EARG,
                       "--solver cg is for an exact process: it does not go with --approx");
    if (m->white || m->noise == 0)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "--solver cg needs noise above 0, from --noise rather than from "
                       "a white kernel");
    return CR_OK;
}

/* Means over all rows leave nothing to methods that never look at all pairs of them. */
static cr_status check_centre(cr_ctx *cx, const cri_gp_posterior *m)
{
    bool batches = m->approx == CRI_GP_SVGP, waves = m->approx == CRI_GP_RFF;
    if (!cr_kernel_needs_rows(m->kernel) || !(m->cg || batches || waves)) return CR_OK;
    cr_fail(cx, CR_EUNSUPPORTED,
            "gp: centre(...) does not go with %s: its mean over the rows takes all pairs of "
            "them, which this is there to avoid",
            m->cg     ? "--solver cg"
            : batches ? "--approx svgp"
                      : "--approx rff");
    return cr_fail_hint(cx, "--approx vfe goes with it, for some ten thousand rows");
}

static cr_status check_sparse(cr_ctx *cx, const cri_gp_posterior *m)
{
    if (m->white)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "a sparse Gaussian process takes its noise from --noise, not "
                       "from a white kernel");
    if (m->noise == 0)
        return cr_fail(cx, CR_EUNSUPPORTED, "a sparse Gaussian process needs noise above 0");
    return CR_OK;
}

/* --- fit ------------------------------------------------------------------------------------- */

/* true when the mean function has x_j^power. */
static bool has_term(const cri_gp_mean *mean, size_t j, int power)
{
    for (size_t t = 0; t < mean->q; t++)
        if (mean->column[t] == (double)j && mean->power[t] == power) return true;
    return false;
}

/* Names the powers of columns that the mean function would have had. */
static void report_dropped(cr_ctx *cx, const cri_gp_mean *mean, const cr_design *design, int degree,
                           size_t dropped)
{
    char   names[256] = "";
    size_t used = 0;
    for (int power = 1; power <= degree; power++)
        for (size_t j = design->block.n, number = j; j < design->p; j++) {
            if (cri_design_is_code(design, j)) continue;
            const char *name = design->terms[j - design->block.n].name;
            if (has_term(mean, number++, power) || used + strlen(name) + 16 > sizeof names)
                continue;
            used +=
                (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", name);
            if (power > 1)
                used += (size_t)snprintf(names + used, sizeof names - used, "^%d", power);
        }
    cr_log(cx, CR_LOG_WARNING,
           "%zu term%s of the mean function depend%s on others and %s left out: %s", dropped,
           dropped == 1 ? "" : "s", dropped == 1 ? "s" : "", dropped == 1 ? "was" : "were", names);
}

static cr_status set_mean(cr_ctx *cx, const cri_gp_job *j, const gp_options *o,
                          const cri_gp_data *data)
{
    cr_status        st = CR_OK;
    int              degree = 0;
    size_t           dropped = 0;
    const cr_design *design = j->rows->design;
    bool             centred = design->target_shift != 0 || design->target_scale != 1;
    if (strcmp(o->mean, "auto") == 0)
        degree = centred ? -1 : 0;
    else
        CR_TRY(cri_gp_mean_degree(cx, o->mean, &degree));
    CR_TRY(cri_gp_mean_new(cx, degree, data, &j->m->mean, &dropped));
    if (dropped) report_dropped(cx, &j->m->mean, design, degree, dropped);
done:
    return st;
}

static cr_status check_noise_free(cr_ctx *cx, const cri_gp_job *j)
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
                "rows %zu and %zu have the same inputs but different targets, which no function "
                "without "
                "noise can give",
                data->first[g] + 1, row + 1);
        return cr_fail_hint(cx, "leave out --noise 0: the noise is learned then");
    }
    return CR_OK;
}

/* Random features: their draws, and the memory for what they become. */
static cr_status prepare_features(cr_ctx *cx, cr_scratch *s, cri_gp_job *j)
{
    cr_status          st = CR_OK;
    cri_gp_posterior  *m = j->m;
    const cri_gp_data *data = &j->data;
    CR_TRY(cri_gp_spectrum_new(cx, s, m->kernel, j->o.inducing, data->d, j->seed, &j->spectrum));
    CR_TRY(cri_gp_data_new(cx, j->spectrum.m, data->d, data->c, &m->at));
done:
    return st;
}

/* Options that do nothing to the process that --approx auto chose; and inducing inputs of any exact
 * one. */
static void report_unused(cr_ctx *cx, const gp_options *o, const cri_gp_posterior *m)
{
    bool        exact = m->approx == CRI_GP_EXACT;
    const char *what = exact ? "an exact process" : "a sparse process of all rows at a time";
    if (exact && !m->cg) cri_tell_unused(cx, gp_table, o, "inducing", what, "--approx vfe");
    if (o->inducing_inputs)
        cri_tell_unused(cx, gp_table, o, "inducing", "inducing inputs that are given",
                        "inputs of our choice");
    if (exact) cri_tell_unused(cx, gp_table, o, "optimize_inducing", what, "--approx vfe");
    if (!exact || m->cg)
        cri_tell_unused(cx, gp_table, o, "loo", m->cg ? "--solver cg" : what, "an exact process");
    if (m->approx == CRI_GP_SVGP) return;
    cri_tell_unused(cx, gp_table, o, "batch", what, "--approx svgp");
    cri_tell_unused(cx, gp_table, o, "epochs", what, "--approx svgp");
}

/* Rows of equal inputs are merged; not for fitc, where K - Q is each row's own, unless every input
 * is an inducing one by choice, which leaves K - Q = 0. */
static cr_status gather_rows(cr_ctx *cx, const gp_options *o, cri_gp_job *j)
{
    cr_status     st = CR_OK;
    const double *shares = j->rows->roles[0];
    CR_TRY(cri_gp_data_add(cx, &j->data, j->rows, shares, !j->m->white, j->group));
    if (o->approx == CRI_GP_FITC && (o->inducing_inputs || j->data.n > o->inducing)) {
        cri_gp_data_free(cx, &j->data);
        CR_TRY(cri_gp_data_add(cx, &j->data, j->rows, shares, false, j->group));
    }
done:
    return st;
}

/* Inducing inputs of the user's choice, if there are any: with them a process is sparse however few
 * rows there are. */
static cr_status read_given(cr_ctx *cx, const gp_options *o, cri_gp_job *j)
{
    cr_status st = CR_OK;
    if (!o->inducing_inputs) return CR_OK;
    CR_TRY(cri_gp_inducing_read(cx, j->m->kernel, j->rows->design, o->inducing_inputs, &j->m->at));
    j->o.inducing = j->m->at.n;
done:
    return st;
}

static int choose_approx(cr_ctx *cx, const gp_options *o, const cri_gp_job *j)
{
    size_t n = j->data.n;
    if (j->m->cg || j->o.mcmc) return CRI_GP_EXACT;
    if (o->approx != CRI_GP_AUTO) return o->approx;
    return (int)(o->inducing_inputs ? cri_gp_choose_sparse(n)
                                    : cri_gp_choose(cx, n, j->o.inducing));
}

/* Distinct inputs, inducing ones if any, mean function and memory. */
static cr_status prepare(cr_ctx *cx, cr_scratch *s, const gp_options *o, cri_gp_job *j)
{
    cr_status          st = CR_OK;
    cri_gp_posterior  *m = j->m;
    const cri_gp_data *data = &j->data;
    CR_TRY(gather_rows(cx, o, j));
    CR_TRY(cri_gp_check_data(cx, m->kernel, j->rows, data));
    m->rows = j->data.count;
    CR_TRY(cri_gp_centre(cx, m->kernel, data, j->rows, j->group));
    CR_TRY(check_solver(cx, o, m));
    CR_TRY(read_given(cx, o, j));
    m->approx = choose_approx(cx, o, j);
    report_unused(cx, o, m);
    CR_TRY(check_noise_free(cx, j));
    CR_TRY(check_centre(cx, m));
    if (m->approx == CRI_GP_EXACT) {
        CR_TRY(m->cg ? cri_gp_cost_cg(cx, data->n, j->o.inducing, j->o.probes, j->o.optimize)
                     : cri_gp_cost_exact(cx, data->n));
        if (j->o.mcmc)
            CR_TRY(cri_gp_cost_mcmc(cx, data->n, cr_kernel_theta_size(m->kernel) + m->noise_learned,
                                    j->o.draws));
        m->at = j->data;
        j->data = (cri_gp_data){ 0 };
        data = &m->at;
    } else {
        CR_TRY(check_sparse(cx, m));
        CR_TRY(cri_gp_cost_sparse(cx, (cri_gp_approx)m->approx, data->n, j->o.inducing));
        if (m->approx == CRI_GP_RFF)
            CR_TRY(prepare_features(cx, s, j));
        else if (!o->inducing_inputs)
            CR_TRY(cri_gp_inducing(cx, data, j->o.inducing, j->seed, &m->at));
    }
    CR_TRY(set_mean(cx, j, o, data));
    if (m->approx != CRI_GP_EXACT && m->mean.q > 0) {
        j->shift = cri_gp_data_mean(data);
        cri_gp_data_shift(&j->data, j->shift);
    }
    CR_TRY(cri_gp_posterior_allocate(cx, m, m->approx != CRI_GP_EXACT));
    j->H = cr_scratch_matrix(s, data->n, m->q);
    CR_TRY(s->status);
    cri_gp_mean_fill(&m->mean, data->X, data->n, j->H);
    j->problem = (cri_gp_problem){ data, m->q, j->H };
    j->rff = (cri_gp_rff){ .spectrum = &j->spectrum,
                           .W = m->at.X,
                           .weight = m->at.y,
                           .phase = m->at.r,
                           .L2 = m->L2,
                           .g = m->alpha,
                           .beta = m->beta,
                           .U = m->U,
                           .A = m->A };
    cri_gp_job_set_sparse(j);
    m->kernel_error = NAN;
done:
    return st;
}

static void report_evidence(const cri_gp_posterior *m, const cr_design *design, cr_report *report)
{
    report->log_evidence = m->evidence - m->rows * log(design->target_scale);
    report->evidence = m->cg                                                 ? CR_EVIDENCE_ESTIMATE
                       : m->approx == CRI_GP_EXACT                           ? CR_EVIDENCE_EXACT
                       : m->approx == CRI_GP_VFE || m->approx == CRI_GP_SVGP ? CR_EVIDENCE_BOUND
                                                                             : CR_EVIDENCE_ESTIMATE;
}

static cri_gp_plan plan_of(const gp_options *o)
{
    return (cri_gp_plan){ .inducing = o->inducing,
                          .restarts = o->restarts,
                          .max_iter = o->max_iter,
                          .batch = o->batch,
                          .epochs = o->epochs,
                          .draws = o->draws_hyper,
                          .probes = o->probes,
                          .optimize = o->optimize == OPTIMIZE_EVIDENCE,
                          .move_inputs = o->optimize_inducing,
                          .loo = o->loo,
                          .mcmc = o->hyper == HYPER_MCMC };
}

static cr_status gp_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                        void **out_state, cr_report *report)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    const gp_options *o = options;
    cri_gp_posterior *m = cr_alloc(cx, 1, sizeof *m);
    cri_gp_job        j = {
               .o = plan_of(o), .rows = rows, .seed = seed, .m = m, .group = cr_scratch_index(&s, rows->n)
    };

    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(s.status);
    CR_TRY(cri_gp_kernel_scaled(cx, o->kernel, rows->design, &m->kernel));
    m->white = holds_white(m->kernel);
    CR_TRY(read_noise(cx, o, rows, m));
    if (m->white) CR_TRY(check_weights(cx, rows));
    CR_TRY(prepare(cx, &s, o, &j));
    if (m->approx == CRI_GP_EXACT && !m->cg)
        CR_TRY(cri_gp_tabulate(cx, m->kernel, rows->design, j.o.optimize || j.o.mcmc));
    CR_TRY(cri_gp_job_learn(cx, &j, report));
    if (o->gradient && !(m->gradient = cr_alloc(cx, m->n_theta + 1, sizeof *m->gradient)))
        CR_TRY(CR_ENOMEM);
    CR_TRY(cri_gp_job_condition(cx, &j));
    cri_kernel_drop_tables(cx, m->kernel);
    CR_TRY(cri_gp_posterior_keep(cx, m));
    report_evidence(m, rows->design, report);
    *out_state = m;
    m = NULL;
done:
    cri_gp_data_free(cx, &j.data);
    cri_state_free(cx, &cri_class_gp, m);
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

static cr_status gp_shape(cr_ctx *cx, const void *options, cr_design *design)
{
    return cri_gp_shape_texts(cx, ((const gp_options *)options)->kernel, design);
}

const cr_model_class cri_class_gp = {
    .name = "gp",
    .example = "examples/mcycle.csv --target accel",
    .summary = "Gaussian process regression with a kernel of your choice",
    .formulas = "y = h(x).b + f(x) + e,   f ~ GP(0, k),   e ~ N(0, noise)\n"
                "kernel parameters and noise at the maximum of the evidence;\n"
                "prediction: normal, with the uncertainty of f and b",
    .reference = "Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, ch. 2, 5",
    .tasks = CR_TASK_REGRESSION,
    .for_classes = "the model gp-classify predicts classes",
    .options = gp_table,
    .options_size = sizeof(gp_options),
    .default_scale = CR_SCALE_NONE,
    .coding = CRI_CODING_CODE,
    .roles = gp_roles,
    .goes = gp_goes,
    .shape = gp_shape,
    .whole = &(const cri_whole_face){ .fit = gp_fit, .update = gp_update, .update_holds = true },
    .rows = &(const cri_rows_face){ .predict = cri_gp_predict,
                                    .sample = cri_gp_sample,
                                    .means_alone = true },
    .function = &(const cri_function_face){ .part = cri_gp_part,
                                            .function = cri_gp_function,
                                            .functions = cri_gp_functions,
                                            .slopes = cri_gp_slopes,
                                            .hyper = cri_gp_hyper,
                                            .evidence_at = cri_gp_evidence_at,
                                            .inducing = cri_gp_inducing_report },
    .describe = cri_gp_describe,
    .statistics = cri_gp_statistics,
    .state = cri_gp_posterior_record,
    .state_size = sizeof(cri_gp_posterior),
    .ready = cri_gp_ready,
    .release = cri_gp_release,
};
