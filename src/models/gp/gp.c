/* gp.c -- Gaussian process regression.
 *   y = h(x) . b + f(x) + e,   f ~ GP(0, k),   e ~ N(0, noise / weight)
 * or noise whose logarithm is linear in columns, which is a term of the kernel (posterior/gp_noise.h).
 * The kernel k is an expression (math/kernel); its parameters and the noise are learned by
 * maximising the evidence p(y), or a bound of it; b, under a flat prior, is integrated out of
 * predictions.  n rows, d columns of numbers and c categories, q terms of the mean function h.
 * The method (gp_method.h) says how that is computed: exactly in O(n^3) up to some thousand rows,
 * by conjugate gradients, through inducing inputs or by random features beyond.
 * Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, ch. 2, 5.
 *
 *   exact/      covariance, its factor, evidence and gradient; leave-one-out; pivoted Cholesky
 *   search/     the maximum of the evidence: starts, optimiser runs, moves of terms, Hessian
 *   sparse/     inducing inputs, mini-batches, random Fourier features
 *   cg/         conjugate gradients
 *   posterior/  what is fitted, and the answers that it gives
 *   methods/    the table of methods: how each learns, conditions and answers
 *   online/, classify/   the models gp-online and gp-classify */
#include "models/gp/methods/gp_cost.h"
#include "models/gp/methods/gp_fit.h"
#include "models/gp/posterior/gp_noise.h"
#include "models/common/some_rows.h"
#include "base/context_internal.h"
#include "data/table/table_internal.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- options --------------------------------------------------------------------------------- */

/* clang-format off */
#define GP_OPTIONS(X)                                                                                \
    X(text,   kernel,       "", "", "covariance, a kernel expression (see credence models kernels); default: rbf(ard) of the numbers (rbf if there are more than 200), times hamming of the categories",               \
      "'matern52(ard) + linear'")                                                                    \
    X(text,   mean,         "auto", "", "mean function: zero, constant, linear or poly:K; auto: constant, "\
      "or zero with --scale-target standard", "linear")                                              \
    X(real,   noise,        "", ">=0", "variance of the noise; default: learned, or 0 if the kernel contains white", "0.01")                                                              \
    X(text,   noise_column, "", "COLUMN", "column with the known noise variance of each row", "v")  \
    X(list,   noise_model,  "", "COLUMN", "columns in which the logarithm of the noise sd is linear; default: the " \
      "same noise everywhere", "x")                                                                   \
    X(choice, optimize,     "evidence", "evidence|none",                                             \
      "learn the hyper-parameters by maximising the evidence, or keep them as given", "none")                   \
    X(count,  restarts,     "0", "0..10000", "additional random starts of the search", "10")            \
    X(count,  max_iter,     "200", "1..1000000", "maximum number of steps from a start to its optimum over all rows; the report counts those of the best start", "50")        \
    X(choice, approx,       "auto", "auto|exact|sor|dtc|fitc|vfe|svgp|nystrom|rff",                  \
      "exact, or with inducing inputs, landmarks or random features; auto: exact up to 4000 distinct inputs, vfe up to 100000, svgp beyond", "vfe")                                                                   \
    X(count,  inducing,     "500", "1..100000", "number of inducing inputs, landmarks or features", "100") \
    X(text,   inducing_inputs, "", "FILE", "file with the inducing inputs, one per row, with columns by name; default: --inducing inputs are chosen", "z.csv")                                                      \
    X(flag,   optimize_inducing, "false", "", "also optimise the positions of the inducing inputs", "true") \
    X(choice, solver,       "cholesky", "cholesky|cg", "how an exact process is solved: by a Cholesky factor or, for tens of thousands of rows, by conjugate gradients", "cg")                              \
    X(count,  probes,       "32", "2..10000", "probes for the log determinant of --solver cg: the error of the log evidence falls with the square root of their number", "128")                                               \
    X(choice, hyper,        "auto", "auto|map|best|laplace|mcmc", "hyper-parameters at the maximum of evidence times " \
      "weak priors (map), of the evidence alone (best), or predictions averaged over draws of them, by Laplace's " \
      "approximation or by Markov chains; auto: map, or an average if there are few rows for them", "best") \
    X(count,  draws_hyper,  "100", "4..100000", "draws of hyper-parameters", "400")  \
    X(count,  batch,        "0", "0..10000000", "rows per step of svgp; 0: all up to 1024, otherwise a fiftieth, at least 128 and at most 1024", "256")                                                           \
    X(count,  epochs,       "20", "1..100000", "maximum number of passes of svgp over the rows; more if that makes fewer than 400 steps", "50")                                                                   \
    X(flag,   gradient,     "false", "", "report the gradient of the log evidence with respect to the logarithm of each hyper-parameter", "true")                                                                     \
    X(flag,   loo,          "true", "", "score each row of an exact process given all others, which takes about as long as the Cholesky factor", "false")
