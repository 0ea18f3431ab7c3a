/* fa_describe.c -- what a fit of factor analysis reports. */
#include "fa.h"
#include "components.h"
#include "base/scratch.h"
#include "math/special/special.h"
#include "prob/dist/small_matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const cr_field cri_fa_statistics[] = {
    CR_COUNT("components", 0, "factors"),
    CR_TEXT("rotation", 0, "of the factors: none, varimax or promax"),
    CR_NUMBER("variance(COORDINATE)", CR_FIELD_SOMETIMES,
              "of each factor: the sum of its squared loadings for columns of variance 1"),
    CR_NUMBER("share(COORDINATE)", CR_FIELD_SOMETIMES,
              "of each factor: this divided by the number of columns"),
    CR_NUMBER("explained", CR_FIELD_NULL,
              "share of the variance that the factors explain: the mean of the communalities"),
    CR_NUMBER("score_sd(COORDINATE)", CR_FIELD_SOMETIMES,
              "of each factor: its sd given a row without missing cells"),
    CR_COUNT("heywood", 0, "uniquenesses at their bound"),
    CR_NUMBER("chi2", CR_FIELD_NULL,
              "test of fit against any covariance, Bartlett's correction applied; null where the "
              "columns are dependent or the rows too few"),
    CR_NUMBER("chi2_df", 0, "its degrees of freedom"),
    CR_NUMBER("chi2_p", CR_FIELD_NULL, "its p-value; null without degrees of freedom"),
    CR_COUNT("starts", 0, "starts of the search"),
    CR_COUNT("starts_agreeing", 0, "starts that ended at the best likelihood"),
    CR_NUMBER("parameters", 0, "free parameters of the distribution"),
    CR_NUMBER("aic", CR_FIELD_NULL, "-2 log likelihood + 2 parameters"),
    CR_NUMBER("bic", CR_FIELD_NULL, "-2 log likelihood + parameters ln n"),
    CR_FIELD_LAST,
};

static const cr_field column_fields[] = {
    CR_TEXT("column", 0, "the column"),
    CR_NUMBER("communality", 0, "share of its variance that the factors explain"),
    CR_FLAG("heywood", 0, "its uniqueness is at the bound"),
    CR_FIELD_LAST,
};

static const cr_field correlation_fields[] = {
    CR_TEXT("factor", 0, "a factor"),
    CR_TEXT("with", 0, "another"),
    CR_NUMBER("correlation", 0, "of the two"),
    CR_NUMBER("sd", CR_FIELD_NULL, "its standard error"),
    CR_FIELD_LAST,
};

const cr_field cri_fa_tables[] = {
    CR_INNER(ROWS, "communalities", 0, "what is shared of each column", column_fields),
    CR_INNER(ROWS, "factor_correlations", CR_FIELD_SOMETIMES,
             "with --rotation promax: each pair of factors", correlation_fields),
    CRI_TRIED_NUMBERS,
    CR_FIELD_LAST,
};

static double none_if_infinite(double sd) { return isinf(sd) ? NAN : sd; }

/* The variance of column j as the model has it. */
static double variance_of(const cri_factors *f, size_t j)
{
    double sum = f->psi[j];
    for (size_t a = 0; a < f->q; a++) sum += f->loading[a * f->p + j] * f->loading[a * f->p + j];
    return sum;
}

static void describe_parameters(const cri_fa *m, const cr_design *design, cri_sheet *list)
{
    const cri_factors *f = &m->model;
    for (size_t a = 0; a < f->q; a++)
        for (size_t j = 0; j < f->p; j++)
            cri_parameter_add(list, m->pattern[a * f->p + j],
                              none_if_infinite(m->pattern_sd[a * f->p + j]), "%s.%s",
                              f->at.names[a], cr_design_term_name(design, j));
    for (size_t j = 0; j < f->p; j++)
        cri_parameter_add(list, f->psi[j], none_if_infinite(m->psi_sd[j]), "uniqueness.%s",
                          cr_design_term_name(design, j));
}

/* Returns what the factors explain; heywood and communalities of the columns. */
static double describe_columns(const cri_fa *m, const cr_design *design, size_t *out_heywood,
                               cri_sheet *out)
{
    const cri_factors *f = &m->model;
    cri_sheet         *list = cri_put_list(out, "communalities");
    double             sum = 0;
    *out_heywood = 0;
    for (size_t j = 0; j < f->p; j++) {
        cri_sheet *row = cri_put_object(list, NULL);
        double     communality = 1 - f->psi[j] / variance_of(f, j);
        cri_put_text(row, "column", cr_design_term_name(design, j));
        cri_put_real(row, "communality", communality);
        cri_put_flag(row, "heywood", m->at_bound[j] > 0);
        sum += communality;
        *out_heywood += m->at_bound[j] > 0;
    }
    return sum / (double)f->p;
}

