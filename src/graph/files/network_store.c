/* network_store.c -- a network to and from the store of model files. */
#include "network_store.h"
#include "json_internal.h"
#include "graph/network/noisy.h"
#include "data/store/store.h"
#include "base/scratch.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* --- saving ---------------------------------------------------------------------------------- */

/* Appends to an array; a NULL value is a text that is not UTF-8, or memory that ran out. */
static cr_status append(cr_ctx *cx, json_t *array, json_t *value)
{
    if (!value || json_array_append_new(array, value) != 0)
        return cr_fail(cx, CR_EDATA, "the network has a name that is not UTF-8");
    return CR_OK;
}

static cr_status write_variables(cr_ctx *cx, const cr_variables *vs, json_t *out)
{
    cr_status st = CR_OK;
    for (size_t v = 0; v < cr_variables_count(vs); v++) {
        json_t *one = json_object(), *states;
        CR_TRY(append(cx, out, one));
        CR_TRY(cri_store_set_text(cx, one, "name", cr_variable_name(vs, v)));
        CR_TRY(cri_store_set(cx, one, "states", states = json_array()));
        for (size_t s = 0; s < cr_variable_states(vs, v); s++)
            CR_TRY(append(cx, states, json_string(cr_state_name(vs, v, s))));
    }
done:
    return st;
}

/* Numbers of the effects that stand in the place of table i; 0: it stands for itself. */
static size_t stored_effects(const cr_network *net, size_t i)
{
    return net->table[i].noisy.rows * net->table[i].noisy.levels;
}

static cr_status write_tables(cr_ctx *cx, const cr_network *net, cri_store *store, json_t *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     size = 0;
    double    *all;
    for (size_t i = 0; i < cr_network_tables(net); i++)
        size += stored_effects(net, i) ? stored_effects(net, i) : cr_network_table(net, i).size;
    all = cr_scratch_f64(&s, size);
    CR_TRY(s.status);
    size = 0;
    for (size_t i = 0; i < cr_network_tables(net); i++) {
        cr_table_view t = cr_network_table(net, i);
        json_t       *one = json_object(), *scope;
        CR_TRY(append(cx, out, one));
        CR_TRY(cri_store_set(cx, one, "scope", scope = json_array()));
        for (size_t k = 0; k < t.n; k++)
            CR_TRY(append(cx, scope, json_integer((json_int_t)t.scope[k])));
        CR_TRY(cri_store_set(cx, one, "kind", json_string(cri_cpd_name(t.kind))));
        if (t.source)
            CR_TRY(
                cri_store_set(cx, one, "parameters", json_loads(t.source, JSON_DECODE_ANY, NULL)));
        size_t effects = stored_effects(net, i);
        if (effects > 0) {
            const cri_noisy *x = &net->table[i].noisy;
            CR_TRY(cri_store_set(cx, one, "effects", json_integer((json_int_t)x->rows)));
            CR_TRY(cri_store_set(cx, one, "falling", json_boolean(x->falling)));
        }
        memcpy(all + size, effects ? net->table[i].noisy.effect : t.value,
               (effects ? effects : t.size) * sizeof *all);
        size += effects ? effects : t.size;
    }
    CR_TRY(cri_store_put_vector(cx, store, "tables", all, size));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status write_properties(cr_ctx *cx, const cr_network *net, json_t *out)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < cr_network_properties(net); i++) {
        size_t      v;
        const char *text = cr_network_property(net, i, &v);
        json_t     *one = json_object();
        CR_TRY(append(cx, out, one));
        if (v != CR_NONE) CR_TRY(cri_store_set(cx, one, "variable", json_integer((json_int_t)v)));
        CR_TRY(cri_store_set_text(cx, one, "text", text));
    }
done:
    return st;
}

