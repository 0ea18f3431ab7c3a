/* network.c -- variables and tables, kept as given. */
#include "network_internal.h"
#include "base/context_internal.h"

#include <math.h>
#include <string.h>

/* --- life ------------------------------------------------------------------------------------ */

cr_status cr_network_new(cr_ctx *cx, cr_network_kind kind, cr_network **out_net)
{
    cr_status   st = CR_OK;
    cr_network *net = cr_alloc(cx, 1, sizeof *net);
    if (!net) return CR_ENOMEM;
    net->kind = kind;
    CR_TRY(cr_variables_new(cx, &net->variables));
    *out_net = net;
    net = NULL;
done:
    cr_network_free(cx, net);
    return st;
}

static void free_table(cr_ctx *cx, cri_table *t)
{
    cr_free(cx, t->scope, t->n, sizeof *t->scope);
    cr_free(cx, t->value, t->size, sizeof *t->value);
    cri_string_free(cx, t->source);
    cri_noisy_free(cx, &t->noisy);
    *t = (cri_table){ 0 };
}

void cr_network_free(cr_ctx *cx, cr_network *net)
{
    if (!net) return;
    for (size_t i = 0; i < net->tables; i++) free_table(cx, &net->table[i]);
    cr_free(cx, net->table, net->table_capacity, sizeof *net->table);
    for (size_t i = 0; i < net->properties; i++) cri_string_free(cx, net->property[i].text);
    cr_free(cx, net->property, net->property_capacity, sizeof *net->property);
    cr_free(cx, net->sweep, net->sweeps, sizeof *net->sweep);
    cri_string_free(cx, net->name);
    cr_variables_free(cx, net->variables);
    cr_free(cx, net, 1, sizeof *net);
}

cr_network_kind cr_network_get_kind(const cr_network *net) { return net->kind; }

const char *cr_network_name(const cr_network *net) { return net->name ? net->name : ""; }

cr_status cr_network_set_name(cr_ctx *cx, cr_network *net, const char *name)
{
    char *copy = cri_string_copy(cx, name);
    if (!copy) return CR_ENOMEM;
    cri_string_free(cx, net->name);
    net->name = copy;
    return CR_OK;
}

/* --- variables ------------------------------------------------------------------------------- */

size_t cri_states_before(const cr_network *net, size_t v)
{
    size_t at = 0;
    for (size_t k = 0; k < v; k++) at += cr_network_states(net, k);
    return at;
}

static cr_status reserve_table(cr_ctx *cx, cr_network *net)
{
    return cri_array_grow(cx, &net->table, net->tables, &net->table_capacity, sizeof *net->table);
}

cr_status cr_network_add_variable(cr_ctx *cx, cr_network *net, const char *name, size_t states,
                                  const char *const *opt_state_names, size_t *opt_index)
{
    cr_status st = CR_OK;
    cri_table t = { .n = 1, .size = 0 };
    size_t    v = 0;
    if (net->kind == CR_NETWORK_BAYES) {
        CR_TRY(reserve_table(cx, net));
        t.scope = cr_alloc(cx, 1, sizeof *t.scope);
        if (!t.scope) CR_TRY(CR_ENOMEM);
    }
    CR_TRY(cr_variables_add(cx, net->variables, name, states, opt_state_names, &v));
    if (net->kind == CR_NETWORK_BAYES) {
        t.scope[0] = v;
        net->table[net->tables++] = t;
        t = (cri_table){ 0 };
    }
    if (opt_index) *opt_index = v;
done:
    free_table(cx, &t);
    return st;
}

const cr_variables *cr_network_variables(const cr_network *net) { return net->variables; }

size_t cr_network_size(const cr_network *net) { return cr_variables_count(net->variables); }

size_t cr_network_states(const cr_network *net, size_t v)
{
    return cr_variable_states(net->variables, v);
}

/* --- tables ---------------------------------------------------------------------------------- */

/* The number of entries of a table over this scope.  CR_ENOMEM, with the figure, when it cannot be.
 */
