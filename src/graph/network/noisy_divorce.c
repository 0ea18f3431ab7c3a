/* noisy_divorce.c -- auxiliary variables in the place of tables over many parents. */
#include "noisy.h"
#include "structure.h"
#include "base/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cri_divorced_free(cr_ctx *cx, cri_divorced *d)
{
    cr_network_free(cx, d->net);
    cr_evidence_free(cx, d->e);
    *d = (cri_divorced){ 0 };
}

typedef enum way { AS_IT_IS, IN_STEPS, APART } way;

/* One variable whose parents are divorced. */
typedef struct couple {
    cr_ctx        *cx;
    cr_scratch    *s;
    cr_network    *net;    /* that becomes the divorced one */
    size_t         v, n;   /* n parents, */
    const size_t  *parent; /* [n] */
    size_t        *order;  /* [n] causes before effects: which place among the parents comes when */
    const double **effect; /* [n] rows of each */
    const cri_noisy *x;
    double          *value; /* workspace: the largest table of a step */
    const size_t    *place; /* [variables before] causes before effects, the same for all couples */
    double          *when;  /* [variables] when the sweep comes to each */
} couple;

static size_t states_of(const couple *c, size_t i)
{
    return cr_network_states(c->net, c->parent[i]);
}

/* --- which ----------------------------------------------------------------------------------- */

/* Entries of all steps together. */
static double entries_in_steps(const cr_network *net, const cri_table *t)
{
    double levels = (double)t->noisy.levels, sum = 0;
    for (size_t i = 0; i + 1 < t->n; i++)
        sum += levels * levels * (double)cr_network_states(net, t->scope[i]);
    return sum;
}

static way choose_way(const cr_network *net, size_t v, const cr_evidence *opt_e, bool sums)
{
    const cri_table *t = &net->table[v];
    if (net->kind != CR_NETWORK_BAYES || !t->noisy.effect || t->n < 3) return AS_IT_IS;
    if (cri_noisy_apart(net, v, opt_e)) return APART;
    if (!t->value) return IN_STEPS;
    if (t->n < 4) return AS_IT_IS;
    return sums && 2 * (double)t->size > entries_in_steps(net, t) ? IN_STEPS : AS_IT_IS;
}

/* --- auxiliary variables --------------------------------------------------------------------- */

/* A name that no variable has. */
static cr_status add_auxiliary(couple *c, size_t states, size_t *out_a)
{
    char   name[48];
    size_t i = cr_network_size(c->net);
    do snprintf(name, sizeof name, "(%s %zu)", "auxiliary", i++);
    while (cr_variable_lookup(cr_network_variables(c->net), name) != CR_NONE);
    return cr_network_add_variable(c->cx, c->net, name, states, NULL, out_a);
}

static cr_status set_rows(couple *c, size_t v, size_t n, const size_t *parents)
{
    cr_status st = cr_network_set_parents(c->cx, c->net, v, n, parents);
    return st == CR_OK ? cr_network_set_table(c->cx, c->net, v, c->value) : st;
}

/* The first step: max(leak, y of the first parent).  With two parents at once the second would be
 * open from then on, which costs more than one auxiliary variable. */
static cr_status begin_steps(couple *c, size_t *out_a)
{
    cr_status st = CR_OK;
    size_t    i = c->order[0], levels = c->x->levels;
    double   *row = c->value;
    CR_TRY(add_auxiliary(c, levels, out_a));
    for (size_t x = 0; x < states_of(c, i); x++, row += levels) {
        memcpy(row, c->x->effect, levels * sizeof *row);
        cri_noisy_fold(levels, c->effect[i] + x * levels, row);
    }
    CR_TRY(set_rows(c, *out_a, 1, &c->parent[i]));
done:
    return st;
}

/* One more: to = max(from, y of the parent).  The last one is the variable itself. */
static cr_status take_step(couple *c, size_t from, size_t at, size_t to)
{
    size_t  i = c->order[at], levels = c->x->levels, scope[2] = { from, c->parent[i] };
    double *row = c->value;
    for (size_t l = 0; l < levels; l++)
        for (size_t x = 0; x < states_of(c, i); x++, row += levels) {
            for (size_t k = 0; k < levels; k++) row[k] = k == l;
            cri_noisy_fold(levels, c->effect[i] + x * levels, row);
            if (to == c->v && c->x->falling) cri_noisy_turn(levels, row);
        }
    return set_rows(c, to, 2, scope);
}

static cr_status divorce_in_steps(couple *c, size_t *hidden)
{
    cr_status st = CR_OK;
    size_t    from = 0, to = 0;
    CR_TRY(begin_steps(c, &from));
    for (size_t at = 1; at < c->n; at++) {
        to = c->v;
        c->when[from] = (double)c->place[c->parent[c->order[at]]] - 0.5;
        if (at + 1 < c->n) CR_TRY(add_auxiliary(c, c->x->levels, &to));
        CR_TRY(take_step(c, from, at, to));
        from = to;
    }
    *hidden += c->n - 1;
done:
    return st;
}

