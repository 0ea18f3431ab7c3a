/* gp_file.c -- what a Gaussian process that was read must be, and what is made of it. */
#include "gp_lowrank.h"
#include "gp_mcmc.h"

/* Terms of columns that there are. */
static bool mean_fits(const cri_gp_mean *mean, size_t d)
{
    bool fits = mean->d == d && mean->q <= CRI_GP_MOST_POWER * (d + 1);
    for (size_t t = 0; fits && t < mean->q; t++)
        fits =
            (mean->column[t] == 0 || mean->column[t] < (double)d) && (mean->power[t] == 0 || d > 0);
    return fits;
}

static bool inverse_fits(const cri_gp_posterior *m)
{
    const cri_gp_inverse *i = &m->inverse;
    if (!i->root) return true;
    return m->approx == CRI_GP_EXACT && i->n == m->at.n && i->rank <= i->n && i->near <= i->n &&
           !i->image == (i->near == 0);
}

static bool draws_fit(const cri_gp_posterior *m)
{
    return !m->draws == (m->n_draws == 0) && m->n_draws % CRI_GP_CHAINS == 0 &&
           (!m->draws || (m->approx == CRI_GP_EXACT && !m->cg));
}

cr_status cri_gp_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *m = state;
    size_t            n = m->at.n, d, c;
    cri_gp_shape(design, &d, &c);
    m->q = m->mean.q;
    m->cg = m->inverse.root != NULL;
    bool fits = m->approx != CRI_GP_AUTO && !m->L == (m->approx == CRI_GP_RFF || m->cg) &&
                !m->L2 == (m->approx == CRI_GP_EXACT) && m->at.d == d && m->at.c == c &&
                mean_fits(&m->mean, d) && inverse_fits(m) && draws_fit(m) &&
                cri_gp_codes_fit(design, m->at.codes, n, c) &&
                (!m->noise_column || design->roles[0]) &&
                (m->low.rank == 0 || cri_gp_lowrank_fits(m));
    if (!fits) return CR_EDATA;
    if (!m->at.codes) m->at.codes = cr_alloc(cx, 0, sizeof(uint32_t));
    m->at.first = cr_alloc(cx, n, sizeof(size_t));
    if (!m->at.codes || !m->at.first) return CR_ENOMEM;
    for (size_t i = 0; i < n; i++) m->at.first[i] = i;
    cr_kernel_input in = cri_gp_inputs(&m->at);
    CR_TRY(cri_gp_kernel_restore(cx, m->formula, &m->centre, &in, design, &m->kernel));
    m->n_theta = cr_kernel_theta_size(m->kernel);
    if (m->n_hyper != m->n_theta + 1) st = CR_EDATA;
done:
    return st;
}
