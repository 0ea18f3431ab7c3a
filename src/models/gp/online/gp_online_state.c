/* gp_online_state.c -- states, and batches taken into them. */
#include "gp_online_state.h"
#include "gp_basis.h"
#include "gp_online_learn.h"
#include "base/scratch.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

#define CRI_TYPE cri_online_state
const cri_member cri_online_record[] = { ONLINE_STATE(CRI_RECORD_ROW, CRI_RECORD_ROW)
                                             CRI_RECORD_END };
#undef CRI_TYPE

void cri_online_release(cr_ctx *cx, void *state)
{
    cri_gp_release(cx, &((cri_online_state *)state)->gp);
}

void cri_online_free(cr_ctx *cx, cri_online_state *m)
{
    cri_state_free(cx, &cri_class_gp_online, m);
}

cr_status cri_online_allocate(cr_ctx *cx, cri_online_state *m)
{
    cr_status st = cri_gp_posterior_allocate(cx, &m->gp, CRI_GP_L | CRI_GP_L2);
    size_t    n = m->gp.at.n, w = m->gp.q + 1;
    if (st != CR_OK) return st;
    m->sums.m = n, m->sums.q = m->gp.q, m->sums.w = w;
    if (m->method == CRI_ONLINE_METHOD_BASIS) {
        m->n = n;
        m->C = cr_alloc(cx, n * n, sizeof(double));
        return m->C ? CR_OK : cr_error_status(cx);
    }
    m->sums.Phi = cr_alloc(cx, n * n, sizeof(double));
    m->sums.M = cr_alloc(cx, n * w, sizeof(double));
    m->sums.S = cr_alloc(cx, w * w, sizeof(double));
    return m->sums.Phi && m->sums.M && m->sums.S ? CR_OK : cr_error_status(cx);
}

cr_status cri_online_keep_prior(cr_ctx *cx, const cri_gp_prior *prior, cri_online_state *m)
{
    size_t n = prior->size;
    if (n == 0) return CR_OK;
    double *mean = cr_alloc(cx, n, sizeof *mean), *sd = cr_alloc(cx, n, sizeof *sd);
    m->priors = n, m->prior_mean = mean, m->prior_sd = sd;
    if (!mean || !sd) return cr_error_status(cx);
    for (size_t j = 0; j < n; j++) {
        mean[j] = prior->weak[j] ? prior->mean[j] : 0;
        sd[j] = prior->weak[j] ? prior->sd[j] : 0;
    }
    return CR_OK;
}

/* The priors that a state keeps, of its first n parameters; none: size is 0. */
static cr_status kept_prior(cr_scratch *s, const cri_online_state *m, size_t n, cri_gp_prior *out)
{
    *out = (cri_gp_prior){ .size = m->prior_mean && m->prior_sd ? n : 0,
                           .weak = cr_scratch_bytes(s, n, sizeof(bool)),
                           .mean = m->prior_mean,
                           .sd = m->prior_sd };
    for (size_t j = 0; s->status == CR_OK && j < out->size; j++) out->weak[j] = m->prior_sd[j] > 0;
    return s->status;
}

static cr_status copy_prior(cr_ctx *cx, const cri_online_state *from, cri_online_state *to)
{
    size_t bytes = from->priors * sizeof(double);
    if (!from->prior_mean || !from->prior_sd) return CR_OK;
    to->priors = from->priors;
    to->prior_mean = cr_alloc(cx, from->priors, sizeof(double));
    to->prior_sd = cr_alloc(cx, from->priors, sizeof(double));
    if (!to->prior_mean || !to->prior_sd) return cr_error_status(cx);
    memcpy(to->prior_mean, from->prior_mean, bytes);
    memcpy(to->prior_sd, from->prior_sd, bytes);
    return CR_OK;
}

/* A state with the kernel, the noise and the mean function of another, and these inputs, taken
 * over. */
static cr_status state_like(cr_ctx *cx, const cri_online_state *old, cri_gp_data *inputs,
                            cri_online_state **out)
{
    cr_status         st = CR_OK;
    cri_online_state *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    cri_gp_posterior       *g = &m->gp;
    const cri_gp_posterior *o = &old->gp;
    m->method = old->method, m->batches = old->batches, m->shift = old->shift;
    m->learned_from = old->learned_from;
    g->approx = o->approx, g->noise = o->noise, g->jitter = o->jitter,
    g->noise_learned = o->noise_learned;
    g->hyper = o->hyper, g->occam = o->occam;
    g->rows = o->rows, g->starts = o->starts, g->agreed = o->agreed,
    g->evaluations = o->evaluations;
    g->loo_score = g->loo_rmse = NAN;
    CR_TRY(cr_kernel_copy(cx, o->kernel, &g->kernel));
    CR_TRY(cri_record_copy(cx, cri_gp_mean_record, &o->mean, &g->mean));
    if (old->priors) CR_TRY(copy_prior(cx, old, m));
    g->at = *inputs;
    *inputs = (cri_gp_data){ 0 };
    CR_TRY(cri_online_allocate(cx, m));
    *out = m;
    m = NULL;
done:
    cri_online_free(cx, m);
    return st;
}

