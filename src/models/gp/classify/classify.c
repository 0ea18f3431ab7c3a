/* classify.c -- Gaussian process classification.
 *   f ~ GP(0, k),   P(class | f) = logistic(f) or Phi(f); for more than two classes softmax of one f a class
 * The posterior of f is approximated by a normal: Laplace's, or, through inducing inputs, a
 * variational one.  The parameters of the kernel are at the maximum of the approximate log
 * evidence.  Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, ch. 3, 5. */
#include "classify.h"
#include "models/gp/posterior/gp_method.h"
#include "classify_sparse.h"
#include "models/kernel/inputs/gp_centre.h"
#include "models/gp/search/gp_optimiser.h"
#include "models/gp/sparse/gp_sparse.h"
#include "models/logistic/classifier.h"
#include "base/context_internal.h"
#include "math/dense/chol.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define GP_CLASSIFY_OPTIONS(X)                                                                       \
    X(text,   kernel,     "", "", "covariance of the latent function, an expression of kernels and columns "\
      "(credence models kernels); not given: rbf(ard) of the numbers (beyond 200: rbf), times hamming of the categories", \
      "'matern52(ard) + linear'")                                                                    \
    X(choice, likelihood, "logit", "logit|probit",                                                   \
      "from latent function to probability; more than two classes have softmax", "probit")           \
    X(choice, mean,       "zero", "zero|constant",                                                   \
      "prior mean of the latent function: 0, or a constant with a normal prior whose variance is learned", \
      "constant")                                                                                    \
    X(choice, optimize,   "evidence", "evidence|none",                                               \
      "learn the hyper-parameters by the evidence, or keep them as given", "none")                   \
    X(count,  restarts,   "0", "0..10000", "further random starts of the search", "10")              \
    X(count,  max_iter,   "200", "1..1000000", "most steps of one run of the search", "50")          \
    X(choice, approx,     "auto", "auto|laplace|svgp",                                               \
      "Laplace's approximation of all rows, or a variational one through inducing inputs; auto: laplace up to " \
      "2000 distinct inputs (fewer with many classes), svgp beyond", "svgp")                         \
    X(count,  inducing,   "100", "1..100000", "number of inducing inputs of svgp", "300")
/* clang-format on */
enum { OPTIMIZE_EVIDENCE, OPTIMIZE_NONE };
enum { APPROX_AUTO, APPROX_LAPLACE, APPROX_SVGP };
enum {
    EXACT_ROWS = 2000,
    SEARCH_ROWS = 200,
    SPARSE_ROWS = 300,
    MANY_ROWS = 150,
    TELL_ROWS = 1500,
    SDS_ROWS = 700,
    SDS_PARAMETERS = 30,
    ONE_THREAD_ROWS = 600
};

CR_OPTIONS(gp_classify_options, gp_classify_table, GP_CLASSIFY_OPTIONS);
static const cri_requirement gp_classify_requirements[] = {
    { "restarts", "optimize", "evidence", false },
    { "max_iter", "optimize", "evidence", false },
    CRI_REQUIREMENT_LAST,
};

/* One fit on its way. */
typedef struct fit {
    const gp_classify_options *o;
    const cri_rows            *rows;
    uint64_t                   seed;
    cri_classify              *m;
    cri_gp_data                inputs; /* distinct; of Laplace's they go to m->gp.at */
    size_t                    *group;  /* [rows] the distinct input of each           */
    cri_classify_data          data;
    cri_laplace                laplace;
    cri_svgp                   sparse;
} fit;

/* --- what is asked for ----------------------------------------------------------------------- */

/* The kernel, with a constant added for the mean. */
static cr_status set_kernel(cr_ctx *cx, const fit *f)
{
    cr_status        st = CR_OK;
    const cr_design *design = f->rows->design;
    char            *text = NULL, *sum = NULL;
    cr_kernel       *k = NULL;
    CR_TRY(cri_gp_kernel_scaled(cx, f->o->kernel, design, &k));
    if (f->o->mean) {
        text = cri_gp_kernel_text(cx, k);
        sum = text ? cri_string_format(cx, "%s + 1", text) : NULL;
        if (!sum) CR_TRY(CR_ENOMEM);
        CR_TRY(cri_gp_kernel(cx, sum, design, &f->m->gp.kernel));
    } else {
        f->m->gp.kernel = k;
        k = NULL;
    }
    f->m->gp.white = cri_gp_kernel_has_white(f->m->gp.kernel);
done:
    cri_string_free(cx, sum);
    cri_string_free(cx, text);
    cr_kernel_free(cx, k);
    return st;
}

