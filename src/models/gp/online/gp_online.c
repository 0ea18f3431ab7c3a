/* gp_online.c -- Gaussian process regression on a stream: rows are taken in and forgotten.
 *   stream  sparse: what rows say goes into the function's values at inducing inputs, which, like the
 *           hyper-parameters, may change with every batch (gp_stream.h)
 *   basis   row by row with a bounded basis, hyper-parameters from the first batch (gp_basis.h)
 * Bui, Nguyen & Turner (2017), NIPS; Csato & Opper (2002), Neural Computation 14. */
#include "gp_online_state.h"
#include "gp_basis.h"
#include "models/kernel/inputs/gp_centre.h"
#include "models/gp/methods/gp_fit.h"
#include "gp_online_learn.h"
#include "models/common/some_rows.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

enum { HYPER_MAP, HYPER_BEST };
enum { BATCH = 4096, SEARCH_ROWS = 512, ONE_THREAD_ROWS = 256 };

CR_OPTIONS_TABLE(static, gp_online_table, cri_online_options, GP_ONLINE_OPTIONS);
static const cri_requirement gp_online_requirements[] = {
    { "max_iter", "optimize", "evidence", false }, { "hyper", "optimize", "evidence", false },
    { "steps", "method", "stream", false },        { "steps", "optimize", "evidence", false },
    { "move", "method", "stream", false },         CRI_REQUIREMENT_LAST,
};

/* --- fit ------------------------------------------------------------------------------------- */

static cr_status set_mean(cr_ctx *cx, const cri_online_options *o, const cr_design *design,
                          const cri_gp_data *data, cri_online_state *m)
{
    cr_status st = CR_OK;
    bool      centred = design->target_shift != 0 || design->target_scale != 1;
    int       degree = centred ? -1 : 0;
    if (strcmp(o->mean, "auto") != 0) CR_TRY(cri_gp_mean_degree(cx, o->mean, &degree));
    if (o->method == CRI_ONLINE_METHOD_BASIS && degree > 0)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED,
                       "gp-online: --method basis has no mean function except a constant"));
    if (degree >= 0) m->shift = cri_gp_data_mean(data);
    if (o->method == CRI_ONLINE_METHOD_BASIS) degree = -1;
    CR_TRY(cri_gp_mean_new(cx, degree, data, &m->gp.mean, NULL));
done:
    return st;
}

/* Hyper-parameters from the first batch: by the bound of its inducing inputs, or, for the basis,
 * the evidence of some of its rows. */
