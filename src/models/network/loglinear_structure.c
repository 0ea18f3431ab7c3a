/* loglinear_structure.c -- which features: those of sets of variables and all their subsets, or as a file has them. */
#include "loglinear.h"
#include "base/context_internal.h"
#include "base/list.h"
#include "base/scratch.h"
#include "base/sort.h"
#include "graph/files/json_text.h"
#include "graph/files/network_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_IN_SET = 20, MOST_FEATURES = 1 << 22 };

/* --- sets of variables ------------------------------------------------------------------------ */

typedef struct variable_set {
    size_t        n;
    const size_t *var; /* [n] ascending */
} variable_set;

static int compare_sets(const void *x, const void *y)
{
    const variable_set *a = x, *b = y;
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    for (size_t i = 0; i < a->n; i++)
        if (a->var[i] != b->var[i]) return a->var[i] < b->var[i] ? -1 : 1;
    return 0;
}

static int compare_indices(const void *x, const void *y)
{
    size_t a = *(const size_t *)x, b = *(const size_t *)y;
    return a < b ? -1 : a > b;
}

/* All subsets of a set but the empty one, into list; how many. */
static size_t add_subsets(size_t n, const size_t *var, size_t **at, variable_set *list)
{
    size_t count = 0;
    for (size_t bits = 1; bits < (size_t)1 << n; bits++) {
        variable_set one = { 0, *at };
        for (size_t i = 0; i < n; i++)
            if (bits >> i & 1) (*at)[one.n++] = var[i];
        *at += one.n;
        list[count++] = one;
    }
    return count;
}

/* The features of a set: all its variables in other states than the first. */
static double features_of(const cri_loglinear *m, const variable_set *a)
{
    double n = 1;
    for (size_t i = 0; i < a->n; i++) n *= (double)cr_network_states(m->columns.net, a->var[i]) - 1;
    return m->spins ? n > 0 : n;
}

static cr_status allocate_features(cr_ctx *cx, cri_loglinear *m, double parameters, double members)
{
    if (parameters > MOST_FEATURES || members > 16.0 * MOST_FEATURES) {
        cr_fail(cx, CR_EUNSUPPORTED, "there would be %.3g features, more than can be learned",
                parameters);
        return cr_fail_hint(cx,
                            "--structure select finds which columns need some; --cliques says it");
    }
    m->parameters = (size_t)parameters, m->begins = m->parameters + 1, m->members = (size_t)members;
    return cri_record_allocate(cx, cri_loglinear_record, m);
}

static void write_features(cri_loglinear *m, const variable_set *a, size_t *at)
{
    size_t count = (size_t)features_of(m, a), k = *at;
    for (size_t f = 0; f < count; f++, k++) {
        size_t rest = f, begin = m->begin[k];
        for (size_t i = a->n; i-- > 0;) {
            size_t others = m->spins ? 1 : cr_network_states(m->columns.net, a->var[i]) - 1;
            m->variable[begin + i] = a->var[i];
            m->state[begin + i] = 1 + rest % others;
            rest /= others;
        }
        m->begin[k + 1] = begin + a->n;
    }
    *at = k;
}

