/* kernel_ridge.c -- ridge regression in the space of a kernel.
 *   minimise  sum_i w_i (y_i - b0 - f(x_i))^2 + lambda |f|_k^2,   f = sum_j a_j k(x_j, .)
 *   a = (K + lambda I)^-1 (y - b0):  the posterior mean of a Gaussian process with noise lambda.
 * s^2 = RSS / (n - df), df = tr K (K + lambda I)^-1 (and 1 for b0); prediction: Student t with n - df degrees of freedom and
 * variance s^2 (1 + (k(x,x) - k^T (K + lambda I)^-1 k) / lambda), the posterior for f ~ GP(0, s^2 k
 * / lambda).  O(n^3).  Saunders, Gammerman & Vovk (1998), ICML; Schoelkopf & Smola (2002), Learning
 * with Kernels. */
#include "default_kernel.h"
#include "models/gp/posterior/gp_posterior.h"
#include "models/common/column_kinds.h"
#include "models/common/copies.h"
#include "models/common/predictor.h"
#include "models/core/rows_check.h"
#include "models/common/some_rows.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>

/* clang-format off */
#define KERNEL_RIDGE_OPTIONS(X)                                                                      \
    X(text, kernel,    "", "", "kernel expression (see credence models kernels); default: rbf with twice the median distance between rows as length-scale", "'rbf(l=2)'")                                  \
    X(real, lambda,    "", ">0", "penalty on the squared norm of the function; default: the best of several by leave-one-out", "0.5")                                                                     \
    X(flag, intercept, "true", "", "fit a free intercept", "false")
/* clang-format on */

CR_OPTIONS(kernel_ridge_options, kernel_ridge_table, KERNEL_RIDGE_OPTIONS);

#define KERNEL_RIDGE_STATE(MEMBER)                                                                 \
    MEMBER(real, sigma, (), ">=0 none", "of the residuals")                                        \
    MEMBER(real, df, (), "", "degrees of freedom")                                                 \
    MEMBER(real, left, (), "spare", "n - df: those of the Student t; 0: normal")                   \
    MEMBER(real, rss, (), "", "residual sum of squares")                                           \
    MEMBER(part, gp, (cri_gp_posterior), "", "noise = lambda")
CRI_RECORD(kernel_ridge_state, KERNEL_RIDGE_STATE);
CRI_RECORD_TABLE(static, kernel_ridge_record, kernel_ridge_state, KERNEL_RIDGE_STATE);

static void kernel_ridge_release(cr_ctx *cx, void *state)
{
    cri_gp_release(cx, &((kernel_ridge_state *)state)->gp);
}

/* s, df and RSS from the weights and the diagonal of what leave-one-out needs. */
static void measure(kernel_ridge_state *m, double share)
{
    const cri_gp_posterior *g = &m->gp;
    m->rss = g->at.spread;
    for (size_t i = 0; i < g->at.n; i++) {
        double e = g->noise * g->at.r[i] * g->alpha[i];
        m->rss += e * e / g->at.r[i];
    }
    m->df = (double)g->at.n - g->noise * share;
    double left = g->rows - m->df;
    m->sigma = left > 1e-9 * g->rows ? sqrt(m->rss / left) : NAN;
    m->left = isnan(m->sigma) ? 0 : left;
}

/* What a fit works on. */
typedef struct work {
    cri_gp_posterior *g;
    const cri_rows   *rows;
    const size_t     *group;
    cri_gp_problem    problem;
    double           *C, *share; /* [n x n] workspace, [n] the diagonal of Q */
} work;

/* Factor, weights and leave-one-out with the penalty that g has; jitter where it must be. */
static cr_status solve(cr_ctx *cx, const work *w)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *g = w->g;
    cri_gp_solution   solution = cri_gp_posterior_solution(g);
    CR_TRY(cri_gp_solve(cx, &w->problem, g->kernel, g->noise, CRI_GP_JITTER, g->L, &solution));
    g->jitter = solution.jitter;
    CR_TRY(cri_gp_leave_one_out(cx, &w->problem, w->rows, NULL, w->group, g->noise, &solution, g->L,
                                w->C, w->share, &g->loo_score, &g->loo_rmse));
done:
    return st;
}

/* The penalty with the least leave-one-out error: powers of ten of the mean of k(x, x), then
 * thirds. */
static cr_status choose_lambda(cr_ctx *cx, const work *w)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *g = w->g;
    cr_kernel_input   in = cri_gp_inputs(&g->at);
    double            unit = 0, best = 0, least = INFINITY;
    CR_TRY(cr_kernel_diagonal(cx, g->kernel, &in, true, w->share));
    for (size_t i = 0; i < g->at.n; i++) unit += w->share[i] / (double)g->at.n;
    if (!(unit > 0)) unit = 1;
    double middle = unit;
    for (int step = 0; step < 10; step++) { /* 1e-6 .. 10, then a third and three times the best */
        double lambda = step < 8 ? unit * pow(10, step - 6) : step == 8 ? middle / 3 : 3 * middle;
        g->noise = lambda;
        CR_TRY(solve(cx, w));
        if (step == 0 || g->loo_rmse < least) least = g->loo_rmse, best = lambda;
        if (step < 8) middle = best;
    }
    g->noise = best;