static cr_status learn(cr_ctx *cx, const cri_online_options *o, const cri_gp_data *data,
                       uint64_t seed, cri_online_state *m, cr_report *report)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_gp_posterior *g = &m->gp;
    size_t few = data->n < SEARCH_ROWS ? data->n : SEARCH_ROWS, threads = cr_ctx_threads(cx), q;
    cri_gp_data        some = { 0 };
    const cri_gp_data *from = data;
    cri_gp_problem     problem;
    cri_gp_sparse      sparse = cri_gp_sparse_into(g, CRI_GP_VFE);
    double             square = 0;
    cri_gp_space       space;
    cri_gp_prior       prior;

    if (m->method == CRI_ONLINE_METHOD_BASIS && data->n > few) {
        CR_TRY(cri_gp_data_draw(cx, data, few, seed, &some));
        from = &some;
    }
    q = g->mean.q;
    cri_gp_exact_workspace workspace = { cr_scratch_matrix(&s, few, few),
                                         { .alpha = cr_scratch_f64(&s, few),
                                           .beta = cr_scratch_f64(&s, q),
                                           .U = cr_scratch_matrix(&s, few, q),
                                           .A = cr_scratch_matrix(&s, q, q) } };
    bool                   exact = m->method == CRI_ONLINE_METHOD_BASIS;
    cri_gp_learned         learned = { .stop = CR_STOP_CLOSED_FORM };
    cri_gp_learning        learning = { .problem = &problem,
                                        .objective =
                                     exact ? cri_gp_exact_objective : cri_gp_sparse_objective,
                                        .workspace = exact ? (void *)&workspace : &sparse,
                                        .search_objective = cri_gp_exact_objective,
                                        .search_workspace = &workspace,
                                        .learn_noise = g->noise_learned,
                                        .max_iter = o->max_iter,
                                        .seed = seed,
                                        .search_rows = SEARCH_ROWS };
    CR_TRY(s.status);
    if (data->n <= ONE_THREAD_ROWS) cr_ctx_set_threads(cx, 1);
    CR_TRY(cri_online_problem(&s, g, from, &problem));
    CR_TRY(cri_gp_target_variance(cx, &problem, &learning.variance));
    for (size_t i = 0; i < from->n; i++) square += pow(from->y[i], 2) / (double)from->n;
    bool constant = !(learning.variance > 1e-24 * square);
    if (constant) learning.variance = square > 0 ? square : 1;
    if (isnan(g->noise)) g->noise = 0.1 * learning.variance;
    report->stop = CR_STOP_CLOSED_FORM;
    if (o->optimize == CRI_ONLINE_OPTIMIZE_NONE) goto done;
    if (constant || from->n <= q) {
        cri_gp_learn_noise_alone(cx, from, constant, g->noise_learned, &g->noise);
        goto done;
    }
    CR_TRY(cri_gp_space_new(&s, g->kernel, &problem, learning.variance, g->noise, g->noise_learned,
                            &space));
    CR_TRY(cri_gp_prior_new(&s, g->kernel, &space, from->count, &prior));
    if (o->hyper == HYPER_MAP) learning.prior = &prior;
    CR_TRY(cri_gp_learn(cx, &learning, g->kernel, &g->noise, &learned));
    if (learning.prior) {
        g->hyper = CRI_GP_HYPER_MAP;
        CR_TRY(cri_online_keep_prior(cx, &prior, m));
        CR_TRY(cri_gp_rough_occam(cx, &prior, g->kernel, g->noise, data->count, &g->occam));
    }
    g->starts = learned.starts, g->agreed = learned.agreed, g->evaluations = learned.evaluations;
    m->learned_from = from->count;
    report->iterations = learned.iterations;
    report->stop = learned.stop;
done:
    cr_ctx_set_threads(cx, threads);
    cri_gp_data_free(cx, &some);
    cr_scratch_end(&s);
    return st;
}

static void report_evidence(const cri_online_state *m, const cr_design *design, cr_report *report)
{
    report->log_evidence = m->gp.evidence + m->gp.occam - m->gp.rows * log(design->target_scale);
    report->evidence =
        m->method == CRI_ONLINE_METHOD_STREAM ? CR_EVIDENCE_BOUND : CR_EVIDENCE_ESTIMATE;
}