/* Which classes there are, and what that makes of the likelihood. */
static cr_status set_classes(cr_ctx *cx, fit *f)
{
    cr_status     st = CR_OK;
    cri_classify *m = f->m;
    cr_scratch    s = cr_scratch_begin(cx);
    m->K = cr_design_classes(f->rows->design);
    double *place = cr_scratch_f64(&s, m->K);
    CR_TRY(s.status);
    CR_TRY(cri_classifier_classes(cx, f->rows, true, place, &m->F));
    m->link = m->F > 1           ? CRI_CLASSIFY_SOFTMAX
              : f->o->likelihood ? CRI_CLASSIFY_PROBIT
                                 : CRI_CLASSIFY_LOGIT;
    if (m->F > 1 && f->o->likelihood) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "gp-classify: --likelihood probit requires two classes; '%s' has %zu",
                cr_design_target(f->rows->design), m->F);
        CR_TRY(cr_fail_hint(cx, "leave it out: more than two classes have softmax"));
    }
    for (size_t i = 0; m->gp.white && f->rows->w && i < f->rows->n; i++)
        if (f->rows->w[i] != 0 && f->rows->w[i] != 1) {
            cr_fail(cx, CR_EUNSUPPORTED,
                    "gp-classify: weights other than 0 and 1 do not go with a white kernel");
            CR_TRY(cr_fail_hint(cx, "leave white out of the kernel"));
        }
done:
    cr_scratch_end(&s);
    return st;
}

/* The most inducing inputs, up to 100, that nine tenths of the memory left hold. */
static cr_status hint_inducing(cr_ctx *cx, const char *approx, size_t n, size_t F)
{
    size_t m = n < 100 ? n : 100;
    while (m >= 5 && 1.1 * 8 * cri_svgp_numbers(n, m, F) > 0.9 * (double)cri_memory_left(cx))
        m -= m / 10 + 1;
    if (m < 5)
        return cr_fail_hint(cx, "no approximation would have room: raise it with --memory-limit");
    return cr_fail_hint(cx, "%s--inducing %zu", approx, m);
}

static cr_status check_laplace(cr_ctx *cx, size_t n, size_t F)
{
    double bytes = 8 * cri_laplace_matrices(F) * (double)n * (double)n,
           cost = pow((double)n, 3) * (F > 1 ? 8 * (double)F : 3);
    if (1.1 * bytes > (double)cri_memory_left(cx)) {
        cr_fail(
            cx, CR_ENOMEM,
            "Laplace's approximation with %zu distinct inputs and %zu latent function%s needs %.3g "
            "GB, of which %.3g GB are left",
            n, F, F > 1 ? "s" : "", 1.1 * bytes / 1e9, (double)cri_memory_left(cx) / 1e9);
        return hint_inducing(cx, "--approx svgp ", n, F);
    }
    if (n > TELL_ROWS)
        cr_log(
            cx, CR_LOG_INFO,
            "gp-classify: %zu distinct inputs: %.3g GB of memory, about %.3g operations for each "
            "evaluation of the evidence",
            n, bytes / 1e9, cost);
    return CR_OK;
}

static cr_status check_sparse(cr_ctx *cx, const fit *f, size_t n, size_t inducing)
{
    size_t F = f->m->F, m = inducing < n ? inducing : n;
    double bytes = 8 * cri_svgp_numbers(n, m, F);
    if (f->m->gp.white)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "gp-classify: a white kernel does not go with --approx svgp");
    if (1.1 * bytes > (double)cri_memory_left(cx)) {
        cr_fail(
            cx, CR_ENOMEM,
            "%zu inducing inputs for %zu distinct inputs need %.3g GB, of which %.3g GB are left",
            m, n, 1.1 * bytes / 1e9, (double)cri_memory_left(cx) / 1e9);
        return hint_inducing(cx, "", n, F);
    }
    return CR_OK;
}

/* n^3 operations for two classes, n^3 a class and more of them for others: up to those of
 * EXACT_ROWS. */
static bool is_large(size_t n, size_t F)
{
    return (double)n > EXACT_ROWS / (F > 1 ? cbrt(4 * (double)F) : 1);
}