cr_status cri_loglinear_add_sets(cr_ctx *cx, cri_loglinear *m, size_t n, const size_t *begin,
                                 const size_t *member)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = cr_network_size(m->columns.net), count = p, room = p, kept = 0, k = 0;
    double     sets = (double)p, members = 0, parameters = 0;
    for (size_t i = 0; i < n; i++) {
        size_t of = begin[i + 1] - begin[i];
        if (of > MOST_IN_SET)
            CR_TRY(cr_fail(cx, CR_EUNSUPPORTED,
                           "a set of %zu variables has too many features: at most %d together", of,
                           MOST_IN_SET));
        sets += ldexp(1, (int)of);
        room += of << of;
    }
    if (sets > MOST_FEATURES) CR_TRY(allocate_features(cx, m, sets, sets));
    variable_set *list = cr_scratch_bytes(&s, (size_t)sets, sizeof *list);
    size_t       *var = cr_scratch_index(&s, room);
    CR_TRY(s.status);
    for (size_t v = 0; v < p; v++) {
        *var = v;
        list[v] = (variable_set){ 1, var++ };
    }
    for (size_t i = 0; i < n; i++)
        count += add_subsets(begin[i + 1] - begin[i], member + begin[i], &var, list + count);
    if (count > 1) qsort(list, count, sizeof *list, compare_sets);
    for (size_t i = 0; i < count; i++) {
        double f = features_of(m, &list[i]);
        if ((i > 0 && compare_sets(&list[i], &list[i - 1]) == 0) || f == 0) continue;
        parameters += f;
        members += f * (double)list[i].n;
    }
    CR_TRY(allocate_features(cx, m, parameters, members));
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && compare_sets(&list[i], &list[i - 1]) == 0) continue;
        write_features(m, &list[i], &k);
        kept++;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- --cliques -------------------------------------------------------------------------------- */

/* The variable that a name with `length` characters stands for. */
static cr_status find_variable(cr_ctx *cx, const cri_loglinear *m, const char *name, size_t length,
                               size_t *out)
{
    cr_status st = CR_OK;
    char     *text = cri_string_copy_n(cx, name, length);
    if (!text) return CR_ENOMEM;
    *out = cr_variable_lookup(cr_network_variables(m->columns.net), text);
    if (*out == CR_NONE) {
        cr_fail(cx, CR_EARG, "--cliques: there is no column '%s'", text);
        st = cr_fail_hint(cx, "it takes columns joined by +, for example %s",
                          cr_variable_name(cr_network_variables(m->columns.net), 0));
    }
    cri_string_free(cx, text);
    return st;
}

