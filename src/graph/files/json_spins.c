/* json_spins.c -- "ising" and "boltzmann": log-linear models of pairs of variables with two states.
 *   p(x) = exp(sum_i h_i x_i + sum_ij J_ij x_i x_j) / Z,   x_i = -1 or +1, or 0 or 1
 * Each term that is not 0 becomes a table.  Koller & Friedman (2009), box 4.C. */
#include "base/sort.h"
#include "json_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_WEIGHT = 699; /* exp() of it and of its opposite are numbers */

typedef struct spins {
    const char *key, *single, *pair; /* the object, and the keys of its two lists */
    const char *states[2];
    double      value[2];
} spins;

static const spins SPINS[] = {
    { "ising", "fields", "couplings", { "-1", "+1" }, { -1, 1 } },
    { "boltzmann", "biases", "weights", { "0", "1" }, { 0, 1 } },
};
enum { SPIN_KINDS = sizeof SPINS / sizeof *SPINS };

/* --- tables ---------------------------------------------------------------------------------- */

static cr_status add_single(cri_json_network *f, const spins *k, size_t v, double h)
{
    double value[2] = { exp(h * k->value[0]), exp(h * k->value[1]) };
    if (h == 0) return CR_OK;
    return cr_network_add_table_kind(f->d.cx, f->net, 1, &v, value, CR_CPD_LOG_LINEAR);
}

static cr_status add_pair(cri_json_network *f, const spins *k, size_t v, size_t u, double J)
{
    size_t scope[2] = { v, u };
    double value[4];
    for (size_t i = 0; i < 4; i++) value[i] = exp(J * k->value[i / 2] * k->value[i % 2]);
    return cr_network_add_table_kind(f->d.cx, f->net, 2, scope, value, CR_CPD_LOG_LINEAR);
}

/* Keeps the table that was added last as features: each joint state whose weight is not 0.  n: 1 or
 * 2 variables. */
static cr_status keep_features(cri_json_network *f, const spins *k, size_t n, const size_t *var,
                               double weight)
{
    cr_status           st = CR_OK;
    const cr_variables *vs = cr_network_variables(f->net);
    json_t             *list = json_array();
    for (size_t e = 0; e < (size_t)1 << n; e++) {
        size_t  state[2] = { n == 2 ? e / 2 : e, e % 2 };
        double  w = weight * k->value[state[0]] * (n == 2 ? k->value[state[1]] : 1);
        json_t *one, *when;
        if (w == 0) continue;
        json_array_append_new(list, one = json_object());
        json_object_set_new(one, "when", when = json_object());
        for (size_t i = 0; i < n; i++)
            json_object_set_new(when, cr_variable_name(vs, var[i]),
                                json_string(cr_state_name(vs, var[i], state[i])));
        json_object_set_new(one, "weight", json_real(w));
    }
    CR_TRY(cri_network_keep(f->d.cx, f->net, cr_network_tables(f->net) - 1, list));
done:
    json_decref(list);
    return st;
}

/* --- a grid ---------------------------------------------------------------------------------- */

typedef struct lattice {
    size_t rows, cols, first; /* first: the variable at its corner; row after row */
    double coupling, field;
    bool   periodic;
} lattice;

static cr_status read_lattice(const cri_json *d, json_t *object, lattice *out)
{
    static const char *const KEYS[] = { "rows", "cols", "coupling", "field", "periodic", NULL };
    cr_status                st = CR_OK;
    json_t                  *value;
    CR_TRY(cri_json_keys(d, object, KEYS));
    CR_TRY(cri_json_member(d, object, "rows", &value));
    CR_TRY(cri_json_count(d, value, "the number of rows", 1000000, &out->rows));
    CR_TRY(cri_json_member(d, object, "cols", &value));
    CR_TRY(cri_json_count(d, value, "the number of columns", 1000000 / out->rows, &out->cols));
    CR_TRY(cri_json_member(d, object, "coupling", &value));
    CR_TRY(cri_json_real_in(d, value, "the coupling", -MOST_WEIGHT, MOST_WEIGHT, &out->coupling));
    if ((value = json_object_get(object, "field")))
        CR_TRY(cri_json_real_in(d, value, "the field", -MOST_WEIGHT, MOST_WEIGHT, &out->field));
    if ((value = json_object_get(object, "periodic"))) {
        if (!json_is_boolean(value))
            CR_TRY(cri_json_fail(d, value, "\"periodic\" should be true or false"));
        out->periodic = json_is_true(value);
    }
done:
    return st;
}

