/* gp_online.c -- Gaussian process regression on a stream: rows are taken in and forgotten.
 *   stream  sparse: what rows say goes into the function's values at inducing inputs, which, like the
 *           hyper-parameters, may change with every batch (gp_stream.h)
 *   basis   row by row with a bounded basis, hyper-parameters from the first batch (gp_basis.h)
 * Bui, Nguyen & Turner (2017), NIPS; Csato & Opper (2002), Neural Computation 14. */
#include "gp_basis.h"
#include "models/kernel/inputs/gp_centre.h"
#include "models/gp/methods/gp_fit.h"
#include "gp_online_learn.h"
#include "base/scratch.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define GP_ONLINE_OPTIONS(X)                                                                         \
    X(text,   kernel,    "", "", "covariance, an expression of kernels and columns (credence models "\
      "kernels); not given: rbf(ard) of the numbers (beyond 200: rbf), times hamming of the categories",               \
      "'matern52(ard) + linear'")                                                                    \
    X(choice, method,    "stream", "stream|basis",                                                   \
      "stream: sparse, batch by batch, all may change; basis: row by row, a bounded set of inputs", "basis") \
    X(text,   mean,      "auto", "", "mean function: zero, constant, linear or poly:K; auto: constant, "\
      "or zero with --scale-target standard; basis takes zero or constant, the mean of the first batch", "linear") \
    X(real,   noise,     "", ">0", "variance of the noise; not given: learned", "0.01")              \
    X(choice, optimize,  "evidence", "evidence|none",                                                \
      "learn the hyper-parameters by the bound, or keep them as given", "none")                      \
    X(choice, hyper,     "map", "map|best",                                                          \
      "hyper-parameters of the first batch at the maximum of the bound times weak priors, or of the bound alone", "best") \
    X(count,  max_iter,  "200", "1..1000000", "most steps of one run of the search on the first batch", "50") \
    X(count,  steps,     "10", ">=0", "most steps of the search with each further batch; 0 keeps what was learned", "0") \
    X(count,  inducing,  "100", "1..100000", "most inducing inputs, or inputs of the basis", "50")   \
    X(flag,   move,      "true", "", "choose the inducing inputs anew with each batch", "false")
/* clang-format on */
enum { METHOD_STREAM, METHOD_BASIS };
enum { OPTIMIZE_EVIDENCE, OPTIMIZE_NONE };
enum { HYPER_MAP, HYPER_BEST };
enum { BATCH = 4096, SEARCH_ROWS = 512, ONE_THREAD_ROWS = 256 };

CR_OPTIONS(gp_online_options, gp_online_table, GP_ONLINE_OPTIONS);
static const cri_requirement gp_online_requirements[] = {
    { "max_iter", "optimize", "evidence", false }, { "hyper", "optimize", "evidence", false },
    { "steps", "method", "stream", false },        { "steps", "optimize", "evidence", false },
    { "move", "method", "stream", false },         CRI_REQUIREMENT_LAST,
};

/* clang-format off */
#define ONLINE_STATE(MEMBER, INNER)                                                                  \
    MEMBER(choice, method,       (),               "stream|basis", "how rows are taken in")          \
    MEMBER(count,  batches,      (),               "",             "so far")                         \
    MEMBER(real,   shift,        (),               "",             "mean of the first batch, taken off all targets so that " \
           "their squares keep their digits; given back by beta, or without one by predictions")     \
    INNER(real,    sums.settled, (),               "as:settled",   "of the stream")                  \
    MEMBER(count,  n,            (),               "found",        "inputs of the basis")            \
    MEMBER(matrix, C,            (n, n),           "none",         "Sigma of the basis; mu is gp.at.y") \
    INNER(count,   sums.m,       (),               "found",        "inputs of the stream")           \
    INNER(count,   sums.w,       (),               "found",        "terms, and the target")          \
    INNER(matrix,  sums.Phi,     (sums.m, sums.m), "none as:Phi",  "of the stream")                  \
    INNER(matrix,  sums.M,       (sums.m, sums.w), "none as:M",    "likewise")                       \
    INNER(matrix,  sums.S,       (sums.w, sums.w), "none as:S",    "likewise")                       \
    MEMBER(part,   gp,           (cri_gp_posterior), "",           "what predicts")
