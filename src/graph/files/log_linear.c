/* log_linear.c -- Moebius inversion, one axis of a table after another. */
#include "log_linear.h"
#include "json_internal.h"
#include "graph/network/network_internal.h"
#include "graph/network/noisy.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_CONSTANT = 699; /* exp() of it is a number */

/* A feature: the variables that are not in their reference state, ascending, and their states. */
typedef struct term {
    size_t  n;
    size_t *var, *state;
    double  weight, error; /* error: what rounding may have done to the weight */
} term;

typedef struct terms {
    cr_scratch       *s;
    const cr_network *net;
    const size_t     *reference;
    term             *item;
    size_t            n, capacity;
} terms;

/* --- one table ------------------------------------------------------------------------------- */

static cr_status refuse_zero(cr_ctx *cx, const cr_network *net, const cr_table_view *t, size_t e)
{
    const cr_variables *vs = cr_network_variables(net);
    char                text[512] = "";
    size_t              used = 0, below = t->size;
    for (size_t i = 0; i < t->n && used < sizeof text; i++) {
        below /= cr_network_states(net, t->scope[i]);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", i ? ", " : "",
                                 cr_variable_name(vs, t->scope[i]),
                                 cr_state_name(vs, t->scope[i], e / below));
        e %= below;
    }
    return cr_fail(cx, CR_EDATA, "a table is 0 at %s: only positive distributions have weights",
                   text[0] ? text : "its only entry");
}

/* Along each axis the reference is taken from the other states; then entry e is eps_D(d), D the
 * axes on which it is elsewhere. */
static void invert(const cr_network *net, const cr_table_view *t, const size_t *reference,
                   double *value)
{
    size_t stride = t->size;
    for (size_t i = 0; i < t->n; i++) {
        size_t n = cr_network_states(net, t->scope[i]), r = reference[t->scope[i]];
        size_t block = stride;
        stride /= n;
        for (size_t base = 0; base < t->size; base += block)
            for (size_t s = 0; s < n; s++)
                for (size_t k = 0; s != r && k < stride; k++)
                    value[base + s * stride + k] -= value[base + r * stride + k];
    }
}

/* The term of entry e of a table, its variables sorted. */
static cr_status add_term(terms *l, const cr_table_view *t, size_t e, double weight, double error)
{
    term   one = { .weight = weight, .error = error };
    size_t below = t->size;
    if (l->n == l->capacity) {
        size_t more = l->capacity ? 2 * l->capacity : 64;
        term  *p = cr_scratch_bytes(l->s, more, sizeof *p);
        if (!p) return l->s->status;
        if (l->n) memcpy(p, l->item, l->n * sizeof *p);
        l->item = p;
        l->capacity = more;
    }
    one.var = cr_scratch_index(l->s, t->n);
    one.state = cr_scratch_index(l->s, t->n);
    if (l->s->status != CR_OK) return l->s->status;
    for (size_t i = 0; i < t->n; i++) {
        size_t v = t->scope[i], at;
        below /= cr_network_states(l->net, v);
        size_t state = e / below % cr_network_states(l->net, v);
        if (state == l->reference[v]) continue;
        for (at = one.n++; at > 0 && one.var[at - 1] > v; at--) {
            one.var[at] = one.var[at - 1];
            one.state[at] = one.state[at - 1];
        }
        one.var[at] = v;
        one.state[at] = state;
    }
    l->item[l->n++] = one;
    return CR_OK;
}