static cr_status add_lattice_variables(cri_json_network *f, json_t *object)
{
    cr_status st = CR_OK;
    lattice   g = { 0 };
    char      name[64];
    CR_TRY(read_lattice(&f->d, object, &g));
    for (size_t i = 0; i < g.rows * g.cols; i++) {
        snprintf(name, sizeof name, "s%zu_%zu", i / g.cols + 1, i % g.cols + 1);
        CR_TRY(cri_json_place(
            &f->d, object,
            cr_network_add_variable(f->d.cx, f->net, name, 2, SPINS[0].states, NULL)));
    }
done:
    return st;
}

/* The neighbours to the right and below; where it is periodic, those across the edge, unless that
 * would be the same two again. */
static cr_status add_lattice_tables(cri_json_network *f, json_t *object)
{
    cr_status st = CR_OK;
    lattice   g = { 0 };
    CR_TRY(read_lattice(&f->d, object, &g));
    g.first = cr_variable_lookup(cr_network_variables(f->net), "s1_1");
    for (size_t i = 0; i < g.rows * g.cols; i++) {
        size_t r = i / g.cols, c = i % g.cols, v = g.first + i;
        CR_TRY(add_single(f, &SPINS[0], v, g.field));
        if (c + 1 < g.cols || (g.periodic && g.cols > 2))
            CR_TRY(add_pair(f, &SPINS[0], v, g.first + r * g.cols + (c + 1) % g.cols, g.coupling));
        if (r + 1 < g.rows || (g.periodic && g.rows > 2))
            CR_TRY(add_pair(f, &SPINS[0], v, g.first + (r + 1) % g.rows * g.cols + c, g.coupling));
    }
done:
    return st;
}

static bool is_lattice(const json_t *object)
{
    return json_object_get(object, "rows") || json_object_get(object, "cols");
}

/* --- pairs by name --------------------------------------------------------------------------- */

/* Adds the variable if it is new; one that is there must have two states. */
static cr_status need_spin(cri_json_network *f, const spins *k, const json_t *at, const char *name)
{
    size_t v = cr_variable_lookup(cr_network_variables(f->net), name);
    if (v == CR_NONE)
        return cri_json_place(&f->d, at,
                              cr_network_add_variable(f->d.cx, f->net, name, 2, k->states, NULL));
    if (cr_network_states(f->net, v) != 2)
        return cri_json_fail(&f->d, at, "'%s' has %zu states, but here it should have two", name,
                             cr_network_states(f->net, v));
    return CR_OK;
}

/* ["x", "y", 0.5] */
static cr_status read_pair(const cri_json *d, json_t *one, const char **x, const char **y,
                           double *weight)
{
    cr_status st = CR_OK;
    if (json_array_size(one) != 3)
        CR_TRY(cri_json_fail(d, one,
                             "two variables and a number are expected here: [\"x\", \"y\", "
                             "0.5]"));
    CR_TRY(cri_json_text(d, json_array_get(one, 0), "the name of a variable", x));
    CR_TRY(cri_json_text(d, json_array_get(one, 1), "the name of a variable", y));
    CR_TRY(
        cri_json_real_in(d, json_array_get(one, 2), "a weight", -MOST_WEIGHT, MOST_WEIGHT, weight));
    if (strcmp(*x, *y) == 0) CR_TRY(cri_json_fail(d, one, "'%s' is paired with itself", *x));
done:
    return st;
}

