/* gp_posterior.c -- life, description and file of a fitted Gaussian process. */
#include "gp_posterior.h"
#include "gp_mcmc.h"
#include "../linear/predictor.h"
#include "../../base/context_internal.h"
#include "../../base/scratch.h"
#include "../../math/chol.h"
#include "../../math/dense.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const approx_names[] = { "auto", "exact", "sor", "dtc", "fitc", "vfe", "svgp", "nystrom", "rff" };

/* --- life ------------------------------------------------------------------------------------ */

cr_status cri_gp_posterior_allocate(cr_ctx *cx, cri_gp_posterior *m, bool with_second)
{
    size_t n = m->at.n, q = m->q = m->mean.q;
    m->n_theta = cr_kernel_theta_size(m->kernel);
    bool with_first = m->approx != CRI_GP_RFF && !m->cg;
    m->L = with_first ? cr_alloc(cx, n * n, sizeof(double)) : NULL;
    m->L2 = with_second ? cr_alloc(cx, n * n, sizeof(double)) : NULL;
    m->alpha = cr_alloc(cx, n, sizeof(double));
    m->beta = cr_alloc(cx, q, sizeof(double));
    m->U = cr_alloc(cx, n * q, sizeof(double));
    m->A = cr_alloc(cx, q * q, sizeof(double));
    m->sd = cr_alloc(cx, m->n_theta + 1, sizeof(double));
    if (!m->at_bound) m->at_bound = cri_string_copy(cx, "");
    for (size_t j = 0; m->sd && j <= m->n_theta; j++) m->sd[j] = NAN;
    bool ready = (!with_first || m->L) && (!with_second || m->L2) && m->alpha && m->beta && m->U && m->A && m->sd &&
                 m->at_bound;
    return ready ? CR_OK : CR_ENOMEM;
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

void cri_gp_posterior_drop(cr_ctx *cx, cri_gp_posterior *m)
{
    size_t n = m->at.n, q = m->q;
    cr_free(cx, m->L, n * n, sizeof(double));
    cr_free(cx, m->L2, n * n, sizeof(double));
    cr_free(cx, m->alpha, n, sizeof(double));
    cr_free(cx, m->beta, q, sizeof(double));
    cr_free(cx, m->U, n * q, sizeof(double));
    cr_free(cx, m->A, q * q, sizeof(double));
    cr_free(cx, m->sd, m->n_theta + 1, sizeof(double));
    cr_free(cx, m->root, n * m->rank, sizeof(double));
    cr_free(cx, m->draws, m->n_draws * (m->n_theta + 1), sizeof(double));
    m->root = m->draws = NULL;
    m->L = m->L2 = m->alpha = m->beta = m->U = m->A = m->sd = NULL;
}

void cri_gp_posterior_free(cr_ctx *cx, void *state)
{
    cri_gp_posterior *m = state;
    if (!m) return;
    cri_gp_posterior_drop(cx, m);
    cri_string_free(cx, m->at_bound);
    cri_gp_data_free(cx, &m->at);
    cri_gp_mean_free(cx, &m->mean);
    cr_kernel_free(cx, m->kernel);
    cr_free(cx, m, 1, sizeof *m);
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

static cr_status add_kernel(cr_ctx *cx, const cri_gp_posterior *m, json_t *list)
{
    cr_status st = CR_OK;
    if (m->n_draws) return cri_gp_mcmc_describe(cx, m, list);
    for (size_t i = 0; i < cr_kernel_parameters(m->kernel); i++) {
        cr_kernel_parameter p = cr_kernel_parameter_at(m->kernel, i);
        double              sd = p.theta < m->n_theta ? m->sd[p.theta] : NAN;
        bool                positive = p.lower >= 0 && p.upper > 1;
        CR_TRY(positive ? add_positive(cx, list, p.name, p.value, sd)
                        : add_parameter(cx, list, p.name, p.value, sd, NAN, NAN));
    }
    if (!m->noise_column) CR_TRY(add_positive(cx, list, "noise", m->noise, m->sd[m->n_theta]));
done:
    return st;
}

/* The coefficients of the mean function, in the units of the data. */
static cr_status add_mean(cr_ctx *cx, const cri_gp_posterior *m, const cr_design *design, json_t *list)
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
            if (power == 1) snprintf(name, sizeof name, "mean.%s", of);
            else snprintf(name, sizeof name, "mean.%s^%zu", of, power);
        }
        value = value * design->target_scale + (power ? 0 : design->target_shift);
        double sd = sqrt(square) * design->target_scale, half = 1.959963984540054 * sd;
        CR_TRY(add_parameter(cx, list, name, value, sd, value - half, value + half));
    }