static cr_status sets_of_option(cr_ctx *cx, const char *option, cri_loglinear *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    char     **item;
    size_t     n, at = 0;
    CR_TRY(cri_list_split(&s, option, &item, &n));
    size_t *begin = cr_scratch_index(&s, n + 1), *member = cr_scratch_index(&s, strlen(option) + 1);
    CR_TRY(s.status);
    begin[0] = 0;
    for (size_t i = 0; i < n; i++) {
        const char *text = item[i];
        size_t      whole = cr_variable_lookup(cr_network_variables(m->columns.net), text);
        if (whole != CR_NONE) {
            member[at++] = whole;
        } else {
            for (size_t length; *text; text += length + (text[length] == '+')) {
                length = strcspn(text, "+");
                CR_TRY(find_variable(cx, m, text, length, &member[at++]));
            }
        }
        qsort(member + begin[i], at - begin[i], sizeof *member, compare_indices);
        size_t kept = begin[i];
        for (size_t k = begin[i]; k < at; k++)
            if (k == begin[i] || member[k] != member[k - 1]) member[kept++] = member[k];
        begin[i + 1] = at = kept;
    }
    CR_TRY(cri_loglinear_add_sets(cx, m, n, begin, member));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- files ------------------------------------------------------------------------------------ */

/* The variable of m with the name that variable v of the file has. */
static cr_status translate(cr_ctx *cx, const cri_loglinear *m, const cr_network *net,
                           const char *file, size_t v, size_t *out)
{
    const char *name = cr_variable_name(cr_network_variables(net), v);
    *out = cr_variable_lookup(cr_network_variables(m->columns.net), name);
    if (*out != CR_NONE) return CR_OK;
    cr_fail(cx, CR_EDATA, "variable '%s' of %s is no column", name, file);
    return cr_fail_hint(cx, "--hidden N adds variables that no row shows");
}

static bool has_features(const cr_network *net)
{
    bool all = cr_network_tables(net) > 0 && cr_network_get_kind(net) == CR_NETWORK_MARKOV;
    for (size_t i = 0; i < cr_network_tables(net); i++) {
        cr_table_view t = cr_network_table(net, i);
        all &= t.kind == CR_CPD_LOG_LINEAR && t.source;
    }
    return all;
}

static cr_status sets_of_tables(cr_ctx *cx, const cr_network *net, const char *file,
                                cri_loglinear *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = cr_network_tables(net), members = 0, at = 0;
    for (size_t i = 0; i < n; i++) members += cr_network_table(net, i).n;
    size_t *begin = cr_scratch_index(&s, n + 1), *member = cr_scratch_index(&s, members);
    CR_TRY(s.status);
    begin[0] = 0;
    for (size_t i = 0; i < n; i++) {
        cr_table_view t = cr_network_table(net, i);
        for (size_t k = 0; k < t.n; k++)
            CR_TRY(translate(cx, m, net, file, t.scope[k], &member[at++]));
        if (t.n > 1) qsort(member + begin[i], t.n, sizeof *member, compare_indices);
        begin[i + 1] = at;
    }
    CR_TRY(cri_loglinear_add_sets(cx, m, n, begin, member));
done:
    cr_scratch_end(&s);
    return st;
}

/* A feature as a file has it. */
typedef struct listed {
    variable_set set;
    size_t      *state;
} listed;

static int compare_listed(const void *x, const void *y)
{
    const listed *a = x, *b = y;
    int           sets = compare_sets(&a->set, &b->set);
    for (size_t i = 0; sets == 0 && i < a->set.n; i++)
        if (a->state[i] != b->state[i]) sets = a->state[i] < b->state[i] ? -1 : 1;
    return sets;
}

static cr_status read_feature(cr_scratch *s, const cri_loglinear *m, const char *file, json_t *when,
                              listed *out)
{
    cr_status           st = CR_OK;
    cr_ctx             *cx = s->cx;
    const cr_variables *vs = cr_network_variables(m->columns.net);
    const char         *name;
    json_t             *state;
    size_t              n = json_object_size(when), *var = cr_scratch_index(s, n), at = 0;
    out->state = cr_scratch_index(s, n);
    CR_TRY(s->status);
    json_object_foreach(when, name, state)
    {
        size_t v = cr_variable_lookup(vs, name), i = at;
        size_t x = v == CR_NONE ? CR_NONE : cr_state_lookup(vs, v, json_string_value(state));
        if (v == CR_NONE)
            CR_TRY(
                cr_fail(cx, CR_EDATA, "%s has a feature of '%s', which is no column", file, name));
        if (x == CR_NONE)
            CR_TRY(cr_fail(cx, CR_EDATA,
                           "%s has a feature of %s=%s, but column '%s' never has that value", file,
                           name, json_string_value(state), name));
        for (; i > 0 && var[i - 1] > v; i--) var[i] = var[i - 1], out->state[i] = out->state[i - 1];
        var[i] = v, out->state[i] = x;
        at++;
    }
    out->set = (variable_set){ n, var };
done:
    return st;
}

/* The features of a Markov network of JSON as they are, each once. */
static cr_status features_of_file(cr_ctx *cx, const cr_network *net, const char *file,
                                  cri_loglinear *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    json_t    *list = json_array(), *one;
    size_t     i, n = 0, members = 0;
    for (i = 0; i < cr_network_tables(net); i++) {
        json_t *part = json_loads(cr_network_table(net, i).source, 0, NULL);
        if (part) json_array_extend(list, part);
        json_decref(part);
    }
    listed *feature = cr_scratch_bytes(&s, json_array_size(list) + 1, sizeof *feature);
    CR_TRY(s.status);
    json_array_foreach(list, i, one)
    {
        CR_TRY(read_feature(&s, m, file, json_object_get(one, "when"), &feature[n]));
        n += feature[n].set.n > 0;
    }
    if (n > 1) qsort(feature, n, sizeof *feature, compare_listed);
    size_t kept = 0;
    for (i = 0; i < n; i++)
        if (kept == 0 || compare_listed(&feature[i], &feature[kept - 1]) != 0)
            members += feature[i].set.n, feature[kept++] = feature[i];
    CR_TRY(allocate_features(cx, m, (double)kept, (double)members));
    for (i = 0; i < kept; i++) {
        size_t begin = m->begin[i], of = feature[i].set.n;
        memcpy(m->variable + begin, feature[i].set.var, of * sizeof *m->variable);
        memcpy(m->state + begin, feature[i].state, of * sizeof *m->state);
        m->begin[i + 1] = begin + of;
    }
done:
    json_decref(list);
    cr_scratch_end(&s);
    return st;
}

static cr_status read_file(cr_ctx *cx, const char *text, cri_loglinear *m)
{
    cr_status   st = CR_OK;
    bool        is_json = *text == '{';
    const char *file = is_json ? "--structure" : text;
    cr_network *net = NULL;
    st = is_json ? cr_network_parse(cx, file, text, strlen(text), CR_FORMAT_JSON, &net)
                 : cr_network_read(cx, text, CR_FORMAT_AUTO, &net);
    if (st == CR_EIO && !strpbrk(text, "./"))
        cr_fail_hint(cx, "--structure is a network file, or select, complete or empty");
    CR_TRY(st);
    if (m->spins || !has_features(net))
        CR_TRY(sets_of_tables(cx, net, file, m));
    else
        CR_TRY(features_of_file(cx, net, file, m));
done:
    cr_network_free(cx, net);
    return st;
}

/* --- pairs ------------------------------------------------------------------------------------ */

/* The features of all pairs of variables that are marked [p x p]. */
static cr_status add_pairs(cr_ctx *cx, cri_loglinear *m, const bool *edge)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = cr_network_size(m->columns.net), n = 0;
    for (size_t i = 0; i < p * p; i++) n += edge[i];
    size_t *begin = cr_scratch_index(&s, n / 2 + 1), *member = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    n = 0;
    for (size_t v = 0; v < p; v++)
        for (size_t u = v + 1; u < p; u++)
            if (edge[v * p + u]) {
                begin[n] = 2 * n;
                member[2 * n] = v, member[2 * n + 1] = u;
                n++;
            }
    begin[n] = 2 * n;
    CR_TRY(cri_loglinear_add_sets(cx, m, n, begin, member));
done:
    cr_scratch_end(&s);
    return st;
}