static cr_status network_to_store(cr_ctx *cx, const cr_network *net, cri_store *store)
{
    cr_status st = CR_OK;
    json_t   *root = cri_store_json(store), *top, *part;
    bool      bayes = cr_network_get_kind(net) == CR_NETWORK_BAYES;
    CR_TRY(cri_store_set(cx, root, "format", json_integer(1)));
    CR_TRY(cri_store_set(cx, root, "program", json_string("credence " CREDENCE_VERSION)));
    CR_TRY(cri_store_set(cx, root, "model", json_string("network")));
    CR_TRY(cri_store_set(cx, root, "network", top = json_object()));
    CR_TRY(cri_store_set(cx, top, "kind", json_string(bayes ? "bayes" : "markov")));
    CR_TRY(cri_store_set_text(cx, top, "name", cr_network_name(net)));
    CR_TRY(cri_store_set(cx, top, "variables", part = json_array()));
    CR_TRY(write_variables(cx, cr_network_variables(net), part));
    CR_TRY(cri_store_set(cx, top, "tables", part = json_array()));
    CR_TRY(write_tables(cx, net, store, part));
    CR_TRY(cri_store_set(cx, top, "properties", part = json_array()));
    CR_TRY(write_properties(cx, net, part));
done:
    return st;
}

cr_status cri_network_save(cr_ctx *cx, const cr_network *net, const char *path)
{
    cr_status  st = CR_OK;
    cri_store *store = NULL;
    CR_TRY(cr_network_check(cx, net));
    CR_TRY(cri_store_new(cx, &store));
    CR_TRY(network_to_store(cx, net, store));
    CR_TRY(cri_store_save(cx, store, path));
done:
    cri_store_free(cx, store);
    return st;
}

/* --- loading --------------------------------------------------------------------------------- */

static cr_status damaged(cr_ctx *cx, const cri_store *s, const char *what)
{
    return cr_fail(cx, CR_EDATA, "%s: %s of the network is not valid", cri_store_source(s), what);
}

static cr_status read_variables(cr_ctx *cx, const cri_store *s, const json_t *list, cr_network *net)
{
    cr_status    st = CR_OK;
    size_t       i, k, n = 0;
    json_t      *one, *states, *state;
    const char **names = NULL, *name;
    json_array_foreach((json_t *)(uintptr_t)list, i, one)
    {
        CR_TRY(cri_store_get_text(cx, s, one, "name", &name));
        CR_TRY(cri_store_get_array(cx, s, one, "states", &states));
        cr_free(cx, names, n, sizeof *names);
        n = json_array_size(states);
        names = cr_alloc(cx, n, sizeof *names);
        if (!names) CR_TRY(CR_ENOMEM);
        json_array_foreach(states, k, state)
        {
            names[k] = json_string_value(state);
            if (!names[k]) CR_TRY(damaged(cx, s, "a state"));
        }
        CR_TRY(cr_network_add_variable(cx, net, name, n, names, NULL));
    }
done:
    cr_free(cx, names, n, sizeof *names);
    return st;
}

/* How many numbers the effects of a variable over this scope have: a row for the leak, and one for
 * each state of each parent. */
static cr_status read_effects_size(cr_ctx *cx, const cri_store *s, const json_t *one,
                                   const cr_network *net, const size_t *scope, size_t n,
                                   double *out_size)
{
    cr_status st = CR_OK;
    size_t    rows = 0, right = 1;
    CR_TRY(cri_store_get_count(cx, s, one, "effects", &rows));
    for (size_t k = 0; k + 1 < n; k++) right += cr_network_states(net, scope[k]);
    if (n == 0 || rows != right || cr_network_get_kind(net) != CR_NETWORK_BAYES)
        CR_TRY(damaged(cx, s, "a table"));
    *out_size = (double)rows * (double)cr_network_states(net, scope[n - 1]);
done:
    return st;
}