/* clang-format on */
typedef struct online_state {
    cri_gp_stream_sums sums;
    ONLINE_STATE(CRI_RECORD_MEMBER, CRI_RECORD_INNER)
} online_state;
#define CRI_TYPE online_state
static const cri_member online_record[] = { ONLINE_STATE(CRI_RECORD_ROW, CRI_RECORD_ROW)
                                                CRI_RECORD_END };
#undef CRI_TYPE

static void online_release(cr_ctx *cx, void *state)
{
    cri_gp_release(cx, &((online_state *)state)->gp);
}

static void online_free(cr_ctx *cx, online_state *m)
{
    cri_state_free(cx, &cri_class_gp_online, m);
}

/* Memory by the inputs and the mean of gp, which is allocated too. */
static cr_status allocate(cr_ctx *cx, online_state *m)
{
    cr_status st = cri_gp_posterior_allocate(cx, &m->gp, CRI_GP_L | CRI_GP_L2);
    size_t    n = m->gp.at.n, w = m->gp.q + 1;
    if (st != CR_OK) return st;
    m->sums.m = n, m->sums.q = m->gp.q, m->sums.w = w;
    if (m->method == METHOD_BASIS) {
        m->n = n;
        m->C = cr_alloc(cx, n * n, sizeof(double));
        return m->C ? CR_OK : cr_error_status(cx);
    }
    m->sums.Phi = cr_alloc(cx, n * n, sizeof(double));
    m->sums.M = cr_alloc(cx, n * w, sizeof(double));
    m->sums.S = cr_alloc(cx, w * w, sizeof(double));
    return m->sums.Phi && m->sums.M && m->sums.S ? CR_OK : cr_error_status(cx);
}

/* A state with the kernel, the noise and the mean function of another, and these inputs, taken
 * over. */
static cr_status state_like(cr_ctx *cx, const online_state *old, cri_gp_data *inputs,
                            online_state **out)
{
    cr_status     st = CR_OK;
    online_state *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    cri_gp_posterior       *g = &m->gp;
    const cri_gp_posterior *o = &old->gp;
    m->method = old->method, m->batches = old->batches, m->shift = old->shift;
    g->approx = o->approx, g->noise = o->noise, g->jitter = o->jitter,
    g->noise_learned = o->noise_learned;
    g->hyper = o->hyper, g->occam = o->occam;
    g->rows = o->rows, g->starts = o->starts, g->agreed = o->agreed,
    g->evaluations = o->evaluations;
    g->loo_score = g->loo_rmse = NAN;
    CR_TRY(cr_kernel_copy(cx, o->kernel, &g->kernel));
    CR_TRY(cri_record_copy(cx, cri_gp_mean_record, &o->mean, &g->mean));
    g->at = *inputs;
    *inputs = (cri_gp_data){ 0 };
    CR_TRY(allocate(cx, m));
    *out = m;
    m = NULL;
done:
    online_free(cx, m);
    return st;
}

/* A copy, to be changed. */
static cr_status copy_state(cr_ctx *cx, const online_state *old, online_state **out)
{
    cr_status     st = CR_OK;
    online_state *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    CR_TRY(cri_record_copy(cx, online_record, old, m));
    CR_TRY(cr_kernel_copy(cx, old->gp.kernel, &m->gp.kernel));
    m->gp.q = m->sums.q = old->gp.q;
    m->gp.n_theta = old->gp.n_theta;
    *out = m;
    m = NULL;
done:
    online_free(cx, m);
    return st;
}

/* --- the stream ------------------------------------------------------------------------------ */

/* The mean function at the rows. */
static cr_status problem_of(cr_scratch *s, const cri_gp_posterior *g, const cri_gp_data *data,
                            cri_gp_problem *out)
{
    double *H = cr_scratch_matrix(s, data->n, g->mean.q);
    if (s->status != CR_OK) return s->status;
    cri_gp_mean_fill(&g->mean, data->X, data->n, H);
    *out = (cri_gp_problem){ data, g->mean.q, H };
    return CR_OK;
}

/* Exactly: same inputs, same kernel. */
static cr_status add_to_sums(cr_ctx *cx, const online_state *old, const cri_gp_data *data,
                             online_state **out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    online_state  *m = NULL;
    cri_gp_problem problem;

    CR_TRY(copy_state(cx, old, &m));
    cri_gp_sparse sparse = cri_gp_sparse_into(&m->gp, CRI_GP_VFE);
    CR_TRY(problem_of(&s, &m->gp, data, &problem));
    CR_TRY(cri_gp_stream_add(cx, &problem, m->gp.kernel, m->gp.noise, &sparse, &m->sums));
    m->gp.evidence = sparse.value;
    *out = m;
    m = NULL;
done:
    online_free(cx, m);
    cr_scratch_end(&s);
    return st;
}