/* Everything up to the hyper-parameters; the stream also has its sums. */
static cr_status begin(cr_ctx *cx, const cri_online_options *o, const cri_rows *rows,
                       cri_gp_data *data, uint64_t seed, cri_online_state **out, cr_report *report)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_online_state *m = cr_alloc(cx, 1, sizeof *m);
    cri_gp_posterior *g = m ? &m->gp : NULL;
    cri_gp_problem    problem;

    if (!m) CR_TRY(CR_ENOMEM);
    m->method = o->method;
    g->approx = CRI_GP_VFE;
    g->noise = o->noise;
    g->noise_learned = isnan(o->noise) && o->optimize == CRI_ONLINE_OPTIMIZE_EVIDENCE;
    g->loo_score = g->loo_rmse = NAN;
    CR_TRY(cri_gp_kernel_scaled(cx, o->kernel, rows->design, &g->kernel));
    if (cri_gp_kernel_has_white(g->kernel))
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED,
                       "gp-online takes its noise from --noise, not from a white kernel"));
    CR_TRY(cri_gp_check_data(cx, g->kernel, rows, data));
    CR_TRY(cri_gp_centre(cx, g->kernel, data, NULL, NULL)); /* the rows of the first batch */
    CR_TRY(cri_gp_inducing(cx, data, o->inducing, seed, &g->at));
    CR_TRY(set_mean(cx, o, rows->design, data, m));
    cri_gp_data_shift(data, m->shift);
    CR_TRY(cri_online_allocate(cx, m));
    CR_TRY(learn(cx, o, data, seed, m, report));
    CR_TRY(cri_kernel_settle(cx, g->kernel));
    if (m->method == CRI_ONLINE_METHOD_STREAM) {
        cri_gp_sparse sparse = cri_gp_sparse_into(g, CRI_GP_VFE);
        cri_gp_pseudo none = { 0 };
        cri_gp_stream stream = { &none, &sparse, &m->sums };
        CR_TRY(cri_online_problem(&s, g, data, &problem));
        CR_TRY(cri_gp_stream_solve(cx, &problem, g->kernel, g->noise, &stream, NULL));
        g->evidence = sparse.value;
        g->jitter = sparse.jitter;
    }
    *out = m;
    m = NULL;
done:
    cri_online_free(cx, m);
    cr_scratch_end(&s);
    return st;
}

/* Some of the rows as rows of their own. */
static cri_rows part_of(const cri_rows *rows, size_t begin, size_t end, size_t *index)
{
    cri_rows part = *rows;
    for (size_t i = begin; i < end; i++) index[i - begin] = rows->index ? rows->index[i] : i;
    part.n = end - begin;
    part.index = index;
    part.y = rows->y + begin;
    part.w = rows->w ? rows->w + begin : NULL;
    part.matrix = NULL;
    return part;
}

/* Further batches change the hyper-parameters. */
static bool learns_more(const cri_online_options *o, const cri_online_state *m)
{
    return m->method == CRI_ONLINE_METHOD_STREAM && o->optimize == CRI_ONLINE_OPTIMIZE_EVIDENCE &&
           o->steps > 0 && m->learned_from > 0;
}

/* One batch into a state, which is replaced. */
static cr_status take_batch(cr_ctx *cx, const cri_online_options *o, const cri_gp_data *data,
                            cri_online_state **m, cr_report *report)
{
    cri_online_state *next = NULL;
    bool              learns = o->optimize == CRI_ONLINE_OPTIMIZE_EVIDENCE && o->steps > 0;
    cr_status         st = (*m)->method == CRI_ONLINE_METHOD_BASIS
                               ? cri_online_add_to_basis(cx, *m, data, o->inducing, &next)
                           : o->move || learns ? cri_online_change(cx, *m, data, o, &next, report)
                                               : cri_online_add_to_sums(cx, *m, data, &next);
    if (st != CR_OK) return st;
    cri_online_free(cx, *m);
    *m = next;
    return CR_OK;
}