/* Scope i as numbers; *out_size: the numbers that are stored for it. */
static cr_status read_scope(cr_ctx *cx, const cri_store *s, const json_t *one,
                            const cr_network *net, size_t *scope, size_t *out_n, double *out_size)
{
    cr_status st = CR_OK;
    json_t   *list, *item;
    size_t    k;
    CR_TRY(cri_store_get_array(cx, s, one, "scope", &list));
    *out_n = json_array_size(list);
    *out_size = 1;
    if (*out_n > cr_network_size(net)) CR_TRY(damaged(cx, s, "a scope"));
    json_array_foreach(list, k, item)
    {
        json_int_t v = json_is_integer(item) ? json_integer_value(item) : -1;
        if (v < 0 || (size_t)v >= cr_network_size(net)) CR_TRY(damaged(cx, s, "a scope"));
        scope[k] = (size_t)v;
        *out_size *= (double)cr_network_states(net, (size_t)v);
    }
    if (json_object_get(one, "effects"))
        CR_TRY(read_effects_size(cx, s, one, net, scope, *out_n, out_size));
done:
    return st;
}

static cr_cpd_kind read_kind(const json_t *one)
{
    const char *kind = json_string_value(json_object_get(one, "kind"));
    for (cr_cpd_kind k = CR_CPD_TABLE; kind && k <= CR_CPD_LOG_LINEAR; k++)
        if (strcmp(kind, cri_cpd_name(k)) == 0) return k;
    return CR_CPD_TABLE;
}

static cr_status set_table(cr_ctx *cx, const cri_store *s, cr_network *net, size_t n,
                           const size_t *scope, const double *values, cr_cpd_kind kind)
{
    if (cr_network_get_kind(net) == CR_NETWORK_MARKOV)
        return cr_network_add_table_kind(cx, net, n, scope, values, kind);
    if (n == 0 || cr_network_table(net, scope[n - 1]).kind != CR_CPD_NONE)
        return damaged(cx, s, "a scope");
    cr_status st = cr_network_set_parents(cx, net, scope[n - 1], n - 1, scope);
    return st == CR_OK ? cr_network_set_table_kind(cx, net, scope[n - 1], values, kind) : st;
}

/* A noisy-or or noisy-max from its effects; the numbers are those of a file. */
static cr_status set_effects(cr_ctx *cx, const cri_store *s, cr_network *net, size_t n,
                             const size_t *scope, const json_t *one, const double *values)
{
    cr_status   st = CR_OK;
    size_t      v = scope[n - 1], levels = cr_network_states(net, v);
    cri_noisy   x = { .levels = levels, .falling = json_is_true(json_object_get(one, "falling")) };
    cri_noisy   file = x;
    cr_cpd_kind kind = read_kind(one);
    CR_TRY(cri_store_get_count(cx, s, one, "effects", &file.rows));
    for (size_t row = 0; row < file.rows; row++) {
        double sum = 0;
        for (size_t k = 0; k < levels; k++)
            sum += values[row * levels + k] >= 0 ? values[row * levels + k] : NAN;
        if (!(fabs(sum - 1) < 1e-6)) CR_TRY(damaged(cx, s, "a table"));
    }
    bool strengths = kind == CR_CPD_NOISY_OR && levels == 2; /* of one state of each parent */
    for (size_t k = 0; strengths && k + 1 < n; k++)
        strengths = cr_network_states(net, scope[k]) == 2 &&
                    (values[3 + 4 * k] == 0 || values[5 + 4 * k] == 0);
    if (cr_network_table(net, v).kind != CR_CPD_NONE || (!strengths && kind != CR_CPD_NOISY_MAX))
        CR_TRY(damaged(cx, s, "a table"));
    CR_TRY(cr_network_set_parents(cx, net, v, n - 1, scope));
    file.effect = (double *)(uintptr_t)values;
    CR_TRY(cri_noisy_copy(cx, &file, &x));
    CR_TRY(cri_noisy_set(cx, net, v, &x, kind));
done:
    return st;
}

/* What the table over this scope was made from, if the file says so. */
static cr_status read_parameters(cr_ctx *cx, const json_t *one, cr_network *net,
                                 const size_t *scope, size_t n)
{
    bool    bayes = cr_network_get_kind(net) == CR_NETWORK_BAYES;
    json_t *parameters = json_object_get(one, "parameters");
    if (!parameters) return CR_OK;
    return cri_network_keep(cx, net, bayes ? scope[n - 1] : cr_network_tables(net) - 1, parameters);
}