done:
    cr_scratch_end(&s);
    return st;
}

static const char *units_of(const cr_design *design)
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
    double    unit = design->target_scale;
    char     *text = cri_gp_kernel_text(cx, m->kernel);
    if (!text) CR_TRY(CR_ENOMEM);
    CR_TRY(cri_store_set(cx, s, "kernel", json_string_nocheck(text)));
    CR_TRY(cri_store_set(cx, s, "units", json_string(units_of(design))));
    CR_TRY(cri_store_set(cx, s, "approx", json_string(approx_names[m->approx])));
    const char *inputs = m->approx == CRI_GP_EXACT     ? "distinct_inputs"
                         : m->approx == CRI_GP_RFF     ? "random_features"
                         : m->approx == CRI_GP_NYSTROM ? "landmarks"
                                                       : "inducing_inputs";
    CR_TRY(cri_store_set(cx, s, inputs, json_integer((json_int_t)m->at.n)));
    if (m->approx == CRI_GP_RFF || m->approx == CRI_GP_NYSTROM)
        CR_TRY(cri_store_set(cx, s, "kernel_error", cri_json_number(m->kernel_error)));
    if (!m->noise_column)
        CR_TRY(cri_store_set(cx, s, "noise_sd", cri_json_number(sqrt(m->noise) * unit)));
    if (m->cg) {
        CR_TRY(cri_store_set(cx, s, "solver", json_string("cg")));
        CR_TRY(cri_store_set(cx, s, "cg_iterations", json_integer((json_int_t)m->cg_iterations)));
        CR_TRY(cri_store_set(cx, s, "cg_residual", cri_json_number(m->residual)));
        CR_TRY(cri_store_set(cx, s, "log_evidence_se", cri_json_number(m->evidence_se)));
        CR_TRY(cri_store_set(cx, s, "sd_rank", json_integer((json_int_t)m->rank)));
        CR_TRY(cri_store_set(cx, s, "sd_error", cri_json_number(m->sd_error)));
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
    if (m->at_bound[0])
        CR_TRY(cri_store_set(cx, s, "at_bound", json_string_nocheck(m->at_bound)));
done:
    cri_string_free(cx, text);
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
    CR_TRY(cri_store_set(cx, out, "statistics", statistics = json_object()));
    CR_TRY(add_statistics(cx, m, design, statistics));
done:
    return st;
}

/* --- file ------------------------------------------------------------------------------------ */

/* The lower triangle, row after row. */
static cr_status put_triangle(cr_ctx *cx, cri_store *store, const char *name, const double *L,
                              size_t n)
{
    size_t  size = n * (n + 1) / 2;
    double *packed = cr_alloc(cx, size, sizeof(double)), *to = packed;
    if (!packed) return CR_ENOMEM;
    for (size_t i = 0; i < n; i++, to += i) memcpy(to, L + i * n, (i + 1) * sizeof(double));
    cr_status st = cri_store_put_vector(cx, store, name, packed, size);
    cr_free(cx, packed, size, sizeof(double));
    return st;
}

static cr_status get_triangle(cr_ctx *cx, const cri_store *store, const char *name, size_t n,
                              double *L)
{
    size_t    size = n * (n + 1) / 2;
    double   *packed = NULL, *from;
    cr_status st = cri_store_get_vector(cx, store, name, size, &packed);
    if (st != CR_OK) return st;
    from = packed;
    for (size_t i = 0; i < n; i++, from += i) memcpy(L + i * n, from, (i + 1) * sizeof(double));
    for (size_t i = 0; st == CR_OK && i < n; i++)
        if (!(L[i * n + i] > 0))
            st = cr_fail(cx, CR_EDATA, "%s: the factor '%s' in the model file is not positive",
                         cri_store_source(store), name);
    cr_free(cx, packed, size, sizeof(double));
    return st;
}

