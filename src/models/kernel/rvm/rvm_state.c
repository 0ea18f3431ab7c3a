/* rvm_state.c -- life, description and file of a relevance vector machine. */
#include "rvm.h"
#include "rvm_basis.h"
#include "models/gp/posterior/gp_posterior.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

CRI_RECORD_TABLE(, cri_rvm_record, cri_rvm, CRI_RVM);

void cri_rvm_release(cr_ctx *cx, void *state) { cr_kernel_free(cx, ((cri_rvm *)state)->kernel); }

cr_kernel_input cri_rvm_inputs(const cri_rvm *m)
{
    return (cr_kernel_input){
        .rows = m->R, .numbers = cr_cmat_of(m->X, m->R, m->d), .codes = m->codes, .categories = m->c
    };
}

/* --- describe -------------------------------------------------------------------------------- */

const cr_field cri_rvm_statistics[] = {
    CR_TEXT("kernel", CR_FIELD_SOMETIMES, "the kernel with its parameters"),
    CR_TEXT("units", 0, "units of the parameters: those of the data, or of standardised columns"),
    CR_COUNT("candidates", 0, "functions to choose from, for each latent function"),
    CR_COUNT("weights", 0, "functions that are kept, the constant among them"),
    CR_COUNT("relevance_vectors", 0, "inputs whose kernels are kept"),
    CR_NUMBER("effective_df", 0, "effective degrees of freedom: the sum of 1 - alpha variance"),
    CR_MEASURE("noise_variance", "target^2", CR_FIELD_SOMETIMES, "of regression"),
    CR_NUMBER("inflation", CR_FIELD_SOMETIMES,
              "of the noise variance: how much larger the errors in rows left out are"),
    CR_TEXT("start", 0, "the start whose end is kept: up (from no function) or down (from all)"),
    CR_MEASURE("log_evidence_up", "nats", CR_FIELD_NULL | CR_FIELD_LOG_SCORE,
               "where the search from no function ended"),
    CR_MEASURE("log_evidence_down", "nats", CR_FIELD_NULL | CR_FIELD_LOG_SCORE,
               "where the search from all functions ended"),
    CR_NUMBER("query_sd", CR_FIELD_SOMETIMES,
              "prior sd of the function that is added at a row that is asked for"),
    CR_NUMBER("query_precision", CR_FIELD_SOMETIMES,
              "prior precision of the function that is added at a row that is asked for"),
    CR_FIELD_LAST,
};

static const cr_field weight_fields[] = {
    CR_TEXT("function", 0, "1, a term, or the input where the kernel stands"),
    CR_TEXT("class", CR_FIELD_SOMETIMES, "of more than two classes: the one it speaks for"),
    CR_NUMBER("weight", 0, "mean"),
    CR_NUMBER("sd", 0, "posterior standard deviation"),
    CR_NUMBER("precision", 0, "prior precision: alpha"),
    CR_FIELD_LAST,
};

const cr_field cri_rvm_tables[] = {
    CR_INNER(ROWS, "relevance", 0, "every function that is kept", weight_fields),
    CR_FIELD_LAST,
};