/* With other inducing inputs, other hyper-parameters, or both. */
static cr_status change(cr_ctx *cx, const online_state *old, const cri_gp_data *data,
                        const gp_online_options *o, online_state **out, cr_report *report)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    online_state  *m = NULL;
    cri_gp_data    inputs = { 0 };
    cri_gp_problem problem;
    cri_gp_pseudo  pseudo;
    bool           learns =
        o->optimize == OPTIMIZE_EVIDENCE && o->steps > 0; /* how far a batch goes is --steps */
    cr_stop stop = CR_STOP_CLOSED_FORM;

    CR_TRY(cri_gp_pseudo_new(&s, &old->sums, old->gp.L, &old->gp.at, &pseudo));
    if (o->move)
        CR_TRY(cri_gp_online_choose(cx, old->gp.kernel, &old->gp.at, data, o->inducing, &inputs));
    else
        CR_TRY(cri_gp_data_copy(cx, &old->gp.at, &inputs));
    CR_TRY(state_like(cx, old, &inputs, &m));
    cri_gp_sparse sparse = cri_gp_sparse_into(&m->gp, CRI_GP_VFE);
    cri_gp_stream stream = { &pseudo, &sparse, NULL };
    CR_TRY(problem_of(&s, &m->gp, data, &problem));
    if (learns)
        CR_TRY(cri_gp_online_ascend(cx, &problem, &stream, m->gp.noise_learned, o->steps,
                                    m->gp.kernel, &m->gp.noise, &report->iterations, &stop));
    if (learns) report->stop = stop;
    stream.opt_sums = &m->sums;
    CR_TRY(cri_kernel_settle(cx, m->gp.kernel));
    CR_TRY(cri_gp_stream_solve(cx, &problem, m->gp.kernel, m->gp.noise, &stream, NULL));
    m->gp.evidence = sparse.value;
    m->gp.jitter = sparse.jitter;
    *out = m;
    m = NULL;
done:
    cri_gp_data_free(cx, &inputs);
    online_free(cx, m);
    cr_scratch_end(&s);
    return st;
}

/* --- the basis ------------------------------------------------------------------------------- */

/* A state from a basis: what predicts. */
static cr_status state_of_basis(cr_ctx *cx, const online_state *like, const cri_gp_basis *b,
                                online_state **out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    online_state *m = NULL;
    cri_gp_data   inputs = { 0 };
    cri_gp_data   view = { .n = b->n,
                           .d = b->d,
                           .c = b->c,
                           .X = b->X,
                           .codes = b->codes,
                           .y = cr_scratch_bytes(&s, b->n, sizeof(double)),
                           .r = cr_scratch_bytes(&s, b->n, sizeof(double)),
                           .first = cr_scratch_bytes(&s, b->n, sizeof(size_t)) };

    CR_TRY(s.status);
    CR_TRY(cri_gp_data_copy(cx, &view, &inputs));
    CR_TRY(state_like(cx, like, &inputs, &m));
    size_t n = b->n;
    for (size_t i = 0; i < n; i++) {
        m->gp.at.y[i] = b->mu[i];
        memcpy(m->C + i * n, b->Sigma + i * b->capacity, n * sizeof(double));
        memcpy(m->gp.L + i * n, b->L + i * b->capacity, n * sizeof(double));
    }
    CR_TRY(cri_gp_basis_solve(cx, b, m->gp.alpha, m->gp.L2));
    m->gp.evidence = like->gp.evidence + b->log_score;
    *out = m;
    m = NULL;
done:
    cri_gp_data_free(cx, &inputs);
    online_free(cx, m);
    cr_scratch_end(&s);
    return st;
}

static cr_status add_to_basis(cr_ctx *cx, const online_state *old, const cri_gp_data *data,
                              size_t most, online_state **out)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    cri_gp_basis b;
    if (old->batches == 0)
        CR_TRY(cri_gp_basis_new(&s, most, data->d, data->c, &b));
    else
        CR_TRY(cri_gp_basis_from(&s, &old->gp.at, old->gp.at.y, old->gp.L, old->C, most, &b));
    CR_TRY(cri_gp_basis_add(cx, old->gp.kernel, old->gp.noise, data, &b));
    CR_TRY(state_of_basis(cx, old, &b, out));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- fit ------------------------------------------------------------------------------------- */

