/* gp_posterior.c -- life and description of a fitted Gaussian process. */
#include "gp_posterior.h"
#include "gp_method.h"
#include "gp_noise.h"
#include "models/common/predictor.h"
#include "base/context_internal.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"
#include "math/constants.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- life ------------------------------------------------------------------------------------ */

#define CRI_TYPE cri_gp_inverse
const cri_member cri_gp_inverse_record[] = { CRI_GP_INVERSE(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE
#define CRI_TYPE cri_gp_posterior
const cri_member cri_gp_posterior_record[] = { CRI_GP_POSTERIOR(CRI_RECORD_ROW, CRI_RECORD_ROW)
                                                   CRI_RECORD_END };
#undef CRI_TYPE

cr_status cri_gp_posterior_allocate(cr_ctx *cx, cri_gp_posterior *m, unsigned factors)
{
    cr_status st = CR_OK;
    size_t    size = m->at.n * m->at.n;
    bool      known = m->sd != NULL;
    m->q = m->mean.q;
    m->n_theta = cr_kernel_theta_size(m->kernel);
    m->n_hyper = m->n_theta + 1;
    if (factors & CRI_GP_L && !(m->L = cr_alloc(cx, size, sizeof(double)))) CR_TRY(CR_ENOMEM);
    if (factors & CRI_GP_L2 && !(m->L2 = cr_alloc(cx, size, sizeof(double)))) CR_TRY(CR_ENOMEM);
    if (!m->at_bound && !(m->at_bound = cri_string_copy(cx, ""))) CR_TRY(CR_ENOMEM);
    CR_TRY(cri_record_allocate(cx, cri_gp_posterior_record, m));
    for (size_t j = 0; !known && j < m->n_hyper; j++) m->sd[j] = NAN;
done:
    return st;
}

cr_status cri_gp_posterior_keep(cr_ctx *cx, cri_gp_posterior *m)
{
    cri_string_free(cx, m->formula);
    cri_record_free(cx, cri_gp_centre_rows_record, &m->centre);
    return cri_gp_kernel_keep(cx, m->kernel, &m->formula, &m->centre);
}

cr_status cri_gp_posterior_learned(cr_ctx *cx, cri_gp_posterior *m, const cri_gp_learned *learned,
                                   bool classes, cr_report *report)
{
    m->starts = learned->starts;
    m->agreed = learned->agreed;
    m->evaluations = learned->evaluations;
    report->iterations = learned->iterations;
    report->stop = learned->stop;
    cri_string_free(cx, m->at_bound);
    m->at_bound = cri_string_copy(cx, learned->at_bound);
    if (!m->at_bound) return CR_ENOMEM;
    cri_gp_report_bounds(cx, m->at_bound, classes);
    return CR_OK;
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

void cri_gp_release(cr_ctx *cx, void *state)
{
    cr_kernel_free(cx, ((cri_gp_posterior *)state)->kernel);
}

/* --- from a file ----------------------------------------------------------------------------- */

/* Terms of columns that there are. */
static bool mean_fits(const cri_gp_mean *mean, size_t d)
{
    bool fits = mean->d == d && mean->q <= CRI_GP_MOST_POWER * (d + 1);
    for (size_t t = 0; fits && t < mean->q; t++)
        fits =
            (mean->column[t] == 0 || mean->column[t] < (double)d) && (mean->power[t] == 0 || d > 0);
    return fits;
}

cr_status cri_gp_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *m = state;
    size_t            n = m->at.n, d, c;
    cri_gp_shape(design, &d, &c);
    m->q = m->mean.q;
    if (m->approx == CRI_GP_AUTO) return CR_EDATA;
    const cri_gp_method *method = cri_gp_method_of(m);
    unsigned             factors = (m->L ? CRI_GP_L : 0) | (m->L2 ? CRI_GP_L2 : 0);
    bool fits = (int)method->approx == m->approx && factors == method->factors && m->at.d == d &&
                m->at.c == c && mean_fits(&m->mean, d) && !m->draws == (m->n_draws == 0) &&
                cri_gp_codes_fit(design, m->at.codes, n, c) &&
                (!m->noise_column || design->roles[0]) && (!method->fits || method->fits(m));
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

/* --- describe -------------------------------------------------------------------------------- */

/* A parameter, its sd and its 95 % interval. */
static cri_sheet *add_parameter(cri_sheet *list, const char *name, double value, double sd,
                                double lower, double upper)
{
    cri_sheet *row = cri_parameter_add(list, value, sd, "%s", name);
    cri_put_real(row, "lower", lower);
    cri_put_real(row, "upper", upper);
    return row;
}

/* One whose logarithm has this sd. */
static cri_sheet *add_positive(cri_sheet *list, const char *name, double value, double sd)
{
    return add_parameter(list, name, value, value * sd, value * exp(-CRI_Z95 * sd),
                         value * exp(CRI_Z95 * sd));
}

/* One of any sign, in its unit. */
static cri_sheet *add_real(cri_sheet *list, const cr_kernel_parameter *p, double sd, double unit)
{
    double half = CRI_Z95 * sd;
    return add_parameter(list, p->name, p->value / unit, sd / unit, (p->value - half) / unit,
                         (p->value + half) / unit);
}

/* Adds the derivative of the log evidence by the theta of a parameter, null where it has none;
 * nothing where it was not asked for. */
static void add_gradient(const cri_gp_posterior *m, size_t theta, cri_sheet *row)
{
    if (m->gradient)
        cri_put_real(row, "gradient", theta <= m->n_theta ? m->gradient[theta] : (double)NAN);
}

void cri_gp_describe_kernel(const cri_gp_posterior *m, cri_sheet *list)
{
    for (size_t i = 0; i < cr_kernel_parameters(m->kernel); i++) {
        double              unit;
        cr_kernel_parameter p = cri_gp_shown_parameter(m->kernel, i, &unit);
        double              sd = p.theta < m->n_theta ? m->sd[p.theta] : NAN;
        if (p.given) continue;
        add_gradient(m, p.theta < m->n_theta ? p.theta : SIZE_MAX,
                     p.lower >= 0 && p.upper > 1 ? add_positive(list, p.name, p.value, sd)
                     : isinf(p.lower)            ? add_real(list, &p, sd, unit)
                                      : add_parameter(list, p.name, p.value, sd, NAN, NAN));
    }
}

cr_status cri_gp_process_parameters(cr_ctx *cx, const cri_gp_posterior *m, cri_sheet *list)
{
    (void)cx;
    cri_gp_describe_kernel(m, list);
    if (!m->noise_column && cri_gp_noise_level(m->kernel) == SIZE_MAX)
        add_gradient(m, m->noise > 0 ? m->n_theta : SIZE_MAX,
                     add_positive(list, "noise", m->noise, m->sd[m->n_theta]));
    return CR_OK;
}

/* The coefficients of the mean function, in the units of the data. */
static cr_status add_mean(cr_ctx *cx, const cri_gp_posterior *m, const cr_design *design,
                          cri_sheet *list)
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
        double sd = sqrt(square) * design->target_scale, half = CRI_Z95 * sd;
        add_gradient(m, SIZE_MAX, add_parameter(list, name, value, sd, value - half, value + half));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* The sd of the noise, that of white terms of the kernel with it; of one that depends on columns, at their means. */
static cr_status noise_sd(cr_ctx *cx, const cri_gp_posterior *m, double *out)
{
    cr_status       st = CR_OK;
    cr_kernel_input in = cri_gp_inputs(&m->at);
    double          with = 0, without = 0;
    size_t          level = cri_gp_noise_level(m->kernel);
    in.rows = in.numbers.rows = 1;
    if (level != SIZE_MAX) {
        with = cr_kernel_parameter_at(m->kernel, level).value;
    } else if (m->white) {
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

const cr_field cri_gp_statistics[] = {
    CR_TEXT("kernel", 0, "the covariance function with its hyper-parameters"),
    CR_TEXT("units", 0,
            "units of the hyper-parameters: those of the data, or of standardised columns"),
    CR_TEXT("approx", 0, "exact, or the approximation"),
    CR_COUNT("distinct_inputs", CR_FIELD_SOMETIMES, "of exact: rows with different inputs"),
    CR_COUNT("random_features", CR_FIELD_SOMETIMES, "of rff: cosines"),
    CR_COUNT("landmarks", CR_FIELD_SOMETIMES, "of nystrom"),
    CR_COUNT("inducing_inputs", CR_FIELD_SOMETIMES, "of the sparse ones"),
    CR_NUMBER("kernel_error", CR_FIELD_EITHER, "of rff and nystrom: mean error of the kernel"),
    CR_MEASURE("noise_sd", "target", CR_FIELD_EITHER,
               "standard deviation of the noise; with --noise-model, at the means of its columns"),
    CR_TEXT("solver", CR_FIELD_SOMETIMES, "of --solver cg"),
    CR_COUNT("cg_iterations", CR_FIELD_SOMETIMES, "of cg: steps of the last solution"),
    CR_NUMBER("cg_residual", CR_FIELD_EITHER, "of cg: remaining residual"),
    CR_MEASURE("log_evidence_se", "nats", CR_FIELD_EITHER,
               "of cg: standard error of the log evidence"),
    CR_COUNT("sd_rank", CR_FIELD_SOMETIMES, "of cg: rank of the part used for sds"),
    CR_COUNT("sd_nearest", CR_FIELD_SOMETIMES, "of cg: nearest inputs that correct them"),
    CR_NUMBER("sd_error", CR_FIELD_EITHER, "of cg: their relative error, on some rows"),
    CR_MEASURE("loo_log_score", "nats", CR_FIELD_EITHER | CR_FIELD_LOG_SCORE,
               "sum of the log densities of the rows, each left out in turn"),
    CR_MEASURE("loo_rmse", "target", CR_FIELD_EITHER, "root mean squared error, likewise"),
    CR_NUMBER("jitter", CR_FIELD_NULL, "amount added to the diagonal of the covariance, if needed"),
    CR_TEXT(
        "hyper", CR_FIELD_SOMETIMES,
        "of learned hyper-parameters: best or map, or laplace or mcmc if predictions are averaged"),
    CR_MEASURE("log_evidence_at_hyper", "nats", CR_FIELD_SOMETIMES | CR_FIELD_LOG_SCORE,
               "of map: at these hyper-parameters; log_evidence also accounts for learning them"),
    CR_COUNT("hyper_draws", CR_FIELD_SOMETIMES,
             "of laplace and mcmc: draws of the hyper-parameters"),
    CR_NUMBER("largest_rhat", CR_FIELD_EITHER, "of these: largest potential scale reduction"),
    CR_NUMBER("smallest_ess", CR_FIELD_EITHER, "of these: smallest effective number of draws"),
    CR_COUNT("starts", 0, "runs of the search"),
    CR_COUNT("starts_agreed", 0, "number of these that ended at the best optimum"),
    CR_COUNT("evaluations", 0, "of the evidence"),
    CR_TEXT("at_bound", CR_FIELD_SOMETIMES, "hyper-parameters at a bound of their range"),
    CR_FIELD_LAST,
};

void cri_gp_describe_search(const cri_gp_posterior *m, cri_sheet *s)
{
    cri_put_count(s, "starts", m->starts);
    cri_put_count(s, "starts_agreed", m->agreed);
    cri_put_count(s, "evaluations", m->evaluations);
    if (m->at_bound[0]) cri_put_text(s, "at_bound", m->at_bound);
}

static const char *const hypers[] = { "best", "map", "laplace", "mcmc" }; /* cri_gp_hyper_kind */

static cr_status add_statistics(cr_ctx *cx, const cri_gp_posterior *m, const cr_design *design,
                                cri_sheet *s)
{
    cr_status            st = CR_OK;
    const cri_gp_method *method = cri_gp_method_of(m);
    double               noise;
    cri_put_text(s, "kernel", m->formula);
    cri_put_text(s, "units", cri_gp_units(design));
    cri_put_text(s, "approx", cri_gp_method_at(m->approx)->name);
    cri_put_count(s, method->inputs, m->at.n);
    if (method->measures_kernel) cri_put_real(s, "kernel_error", m->kernel_error);
    CR_TRY(noise_sd(cx, m, &noise));
    if (!m->noise_column) cri_put_real(s, "noise_sd", noise * design->target_scale);
    method->describe(m, design, s);
    if (m->starts || m->n_draws)
        cri_put_text(s, "hyper", m->n_draws && !m->hyper ? "mcmc" : hypers[m->hyper]);
    if (m->hyper == CRI_GP_HYPER_MAP && m->occam != 0)
        cri_put_real(s, "log_evidence_at_hyper", m->evidence - m->rows * log(design->target_scale));
    cri_gp_describe_search(m, s);
done:
    return st;
}

cr_status cri_gp_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out)
{
    cr_status               st = CR_OK;
    const cri_gp_posterior *m = state;
    cri_sheet              *list = cri_put_list(out, "parameters");
    CR_TRY(add_mean(cx, m, design, list));
    CR_TRY(cri_gp_method_of(m)->answers->parameters(cx, m, list));
    cri_gp_report_elements(m->kernel, design, list);
    CR_TRY(add_statistics(cx, m, design, cri_put_object(out, "statistics")));
done:
    return st;
}
