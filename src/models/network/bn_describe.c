/* bn_describe.c -- what a learned network says of itself: probabilities by name with their standard deviations, arcs,
 * scores. */
#include "bn.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const cr_field cri_bn_statistics[] = {
    CR_COUNT("variables", 0, "variables"),
    CR_COUNT("arcs", 0, "arcs"),
    CR_COUNT("parameters", 0, "free parameters of all tables"),
    CR_TEXT("structure", 0, "where the arcs are from"),
    CR_COUNT("hidden", 0, "variables that no row shows"),
    CR_NUMBER("missing", 0, "cells that are missing in the others, with the weights of their rows"),
    CR_NUMBER("incomplete", 0, "rows with such cells"),
    CR_NUMBER("score.bic", CR_FIELD_NULL,
              "log likelihood of the most likely tables - parameters ln(rows) / 2; higher is "
              "better, here as below, and null where cells are missing"),
    CR_NUMBER("score.aic", CR_FIELD_NULL, "the same less the parameters"),
    CR_NUMBER(
        "score.bdeu", CR_FIELD_NULL,
        "log evidence under a prior of one case for each table, or as many as --criterion bdeu "
        "or --prior bdeu say"),
    CR_NUMBER("score.bds", CR_FIELD_NULL, "the same, spread over the rows that occur"),
    CR_NUMBER("score.k2", CR_FIELD_NULL, "log evidence under a prior of one case for each entry"),
    CR_NUMBER("score.qnml", CR_FIELD_NULL,
              "quotient normalised maximum likelihood: the likelihood less the regrets of tables"),
    CR_NUMBER("score.loglik", CR_FIELD_NULL, "log likelihood of the most likely tables"),
    CR_NUMBER("score.holdout", CR_FIELD_SOMETIMES,
              "with --criterion holdout: log probability of the rows held out"),
    CR_NUMBER("score.bound", CR_FIELD_SOMETIMES,
              "of --structure exact: no network within the rules scores more; equal to the score "
              "where that is proven to be the best"),
    CR_COUNT(
        "undirected", 0,
        "arcs that other networks, which fit equally well and keep to the rules, have the other "
        "way"),
    CR_COUNT("replicates", CR_FIELD_SOMETIMES,
             "of --bootstrap, or draws of chains, that strengths are from"),
    CR_NUMBER("rhat", CR_FIELD_SOMETIMES,
              "of chains: the largest R-hat of the probability of an arc"),
    CR_COUNT("iterations", CR_FIELD_SOMETIMES, "passes of EM, where cells are missing"),
    CR_COUNT("restarts", CR_FIELD_SOMETIMES, "starts of EM"),
    CR_COUNT("restarts_agreed", CR_FIELD_SOMETIMES, "of these, how many ended as high as the best"),
    CR_NUMBER("objective", CR_FIELD_SOMETIMES, "log likelihood plus log prior at the end of EM"),
    CR_FLAG("converged", CR_FIELD_SOMETIMES,
            "whether the last step gained less than the tolerance"),
    CR_FIELD_LAST,
};

static const cr_field arc_fields[] = {
    CR_TEXT("from", 0, "parent"),
    CR_TEXT("to", 0, "child"),
    CR_NUMBER("strength", CR_FIELD_NULL,
              "probability that the two are joined: the share of replicates, or of the posterior "
              "where that was asked for, else by the scores with and without the arc, the "
              "others being as they are; null for arcs that were given"),
    CR_NUMBER("direction", CR_FIELD_NULL,
              "probability that the arc leads this way and not the other, likewise; 0.5: the data "
              "cannot tell"),
    CR_FLAG(
        "compelled", 0,
        "whether all networks of the class, within the rules of the fit, have the arc this way"),
    CR_FIELD_LAST,
};

const cr_field cri_bn_tables[] = {
    CR_INNER(ROWS, "arcs", 0, "arcs, by child", arc_fields),
    CR_FIELD_LAST,
};

enum { MOST_LISTED = 20000, MOST_NAME = 512 };

/* A text being made, cut where it is too long. */
typedef struct line {
    char   text[MOST_NAME];
    size_t used;
} line;

static void put(line *l, const char *text)
{
    size_t left = sizeof l->text - l->used;
    int    n = snprintf(l->text + l->used, left, "%s", text);
    l->used += (size_t)n < left ? (size_t)n : left - 1;
}