static cr_status count_entries(cr_ctx *cx, const cr_network *net, const char *whose, size_t n,
                               const size_t *scope, size_t *out_size)
{
    double size = 1;
    for (size_t i = 0; i < n; i++) size *= (double)cr_network_states(net, scope[i]);
    if (size * sizeof(double) > (double)cri_memory_left(cx))
        return cr_fail(cx, CR_ENOMEM,
                       "the table of %s over %zu variables would have %.3g entries (%.3g GB)",
                       whose, n, size, size * sizeof(double) / 1e9);
    *out_size = 1;
    for (size_t i = 0; i < n; i++) *out_size *= cr_network_states(net, scope[i]);
    return CR_OK;
}

static cr_status check_scope(cr_ctx *cx, const cr_network *net, const char *whose, size_t n,
                             const size_t *scope)
{
    const cr_variables *vs = net->variables;
    for (size_t i = 0; i < n; i++) {
        if (scope[i] >= cr_variables_count(vs))
            return cr_fail(cx, CR_EARG, "the scope of %s has variable %zu, but there are %zu",
                           whose, scope[i], cr_variables_count(vs));
        for (size_t j = 0; j < i; j++)
            if (scope[i] == scope[j])
                return cr_fail(cx, CR_EDATA, "'%s' occurs twice in the scope of %s",
                               cr_variable_name(vs, scope[i]), whose);
    }
    return CR_OK;
}

cr_status cr_network_set_parents(cr_ctx *cx, cr_network *net, size_t v, size_t n,
                                 const size_t *parents)
{
    cr_status   st = CR_OK;
    size_t     *scope = NULL;
    const char *name;
    if (net->kind != CR_NETWORK_BAYES)
        return cr_fail(cx, CR_EARG, "a Markov network has no parents");
    if (v >= net->tables)
        return cr_fail(cx, CR_EARG, "there is no variable %zu, only %zu of them", v, net->tables);
    name = cr_variable_name(net->variables, v);
    for (size_t i = 0; i < n; i++)
        if (parents[i] == v) return cr_fail(cx, CR_EDATA, "variable '%s' is its own parent", name);
    scope = cr_alloc(cx, n + 1, sizeof *scope);
    if (!scope) return CR_ENOMEM;
    if (n > 0) memcpy(scope, parents, n * sizeof *scope);
    scope[n] = v;
    CR_TRY(check_scope(cx, net, name, n + 1, scope));
    free_table(cx, &net->table[v]);
    net->table[v] = (cri_table){ .n = n + 1, .scope = scope };
    scope = NULL;
done:
    cr_free(cx, scope, n + 1, sizeof *scope);
    return st;
}

/* The size of the table of v, if it can have one. */
static cr_status table_size(cr_ctx *cx, const cr_network *net, size_t v, size_t *out_size)
{
    if (net->kind != CR_NETWORK_BAYES)
        return cr_fail(cx, CR_EARG, "a Markov network has no conditional tables");
    if (v >= net->tables)
        return cr_fail(cx, CR_EARG, "there is no variable %zu, only %zu of them", v, net->tables);
    return count_entries(cx, net, cr_variable_name(net->variables, v), net->table[v].n,
                         net->table[v].scope, out_size);
}

cr_status cri_network_set_scope(cr_ctx *cx, cr_network *net, size_t v, size_t n,
                                const size_t *parents)
{
    size_t    size;
    cr_status st = cr_network_set_parents(cx, net, v, n, parents);
    return st == CR_OK ? table_size(cx, net, v, &size) : st;
}

const size_t *cr_network_parents(const cr_network *net, size_t v, size_t *out_n)
{
    *out_n = net->table[v].n - 1;
    return net->table[v].scope;
}

/* "b=yes, c=low": the assignment that row `row` of a conditional table stands for. */
static void name_row(const cr_network *net, const cri_table *t, size_t row, char *out,
                     size_t capacity)
{
    const cr_variables *vs = net->variables;
    size_t              used = 0, below = 1;
    for (size_t i = 0; i + 1 < t->n; i++) below *= cr_variable_states(vs, t->scope[i]);
    out[0] = '\0';
    for (size_t i = 0; i + 1 < t->n && used < capacity; i++) {
        size_t v = t->scope[i];
        below /= cr_variable_states(vs, v);
        used += (size_t)snprintf(out + used, capacity - used, "%s%s=%s", i ? ", " : " given ",
                                 cr_variable_name(vs, v), cr_state_name(vs, v, row / below));
        row %= below;
    }
}