static cr_status choose_approx(cr_ctx *cx, fit *f)
{
    size_t n = f->inputs.n, F = f->m->F, m = f->o->inducing;
    f->m->sparse = f->o->approx == APPROX_SVGP;
    if (f->o->approx == APPROX_AUTO && is_large(n, F) && !f->m->gp.white) {
        f->m->sparse = true;
        cr_log(
            cx, CR_LOG_WARNING,
            "gp-classify: %zu distinct inputs: the sparse approximation svgp with %zu inducing "
            "inputs "
            "is used; --approx laplace needs %.3g GB and about %.3g operations for each evaluation",
            n, m < n ? m : n, 8e-9 * cri_laplace_matrices(F) * (double)n * (double)n,
            pow((double)n, 3) * (F > 1 ? 8 * (double)F : 3));
    }
    if (!f->m->sparse)
        cri_tell_unused(cx, gp_classify_table, f->o, "inducing", "Laplace's approximation",
                        "--approx svgp");
    return f->m->sparse ? check_sparse(cx, f, n, m) : check_laplace(cx, n, F);
}

/* --- fit ------------------------------------------------------------------------------------- */

/* Distinct inputs with their counts, inducing ones if any, memory. */
static cr_status prepare(cr_ctx *cx, cr_scratch *s, fit *f)
{
    cr_status         st = CR_OK;
    cri_classify     *m = f->m;
    cri_gp_posterior *g = &m->gp;
    CR_TRY(set_kernel(cx, f));
    CR_TRY(set_classes(cx, f));
    CR_TRY(cri_gp_data_add(cx, &f->inputs, f->rows, NULL, !g->white, f->group));
    CR_TRY(cri_gp_check_data(cx, g->kernel, f->rows, &f->inputs));
    CR_TRY(cri_gp_centre(cx, g->kernel, &f->inputs, f->rows, f->group));
    CR_TRY(choose_approx(cx, f));
    g->rows = f->inputs.count;
    m->distinct = (double)f->inputs.n;
    g->approx = CRI_GP_EXACT; /* of gp's own */
    f->data.at = m->sparse ? &f->inputs : &g->at;
    if (m->sparse)
        CR_TRY(cri_gp_inducing(cx, &f->inputs, f->o->inducing, f->seed, &g->at));
    else {
        g->at = f->inputs;
        f->inputs = (cri_gp_data){ 0 };
    }
    CR_TRY(cri_gp_mean_new(cx, -1, &g->at, &g->mean, NULL));
    CR_TRY(cri_gp_posterior_allocate(cx, g, CRI_GP_L));
    CR_TRY(cri_classify_allocate(cx, m, m->sparse || m->F > 1));
    size_t M;
    CR_TRY(cri_classifier_classes(cx, f->rows, true, m->place, &M));
    CR_TRY(cri_classify_name(cx, m, f->rows->design));
    CR_TRY(cri_classify_count(s, m, f->data.at, f->rows, f->group, &f->data));
    CR_TRY(m->sparse ? cri_svgp_new(s, &f->data, &g->at, g->L, m->factor, &f->sparse)
                     : cri_laplace_new(s, &f->data, g->at.n, g->L, m->factor, &f->laplace));
done:
    return st;
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
    if (!f->m->sparse && g->at.n * f->m->F <= SDS_ROWS && g->n_theta <= SDS_PARAMETERS)
        CR_TRY(cri_gp_laplace_at(cx, learning, g->kernel, 0, &(cri_gp_laplace){ .sd = g->sd }));
done:
    return st;
}

/* --- the bound of many rows ------------------------------------------------------------------ */

