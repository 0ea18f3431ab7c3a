/* gp_method_rff.c -- Gaussian processes on m random Fourier features (gp_rff.h): a Bayesian linear
 * model of cosines.  O(n m^2) time, O(m^2) memory.  m->at holds frequencies, weights and phases. */
#include "gp_cost.h"
#include "gp_fit.h"
#include "models/gp/sparse/gp_rff.h"

#include <math.h>

typedef struct workspace {
    cri_gp_rff      rff; /* first: the workspace of the objective */
    cri_gp_spectrum spectrum;
} workspace;

/* --- the fit --------------------------------------------------------------------------------- */

static cr_status cost(cr_ctx *cx, const cri_gp_fit *f)
{
    return cri_gp_cost_sparse(cx, CRI_GP_RFF, f->data.n, f->inducing);
}

/* The draws of the features, and memory for what they become. */
static cr_status prepare(cr_ctx *cx, cr_scratch *s, cri_gp_fit *f)
{
    cr_status          st = CR_OK;
    const cri_gp_data *data = &f->data;
    workspace         *w = f->workspace = cr_scratch_bytes(s, 1, sizeof *w);
    CR_TRY(s->status);
    CR_TRY(cri_gp_spectrum_new(cx, s, f->m->kernel, f->inducing, data->d, f->seed, &w->spectrum));
    CR_TRY(cri_gp_data_new(cx, w->spectrum.m, data->d, data->c, &f->m->at));
done:
    return st;
}

static cr_status open_workspace(cr_ctx *cx, cr_scratch *s, cri_gp_fit *f)
{
    const cri_gp_posterior *m = f->m;
    workspace              *w = f->workspace;
    (void)cx;
    w->rff = (cri_gp_rff){ .spectrum = &w->spectrum,
                           .W = m->at.X,
                           .weight = m->at.y,
                           .phase = m->at.r,
                           .L2 = m->L2,
                           .g = m->alpha,
                           .beta = m->beta,
                           .U = m->U,
                           .A = m->A };
    f->learning.objective = cri_gp_rff_objective;
    f->learning.workspace = &w->rff;
    return cri_gp_open_search(s, f, CRI_GP_SEARCH_ROWS);
}

static cr_status condition(cr_ctx *cx, cri_gp_fit *f)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *m = f->m;
    cri_gp_rff       *rff = &((workspace *)f->workspace)->rff;
    CR_TRY(cri_gp_rff_solve(cx, &f->problem, m->kernel, m->noise, rff, m->gradient));
    CR_TRY(cri_gp_rff_error(cx, f->problem.data, m->kernel, rff, &m->kernel_error));
    m->evidence = rff->value;
    if (m->q) m->beta[0] += f->shift;
done:
    return st;
}

/* --- the posterior --------------------------------------------------------------------------- */

static cr_status cross(cr_ctx *cx, const cri_gp_posterior *m, cri_gp_block *b)
{
    return cri_gp_waves(cx, m->at.X, m->at.y, m->at.r, m->at.n, b->X, b->count, m->at.d, b->C,
                        NULL);
}

/* sum_f alpha_f weight_f d cos(W_f . x - phase_f) / dx; F [n x count] is workspace. */
static cr_status slopes(cr_ctx *cx, const cri_gp_posterior *m, const cri_gp_block *b, double *F,
                        double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = m->at.n, d = m->at.d, count = b->count;
    double    *angle = cr_scratch_matrix(&s, n, count);

    CR_TRY(s.status);
    CR_TRY(cri_gp_waves(cx, m->at.X, m->at.y, m->at.r, n, b->X, count, d, F, angle));
    for (size_t f = 0; f < n; f++)
        for (size_t i = 0; i < count; i++) {
            double by_angle = -m->alpha[f] * m->at.y[f] * sin(angle[f * count + i]);
            for (size_t j = 0; j < d; j++) out[i * d + j] += by_angle * m->at.X[f * d + j];
        }
done:
    cr_scratch_end(&s);
    return st;
}

const cri_gp_method cri_gp_method_rff = {
    .name = "rff",
    .option = "--approx rff",
    .help = "random Fourier features: f is linear in cosines of x",
    .process = "a sparse process of all rows at a time",
    .inputs = "random_features",
    .uses = "inducing optimize_inducing",
    .approx = CRI_GP_RFF,
    .factors = CRI_GP_L2,
    .features = true,
    .measures_kernel = true,
    .few_pairs = true,
    .evidence = CR_EVIDENCE_ESTIMATE,
    .check = cri_gp_check_sparse,
    .cost = cost,
    .prepare = prepare,
    .open = open_workspace,
    .learn = cri_gp_learn_all,
    .hyper = cri_gp_learn_sds,
    .condition = condition,
    .answers = &cri_gp_process_answers,
    .cross = cross,
    .project = cri_gp_factor_project,
    .moments = cri_gp_dense_moments,
    .slopes = slopes,
    .describe = cri_gp_sparse_describe,
};