/* Divides a row by its sum.  *worst: the largest distance of a sum from 1 so far. */
static cr_status normalise_row(cr_ctx *cx, const cr_network *net, const cri_table *t, size_t row,
                               size_t states, double *worst)
{
    double     *p = t->value + row * states, sum = 0;
    char        given[512];
    const char *name = cr_variable_name(net->variables, t->scope[t->n - 1]);
    for (size_t s = 0; s < states; s++) {
        if (!(p[s] >= 0) || p[s] > DBL_MAX) {
            name_row(net, t, row, given, sizeof given);
            return cr_fail(cx, CR_EDATA, "the probability of '%s=%s'%s is %g", name,
                           cr_state_name(net->variables, t->scope[t->n - 1], s), given, p[s]);
        }
        sum += p[s];
    }
    double off = fabs(sum - 1);
    if (!(off < 1e-3)) {
        name_row(net, t, row, given, sizeof given);
        return cr_fail(cx, CR_EDATA, "the probabilities of '%s'%s sum to %.10g, expected 1", name,
                       given, sum);
    }
    if (off > *worst) *worst = off;
    if (off > (double)states * DBL_EPSILON) /* else a row that was divided before */
        for (size_t s = 0; s < states; s++) p[s] /= sum;
    return CR_OK;
}

cr_status cri_network_new_table(cr_ctx *cx, const cr_network *net, size_t v, double **out_value,
                                size_t *out_size)
{
    cr_status st = CR_OK;
    CR_TRY(table_size(cx, net, v, out_size));
    *out_value = cr_resize(cx, NULL, 0, *out_size, sizeof **out_value);
    if (!*out_value) CR_TRY(CR_ENOMEM);
done:
    return st;
}

cr_status cri_network_take_table(cr_ctx *cx, cr_network *net, size_t v, double *value, size_t size,
                                 cr_cpd_kind kind)
{
    enum { MANY = 1 << 16 };
    cr_status   st = CR_OK;
    double      worst = 0;
    cri_table   t = net->table[v];
    const char *name = cr_variable_name(net->variables, v);
    size_t      states = cr_network_states(net, v);
    t.value = value;
    t.size = size;
    for (size_t row = 0; st == CR_OK && row < t.size / states; row++) {
        st = normalise_row(cx, net, &t, row, states, &worst);
        if (st == CR_OK && row % MANY == MANY - 1) st = cr_check_interrupt(cx);
    }
    if (st != CR_OK) {
        cr_free(cx, t.value, t.size, sizeof *t.value);
        goto done;
    }
    if (worst > 1e-6)
        cr_log(cx, CR_LOG_WARNING,
               "probabilities of '%s' that sum to 1 only within %.2g were divided by their sum",
               name, worst);
    cr_free(cx, net->table[v].value, net->table[v].size, sizeof *t.value);
    cri_string_free(cx, t.source);
    t.source = NULL;
    cri_noisy_free(cx, &t.noisy);
    t.kind = kind;
    net->table[v] = t;
done:
    return st;
}

cr_status cr_network_set_table_kind(cr_ctx *cx, cr_network *net, size_t v, const double *values,
                                    cr_cpd_kind kind)
{
    double   *mine;
    size_t    size;
    cr_status st = cri_network_new_table(cx, net, v, &mine, &size);
    if (st != CR_OK) return st;
    memcpy(mine, values, size * sizeof *mine);
    return cri_network_take_table(cx, net, v, mine, size, kind);
}

cr_status cr_network_set_table(cr_ctx *cx, cr_network *net, size_t v, const double *values)
{
    return cr_network_set_table_kind(cx, net, v, values, CR_CPD_TABLE);
}