/* clang-format on */
enum { OPTIMIZE_EVIDENCE, OPTIMIZE_NONE };
enum { SOLVER_CHOLESKY, SOLVER_CG };
CR_OPTIONS(gp_options, gp_table, GP_OPTIONS);
static const char *const     gp_roles[] = { "noise_column", NULL };
static const cri_requirement gp_requirements[] = {
    { "noise_model", "optimize", "evidence", false },
    { "restarts", "optimize", "evidence", false },
    { "max_iter", "optimize", "evidence", false },
    { "draws_hyper", "hyper", "mcmc|laplace|auto", false },
    { "probes", "solver", "cg", false },
    { "inducing_inputs", "approx", "vfe|sor|dtc|fitc|svgp|auto", false },
    { "inducing_inputs", "solver", "cholesky", false },
    { "inducing_inputs", "hyper", "best|map|auto", false },
    { "gradient", "hyper", "best|map|auto", false },
    { "optimize_inducing", "approx", "vfe|sor|dtc|fitc|svgp|auto", false },
    { "optimize_inducing", "solver", "cholesky", false },
    { "optimize_inducing", "hyper", "best|map|auto", false },
    { "optimize_inducing", "optimize", "evidence", false },
    { "batch", "approx", "svgp|auto", false },
    { "batch", "solver", "cholesky", false },
    { "batch", "hyper", "best|map|auto", false },
    { "batch", "optimize", "evidence", false },
    { "epochs", "approx", "svgp|auto", false },
    { "epochs", "solver", "cholesky", false },
    { "epochs", "hyper", "best|map|auto", false },
    { "epochs", "optimize", "evidence", false },
    CRI_REQUIREMENT_LAST,
};

/* --- the kernel and the noise ---------------------------------------------------------------- */

/* The noise: given, a column, to be learned (-1 until there is a start), or in the kernel. */
static cr_status read_noise(cr_ctx *cx, const gp_options *o, const cri_rows *rows,
                            cri_gp_posterior *m)
{
    bool given = !isnan(o->noise);
    m->noise_column = rows->roles[0] != NULL;
    if (m->noise_column && given)
        return cr_fail(cx, CR_EARG, "--noise and --noise-column cannot be combined");
    if (o->noise_model && (m->noise_column || given))
        return cr_fail(cx, CR_EARG, "--noise-model and %s cannot be combined",
                       given ? "--noise" : "--noise-column");
    for (size_t i = 0; m->noise_column && i < rows->n; i++)
        if (!(rows->roles[0][i] > 0)) {
            char where[512];
            return cr_fail(
                cx, CR_EDATA,
                "%s: the variance of the noise, column '%s', is %g, but must be above 0",
                cri_table_where(rows->table, rows->index ? rows->index[i] : i, where, sizeof where),
                rows->design->roles[0], rows->roles[0][i]);
        }
    bool learned = !m->noise_column && !given && !m->white;
    m->noise_learned = learned && o->optimize == OPTIMIZE_EVIDENCE;
    m->noise = m->noise_column ? 1 /* times the column */ : learned ? -1 : given ? o->noise : 0;
    return CR_OK;
}

static cr_status check_weights(cr_ctx *cx, const cr_kernel *k, const cri_rows *rows)
{
    bool model = cri_gp_noise_level(k) != SIZE_MAX;
    for (size_t i = 0; rows->w && i < rows->n; i++)
        if (rows->w[i] != 0 && rows->w[i] != 1) {
            cr_fail(cx, CR_EUNSUPPORTED,
                    "gp: weights other than 0 and 1 cannot be combined with %s",
                    model ? "--noise-model" : "a white kernel");
            return model ? CR_EUNSUPPORTED
                         : cr_fail_hint(
                               cx, "leave white out of the kernel: the noise is learned anyway");
        }
    return CR_OK;
}

/* The noise of a term of the kernel is for methods that look at all rows. */
static cr_status check_noise_model(cr_ctx *cx, const gp_options *o, const cri_gp_method *method)
{
    bool cg = method == &cri_gp_method_cg;
    if (!o->noise_model || (method->approx == CRI_GP_EXACT && !cg)) return CR_OK;
    cr_fail(cx, CR_EUNSUPPORTED,
            "--noise-model is for an exact process: it cannot be combined with %s%s",
            method->option,
            o->approx == CRI_GP_AUTO && !cg ? ", the default for so many rows" : "");
    return cr_fail_hint(cx, cg ? "--solver cholesky" : "--approx exact");
}

