/* gp_job_condition.c -- a fit at its hyper-parameters: all that predicts. */
#include "gp_job.h"
#include "models/gp/posterior/gp_lowrank.h"
#include "models/gp/cg/gp_nearest.h"
#include "models/gp/exact/gp_pivoted_cholesky.h"
#include "models/gp/exact/gp_pivoted_cholesky.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

static const double SURE = 1,
                    PART = 1e-3; /* nats and share of the log evidence: errors below are small */

cri_gp_cg cri_gp_job_cg(const cri_gp_job *j)
{
    const cri_gp_posterior *m = j->m;
    cri_gp_cg               cg = { .settings = cri_gp_cg_defaults(j->seed),
                                   .alpha = m->alpha,
                                   .beta = m->beta,
                                   .U = m->U,
                                   .A = m->A };
    cg.settings.probes = j->o.probes;
    return cg;
}

/* Factor, weights and, where it is wanted, leave-one-out at the hyper-parameters that m has. */
static cr_status condition(cr_ctx *cx, const cri_gp_job *j)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_gp_posterior *m = j->m;
    cri_gp_solution   solution = cri_gp_posterior_solution(m);
    size_t            n = j->o.loo || m->gradient ? m->at.n : 0;
    double           *inverse = cr_scratch_matrix(&s, n, n);

    CR_TRY(s.status);
    solution.nugget = j->nugget;
    CR_TRY(cri_gp_solve(cx, &j->problem, m->kernel, m->noise, CRI_GP_JITTER, m->L, &solution));
    m->evidence = solution.log_evidence;
    m->jitter = solution.jitter;
    m->loo_score = m->loo_rmse = NAN;
    if (j->o.loo)
        CR_TRY(cri_gp_leave_one_out(cx, &j->problem, j->rows, j->rows->roles[0], j->group, m->noise,
                                    &solution, m->L, inverse, NULL, &m->loo_score, &m->loo_rmse));
    if (m->gradient) {
        memcpy(inverse, m->L, n * n * sizeof *inverse);
        CR_TRY(
            cri_gp_gradient(cx, &j->problem, m->kernel, m->noise, &solution, inverse, m->gradient));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* The same, and a form of low rank where there is one. */
static cr_status condition_exact(cr_ctx *cx, const cri_gp_job *j)
{
    cri_gp_posterior *m = j->m;
    cr_status         st = condition(cx, j);
    if (st == CR_OK && !m->n_draws)
        st = cri_gp_lowrank_new(cx, m, CRI_GP_PIVOT_LEAST, CRI_GP_LOWRANK_WORST, &m->low);
    return st;
}

/* The root; with it what the nearest inputs need, where they help. */
static cr_status keep_root(cr_ctx *cx, cri_gp_posterior *m, const cri_gp_cg_root_of *root)
{
    size_t size = m->at.n * root->rank;
    bool   near = root->near > 0 && root->near_error < root->error;
    m->inverse.n = m->at.n;
    m->inverse.rank = root->rank;
    m->inverse.root = cr_alloc(cx, size, sizeof(double));
    m->inverse.image = near ? cr_alloc(cx, size, sizeof(double)) : NULL;
    if (!m->inverse.root || (near && !m->inverse.image)) return CR_ENOMEM;
    memcpy(m->inverse.root, root->R, size * sizeof(double));
    if (near) memcpy(m->inverse.image, root->W, size * sizeof(double));
    m->inverse.near = near ? root->near : 0;
    m->inverse.sd_error = near ? root->near_error : root->error;
    return CR_OK;
}

/* Evidence, weights and root by conjugate gradients. */
static cr_status condition_cg(cr_ctx *cx, const cri_gp_job *j)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_gp_posterior *m = j->m;
    cri_gp_cg         cg = cri_gp_job_cg(j);
    size_t            n = m->at.n, most = cri_gp_cg_root_rank(n, j->o.inducing);
    cri_gp_cg_root_of root = { .R = cr_scratch_matrix(&s, n, most),
                               .W = cr_scratch_matrix(&s, n, most) };

    CR_TRY(s.status);
    CR_TRY(cri_gp_cg_evidence(cx, &j->problem, m->kernel, m->noise, &cg, m->gradient));
    CR_TRY(cri_gp_cg_root(cx, &j->problem, m->kernel, m->noise, &cg.settings, most, &root));
    CR_TRY(keep_root(cx, m, &root));
    m->evidence = cg.value;
    m->inverse.evidence_se = cg.se;
    m->inverse.residual = cg.report.residual;
    m->inverse.cg_iterations = cg.report.iterations;
    m->loo_score = m->loo_rmse = NAN;
    if (m->inverse.residual > 1e-6)
        cr_log(cx, CR_LOG_WARNING,
               "conjugate gradients stopped after %zu steps at a residual of %.2g: more "
               "noise or --approx vfe would make the system easier",
               m->inverse.cg_iterations, m->inverse.residual);
    if (m->inverse.evidence_se > SURE && m->inverse.evidence_se > PART * fabs(m->evidence))
        cr_log(cx, CR_LOG_WARNING,
               "the log evidence has a standard error of %.2g, from %zu probes: --probes %zu would "
               "halve it",
               m->inverse.evidence_se, j->o.probes, 4 * j->o.probes);
    if (m->inverse.sd_error > 0.05)
        cr_log(cx, CR_LOG_WARNING,
               "predicted sds may be too large by %.0f %%: --inducing %zu would make that less",
               100 * m->inverse.sd_error, 4 * m->inverse.rank < n ? 4 * m->inverse.rank : n);
done:
    cr_scratch_end(&s);
    return st;
}

