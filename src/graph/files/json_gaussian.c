/* json_gaussian.c -- linear-Gaussian networks as JSON. */
#include "json_internal.h"
#include "json_write.h"

#include <math.h>
#include <string.h>

/* A variable of the file that waits for its parents. */
typedef struct waiting {
    const char *name;
    json_t     *one, *weights;
    double      intercept, variance;
    size_t      parents;
    bool        added;
} waiting;

static cr_status read_node(const cri_json *d, waiting *w)
{
    static const char *const OUTER[] = { "linear-gaussian", NULL };
    static const char *const KEYS[] = { "intercept", "weights", "variance", NULL };
    cr_status                st = CR_OK;
    json_t                  *inner, *value;
    CR_TRY(cri_json_is_object(d, w->one, "an object with \"linear-gaussian\""));
    if (json_object_get(w->one, "states")) {
        cri_json_fail_key(d, w->one, "states",
                          "'%s' has states in a Gaussian network: the two cannot be mixed",
                          w->name);
        CR_TRY(cr_fail_hint(d->cx, "variables with states belong in a network \"bayes\""));
    }
    CR_TRY(cri_json_keys(d, w->one, OUTER));
    CR_TRY(cri_json_member(d, w->one, "linear-gaussian", &inner));
    CR_TRY(cri_json_is_object(d, inner, "an object with intercept, weights and variance"));
    CR_TRY(cri_json_keys(d, inner, KEYS));
    if ((value = json_object_get(inner, "intercept")))
        CR_TRY(cri_json_real(d, value, "the intercept", &w->intercept));
    CR_TRY(cri_json_member(d, inner, "variance", &value));
    CR_TRY(cri_json_real_in(d, value, "the variance", 0, HUGE_VAL, &w->variance));
    w->weights = json_object_get(inner, "weights");
    if (w->weights) CR_TRY(cri_json_is_object(d, w->weights, "an object from parents to weights"));
    w->parents = json_object_size(w->weights);
done:
    return st;
}

static cr_status add_node(const cri_json *d, cr_gaussian_network *net, waiting *w)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(d->cx);
    size_t     *parent = cr_scratch_index(&s, w->parents), i = 0;
    double     *weight = cr_scratch_f64(&s, w->parents);
    const char *name;
    json_t     *item;
    CR_TRY(s.status);
    json_object_foreach(w->weights, name, item)
    {
        CR_TRY(cri_json_real(d, item, "a weight", &weight[i]));
        CR_TRY(cr_gaussian_network_find(d->cx, net, name, &parent[i++]));
    }
    CR_TRY(cri_json_place(d, w->one,
                          cr_gaussian_network_add(d->cx, net, w->name, w->parents, parent, weight,
                                                  w->intercept, w->variance, NULL)));
    w->added = true;
done:
    cr_scratch_end(&s);
    return st;
}

/* Are all parents of w in the network? */
static bool is_ready(const cr_gaussian_network *net, const waiting *w)
{
    const char *name;
    json_t     *item;
    json_object_foreach(w->weights, name,
                        item) if (cr_variable_lookup(cr_gaussian_network_names(net), name) ==
                                  CR_NONE) return false;
    return true;
}

static const char *name_of_key(const void *user, size_t i)
{
    const waiting *list = user;
    return list[i].name;
}

/* Every parent is a variable of the file; none is its own. */
static cr_status check_parents(const cri_json *d, json_t *variables, size_t n, const waiting *list)
{
    const char *name;
    json_t     *item;
    for (size_t v = 0; v < n; v++) json_object_foreach(list[v].weights, name, item)
        {
            if (strcmp(name, list[v].name) == 0)
                return cri_json_fail_key(d, list[v].weights, name,
                                         "variable '%s' is its own parent", name);
            if (json_object_get(variables, name)) continue;
            cri_json_fail_key(d, list[v].weights, name, "there is no variable '%s'", name);
            return cr_fail_nearest(d->cx, name, "variables", n, name_of_key, list);
        }
    return CR_OK;
}