/* All rows, some thousand at a time; *m NULL: the first of them begin a state. */
static cr_status take_rows(cr_ctx *cx, const cri_online_options *o, const cri_rows *rows,
                           uint64_t seed, cri_online_state **m, cr_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *index = cr_scratch_index(&s, BATCH);

    CR_TRY(s.status);
    for (size_t begin_at = 0; begin_at < rows->n; begin_at += BATCH) {
        size_t      end = begin_at + BATCH < rows->n ? begin_at + BATCH : rows->n;
        cri_rows    part = part_of(rows, begin_at, end, index);
        cri_gp_data data = { 0 };
        bool        first = *m == NULL;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_gp_data_add(cx, &data, &part, NULL, true, NULL));
        double count = data.count;
        if (!first) cri_gp_data_shift(&data, (*m)->shift);
        if (!first) st = cri_gp_check_data(cx, (*m)->gp.kernel, rows, &data);
        if (data.n > 0 && first) st = begin(cx, o, rows, &data, seed, m, report);
        if (st == CR_OK && data.n > 0 && (!first || (*m)->method == CRI_ONLINE_METHOD_BASIS))
            st = take_batch(cx, o, &data, m, report);
        cri_gp_data_free(cx, &data);
        CR_TRY(st);
        if (count > 0) (*m)->gp.rows += count, (*m)->batches++;
        if (!first && learns_more(o, *m)) (*m)->learned_from += count;
        if (count > 0 && (*m)->gp.q) (*m)->gp.beta[0] += (*m)->shift;
    }
    if (!*m) CR_TRY(cr_fail(cx, CR_EDATA, "gp-online: no row has a positive weight"));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status fit_rows(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                          void **out_state, cr_report *report)
{
    cri_online_state *m = NULL;
    cr_status         st = take_rows(cx, options, rows, seed, &m, report);
    if (st == CR_OK) st = cri_gp_posterior_keep(cx, &m->gp);
    if (st == CR_OK) {
        report_evidence(m, rows->design, report);
        *out_state = m;
        return CR_OK;
    }
    cri_online_free(cx, m);
    return st;
}

/* Within a time limit, of some rows where all take too long. */
static cr_status online_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                            void **out_state, cr_report *report)
{
    return cri_fit_some(cx, fit_rows, rows, options, seed, out_state, report);
}

static cr_status online_update(cr_ctx *cx, const void *state, const cri_rows *rows,
                               const void *options, void **out_state, cr_report *report)
{
    cr_status         st = CR_OK;
    cri_online_state *m = NULL;

    CR_TRY(cri_online_copy(cx, state, &m));
    cri_gp_kernel_bind(m->gp.kernel, rows->design);
    report->stop = CR_STOP_CLOSED_FORM;
    CR_TRY(take_rows(cx, options, rows, 0, &m, report));
    CR_TRY(cri_gp_posterior_keep(cx, &m->gp));
    report_evidence(m, rows->design, report);
    *out_state = m;
    m = NULL;
done:
    cri_online_free(cx, m);
    return st;
}

/* --- answers, file --------------------------------------------------------------------------- */

/* The hyper-parameters are at one value each, which few rows do not tell well.  As in a linear model each of them
 * counts as a term that was fitted: of n rows that they were learned from,
 *   dof = n - (terms of the mean) - (hyper-parameters - 1)
 * are left for the scale of everything, which is then Student's t with variances n / dof times as large; priors leave
 * 0.6 n at least.  INFINITY: nothing was learned. */
static double degrees_left(const cri_online_state *m)
{
    size_t count = m->gp.n_theta + m->gp.noise_learned, terms = m->gp.q ? m->gp.q : m->shift != 0;
    double n = m->learned_from;
    if (n == 0 || count == 0) return INFINITY;
    return fmax(n - (double)terms - (double)(count - 1), 0.6 * n);
}

/* What scales grow by. */
static double widening(const cri_online_state *m)
{
    double dof = degrees_left(m);
    return isinf(dof) ? 1 : sqrt(m->learned_from / dof);
}

/* The same of standard deviations: those of Student's t, or of two degrees of freedom and fewer its scale. */
static double widening_of_sd(const cri_online_state *m)
{
    double dof = degrees_left(m);
    return widening(m) * (dof > 2 && !isinf(dof) ? sqrt(dof / (dof - 2)) : 1);
}

static cr_status online_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                cr_prediction *out)
{
    const cri_online_state *m = state;
    cr_status               st = cri_gp_predict(cx, &m->gp, rows, out);
    double                  wider = widening(m), dof = degrees_left(m);
    for (size_t i = 0; st == CR_OK && i < rows->n; i++) {
        if (!m->gp.q) out->mean[i] += m->shift;
        if (out->scale) out->scale[i] *= wider, out->dof[i] = dof;
    }
    return st;
}