static cr_status set_mean(cr_ctx *cx, const gp_online_options *o, const cr_design *design,
                          const cri_gp_data *data, online_state *m)
{
    cr_status st = CR_OK;
    bool      centred = design->target_shift != 0 || design->target_scale != 1;
    int       degree = centred ? -1 : 0;
    if (strcmp(o->mean, "auto") != 0) CR_TRY(cri_gp_mean_degree(cx, o->mean, &degree));
    if (o->method == METHOD_BASIS && degree > 0)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED,
                       "gp-online: --method basis has no mean function but a constant"));
    if (degree >= 0) m->shift = cri_gp_data_mean(data);
    if (o->method == METHOD_BASIS) degree = -1;
    CR_TRY(cri_gp_mean_new(cx, degree, data, &m->gp.mean, NULL));
done:
    return st;
}

/* Hyper-parameters from the first batch: by the bound of its inducing inputs, or, for the basis,
 * the evidence of some of its rows. */
static cr_status learn(cr_ctx *cx, const gp_online_options *o, const cri_gp_data *data,
                       uint64_t seed, online_state *m, cr_report *report)
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

    if (m->method == METHOD_BASIS && data->n > few) {
        CR_TRY(cri_gp_data_draw(cx, data, few, seed, &some));
        from = &some;
    }
    q = g->mean.q;
    cri_gp_exact_workspace workspace = { cr_scratch_matrix(&s, few, few),
                                         { .alpha = cr_scratch_f64(&s, few),
                                           .beta = cr_scratch_f64(&s, q),
                                           .U = cr_scratch_matrix(&s, few, q),
                                           .A = cr_scratch_matrix(&s, q, q) } };
    bool                   exact = m->method == METHOD_BASIS;
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
    CR_TRY(problem_of(&s, g, from, &problem));
    CR_TRY(cri_gp_target_variance(cx, &problem, &learning.variance));
    for (size_t i = 0; i < from->n; i++) square += pow(from->y[i], 2) / (double)from->n;
    bool constant = !(learning.variance > 1e-24 * square);
    if (constant) learning.variance = square > 0 ? square : 1;
    if (isnan(g->noise)) g->noise = 0.1 * learning.variance;
    report->stop = CR_STOP_CLOSED_FORM;
    if (o->optimize == OPTIMIZE_NONE) goto done;
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
        CR_TRY(cri_gp_rough_occam(cx, &prior, g->kernel, g->noise, data->count, &g->occam));
    }
    g->starts = learned.starts, g->agreed = learned.agreed, g->evaluations = learned.evaluations;
    report->iterations = learned.iterations;
    report->stop = learned.stop;
done:
    cr_ctx_set_threads(cx, threads);
    cri_gp_data_free(cx, &some);
    cr_scratch_end(&s);
    return st;
}

static void report_evidence(const online_state *m, const cr_design *design, cr_report *report)
{
    report->log_evidence = m->gp.evidence + m->gp.occam - m->gp.rows * log(design->target_scale);
    report->evidence = m->method == METHOD_STREAM ? CR_EVIDENCE_BOUND : CR_EVIDENCE_ESTIMATE;
}

/* Everything up to the hyper-parameters; the stream also has its sums. */
static cr_status begin(cr_ctx *cx, const gp_online_options *o, const cri_rows *rows,
                       cri_gp_data *data, uint64_t seed, online_state **out, cr_report *report)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    online_state     *m = cr_alloc(cx, 1, sizeof *m);
    cri_gp_posterior *g = m ? &m->gp : NULL;
    cri_gp_problem    problem;

    if (!m) CR_TRY(CR_ENOMEM);
    m->method = o->method;
    g->approx = CRI_GP_VFE;
    g->noise = o->noise;
    g->noise_learned = isnan(o->noise) && o->optimize == OPTIMIZE_EVIDENCE;
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
    CR_TRY(allocate(cx, m));
    CR_TRY(learn(cx, o, data, seed, m, report));
    CR_TRY(cri_kernel_settle(cx, g->kernel));
    if (m->method == METHOD_STREAM) {
        cri_gp_sparse sparse = cri_gp_sparse_into(g, CRI_GP_VFE);
        cri_gp_pseudo none = { 0 };
        cri_gp_stream stream = { &none, &sparse, &m->sums };
        CR_TRY(problem_of(&s, g, data, &problem));
        CR_TRY(cri_gp_stream_solve(cx, &problem, g->kernel, g->noise, &stream, NULL));
        g->evidence = sparse.value;
        g->jitter = sparse.jitter;
    }
    *out = m;
    m = NULL;