/* Adds what is ready until all are there; what remains then is on a cycle or below one. */
static cr_status add_all(const cri_json *d, cr_gaussian_network *net, size_t n, waiting *list)
{
    cr_status st = CR_OK;
    size_t    left = n, before = n + 1;
    while (left > 0 && left < before) {
        before = left;
        for (size_t v = 0; v < n; v++) {
            if (list[v].added || !is_ready(net, &list[v])) continue;
            CR_TRY(add_node(d, net, &list[v]));
            left--;
        }
    }
    for (size_t v = 0; left > 0 && v < n; v++)
        if (!list[v].added)
            CR_TRY(cri_json_fail(
                d, list[v].one, "'%s' depends on itself through a cycle of parents", list[v].name));
done:
    return st;
}

static cr_status read_gaussian(const cri_json *d, cr_gaussian_network *net)
{
    static const char *const KEYS[] = { "network", "name", "variables", NULL };
    cr_status                st = CR_OK;
    cr_scratch               s = cr_scratch_begin(d->cx);
    json_t                  *variables, *kind, *item;
    const char              *name;
    size_t                   n = 0;
    CR_TRY(cri_json_member(d, d->root, "network", &kind));
    if (!json_is_string(kind) || strcmp(json_string_value(kind), "gaussian") != 0)
        CR_TRY(cri_json_fail(d, kind, "a Gaussian network is needed here: \"gaussian\""));
    CR_TRY(cri_json_keys(d, d->root, KEYS));
    if ((item = json_object_get(d->root, "name"))) {
        CR_TRY(cri_json_text(d, item, "the name of the network", &name));
        CR_TRY(cr_gaussian_network_set_name(d->cx, net, name));
    }
    CR_TRY(cri_json_member(d, d->root, "variables", &variables));
    CR_TRY(cri_json_is_object(d, variables, "an object of variables"));
    waiting *list = cr_scratch_bytes(&s, json_object_size(variables), sizeof *list);
    CR_TRY(s.status);
    json_object_foreach(variables, name, item)
    {
        list[n].name = name;
        list[n].one = item;
        CR_TRY(read_node(d, &list[n++]));
    }
    if (n == 0) CR_TRY(cri_json_fail(d, variables, "there are no variables in the network"));
    CR_TRY(check_parents(d, variables, n, list));
    CR_TRY(add_all(d, net, n, list));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_json_parse_gaussian(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                                 cr_gaussian_network **out_net)
{
    cri_json             d;
    cr_gaussian_network *net = NULL;
    cr_status            st = cri_json_open(cx, source, bytes, size, &d);
    if (st != CR_OK) return st;
    st = cr_gaussian_network_new(cx, &net);
    if (st == CR_OK) st = read_gaussian(&d, net);
    if (st == CR_OK) {
        *out_net = net;
        net = NULL;
    }
    cr_gaussian_network_free(cx, net);
    cri_json_close(&d);
    return st;
}

cr_status cr_json_write_gaussian(cr_ctx *cx, const cr_gaussian_network *net, const char *path)
{
    cri_writer          w = { 0 };
    const cr_variables *vs = cr_gaussian_network_names(net);
    cr_status           st = cri_json_check_names(cx, vs);
    if (st == CR_OK) st = cri_packed_create(cx, path, &w.file);
    if (st != CR_OK) return st;
    cri_put(&w, "{\n  \"network\": \"gaussian\"");
    if (cr_gaussian_network_name(net)[0]) {
        cri_put(&w, ",\n  \"name\": ");
        cri_put_json_text(&w, cr_gaussian_network_name(net));
    }
    cri_put(&w, ",\n  \"variables\": {");
    for (size_t v = 0; v < cr_gaussian_network_size(net); v++) {
        cr_gaussian_node x = cr_gaussian_network_node(net, v);
        cri_put(&w, v ? ",\n    " : "\n    ");
        cri_put_json_text(&w, cr_variable_name(vs, v));
        cri_put(&w, ": {\"linear-gaussian\": {\"intercept\": ");
        cri_put_number(&w, x.intercept);
        if (x.n > 0) cri_put(&w, ", \"weights\": {");
        for (size_t i = 0; i < x.n; i++) {
            if (i) cri_put(&w, ", ");
            cri_put_json_text(&w, cr_variable_name(vs, x.parents[i]));
            cri_put(&w, ": ");
            cri_put_number(&w, x.weights[i]);
        }
        cri_put(&w, x.n > 0 ? "}, \"variance\": " : ", \"variance\": ");
        cri_put_number(&w, x.variance);
        cri_put(&w, "}}");
    }
    cri_put(&w, "\n  }\n}\n");
    return cri_writer_close(&w);
}
