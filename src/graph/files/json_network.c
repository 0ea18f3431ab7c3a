/* json_network.c -- the variables of a network in JSON, and what its readers share. */
#include "json_internal.h"
#include "graph/network/network_internal.h"
#include "json_plates.h"
#include "network_text.h"
#include "base/bytes.h"
#include "base/context_internal.h"
#include "base/list.h"

#include <stdio.h>
#include <string.h>

/* --- names ----------------------------------------------------------------------------------- */

static cr_status fail_name(const cri_json_network *f, const json_t *at, const char *opt_key,
                           const char *sentence)
{
    return opt_key ? cri_json_fail_key(&f->d, at, opt_key, "%s", sentence)
                   : cri_json_fail(&f->d, at, "%s", sentence);
}

cr_status cri_json_find_variable(const cri_json_network *f, const json_t *at, const char *opt_key,
                                 const char *name, size_t *out_v)
{
    char text[512];
    *out_v = cr_variable_lookup(cr_network_variables(f->net), name);
    if (*out_v != CR_NONE) return CR_OK;
    snprintf(text, sizeof text, "there is no variable '%s'", name);
    fail_name(f, at, opt_key, text);
    return cri_nearest_variable(f->d.cx, f->net, name);
}

cr_status cri_json_find_state(const cri_json_network *f, const json_t *at, const char *opt_key,
                              size_t v, const char *name, size_t *out_s)
{
    char text[512];
    *out_s = cr_state_lookup(cr_network_variables(f->net), v, name);
    if (*out_s != CR_NONE) return CR_OK;
    snprintf(text, sizeof text, "'%s' has no state '%s'",
             cr_variable_name(cr_network_variables(f->net), v), name);
    fail_name(f, at, opt_key, text);
    return cri_nearest_state(f->d.cx, cr_network_variables(f->net), v, name);
}

cr_status cri_json_scope(const cri_json_network *f, cr_scratch *s, json_t *list, size_t *out_n,
                         size_t **out_scope)
{
    cr_status   st = CR_OK;
    size_t      i, n = 0, *scope;
    const char *name;
    json_t     *item;
    CR_TRY(cri_json_is_array(&f->d, list, "a list of variables"));
    scope = cr_scratch_index(s, json_array_size(list));
    CR_TRY(s->status);
    json_array_foreach(list, i, item)
    {
        CR_TRY(cri_json_text(&f->d, item, "the name of a variable", &name));
        CR_TRY(cri_json_find_variable(f, item, NULL, name, &scope[n]));
        for (size_t k = 0; k < n; k++)
            if (scope[k] == scope[n])
                CR_TRY(cri_json_fail(&f->d, item, "'%s' occurs here twice", name));
        n++;
    }
    *out_n = n;
    *out_scope = scope;
done:
    return st;
}

/* --- entries --------------------------------------------------------------------------------- */

/* The next state of a key, without the blanks around it. */
static bool next_state(const char **at, char *out)
{
    bool quoted;
    *at += strspn(*at, " \t");
    quoted = **at == '"';
    if (!cri_list_next(at, out)) return false;
    for (size_t n = strlen(out); !quoted && n > 0 && (out[n - 1] == ' ' || out[n - 1] == '\t'); n--)
        out[n - 1] = '\0';
    return true;
}

cr_status cri_json_entry(const cri_json_network *f, const json_t *object, const char *key, size_t n,
                         const size_t *scope, size_t *out_entry)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(f->d.cx);
    char       *name = cr_scratch_bytes(&s, strlen(key) + 1, 1);
    const char *at = key;
    size_t      entry = 0, state, i = 0;
    CR_TRY(s.status);
    if (n == 1) {
        CR_TRY(cri_json_find_state(f, object, key, scope[0], key, out_entry));
        goto done;
    }
    for (; next_state(&at, name); i++) {
        if (i >= n) continue;
        CR_TRY(cri_json_find_state(f, object, key, scope[i], name, &state));
        entry = entry * cr_network_states(f->net, scope[i]) + state;
    }
    if (i != n)
        CR_TRY(cri_json_fail_key(&f->d, object, key,
                                 "this key should name the states of %zu variables, with commas "
                                 "between",
                                 n));
    *out_entry = entry;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_json_no_entry(const cri_json_network *f, const json_t *object, size_t n,
                            const size_t *scope, size_t e)
{
    const cr_variables *vs = cr_network_variables(f->net);
    char                text[512] = "";
    size_t              used = 0, below = 1;
    for (size_t i = 0; i < n; i++) below *= cr_network_states(f->net, scope[i]);
    for (size_t i = 0; i < n && used < sizeof text; i++) {
        below /= cr_network_states(f->net, scope[i]);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", i ? ", " : "",
                                 cr_variable_name(vs, scope[i]),
                                 cr_state_name(vs, scope[i], e / below));
        e %= below;
    }
    return cri_json_fail(&f->d, object, "there is no value for %s here", text);
}

