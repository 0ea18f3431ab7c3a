/* bn_layout.c -- variables, parents and cuts as JSON, [{"name", "states", "parents", "cuts"}, ...]: parents are numbers
 * in the order of the table. */
#include "bn.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "data/store/store.h"
#include "graph/files/json_text.h"
#include "graph/network/network_internal.h"
#include "graph/network/structure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- writing ---------------------------------------------------------------------------------- */

static cr_status write_variable(cr_ctx *cx, const cri_bn *m, size_t v, json_t *list)
{
    cr_status           st = CR_OK;
    const cr_variables *vs = cr_network_variables(m->net);
    json_t             *one = json_object(), *part;
    size_t              n;
    const size_t       *parents = cr_network_parents(m->net, v, &n);
    CR_TRY(cri_store_append(cx, list, one));
    CR_TRY(cri_store_set_text(cx, one, "name", cr_variable_name(vs, v)));
    CR_TRY(cri_store_set(cx, one, "states", part = json_array()));
    for (size_t s = 0; s < cr_variable_states(vs, v); s++)
        CR_TRY(cri_store_append(cx, part, json_string(cr_state_name(vs, v, s))));
    CR_TRY(cri_store_set(cx, one, "parents", part = json_array()));
    for (size_t i = 0; i < n; i++)
        CR_TRY(cri_store_append(cx, part, json_integer((json_int_t)parents[i])));
    if (m->n_cuts[v] == 0) goto done;
    CR_TRY(cri_store_set(cx, one, "cuts", part = json_array()));
    for (size_t i = 0; i < m->n_cuts[v]; i++)
        CR_TRY(cri_store_append(cx, part, json_real(m->cuts[v][i])));
done:
    return st;
}

cr_status cri_bn_write_layout(cr_ctx *cx, cri_bn *m)
{
    cr_status st = CR_OK;
    json_t   *list = json_array(), *root = json_object();
    size_t    flags = JSON_COMPACT | JSON_REAL_PRECISION(17), size = 0;
    char     *text = NULL;
    CR_TRY(cri_store_set(cx, root, "variables", list));
    for (size_t v = 0; v < cr_network_size(m->net); v++) CR_TRY(write_variable(cx, m, v, list));
    size = json_dumpb(root, NULL, 0, flags);
    text = cr_alloc(cx, size, 1);
    if (!text) CR_TRY(CR_ENOMEM);
    if (json_dumpb(root, text, size, flags) != size)
        CR_TRY(cr_fail(cx, CR_ENOMEM, "out of memory for the layout of a network"));
    cri_string_free(cx, m->layout);
    m->layout = cri_string_copy_n(cx, text, size);
    if (!m->layout) CR_TRY(CR_ENOMEM);
done:
    cr_free(cx, text, size, 1);
    json_decref(root);
    return st;
}

/* --- reading ---------------------------------------------------------------------------------- */

static cr_status read_states(cri_json *d, cr_scratch *s, const json_t *one, cri_bn *m)
{
    cr_status    st = CR_OK;
    json_t      *name, *states;
    const char  *text;
    const char **names;
    CR_TRY(cri_json_is_object(d, one, "a variable"));
    CR_TRY(cri_json_member(d, one, "name", &name));
    CR_TRY(cri_json_text(d, name, "the name of a variable", &text));
    CR_TRY(cri_json_member(d, one, "states", &states));
    CR_TRY(cri_json_is_array(d, states, "a list of states"));
    names = cr_scratch_bytes(s, json_array_size(states) + 1, sizeof *names);
    CR_TRY(s->status);
    if (json_array_size(states) == 0 || json_array_size(states) >= CRI_MOST_LEVELS)
        CR_TRY(cri_json_fail(d, states, "expected some states"));
    for (size_t i = 0; i < json_array_size(states); i++)
        CR_TRY(cri_json_text(d, json_array_get(states, i), "the name of a state", &names[i]));
    CR_TRY(cr_network_add_variable(d->cx, m->net, text, json_array_size(states), names, NULL));
done:
    return st;
}

static cr_status read_parents(cri_json *d, cr_scratch *s, const json_t *one, size_t v, cri_bn *m)
{
    cr_status st = CR_OK;
    json_t   *list;
    size_t   *parents, n;
    CR_TRY(cri_json_member(d, one, "parents", &list));
    CR_TRY(cri_json_is_array(d, list, "a list of parents"));
    n = json_array_size(list);
    parents = cr_scratch_index(s, n);
    CR_TRY(s->status);
    for (size_t i = 0; i < n; i++) {
        const json_t *x = json_array_get(list, i);
        json_int_t    p = json_integer_value(x);
        if (!json_is_integer(x) || p < 0 || (size_t)p >= cr_network_size(m->net))
            CR_TRY(cri_json_fail(d, x, "expected the number of a variable"));
        parents[i] = (size_t)p;
    }
    CR_TRY(cri_network_set_scope(d->cx, m->net, v, n, parents));
done:
    return st;
}

