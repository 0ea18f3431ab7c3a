/* gaussian_bn_describe.c -- what a linear-Gaussian network reports: regressions, arcs, scores. */
#include "gaussian_bn.h"

#include <math.h>

const cr_field cri_gaussian_bn_statistics[] = {
    CR_COUNT("variables", 0, "columns"),
    CR_COUNT("arcs", 0, "arcs"),
    CR_COUNT(
        "undirected", 0,
        "arcs that other networks, which fit equally well and keep to the rules, have the other "
        "way"),
    CR_COUNT("parameters", 0, "free parameters: intercepts, variances and weights"),
    CR_TEXT("structure", 0, "where the arcs are from"),
    CR_NUMBER("score.bic", CR_FIELD_NULL,
              "log likelihood - parameters ln(rows) / 2; higher is better, here as below"),
    CR_NUMBER("score.aic", CR_FIELD_NULL, "the same less the parameters"),
    CR_NUMBER("score.loglik", CR_FIELD_NULL, "the largest log likelihood on this graph"),
    CR_NUMBER("score.bge", 0, "log evidence of the scaled rows under a prior of --prior-rows rows"),
    CR_NUMBER("score.bound", CR_FIELD_SOMETIMES,
              "of an exact search: no network within the rules scores more; equal to the score "
              "where that is proven to be the best"),
    CR_FIELD_LAST,
};

static const cr_field arc_fields[] = {
    CR_TEXT("from", 0, "parent"),
    CR_TEXT("to", 0, "child"),
    CR_NUMBER("weight", 0, "of the parent in the regression of the child, in their units"),
    CR_NUMBER("sd", 0, "its standard error, the graph being given"),
    CR_FLAG(
        "compelled", 0,
        "whether all networks of the class, within the rules of the fit, have the arc this way"),
    CR_FIELD_LAST,
};

const cr_field cri_gaussian_bn_tables[] = {
    CR_INNER(ROWS, "arcs", 0, "arcs, by child", arc_fields),
    CR_FIELD_LAST,
};

static void describe_columns(const cri_gaussian_bn *m, const cr_design *design, cri_sheet *list)
{
    for (size_t v = 0; v < m->p; v++) {
        const char *name = cr_design_term_name(design, v);
        cri_parameter_add(list, m->intercept[v], m->intercept_sd[v], "%s.intercept", name);
        for (size_t k = m->first[v]; k < m->first[v + 1]; k++)
            cri_parameter_add(list, m->weight[k], m->weight_sd[k], "%s.%s", name,
                              cr_design_term_name(design, m->from[k]));
        cri_parameter_add(list, m->sd[v], NAN, "%s.sd", name);
    }
}

cr_status cri_gaussian_bn_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                   cri_sheet *out)
{
    const cri_gaussian_bn *m = state;
    cri_sheet             *list = cri_put_list(out, "parameters"), *s;
    double                 k = (double)(2 * m->p + m->arcs), l = m->log_likelihood;
    size_t                 open = 0;
    (void)cx;
    describe_columns(m, design, list);
    for (size_t i = 0; i < m->arcs; i++) open += m->compelled[i] == 0;
    s = cri_put_object(out, "statistics");
    cri_put_count(s, "variables", m->p);
    cri_put_count(s, "arcs", m->arcs);
    cri_put_count(s, "undirected", open);
    cri_put_count(s, "parameters", 2 * m->p + m->arcs);
    cri_put_text(s, "structure", m->how);
    cri_put_real(s, "score.bic", l - k * log(m->n) / 2);
    cri_put_real(s, "score.aic", l - k);
    cri_put_real(s, "score.loglik", l);
    cri_put_real(s, "score.bge", m->bge);
    if (!isnan(m->bound)) cri_put_real(s, "score.bound", m->bound);
    list = cri_put_list(out, "arcs");
    for (size_t i = 0; i < m->arcs; i++) {
        cri_sheet *row = cri_put_object(list, NULL);
        cri_put_text(row, "from", cr_design_term_name(design, m->from[i]));
        cri_put_text(row, "to", cr_design_term_name(design, m->to[i]));
        cri_put_real(row, "weight", m->weight[i]);
        cri_put_real(row, "sd", m->weight_sd[i]);
        cri_put_flag(row, "compelled", m->compelled[i] == 1);
    }
    return CR_OK;
}
