/* gaussian_store.c -- a linear-Gaussian network to and from the store of model files. */
#include "network_store.h"
#include "data/store/store.h"
#include "base/scratch.h"

#include <string.h>

/* Numbers of variable v: intercept, variance, weights. */
static size_t count_numbers(const cr_gaussian_network *net)
{
    size_t n = 0;
    for (size_t v = 0; v < cr_gaussian_network_size(net); v++)
        n += 2 + cr_gaussian_network_node(net, v).n;
    return n;
}

static cr_status write_variable(cr_ctx *cx, const cr_gaussian_network *net, size_t v, json_t *out,
                                double **at)
{
    cr_status        st = CR_OK;
    cr_gaussian_node x = cr_gaussian_network_node(net, v);
    json_t          *one = json_object(), *parents = NULL;
    CR_TRY(cri_store_append(cx, out, one));
    CR_TRY(
        cri_store_set_text(cx, one, "name", cr_variable_name(cr_gaussian_network_names(net), v)));
    CR_TRY(cri_store_set(cx, one, "parents", parents = json_array()));
    *(*at)++ = x.intercept;
    *(*at)++ = x.variance;
    for (size_t i = 0; i < x.n; i++) {
        CR_TRY(cri_store_append(cx, parents, json_integer((json_int_t)x.parents[i])));
        *(*at)++ = x.weights[i];
    }
done:
    return st;
}

cr_status cri_gaussian_save(cr_ctx *cx, const cr_gaussian_network *net, const char *path)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_store *store = NULL;
    json_t    *root, *top, *list;
    size_t     size = count_numbers(net);
    double    *all = cr_scratch_f64(&s, size), *at = all;
    CR_TRY(s.status);
    CR_TRY(cri_store_new(cx, &store));
    root = cri_store_json(store);
    CR_TRY(cri_store_set(cx, root, "format", json_integer(1)));
    CR_TRY(cri_store_set(cx, root, "program", json_string("credence " CREDENCE_VERSION)));
    CR_TRY(cri_store_set(cx, root, "model", json_string("network")));
    CR_TRY(cri_store_set(cx, root, "network", top = json_object()));
    CR_TRY(cri_store_set(cx, top, "kind", json_string("gaussian")));
    CR_TRY(cri_store_set_text(cx, top, "name", cr_gaussian_network_name(net)));
    CR_TRY(cri_store_set(cx, top, "variables", list = json_array()));
    for (size_t v = 0; v < cr_gaussian_network_size(net); v++)
        CR_TRY(write_variable(cx, net, v, list, &at));
    CR_TRY(cri_store_put_vector(cx, store, "numbers", all, size));
    CR_TRY(cri_store_save(cx, store, path));
done:
    cri_store_free(cx, store);
    cr_scratch_end(&s);
    return st;
}

/* --- loading --------------------------------------------------------------------------------- */

static cr_status damaged(cr_ctx *cx, const cri_store *s, const char *what)
{
    return cr_fail(cx, CR_EDATA, "%s: %s of the network is not valid", cri_store_source(s), what);
}

/* One variable; at, left: its numbers. */
static cr_status read_variable(cr_ctx *cx, const cri_store *s, const json_t *one,
                               cr_gaussian_network *net, const double **at, size_t *left)
{
    cr_status   st = CR_OK;
    cr_scratch  arena = cr_scratch_begin(cx);
    const char *name;
    json_t     *list, *item;
    size_t      i, n;
    CR_TRY(cri_store_get_text(cx, s, one, "name", &name));
    CR_TRY(cri_store_get_array(cx, s, one, "parents", &list));
    n = json_array_size(list);
    if (*left < 2 || n > *left - 2) CR_TRY(damaged(cx, s, "a number"));
    size_t *parents = cr_scratch_index(&arena, n);
    CR_TRY(arena.status);
    json_array_foreach(list, i, item)
    {
        json_int_t v = json_is_integer(item) ? json_integer_value(item) : -1;
        if (v < 0 || (size_t)v >= cr_gaussian_network_size(net)) CR_TRY(damaged(cx, s, "a parent"));
        parents[i] = (size_t)v;
    }
    CR_TRY(cr_gaussian_network_add(cx, net, name, n, parents, *at + 2, (*at)[0], (*at)[1], NULL));
    *at += 2 + n;
    *left -= 2 + n;
done:
    cr_scratch_end(&arena);
    return st;
}

static cr_status store_to_gaussian(cr_ctx *cx, const cri_store *s, const json_t *top,
                                   cr_gaussian_network **out_net)
{
    cr_status            st = CR_OK;
    cr_gaussian_network *net = NULL;
    json_t              *list, *one, *parents;
    const char          *name;
    double              *all = NULL;
    size_t               i, size = 0, left;
    CR_TRY(cri_store_get_text(cx, s, top, "name", &name));
    CR_TRY(cri_store_get_array(cx, s, top, "variables", &list));
    json_array_foreach(list, i, one)
    {
        CR_TRY(cri_store_get_array(cx, s, one, "parents", &parents));
        size += 2 + json_array_size(parents);
    }
    CR_TRY(cri_store_get_vector(cx, s, "numbers", size, &all));
    CR_TRY(cr_gaussian_network_new(cx, &net));
    CR_TRY(cr_gaussian_network_set_name(cx, net, name));
    const double *at = all;
    left = size;
    json_array_foreach(list, i, one) CR_TRY(read_variable(cx, s, one, net, &at, &left));
    *out_net = net;
    net = NULL;
done:
    cr_free(cx, all, size, sizeof *all);
    cr_gaussian_network_free(cx, net);
    return st;
}

cr_status cri_gaussian_from_bytes(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                                  cr_gaussian_network **out_net)
{
    cr_status            st = CR_OK;
    cri_store           *store = NULL;
    cr_gaussian_network *net = NULL;
    CR_TRY(cri_store_from_bytes(cx, source, bytes, size, &store));
    const json_t *top = json_object_get(cri_store_json(store), "network");
    const char   *kind = json_string_value(json_object_get(top, "kind"));
    if (kind && strcmp(kind, "gaussian") == 0) CR_TRY(store_to_gaussian(cx, store, top, &net));
    *out_net = net;
done:
    cri_store_free(cx, store);
    return st;
}
