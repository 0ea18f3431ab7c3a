/* gp_method_inducing.c -- Gaussian processes through m inducing inputs: sor, dtc, fitc, vfe
 * (gp_sparse.h), svgp, which learns vfe's bound from mini-batches (gp_svgp.h), and nystrom, which
 * is sor at landmarks chosen once the kernel is learned.  O(n m^2) time, O(m^2) memory. */
#include "gp_cost.h"
#include "gp_fit.h"
#include "models/gp/exact/gp_pivoted_cholesky.h"
#include "models/gp/search/gp_optima.h"
#include "models/gp/sparse/gp_svgp.h"
#include "base/context_internal.h"

#include <math.h>

enum {
    ADAPT_ROWS = 8192, /* that the optimum of few rows is adapted to the bound on */
    BATCH_STEPS = 50,  /* of a pass over the rows, about                          */
    LEAST_BATCH = 128, /* rows                                                    */
    MOST_BATCH = 1024, /* rows                                                    */
    LEAST_STEPS = 400  /* of all passes together                                  */
};

/* --- the fit --------------------------------------------------------------------------------- */

static cr_status cost(cr_ctx *cx, const cri_gp_fit *f)
{
    return cri_gp_cost_sparse(cx, f->method->approx, f->data.n, f->inducing);
}

static cr_status prepare(cr_ctx *cx, cr_scratch *s, cri_gp_fit *f)
{
    (void)s;
    if (f->given_inputs) return CR_OK;
    return cri_gp_inducing(cx, &f->data, f->inducing, f->seed, &f->m->at);
}

cri_gp_sparse cri_gp_sparse_into(const cri_gp_posterior *m, cri_gp_approx approx)
{
    return (cri_gp_sparse){ .approx = approx,
                            .Z = m->at,
                            .L = m->L,
                            .L2 = m->L2,
                            .alpha = m->alpha,
                            .beta = m->beta,
                            .U = m->U,
                            .A = m->A,
                            .jitter = m->jitter };
}

static cr_status open_as(cr_scratch *s, cri_gp_fit *f, cri_gp_approx approx)
{
    cri_gp_sparse *sparse = f->workspace = cr_scratch_bytes(s, 1, sizeof *sparse);
    if (!sparse) return s->status;
    *sparse = cri_gp_sparse_into(f->m, approx);
    f->learning.objective = cri_gp_sparse_objective;
    f->learning.workspace = sparse;
    return cri_gp_open_search(s, f, CRI_GP_SEARCH_ROWS);
}

static cr_status open_workspace(cr_ctx *cx, cr_scratch *s, cri_gp_fit *f)
{
    (void)cx;
    return open_as(s, f, f->method->approx);
}

/* Hyper-parameters, and then the inducing inputs with them where that is asked for. */
static cr_status learn(cr_ctx *cx, cri_gp_fit *f, cri_gp_learned *learned)
{
    cr_status st = cri_gp_learn_all(cx, f, learned);
    if (st != CR_OK || !f->move_inputs) return st;
    return cri_gp_learn_inducing(cx, &f->learning, f->workspace, f->m->kernel, &f->m->noise,
                                 learned);
}

static cr_status condition(cr_ctx *cx, cri_gp_fit *f)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *m = f->m;
    cri_gp_sparse    *sparse = f->workspace;
    CR_TRY(cri_gp_sparse_solve(cx, &f->problem, m->kernel, m->noise, sparse, m->gradient, NULL));
    m->evidence = sparse->value;
    m->jitter = sparse->jitter;
    if (m->q) m->beta[0] += f->shift;
    if (m->jitter > 0)
        cr_log(cx, CR_LOG_INFO, "gp: %g was added to the variance at the inducing inputs",
               m->jitter);
done:
    return st;
}

/* --- svgp ------------------------------------------------------------------------------------ */

static cr_status open_svgp(cr_ctx *cx, cr_scratch *s, cri_gp_fit *f)
{
    (void)cx;
    return open_as(s, f, CRI_GP_VFE);
}

/* Rows of a step where nothing is asked for: all of them if they are few, else as many as give
 * enough steps. */
