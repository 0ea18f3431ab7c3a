/* dynamic_network.c -- networks of two slices, and what they are side by side. */
#include "dynamic_network.h"
#include "network_internal.h"
#include "base/scratch.h"

#include <string.h>

/* --- life ------------------------------------------------------------------------------------ */

cr_status cri_dynamic_new(cr_ctx *cx, cri_dynamic **out_net)
{
    cr_status    st = CR_OK;
    cri_dynamic *net = cr_alloc(cx, 1, sizeof *net);
    if (!net) return CR_ENOMEM;
    CR_TRY(cr_network_new(cx, CR_NETWORK_BAYES, &net->first));
    CR_TRY(cr_network_new(cx, CR_NETWORK_BAYES, &net->next));
    *out_net = net;
    net = NULL;
done:
    cri_dynamic_free(cx, net);
    return st;
}

void cri_dynamic_free(cr_ctx *cx, cri_dynamic *net)
{
    if (!net) return;
    cr_network_free(cx, net->first);
    cr_network_free(cx, net->next);
    if (net->like) cr_free(cx, net->like, net->n, sizeof *net->like);
    cr_free(cx, net, 1, sizeof *net);
}

/* Adds variable v of a slice under its name with `behind` after it. */
static cr_status add_variable(cr_ctx *cx, const cri_dynamic *net, size_t v, const char *behind,
                              cr_network *out)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    const cr_variables *vs = cr_network_variables(net->first);
    const char         *name = cr_variable_name(vs, v);
    size_t              states = cr_variable_states(vs, v), length = strlen(name);
    char               *whole = cr_scratch_bytes(&s, length + strlen(behind) + 1, 1);
    const char        **names = cr_scratch_bytes(&s, states, sizeof *names);
    CR_TRY(s.status);
    memcpy(whole, name, length);
    memcpy(whole + length, behind, strlen(behind) + 1);
    for (size_t i = 0; i < states; i++) names[i] = cr_state_name(vs, v, i);
    CR_TRY(cr_network_add_variable(cx, out, whole, states, names, NULL));
done:
    cr_scratch_end(&s);
    return st;
}

/* All states alike: a table that is never looked at. */
static cr_status set_uniform(cr_ctx *cx, cr_network *net, size_t v)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     states = cr_network_states(net, v);
    double    *p = cr_scratch_f64(&s, states);
    CR_TRY(s.status);
    for (size_t i = 0; i < states; i++) p[i] = 1 / (double)states;
    CR_TRY(cr_network_set_table(cx, net, v, p));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_dynamic_add_slices(cr_ctx *cx, cri_dynamic *net)
{
    cr_status st = CR_OK;
    net->n = cr_network_size(net->first);
    net->like = cr_alloc(cx, net->n, sizeof *net->like);
    if (!net->like) CR_TRY(CR_ENOMEM);
    for (size_t v = 0; v < net->n; v++) net->like[v] = v;
    for (size_t v = 0; v < net->n; v++) {
        CR_TRY(add_variable(cx, net, v, "[-1]", net->next));
        CR_TRY(set_uniform(cx, net->next, v));
    }
    for (size_t v = 0; v < net->n; v++) CR_TRY(add_variable(cx, net, v, "", net->next));
done:
    return st;
}

bool cri_dynamic_looks_back(const cri_dynamic *net, size_t v)
{
    size_t        n;
    const size_t *parents = cr_network_parents(net->next, net->n + v, &n);
    for (size_t i = 0; i < n; i++)
        if (parents[i] < net->n) return true;
    return false;
}

bool cri_dynamic_begins_alike(const cri_dynamic *net, size_t v)
{
    const cri_table *a = &net->first->table[v], *b = &net->next->table[net->n + v];
    if (cri_dynamic_looks_back(net, v) || a->n != b->n || a->kind != b->kind) return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->scope[i] + net->n != b->scope[i]) return false;
    if (!a->source != !b->source || (a->source && strcmp(a->source, b->source) != 0)) return false;
    if (!a->value || !b->value) return !a->value && !b->value && a->source;
    return memcmp(a->value, b->value, a->size * sizeof *a->value) == 0;
}

double *cri_dynamic_table(cri_dynamic *net, bool first, size_t v, size_t *out_size)
{
    cri_table *t = first ? &net->first->table[v] : &net->next->table[net->n + v];
    *out_size = t->kind == CR_CPD_TABLE ? t->size : 0;
    return *out_size > 0 ? t->value : NULL;
}

/* --- slices side by side --------------------------------------------------------------------- */

/* Adds the variable of this number under its name "x[t=3]". */
static cr_status add_number(cr_ctx *cx, const cri_dynamic *net, size_t number, cr_network *out)
{
    char behind[48];
    snprintf(behind, sizeof behind, "[t=%zu]", number / net->n + 1);
    return add_variable(cx, net, number % net->n, behind, out);
}

/* The table of variable v in slice t (from 0), with its parents there. */
static cr_status add_table(cr_ctx *cx, const cri_dynamic *net, size_t t, size_t v, cr_network *out)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    const cr_network *from = t == 0 ? net->first : net->next;
    size_t            i = t == 0 ? v : net->n + v, n, before = t == 0 ? 0 : (t - 1) * net->n;
    const size_t     *parents = cr_network_parents(from, i, &n);
    size_t           *list = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    for (size_t k = 0; k < n; k++) list[k] = before + parents[k];
    CR_TRY(cri_network_copy_table(cx, from, i, list, out, t * net->n + v));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_dynamic_unroll(cr_ctx *cx, const cri_dynamic *net, size_t slices,
                             cr_network **out_net)
{
    cr_status   st = CR_OK;
    cr_network *out = NULL;
    CR_TRY(cr_network_new(cx, CR_NETWORK_BAYES, &out));
    CR_TRY(cr_network_set_name(cx, out, cr_network_name(net->first)));
    for (size_t t = 0; t < slices; t++) {
        for (size_t v = 0; v < net->n; v++) CR_TRY(add_number(cx, net, t * net->n + v, out));
        for (size_t v = 0; v < net->n; v++) CR_TRY(add_table(cx, net, t, v, out));
        if (t % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
    }
    *out_net = out;
    out = NULL;
done:
    cr_network_free(cx, out);
    return st;
}

cr_status cri_dynamic_name(cr_ctx *cx, const cri_dynamic *net, size_t n, const size_t *list,
                           cr_network **out_net)
{
    cr_status   st = CR_OK;
    cr_network *out = NULL;
    CR_TRY(cr_network_new(cx, CR_NETWORK_BAYES, &out));
    for (size_t i = 0; i < n; i++) {
        CR_TRY(add_number(cx, net, list[i], out));
        if (i % 4096 == 0) CR_TRY(cr_check_interrupt(cx));
    }
    *out_net = out;
    out = NULL;
done:
    cr_network_free(cx, out);
    return st;
}