static cr_status put_codes(cr_ctx *cx, cri_store *store, const cri_gp_data *a)
{
    size_t  size = a->n * a->c;
    double *codes = cr_alloc(cx, size, sizeof(double));
    if (!codes) return CR_ENOMEM;
    for (size_t i = 0; i < size; i++) codes[i] = a->codes[i];
    cr_status st = cri_store_put_matrix(cx, store, "codes", codes, a->n, a->c);
    cr_free(cx, codes, size, sizeof(double));
    return st;
}

static cr_status write_arrays(cr_ctx *cx, const cri_gp_posterior *m, cri_store *store)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *a = &m->at;
    double            *sd = cr_scratch_f64(&s, m->n_theta + 1);

    CR_TRY(s.status);
    for (size_t j = 0; j <= m->n_theta; j++) sd[j] = isnan(m->sd[j]) ? -1 : m->sd[j];
    CR_TRY(cri_store_put_matrix(cx, store, "X", a->X, a->n, a->d));
    if (a->c) CR_TRY(put_codes(cx, store, a));
    CR_TRY(cri_store_put_vector(cx, store, "y", a->y, a->n));
    CR_TRY(cri_store_put_vector(cx, store, "r", a->r, a->n));
    CR_TRY(cri_store_put_vector(cx, store, "mean_centre", m->mean.centre, m->mean.d));
    CR_TRY(cri_store_put_vector(cx, store, "mean_scale", m->mean.scale, m->mean.d));
    CR_TRY(cri_store_put_vector(cx, store, "mean_column", m->mean.column, m->q));
    CR_TRY(cri_store_put_vector(cx, store, "mean_power", m->mean.power, m->q));
    if (m->L) CR_TRY(put_triangle(cx, store, "L", m->L, a->n));
    if (m->L2) CR_TRY(put_triangle(cx, store, "L2", m->L2, a->n));
    if (m->root) CR_TRY(cri_store_put_matrix(cx, store, "root", m->root, a->n, m->rank));
    if (m->draws)
        CR_TRY(cri_store_put_matrix(cx, store, "hyper_draws", m->draws, m->n_draws, m->n_theta + 1));
    CR_TRY(cri_store_put_vector(cx, store, "alpha", m->alpha, a->n));
    CR_TRY(cri_store_put_vector(cx, store, "beta", m->beta, m->q));
    CR_TRY(cri_store_put_matrix(cx, store, "U", m->U, a->n, m->q));
    CR_TRY(put_triangle(cx, store, "A", m->A, m->q));
    CR_TRY(cri_store_put_vector(cx, store, "sd", sd, m->n_theta + 1));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_write(cr_ctx *cx, const void *state, cri_store *store, json_t *out)
{
    cr_status               st = CR_OK;
    const cri_gp_posterior *m = state;
    char                   *text = cri_gp_kernel_text(cx, m->kernel);
    if (!text) CR_TRY(CR_ENOMEM);
    CR_TRY(cri_store_set_text(cx, out, "kernel", text));
    CR_TRY(cri_store_set_text(cx, out, "approx", approx_names[m->approx]));
    CR_TRY(cri_store_set_text(cx, out, "at_bound", m->at_bound));
    CR_TRY(cri_store_set(cx, out, "inputs", json_integer((json_int_t)m->at.n)));
    CR_TRY(cri_store_set(cx, out, "mean_terms", json_integer((json_int_t)m->q)));
    CR_TRY(cri_store_set(cx, out, "starts", json_integer((json_int_t)m->starts)));
    CR_TRY(cri_store_set(cx, out, "agreed", json_integer((json_int_t)m->agreed)));
    CR_TRY(cri_store_set(cx, out, "evaluations", json_integer((json_int_t)m->evaluations)));
    CR_TRY(cri_store_set(cx, out, "noise_learned", json_boolean(m->noise_learned)));
    CR_TRY(cri_store_set(cx, out, "noise_column", json_boolean(m->noise_column)));
    CR_TRY(cri_store_set(cx, out, "white", json_boolean(m->white)));
    CR_TRY(cri_store_set_real(cx, out, "noise", m->noise));
    CR_TRY(cri_store_set_real(cx, out, "jitter", m->jitter));
    CR_TRY(cri_store_set_real(cx, out, "rows", m->rows));
    CR_TRY(cri_store_set_real(cx, out, "count", m->at.count));
    CR_TRY(cri_store_set_real(cx, out, "spread", m->at.spread));
    CR_TRY(cri_store_set_real(cx, out, "log_shares", m->at.log_shares));
    CR_TRY(cri_store_set(cx, out, "evidence", cri_json_number(m->evidence)));
    if (m->n_draws)
        CR_TRY(cri_store_set(cx, out, "hyper_draws", json_integer((json_int_t)m->n_draws)));
    if (m->cg) {
        CR_TRY(cri_store_set(cx, out, "root_rank", json_integer((json_int_t)m->rank)));
        CR_TRY(cri_store_set(cx, out, "cg_iterations", json_integer((json_int_t)m->cg_iterations)));
        CR_TRY(cri_store_set(cx, out, "cg_residual", cri_json_number(m->residual)));
        CR_TRY(cri_store_set(cx, out, "evidence_se", cri_json_number(m->evidence_se)));
        CR_TRY(cri_store_set(cx, out, "sd_error", cri_json_number(m->sd_error)));
    }
    CR_TRY(cri_store_set(cx, out, "loo_score", cri_json_number(m->loo_score)));
    CR_TRY(cri_store_set(cx, out, "loo_rmse", cri_json_number(m->loo_rmse)));
    CR_TRY(cri_store_set(cx, out, "kernel_error", cri_json_number(m->kernel_error)));
    CR_TRY(write_arrays(cx, m, store));
done:
    cri_string_free(cx, text);
    return st;
}