/* Draws [n x count] about the means become those of Student's t: all of a draw by the same factor. */
static void widen_draws(const cri_online_state *m, const double *mean, size_t n, size_t count,
                        uint64_t seed, double *out)
{
    double dof = degrees_left(m);
    for (size_t c = 0; !isinf(dof) && c < count; c++) {
        cr_rng rng = cr_rng_stream(seed, 40000 + c);
        double factor = sqrt(m->learned_from / (2 * cr_rng_gamma(&rng, dof / 2)));
        for (size_t i = 0; i < n; i++)
            out[i * count + c] = mean[i] + factor * (out[i * count + c] - mean[i]);
    }
}

/* Draws of functions, or of targets, and then what is added to them. */
static cr_status finish_draws(cr_ctx *cx, const cri_online_state *m, const cri_rows *rows,
                              bool prior, size_t count, uint64_t seed, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *mean = cr_scratch_f64(&s, rows->n);
    CR_TRY(s.status);
    if (!prior) CR_TRY(cri_gp_function(cx, &m->gp, rows, false, mean, NULL, NULL));
    if (!prior) widen_draws(m, mean, rows->n, count, seed, out);
    for (size_t i = 0; !m->gp.q && i < rows->n * count; i++) out[i] += m->shift;
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status online_sample(cr_ctx *cx, const void *state, const cr_design *design,
                               const cri_rows *rows, size_t count, uint64_t seed, double *out)
{
    const cri_online_state *m = state;
    cr_status               st = cri_gp_sample(cx, &m->gp, design, rows, count, seed, out);
    if (st != CR_OK || !rows || rows->n == 0) return st;
    return finish_draws(cx, m, rows, false, count, seed, out);
}

static cr_status online_function(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                                 double *mean, double *opt_sd, double *opt_covariance)
{
    const cri_online_state *m = state;
    double                  wider = prior ? 1 : widening_of_sd(m);
    size_t                  n = rows->n;
    cr_status st = cri_gp_function(cx, &m->gp, rows, prior, mean, opt_sd, opt_covariance);
    if (st != CR_OK) return st;
    for (size_t i = 0; i < n; i++) {
        if (!m->gp.q) mean[i] += m->shift;
        if (opt_sd) opt_sd[i] *= wider;
    }
    for (size_t i = 0; opt_covariance && i < n * n; i++) opt_covariance[i] *= wider * wider;
    return CR_OK;
}

static cr_status online_functions(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                                  size_t count, uint64_t seed, double *out)
{
    const cri_online_state *m = state;
    cr_status               st = cri_gp_functions(cx, &m->gp, rows, prior, count, seed, out);
    return st == CR_OK ? finish_draws(cx, m, rows, prior, count, seed, out) : st;
}

static cr_status online_slopes(cr_ctx *cx, const void *state, const cri_rows *rows, double *out)
{
    return cri_gp_slopes(cx, &((const cri_online_state *)state)->gp, rows, out);
}

static const char *const method_names[] = { "stream", "basis" };

static cr_status online_inducing(cr_ctx *cx, const void *state, const cr_design *design,
                                 double **out_X, size_t *out_n)
{
    return cri_gp_inducing_report(cx, &((const cri_online_state *)state)->gp, design, out_X, out_n);
}

static const cr_field online_statistics[] = {
    CR_TEXT("kernel", 0, "the covariance function with its hyper-parameters"),
    CR_TEXT("units", 0,
            "units of the hyper-parameters: those of the data, or of standardised columns"),
    CR_TEXT("approx", 0, "the approximation used"),
    CR_COUNT("inducing_inputs", CR_FIELD_SOMETIMES, "points that represent all rows"),
    CR_MEASURE("noise_sd", "target", CR_FIELD_NULL, "standard deviation of the noise"),
    CR_NUMBER("jitter", CR_FIELD_NULL, "amount added to the diagonal of the covariance, if needed"),
    CR_TEXT("hyper", CR_FIELD_SOMETIMES, "of learned hyper-parameters: best or map"),
    CR_MEASURE("log_evidence_at_hyper", "nats", CR_FIELD_SOMETIMES | CR_FIELD_LOG_SCORE,
               "of map: at these hyper-parameters; log_evidence also accounts for learning them"),
    CR_COUNT("starts", 0, "runs of the search"),
    CR_COUNT("starts_agreed", 0, "number of these that ended at the best optimum"),
    CR_COUNT("evaluations", 0, "of the evidence"),
    CR_TEXT("at_bound", CR_FIELD_SOMETIMES, "hyper-parameters at a bound of their range"),
    CR_TEXT("method", 0, "stream or basis"),
    CR_COUNT("batches", 0, "number of blocks of rows added"),
    CR_MEASURE("mean", "target", CR_FIELD_EITHER, "of basis: the level"),
    CR_FIELD_LAST,
};

static cr_status online_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                 cri_sheet *out)
{
    const cri_online_state *m = state;
    cr_status               st = cri_gp_describe(cx, &m->gp, design, out);
    cri_sheet              *s = cri_sheet_get(out, "statistics");
    cri_put_text(s, "method", method_names[m->method]);
    cri_put_count(s, "batches", m->batches);
    if (m->method == CRI_ONLINE_METHOD_BASIS)
        cri_put_real(s, "mean", m->shift * design->target_scale + design->target_shift);
    return st;
}