/* --- the mean function ----------------------------------------------------------------------- */

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

static cr_status set_mean(cr_ctx *cx, const cri_gp_fit *f, const gp_options *o)
{
    cr_status        st = CR_OK;
    int              degree = 0;
    size_t           dropped = 0;
    const cr_design *design = f->rows->design;
    bool             centred = design->target_shift != 0 || design->target_scale != 1;
    if (strcmp(o->mean, "auto") == 0)
        degree = centred ? -1 : 0;
    else
        CR_TRY(cri_gp_mean_degree(cx, o->mean, &degree));
    CR_TRY(cri_gp_mean_new(cx, degree, f->problem.data, &f->m->mean, &dropped));
    if (dropped) report_dropped(cx, &f->m->mean, design, degree, dropped);
done:
    return st;
}

/* --- the method ------------------------------------------------------------------------------ */

/* Averages over hyper-parameters and --solver cg are for an exact process. */
static cr_status check_options(cr_ctx *cx, const gp_options *o)
{
    bool        cg = o->solver == SOLVER_CG, average = o->hyper >= CRI_GP_CHOICE_LAPLACE;
    bool        sparse = o->approx != CRI_GP_AUTO && o->approx != CRI_GP_EXACT;
    const char *hyper = o->hyper == CRI_GP_CHOICE_MCMC ? "mcmc" : "laplace";
    if (average && (cg || sparse))
        return cr_fail(cx, CR_EARG,
                       "--hyper %s is for an exact process: it cannot be combined with --approx or "
                       "--solver cg",
                       hyper);
    if (average && o->optimize == OPTIMIZE_NONE)
        return cr_fail(cx, CR_EARG, "--hyper %s cannot be combined with --optimize none", hyper);
    if (cg && sparse)
        return cr_fail(cx, CR_EARG,
                       "--solver cg is for an exact process: it cannot be combined with --approx");
    return CR_OK;
}

/* With inducing inputs of the user's choice a process is sparse however few rows there are. */
static const cri_gp_method *choose_method(cr_ctx *cx, const gp_options *o, const cri_gp_fit *f)
{
    size_t n = f->data.n;
    if (o->solver == SOLVER_CG) return &cri_gp_method_cg;
    if (o->hyper >= CRI_GP_CHOICE_LAPLACE) return &cri_gp_method_mcmc;
    if (o->approx != CRI_GP_AUTO) return cri_gp_method_at(o->approx);
    return cri_gp_method_at(f->given_inputs ? (int)cri_gp_choose_sparse(n)
                                            : (int)cri_gp_choose(cx, n, f->inducing));
}

/* true when the method reads the option. */
static bool uses(const cri_gp_method *method, const char *option)
{
    size_t length = strlen(option);
    for (const char *at = method->uses; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, option, length) == 0 && strchr(" ", at[length])) return true;
    }
    return false;
}

/* Options that do nothing to the process that --approx auto chose; and the number of inducing
 * inputs where these are given. */
static void report_unused(cr_ctx *cx, const gp_options *o, const cri_gp_method *method)
{
    static const struct {
        const char *option, *instead;
    } some[] = { { "inducing", "--approx vfe" },
                 { "optimize_inducing", "--approx vfe" },
                 { "loo", "an exact process" },
                 { "batch", "--approx svgp" },
                 { "epochs", "--approx svgp" } };
    if (o->inducing_inputs)
        cri_tell_unused(cx, gp_table, o, "inducing", "given inducing inputs",
                        "inducing inputs chosen by the program");
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (!uses(method, some[i].option))
            cri_tell_unused(cx, gp_table, o, some[i].option, method->process, some[i].instead);
}

/* Means over all rows leave nothing to methods that never look at all pairs of them. */
static cr_status check_centre(cr_ctx *cx, const cri_gp_fit *f)
{
    if (!cr_kernel_needs_rows(f->m->kernel) || !f->method->few_pairs) return CR_OK;
    cr_fail(cx, CR_EUNSUPPORTED,
            "gp: centre(...) cannot be combined with %s: its mean over the rows needs all pairs of "
            "rows, which this method avoids",
            f->method->option);
    return cr_fail_hint(cx, "--approx vfe works with it, for up to about ten thousand rows");
}