done:
    return st;
}

/* Of a column with one value the rows say nothing at others, where the spread grows with what the penalty allows. */
static void warn_of_constants(cr_ctx *cx, const cr_design *d, const cri_gp_data *at)
{
    size_t constant = 0, same = 0;
    for (size_t t = 0, j = 0; t < cr_design_terms(d) && j < at->d; t++) {
        size_t i = 1;
        if (cri_term_levels(d, t) > 0) continue; /* a category */
        while (i < at->n && at->X[i * at->d + j] == at->X[j]) i++;
        if (i >= at->n && constant++ == 0) same = t;
        j++;
    }
    if (constant && at->count > 1)
        cr_log(
            cx, CR_LOG_WARNING,
            "'%s'%s is constant: what the target is at other values of it cannot be learned, and "
            "sds there say nothing",
            cr_design_term_name(d, same), constant > 1 ? " (and others)" : "");
}

static cr_status fit_rows(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                          void **out_state, cr_report *report)
{
    cr_status                   st = CR_OK;
    cr_scratch                  s = cr_scratch_begin(cx);
    const kernel_ridge_options *o = options;
    kernel_ridge_state         *m = cr_alloc(cx, 1, sizeof *m);
    cri_gp_posterior           *g = m ? &m->gp : NULL;
    size_t                     *group = cr_scratch_index(&s, rows->n), n;
    double                     *H, *C, *share, trace = 0;
    (void)seed;

    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(s.status);
    g->approx = CRI_GP_EXACT;
    g->noise = o->lambda;
    CR_TRY(cri_gp_data_add(cx, &g->at, rows, NULL, true, group));
    n = g->at.n;
    double left = (double)cri_memory_left(cx);
    if (17.6 * (double)n * (double)n > left) {
        cr_fail(cx, CR_ENOMEM,
                "kernel-ridge of %zu distinct rows needs %.3g GB, but only %.3g GB are left", n,
                17.6e-9 * (double)n * (double)n, left / 1e9);
        CR_TRY(cr_fail_hint(
            cx,
            "gp --approx vfe gives similar predictions from inducing inputs; %.0f rows would fit",
            floor(0.95 * sqrt(left / 17.6))));
    }
    CR_TRY(cri_default_kernel(cx, o->kernel, rows->design, &g->at, 2,
                              "the penalty of some functions would be negative", &g->kernel));
    CR_TRY(cri_gp_check_data(cx, g->kernel, rows, &g->at));
    warn_of_constants(cx, rows->design, &g->at);
    CR_TRY(cri_gp_mean_new(cx, o->intercept ? 0 : -1, &g->at, &g->mean, NULL));
    CR_TRY(cri_gp_posterior_allocate(cx, g, CRI_GP_L));
    H = cr_scratch_matrix(&s, n, g->q);
    C = cr_scratch_matrix(&s, n, n);
    share = cr_scratch_f64(&s, n);
    CR_TRY(s.status);
    cri_gp_mean_fill(&g->mean, g->at.X, n, H);
    g->rows = g->at.count;
    work w = { g, rows, group, { &g->at, g->q, H }, C, share };
    CR_TRY(cri_gp_tabulate(cx, g->kernel, rows->design, false));
    if (isnan(o->lambda)) CR_TRY(choose_lambda(cx, &w));
    CR_TRY(solve(cx, &w));
    cri_kernel_drop_tables(cx, g->kernel);
    for (size_t i = 0; i < n; i++) trace += g->at.r[i] * share[i];
    measure(m, trace);
    if (isnan(m->sigma)) cri_warn_no_spread(cx);
    CR_TRY(cri_gp_posterior_keep(cx, g));
    report->stop = CR_STOP_CLOSED_FORM;
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_kernel_ridge, m);
    cr_scratch_end(&s);
    return st;
}

/* Where the penalty is learned from rows left out, copies of a row would tell it nothing. */
static cr_status fit_observations(cr_ctx *cx, const cri_rows *rows, const void *options,
                                  uint64_t seed, void **out_state, cr_report *report)
{
    if (!isnan(((const kernel_ridge_options *)options)->lambda))
        return fit_rows(cx, rows, options, seed, out_state, report);
    return cri_fit_observations(cx, fit_rows, rows, options, seed, out_state, report);
}

/* Within a time limit, of some rows where all take too long. */
static cr_status kernel_ridge_fit(cr_ctx *cx, const cri_rows *rows, const void *options,
                                  uint64_t seed, void **out_state, cr_report *report)
{
    return cri_fit_some(cx, fit_observations, rows, options, seed, out_state, report);
}

static cr_status kernel_ridge_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                      cr_prediction *out)
{
    const kernel_ridge_state *m = state;
    cr_status                 st = cri_gp_predict(cx, &m->gp, rows, out);
    for (size_t i = 0; st == CR_OK && out->scale && i < rows->n; i++) {
        out->scale[i] *= m->sigma / sqrt(m->gp.noise);
        if (m->left > 0) out->dof[i] = m->left;
    }
    return st;
}