/* Edges by the rows that have no gaps. */
static cr_status select_pairs(cr_ctx *cx, const cri_loglinear_options *o, const cri_bn_rows *data,
                              uint64_t seed, cri_loglinear *m, bool *edge, double *share)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          p = data->p, kept = 0, shown = p - o->hidden;
    uint32_t       *levels = cr_scratch_bytes(&s, p, sizeof *levels);
    uint16_t       *code = cr_scratch_bytes(&s, data->n * shown, sizeof *code);
    double         *weight = cr_scratch_f64(&s, data->n), dropped = 0;
    bool           *small = cr_scratch_bytes(&s, shown * shown, sizeof *small);
    double         *part = o->stability > 0 ? cr_scratch_matrix(&s, shown, shown) : NULL;
    cri_cases_table cases;
    CR_TRY(s.status);
    for (size_t v = 0; v < p; v++) levels[v] = (uint32_t)cr_network_states(m->columns.net, v);
    for (size_t i = 0; i < data->n; i++) {
        bool   gap = false;
        double w = data->weight ? data->weight[i] : 1;
        for (size_t v = 0; v < shown; v++) {
            code[kept * shown + v] = data->code[i * p + v];
            if (code[kept * shown + v] != CRI_BN_GAP) continue;
            if (data->shown[v]) gap = true;
            code[kept * shown + v] = 0; /* a column without values has one state */
        }
        if (gap) dropped += w;
        if (!gap) weight[kept++] = w;
    }
    if (dropped > 0)
        cr_log(cx, CR_LOG_WARNING,
               "--structure select leaves out %g rows in which cells are missing: only the weights "
               "are learned "
               "from them too",
               dropped);
    CR_TRY(cri_cases_group(&s, kept, shown, levels, code, weight, NULL, NULL, &cases));
    if (cases.n > 0) CR_TRY(cri_loglinear_select(cx, o, &cases, seed, small, part));
    for (size_t v = 0; v < shown; v++)
        for (size_t u = 0; u < shown; u++) {
            edge[v * p + u] = small[v * shown + u];
            if (part) share[v * p + u] = part[v * shown + u];
        }