cr_status cri_json_entries(const cri_json_network *f, size_t n, const size_t *scope, size_t *out)
{
    double size = 1;
    for (size_t i = 0; i < n; i++) size *= (double)cr_network_states(f->net, scope[i]);
    if (size * sizeof(double) > (double)cri_memory_left(f->d.cx))
        return cr_fail(f->d.cx, CR_ENOMEM, "%s: a table over %zu variables would have %.3g entries",
                       f->d.source, n, size);
    *out = (size_t)size;
    return CR_OK;
}

/* Numbers from *at on. */
static cr_status flatten(const cri_json *d, json_t *list, const char *what, size_t n, size_t *at,
                         double *out)
{
    cr_status st = CR_OK;
    json_t   *item;
    size_t    i;
    json_array_foreach(list, i, item)
    {
        if (json_is_array(item)) {
            CR_TRY(flatten(d, item, what, n, at, out));
            continue;
        }
        if (*at == n)
            CR_TRY(
                cri_json_fail(d, item, "there are more than %zu numbers, the number expected", n));
        CR_TRY(cri_json_real(d, item, what, &out[*at]));
        ++*at;
    }
done:
    return st;
}

cr_status cri_json_numbers(const cri_json *d, json_t *list, const char *what, size_t n, double *out)
{
    size_t    at = 0;
    cr_status st = flatten(d, list, what, n, &at, out);
    if (st == CR_OK && at != n)
        st = cri_json_fail(d, list, "%zu numbers where %zu should be", at, n);
    return st;
}

cr_status cri_network_keep(cr_ctx *cx, cr_network *net, size_t i, const json_t *parameters)
{
    size_t flags = JSON_COMPACT | JSON_ENCODE_ANY, size = json_dumpb(parameters, NULL, 0, flags);
    char  *text = cr_alloc(cx, size + 1, 1);
    if (!text) return CR_ENOMEM;
    json_dumpb(parameters, text, size, flags);
    cr_status st = cri_network_set_source(cx, net, i, text);
    cr_free(cx, text, size + 1, 1);
    return st;
}

/* --- variables ------------------------------------------------------------------------------- */

cr_status cri_json_variable(cri_json_network *f, const char *name, const json_t *at, json_t *states)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(f->d.cx);
    size_t       n = json_array_size(states), i;
    const char **names = NULL;
    json_t      *item;
    if (json_is_array(states)) {
        names = cr_scratch_bytes(&s, n, sizeof *names);
        CR_TRY(s.status);
        json_array_foreach(states, i, item)
            CR_TRY(cri_json_text(&f->d, item, "the name of a state", &names[i]));
    } else if (json_is_integer(states)) {
        CR_TRY(cri_json_count(&f->d, states, "the number of states", 1000000, &n));
    } else {
        CR_TRY(cri_json_fail(
            &f->d, states, "the states of '%s' are expected here: a list of names, or their number",
            name));
    }
    CR_TRY(
        cri_json_place(&f->d, at, cr_network_add_variable(f->d.cx, f->net, name, n, names, NULL)));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_json_properties(cri_json_network *f, json_t *object, size_t v)
{
    cr_status   st = CR_OK;
    json_t     *list = json_object_get(object, "properties"), *item;
    const char *text;
    size_t      i;
    if (!list) return CR_OK;
    CR_TRY(cri_json_is_array(&f->d, list, "a list of remarks"));
    json_array_foreach(list, i, item)
    {
        CR_TRY(cri_json_text(&f->d, item, "a remark", &text));
        CR_TRY(cr_network_add_property(f->d.cx, f->net, v, text));
    }
done:
    return st;
}

/* One pass over the variables: their states, or, the second time, what they depend on. */
cr_status cri_json_variables(cri_json_network *f, json_t *list, bool bayes)
{
    cr_status   st = CR_OK;
    const char *name;
    json_t     *one, *states;
    CR_TRY(cri_json_is_object(&f->d, list, "an object of variables"));
    json_object_foreach(list, name, one)
    {
        states = one;
        if (bayes || json_is_object(one)) {
            CR_TRY(cri_json_is_object(&f->d, one, "an object with states and probabilities"));
            if (json_object_get(one, "linear-gaussian")) {
                cri_json_fail_key(&f->d, one, "linear-gaussian",
                                  "'%s' is Gaussian in a network of variables with states: the two "
                                  "cannot be mixed",
                                  name);
                CR_TRY(
                    cr_fail_hint(f->d.cx, "in a network \"gaussian\" all variables are Gaussian"));
            }
            CR_TRY(cri_json_member(&f->d, one, "states", &states));
        }
        CR_TRY(cri_json_variable(f, name, one, states));
    }
done:
    return st;
}

static cr_status read_bayes(cri_json_network *f, json_t *list)
{
    cr_status   st = CR_OK;
    const char *name;
    json_t     *one;
    json_object_foreach(list, name, one)
    {
        size_t v = cr_variable_lookup(cr_network_variables(f->net), name);
        CR_TRY(cri_json_cpd(f, v, one));
        CR_TRY(cri_json_properties(f, one, v));
    }
    CR_TRY(cri_json_place(&f->d, list, cr_network_check(f->d.cx, f->net)));
done:
    return st;
}