done:
    online_free(cx, m);
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

/* One batch into a state, which is replaced. */
static cr_status take_batch(cr_ctx *cx, const gp_online_options *o, const cri_gp_data *data,
                            online_state **m, cr_report *report)
{
    online_state *next = NULL;
    bool          learns = o->optimize == OPTIMIZE_EVIDENCE && o->steps > 0;
    cr_status     st = (*m)->method == METHOD_BASIS ? add_to_basis(cx, *m, data, o->inducing, &next)
                       : o->move || learns          ? change(cx, *m, data, o, &next, report)
                                                    : add_to_sums(cx, *m, data, &next);
    if (st != CR_OK) return st;
    online_free(cx, *m);
    *m = next;
    return CR_OK;
}

/* All rows, some thousand at a time; *m NULL: the first of them begin a state. */
static cr_status take_rows(cr_ctx *cx, const gp_online_options *o, const cri_rows *rows,
                           uint64_t seed, online_state **m, cr_report *report)
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
        if (st == CR_OK && data.n > 0 && (!first || (*m)->method == METHOD_BASIS))
            st = take_batch(cx, o, &data, m, report);
        cri_gp_data_free(cx, &data);
        CR_TRY(st);
        if (count > 0) (*m)->gp.rows += count, (*m)->batches++;
        if (count > 0 && (*m)->gp.q) (*m)->gp.beta[0] += (*m)->shift;
    }
    if (!*m) CR_TRY(cr_fail(cx, CR_EDATA, "gp-online: there is no row of weight above 0"));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status online_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                            void **out_state, cr_report *report)
{
    online_state *m = NULL;
    cr_status     st = take_rows(cx, options, rows, seed, &m, report);
    if (st == CR_OK) st = cri_gp_posterior_keep(cx, &m->gp);
    if (st == CR_OK) {
        report_evidence(m, rows->design, report);
        *out_state = m;
        return CR_OK;
    }
    online_free(cx, m);
    return st;
}

static cr_status online_update(cr_ctx *cx, const void *state, const cri_rows *rows,
                               const void *options, void **out_state, cr_report *report)
{
    cr_status     st = CR_OK;
    online_state *m = NULL;

    CR_TRY(copy_state(cx, state, &m));
    cri_gp_kernel_bind(m->gp.kernel, rows->design);
    report->stop = CR_STOP_CLOSED_FORM;
    CR_TRY(take_rows(cx, options, rows, 0, &m, report));
    CR_TRY(cri_gp_posterior_keep(cx, &m->gp));
    report_evidence(m, rows->design, report);
    *out_state = m;
    m = NULL;
done:
    online_free(cx, m);
    return st;
}

/* --- answers, file --------------------------------------------------------------------------- */

static cr_status online_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                cr_prediction *out)
{
    const online_state *m = state;
    cr_status           st = cri_gp_predict(cx, &m->gp, rows, out);
    for (size_t i = 0; st == CR_OK && !m->gp.q && i < rows->n; i++) out->mean[i] += m->shift;
    return st;
}

static cr_status online_sample(cr_ctx *cx, const void *state, const cr_design *design,
                               const cri_rows *rows, size_t count, uint64_t seed, double *out)
{
    const online_state *m = state;
    cr_status           st = cri_gp_sample(cx, &m->gp, design, rows, count, seed, out);
    for (size_t i = 0; st == CR_OK && !m->gp.q && rows && i < rows->n * count; i++)
        out[i] += m->shift;
    return st;
}

static cr_status online_function(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                                 double *mean, double *opt_sd, double *opt_covariance)
{
    const online_state *m = state;
    cr_status           st = cri_gp_function(cx, &m->gp, rows, prior, mean, opt_sd, opt_covariance);
    for (size_t i = 0; st == CR_OK && !m->gp.q && i < rows->n; i++) mean[i] += m->shift;
    return st;
}