void cri_gp_job_set_sparse(cri_gp_job *j)
{
    cri_gp_posterior *m = j->m;
    cri_gp_approx     approx = m->approx == CRI_GP_SVGP      ? CRI_GP_VFE
                               : m->approx == CRI_GP_NYSTROM ? CRI_GP_SOR
                                                             : (cri_gp_approx)m->approx;
    j->sparse = (cri_gp_sparse){ .approx = approx,
                                 .Z = m->at,
                                 .L = m->L,
                                 .L2 = m->L2,
                                 .alpha = m->alpha,
                                 .beta = m->beta,
                                 .U = m->U,
                                 .A = m->A };
}

/* The rows that stand best for the others, at the hyper-parameters that m has. */
static cr_status choose_landmarks(cr_ctx *cx, cri_gp_job *j)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *m = j->m;
    cri_gp_data       Z;

    CR_TRY(cri_gp_landmarks(cx, j->problem.data, m->kernel, j->o.inducing, j->seed, &Z));
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
    CR_TRY(cri_gp_posterior_allocate(cx, m, true));
    cri_gp_job_set_sparse(j);
done:
    return st;
}

static cr_status condition_rff(cr_ctx *cx, cri_gp_job *j)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *m = j->m;
    CR_TRY(cri_gp_rff_solve(cx, &j->problem, m->kernel, m->noise, &j->rff, m->gradient));
    CR_TRY(cri_gp_rff_error(cx, j->problem.data, m->kernel, &j->rff, &m->kernel_error));
    m->evidence = j->rff.value;
    m->loo_score = m->loo_rmse = NAN;
done:
    return st;
}

static cr_status condition_sparse(cr_ctx *cx, cri_gp_job *j)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *m = j->m;
    if (m->approx == CRI_GP_NYSTROM) CR_TRY(choose_landmarks(cx, j));
    CR_TRY(
        cri_gp_sparse_solve(cx, &j->problem, m->kernel, m->noise, &j->sparse, m->gradient, NULL));
    if (m->approx == CRI_GP_NYSTROM) m->kernel_error = j->sparse.left;
    m->evidence = j->sparse.value;
    m->jitter = j->sparse.jitter;
    m->loo_score = m->loo_rmse = NAN;
    if (m->jitter > 0)
        cr_log(cx, CR_LOG_INFO, "gp: %g was added to the variance at the inducing inputs",
               m->jitter);
done:
    return st;
}

cr_status cri_gp_job_condition(cr_ctx *cx, cri_gp_job *j)
{
    const cri_gp_posterior *m = j->m;
    cr_status               st = cri_kernel_settle(cx, m->kernel);
    if (st != CR_OK) return st;
    if (m->cg) return condition_cg(cx, j);
    if (m->approx == CRI_GP_EXACT) return condition_exact(cx, j);
    st = m->approx == CRI_GP_RFF ? condition_rff(cx, j) : condition_sparse(cx, j);
    if (st == CR_OK && m->q) m->beta[0] += j->shift;
    return st;
}