static cr_status spoilt(cr_ctx *cx, const cri_store *store, const char *what)
{
    return cr_fail(cx, CR_EDATA, "%s: %s in the model file does not fit", cri_store_source(store), what);
}

/* An array of the file into memory that is there. */
static cr_status get_into(cr_ctx *cx, const cri_store *store, const char *name, size_t rows,
                          size_t cols, double *to)
{
    double   *a = NULL;
    cr_status st = cols == 0 ? cri_store_get_vector(cx, store, name, rows, &a)
                             : cri_store_get_matrix(cx, store, name, rows, cols, &a);
    size_t    size = rows * (cols ? cols : 1);
    if (st != CR_OK) return st;
    if (size) memcpy(to, a, size * sizeof(double));
    cr_free(cx, a, size, sizeof(double));
    return CR_OK;
}

static cr_status read_codes(cr_ctx *cx, const cri_store *store, const cr_design *design,
                            cri_gp_data *a)
{
    cr_status st = CR_OK;
    double   *codes = NULL;
    size_t    size = a->n * a->c, place = 0;
    CR_TRY(cri_store_get_matrix(cx, store, "codes", a->n, a->c, &codes));
    for (size_t j = 0; j < design->p; j++) {
        if (!design->terms[j].code) continue;
        size_t levels = design->columns[design->terms[j].column].n_levels;
        for (size_t i = 0; i < a->n; i++) {
            double code = codes[i * a->c + place];
            if (!(code >= 0 && code < (double)levels)) CR_TRY(spoilt(cx, store, "a code"));
            a->codes[i * a->c + place] = (uint32_t)code;
        }
        place++;
    }
done:
    cr_free(cx, codes, size, sizeof(double));
    return st;
}

