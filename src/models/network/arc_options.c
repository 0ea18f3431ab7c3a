/* arc_options.c -- arcs by the names of their ends. */
#include "arc_options.h"
#include "bn.h"
#include "base/context_internal.h"
#include "base/list.h"
#include "graph/files/network_file.h"

#include <string.h>

typedef struct reading {
    cr_scratch        *s;
    size_t             n;
    const char *const *names;
    cri_arc_rules     *rules;
} reading;

static size_t look_up(const reading *r, const char *name)
{
    for (size_t v = 0; v < r->n; v++)
        if (strcmp(r->names[v], name) == 0) return v;
    return CR_NONE;
}

static const char *name_of(const void *names, size_t v) { return ((const char *const *)names)[v]; }

static cr_status find(const reading *r, const char *option, const char *name, size_t *out)
{
    *out = look_up(r, name);
    if (*out != CR_NONE) return CR_OK;
    cr_fail(r->s->cx, CR_EARG, "--%s: there is no column '%s'", option, name);
    return cr_fail_nearest(r->s->cx, name, "columns", r->n, name_of, r->names);
}

/* Sets or clears, in `set`, the arcs that an item FROM>TO names. */
static cr_status mark_arc(const reading *r, const char *option, char *item, bool on, uint64_t *set)
{
    cr_status st = CR_OK;
    size_t    words = r->rules->words, from = CR_NONE, v = CR_NONE;
    char     *sign = strstr(item, "->"), *to = sign ? sign + 2 : NULL;
    if (!sign && (sign = strchr(item, '>'))) to = sign + 1;
    if (!sign) {
        cr_fail(r->s->cx, CR_EARG, "--%s: '%s' is no arc", option, item);
        return cr_fail_hint(r->s->cx, "an arc is written FROM>TO, in quotes for the shell");
    }
    *sign = '\0';
    if (strcmp(item, "*") != 0) CR_TRY(find(r, option, item, &from));
    if (strcmp(to, "*") != 0) CR_TRY(find(r, option, to, &v));
    for (size_t a = 0; a < r->n; a++)
        for (size_t b = 0; b < r->n; b++) {
            if (a == b || (from != CR_NONE && a != from) || (v != CR_NONE && b != v)) continue;
            if (on)
                cri_bit_add(set + b * words, a);
            else
                cri_bit_drop(set + b * words, a);
        }
done:
    return st;
}

static cr_status mark_arcs(const reading *r, const char *option, const char *opt_list, bool on,
                           uint64_t *set)
{
    cr_status st = CR_OK;
    char    **item;
    size_t    n;
    CR_TRY(cri_list_split(r->s, opt_list, &item, &n));
    for (size_t i = 0; i < n; i++) CR_TRY(mark_arc(r, option, item[i], on, set));
done:
    return st;
}

/* No arc leads from a tier to one before it. */
static cr_status mark_tiers(const reading *r, const char *opt_list)
{
    cr_status st = CR_OK;
    char    **item;
    size_t    n, *tier = cr_scratch_index(r->s, r->n), v;
    CR_TRY(cri_list_split(r->s, opt_list, &item, &n));
    for (v = 0; v < r->n; v++) tier[v] = CR_NONE;
    for (size_t i = 0; i < n; i++) {
        char *rest = NULL;
        v = look_up(r, item[i]); /* a name may have a + in it */
        if (v != CR_NONE) {
            tier[v] = i;
            continue;
        }
        for (char *name = strtok_r(item[i], "+", &rest); name; name = strtok_r(NULL, "+", &rest)) {
            CR_TRY(find(r, "order", name, &v));
            tier[v] = i;
        }
    }
    for (v = 0; v < r->n; v++)
        for (size_t u = 0; u < r->n; u++)
            if (tier[u] != CR_NONE && tier[v] != CR_NONE && tier[u] > tier[v])
                cri_bit_drop(r->rules->allowed + v * r->rules->words, u);
done:
    return st;
}

/* --- files ------------------------------------------------------------------------------------ */

/* A network of either kind, as names and parents. */
typedef struct any_arcs {
    cr_network          *net;
    cr_gaussian_network *gaussian;
} any_arcs;

static const cr_variables *variables_of(const any_arcs *a)
{
    return a->net ? cr_network_variables(a->net) : cr_gaussian_network_names(a->gaussian);
}

static const size_t *parents_of(const any_arcs *a, size_t v, size_t *out_n)
{
    if (a->net) return cr_network_parents(a->net, v, out_n);
    cr_gaussian_node node = cr_gaussian_network_node(a->gaussian, v);
    *out_n = node.n;
    return node.parents;
}

cr_status cri_arcs_of_file(cr_ctx *cx, const char *option, const char *path, size_t n,
                           const char *const *names, size_t words, uint64_t *set)
{
    cr_status st = CR_OK;
    any_arcs  a = { 0 };
    size_t    found = 0;
    if (*path == '{')
        CR_TRY(cri_bn_read_network(cx, option, path, &a.net));
    else
        CR_TRY(cr_network_read_either(cx, path, CR_FORMAT_AUTO, &a.net, &a.gaussian));
    if (a.net && cr_network_get_kind(a.net) != CR_NETWORK_BAYES)
        CR_TRY(
            cr_fail(cx, CR_EDATA, "--%s: %s is a Markov network, which has no arcs", option, path));
    for (size_t v = 0; v < n; v++) {
        size_t m, at = cr_variable_lookup(variables_of(&a), names[v]);
        if (at == CR_NONE) continue;
        const size_t *parents = parents_of(&a, at, &m);
        for (size_t i = 0; i < m; i++)
            for (size_t u = 0; u < n; u++)
                if (strcmp(names[u], cr_variable_name(variables_of(&a), parents[i])) == 0)
                    cri_bit_add(set + v * words, u);
        found++;
    }
    if (found == 0)
        CR_TRY(
            cr_fail(cx, CR_EDATA, "--%s: no variable of %s is a column of the data", option, path));
done:
    cr_network_free(cx, a.net);
    cr_gaussian_network_free(cx, a.gaussian);
    return st;
}

/* --- all together ----------------------------------------------------------------------------- */

cr_status cri_arc_options_read(cr_scratch *s, size_t n, const char *const *names,
                               const cri_arc_options *o, cri_arc_rules *out)
{
    cr_status     st = CR_OK;
    cri_arc_rules rules;
    reading       r = { s, n, names, &rules };
    CR_TRY(cri_arc_rules_new(s, n, &rules));
    CR_TRY(mark_tiers(&r, o->opt_order));
    CR_TRY(mark_arcs(&r, "forbid", o->opt_forbid, false, rules.allowed));
    CR_TRY(mark_arcs(&r, "require", o->opt_require, true, rules.required));
    if (o->opt_start)
        CR_TRY(cri_arcs_of_file(s->cx, "start", o->opt_start, n, names, rules.words, rules.start));
    if (o->most_parents < rules.most_parents) rules.most_parents = o->most_parents;
    CR_TRY(cri_arc_rules_check(s->cx, &rules, names));
    *out = rules;
done:
    return st;
}
