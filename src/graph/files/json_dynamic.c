/* json_dynamic.c -- networks of two slices from JSON and to it: each slice is read and written as the
 * network that it is, under names that say which slice a parent is in. */
#include "json_dynamic.h"
#include "json_internal.h"
#include "json_plates.h"
#include "json_write.h"
#include "graph/network/network_internal.h"
#include "base/bytes.h"

#include <string.h>

/* --- reading --------------------------------------------------------------------------------- */

static cr_status read_slices(const cri_json *d)
{
    json_t *value = json_object_get(d->root, "slices");
    if (json_is_integer(value) && json_integer_value(value) == 2) return CR_OK;
    cri_json_fail(d, value, "a network repeats by two slices: \"slices\" should be 2");
    return cr_fail_hint(d->cx, "leave it out of a network that does not repeat");
}

/* A bracket in a name is a place in time, or in plates. */
static cr_status check_names(const cri_json *d, json_t *list)
{
    const char *name;
    json_t     *one;
    json_object_foreach(list, name, one) if (
        strpbrk(name, "[]") &&
        !cri_json_is_repeated(
            name)) return cri_json_fail_key(d, list, name,
                                            "a name in a network with slices cannot contain "
                                            "brackets, but for its place in plates");
    return CR_OK;
}

/* Is this "x[-1]"? */
static bool is_before(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, "[-1]") == 0 &&
           (strcspn(name, "[") == n - 4 || name[n - 5] == ']');
}

/* Parents of the first slice are in it; others may be in the slice before. */
static cr_status check_parents(const cri_json_network *first_net, json_t *definition, bool first,
                               bool *out_back)
{
    const cri_json *d = &first_net->d;
    json_t         *list = json_object_get(definition, "parents"), *item;
    size_t          i;
    *out_back = false;
    if (!json_is_array(list)) return CR_OK; /* what is wrong with it is said elsewhere */
    json_array_foreach(list, i, item)
    {
        const char *name = json_string_value(item);
        if (!name || !strchr(name, '[')) continue;
        if (cr_variable_lookup(cr_network_variables(first_net->net), name) != CR_NONE) continue;
        if (first) {
            cri_json_fail(d, item, "'%s' is in the slice before, which the first slice lacks",
                          name);
            return cr_fail_hint(d->cx, "\"initial\" has parents in the first slice itself");
        }
        if (!is_before(name)) {
            int n = (int)strcspn(name, "[");
            cri_json_fail(d, item, "'%s' is not in this slice or the one before", name);
            return cr_fail_hint(d->cx,
                                "\"%.*s[-1]\" is the slice before; to reach further back, add a "
                                "variable that copies it from slice to slice",
                                n, name);
        }
        *out_back = true;
    }
    return CR_OK;
}

/* What v depends on, in the first slice and in the others. */
static cr_status read_variable(cri_json_network *first, cri_json_network *next, size_t n, size_t v,
                               const char *name, json_t *one)
{
    static const char *const KEYS[] = { "states",   "parents",   "table", "deterministic",
                                        "noisy-or", "noisy-max", "tree",  "properties",
                                        "initial",  NULL };
    static const char *const INITIAL[] = { "parents",  "table",     "deterministic",
                                           "noisy-or", "noisy-max", "tree",
                                           NULL };
    cr_status                st = CR_OK;
    const cri_json          *d = &first->d;
    json_t                  *initial = json_object_get(one, "initial");
    bool                     back, none;
    CR_TRY(cri_json_keys(d, one, KEYS));
    CR_TRY(check_parents(first, one, false, &back));
    CR_TRY(cri_json_distribution(next, n + v, one));
    if (initial) {
        CR_TRY(cri_json_is_object(d, initial, "an object with the probabilities in slice 1"));
        CR_TRY(cri_json_keys(d, initial, INITIAL));
        CR_TRY(check_parents(first, initial, true, &none));
    } else if (back) {
        cri_json_fail(d, one, "'%s' depends on the slice before, but nothing says how it begins",
                      name);
        CR_TRY(cr_fail_hint(d->cx, "add its probabilities in slice 1: \"initial\": {\"table\": "
                                   "[...]}"));
    }
    CR_TRY(cri_json_distribution(first, v, initial ? initial : one));
    CR_TRY(cri_json_properties(first, one, v));
done:
    return st;
}