cr_status cr_network_add_table_kind(cr_ctx *cx, cr_network *net, size_t n, const size_t *scope,
                                    const double *values, cr_cpd_kind kind)
{
    cr_status st = CR_OK;
    cri_table t = { .n = n, .kind = kind };
    char      whose[40];
    snprintf(whose, sizeof whose, "factor %zu", net->tables + 1);
    if (net->kind != CR_NETWORK_MARKOV)
        return cr_fail(cx, CR_EARG, "a Bayesian network takes one table per variable");
    CR_TRY(check_scope(cx, net, whose, n, scope));
    CR_TRY(count_entries(cx, net, whose, n, scope, &t.size));
    for (size_t i = 0; i < t.size; i++)
        if (!(values[i] >= 0) || values[i] > DBL_MAX)
            CR_TRY(cr_fail(cx, CR_EDATA, "value %zu of %s is %g, expected a number >= 0", i + 1,
                           whose, values[i]));
    CR_TRY(reserve_table(cx, net));
    t.scope = cr_alloc(cx, n, sizeof *t.scope);
    t.value = t.scope ? cr_resize(cx, NULL, 0, t.size, sizeof *t.value) : NULL;
    if (!t.value) CR_TRY(CR_ENOMEM);
    if (n > 0) memcpy(t.scope, scope, n * sizeof *scope);
    memcpy(t.value, values, t.size * sizeof *values);
    net->table[net->tables++] = t;
    t = (cri_table){ 0 };
done:
    free_table(cx, &t);
    return st;
}

cr_status cr_network_add_table(cr_ctx *cx, cr_network *net, size_t n, const size_t *scope,
                               const double *values)
{
    return cr_network_add_table_kind(cx, net, n, scope, values, CR_CPD_TABLE);
}

size_t cr_network_tables(const cr_network *net) { return net->tables; }

cr_table_view cr_network_table(const cr_network *net, size_t i)
{
    const cri_table *t = &net->table[i];
    return (cr_table_view){ t->n, t->size, t->scope, t->value, t->kind, t->source };
}

cr_status cri_network_set_source(cr_ctx *cx, cr_network *net, size_t i, const char *text)
{
    char *copy = cri_string_copy(cx, text);
    if (!copy) return CR_ENOMEM;
    cri_string_free(cx, net->table[i].source);
    net->table[i].source = copy;
    return CR_OK;
}

const char *cri_cpd_name(cr_cpd_kind kind)
{
    static const char *const KINDS[] = { "none",      "table", "deterministic", "noisy-or",
                                         "noisy-max", "tree",  "log-linear" };
    return (size_t)kind < sizeof KINDS / sizeof *KINDS ? KINDS[kind] : "";
}

cr_status cr_network_factor(cr_ctx *cx, const cr_network *net, size_t i, cr_factor *out_f)
{
    cr_status        st = CR_OK;
    const cri_table *t = &net->table[i];
    size_t          *states = cr_alloc(cx, t->n, sizeof *states);
    if (!states) CR_TRY(CR_ENOMEM);
    for (size_t k = 0; k < t->n; k++) states[k] = cr_network_states(net, t->scope[k]);
    if (!t->value)
        CR_TRY(cr_fail(cx, CR_EDATA, "variable '%s' has no table",
                       cr_variable_name(net->variables, i)));
    CR_TRY(cr_factor_new(cx, t->n, t->scope, states, t->value, out_f));
done:
    cr_free(cx, states, t->n, sizeof *states);
    return st;
}

/* --- remarks --------------------------------------------------------------------------------- */

cr_status cr_network_add_property(cr_ctx *cx, cr_network *net, size_t v, const char *text)
{
    if (cri_array_grow(cx, &net->property, net->properties, &net->property_capacity,
                       sizeof *net->property) != CR_OK)
        return CR_ENOMEM;
    char *copy = cri_string_copy(cx, text);
    if (!copy) return CR_ENOMEM;
    net->property[net->properties++] = (cri_property){ v, copy };
    return CR_OK;
}

size_t cr_network_properties(const cr_network *net) { return net->properties; }

const char *cr_network_property(const cr_network *net, size_t i, size_t *opt_v)
{
    if (opt_v) *opt_v = net->property[i].variable;
    return net->property[i].text;
}
