/* dbn_describe.c -- what a learned dynamic network says of itself: its probabilities by name. */
#include "dbn.h"
#include "base/scratch.h"
#include "math/constants.h"
#include "math/special/special.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const cr_field cri_dbn_statistics[] = {
    CR_COUNT("variables", 0, "of a slice"),
    CR_COUNT("hidden", 0, "of these, how many no row shows"),
    CR_COUNT("missing", 0, "cells that are missing in the others"),
    CR_COUNT("sequences", 0, "that it has learned from"),
    CR_COUNT("parameters", 0, "free parameters that were learned"),
    CR_NUMBER("bic", 0, "-2 log likelihood + parameters ln(rows): lower is better"),
    CR_NUMBER("aic", 0, "-2 log likelihood + 2 parameters"),
    CR_TEXT("standard_errors", CR_FIELD_SOMETIMES, "what sd means here"),
    CRI_EM_FIELDS,
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

/* "rain[-1]=no, wind=yes" of entry i of a table: the parents. */
static void put_parents(line *l, const cr_network *net, cr_table_view t, size_t i)
{
    const cr_variables *vs = cr_network_variables(net);
    size_t              inner = t.size;
    for (size_t d = 0; d + 1 < t.n; d++) {
        size_t states = cr_network_states(net, t.scope[d]);
        inner /= states;
        put(l, d == 0 ? " | " : ", ");
        put(l, cr_variable_name(vs, t.scope[d]));
        put(l, "=");
        put(l, cr_state_name(vs, t.scope[d], i / inner % states));
    }
}

/* The sd and the interval of mass 0.95 of entry s of a row with so many cases, those of the prior among them: of Beta, the
 * margin of a Dirichlet distribution, or normal in the logarithm of the odds. */
static void put_entry(cri_sheet *list, const cri_dbn *m, size_t s, double cases, const char *name)
{
    double p = m->value[s], lower = NAN, upper = NAN, sd = NAN;
    bool   certain = !(p > 0 && p < 1) || !(cases > 0);
    if (m->sd)
        sd = m->sd[s];
    else if (!certain && m->count)
        sd = sqrt(p * (1 - p) / (cases + 1));
    if (m->sd && !certain && !isnan(sd)) {
        double odds = log(p) - log1p(-p), half = CRI_Z95 * sd / (p * (1 - p));
        lower = 1 / (1 + exp(half - odds)), upper = 1 / (1 + exp(-half - odds));
    } else if (!isnan(sd)) {
        lower = cr_betainc_inv(p * cases, (1 - p) * cases, 0.025);
        upper = cr_betainc_inv(p * cases, (1 - p) * cases, 0.975);
    }
    cri_sheet *row = cri_parameter_add(list, p, sd, "P(%s)", name);
    cri_put_real(row, "lower", lower);
    cri_put_real(row, "upper", upper);
}

static double cases_of(const cri_dbn *m, const cri_dbn_table *k, size_t row)
{
    double sum = m->prior;
    for (size_t s = 0; m->count && s < k->states; s++) sum += m->count[k->at + row + s];
    return sum;
}

/* P(rain=yes | rain[-1]=no); of slice 1 P(rain[t=1]=yes). */
static void put_parameters(cri_sheet *list, const cri_dbn *m, const cri_dbn_table *k)
{
    const cr_network *net = k->first ? m->net->first : m->net->next;
    size_t            v = k->first ? k->variable : m->net->n + k->variable;
    cr_table_view     t = cr_network_table(net, v);
    for (size_t i = 0; i < k->size; i++) {
        line l = { .used = 0 };
        put(&l, cr_variable_name(cr_network_variables(m->net->first), k->variable));
        if (k->first) put(&l, "[t=1]");
        put(&l, "=");
        put(&l, cr_state_name(cr_network_variables(net), v, i % k->states));
        put_parents(&l, net, t, i);
        put_entry(list, m, k->at + i, cases_of(m, k, i - i % k->states), l.text);
    }
}

cr_status cri_dbn_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out)
{
    static const char *const errors[] = {
        NULL,
        "posterior",
        "posterior, by its curvature at the mode",
        "approximate: as if what is missing had been seen, so too small",
    };
    const cri_dbn *m = state;
    cri_sheet     *list = cri_put_list(out, "parameters"), *s = cri_put_object(out, "statistics");
    (void)design;
    for (size_t k = 0; k < m->tables && m->size <= MOST_LISTED; k++)
        put_parameters(list, m, &m->table[k]);
    cri_put_count(s, "variables", m->net->n);
    cri_put_count(s, "hidden", m->hidden);
    cri_put_count(s, "missing", m->gaps);
    cri_put_count(s, "sequences", m->sequences);
    cri_put_count(s, "parameters", m->free);
    cri_put_real(s, "bic", -2 * m->log_likelihood + (double)m->free * log(m->rows));
    cri_put_real(s, "aic", -2 * m->log_likelihood + 2 * (double)m->free);
    if (errors[m->errors]) cri_put_text(s, "standard_errors", errors[m->errors]);
    cri_em_describe(&m->em, s);
    if (m->size > MOST_LISTED)
        cr_log(cx, CR_LOG_INFO, "%zu probabilities are not listed: convert writes them as JSON",
               m->size);
    return CR_OK;
}