done:
    cr_scratch_end(&s);
    return st;
}

/* Pairs with a feature in common, and what is known of them. */
static cr_status note_edges(cr_ctx *cx, cri_loglinear *m, const double *opt_share, size_t halves)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = cr_network_size(m->columns.net);
    bool      *joined = cr_scratch_bytes(&s, p * p, sizeof *joined);
    CR_TRY(s.status);
    for (size_t k = 0; k < m->parameters; k++)
        for (size_t i = m->begin[k]; i < m->begin[k + 1]; i++)
            for (size_t j = m->begin[k]; j < i; j++)
                joined[m->variable[j] * p + m->variable[i]] = true;
    cr_free(cx, m->edge_a, 0, sizeof *m->edge_a); /* made for no edges, with the features */
    cr_free(cx, m->edge_b, 0, sizeof *m->edge_b);
    cr_free(cx, m->stable, 0, sizeof *m->stable);
    m->edge_a = m->edge_b = NULL, m->stable = NULL;
    for (size_t i = 0; i < p * p; i++) m->edges += joined[i];
    m->halves = halves;
    CR_TRY(cri_record_allocate(cx, cri_loglinear_record, m));
    for (size_t i = 0, e = 0; i < p * p; i++) {
        if (!joined[i]) continue;
        m->edge_a[e] = i / p, m->edge_b[e] = i % p;
        m->stable[e++] = opt_share && halves > 0 ? opt_share[i] : NAN;
    }
done:
    cr_scratch_end(&s);
    return st;
}

static bool is_word(const char *text)
{
    return strcmp(text, "select") == 0 || strcmp(text, "complete") == 0 ||
           strcmp(text, "empty") == 0;
}

cr_status cri_loglinear_find_features(cr_ctx *cx, const cri_loglinear_options *o,
                                      const cri_bn_rows *data, uint64_t seed, cri_loglinear *m)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      p = data->p;
    bool       *edge = cr_scratch_bytes(&s, p * p, sizeof *edge), selected = false;
    double     *share = o->stability > 0 ? cr_scratch_bytes(&s, p * p, sizeof *share) : NULL;
    const char *how = o->cliques ? "cliques" : is_word(o->structure) ? o->structure : "file";
    CR_TRY(s.status);
    m->how = cri_string_copy(cx, how);
    if (!m->how) CR_TRY(CR_ENOMEM);
    for (size_t v = p - o->hidden; v < p; v++)
        for (size_t u = 0; u < v; u++) edge[v * p + u] = edge[u * p + v] = true;
    if (o->cliques) {
        CR_TRY(sets_of_option(cx, o->cliques, m));
    } else if (strcmp(o->structure, "select") == 0) {
        selected = true;
        CR_TRY(select_pairs(cx, o, data, seed, m, edge, share));
        CR_TRY(add_pairs(cx, m, edge));
    } else if (strcmp(o->structure, "complete") == 0) {
        for (size_t v = 0; v < p; v++)
            for (size_t u = 0; u < p; u++) edge[v * p + u] = u != v;
        CR_TRY(add_pairs(cx, m, edge));
    } else if (strcmp(o->structure, "empty") == 0) {
        CR_TRY(add_pairs(cx, m, edge));
    } else {
        CR_TRY(read_file(cx, o->structure, m));
    }
    CR_TRY(note_edges(cx, m, share, selected ? o->stability : 0));
done:
    cr_scratch_end(&s);
    return st;
}
