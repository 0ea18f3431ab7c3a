/* network_check.c -- is a network complete; copies of it, changes to it, values of it. */
#include "network_internal.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

cr_status cr_network_check(cr_ctx *cx, const cr_network *net)
{
    return cri_network_check(cx, net, NULL);
}

cr_status cri_network_check(cr_ctx *cx, const cr_network *net, size_t *opt_fault)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *order = cr_scratch_index(&s, cr_network_size(net));
    CR_TRY(s.status);
    for (size_t i = 0; i < net->tables; i++)
        if (!net->table[i].value && !net->table[i].noisy.effect) {
            if (opt_fault) *opt_fault = i;
            CR_TRY(cr_fail(cx, CR_EDATA, "variable '%s' has no probability table",
                           cr_variable_name(net->variables, i)));
        }
    if (net->kind == CR_NETWORK_BAYES) CR_TRY(cri_network_order(cx, net, order, opt_fault));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- copies ---------------------------------------------------------------------------------- */

cr_status cri_network_copy_variables(cr_ctx *cx, const cr_network *net, cr_network *out)
{
    cr_status           st = CR_OK;
    const cr_variables *vs = net->variables;
    for (size_t v = 0; v < cr_variables_count(vs); v++) {
        size_t       n = cr_variable_states(vs, v);
        const char **names = cr_alloc(cx, n, sizeof *names);
        if (!names) return CR_ENOMEM;
        for (size_t i = 0; i < n; i++) names[i] = cr_state_name(vs, v, i);
        st = cr_network_add_variable(cx, out, cr_variable_name(vs, v), n, names, NULL);
        cr_free(cx, names, n, sizeof *names);
        if (st != CR_OK) return st;
    }
    return CR_OK;
}

cr_status cri_network_copy_table(cr_ctx *cx, const cr_network *from, size_t i,
                                 const size_t *parents, cr_network *net, size_t v)
{
    const cri_table *t = &from->table[i];
    cr_status        st = cr_network_set_parents(cx, net, v, t->n - 1, parents);
    if (st != CR_OK) return st;
    net->table[v].kind = t->kind;
    if (t->noisy.effect) st = cri_noisy_copy(cx, &t->noisy, &net->table[v].noisy);
    if (st != CR_OK || !t->value) return st;
    double *value = cr_resize(cx, NULL, 0, t->size, sizeof *value);
    if (!value) return CR_ENOMEM;
    memcpy(value, t->value, t->size * sizeof *value); /* its rows sum to one: not touched again */
    net->table[v].value = value;
    net->table[v].size = t->size;
    return CR_OK;
}

static cr_status copy_tables(cr_ctx *cx, const cr_network *net, cr_network *out)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < net->tables && st == CR_OK; i++) {
        const cri_table *t = &net->table[i];
        if (net->kind == CR_NETWORK_MARKOV)
            st = cr_network_add_table_kind(cx, out, t->n, t->scope, t->value, t->kind);
        else
            st = cri_network_copy_table(cx, net, i, t->scope, out, i);
        if (st == CR_OK && t->source) st = cri_network_set_source(cx, out, i, t->source);
    }
    return st;
}

cr_status cr_network_copy(cr_ctx *cx, const cr_network *net, cr_network **out_net)
{
    cr_status   st = CR_OK;
    cr_network *out = NULL;
    CR_TRY(cr_network_new(cx, net->kind, &out));
    CR_TRY(cr_network_set_name(cx, out, cr_network_name(net)));
    CR_TRY(cri_network_copy_variables(cx, net, out));
    CR_TRY(copy_tables(cx, net, out));
    for (size_t i = 0; i < net->properties; i++)
        CR_TRY(cr_network_add_property(cx, out, net->property[i].variable, net->property[i].text));
    *out_net = out;
    out = NULL;
done:
    cr_network_free(cx, out);
    return st;
}

/* --- values ---------------------------------------------------------------------------------- */

cr_status cr_network_intervene(cr_ctx *cx, cr_network *net, size_t v, size_t state)
{
    cr_status st = CR_OK;
    double   *row = NULL;
    size_t   *scope = NULL, n = 0;
    if (net->kind != CR_NETWORK_BAYES)
        return cr_fail(cx, CR_EARG,
                       "do() needs a Bayesian network: a Markov network has no causes");
    if (v >= net->tables || state >= cr_network_states(net, v))
        return cr_fail(cx, CR_EARG, "do(): there is no state %zu of variable %zu", state, v);
    n = cr_network_states(net, v);
    row = cr_alloc(cx, n, sizeof *row);
    scope = row ? cr_alloc(cx, 1, sizeof *scope) : NULL;
    if (!scope) CR_TRY(CR_ENOMEM);
    row[state] = 1;
    scope[0] = v;
    cri_table *t = &net->table[v];
    cr_free(cx, t->scope, t->n, sizeof *t->scope);
    cr_free(cx, t->value, t->size, sizeof *t->value);
    cri_string_free(cx, t->source);
    cri_noisy_free(cx, &t->noisy);
    *t = (cri_table){
        .n = 1, .size = n, .scope = scope, .value = row, .kind = CR_CPD_DETERMINISTIC
    };
    row = NULL;
done:
    cr_free(cx, row, n, sizeof *row);
    return st;
}

double cr_network_log_value(const cr_network *net, const size_t *state)
{
    double sum = 0;
    for (size_t i = 0; i < net->tables; i++) {
        const cri_table *t = &net->table[i];
        size_t           at = 0;
        if (!t->value) {
            sum += log(cri_noisy_value(net, t, state));
            continue;
        }
        for (size_t k = 0; k < t->n; k++)
            at = at * cr_network_states(net, t->scope[k]) + state[t->scope[k]];
        sum += log(t->value[at]);
    }
    return sum;
}