static cr_status add_named_variables(cri_json_network *f, const spins *k, json_t *object)
{
    const char *keys[] = { k->single, k->pair, NULL };
    cr_status   st = CR_OK;
    json_t     *single = json_object_get(object, k->single), *item;
    json_t     *pairs = json_object_get(object, k->pair);
    const char *name, *x, *y;
    double      weight;
    size_t      i;
    CR_TRY(cri_json_keys(&f->d, object, keys));
    if (single) CR_TRY(cri_json_is_object(&f->d, single, "an object from variables to numbers"));
    if (pairs) CR_TRY(cri_json_is_array(&f->d, pairs, "a list of pairs with their numbers"));
    json_object_foreach(single, name, item) CR_TRY(need_spin(f, k, item, name));
    json_array_foreach(pairs, i, item)
    {
        CR_TRY(read_pair(&f->d, item, &x, &y, &weight));
        CR_TRY(need_spin(f, k, item, x));
        CR_TRY(need_spin(f, k, item, y));
    }
done:
    return st;
}

typedef struct pair {
    size_t  low, high;
    json_t *at;
} pair;

CRI_COMPARE_BY_TWO(by_variables, pair, low, high);

/* Fails when two variables are paired twice. */
static cr_status check_pairs(cri_json_network *f, size_t n, pair *list)
{
    if (n > 1) qsort(list, n, sizeof *list, by_variables);
    for (size_t i = 1; i < n; i++)
        if (by_variables(&list[i - 1], &list[i]) == 0)
            return cri_json_fail(&f->d, list[i].at, "this pair occurs here twice");
    return CR_OK;
}

static cr_status add_named_tables(cri_json_network *f, const spins *k, json_t *object)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(f->d.cx);
    const cr_variables *vs = cr_network_variables(f->net);
    json_t             *pairs = json_object_get(object, k->pair), *item;
    pair               *list = cr_scratch_bytes(&s, json_array_size(pairs), sizeof *list);
    const char         *name, *x, *y;
    double              weight;
    size_t              i;
    CR_TRY(s.status);
    json_object_foreach(json_object_get(object, k->single), name, item)
    {
        CR_TRY(cri_json_real_in(&f->d, item, "a weight", -MOST_WEIGHT, MOST_WEIGHT, &weight));
        size_t v = cr_variable_lookup(vs, name);
        CR_TRY(add_single(f, k, v, weight));
        if (weight != 0) CR_TRY(keep_features(f, k, 1, &v, weight));
    }
    json_array_foreach(pairs, i, item)
    {
        CR_TRY(read_pair(&f->d, item, &x, &y, &weight));
        size_t v = cr_variable_lookup(vs, x), u = cr_variable_lookup(vs, y);
        list[i] = (pair){ v < u ? v : u, v < u ? u : v, item };
        CR_TRY(add_pair(f, k, v, u, weight));
        if (weight != 0) CR_TRY(keep_features(f, k, 2, (size_t[]){ v, u }, weight));
    }
    CR_TRY(check_pairs(f, json_array_size(pairs), list));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- both ------------------------------------------------------------------------------------ */

cr_status cri_json_spin_variables(cri_json_network *f)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < SPIN_KINDS; i++) {
        json_t *object = json_object_get(f->d.root, SPINS[i].key);
        if (!object) continue;
        CR_TRY(cri_json_is_object(&f->d, object, "an object"));
        CR_TRY(i == 0 && is_lattice(object) ? add_lattice_variables(f, object)
                                            : add_named_variables(f, &SPINS[i], object));
    }
done:
    return st;
}

cr_status cri_json_spin_tables(cri_json_network *f)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < SPIN_KINDS; i++) {
        json_t *object = json_object_get(f->d.root, SPINS[i].key);
        if (!object) continue;
        CR_TRY(i == 0 && is_lattice(object) ? add_lattice_tables(f, object)
                                            : add_named_tables(f, &SPINS[i], object));
    }
done:
    return st;
}