static size_t choose_batch(size_t n)
{
    if (n <= MOST_BATCH) return n;
    size_t batch = n / BATCH_STEPS;
    return batch < LEAST_BATCH ? LEAST_BATCH : batch > MOST_BATCH ? MOST_BATCH : batch;
}

/* As asked for, and more where that makes only a few steps. */
static size_t choose_epochs(size_t epochs, size_t n, size_t batch)
{
    size_t steps = (n + batch - 1) / batch, least = (LEAST_STEPS + steps - 1) / steps;
    return epochs > least ? epochs : least;
}

/* The bound prefers more noise and longer scales than the evidence of few rows does. */
static cr_status adapt_to_bound(cr_ctx *cx, cri_gp_fit *f)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cri_gp_data     part = { 0 };
    cri_gp_problem  some;
    cri_gp_learning bound = f->learning;

    CR_TRY(cri_gp_draw_problem(&s, &f->problem, ADAPT_ROWS, f->seed, &part, &some));
    bound.problem = &some;
    CR_TRY(cri_gp_adapt(cx, &bound, f->m->kernel, &f->m->noise));
done:
    cri_gp_data_free(cx, &part);
    cr_scratch_end(&s);
    return st;
}

/* By the exact evidence of some rows first, then the bound by mini-batches; as vfe where one batch
 * is all rows. */
static cr_status learn_svgp(cr_ctx *cx, cri_gp_fit *f, cri_gp_learned *learned)
{
    cr_status st = CR_OK;
    size_t    n = f->problem.data->n, batch = f->batch ? f->batch : choose_batch(n);
    bool      all;
    if (batch >= n) return learn(cx, f, learned);
    cri_gp_svgp_options o = { batch, choose_epochs(f->epochs, n, batch), f->move_inputs };

    cri_progress_stage(cx, 0.3);
    CR_TRY(cri_gp_learn_from_few(cx, f, CRI_GP_SEARCH_ROWS, learned, &all));
    learned->at_bound[0] = '\0';
    if (learned->expired) goto done;
    cri_progress_stage(cx, 0.95);
    CR_TRY(adapt_to_bound(cx, f));
    CR_TRY(
        cri_gp_svgp_learn(cx, &f->learning, &o, f->workspace, f->m->kernel, &f->m->noise, learned));
    if (learned->expired) cri_gp_report_expired(cx, learned->evaluations, n, n);
    if (learned->stop == CR_STOP_LIMIT && !learned->expired)
        cr_log(cx, CR_LOG_WARNING,
               "the bound was still changing in the last of %zu passes over the rows: --epochs %zu "
               "continues longer, and --approx vfe uses all rows at a time",
               o.epochs, 4 * o.epochs);
done:
    return st;
}

/* --- nystrom --------------------------------------------------------------------------------- */

static cr_status open_nystrom(cr_ctx *cx, cr_scratch *s, cri_gp_fit *f)
{
    (void)cx;
    return open_as(s, f, CRI_GP_SOR);
}

/* The rows that stand best for the others at the hyper-parameters that m has take the place of the
 * inputs so far. */
static cr_status condition_nystrom(cr_ctx *cx, cri_gp_fit *f)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *m = f->m;
    cri_gp_sparse    *sparse = f->workspace;
    cri_gp_data       Z;

    CR_TRY(cri_gp_landmarks(cx, f->problem.data, m->kernel, f->inducing, f->seed, &Z));
    cri_gp_posterior old = { .at = m->at,
                             .mean = { .q = m->mean.q },
                             .L = m->L,
                             .L2 = m->L2,
                             .alpha = m->alpha,
                             .beta = m->beta,
                             .U = m->U,
                             .A = m->A };
    cri_record_free(cx, cri_gp_posterior_record, &old);
    m->L = m->L2 = m->alpha = m->beta = m->U = m->A = NULL;
    m->at = Z;
    CR_TRY(cri_gp_posterior_allocate(cx, m, f->method->factors));
    *sparse = cri_gp_sparse_into(m, CRI_GP_SOR);
    CR_TRY(condition(cx, f));
    m->kernel_error = sparse->left;
done:
    return st;
}

