/* cpd.c -- from few parameters to tables. */
#include "cpd.h"
#include "noisy.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* The rows of a conditional table, one by one. */
typedef struct rows {
    const cr_network *net;
    size_t            v, parents, states, n; /* n rows of `states` */
    const size_t     *parent;
    size_t            size;
    double           *value; /* [n x states], on its own: it becomes the network's */
    size_t           *at;    /* [parents] their states in the row at hand */
} rows;

static cr_status make_rows(cr_scratch *s, const cr_network *net, size_t v, rows *r)
{
    if (cr_network_get_kind(net) != CR_NETWORK_BAYES || v >= cr_network_size(net))
        return cr_fail(s->cx, CR_EARG, "there is no variable %zu in a Bayesian network", v);
    *r = (rows){ .net = net, .v = v, .states = cr_network_states(net, v), .n = 1 };
    r->parent = cr_network_parents(net, v, &r->parents);
    r->at = cr_scratch_bytes(s, r->parents, sizeof *r->at);
    if (s->status != CR_OK) return s->status;
    cr_status st = cri_network_new_table(s->cx, net, v, &r->value, &r->size);
    r->n = r->size / r->states;
    return st;
}

static void free_rows(cr_ctx *cx, rows *r)
{
    cr_free(cx, r->value, r->size, sizeof *r->value);
    r->value = NULL;
}

/* The table goes to the network. */
static cr_status keep_rows(cr_ctx *cx, cr_network *net, rows *r, cr_cpd_kind kind)
{
    double *value = r->value;
    r->value = NULL;
    return cri_network_take_table(cx, net, r->v, value, r->size, kind);
}

/* To the row behind `row`. */
static cr_status next_row(cr_ctx *cx, rows *r, size_t row)
{
    enum { MANY = 1 << 16 };
    if (row % MANY == MANY - 1) {
        cr_status st = cr_check_interrupt(cx);
        if (st != CR_OK) return st;
    }
    for (size_t i = r->parents; i-- > 0;) {
        if (++r->at[i] < cr_network_states(r->net, r->parent[i])) break;
        r->at[i] = 0;
    }
    return CR_OK;
}

static bool is_probability(double p) { return p >= 0 && p <= 1; }

static const char *name_of(const rows *r)
{
    return cr_variable_name(cr_network_variables(r->net), r->v);
}

cr_status cr_cpd_deterministic(cr_ctx *cx, cr_network *net, size_t v, const size_t *value)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    rows       r = { 0 };
    CR_TRY(make_rows(&s, net, v, &r));
    for (size_t i = 0; i < r.n; i++) {
        if (value[i] >= r.states)
            CR_TRY(cr_fail(cx, CR_EDATA, "variable '%s' has no state %zu, only %zu of them",
                           name_of(&r), value[i], r.states));
        for (size_t k = 0; k < r.states; k++) r.value[i * r.states + k] = k == value[i];
        CR_TRY(next_row(cx, &r, i));
    }
    CR_TRY(keep_rows(cx, net, &r, CR_CPD_DETERMINISTIC));
done:
    free_rows(cx, &r);
    cr_scratch_end(&s);
    return st;
}

/* --- effects of causes that act by themselves ------------------------------------------------ */

static cr_status check_variable(cr_ctx *cx, const cr_network *net, size_t v)
{
    if (cr_network_get_kind(net) == CR_NETWORK_BAYES && v < cr_network_size(net)) return CR_OK;
    return cr_fail(cx, CR_EARG, "there is no variable %zu in a Bayesian network", v);
}

/* Room for the leak, and a row for each state of each parent of v. */
static cr_status make_effects(cr_ctx *cx, const cr_network *net, size_t v, cri_noisy *out)
{
    size_t        parents, count = 1, levels = cr_network_states(net, v);
    const size_t *parent = cr_network_parents(net, v, &parents);
    for (size_t i = 0; i < parents; i++) count += cr_network_states(net, parent[i]);
    double *effect = cr_alloc(cx, count * levels, sizeof *effect);
    if (!effect) return CR_ENOMEM;
    *out = (cri_noisy){ .rows = count, .levels = levels, .effect = effect };
    return CR_OK;
}

