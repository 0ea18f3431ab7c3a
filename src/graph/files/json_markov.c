/* json_markov.c -- the tables of a Markov network from JSON: factors and features. */
#include "graph/network/cpd.h"
#include "json_internal.h"

/* --- factors --------------------------------------------------------------------------------- */

/* {"no, yes": 5, ...}: every entry, once. */
static cr_status read_by_states(cri_json_network *f, json_t *object, size_t n, const size_t *scope,
                                size_t size, bool *seen, double *value)
{
    cr_status   st = CR_OK;
    const char *key;
    json_t     *item;
    size_t      e = 0;
    json_object_foreach(object, key, item)
    {
        CR_TRY(cri_json_entry(f, object, key, n, scope, &e));
        if (seen[e]) CR_TRY(cri_json_fail_key(&f->d, object, key, "these states occur here twice"));
        seen[e] = true;
        CR_TRY(cri_json_real(&f->d, item, "a value of a table", &value[e]));
    }
    for (e = 0; e < size; e++)
        if (!seen[e]) CR_TRY(cri_json_no_entry(f, object, n, scope, e));
done:
    return st;
}

static cr_status read_factor(cri_json_network *f, json_t *one)
{
    static const char *const KEYS[] = { "scope", "table", NULL };
    cr_status                st = CR_OK;
    cr_scratch               s = cr_scratch_begin(f->d.cx);
    json_t                  *list, *table;
    size_t                   n, *scope, size;
    CR_TRY(cri_json_is_object(&f->d, one, "an object with \"scope\" and \"table\""));
    CR_TRY(cri_json_keys(&f->d, one, KEYS));
    CR_TRY(cri_json_member(&f->d, one, "scope", &list));
    CR_TRY(cri_json_member(&f->d, one, "table", &table));
    CR_TRY(cri_json_scope(f, &s, list, &n, &scope));
    CR_TRY(cri_json_entries(f, n, scope, &size));
    double *value = cr_scratch_f64(&s, size);
    bool   *seen = cr_scratch_bytes(&s, size, sizeof *seen);
    CR_TRY(s.status);
    if (json_is_object(table)) {
        CR_TRY(read_by_states(f, table, n, scope, size, seen, value));
    } else {
        CR_TRY(cri_json_is_array(&f->d, table, "a list of values, or an object by states,"));
        CR_TRY(cri_json_numbers(&f->d, table, "a value of a table", size, value));
    }
    CR_TRY(cri_json_place(&f->d, table, cr_network_add_table(f->d.cx, f->net, n, scope, value)));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- features -------------------------------------------------------------------------------- */

static cr_status read_feature(cri_json_network *f, cr_scratch *s, json_t *one, cr_feature *out)
{
    static const char *const KEYS[] = { "when", "weight", NULL };
    cr_status                st = CR_OK;
    json_t                  *when, *weight, *item;
    const char              *name, *state;
    size_t                   n = 0;
    CR_TRY(cri_json_is_object(&f->d, one, "an object with \"when\" and \"weight\""));
    CR_TRY(cri_json_keys(&f->d, one, KEYS));
    CR_TRY(cri_json_member(&f->d, one, "when", &when));
    CR_TRY(cri_json_is_object(&f->d, when, "an object from variables to their states"));
    CR_TRY(cri_json_member(&f->d, one, "weight", &weight));
    size_t *var = cr_scratch_index(s, json_object_size(when));
    size_t *at = cr_scratch_index(s, json_object_size(when));
    CR_TRY(s->status);
    json_object_foreach(when, name, item)
    {
        CR_TRY(cri_json_find_variable(f, when, name, name, &var[n]));
        CR_TRY(cri_json_text(&f->d, item, "a state", &state));
        CR_TRY(cri_json_find_state(f, item, NULL, var[n], state, &at[n]));
        n++;
    }
    *out = (cr_feature){ .n = n, .var = var, .state = at };
    CR_TRY(cri_json_real_in(&f->d, weight, "a weight", -699, 699, &out->weight));
done:
    return st;
}

/* Over the same variables, in whatever order they are named? */
static bool same_scope(const cr_feature *a, const cr_feature *b)
{
    size_t shared = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < b->n; k++) shared += a->var[i] == b->var[k];
    return a->n == b->n && shared == a->n;
}

/* Features one after another over the same variables become one table. */
static cr_status add_features(cri_json_network *f, size_t n, const cr_feature *feature,
                              json_t *list, size_t first)
{
    cr_status st = CR_OK;
    cr_ctx   *cx = f->d.cx;
    cr_factor factor = { 0 };
    json_t   *kept = json_array();
    CR_TRY(cri_json_place(&f->d, json_array_get(list, first),
                          cr_feature_factor(cx, f->net, n, feature, &factor)));
    CR_TRY(cri_json_place(&f->d, json_array_get(list, first),
                          cr_network_add_table_kind(cx, f->net, factor.n, factor.var, factor.value,
                                                    CR_CPD_LOG_LINEAR)));
    for (size_t i = 0; i < n; i++) json_array_append(kept, json_array_get(list, first + i));
    CR_TRY(cri_network_keep(cx, f->net, cr_network_tables(f->net) - 1, kept));
done:
    json_decref(kept);
    cr_factor_free(cx, &factor);
    return st;
}

static cr_status read_features(cri_json_network *f, json_t *list)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(f->d.cx);
    size_t      n = json_array_size(list), i;
    cr_feature *feature = cr_scratch_bytes(&s, n, sizeof *feature);
    json_t     *one;
    CR_TRY(s.status);
    CR_TRY(cri_json_is_array(&f->d, list, "a list of features"));
    json_array_foreach(list, i, one) CR_TRY(read_feature(f, &s, one, &feature[i]));
    for (size_t first = 0, end = 0; first < n; first = end) {
        while (end < n && same_scope(&feature[first], &feature[end])) end++;
        CR_TRY(add_features(f, end - first, feature + first, list, first));
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_json_markov(cri_json_network *f)
{
    cr_status st = CR_OK;
    json_t   *factors = json_object_get(f->d.root, "factors"), *one;
    json_t   *features = json_object_get(f->d.root, "features");
    size_t    i;
    CR_TRY(cri_json_spin_variables(f));
    CR_TRY(cri_json_spin_tables(f));
    if (factors) CR_TRY(cri_json_is_array(&f->d, factors, "a list of factors"));
    json_array_foreach(factors, i, one) CR_TRY(read_factor(f, one));
    if (features) CR_TRY(read_features(f, features));
done:
    return st;
}
