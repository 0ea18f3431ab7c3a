/* gp_methods.c -- the table of methods.  A new one is a file and a row here. */
#include "gp_fit.h"

/* By the names of --approx. */
static const cri_gp_method *const methods[] = {
    [CRI_GP_EXACT] = &cri_gp_method_exact,     [CRI_GP_SOR] = &cri_gp_method_sor,
    [CRI_GP_DTC] = &cri_gp_method_dtc,         [CRI_GP_FITC] = &cri_gp_method_fitc,
    [CRI_GP_VFE] = &cri_gp_method_vfe,         [CRI_GP_SVGP] = &cri_gp_method_svgp,
    [CRI_GP_NYSTROM] = &cri_gp_method_nystrom, [CRI_GP_RFF] = &cri_gp_method_rff,
};

const cri_gp_method *cri_gp_method_at(int approx) { return methods[approx]; }

/* Those of an exact process that have a part of their own show it. */
const cri_gp_method *cri_gp_method_of(const cri_gp_posterior *m)
{
    if (m->n_draws) return &cri_gp_method_mcmc;
    if (m->inverse.root) return &cri_gp_method_cg;
    return m->low.rank ? &cri_gp_method_lowrank : methods[m->approx];
}