cr_status cr_cpd_noisy_or(cr_ctx *cx, cr_network *net, size_t v, double leak,
                          const double *strength, const size_t *opt_on)
{
    cr_status   st = CR_OK;
    cri_noisy   x = { 0 };
    size_t      parents;
    const char *name;
    CR_TRY(check_variable(cx, net, v));
    const size_t *parent = cr_network_parents(net, v, &parents);
    bool          binary = cr_network_states(net, v) == 2, valid = is_probability(leak);
    name = cr_variable_name(cr_network_variables(net), v);
    for (size_t i = 0; i < parents; i++) {
        binary &= cr_network_states(net, parent[i]) == 2;
        valid &= is_probability(strength[i]);
    }
    for (size_t i = 0; opt_on && i <= parents; i++) valid &= opt_on[i] < 2;
    if (!binary)
        CR_TRY(cr_fail(cx, CR_EDATA, "noisy-or: '%s' and its parents must have two states each",
                       name));
    if (!valid)
        CR_TRY(
            cr_fail(cx, CR_EDATA, "noisy-or of '%s': strengths and leak must lie in [0, 1]", name));
    CR_TRY(make_effects(cx, net, v, &x));
    x.falling = opt_on && opt_on[parents] == 0;
    x.effect[0] = 1 - leak;
    x.effect[1] = leak;
    for (size_t i = 0; i < parents; i++)
        for (size_t u = 0; u < 2; u++) {
            double p = u == (opt_on ? opt_on[i] : 1) ? strength[i] : 0;
            x.effect[2 + 4 * i + 2 * u] = 1 - p;
            x.effect[3 + 4 * i + 2 * u] = p;
        }
    CR_TRY(cri_noisy_set(cx, net, v, &x, CR_CPD_NOISY_OR));
done:
    return st;
}

/* Copies rows that must be distributions, divided by their sums. */
static cr_status copy_effects(cr_ctx *cx, const cr_network *net, size_t v, size_t count,
                              const double *p, double *out)
{
    size_t levels = cr_network_states(net, v);
    for (size_t i = 0; i < count; i++, p += levels, out += levels) {
        double sum = 0;
        for (size_t k = 0; k < levels; k++) sum += is_probability(p[k]) ? p[k] : NAN;
        if (!(fabs(sum - 1) < 1e-6))
            return cr_fail(cx, CR_EDATA, "noisy-max of '%s': a row of effects does not sum to 1",
                           cr_variable_name(cr_network_variables(net), v));
        for (size_t k = 0; k < levels; k++) out[k] = p[k] / sum;
    }
    return CR_OK;
}

cr_status cr_cpd_noisy_max(cr_ctx *cx, cr_network *net, size_t v, const double *effect,
                           const double *opt_leak)
{
    cr_status st = CR_OK;
    cri_noisy x = { 0 };
    CR_TRY(check_variable(cx, net, v));
    CR_TRY(make_effects(cx, net, v, &x));
    x.effect[0] = 1;
    if (opt_leak) CR_TRY(copy_effects(cx, net, v, 1, opt_leak, x.effect));
    CR_TRY(copy_effects(cx, net, v, x.rows - 1, effect, x.effect + x.levels));
    CR_TRY(cri_noisy_set(cx, net, v, &x, CR_CPD_NOISY_MAX));
done:
    cri_noisy_free(cx, &x);
    return st;
}

/* --- trees ----------------------------------------------------------------------------------- */