/* Correlations of factors at any angles: turn turn^T. */
static void describe_correlations(const cri_fa *m, cri_sheet *out)
{
    size_t     q = m->k;
    cri_sheet *list;
    if (m->rotation != CRI_ROTATION_PROMAX || q < 2) return;
    list = cri_put_list(out, "factor_correlations");
    for (size_t a = 0; a < q; a++)
        for (size_t b = a + 1; b < q; b++) {
            cri_sheet *row = cri_put_object(list, NULL);
            double     sum = 0;
            for (size_t c = 0; c < q; c++) sum += m->turn[a * q + c] * m->turn[b * q + c];
            cri_put_text(row, "factor", m->model.at.names[a]);
            cri_put_text(row, "with", m->model.at.names[b]);
            cri_put_real(row, "correlation", sum);
            cri_put_real(row, "sd", m->correlation_sd[a * q + b]);
        }
}

static void describe_candidates(const cri_fa *m, cri_sheet *out)
{
    cri_sheet *list = m->tried > 1 ? cri_put_list(out, "tried") : NULL;
    for (size_t i = 0; i < m->tried && m->tried > 1; i++) {
        cri_sheet *row = cri_put_object(list, NULL);
        double     parameters = cri_fa_parameters(m->d, i + 1);
        cri_put_count(row, "components", i + 1);
        cri_put_real(row, "parameters", parameters);
        cri_put_real(row, "log_likelihood", m->likelihood_of[i]);
        cri_put_real(row, "bic", parameters * log(m->n) - 2 * m->likelihood_of[i]);
    }
}

/* Of each factor: the sum of squares of its loadings, and its sd given a row; both [q], z [q] workspace. */
static void measure_factors(const cri_fa *m, double *square, double *sd, double *z)
{
    size_t p = m->d, q = m->k;
    for (size_t a = 0; a < q; a++) {
        double sum = 0;
        square[a] = 0;
        for (size_t j = 0; j < p; j++)
            square[a] += m->pattern[a * p + j] * m->pattern[a * p + j] / variance_of(&m->model, j);
        memcpy(z, m->turn + a * q, q * sizeof *z);
        cri_solve_lower(m->model.L, q, z);
        for (size_t b = 0; b < q; b++) sum += z[b] * z[b];
        sd[a] = sqrt(sum);
    }
}

cr_status cri_fa_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out)
{
    static const char *const names[] = { "none", "varimax", "promax" };
    cr_status                st = CR_OK;
    cr_scratch               memory = cr_scratch_begin(cx);
    const cri_fa            *m = state;
    size_t                   q = m->k, heywood = 0;
    double                  *square = cr_scratch_f64(&memory, q), *sd = cr_scratch_f64(&memory, q);
    double *z = cr_scratch_f64(&memory, q), explained, k = cri_fa_parameters(m->d, q);
    double  df = fmax(cri_fa_freedom(m->d, q), 0);
    char    name[64];

    CR_TRY(memory.status);
    describe_parameters(m, design, cri_put_list(out, "parameters"));
    cri_sheet *s = cri_put_object(out, "statistics");
    explained = describe_columns(m, design, &heywood, out);
    describe_correlations(m, out);
    describe_candidates(m, out);
    measure_factors(m, square, sd, z);
    cri_put_count(s, "components", q);
    cri_put_text(s, "rotation", names[m->rotation]);
    for (size_t a = 0; a < q; a++) {
        snprintf(name, sizeof name, "variance(%s)", m->model.at.names[a]);
        cri_put_real(s, name, square[a]);
        snprintf(name, sizeof name, "share(%s)", m->model.at.names[a]);
        cri_put_real(s, name, square[a] / (double)m->d);
    }
    cri_put_real(s, "explained", explained);
    for (size_t a = 0; a < q; a++) {
        snprintf(name, sizeof name, "score_sd(%s)", m->model.at.names[a]);
        cri_put_real(s, name, sd[a]);
    }
    cri_put_count(s, "heywood", heywood);
    cri_put_real(s, "chi2", m->chi2);
    cri_put_real(s, "chi2_df", df);
    cri_put_real(s, "chi2_p", df > 0 ? cr_chi2_sf(m->chi2, df) : NAN);
    cri_put_count(s, "starts", m->starts);
    cri_put_count(s, "starts_agreeing", m->agreeing);
    cri_put_real(s, "parameters", k);
    cri_put_real(s, "aic", 2 * k - 2 * m->log_likelihood);
    cri_put_real(s, "bic", k * log(m->n) - 2 * m->log_likelihood);
done:
    cr_scratch_end(&memory);
    return st;
}