/* --- the rows -------------------------------------------------------------------------------- */

/* Rows of equal inputs are merged; not for fitc, where K - Q is each row's own, unless every input
 * is an inducing one by choice, which leaves K - Q = 0. */
static cr_status gather_rows(cr_ctx *cx, const gp_options *o, cri_gp_fit *f)
{
    cr_status     st = CR_OK;
    const double *shares = f->rows->roles[0];
    CR_TRY(cri_gp_data_add(cx, &f->data, f->rows, shares, !f->m->white, f->group));
    if (o->approx == CRI_GP_FITC && (f->given_inputs || f->data.n > f->inducing)) {
        cri_gp_data_free(cx, &f->data);
        CR_TRY(cri_gp_data_add(cx, &f->data, f->rows, shares, false, f->group));
    }
    CR_TRY(cri_gp_check_data(cx, f->m->kernel, f->rows, &f->data));
    f->m->rows = f->data.count;
    CR_TRY(cri_gp_centre(cx, f->m->kernel, &f->data, f->rows, f->group));
done:
    return st;
}

/* The distinct inputs, the method, and the inputs that its predictions rest on. */
static cr_status prepare_inputs(cr_ctx *cx, cr_scratch *s, const gp_options *o, cri_gp_fit *f)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *m = f->m;
    CR_TRY(gather_rows(cx, o, f));
    CR_TRY(check_options(cx, o));
    if (f->given_inputs) {
        CR_TRY(cri_gp_inducing_read(cx, m->kernel, f->rows->design, o->inducing_inputs, &m->at));
        f->inducing = m->at.n;
    }
    f->method = choose_method(cx, o, f);
    m->approx = (int)f->method->approx;
    report_unused(cx, o, f->method);
    CR_TRY(check_noise_model(cx, o, f->method));
    CR_TRY(f->method->check(cx, f));
    CR_TRY(check_centre(cx, f));
    CR_TRY(f->method->cost(cx, f));
    f->problem.data = &f->data;
    CR_TRY(f->method->prepare(cx, s, f));
done:
    return st;
}

/* Mean function, memory, and the objective of the method.  Sums of squares of sparse methods would
 * lose the digits of a target far from 0: its mean is taken off where b can give it back. */
static cr_status prepare(cr_ctx *cx, cr_scratch *s, const gp_options *o, cri_gp_fit *f)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *m = f->m;
    CR_TRY(prepare_inputs(cx, s, o, f));
    CR_TRY(set_mean(cx, f, o));
    if (f->problem.data == &f->data && m->mean.q > 0) {
        f->shift = cri_gp_data_mean(&f->data);
        cri_gp_data_shift(&f->data, f->shift);
    }
    CR_TRY(cri_gp_posterior_allocate(cx, m, f->method->factors));
    const cri_gp_data *data = f->problem.data;
    double            *H = cr_scratch_matrix(s, data->n, m->q);
    CR_TRY(s->status);
    cri_gp_mean_fill(&m->mean, data->X, data->n, H);
    f->problem = (cri_gp_problem){ data, m->q, H };
    f->learning = (cri_gp_learning){ .problem = &f->problem,
                                     .learn_noise = m->noise_learned,
                                     .restarts = f->restarts,
                                     .max_iter = f->max_iter,
                                     .seed = f->seed,
                                     .chains = f->hyper == CRI_GP_CHOICE_MCMC,
                                     .search_rows = CRI_GP_SEARCH_ROWS };
    CR_TRY(f->method->open(cx, s, f));
done:
    return st;
}

/* --- fit and update -------------------------------------------------------------------------- */

static void report_evidence(const cri_gp_posterior *m, const cr_design *design, cr_report *report)
{
    report->evidence = cri_gp_method_of(m)->evidence;
    if (m->occam != 0 && report->evidence == CR_EVIDENCE_EXACT)
        report->evidence = CR_EVIDENCE_LAPLACE;
    report->log_evidence = m->evidence + m->occam - m->rows * log(design->target_scale);
}

static cri_gp_fit fit_of(const gp_options *o, const cri_rows *rows, uint64_t seed,
                         cri_gp_posterior *m)
{
    return (cri_gp_fit){ .inducing = o->inducing,
                         .restarts = o->restarts,
                         .max_iter = o->max_iter,
                         .batch = o->batch,
                         .epochs = o->epochs,
                         .draws = o->draws_hyper,
                         .probes = o->probes,
                         .hyper = o->hyper,
                         .average = o->hyper == CRI_GP_CHOICE_LAPLACE ? CRI_GP_HYPER_LAPLACE
                                                                      : CRI_GP_HYPER_MCMC,
                         .optimize = o->optimize == OPTIMIZE_EVIDENCE,
                         .move_inputs = o->optimize_inducing,
                         .given_inputs = o->inducing_inputs != NULL,
                         .loo = o->loo,
                         .seed = seed,
                         .rows = rows,
                         .m = m };
}