static cr_status read_markov(cri_json_network *f, json_t *opt_list)
{
    static const char *const KEYS[] = { "states", "properties", NULL };
    cr_status                st = CR_OK;
    const char              *name;
    json_t                  *one;
    json_object_foreach(opt_list, name, one)
    {
        if (json_is_object(one)) CR_TRY(cri_json_keys(&f->d, one, KEYS));
        if (json_is_object(one))
            CR_TRY(cri_json_properties(f, one,
                                       cr_variable_lookup(cr_network_variables(f->net), name)));
    }
    CR_TRY(cri_json_markov(f));
done:
    return st;
}

/* --- the file -------------------------------------------------------------------------------- */

cr_status cri_json_kind(const cri_json *d, bool *out_bayes)
{
    cr_status   st = CR_OK;
    json_t     *value;
    const char *kind;
    CR_TRY(cri_json_member(d, d->root, "network", &value));
    CR_TRY(cri_json_text(d, value, "\"bayes\", \"markov\" or \"gaussian\"", &kind));
    *out_bayes = strcmp(kind, "bayes") == 0;
    if (strcmp(kind, "gaussian") == 0) {
        cri_json_fail(
            d, value,
            "a network of variables with states is needed here, but this one is Gaussian");
        CR_TRY(cr_fail_hint(d->cx,
                            "query, infer, describe, check and convert accept Gaussian networks"));
    }
    if (!*out_bayes && strcmp(kind, "markov") != 0) {
        static const char *const KINDS[] = { "bayes", "markov", "gaussian" };
        cri_json_fail(d, value, "there is no network \"%s\"", kind);
        CR_TRY(cr_fail_hint(d->cx, "networks are \"%s\", \"%s\" and \"%s\"", KINDS[0], KINDS[1],
                            KINDS[2]));
    }
done:
    return st;
}

cr_status cri_json_heading(cri_json_network *f)
{
    cr_status   st = CR_OK;
    json_t     *name = json_object_get(f->d.root, "name");
    const char *text;
    if (name) {
        CR_TRY(cri_json_text(&f->d, name, "the name of the network", &text));
        CR_TRY(cr_network_set_name(f->d.cx, f->net, text));
    }
    CR_TRY(cri_json_properties(f, f->d.root, CR_NONE));
done:
    return st;
}

/* Slices are for those who know them (json_dynamic.c). */
static cr_status refuse_slices(const cri_json *d)
{
    if (!json_object_get(d->root, "slices")) return CR_OK;
    cri_json_fail_key(d, d->root, "slices",
                      "a network without slices is needed here, but this one repeats over time");
    return cr_fail_hint(d->cx, "query, infer, plot, describe, check and convert accept slices");
}

static cr_status read_network(cri_json_network *f)
{
    static const char *const BAYES[] = { "network", "name",      "properties",
                                         "plates",  "variables", NULL };
    static const char *const MARKOV[] = { "network",  "name",  "properties", "variables", "factors",
                                          "features", "ising", "boltzmann",  NULL };
    cr_status                st = CR_OK;
    cr_ctx                  *cx = f->d.cx;
    json_t                  *root = f->d.root, *list = NULL;
    bool                     bayes = true;
    CR_TRY(cri_json_kind(&f->d, &bayes));
    if (bayes) CR_TRY(refuse_slices(&f->d));
    CR_TRY(cri_json_keys(&f->d, root, bayes ? BAYES : MARKOV));
    CR_TRY(cr_network_new(cx, bayes ? CR_NETWORK_BAYES : CR_NETWORK_MARKOV, &f->net));
    CR_TRY(cri_json_heading(f));
    list = json_object_get(root, "variables");
    if (bayes) CR_TRY(cri_json_member(&f->d, root, "variables", &list));
    if (bayes) CR_TRY(cri_json_plates(&f->d, list, &list));
    if (list) CR_TRY(cri_json_variables(f, list, bayes));
    CR_TRY(bayes ? read_bayes(f, list) : read_markov(f, list));
    if (cr_network_size(f->net) == 0)
        CR_TRY(cri_json_fail(&f->d, list ? list : root, "there are no variables in the network"));
done:
    return st;
}

cr_status cr_json_parse(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                        cr_network **out_net)
{
    cri_json_network f = { 0 };
    cr_status        st = cri_json_open(cx, source, bytes, size, &f.d);
    if (st != CR_OK) return st;
    st = read_network(&f);
    if (st == CR_OK) {
        *out_net = f.net;
        f.net = NULL;
    }
    cr_network_free(cx, f.net);
    cri_json_close(&f.d);
    return st;
}

bool cr_json_is_gaussian(const void *bytes, size_t size)
{
    const char *p = bytes;
    size_t      skip = size >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    if (!cri_find_text(p, size, "gaussian")) return false; /* most are not: read them once */
    json_t     *root = json_loadb(p + skip, size - skip, 0, NULL);
    const char *kind = json_string_value(json_object_get(root, "network"));
    bool        is = kind && strcmp(kind, "gaussian") == 0;
    json_decref(root);
    return is;
}