cr_status cr_cpd_tree(cr_ctx *cx, cr_network *net, size_t v, size_t n, const cr_tree_node *node)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    rows       r = { 0 };
    CR_TRY(make_rows(&s, net, v, &r));
    for (size_t i = 0; i < n; i++) {
        bool   leaf = node[i].parent == CR_NONE, fits = leaf ? node[i].p != NULL : true;
        size_t states = 0;
        if (!leaf) {
            fits = node[i].parent < r.parents;
            if (fits) states = cr_network_states(net, r.parent[node[i].parent]);
            fits = fits && node[i].next > i && node[i].next < n && states <= n - node[i].next;
        }
        if (!fits)
            CR_TRY(cr_fail(cx, CR_EDATA,
                           "tree of '%s': node %zu is wrong (its branches must follow it)",
                           name_of(&r), i));
    }
    if (n == 0) CR_TRY(cr_fail(cx, CR_EDATA, "tree of '%s': there is no node", name_of(&r)));
    for (size_t row = 0; row < r.n; row++) {
        size_t i = 0;
        while (node[i].parent != CR_NONE) i = node[i].next + r.at[node[i].parent];
        memcpy(r.value + row * r.states, node[i].p, r.states * sizeof(double));
        CR_TRY(next_row(cx, &r, row));
    }
    CR_TRY(keep_rows(cx, net, &r, CR_CPD_TREE));
done:
    free_rows(cx, &r);
    cr_scratch_end(&s);
    return st;
}

/* --- log-linear models ----------------------------------------------------------------------- */

static cr_status check_feature(cr_ctx *cx, const cr_network *net, size_t i, const cr_feature *f)
{
    for (size_t k = 0; k < f->n; k++)
        if (f->var[k] >= cr_network_size(net) || f->state[k] >= cr_network_states(net, f->var[k]))
            return cr_fail(cx, CR_EDATA, "feature %zu: there is no state %zu of variable %zu",
                           i + 1, f->state[k], f->var[k]);
    if (!(fabs(f->weight) < 700))
        return cr_fail(cx, CR_EDATA, "feature %zu: the weight %g is out of range", i + 1,
                       f->weight);
    return CR_OK;
}

/* Adds the weight of a feature to the entries, logarithms, that agree with it. */
static void add_feature(cr_factor *f, const cr_feature *feature)
{
    for (size_t e = 0; e < f->size; e++) {
        bool agrees = true;
        for (size_t k = 0; k < feature->n; k++) {
            size_t i = cr_factor_position(f, feature->var[k]);
            agrees &= e / f->stride[i] % f->states[i] == feature->state[k];
        }
        if (agrees) f->value[e] += feature->weight;
    }
}

cr_status cr_feature_factor(cr_ctx *cx, const cr_network *net, size_t n, const cr_feature *feature,
                            cr_factor *out_f)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_factor  f = { 0 };
    size_t     variables = cr_network_size(net), count = 0;
    bool      *used = cr_scratch_bytes(&s, variables, sizeof *used);
    size_t    *var = cr_scratch_index(&s, variables), *states = cr_scratch_index(&s, variables);
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) {
        CR_TRY(check_feature(cx, net, i, &feature[i]));
        for (size_t k = 0; k < feature[i].n; k++) used[feature[i].var[k]] = true;
    }
    for (size_t v = 0; v < variables; v++)
        if (used[v]) var[count] = v, states[count++] = cr_network_states(net, v);
    CR_TRY(cr_factor_new(cx, count, var, states, NULL, &f));
    cr_factor_set_log(&f, true);
    for (size_t i = 0; i < n; i++) add_feature(&f, &feature[i]);
    cr_factor_set_log(&f, false);
    *out_f = f;
    f = (cr_factor){ 0 };
done:
    cr_factor_free(cx, &f);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_network_add_features(cr_ctx *cx, cr_network *net, size_t n, const cr_feature *feature)
{
    for (size_t i = 0; i < n; i++) {
        cr_status st = check_feature(cx, net, i, &feature[i]);
        if (st != CR_OK) return st;
    }
    for (size_t i = 0; i < n; i++) {
        cr_factor f = { 0 };
        cr_status st = cr_feature_factor(cx, net, 1, &feature[i], &f);
        if (st == CR_OK)
            st = cr_network_add_table_kind(cx, net, f.n, f.var, f.value, CR_CPD_LOG_LINEAR);
        cr_factor_free(cx, &f);
        if (st != CR_OK) return st;
    }
    return CR_OK;
}