static cr_status kernel_ridge_mean(cr_ctx *cx, const void *state, const cri_rows *rows,
                                   cr_prediction *out)
{
    const kernel_ridge_state *m = state;
    cr_status st = cri_gp_function(cx, &m->gp, rows, false, out->mean, out->scale, NULL);
    for (size_t i = 0; st == CR_OK && i < rows->n; i++) {
        out->scale[i] *= m->sigma / sqrt(m->gp.noise);
        out->dof[i] = m->left > 0 ? m->left : INFINITY;
    }
    return st;
}

/* --- describe and file ----------------------------------------------------------------------- */

static const cr_field kernel_ridge_statistics[] = {
    CR_TEXT("kernel", 0, "the covariance function with its hyper-parameters"),
    CR_TEXT("units", 0,
            "units of the hyper-parameters: those of the data, or of standardised columns"),
    CR_NUMBER("lambda", CR_FIELD_NULL, "the penalty"),
    CR_COUNT("distinct_inputs", 0, "rows with different inputs"),
    CR_NUMBER("effective_df", CR_FIELD_NULL,
              "effective degrees of freedom: the trace of the smoother"),
    CR_MEASURE("residual_sd", "target", CR_FIELD_NULL,
               "standard deviation of the noise, from the residuals"),
    CR_MEASURE("rss", "target^2", CR_FIELD_NULL, "residual sum of squares"),
    CR_MEASURE("gcv", "target^2", CR_FIELD_NULL,
               "mean squared error by generalised cross-validation"),
    CR_MEASURE("loocv", "target^2", CR_FIELD_NULL,
               "mean squared error with each row left out in turn"),
    CR_FIELD_LAST,
};

static cr_status kernel_ridge_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                       cri_sheet *out)
{
    const kernel_ridge_state *m = state;
    const cri_gp_posterior   *g = &m->gp;
    double                    unit = design->target_scale, n = g->rows, left = n - m->df;
    cri_sheet                *list = cri_put_list(out, "parameters"), *s;

    if (g->q)
        cri_parameter_add(list, g->beta[0] * unit + design->target_shift,
                          m->sigma / sqrt(g->noise) / g->A[0] * unit, "intercept");
    for (size_t i = 0; i < cr_kernel_parameters(g->kernel); i++) {
        cr_kernel_parameter p = cr_kernel_parameter_at(g->kernel, i);
        if (!p.given) cri_parameter_add(list, p.value, NAN, "%s", p.name);
    }
    cri_gp_report_elements(g->kernel, design, list);
    s = cri_put_object(out, "statistics");
    cri_put_text(s, "kernel", g->formula);
    cri_put_text(s, "units", cri_gp_units(design));
    cri_put_real(s, "lambda", g->noise);
    cri_put_count(s, "distinct_inputs", g->at.n);
    cri_put_real(s, "effective_df", m->df);
    cri_put_real(s, "residual_sd", m->sigma * unit);
    cri_put_real(s, "rss", m->rss * unit * unit);
    cri_put_real(s, "gcv", n * m->rss / (left * left) * unit * unit);
    cri_put_real(s, "loocv", g->loo_rmse * g->loo_rmse * unit * unit);
    (void)cx;
    return CR_OK;
}

static cr_status kernel_ridge_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    kernel_ridge_state *m = state;
    if (!(m->gp.noise > 0) || m->gp.noise_column)
        return cr_fail(cx, CR_EARG, "lambda in the model file is not positive");
    return cri_gp_ready(cx, &m->gp, design);
}

static cr_status kernel_ridge_shape(cr_ctx *cx, const void *options, cr_design *design)
{
    return cri_gp_shape_texts(cx, ((const kernel_ridge_options *)options)->kernel, design);
}

const cr_model_class cri_class_kernel_ridge = {
    .name = "kernel-ridge",
    .summary = "ridge regression in the space of a kernel",
    .formulas = "minimise  sum_i w_i (y_i - b0 - f(x_i))^2 + lambda |f|_k^2\n"
                "f = sum_j a_j k(x_j, .),  a = (K + lambda I)^-1 (y - b0)",
    .reference =
        "Saunders, Gammerman & Vovk (1998), ICML; Schoelkopf & Smola (2002), Learning with Kernels",
    .tasks = CR_TASK_REGRESSION,
    .options = kernel_ridge_table,
    .options_size = sizeof(kernel_ridge_options),
    .default_scale = CR_SCALE_STANDARD,
    .coding = CRI_CODING_CODE,
    .shape = kernel_ridge_shape,
    .whole = &(const cri_whole_face){ .fit = kernel_ridge_fit },
    .rows = &(const cri_rows_face){ .predict = kernel_ridge_predict,
                                    .mean = kernel_ridge_mean,
                                    .means_alone = true },
    .describe = kernel_ridge_describe,
    .statistics = kernel_ridge_statistics,
    .state = kernel_ridge_record,
    .state_size = sizeof(kernel_ridge_state),
    .ready = kernel_ridge_ready,
    .release = kernel_ridge_release,
};