static cr_status read_inputs(cr_ctx *cx, const cri_store *store, const json_t *in,
                             const cr_design *design, cri_gp_data *a)
{
    cr_status st = CR_OK;
    size_t    n;
    CR_TRY(cri_store_get_count(cx, store, in, "inputs", &n));
    cri_gp_shape(design, &a->d, &a->c);
    if (n == 0 || n > SIZE_MAX / sizeof(double) / n / 2 ||
        n > SIZE_MAX / sizeof(double) / 2 / (a->d + a->c + 1))
        CR_TRY(spoilt(cx, store, "the number of inputs"));
    if (!cri_store_has(store, "X")) CR_TRY(spoilt(cx, store, "the array of inputs"));
    CR_TRY(cri_store_get_matrix(cx, store, "X", n, a->d, &a->X));
    a->n = n;
    a->codes = cr_alloc(cx, n * a->c, sizeof(uint32_t));
    a->first = cr_alloc(cx, n, sizeof(size_t));
    if (!a->codes || !a->first) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < n; i++) a->first[i] = i;
    if (a->c) CR_TRY(read_codes(cx, store, design, a));
    CR_TRY(cri_store_get_vector(cx, store, "y", n, &a->y));
    CR_TRY(cri_store_get_vector(cx, store, "r", n, &a->r));
    CR_TRY(cri_store_get_real(cx, store, in, "count", &a->count));
    CR_TRY(cri_store_get_real(cx, store, in, "spread", &a->spread));
    CR_TRY(cri_store_get_real(cx, store, in, "log_shares", &a->log_shares));
done:
    return st;
}

static cr_status read_mean(cr_ctx *cx, const cri_store *store, const json_t *in, size_t d,
                           cri_gp_mean *mean)
{
    cr_status st = CR_OK;
    size_t    q;
    mean->d = d;
    CR_TRY(cri_store_get_count(cx, store, in, "mean_terms", &q));
    if (q > CRI_GP_MOST_POWER * (d + 1)) CR_TRY(spoilt(cx, store, "the mean function"));
    CR_TRY(cri_store_get_vector(cx, store, "mean_centre", d, &mean->centre));
    CR_TRY(cri_store_get_vector(cx, store, "mean_scale", d, &mean->scale));
    mean->q = mean->room = q;
    CR_TRY(cri_store_get_vector(cx, store, "mean_column", q, &mean->column));
    CR_TRY(cri_store_get_vector(cx, store, "mean_power", q, &mean->power));
    bool good = true;
    for (size_t j = 0; j < d; j++) good = good && mean->scale[j] > 0;
    for (size_t t = 0; t < q; t++)
        good = good && mean->power[t] >= 0 && mean->power[t] <= CRI_GP_MOST_POWER &&
               mean->column[t] >= 0 && (mean->power[t] == 0 || mean->column[t] < (double)d);
    if (!good) CR_TRY(spoilt(cx, store, "the mean function"));
done:
    return st;
}

static cr_status read_texts(cr_ctx *cx, const cri_store *store, const json_t *in,
                            const cr_design *design, cri_gp_posterior *m)
{
    cr_status   st = CR_OK;
    const char *text, *name, *bound;
    CR_TRY(cri_store_get_text(cx, store, in, "kernel", &text));
    CR_TRY(cri_store_get_text(cx, store, in, "approx", &name));
    CR_TRY(cri_store_get_text(cx, store, in, "at_bound", &bound));
    st = cri_gp_kernel(cx, text, design, &m->kernel);
    if (st == CR_EARG || st == CR_EUNSUPPORTED) st = spoilt(cx, store, "the kernel");
    CR_TRY(st);
    m->at_bound = cri_string_copy(cx, bound);
    if (!m->at_bound) CR_TRY(CR_ENOMEM);
    for (m->approx = CRI_GP_EXACT; m->approx < CRI_GP_APPROXIMATIONS; m->approx++)
        if (strcmp(name, approx_names[m->approx]) == 0) goto done;
    CR_TRY(spoilt(cx, store, "the approximation"));
done:
    return st;
}

static cr_status read_arrays(cr_ctx *cx, const cri_store *store, cri_gp_posterior *m)
{
    cr_status       st = CR_OK;
    size_t          n = m->at.n, q = m->q;
    cr_kernel_input in = cri_gp_inputs(&m->at);
    st = cr_kernel_check(cx, m->kernel, &in);
    if (st == CR_EARG || st == CR_EDATA) st = spoilt(cx, store, "the kernel");
    CR_TRY(st);
    if (m->L) CR_TRY(get_triangle(cx, store, "L", n, m->L));
    if (m->L2) CR_TRY(get_triangle(cx, store, "L2", n, m->L2));
    CR_TRY(get_into(cx, store, "alpha", n, 0, m->alpha));
    CR_TRY(get_into(cx, store, "beta", q, 0, m->beta));
    if (q) CR_TRY(get_into(cx, store, "U", n, q, m->U));
    CR_TRY(get_triangle(cx, store, "A", q, m->A));
    CR_TRY(get_into(cx, store, "sd", m->n_theta + 1, 0, m->sd));
    for (size_t j = 0; j <= m->n_theta; j++)
        if (m->sd[j] < 0) m->sd[j] = NAN;
done:
    return st;
}