cr_status cri_online_copy(cr_ctx *cx, const cri_online_state *old, cri_online_state **out)
{
    cr_status         st = CR_OK;
    cri_online_state *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    CR_TRY(cri_record_copy(cx, cri_online_record, old, m));
    CR_TRY(cr_kernel_copy(cx, old->gp.kernel, &m->gp.kernel));
    m->gp.q = m->sums.q = old->gp.q;
    m->gp.n_theta = old->gp.n_theta;
    *out = m;
    m = NULL;
done:
    cri_online_free(cx, m);
    return st;
}

/* --- the stream ------------------------------------------------------------------------------ */

cr_status cri_online_problem(cr_scratch *s, const cri_gp_posterior *g, const cri_gp_data *data,
                             cri_gp_problem *out)
{
    double *H = cr_scratch_matrix(s, data->n, g->mean.q);
    if (s->status != CR_OK) return s->status;
    cri_gp_mean_fill(&g->mean, data->X, data->n, H);
    *out = (cri_gp_problem){ data, g->mean.q, H };
    return CR_OK;
}

cr_status cri_online_add_to_sums(cr_ctx *cx, const cri_online_state *old, const cri_gp_data *data,
                                 cri_online_state **out)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_online_state *m = NULL;
    cri_gp_problem    problem;

    CR_TRY(cri_online_copy(cx, old, &m));
    cri_gp_sparse sparse = cri_gp_sparse_into(&m->gp, CRI_GP_VFE);
    CR_TRY(cri_online_problem(&s, &m->gp, data, &problem));
    CR_TRY(cri_gp_stream_add(cx, &problem, m->gp.kernel, m->gp.noise, &sparse, &m->sums));
    m->gp.evidence = sparse.value;
    *out = m;
    m = NULL;
done:
    cri_online_free(cx, m);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_online_change(cr_ctx *cx, const cri_online_state *old, const cri_gp_data *data,
                            const cri_online_options *o, cri_online_state **out, cr_report *report)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_online_state *m = NULL;
    cri_gp_data       inputs = { 0 };
    cri_gp_problem    problem;
    cri_gp_pseudo     pseudo;
    cri_gp_prior      prior;
    bool              learns = o->optimize == CRI_ONLINE_OPTIMIZE_EVIDENCE &&
                  o->steps > 0; /* how far a batch goes is --steps */
    cr_stop stop = CR_STOP_CLOSED_FORM;

    CR_TRY(cri_gp_pseudo_new(&s, &old->sums, old->gp.noise, old->gp.L, &old->gp.at, &pseudo));
    if (o->move)
        CR_TRY(cri_gp_online_choose(cx, old->gp.kernel, &old->gp.at, data, o->inducing, &inputs));
    else
        CR_TRY(cri_gp_data_copy(cx, &old->gp.at, &inputs));
    CR_TRY(state_like(cx, old, &inputs, &m));
    cri_gp_sparse sparse = cri_gp_sparse_into(&m->gp, CRI_GP_VFE);
    cri_gp_stream stream = { &pseudo, &sparse, NULL };
    CR_TRY(cri_online_problem(&s, &m->gp, data, &problem));
    if (learns) {
        bool learn_noise = m->gp.noise_learned && old->sums.count > 0;
        CR_TRY(kept_prior(&s, m, m->gp.n_theta + learn_noise, &prior));
        CR_TRY(cri_gp_online_ascend(cx, &problem, &stream, prior.size ? &prior : NULL, learn_noise,
                                    o->steps, m->gp.kernel, &m->gp.noise, &report->iterations,
                                    &stop));
        report->stop = stop;
    }
    stream.opt_sums = &m->sums;
    CR_TRY(cri_kernel_settle(cx, m->gp.kernel));
    CR_TRY(cri_gp_stream_solve(cx, &problem, m->gp.kernel, m->gp.noise, &stream, NULL));
    m->gp.evidence = sparse.value;
    m->gp.jitter = sparse.jitter;
    *out = m;
    m = NULL;
done:
    cri_gp_data_free(cx, &inputs);
    cri_online_free(cx, m);
    cr_scratch_end(&s);
    return st;
}

/* --- the basis ------------------------------------------------------------------------------- */

/* A state from a basis: what predicts. */
static cr_status state_of_basis(cr_ctx *cx, const cri_online_state *like, const cri_gp_basis *b,
                                cri_online_state **out)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_online_state *m = NULL;
    cri_gp_data       inputs = { 0 };
    cri_gp_data       view = { .n = b->n,
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
    cri_online_free(cx, m);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_online_add_to_basis(cr_ctx *cx, const cri_online_state *old, const cri_gp_data *data,
                                  size_t most, cri_online_state **out)
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