static cr_status fit_rows(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                          void **out_state, cr_report *report)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    const gp_options *o = options;
    cri_gp_posterior *m = cr_alloc(cx, 1, sizeof *m);
    cri_gp_fit        f = fit_of(o, rows, seed, m);
    f.laplace.log_integral = NAN;

    cri_progress_open(cx, "gp: fitting");
    f.group = cr_scratch_index(&s, rows->n);
    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(s.status);
    m->loo_score = m->loo_rmse = m->kernel_error = NAN;
    CR_TRY(cri_gp_kernel_scaled(cx, o->kernel, rows->design, &m->kernel));
    if (o->noise_model) CR_TRY(cri_gp_noise_add(cx, o->noise_model, rows, &m->kernel));
    m->white = cri_gp_kernel_has_white(m->kernel);
    CR_TRY(read_noise(cx, o, rows, m));
    if (m->white) CR_TRY(check_weights(cx, m->kernel, rows));
    CR_TRY(prepare(cx, &s, o, &f));
    if (o->gradient && !(m->gradient = cr_alloc(cx, m->n_theta + 1, sizeof *m->gradient)))
        CR_TRY(CR_ENOMEM);
    CR_TRY(cri_gp_fit_learn(cx, &s, &f, report));
    cri_progress_stage(cx, 1);
    CR_TRY(cri_kernel_settle(cx, m->kernel));
    CR_TRY(f.method->condition(cx, &f));
    CR_TRY(cri_gp_charge_evidence(cx, &f));
    cri_kernel_drop_tables(cx, m->kernel);
    CR_TRY(cri_gp_posterior_keep(cx, m));
    report_evidence(m, rows->design, report);
    *out_state = m;
    m = NULL;
done:
    cri_progress_close(cx);
    cri_gp_data_free(cx, &f.data);
    cri_state_free(cx, &cri_class_gp, m);
    cr_scratch_end(&s);
    return st;
}

/* Within a time limit, of some rows where all take too long. */
static cr_status gp_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                        void **out_state, cr_report *report)
{
    return cri_fit_some(cx, fit_rows, rows, options, seed, out_state, report);
}

static cr_status gp_update(cr_ctx *cx, const void *state, const cri_rows *rows, const void *options,
                           void **out_state, cr_report *report)
{
    cr_status               st = CR_OK;
    const cri_gp_posterior *old = state;
    const cri_gp_method    *method = cri_gp_method_of(old);
    cri_gp_posterior       *m = NULL;
    (void)options;
    if (!method->extend) {
        cr_fail(cx, CR_EUNSUPPORTED, "%s has no exact update",
                old->L2        ? "a sparse Gaussian process"
                : old->n_draws ? "a Gaussian process averaged over its hyper-parameters"
                               : method->option);
        CR_TRY(cr_fail_hint(cx, old->n_draws ? "a model fitted with --hyper map can be updated"
                                             : "fit it again to all the rows"));
    }
    if (old->white) CR_TRY(check_weights(cx, old->kernel, rows));
    CR_TRY(method->extend(cx, old, rows, &m));
    report->stop = CR_STOP_CLOSED_FORM;
    report_evidence(m, rows->design, report);
    *out_state = m;
done:
    return st;
}

/* --- the descriptor -------------------------------------------------------------------------- */

static cr_status gp_shape(cr_ctx *cx, const void *options, cr_design *design)
{
    return cri_gp_shape_texts(cx, ((const gp_options *)options)->kernel, design);
}

const cr_model_class cri_class_gp = {
    .name = "gp",
    .example = "examples/mcycle.csv --target accel",
    .summary = "Gaussian process regression with a kernel of your choice",
    .formulas = "y = h(x).b + f(x) + e,   f ~ GP(0, k),   e ~ N(0, noise)\n"
                "--noise-model:  log sd of e linear in columns\n"
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
    .requirements = gp_requirements,
    .shape = gp_shape,
    .whole = &(const cri_whole_face){ .fit = gp_fit, .update = gp_update, .update_holds = true },
    .rows = &(const cri_rows_face){ .predict = cri_gp_predict,
                                    .sample = cri_gp_sample,
                                    .mean_spread = cri_gp_mean_spread,
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