static cr_status add_table(terms *l, const cr_table_view *t)
{
    cr_status  st = CR_OK;
    cr_ctx    *cx = l->s->cx;
    cr_scratch s = cr_scratch_begin(cx);
    double    *value = cr_scratch_f64(&s, t->size), most = 0;
    CR_TRY(s.status);
    for (size_t e = 0; e < t->size; e++) {
        if (!(t->value[e] > 0)) CR_TRY(refuse_zero(cx, l->net, t, e));
        value[e] = log(t->value[e]);
        most = fmax(most, fabs(value[e]));
    }
    invert(l->net, t, l->reference, value);
    for (size_t e = 0; e < t->size; e++) {
        if (e % 4096 == 0) CR_TRY(cr_check_interrupt(cx));
        if (value[e] != 0)
            CR_TRY(add_term(l, t, e, value[e], 4 * DBL_EPSILON * most * ldexp(1, (int)t->n)));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- all together ---------------------------------------------------------------------------- */

/* By the number of variables, then the variables: sets of one size and order stand together. */
static int compare_sets(const term *a, const term *b)
{
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    for (size_t i = 0; i < a->n; i++)
        if (a->var[i] != b->var[i]) return a->var[i] < b->var[i] ? -1 : 1;
    return 0;
}

static int compare_terms(const void *x, const void *y)
{
    const term *a = x, *b = y;
    int         sets = compare_sets(a, b);
    if (sets != 0) return sets;
    for (size_t i = 0; i < a->n; i++)
        if (a->state[i] != b->state[i]) return a->state[i] < b->state[i] ? -1 : 1;
    if (a->weight != b->weight) return a->weight < b->weight ? -1 : 1; /* one order of sums */
    return 0;
}

/* Adds up the terms of the same states, and leaves out what rounding has made. */
static void merge(terms *l)
{
    size_t n = 0;
    if (l->n > 1) qsort(l->item, l->n, sizeof *l->item, compare_terms);
    for (size_t i = 0; i < l->n;) {
        term sum = l->item[i++];
        for (; i < l->n && compare_sets(&sum, &l->item[i]) == 0 &&
               (sum.n == 0 || memcmp(sum.state, l->item[i].state, sum.n * sizeof *sum.state) == 0);
             i++) {
            sum.weight += l->item[i].weight;
            sum.error += l->item[i].error;
        }
        bool constant = sum.n == 0 && fabs(sum.weight) > MOST_CONSTANT;
        if (fabs(sum.weight) > sum.error && !constant) l->item[n++] = sum;
    }
    l->n = n;
}

static json_t *feature_json(const cr_variables *vs, const cr_feature *f)
{
    json_t *one = json_object(), *when = json_object();
    for (size_t i = 0; i < f->n; i++)
        json_object_set_new(when, cr_variable_name(vs, f->var[i]),
                            json_string(cr_state_name(vs, f->var[i], f->state[i])));
    json_object_set_new(one, "when", when);
    json_object_set_new(one, "weight", json_real(f->weight));
    return one;
}

cr_status cri_network_add_log_linear(cr_ctx *cx, cr_network *net, size_t n,
                                     const cr_feature *feature)
{
    cr_status st = CR_OK;
    cr_factor f = { 0 };
    json_t   *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, feature_json(cr_network_variables(net), &feature[i]));
    CR_TRY(cr_feature_factor(cx, net, n, feature, &f));
    CR_TRY(cr_network_add_table_kind(cx, net, f.n, f.var, f.value, CR_CPD_LOG_LINEAR));
    CR_TRY(cri_network_keep(cx, net, cr_network_tables(net) - 1, list));
done:
    json_decref(list);
    cr_factor_free(cx, &f);
    return st;
}

/* One table of the terms first .. end - 1, which are over the same set. */
static cr_status add_features(cr_ctx *cx, cr_network *net, const terms *l, size_t first, size_t end)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cr_feature *feature = cr_scratch_bytes(&s, end - first, sizeof *feature);
    CR_TRY(s.status);
    for (size_t i = first; i < end; i++) {
        const term *t = &l->item[i];
        feature[i - first] = (cr_feature){ t->n, t->var, t->state, t->weight };
    }
    CR_TRY(cri_network_add_log_linear(cx, net, end - first, feature));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_network_canonical(cr_ctx *cx, const cr_network *net, const size_t *opt_reference,
                               cr_network **out_net)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cr_network *out = NULL;
    size_t     *first = cr_scratch_bytes(&s, cr_network_size(net), sizeof *first);
    terms       l = { .s = &s, .net = net, .reference = opt_reference ? opt_reference : first };
    CR_TRY(s.status);
    CR_TRY(cr_network_check(cx, net));
    CR_TRY(cri_network_need_tables(cx, net));
    for (size_t v = 0; v < cr_network_size(net); v++)
        if (l.reference[v] >= cr_network_states(net, v))
            CR_TRY(cr_fail(cx, CR_EARG, "the reference of '%s' is state %zu, but it has only %zu",
                           cr_variable_name(cr_network_variables(net), v), l.reference[v],
                           cr_network_states(net, v)));
    for (size_t i = 0; i < cr_network_tables(net); i++) {
        cr_table_view t = cr_network_table(net, i);
        CR_TRY(add_table(&l, &t));
    }
    merge(&l);
    CR_TRY(cr_network_new(cx, CR_NETWORK_MARKOV, &out));
    CR_TRY(cr_network_set_name(cx, out, cr_network_name(net)));
    CR_TRY(cri_network_copy_variables(cx, net, out));
    for (size_t i = 0, end = 0; i < l.n; i = end) {
        while (end < l.n && compare_sets(&l.item[i], &l.item[end]) == 0) end++;
        CR_TRY(add_features(cx, out, &l, i, end));
    }
    *out_net = out;
    out = NULL;
done:
    cr_network_free(cx, out);
    cr_scratch_end(&s);
    return st;
}
