/* gp_method_cg.c -- the exact Gaussian process by conjugate gradients (gp_cg.h): no factor, a root
 * of C^-1 of some rank for variances, and the nearest inputs where they help it (gp_nearest.h). */
#include "gp_cost.h"
#include "gp_fit.h"
#include "models/gp/cg/gp_cg.h"
#include "models/gp/cg/gp_nearest.h"
#include "base/context_internal.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { FEW_ROWS = 2000 }; /* whose factor costs little against conjugate gradients */
/* Nats, and share of the log evidence: standard errors below both are small. */
static const double SURE = 1, SHARE = 1e-3;

/* --- the fit --------------------------------------------------------------------------------- */

static cr_status check(cr_ctx *cx, const cri_gp_fit *f)
{
    if (!f->m->white && f->m->noise != 0) return CR_OK;
    return cr_fail(cx, CR_EUNSUPPORTED,
                   "--solver cg needs noise above 0, from --noise rather than from "
                   "a white kernel");
}

static cr_status cost(cr_ctx *cx, const cri_gp_fit *f)
{
    return cri_gp_cost_cg(cx, f->data.n, f->inducing, f->probes, f->optimize);
}

static cr_status open_workspace(cr_ctx *cx, cr_scratch *s, cri_gp_fit *f)
{
    const cri_gp_posterior *m = f->m;
    cri_gp_cg              *cg = f->workspace = cr_scratch_bytes(s, 1, sizeof *cg);
    (void)cx;
    if (!cg) return s->status;
    *cg = (cri_gp_cg){ .settings = cri_gp_cg_defaults(f->seed),
                       .alpha = m->alpha,
                       .beta = m->beta,
                       .U = m->U,
                       .A = m->A };
    cg->settings.probes = f->probes;
    return cri_gp_open_search(s, f, FEW_ROWS);
}

static cr_status learn(cr_ctx *cx, cri_gp_fit *f, cri_gp_learned *learned)
{
    cr_status st = CR_OK;
    cri_gp_cg cg = *(cri_gp_cg *)f->workspace;
    bool      all;
    cri_progress_stage(cx, 0.2);
    CR_TRY(cri_gp_learn_from_few(cx, f, FEW_ROWS, learned, &all));
    if (all || learned->expired) goto done;
    learned->at_bound[0] = '\0';
    cri_progress_stage(cx, 0.9);
    CR_TRY(cri_gp_cg_learn(cx, &f->learning, &cg, f->m->kernel, &f->m->noise, learned));
done:
    return st;
}

/* The root; with it what the nearest inputs need, where they help. */
static cr_status keep_root(cr_ctx *cx, cri_gp_posterior *m, const cri_gp_cg_root_of *root)
{
    cri_gp_inverse *inverse = &m->inverse;
    size_t          size = m->at.n * root->rank;
    bool            near = root->near > 0 && root->near_error < root->error;
    inverse->n = m->at.n;
    inverse->rank = root->rank;
    inverse->root = cr_alloc(cx, size, sizeof(double));
    inverse->image = near ? cr_alloc(cx, size, sizeof(double)) : NULL;
    if (!inverse->root || (near && !inverse->image)) return CR_ENOMEM;
    memcpy(inverse->root, root->R, size * sizeof(double));
    if (near) memcpy(inverse->image, root->W, size * sizeof(double));
    inverse->near = near ? root->near : 0;
    inverse->sd_error = near ? root->near_error : root->error;
    return CR_OK;
}

/* Warns of what is less exact than it should be. */
static void report_errors(cr_ctx *cx, const cri_gp_posterior *m, size_t probes)
{
    const cri_gp_inverse *inverse = &m->inverse;
    size_t                rank = 4 * inverse->rank;
    if (inverse->residual > 1e-6)
        cr_log(cx, CR_LOG_WARNING,
               "conjugate gradients stopped after %zu steps at a residual of %.2g: more noise or "
               "--approx vfe would help",
               inverse->cg_iterations, inverse->residual);
    if (inverse->evidence_se > SURE && inverse->evidence_se > SHARE * fabs(m->evidence))
        cr_log(cx, CR_LOG_WARNING,
               "the log evidence has a standard error of %.2g, from %zu probes: --probes %zu would "
               "halve it",
               inverse->evidence_se, probes, 4 * probes);
    if (inverse->sd_error > 0.05)
        cr_log(cx, CR_LOG_WARNING,
               "predicted sds may be too large by %.0f %%: --inducing %zu would reduce this",
               100 * inverse->sd_error, rank < m->at.n ? rank : m->at.n);
}