typedef struct ascent {
    cr_ctx               *cx;
    cri_svgp             *workspace;
    const cri_gp_problem *problem;
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
    value += cr_kernel_log_prior(g->k, false, opt_gradient ? g->gradient : NULL);
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
    ascent              user = { cx, &f->sparse, problem, g->kernel, cr_scratch_f64(&s, p + 1) };
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
    CR_TRY(cr_minimize(cx, &minimum, &o, x, &done_report));
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

    CR_TRY(cri_gp_data_draw(cx, f->data.at, learning->search_rows, f->seed, &part));
    CR_TRY(cri_laplace_new(&s, &f->data, part.n, NULL, NULL, &workspace));
    first.problem = &some;
    first.objective = first.search_objective = cri_laplace_objective;
    first.workspace = first.search_workspace = &workspace;
    CR_TRY(learn(cx, f, &first, report));
    CR_TRY(ascend_bound(cx, f, &first, learning->problem, report));
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

/* Learns if asked to, then the posterior at the hyper-parameters there are. */
static cr_status solve(cr_ctx *cx, fit *f, cr_report *report)
{
    cr_status       st = CR_OK;
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
    if (f->o->optimize == OPTIMIZE_EVIDENCE)
        CR_TRY(m->sparse && n > few ? learn_sparse(cx, f, &learning, report)
                                    : learn(cx, f, &learning, report));
    CR_TRY(cri_kernel_settle(cx, m->gp.kernel));
    CR_TRY(learning.objective(cx, learning.workspace, &problem, m->gp.kernel, 0, &value, NULL));
    CR_TRY(m->sparse ? keep_sparse(cx, f) : keep_laplace(cx, f));
    if (report->stop == CR_STOP_CLOSED_FORM) /* nothing was learned: the steps to the posterior */
        report->stop = CR_STOP_TOLERANCE, report->iterations = (size_t)m->steps;
    if (!(m->sparse ? f->sparse.converged : f->laplace.converged)) report->stop = CR_STOP_LIMIT;
    report->log_evidence = m->gp.evidence;
    report->evidence = m->sparse ? CR_EVIDENCE_BOUND : CR_EVIDENCE_LAPLACE;
    report->log_likelihood = m->log_likelihood;
done:
    cr_ctx_set_threads(cx, threads);
    return st;
}

static cr_status gp_classify_fit(cr_ctx *cx, const cri_rows *rows, const void *options,
                                 uint64_t seed, void **out_state, cr_report *report)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cri_classify *m = cr_alloc(cx, 1, sizeof *m);
    fit           f = {
                  .o = options, .rows = rows, .seed = seed, .m = m, .group = cr_scratch_index(&s, rows->n)
    };

    cri_progress_open(cx, "gp-classify: fitting");
    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(s.status);
    m->gp.loo_score = m->gp.loo_rmse = NAN;
    CR_TRY(prepare(cx, &s, &f));
    if (!m->sparse) CR_TRY(cri_gp_tabulate(cx, m->gp.kernel, rows->design, true));
    CR_TRY(solve(cx, &f, report));
    cri_kernel_drop_tables(cx, m->gp.kernel);
    CR_TRY(cri_gp_posterior_keep(cx, &m->gp));
    *out_state = m;
    m = NULL;
done:
    cri_progress_close(cx);
    cri_gp_data_free(cx, &f.inputs);
    cri_state_free(cx, &cri_class_gp_classify, m);
    cr_scratch_end(&s);
    return st;
}

static cr_status gp_classify_shape(cr_ctx *cx, const void *options, cr_design *design)
{
    return cri_gp_shape_texts(cx, ((const gp_classify_options *)options)->kernel, design);
}

const cr_model_class cri_class_gp_classify = {
    .name = "gp-classify",
    .summary = "Gaussian process classification with a kernel of your choice",
    .formulas =
        "P(second | x) = logistic(f(x)) or Phi(f(x)),   f ~ GP(0, k)\n"
        "posterior of f ~ normal at its mode (Laplace), or variational with inducing inputs\n"
        "kernel parameters at the maximum of the approximate log evidence\n"
        "prediction: the probability averaged over the normal of f(x)\n"
        "more classes: softmax, one f a class, the same kernel",
    .reference = "Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, ch. 3, 5",
    .example = "examples/diabetes.csv --target sex --features bmi,bp",
    .tasks = CR_TASK_CLASSIFICATION,
    .options = gp_classify_table,
    .options_size = sizeof(gp_classify_options),
    .requirements = gp_classify_requirements,
    .default_scale = CR_SCALE_NONE,
    .coding = CRI_CODING_CODE,
    .shape = gp_classify_shape,
    .whole = &(const cri_whole_face){ .fit = gp_classify_fit },
    .rows = &(const cri_rows_face){ .predict = cri_classify_predict,
                                    .transform = cri_classify_latent,
                                    .labels = cri_classify_labels },
    .function = &(const cri_function_face){ .hyper = cri_classify_hyper,
                                            .evidence_at = cri_classify_evidence_at },
    .describe = cri_classify_describe,
    .statistics = cri_classify_statistics,
    .state = cri_classify_record,
    .state_size = sizeof(cri_classify),
    .ready = cri_classify_ready,
    .release = cri_classify_release,
};
