/* loglinear_describe.c -- what a log-linear model reports: weights by name, edges, criteria. */
#include "loglinear.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>

enum { MOST_LISTED = 20000, MOST_NAME = 512 };

const cr_field cri_loglinear_statistics[] = {
    CR_COUNT("variables", 0, "variables"),
    CR_COUNT("edges", 0, "pairs of variables that have a feature in common"),
    CR_COUNT("parameters", 0, "features whose weight is not 0"),
    CR_TEXT("structure", 0, "where the features are from"),
    CR_TEXT("method", 0,
            "what was maximised: exact, the likelihood; pseudo, the pseudo-likelihood; pcd, the "
            "likelihood by "
            "contrastive divergence"),
    CR_COUNT("width", 0, "variables of the largest clique of the junction tree, less 1"),
    CR_COUNT("hidden", 0, "variables that no row shows"),
    CR_NUMBER("missing", 0, "cells that are missing in the others, with the weights of their rows"),
    CR_NUMBER("incomplete", 0, "rows with such cells"),
    CR_COUNT("half_samples", 0, "halves of the rows behind the stability of edges"),
    CR_NUMBER("log_z", CR_FIELD_NULL,
              "log of the normalising constant Z; null: the tree is too wide for it"),
    CR_NUMBER("pseudo_log_likelihood", CR_FIELD_NULL,
              "sum of the log probabilities of cells given the other cells of their rows, of "
              "complete rows"),
    CR_NUMBER("moment_gap", CR_FIELD_NULL,
              "largest difference between the mean of a feature in the rows and under the model: 0 "
              "at the "
              "most likely weights, l2 |w| / rows with a penalty"),
    CR_NUMBER("bic", CR_FIELD_NULL,
              "Schwarz's criterion, parameters log(rows) - 2 log likelihood; lower is better"),
    CR_NUMBER("aic", CR_FIELD_NULL, "Akaike's criterion, 2 parameters - 2 log likelihood"),
    CR_COUNT("iterations", 0, "steps of the search"),
    CR_FLAG("converged", 0, "whether it ended within the tolerance"),
    CR_FIELD_LAST,
};

static const cr_field edge_fields[] = {
    CR_TEXT("a", 0, "a variable"),
    CR_TEXT("b", 0, "another that has a feature in common with it"),
    CR_NUMBER("strength", 0,
              "root of the sum of the squared weights of the features that have both"),
    CR_NUMBER("stability", CR_FIELD_NULL, "share of half samples that have the edge"),
    CR_FIELD_LAST,
};

const cr_field cri_loglinear_tables[] = {
    CR_INNER(ROWS, "edges", 0, "edges, by their first variable", edge_fields),
    CR_FIELD_LAST,
};

/* "a=yes, b=no", of spins "h[a]", "J[a,b]". */
static void name_feature(const cri_loglinear *m, size_t k, char *out)
{
    const cr_variables *vs = cr_network_variables(m->columns.net);
    size_t              used = 0, n = m->begin[k + 1] - m->begin[k];
    if (m->spins) used = (size_t)snprintf(out, MOST_NAME, "%s[", n == 1 ? "h" : "J");
    for (size_t i = m->begin[k]; i < m->begin[k + 1] && used < MOST_NAME; i++) {
        const char *comma = i == m->begin[k] ? "" : m->spins ? "," : ", ";
        const char *name = cr_variable_name(vs, m->variable[i]);
        int         length = m->spins ? snprintf(out + used, MOST_NAME - used, "%s%s", comma, name)
                                      : snprintf(out + used, MOST_NAME - used, "%s%s=%s", comma, name,
                                                 cr_state_name(vs, m->variable[i], m->state[i]));
        used += (size_t)length;
    }
    if (m->spins && used + 1 < MOST_NAME) out[used] = ']', out[used + 1] = '\0';
}

static void put_edges(cri_sheet *out, const cri_loglinear *m, const double *square)
{
    const cr_variables *vs = cr_network_variables(m->columns.net);
    size_t              p = cr_network_size(m->columns.net);
    cri_sheet          *list = cri_put_list(out, "edges");
    for (size_t e = 0; e < m->edges; e++) {
        cri_sheet *row = cri_put_object(list, NULL);
        cri_put_text(row, "a", cr_variable_name(vs, m->edge_a[e]));
        cri_put_text(row, "b", cr_variable_name(vs, m->edge_b[e]));
        cri_put_real(row, "strength", sqrt(square[m->edge_a[e] * p + m->edge_b[e]]));
        cri_put_real(row, "stability", m->stable[e]);
    }
}

cr_status cri_loglinear_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                 cri_sheet *out)
{
    static const char *const methods[] = { "auto", "exact", "pseudo", "pcd" };
    cr_status                st = CR_OK;
    cr_scratch               s = cr_scratch_begin(cx);
    const cri_loglinear     *m = state;
    size_t                   p = cr_network_size(m->columns.net), used = 0;
    double                  *square = cr_scratch_bytes(&s, p * p, sizeof *square);
    cri_sheet               *list, *sheet;
    char                     name[MOST_NAME];
    (void)design;
    CR_TRY(s.status);
    list = cri_put_list(out, "parameters");
    sheet = cri_put_object(out, "statistics");
    for (size_t k = 0; k < m->parameters; k++) {
        used += m->weight[k] != 0;
        for (size_t i = m->begin[k]; i < m->begin[k + 1]; i++)
            for (size_t j = m->begin[k]; j < i; j++)
                square[m->variable[j] * p + m->variable[i]] += m->weight[k] * m->weight[k];
        if (m->parameters > MOST_LISTED) continue;
        name_feature(m, k, name);
        cri_parameter_add(list, m->weight[k], m->sd[k], "%s", name);
    }
    cri_put_count(sheet, "variables", p);
    cri_put_count(sheet, "edges", m->edges);
    cri_put_count(sheet, "parameters", used);
    cri_put_text(sheet, "structure", m->how);
    cri_put_text(sheet, "method", methods[m->method]);
    cri_put_count(sheet, "width", (size_t)m->width);
    cri_put_count(sheet, "hidden", m->hidden);
    cri_put_real(sheet, "missing", m->missing);
    cri_put_real(sheet, "incomplete", m->incomplete);
    cri_put_count(sheet, "half_samples", m->halves);
    cri_put_real(sheet, "log_z", m->log_z);
    cri_put_real(sheet, "pseudo_log_likelihood", m->pseudo);
    cri_put_real(sheet, "moment_gap", m->gap);
    cri_put_real(sheet, "bic", (double)used * log(m->rows) - 2 * m->log_likelihood);
    cri_put_real(sheet, "aic", 2 * (double)used - 2 * m->log_likelihood);
    cri_put_count(sheet, "iterations", m->iterations);
    cri_put_flag(sheet, "converged", m->converged);
    put_edges(out, m, square);
    if (m->parameters > MOST_LISTED)
        cr_log(cx, CR_LOG_INFO, "%zu weights are not listed: convert writes them", m->parameters);
done:
    cr_scratch_end(&s);
    return st;
}