static cr_status condition(cr_ctx *cx, cri_gp_fit *f)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_gp_posterior *m = f->m;
    cri_gp_cg         cg = *(cri_gp_cg *)f->workspace;
    size_t            n = m->at.n, most = cri_gp_cg_root_rank(n, f->inducing);
    cri_gp_cg_root_of root = { .R = cr_scratch_matrix(&s, n, most),
                               .W = cr_scratch_matrix(&s, n, most) };

    CR_TRY(s.status);
    CR_TRY(cri_gp_cg_evidence(cx, &f->problem, m->kernel, m->noise, &cg, m->gradient));
    CR_TRY(cri_gp_cg_root(cx, &f->problem, m->kernel, m->noise, &cg.settings, most, &root));
    CR_TRY(keep_root(cx, m, &root));
    m->evidence = cg.value;
    m->inverse.evidence_se = cg.se;
    m->inverse.residual = cg.report.residual;
    m->inverse.cg_iterations = cg.report.iterations;
    report_errors(cx, m, f->probes);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the posterior --------------------------------------------------------------------------- */

static bool fits(const cri_gp_posterior *m)
{
    const cri_gp_inverse *i = &m->inverse;
    return i->n == m->at.n && i->rank <= i->n && i->near <= i->n && !i->image == (i->near == 0) &&
           m->low.rank == 0;
}

/* Scales a covariance to the variances prior - explained, which are not above those it has. */
static void scale_to(const double *prior, double *explained, size_t n, double *S)
{
    for (size_t i = 0; i < n; i++) {
        double left = fmax(prior[i] - explained[i], 0), has = S[i * n + i];
        explained[i] = has > left ? sqrt(left / has) : 1;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) S[i * n + j] *= explained[i] * explained[j];
}

/* explained [count] := |V|^2, and what the nearest inputs explain besides. */
static cr_status explain(cr_ctx *cx, const cri_gp_posterior *m, const cri_gp_block *b,
                         const double *V, double *explained)
{
    cr_status      st = CR_OK;
    cri_gp_nearest nearest = { &m->at,          m->kernel,       m->noise,
                               m->inverse.rank, m->inverse.near, m->inverse.image };
    memset(explained, 0, b->count * sizeof *explained);
    if (m->inverse.near) CR_TRY(cri_gp_nearest_take(cx, &nearest, b->C, V, b->count, explained));
    cri_gp_add_squares(V, m->inverse.rank, b->count, explained);
done:
    return st;
}

/* V = root^T k in the place of L^-1 k; R = A^-1 (h - (C^-1 H)^T k). */
static cr_status project(cr_ctx *cx, const cri_gp_posterior *m, cri_gp_block *b,
                         double *opt_variance, double *opt_S)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = m->at.n, count = b->count, rank = m->inverse.rank;
    cr_mat     V = cr_mat_of(cr_scratch_matrix(&s, rank, count), rank, count);
    cr_mat     S = cr_mat_of(opt_S, count, count);
    cr_cmat    C = cr_cmat_of(b->C, n, count);
    double    *explained = cr_scratch_f64(&s, count);

    CR_TRY(s.status);
    CR_TRY(cri_gp_project_mean(cx, m, b, C));
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(m->inverse.root, n, rank), CR_TRANSPOSED, C, CR_PLAIN, 0, V));
    if (opt_variance || m->inverse.near) CR_TRY(explain(cx, m, b, V.a, explained));
    if (opt_variance) {
        for (size_t i = 0; i < count; i++) opt_variance[i] = fmax(b->prior[i] - explained[i], 0);
        cri_gp_add_squares(b->R, m->q, count, opt_variance);
    }
    if (!opt_S) goto done;
    CR_TRY(cr_syrk(cx, -1, cr_const(V), CR_TRANSPOSED, 1, S));
    if (m->inverse.near) scale_to(b->prior, explained, count, opt_S);
    if (m->q) CR_TRY(cr_syrk(cx, 1, cr_cmat_of(b->R, m->q, count), CR_TRANSPOSED, 1, S));
done:
    cr_scratch_end(&s);
    return st;
}

static void describe(const cri_gp_posterior *m, const cr_design *design, cri_sheet *out)
{
    cri_put_text(out, "solver", "cg");
    cri_put_count(out, "cg_iterations", m->inverse.cg_iterations);
    cri_put_real(out, "cg_residual", m->inverse.residual);
    cri_put_real(out, "log_evidence_se", m->inverse.evidence_se);
    cri_put_count(out, "sd_rank", m->inverse.rank);
    cri_put_count(out, "sd_nearest", m->inverse.near);
    cri_put_real(out, "sd_error", m->inverse.sd_error);
    cri_gp_sparse_describe(m, design, out);
}

const cri_gp_method cri_gp_method_cg = {
    .name = "cg",
    .option = "--solver cg",
    .help = "exact, by conjugate gradients: no matrix of all pairs of rows",
    .process = "--solver cg",
    .inputs = "distinct_inputs",
    .uses = "inducing",
    .approx = CRI_GP_EXACT,
    .few_pairs = true,
    .evidence = CR_EVIDENCE_ESTIMATE,
    .check = check,
    .cost = cost,
    .prepare = cri_gp_exact_prepare,
    .open = open_workspace,
    .learn = learn,
    .condition = condition,
    .fits = fits,
    .answers = &cri_gp_process_answers,
    .cross = cri_gp_kernel_cross,
    .project = project,
    .moments = cri_gp_dense_moments,
    .slopes = cri_gp_kernel_slopes,
    .describe = describe,
};