static cr_status online_functions(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                                  size_t count, uint64_t seed, double *out)
{
    const online_state *m = state;
    cr_status           st = cri_gp_functions(cx, &m->gp, rows, prior, count, seed, out);
    for (size_t i = 0; st == CR_OK && !m->gp.q && i < rows->n * count; i++) out[i] += m->shift;
    return st;
}

static cr_status online_slopes(cr_ctx *cx, const void *state, const cri_rows *rows, double *out)
{
    return cri_gp_slopes(cx, &((const online_state *)state)->gp, rows, out);
}

static const char *const method_names[] = { "stream", "basis" };

static cr_status online_inducing(cr_ctx *cx, const void *state, const cr_design *design,
                                 double **out_X, size_t *out_n)
{
    return cri_gp_inducing_report(cx, &((const online_state *)state)->gp, design, out_X, out_n);
}

static const cr_field online_statistics[] = {
    CR_TEXT("kernel", 0, "the covariance function with its hyper-parameters"),
    CR_TEXT("units", 0, "what the hyper-parameters are in: the data, or standardised columns"),
    CR_TEXT("approx", 0, "the approximation that the state is of"),
    CR_COUNT("inducing_inputs", CR_FIELD_SOMETIMES, "points that stand for all rows"),
    CR_MEASURE("noise_sd", "target", CR_FIELD_NULL, "standard deviation of the noise"),
    CR_NUMBER("jitter", CR_FIELD_NULL,
              "added to the diagonal of the covariance, where it had to be"),
    CR_TEXT("hyper", CR_FIELD_SOMETIMES, "of learned hyper-parameters: best or map"),
    CR_MEASURE(
        "log_evidence_at_hyper", "nats", CR_FIELD_SOMETIMES,
        "of map: at these hyper-parameters; log_evidence also counts that they were learned"),
    CR_COUNT("starts", 0, "runs of the search"),
    CR_COUNT("starts_agreed", 0, "of them, those that ended at the best optimum"),
    CR_COUNT("evaluations", 0, "of the evidence"),
    CR_TEXT("at_bound", CR_FIELD_SOMETIMES, "hyper-parameters at a bound of their range"),
    CR_TEXT("method", 0, "stream or basis"),
    CR_COUNT("batches", 0, "blocks of rows that were taken in"),
    CR_MEASURE("mean", "target", CR_FIELD_EITHER, "of basis: the level"),
    CR_FIELD_LAST,
};

static cr_status online_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                 cri_sheet *out)
{
    const online_state *m = state;
    cr_status           st = cri_gp_describe(cx, &m->gp, design, out);
    cri_sheet          *s = cri_sheet_get(out, "statistics");
    cri_put_text(s, "method", method_names[m->method]);
    cri_put_count(s, "batches", m->batches);
    if (m->method == METHOD_BASIS)
        cri_put_real(s, "mean", m->shift * design->target_scale + design->target_shift);
    return st;
}

static cr_status online_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    online_state *m = state;
    size_t        n = m->gp.at.n, w = m->gp.mean.q + 1;
    bool          basis = m->method == METHOD_BASIS;
    bool          fits = m->gp.L2 && m->gp.noise > 0 &&
                (basis ? m->C && m->n == n
                       : m->sums.Phi && m->sums.M && m->sums.S && m->sums.m == n && m->sums.w == w);
    if (!fits) return CR_EDATA;
    m->sums.m = n, m->sums.q = w - 1, m->sums.w = w;
    return cri_gp_ready(cx, &m->gp, design);
}

static cr_status gp_online_shape(cr_ctx *cx, const void *options, cr_design *design)
{
    return cri_gp_shape_texts(cx, ((const gp_online_options *)options)->kernel, design);
}

const cr_model_class cri_class_gp_online = {
    .name = "gp-online",
    .summary = "Gaussian process regression on a stream: takes in rows and forgets them",
    .formulas = "y = h(x).b + f(x) + e,   f ~ GP(0, k),   e ~ N(0, noise)\n"
                "q(f(Z)) and b, updated batch by batch; Z and k may change on the way",
    .reference = "Bui, Nguyen & Turner (2017), NIPS; Csato & Opper (2002), Neural Computation 14",
    .tasks = CR_TASK_REGRESSION,
    .for_classes = "the model gp-classify predicts classes",
    .options = gp_online_table,
    .options_size = sizeof(gp_online_options),
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
    .state = online_record,
    .state_size = sizeof(online_state),
    .ready = online_ready,
    .release = online_release,
};