static cr_status read_network(cri_json_network *first, cri_json_network *next, cri_dynamic *net)
{
    static const char *const KEYS[] = { "network",    "name",      "slices", "plates",
                                        "properties", "variables", NULL };
    cr_status                st = CR_OK;
    const cri_json          *d = &first->d;
    const char              *name;
    json_t                  *list, *one, *before = NULL;
    bool                     bayes = true;
    size_t                   v = 0;
    CR_TRY(cri_json_kind(d, &bayes));
    if (!bayes)
        CR_TRY(cri_json_fail_key(d, d->root, "slices",
                                 "only Bayesian networks have slices, not Markov networks"));
    CR_TRY(read_slices(d));
    CR_TRY(cri_json_keys(d, d->root, KEYS));
    CR_TRY(cri_json_heading(first));
    CR_TRY(cri_json_member(d, d->root, "variables", &list));
    CR_TRY(cri_json_plates(&first->d, list, &list));
    next->d = first->d;
    CR_TRY(cri_json_variables(first, list, true));
    CR_TRY(check_names(d, list));
    if (cr_network_size(net->first) == 0)
        CR_TRY(cri_json_fail(d, list, "there are no variables in the network"));
    CR_TRY(cri_dynamic_add_slices(d->cx, net));
    json_object_foreach(list, name, one)
    {
        bool again = v > 0 && cri_json_origin(d, one) == cri_json_origin(d, before);
        net->like[v] = again ? net->like[v - 1] : v;
        CR_TRY(read_variable(first, next, net->n, v++, name, one));
        before = one;
    }
    CR_TRY(cri_json_place(d, list, cr_network_check(d->cx, net->first)));
    CR_TRY(cri_json_place(d, list, cr_network_check(d->cx, net->next)));
done:
    return st;
}

cr_status cri_json_parse_dynamic(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                                 cri_dynamic **out_net)
{
    cr_status        st = CR_OK;
    cri_dynamic     *net = NULL;
    cri_json_network first = { 0 }, next;
    CR_TRY(cri_json_open(cx, source, bytes, size, &first.d));
    CR_TRY(cri_dynamic_new(cx, &net));
    next = first;
    first.net = net->first;
    next.net = net->next;
    CR_TRY(read_network(&first, &next, net));
    *out_net = net;
    net = NULL;
done:
    cri_dynamic_free(cx, net);
    if (first.d.root) cri_json_close(&first.d);
    return st;
}

bool cri_json_is_dynamic(const void *bytes, size_t size)
{
    const char *p = bytes;
    size_t      skip = size >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    if (!cri_find_text(p, size, "\"slices\"")) return false; /* most are not: read them once */
    json_t *root = json_loadb(p + skip, size - skip, 0, NULL);
    bool    is = json_object_get(root, "slices") != NULL;
    json_decref(root);
    return is;
}

/* --- writing --------------------------------------------------------------------------------- */

static void put_variable(cri_writer *w, const cri_dynamic *net, size_t v)
{
    cri_put(w, "{");
    cri_put_json_states(w, cr_network_variables(net->first), v);
    if (!cri_dynamic_begins_alike(net, v)) {
        cri_put(w, "\n      \"initial\": {");
        cri_put_json_definition(w, net->first, v, 8);
        cri_put(w, "\n      },");
    }
    cri_put_json_definition(w, net->next, net->n + v, 6);
    cri_put_json_properties(w, net->first, v, 6);
    cri_put(w, "\n    }");
}

cr_status cri_json_write_dynamic(cr_ctx *cx, const cri_dynamic *net, const char *path)
{
    cri_writer w = { 0 };
    cr_status  st = cri_json_check_texts(cx, net->first);
    if (st == CR_OK) st = cri_packed_create(cx, path, &w.file);
    if (st != CR_OK) return st;
    cri_put(&w, "{\n  \"network\": \"bayes\"");
    cri_put_json_heading(&w, net->first);
    cri_put(&w, ",\n  \"slices\": 2,\n  \"variables\": {");
    for (size_t v = 0; v < net->n; v++) {
        cri_put(&w, v ? ",\n    " : "\n    ");
        cri_put_json_text(&w, cr_variable_name(cr_network_variables(net->first), v));
        cri_put(&w, ": ");
        put_variable(&w, net, v);
    }
    cri_put(&w, "\n  }\n}\n");
    return cri_writer_close(&w);
}