static cr_status read_cuts(cri_json *d, const json_t *one, size_t v, cri_bn *m)
{
    cr_status st = CR_OK;
    json_t   *list = json_object_get(one, "cuts");
    size_t    n = json_array_size(list);
    if (!list) return CR_OK;
    CR_TRY(cri_json_is_array(d, list, "a list of cuts"));
    if (n == 0 || n + 1 != cr_network_states(m->net, v))
        CR_TRY(cri_json_fail(d, list, "expected a cut between each two states"));
    m->cuts[v] = cr_alloc(d->cx, n, sizeof *m->cuts[v]);
    if (!m->cuts[v]) CR_TRY(CR_ENOMEM);
    m->n_cuts[v] = n;
    for (size_t i = 0; i < n; i++) {
        CR_TRY(cri_json_real(d, json_array_get(list, i), "a cut", &m->cuts[v][i]));
        if (i > 0 && !(m->cuts[v][i] > m->cuts[v][i - 1]))
            CR_TRY(cri_json_fail(d, list, "expected rising cuts"));
    }
done:
    return st;
}

cr_status cri_bn_read_layout(cr_ctx *cx, cri_bn *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_json   d = { 0 };
    json_t    *list;
    size_t     n;
    CR_TRY(cri_json_open(cx, "the network in it", m->layout, strlen(m->layout), &d));
    CR_TRY(cri_json_member(&d, d.root, "variables", &list));
    CR_TRY(cri_json_is_array(&d, list, "a list of variables"));
    n = json_array_size(list);
    CR_TRY(cr_network_new(cx, CR_NETWORK_BAYES, &m->net));
    m->cuts = cr_alloc(cx, n, sizeof *m->cuts);
    m->n_cuts = cr_alloc(cx, n, sizeof *m->n_cuts);
    m->variables = n;
    if (!m->cuts || !m->n_cuts) CR_TRY(CR_ENOMEM);
    for (size_t v = 0; v < n; v++) CR_TRY(read_states(&d, &s, json_array_get(list, v), m));
    for (size_t v = 0; v < n; v++) {
        CR_TRY(read_parents(&d, &s, json_array_get(list, v), v, m));
        CR_TRY(read_cuts(&d, json_array_get(list, v), v, m));
    }
    CR_TRY(cri_bn_place_tables(cx, m));
done:
    cri_json_close(&d);
    cr_scratch_end(&s);
    return st;
}

/* --- remarks ---------------------------------------------------------------------------------- */

cr_status cri_bn_remark_arcs(cr_ctx *cx, cri_bn *m)
{
    cr_status st = CR_OK;
    size_t    arc = 0;
    for (size_t v = 0; v < cr_network_size(m->net); v++) {
        size_t        n;
        const size_t *parents = cr_network_parents(m->net, v, &n);
        for (size_t i = 0; i < n; i++, arc++) {
            if (isnan(m->strength[arc])) continue;
            const char *parent = cr_variable_name(cr_network_variables(m->net), parents[i]);
            bool        sure = m->direction[arc] > 0.9995;
            char *text = sure ? cri_string_format(cx, "arc from %s: %.3g", parent, m->strength[arc])
                              : cri_string_format(cx, "arc from %s: %.3g (%.3g)", parent,
                                                  m->strength[arc], m->direction[arc]);
            st = text ? cr_network_add_property(cx, m->net, v, text) : CR_ENOMEM;
            cri_string_free(cx, text);
            CR_TRY(st);
        }
    }
done:
    return st;
}

/* --- tables ----------------------------------------------------------------------------------- */

static double entries_of(const cr_network *net, size_t v)
{
    size_t        n;
    const size_t *parents = cr_network_parents(net, v, &n);
    double        size = (double)cr_network_states(net, v);
    for (size_t i = 0; i < n; i++) size *= (double)cr_network_states(net, parents[i]);
    return size;
}

cr_status cri_bn_place_tables(cr_ctx *cx, cri_bn *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = cr_network_size(m->net), size = 0;
    size_t    *order = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    CR_TRY(cr_network_order(cx, m->net, order)); /* there is no cycle */
    m->at = cr_resize(cx, m->at, m->at ? m->variables : 0, m->variables, sizeof *m->at);
    if (!m->at) CR_TRY(CR_ENOMEM);
    for (size_t v = 0; v < n; v++) {
        double entries = entries_of(m->net, v);
        if (((double)size + entries) * 4 * sizeof(double) > (double)cri_memory_left(cx))
            CR_TRY(
                cr_fail(cx, CR_ENOMEM,
                        "the tables of the network do not fit into memory: that of '%s' alone has "
                        "%.3g entries",
                        cr_variable_name(cr_network_variables(m->net), v), entries));
        m->at[v] = size;
        size += (size_t)entries;
    }
    m->size = size;
done:
    cr_scratch_end(&s);
    return st;
}
