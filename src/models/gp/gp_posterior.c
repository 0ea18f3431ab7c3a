/* gp_posterior.c -- life and description of a fitted Gaussian process. */
#include "gp_posterior.h"
#include "gp_lowrank.h"
#include "gp_mcmc.h"
#include "../linear/predictor.h"
#include "../../base/context_internal.h"
#include "../../base/scratch.h"
#include "../../math/chol.h"
#include "../../math/dense.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = { "auto", "exact", "sor",     "dtc", "fitc",
                                     "vfe",  "svgp",  "nystrom", "rff" };

const char *cri_gp_approx_name(int approx) { return names[approx]; }

/* --- life ------------------------------------------------------------------------------------ */

#define CRI_TYPE cri_gp_inverse
const cri_member cri_gp_inverse_record[] = { CRI_GP_INVERSE(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE
#define CRI_TYPE cri_gp_posterior
const cri_member cri_gp_posterior_record[] = { CRI_GP_POSTERIOR(CRI_RECORD_ROW, CRI_RECORD_ROW)
                                                   CRI_RECORD_END };
#undef CRI_TYPE

cr_status cri_gp_posterior_allocate(cr_ctx *cx, cri_gp_posterior *m, bool with_second)
{
    cr_status st = CR_OK;
    size_t    size = m->at.n * m->at.n;
    bool      with_first = m->approx != CRI_GP_RFF && !m->cg, knows = m->sd != NULL;
    m->q = m->mean.q;
    m->n_theta = cr_kernel_theta_size(m->kernel);
    m->n_hyper = m->n_theta + 1;
    if (with_first && !(m->L = cr_alloc(cx, size, sizeof(double)))) CR_TRY(cr_error_status(cx));
    if (with_second && !(m->L2 = cr_alloc(cx, size, sizeof(double)))) CR_TRY(cr_error_status(cx));
    if (!m->at_bound && !(m->at_bound = cri_string_copy(cx, ""))) CR_TRY(cr_error_status(cx));
    CR_TRY(cri_record_allocate(cx, cri_gp_posterior_record, m));
    for (size_t j = 0; !knows && j < m->n_hyper; j++) m->sd[j] = NAN;
done:
    return st;
}

cr_status cri_gp_posterior_keep(cr_ctx *cx, cri_gp_posterior *m)
{
    cri_string_free(cx, m->formula);
    cri_record_free(cx, cri_gp_centre_rows_record, &m->centre);
    return cri_gp_kernel_keep(cx, m->kernel, &m->formula, &m->centre);
}

cri_gp_solution cri_gp_posterior_solution(const cri_gp_posterior *m)
{
    return (cri_gp_solution){ .log_evidence = m->evidence,
                              .jitter = m->jitter,
                              .alpha = m->alpha,
                              .beta = m->beta,
                              .U = m->U,
                              .A = m->A };
}

bool cri_gp_has_features(const cri_gp_posterior *m)
{
    return m->approx == CRI_GP_SOR || m->approx == CRI_GP_NYSTROM || m->approx == CRI_GP_RFF;
}

void cri_gp_release(cr_ctx *cx, void *state)
{
    cr_kernel_free(cx, ((cri_gp_posterior *)state)->kernel);
}

/* --- describe -------------------------------------------------------------------------------- */

/* A parameter, its sd and its 95 % interval. */
static cr_status add_parameter(cr_ctx *cx, json_t *list, const char *name, double value, double sd,
                               double lower, double upper)
{
    cr_status st = CR_OK;
    json_t   *item = json_object();
    if (json_array_append_new(list, item) != 0) return cr_fail(cx, CR_ENOMEM, "out of memory");
    CR_TRY(cri_store_set(cx, item, "name", json_string_nocheck(name)));
    CR_TRY(cri_store_set(cx, item, "value", cri_json_number(value)));
    CR_TRY(cri_store_set(cx, item, "sd", cri_json_number(sd)));
    CR_TRY(cri_store_set(cx, item, "lower", cri_json_number(lower)));
    CR_TRY(cri_store_set(cx, item, "upper", cri_json_number(upper)));
done:
    return st;
}

/* One whose logarithm has this sd. */
static cr_status add_positive(cr_ctx *cx, json_t *list, const char *name, double value, double sd)
{
    return add_parameter(cx, list, name, value, value * sd, value * exp(-1.959963984540054 * sd),
                         value * exp(1.959963984540054 * sd));
}

/* Adds the derivative of the log evidence by the theta of the last parameter in the list, null where
 * it has none; nothing where it was not asked for. */
static cr_status add_gradient(cr_ctx *cx, const cri_gp_posterior *m, size_t theta, json_t *list)
{
    json_t *item = json_array_get(list, json_array_size(list) - 1);
    if (!m->gradient) return CR_OK;
    return cri_store_set(cx, item, "gradient",
                         cri_json_number(theta <= m->n_theta ? m->gradient[theta] : (double)NAN));
}

static cr_status add_kernel(cr_ctx *cx, const cri_gp_posterior *m, json_t *list)
{
    cr_status st = CR_OK;
    if (m->n_draws) return cri_gp_mcmc_describe(cx, m, list);
    for (size_t i = 0; i < cr_kernel_parameters(m->kernel); i++) {
        cr_kernel_parameter p = cr_kernel_parameter_at(m->kernel, i);
        double              sd = p.theta < m->n_theta ? m->sd[p.theta] : NAN;
        bool                positive = p.lower >= 0 && p.upper > 1;
        if (p.given) continue;
        CR_TRY(positive ? add_positive(cx, list, p.name, p.value, sd)
                        : add_parameter(cx, list, p.name, p.value, sd, NAN, NAN));
        CR_TRY(add_gradient(cx, m, p.theta < m->n_theta ? p.theta : SIZE_MAX, list));
    }
    if (m->noise_column) goto done;
    CR_TRY(add_positive(cx, list, "noise", m->noise, m->sd[m->n_theta]));
    CR_TRY(add_gradient(cx, m, m->noise > 0 ? m->n_theta : SIZE_MAX, list));
done:
    return st;
}

/* The coefficients of the mean function, in the units of the data. */
static cr_status add_mean(cr_ctx *cx, const cri_gp_posterior *m, const cr_design *design,
                          json_t *list)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     q = m->q, *number = cr_scratch_index(&s, m->at.d), d = 0;
    double    *T = cr_scratch_matrix(&s, q, q), *P = cr_scratch_matrix(&s, q, q);

    CR_TRY(s.status);
    for (size_t j = 0; j < design->p; j++)
        if (!design->terms[j].code) number[d++] = j;
    cri_gp_mean_units(&m->mean, T);
    for (size_t i = 0; i < q; i++) /* A^-1 T^T: its columns have the variances */
        for (size_t j = 0; j < q; j++) P[j * q + i] = T[i * q + j];
    CR_TRY(cr_chol_forward(cx, cr_cmat_of(m->A, q, q), cr_mat_of(P, q, q)));
    for (size_t i = 0; i < q; i++) {
        double value = 0, square = 0;
        char   name[320] = "mean.intercept";
        size_t power = (size_t)m->mean.power[i], column = (size_t)m->mean.column[i];
        for (size_t j = 0; j < q; j++) {
            value += T[i * q + j] * m->beta[j];
            square += P[j * q + i] * P[j * q + i];
        }
        if (power) {
            const char *of = cr_design_term_name(design, number[column]);
            if (power == 1)
                snprintf(name, sizeof name, "mean.%s", of);
            else
                snprintf(name, sizeof name, "mean.%s^%zu", of, power);
        }
        value = value * design->target_scale + (power ? 0 : design->target_shift);
        double sd = sqrt(square) * design->target_scale, half = 1.959963984540054 * sd;
        CR_TRY(add_parameter(cx, list, name, value, sd, value - half, value + half));
        CR_TRY(add_gradient(cx, m, SIZE_MAX, list));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* The sd of the noise, that of white terms of the kernel with it. */
static cr_status noise_sd(cr_ctx *cx, const cri_gp_posterior *m, double *out)
{
    cr_status       st = CR_OK;
    cr_kernel_input in = cri_gp_inputs(&m->at);
    double          with = 0, without = 0;
    in.rows = in.numbers.rows = 1;
    if (m->white && m->at.n && m->approx != CRI_GP_RFF) {
        CR_TRY(cr_kernel_diagonal(cx, m->kernel, &in, true, &with));
        CR_TRY(cr_kernel_diagonal(cx, m->kernel, &in, false, &without));
    }
    *out = sqrt(m->noise + fmax(with - without, 0));
done:
    return st;
}

const char *cri_gp_units(const cr_design *design)
{
    bool x = false;
    for (size_t j = 0; j < design->p; j++) x = x || design->scale[j] != 1 || design->shift[j] != 0;
    bool y = design->target_scale != 1 || design->target_shift != 0;
    return x && y ? "standardised features and target"
           : x    ? "standardised features"
           : y    ? "standardised target"
                  : "data";
}

static cr_status add_statistics(cr_ctx *cx, const cri_gp_posterior *m, const cr_design *design,
                                json_t *s)
{
    cr_status st = CR_OK;
    double    unit = design->target_scale, noise;
    CR_TRY(cri_store_set(cx, s, "kernel", json_string_nocheck(m->formula)));
    CR_TRY(cri_store_set(cx, s, "units", json_string(cri_gp_units(design))));
    CR_TRY(cri_store_set(cx, s, "approx", json_string(names[m->approx])));
    const char *inputs = m->approx == CRI_GP_EXACT     ? "distinct_inputs"
                         : m->approx == CRI_GP_RFF     ? "random_features"
                         : m->approx == CRI_GP_NYSTROM ? "landmarks"
                                                       : "inducing_inputs";
    CR_TRY(cri_store_set(cx, s, inputs, json_integer((json_int_t)m->at.n)));
    if (m->approx == CRI_GP_RFF || m->approx == CRI_GP_NYSTROM)
        CR_TRY(cri_store_set(cx, s, "kernel_error", cri_json_number(m->kernel_error)));
    CR_TRY(noise_sd(cx, m, &noise));
    if (!m->noise_column) CR_TRY(cri_store_set(cx, s, "noise_sd", cri_json_number(noise * unit)));
    if (m->cg) {
        CR_TRY(cri_store_set(cx, s, "solver", json_string("cg")));
        CR_TRY(cri_store_set(cx, s, "cg_iterations",
                             json_integer((json_int_t)m->inverse.cg_iterations)));
        CR_TRY(cri_store_set(cx, s, "cg_residual", cri_json_number(m->inverse.residual)));
        CR_TRY(cri_store_set(cx, s, "log_evidence_se", cri_json_number(m->inverse.evidence_se)));
        CR_TRY(cri_store_set(cx, s, "sd_rank", json_integer((json_int_t)m->inverse.rank)));
        CR_TRY(cri_store_set(cx, s, "sd_nearest", json_integer((json_int_t)m->inverse.near)));
        CR_TRY(cri_store_set(cx, s, "sd_error", cri_json_number(m->inverse.sd_error)));
    }
    if (m->approx == CRI_GP_EXACT && !m->cg) {
        CR_TRY(cri_store_set(cx, s, "loo_log_score",
                             cri_json_number(m->loo_score - m->rows * log(unit))));
        CR_TRY(cri_store_set(cx, s, "loo_rmse", cri_json_number(m->loo_rmse * unit)));
    }
    CR_TRY(cri_store_set(cx, s, "jitter", cri_json_number(m->jitter)));
    if (m->n_draws) {
        double rhat, ess;
        cri_gp_mcmc_agreement(m, &rhat, &ess);
        CR_TRY(cri_store_set(cx, s, "hyper_draws", json_integer((json_int_t)m->n_draws)));
        CR_TRY(cri_store_set(cx, s, "largest_rhat", cri_json_number(rhat)));
        CR_TRY(cri_store_set(cx, s, "smallest_ess", cri_json_number(ess)));
    }
    CR_TRY(cri_store_set(cx, s, "starts", json_integer((json_int_t)m->starts)));
    CR_TRY(cri_store_set(cx, s, "starts_agreed", json_integer((json_int_t)m->agreed)));
    CR_TRY(cri_store_set(cx, s, "evaluations", json_integer((json_int_t)m->evaluations)));
    if (m->at_bound[0]) CR_TRY(cri_store_set(cx, s, "at_bound", json_string_nocheck(m->at_bound)));
done:
    return st;
}

cr_status cri_gp_describe(cr_ctx *cx, const void *state, const cr_design *design, json_t *out)
{
    cr_status               st = CR_OK;
    const cri_gp_posterior *m = state;
    json_t                 *list, *statistics;
    CR_TRY(cri_store_set(cx, out, "parameters", list = json_array()));
    CR_TRY(add_mean(cx, m, design, list));
    CR_TRY(add_kernel(cx, m, list));
    CR_TRY(cri_gp_tell_elements(cx, m->kernel, design, list));
    CR_TRY(cri_store_set(cx, out, "statistics", statistics = json_object()));
    CR_TRY(add_statistics(cx, m, design, statistics));
done:
    return st;
}