/* An observed child of each parent; what is left of the variable is the leak. */
static cr_status divorce_apart(couple *c)
{
    cr_status st = CR_OK;
    size_t    levels = c->x->levels, child;
    for (size_t i = 0; i < c->n; i++) {
        for (size_t x = 0; x < states_of(c, i); x++) {
            double off = c->effect[i][x * levels], on = 0;
            for (size_t k = 1; k < levels; k++) on += c->effect[i][x * levels + k];
            c->value[2 * x] = off;
            c->value[2 * x + 1] = on;
        }
        CR_TRY(add_auxiliary(c, 2, &child));
        CR_TRY(set_rows(c, child, 1, &c->parent[i]));
    }
    memcpy(c->value, c->x->effect, levels * sizeof *c->value);
    if (c->x->falling) cri_noisy_turn(levels, c->value);
    CR_TRY(set_rows(c, c->v, 0, NULL));
done:
    return st;
}

/* --- a network ------------------------------------------------------------------------------- */

/* Divorces the parents of v. */
static cr_status divorce(cr_ctx *cx, const cr_network *net, size_t v, way how, const size_t *place,
                         double *when, cri_divorced *d)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    const cri_table *t = &net->table[v];
    const cri_noisy *x = &t->noisy;
    couple           c = { .cx = cx, .s = &s, .net = d->net, .v = v, .n = t->n - 1, .x = x };
    c.place = place;
    c.when = when;
    size_t most = x->levels, before = 1, *parent = cr_scratch_index(&s, t->n);
    c.order = cr_scratch_index(&s, c.n);
    c.effect = cr_scratch_bytes(&s, c.n, sizeof *c.effect);
    CR_TRY(s.status);
    memcpy(parent, t->scope, c.n * sizeof *parent);
    c.parent = parent;
    for (size_t i = 0; i < c.n; i++) {
        size_t at = i, states = cr_network_states(net, parent[i]);
        c.effect[i] = x->effect + before * x->levels;
        before += states;
        if (states > most) most = states;
        for (; at > 0 && place[parent[c.order[at - 1]]] > place[parent[i]]; at--)
            c.order[at] = c.order[at - 1];
        c.order[at] = i;
    }
    c.value = cr_scratch_matrix(&s, x->levels * most, x->levels > 2 ? x->levels : 2);
    CR_TRY(s.status);
    CR_TRY(how == APART ? divorce_apart(&c) : divorce_in_steps(&c, &d->hidden));
done:
    cr_scratch_end(&s);
    return st;
}

/* What is known, of the larger network; of what was set apart the children are observed. */
static cr_status keep_evidence(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                               const bool *observed, cri_divorced *d)
{
    cr_status st = CR_OK;
    size_t    n = cr_network_size(net);
    CR_TRY(cr_evidence_new(cx, d->net, &d->e));
    for (size_t v = 0; opt_e && v < n; v++)
        if (cr_evidence_likelihood(opt_e, v))
            CR_TRY(cr_evidence_weigh(cx, d->e, v, cr_evidence_likelihood(opt_e, v)));
    for (size_t v = n; v < cr_network_size(d->net); v++)
        if (observed[v - n]) CR_TRY(cr_evidence_observe(cx, d->e, v, 0));
done:
    return st;
}

typedef struct timed {
    double when;
    size_t v;
} timed;

static int by_time(const void *a, const void *b)
{
    const timed *x = a, *y = b;
    if (x->when != y->when) return x->when < y->when ? -1 : 1;
    return (x->v > y->v) - (x->v < y->v);
}

/* From cause to cause: an auxiliary variable has done its part when the next cause comes in.  Of a
 * network of two layers no more are open at a time than effects that are observed, and one. */
static cr_status keep_sweep(cr_ctx *cx, const double *when, cr_network *net)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = cr_network_size(net), *sweep = NULL;
    timed     *list = cr_scratch_bytes(&s, n, sizeof *list);
    CR_TRY(s.status);
    for (size_t v = 0; v < n; v++) list[v] = (timed){ when[v], v };
    qsort(list, n, sizeof *list, by_time);
    sweep = cr_alloc(cx, n, sizeof *sweep);
    if (!sweep) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < n; i++) sweep[i] = list[i].v;
    net->sweep = sweep;
    net->sweeps = n;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_network_divorce(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                              bool sums, cri_divorced *out)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    cri_divorced d = { 0 };
    size_t       n = cr_network_size(net), more = 0, used = 0;
    size_t      *order = cr_scratch_index(&s, n), *place = cr_scratch_index(&s, n);
    bool         bayes = net->kind == CR_NETWORK_BAYES;
    for (size_t v = 0; bayes && v < n; v++)
        if (choose_way(net, v, opt_e, sums) != AS_IT_IS) more += net->table[v].n - 1;
    bool   *observed = cr_scratch_bytes(&s, more, sizeof *observed);
    double *when = cr_scratch_bytes(&s, n + more, sizeof *when);
    CR_TRY(s.status);
    if (more == 0) goto done;
    CR_TRY(cr_network_order(cx, net, order));
    for (size_t i = 0; i < n; i++) place[order[i]] = i, when[order[i]] = (double)i;
    CR_TRY(cr_network_copy(cx, net, &d.net));
    for (size_t v = 0; v < n; v++) {
        way how = choose_way(net, v, opt_e, sums);
        if (how == AS_IT_IS) continue;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(divorce(cx, net, v, how, place, when, &d));
        for (size_t a = cr_network_size(d.net) - n; used < a; used++) observed[used] = how == APART;
    }
    CR_TRY(keep_evidence(cx, net, opt_e, observed, &d));
    CR_TRY(keep_sweep(cx, when, d.net));
    *out = d;
    d = (cri_divorced){ 0 };
done:
    cri_divorced_free(cx, &d);
    cr_scratch_end(&s);
    return st;
}
