/* gp_method_mcmc.c -- the exact Gaussian process averaged over draws of its hyper-parameters
 * (gp_mcmc.h), which start at the best ones. */
#include "gp_cost.h"
#include "gp_fit.h"
#include "models/gp/posterior/gp_mcmc.h"

#include <math.h>

static cr_status cost(cr_ctx *cx, const cri_gp_fit *f)
{
    cr_status st = cri_gp_cost_exact(cx, f->data.n);
    if (st != CR_OK) return st;
    return cri_gp_cost_mcmc(cx, f->data.n, cr_kernel_theta_size(f->m->kernel) + f->m->noise_learned,
                            f->draws);
}

static cr_status hyper(cr_ctx *cx, cri_gp_fit *f)
{
    cr_status st = cri_gp_learn_sds(cx, f);
    return st != CR_OK ? st : cri_gp_draw_hyper(cx, f, f->average);
}

/* Nothing was drawn of a kernel without parameters: the process is that of the exact method. */
static cr_status condition(cr_ctx *cx, cri_gp_fit *f)
{
    return f->m->n_draws ? cri_gp_exact_solve(cx, f) : cri_gp_method_exact.condition(cx, f);
}

static bool fits(const cri_gp_posterior *m)
{
    return m->n_draws % CRI_GP_CHAINS == 0 && !m->inverse.root && m->low.rank == 0;
}

static void describe(const cri_gp_posterior *m, const cr_design *design, cri_sheet *out)
{
    double rhat = NAN, ess = NAN;
    cri_gp_exact_describe(m, design, out);
    if (m->hyper != CRI_GP_HYPER_LAPLACE) cri_gp_mcmc_agreement(m, &rhat, &ess);
    cri_put_count(out, "hyper_draws", m->n_draws);
    cri_put_real(out, "largest_rhat", rhat);
    cri_put_real(out, "smallest_ess", ess);
}

const cri_gp_method cri_gp_method_mcmc = {
    .name = "mcmc",
    .option = "--hyper mcmc",
    .help = "exact, averaged over draws of the hyper-parameters",
    .process = "an exact process",
    .inputs = "distinct_inputs",
    .uses = "loo",
    .approx = CRI_GP_EXACT,
    .factors = CRI_GP_L,
    .evidence = CR_EVIDENCE_EXACT,
    .check = cri_gp_check_noise_free,
    .cost = cost,
    .prepare = cri_gp_exact_prepare,
    .open = cri_gp_exact_open,
    .learn = cri_gp_exact_learn,
    .hyper = hyper,
    .condition = condition,
    .fits = fits,
    .answers = &cri_gp_mixture_answers,
    .cross = cri_gp_kernel_cross,
    .project = cri_gp_factor_project,
    .moments = cri_gp_dense_moments,
    .slopes = cri_gp_kernel_slopes,
    .describe = describe,
    .evidence_at = cri_gp_exact_objective,
    .workspace = cri_gp_exact_evidence_workspace,
};