/* Adds more to a text that may be full. */
static void append(char *text, size_t size, const char *format, ...) CR_PRINTF(3, 4);
static void append(char *text, size_t size, const char *format, ...)
{
    size_t  used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

/* "x=1.5, g=a": relevance vector r in the units of the data. */
static void name_input(const cri_rvm *m, const cr_design *d, size_t r, char *out, size_t size)
{
    enum { MOST = 8 };
    *out = '\0';
    for (size_t t = 0, number = 0, code = 0; t < d->p; t++) {
        const char *between = t ? ", " : "", *name = cr_design_term_name(d, t);
        if (t == MOST) {
            append(out, size, ", ...");
            return;
        }
        if (cri_design_is_code(d, t)) {
            const char *level = cri_design_text(d, code, m->codes[r * m->c + code]);
            append(out, size, "%s%s=%s", between, name, level ? level : "?");
            code++;
        } else {
            double x = m->X[r * m->d + number++];
            append(out, size, "%s%s=%.4g", between, name, x * d->scale[t] + d->shift[t]);
        }
    }
}

/* Term number `wanted` of those that rvm_basis.c makes of a design. */
static void name_term(const cr_design *d, size_t wanted, char *out, size_t size)
{
    size_t numbers, categories, at;
    cri_gp_shape(d, &numbers, &categories);
    at = numbers;
    for (size_t t = 0, number = 0, code = 0; t < d->p; t++) {
        const char *name = cr_design_term_name(d, t);
        if (!cri_design_is_code(d, t)) {
            if (number++ == wanted) snprintf(out, size, "%s", name);
            continue;
        }
        size_t levels = cri_gp_codes(d, code);
        if (wanted >= at && wanted < at + levels)
            snprintf(out, size, "%s=%s", name, cri_design_text(d, code, (uint32_t)(wanted - at)));
        at += levels;
        code++;
    }
}

static void name_function(const cri_rvm *m, const cr_design *d, size_t k, char *out, size_t size)
{
    *out = '\0';
    if (m->function[k] < 0)
        snprintf(out, size, "1");
    else if (m->terms)
        name_term(d, (size_t)m->function[k], out, size);
    else
        name_input(m, d, (size_t)m->function[k], out, size);
}

/* The class that latent function f speaks for. */
static const char *class_of(const cri_rvm *m, const cr_design *d, size_t f)
{
    for (size_t k = 0; k < m->K; k++)
        if (m->place[k] == (double)f) return cr_design_class(d, k);
    return NULL;
}

static void add_weights(const cri_rvm *m, const cr_design *d, cri_sheet *out)
{
    cri_sheet *list = cri_put_list(out, "relevance");
    double     unit = m->K ? 1 : d->target_scale;
    for (size_t k = 0; k < m->M; k++) {
        cri_sheet *row = cri_put_object(list, NULL);
        char       name[512];
        name_function(m, d, k, name, sizeof name);
        cri_put_text(row, "function", name);
        if (m->F > 1) cri_put_text(row, "class", class_of(m, d, (size_t)m->latent[k]));
        cri_put_real(row, "weight", m->weight[k] * unit);
        cri_put_real(row, "sd", sqrt(m->covariance[k * m->M + k]) * unit);
        cri_put_real(row, "precision", m->alpha[k] / (unit * unit));
    }
}

/* That of the one function there is: the weight of the constant, and what was taken off the target. */
static void add_intercept(const cri_rvm *m, const cr_design *d, cri_sheet *list)
{
    double unit = m->K ? 1 : d->target_scale, value = m->shift, sd = 0;
    if (!m->constant || m->F > 1) return;
    for (size_t k = 0; k < m->M; k++)
        if (m->function[k] < 0) value += m->weight[k], sd = sqrt(m->covariance[k * m->M + k]);
    cri_parameter_add(list, value * unit + (m->K ? 0 : d->target_shift), sd * unit, "intercept");
}

cr_status cri_rvm_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out)
{
    const cri_rvm *m = state;
    double         unit = m->K ? 1 : design->target_scale;
    double         slopes = m->K ? 0 : m->rows * log(design->target_scale);
    cri_sheet     *list = cri_put_list(out, "parameters"), *s;

    add_intercept(m, design, list);
    for (size_t i = 0; m->kernel && i < cr_kernel_parameters(m->kernel); i++) {
        cr_kernel_parameter p = cr_kernel_parameter_at(m->kernel, i);
        if (!p.given) cri_parameter_add(list, p.value, NAN, "%s", p.name);
    }
    if (m->kernel) cri_gp_report_elements(m->kernel, design, list);
    s = cri_put_object(out, "statistics");
    if (m->kernel) cri_put_text(s, "kernel", m->formula);
    cri_put_text(s, "units", cri_gp_units(design));
    cri_put_count(s, "candidates", m->candidates);
    cri_put_count(s, "weights", m->M);
    cri_put_count(s, "relevance_vectors", m->R);
    cri_put_real(s, "effective_df", m->known);
    if (!m->K) cri_put_real(s, "noise_variance", m->noise * unit * unit);
    if (m->inflation > 0) cri_put_real(s, "inflation", m->inflation);
    cri_put_text(s, "start", m->down > m->up || (isnan(m->up) && !isnan(m->down)) ? "down" : "up");
    cri_put_real(s, "log_evidence_up", m->up - slopes);
    cri_put_real(s, "log_evidence_down", m->down - slopes);
    if (!isnan(m->variance)) cri_put_real(s, "query_sd", sqrt(m->variance) * unit);
    if (!isnan(m->query)) cri_put_real(s, "query_precision", m->query / (unit * unit));
    add_weights(m, design, out);
    (void)cx;
    return CR_OK;
}

cr_status cri_rvm_relevant(cr_ctx *cx, const void *state, const cr_design *design, double **out_X,
                           size_t *out_n)
{
    const cri_rvm *m = state;
    double        *X = cr_alloc(cx, m->R * design->p, sizeof *X);
    if (!X) return CR_ENOMEM;
    for (size_t r = 0; r < m->R; r++)
        for (size_t t = 0, number = 0, code = 0; t < design->p; t++)
            X[r * design->p + t] = cri_design_is_code(design, t)
                                       ? (double)m->codes[r * m->c + code++]
                                       : m->X[r * m->d + number++];
    *out_X = X;
    *out_n = m->R;
    return CR_OK;
}

/* --- file ------------------------------------------------------------------------------------ */

static bool is_valid(const cri_rvm *m, const cr_design *design)
{
    size_t d, c, terms = m->terms ? cri_rvm_terms(design) : m->R, seen = 0;
    cri_gp_shape(design, &d, &c);
    bool valid = m->d == d && m->c == c && cri_gp_codes_fit(design, m->codes, m->R, c) &&
                 m->K == cr_design_classes(design) && (m->K || m->F == 1) && !(m->terms && m->R) &&
                 (isnan(m->variance) ? m->n == 0 : m->n > 0 && !m->terms && m->F == 1);
    for (size_t k = 0; valid && k < m->M; k++)
        valid = m->function[k] < (double)terms && m->latent[k] < (double)m->F &&
                m->covariance[k * m->M + k] >= 0 && (m->function[k] >= 0 || m->constant);
    for (size_t k = 0; valid && k < m->K; k++) {
        valid = m->place[k] < (double)(m->F == 1 ? 2 : m->F);
        seen += m->place[k] >= 0;
    }
    if (valid && m->K) valid = seen == (m->F == 1 ? 2 : m->F);
    return valid && (m->n == 0 || cri_gp_codes_fit(design, m->levels, m->n, c));
}

cr_status cri_rvm_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_rvm        *m = state;
    cr_kernel_input at = cri_rvm_inputs(m);
    if (!is_valid(m, design)) return CR_EDATA;
    if (m->terms) return CR_OK;
    return cri_gp_kernel_restore_any(cx, m->formula, &m->centre, &at, design, &m->kernel);
}