/* --- the posterior --------------------------------------------------------------------------- */

void cri_gp_sparse_describe(const cri_gp_posterior *m, const cr_design *design, cri_sheet *out)
{
    (void)design;
    cri_put_real(out, "jitter", m->jitter);
}

static cr_status evidence_workspace(cr_scratch *s, const cri_gp_posterior *m, size_t n, void **out)
{
    cri_gp_sparse *w = *out = cr_scratch_bytes(s, 1, sizeof *w);
    size_t         a = m->at.n, q = m->q;
    (void)n;
    if (!w) return s->status;
    *w = (cri_gp_sparse){ .approx = (cri_gp_approx)m->approx,
                          .Z = m->at,
                          .L = cr_scratch_matrix(s, a, a),
                          .L2 = cr_scratch_matrix(s, a, a),
                          .alpha = cr_scratch_f64(s, a),
                          .beta = cr_scratch_f64(s, q),
                          .U = cr_scratch_matrix(s, a, q),
                          .A = cr_scratch_matrix(s, q, q) };
    return s->status;
}

/* --- the rows of the table ------------------------------------------------------------------- */

#define INDUCING(name_, help_, approx_, ...)                                                       \
    {                                                                                              \
        .name = name_, .option = "--approx " name_, .help = help_,                                 \
        .process = "a sparse process of all rows at a time", .approx = approx_,                    \
        .factors = CRI_GP_L | CRI_GP_L2, .check = cri_gp_check_sparse, .cost = cost,               \
        .prepare = prepare, .hyper = cri_gp_learn_sds, .answers = &cri_gp_process_answers,         \
        .cross = cri_gp_kernel_cross, .project = cri_gp_factor_project,                            \
        .moments = cri_gp_dense_moments, .slopes = cri_gp_kernel_slopes,                           \
        .describe = cri_gp_sparse_describe, __VA_ARGS__                                            \
    }
/* Those that share objective and solution. */
#define SPARSE(...)                                                                                \
    .inputs = "inducing_inputs", .uses = "inducing optimize_inducing", .open = open_workspace,     \
    .learn = learn, .condition = condition, .evidence_at = cri_gp_sparse_objective,                \
    .workspace = evidence_workspace, __VA_ARGS__

const cri_gp_method cri_gp_method_sor =
    INDUCING("sor", "subset of regressors: f is linear in k(Z, x)", CRI_GP_SOR,
             SPARSE(.features = true, .evidence = CR_EVIDENCE_ESTIMATE));
const cri_gp_method cri_gp_method_dtc =
    INDUCING("dtc", "deterministic training conditional: y ~ N(H b, Q + noise)", CRI_GP_DTC,
             SPARSE(.evidence = CR_EVIDENCE_ESTIMATE));
const cri_gp_method cri_gp_method_fitc =
    INDUCING("fitc", "fully independent training conditional: y ~ N(H b, Q + diag(K - Q) + noise)",
             CRI_GP_FITC, SPARSE(.evidence = CR_EVIDENCE_ESTIMATE));
const cri_gp_method cri_gp_method_vfe =
    INDUCING("vfe", "variational free energy: a lower bound of the log evidence", CRI_GP_VFE,
             SPARSE(.evidence = CR_EVIDENCE_BOUND));
const cri_gp_method cri_gp_method_svgp = INDUCING(
    "svgp", "the bound of vfe from mini-batches", CRI_GP_SVGP, .inputs = "inducing_inputs",
    .uses = "inducing optimize_inducing batch epochs", .few_pairs = true,
    .evidence = CR_EVIDENCE_BOUND, .open = open_svgp, .learn = learn_svgp, .condition = condition);
const cri_gp_method cri_gp_method_nystrom =
    INDUCING("nystrom", "sor at landmarks: a pivoted Cholesky factor of K", CRI_GP_NYSTROM,
             .inputs = "landmarks", .uses = "inducing optimize_inducing", .features = true,
             .measures_kernel = true, .evidence = CR_EVIDENCE_ESTIMATE, .open = open_nystrom,
             .learn = cri_gp_learn_all, .condition = condition_nystrom);