static void put_state(line *l, const cr_network *net, size_t v, size_t state)
{
    put(l, cr_variable_name(cr_network_variables(net), v));
    put(l, "=");
    put(l, cr_state_name(cr_network_variables(net), v, state));
}

/* P(x=a | y=b, z=c) of each entry, with the sd of a Dirichlet distribution. */
static void put_parameters(cri_sheet *list, const cri_bn *m, size_t v)
{
    cr_table_view t = cr_network_table(m->net, v);
    cri_bn_table  k = cri_bn_table_of(m, v);
    for (size_t i = 0; i < t.size; i++) {
        line   l = { .used = 0 };
        size_t row = i / k.states * k.states, inner = t.size;
        double sum = 0, p = t.value[i];
        put_state(&l, m->net, v, i % k.states);
        for (size_t d = 0; d + 1 < t.n; d++) {
            size_t states = cr_network_states(m->net, t.scope[d]);
            inner /= states;
            put(&l, d == 0 ? " | " : ", ");
            put_state(&l, m->net, t.scope[d], i / inner % states);
        }
        for (size_t s = 0; s < k.states; s++)
            sum += m->prior[k.at + row + s] + m->count[k.at + row + s];
        if (m->shares > 0) sum *= m->share[k.at + i];
        cri_parameter_add(list, p, sum > 0 ? sqrt(p * (1 - p) / (sum + 1)) : NAN, "P(%s)", l.text);
    }
}

static void put_arcs(cri_sheet *out, const cri_bn *m)
{
    cri_sheet          *list = cri_put_list(out, "arcs");
    const cr_variables *vs = cr_network_variables(m->net);
    size_t              arc = 0;
    for (size_t v = 0; v < cr_network_size(m->net); v++) {
        size_t        n;
        const size_t *parents = cr_network_parents(m->net, v, &n);
        for (size_t i = 0; i < n; i++, arc++) {
            cri_sheet *row = cri_put_object(list, NULL);
            cri_put_text(row, "from", cr_variable_name(vs, parents[i]));
            cri_put_text(row, "to", cr_variable_name(vs, v));
            cri_put_real(row, "strength", m->strength[arc]);
            cri_put_real(row, "direction", m->direction[arc]);
            cri_put_flag(row, "compelled", m->compelled[arc] == 1);
        }
    }
}

static void put_scores(cri_sheet *s, const cri_bn *m)
{
    char name[32];
    for (cri_score_kind k = CRI_SCORE_BIC; k <= CRI_SCORE_HOLDOUT; k++) {
        if (k == CRI_SCORE_HOLDOUT && !(m->scores && m->score[k] != 0)) continue;
        snprintf(name, sizeof name, "score.%s", cri_score_name(k));
        cri_put_real(s, name, m->scores ? m->score[k] : NAN);
    }
}

cr_status cri_bn_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out)
{
    const cri_bn *m = state;
    cri_sheet    *list = cri_put_list(out, "parameters"), *s = cri_put_object(out, "statistics");
    size_t        open = 0;
    (void)design;
    for (size_t i = 0; i < m->arcs; i++) open += m->compelled[i] == 0;
    for (size_t v = 0; v < cr_network_size(m->net) && m->size <= MOST_LISTED; v++)
        put_parameters(list, m, v);
    cri_put_count(s, "variables", cr_network_size(m->net));
    cri_put_count(s, "arcs", m->arcs);
    cri_put_count(s, "parameters", cri_bn_free_parameters(m));
    cri_put_text(s, "structure", m->how);
    cri_put_count(s, "hidden", m->hidden);
    cri_put_real(s, "missing", m->missing);
    cri_put_real(s, "incomplete", m->incomplete);
    put_scores(s, m);
    if (isfinite(m->bound)) cri_put_real(s, "score.bound", m->bound);
    cri_put_count(s, "undirected", open);
    if (m->replicates > 0) cri_put_count(s, "replicates", m->replicates);
    if (isfinite(m->rhat)) cri_put_real(s, "rhat", m->rhat);
    if (m->em.trace) cri_em_describe(&m->em, s);
    put_arcs(out, m);
    if (m->size > MOST_LISTED)
        cr_log(cx, CR_LOG_INFO, "%zu probabilities are not listed: convert writes them", m->size);
    return CR_OK;
}