static cr_status read_root(cr_ctx *cx, const cri_store *store, const json_t *in, cri_gp_posterior *m)
{
    cr_status st = CR_OK;
    size_t    rank;
    CR_TRY(cri_store_get_count(cx, store, in, "root_rank", &rank));
    if (rank > m->at.n || m->approx != CRI_GP_EXACT) CR_TRY(spoilt(cx, store, "the rank"));
    CR_TRY(cri_store_get_matrix(cx, store, "root", m->at.n, rank, &m->root));
    m->rank = rank;
    CR_TRY(cri_store_get_count(cx, store, in, "cg_iterations", &m->cg_iterations));
    m->residual = cri_json_number_or_nan(in, "cg_residual");
    m->evidence_se = cri_json_number_or_nan(in, "evidence_se");
    m->sd_error = cri_json_number_or_nan(in, "sd_error");
done:
    return st;
}

static cr_status read_draws(cr_ctx *cx, const cri_store *store, const json_t *in, cri_gp_posterior *m)
{
    cr_status st = CR_OK;
    size_t    n;
    CR_TRY(cri_store_get_count(cx, store, in, "hyper_draws", &n));
    if (n == 0 || n % CRI_GP_CHAINS || m->approx != CRI_GP_EXACT || m->cg)
        CR_TRY(spoilt(cx, store, "the number of draws"));
    CR_TRY(cri_store_get_matrix(cx, store, "hyper_draws", n, m->n_theta + 1, &m->draws));
    m->n_draws = n;
done:
    return st;
}

cr_status cri_gp_read(cr_ctx *cx, const cri_store *store, const json_t *in, const cr_design *design,
                      void **out_state)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    CR_TRY(read_texts(cx, store, in, design, m));
    CR_TRY(read_inputs(cx, store, in, design, &m->at));
    CR_TRY(read_mean(cx, store, in, m->at.d, &m->mean));
    m->cg = json_object_get(in, "root_rank") != NULL;
    CR_TRY(cri_gp_posterior_allocate(cx, m, m->approx != CRI_GP_EXACT));
    if (m->cg) CR_TRY(read_root(cx, store, in, m));
    if (json_object_get(in, "hyper_draws")) CR_TRY(read_draws(cx, store, in, m));
    CR_TRY(read_arrays(cx, store, m));
    CR_TRY(cri_store_get_count(cx, store, in, "starts", &m->starts));
    CR_TRY(cri_store_get_count(cx, store, in, "agreed", &m->agreed));
    CR_TRY(cri_store_get_count(cx, store, in, "evaluations", &m->evaluations));
    CR_TRY(cri_store_get_real(cx, store, in, "noise", &m->noise));
    CR_TRY(cri_store_get_real(cx, store, in, "jitter", &m->jitter));
    CR_TRY(cri_store_get_real(cx, store, in, "rows", &m->rows));
    m->noise_learned = json_is_true(json_object_get(in, "noise_learned"));
    m->noise_column = json_is_true(json_object_get(in, "noise_column"));
    m->white = json_is_true(json_object_get(in, "white"));
    m->evidence = cri_json_number_or_nan(in, "evidence");
    m->loo_score = cri_json_number_or_nan(in, "loo_score");
    m->loo_rmse = cri_json_number_or_nan(in, "loo_rmse");
    m->kernel_error = cri_json_number_or_nan(in, "kernel_error");
    if (m->noise_column && !design->roles[0]) CR_TRY(spoilt(cx, store, "the column of noise"));
    *out_state = m;
    m = NULL;
done:
    cri_gp_posterior_free(cx, m);
    return st;
}