static cr_status read_tables(cr_ctx *cx, const cri_store *s, const json_t *list, cr_network *net)
{
    cr_status  st = CR_OK;
    cr_scratch arena = cr_scratch_begin(cx);
    size_t    *scope = cr_scratch_index(&arena, cr_network_size(net)), i, n = 0, total = 0;
    double    *all = NULL, size, sum = 0;
    json_t    *one;
    CR_TRY(arena.status);
    json_array_foreach((json_t *)(uintptr_t)list, i, one)
    {
        CR_TRY(read_scope(cx, s, one, net, scope, &n, &size));
        sum += size;
    }
    if (sum > 1e15) CR_TRY(damaged(cx, s, "a table"));
    total = (size_t)sum;
    CR_TRY(cri_store_get_vector(cx, s, "tables", total, &all));
    sum = 0;
    json_array_foreach((json_t *)(uintptr_t)list, i, one)
    {
        CR_TRY(read_scope(cx, s, one, net, scope, &n, &size));
        const double *values = all + (size_t)sum;
        CR_TRY(json_object_get(one, "effects")
                   ? set_effects(cx, s, net, n, scope, one, values)
                   : set_table(cx, s, net, n, scope, values, read_kind(one)));
        CR_TRY(read_parameters(cx, one, net, scope, n));
        sum += size;
    }
done:
    cr_free(cx, all, total, sizeof *all);
    cr_scratch_end(&arena);
    return st;
}

static cr_status read_properties(cr_ctx *cx, const cri_store *s, const json_t *list,
                                 cr_network *net)
{
    cr_status   st = CR_OK;
    size_t      i, v;
    json_t     *one;
    const char *text;
    json_array_foreach((json_t *)(uintptr_t)list, i, one)
    {
        v = CR_NONE;
        CR_TRY(cri_store_get_text(cx, s, one, "text", &text));
        if (json_object_get(one, "variable"))
            CR_TRY(cri_store_get_count(cx, s, one, "variable", &v));
        if (v != CR_NONE && v >= cr_network_size(net)) CR_TRY(damaged(cx, s, "a remark"));
        CR_TRY(cr_network_add_property(cx, net, v, text));
    }
done:
    return st;
}

static cr_status store_to_network(cr_ctx *cx, const cri_store *s, cr_network **out_net)
{
    cr_status   st = CR_OK;
    cr_network *net = NULL;
    json_t     *top, *part;
    const char *model, *kind, *name;
    CR_TRY(cri_store_get_text(cx, s, cri_store_json(s), "model", &model));
    if (strcmp(model, "network") != 0)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s is a model (%.100s), not a network", cri_store_source(s),
                       model));
    CR_TRY(cri_store_get_object(cx, s, cri_store_json(s), "network", &top));
    CR_TRY(cri_store_get_text(cx, s, top, "kind", &kind));
    if (strcmp(kind, "gaussian") == 0)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s is a Gaussian network, without states and tables",
                       cri_store_source(s)));
    CR_TRY(cri_store_get_text(cx, s, top, "name", &name));
    CR_TRY(cr_network_new(cx, strcmp(kind, "markov") == 0 ? CR_NETWORK_MARKOV : CR_NETWORK_BAYES,
                          &net));
    CR_TRY(cr_network_set_name(cx, net, name));
    CR_TRY(cri_store_get_array(cx, s, top, "variables", &part));
    CR_TRY(read_variables(cx, s, part, net));
    CR_TRY(cri_store_get_array(cx, s, top, "tables", &part));
    CR_TRY(read_tables(cx, s, part, net));
    CR_TRY(cri_store_get_array(cx, s, top, "properties", &part));
    CR_TRY(read_properties(cx, s, part, net));
    CR_TRY(cr_network_check(cx, net));
    *out_net = net;
    net = NULL;
done:
    cr_network_free(cx, net);
    return st;
}

cr_status cri_network_from_bytes(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                                 cr_network **out_net)
{
    cri_store *store = NULL;
    cr_status  st = cri_store_from_bytes(cx, source, bytes, size, &store);
    if (st == CR_OK) st = store_to_network(cx, store, out_net);
    cri_store_free(cx, store);
    return st;
}