static cr_status online_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_online_state *m = state;
    size_t            n = m->gp.at.n, w = m->gp.mean.q + 1;
    bool              basis = m->method == CRI_ONLINE_METHOD_BASIS;
    bool              fits = m->gp.L2 && m->gp.noise > 0 &&
                (basis ? m->C && m->n == n
                       : m->sums.Phi && m->sums.M && m->sums.S && m->sums.m == n && m->sums.w == w);
    if (!fits) return CR_EDATA;
    if (!m->prior_mean != !m->prior_sd) return CR_EDATA;
    m->sums.m = n, m->sums.q = w - 1, m->sums.w = w;
    cr_status st = cri_gp_ready(cx, &m->gp, design);
    bool      priors = !m->prior_mean || m->priors == m->gp.n_theta + m->gp.noise_learned;
    return st == CR_OK && !priors ? CR_EDATA : st;
}

static cr_status gp_online_shape(cr_ctx *cx, const void *options, cr_design *design)
{
    return cri_gp_shape_texts(cx, ((const cri_online_options *)options)->kernel, design);
}

const cr_model_class cri_class_gp_online = {
    .name = "gp-online",
    .summary = "Gaussian process regression on a stream: learns from rows without keeping them",
    .formulas = "y = h(x).b + f(x) + e,   f ~ GP(0, k),   e ~ N(0, noise)\n"
                "q(f(Z)) and b, updated batch by batch; Z and k may change on the way",
    .reference = "Bui, Nguyen & Turner (2017), NIPS; Csato & Opper (2002), Neural Computation 14",
    .tasks = CR_TASK_REGRESSION,
    .for_classes = "the model gp-classify predicts classes",
    .options = gp_online_table,
    .options_size = sizeof(cri_online_options),
    .requirements = gp_online_requirements,
    .default_scale = CR_SCALE_NONE,
    .coding = CRI_CODING_CODE,
    .shape = gp_online_shape,
    .whole = &(
        const cri_whole_face){ .fit = online_fit, .update = online_update, .update_forgets = true },
    .rows = &(const cri_rows_face){ .predict = online_predict,
                                    .sample = online_sample,
                                    .means_alone = true },
    .function = &(const cri_function_face){ .function = online_function,
                                            .functions = online_functions,
                                            .slopes = online_slopes,
                                            .inducing = online_inducing },
    .describe = online_describe,
    .statistics = online_statistics,
    .state = cri_online_record,
    .state_size = sizeof(cri_online_state),
    .ready = online_ready,
    .release = cri_online_release,
};
