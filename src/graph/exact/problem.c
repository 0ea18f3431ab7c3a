/* problem.c -- evidence into tables. */
#include "problem.h"
#include "graph/factor/factor_internal.h"
#include "graph/factor/message.h"
#include "graph/network/noisy.h"
#include "base/scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void cri_problem_free(cr_ctx *cx, cri_problem *p)
{
    if (!p) return;
    size_t n = p->n;
    cr_free(cx, p->left, n, sizeof *p->left);
    cr_free(cx, p->first, n, sizeof *p->first);
    cr_free(cx, p->state, p->states, sizeof *p->state);
    cr_free(cx, p->weight, p->states, sizeof *p->weight);
    cr_free(cx, p->weighed, n, sizeof *p->weighed);
    cr_free(cx, p->needed, cr_network_tables(p->net), sizeof *p->needed);
    cr_free(cx, p->var, n, sizeof *p->var);
    cr_free(cx, p->rank, n, sizeof *p->rank);
    cr_free(cx, p->active_states, n, sizeof *p->active_states);
    cr_free(cx, p, 1, sizeof *p);
}

/* --- evidence and pruning -------------------------------------------------------------------- */

void cri_problem_take(cri_problem *p, const cr_evidence *opt_e)
{
    size_t used = 0;
    for (size_t v = 0; v < p->n; v++) {
        p->weighed[v] = false;
        const double *l = opt_e ? cr_evidence_likelihood(opt_e, v) : NULL;
        p->first[v] = used;
        for (size_t s = 0; s < cr_network_states(p->net, v); s++) {
            if (l && l[s] == 0) continue;
            p->weight[used] = l ? l[s] : 1;
            p->weighed[v] |= p->weight[used] != 1;
            p->state[used++] = s;
        }
        p->left[v] = used - p->first[v];
    }
}

/* Which tables matter. */
static cr_status find_needed(cr_ctx *cx, cri_problem *p, const cr_evidence *opt_e,
                             const bool *opt_query)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    bool      *mark = cr_scratch_bytes(&s, p->n, sizeof *mark);
    CR_TRY(s.status);
    bool prune = opt_query && cr_network_get_kind(p->net) == CR_NETWORK_BAYES;
    for (size_t v = 0; prune && v < p->n; v++)
        mark[v] = opt_query[v] || (opt_e && cr_evidence_likelihood(opt_e, v));
    if (prune) CR_TRY(cr_network_ancestors(cx, p->net, mark));
    for (size_t i = 0; i < cr_network_tables(p->net); i++) p->needed[i] = !prune || mark[i];
done:
    cr_scratch_end(&s);
    return st;
}

static void find_active(cri_problem *p, const bool *opt_query)
{
    bool sweeps = p->n > 0 && p->net->sweeps == p->n;
    for (size_t i = 0; i < p->n; i++) {
        size_t v = sweeps ? p->net->sweep[i] : i;
        bool in = !opt_query || opt_query[v] || cr_network_get_kind(p->net) == CR_NETWORK_MARKOV ||
                  p->needed[v];
        p->rank[v] = CR_NONE;
        if (!in || p->left[v] < 2) continue;
        p->var[p->active] = v;
        p->active_states[p->active] = p->left[v];
        p->rank[v] = p->active++;
    }
}

cr_status cri_problem_new(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                          const bool *opt_query, cri_problem **out_p)
{
    cr_status    st = CR_OK;
    cri_problem *p = NULL;
    size_t       n = cr_network_size(net), states = 0;
    CR_TRY(cri_network_need_tables(cx, net));
    for (size_t v = 0; v < n; v++) states += cr_network_states(net, v);
    p = cr_alloc(cx, 1, sizeof *p);
    if (!p) CR_TRY(CR_ENOMEM);
    p->net = net;
    p->n = n;
    p->states = states;
    p->left = cr_alloc(cx, n, sizeof *p->left);
    p->first = p->left ? cr_alloc(cx, n, sizeof *p->first) : NULL;
    p->state = p->first ? cr_alloc(cx, states, sizeof *p->state) : NULL;
    p->weight = p->state ? cr_alloc(cx, states, sizeof *p->weight) : NULL;
    p->weighed = p->weight ? cr_alloc(cx, n, sizeof *p->weighed) : NULL;
    p->needed = p->weighed ? cr_alloc(cx, cr_network_tables(net), sizeof *p->needed) : NULL;
    p->var = p->needed ? cr_alloc(cx, n, sizeof *p->var) : NULL;
    p->rank = p->var ? cr_alloc(cx, n, sizeof *p->rank) : NULL;
    p->active_states = p->rank ? cr_alloc(cx, n, sizeof *p->active_states) : NULL;
    if (!p->active_states) CR_TRY(CR_ENOMEM);
    cri_problem_take(p, opt_e);
    CR_TRY(find_needed(cx, p, opt_e, opt_query));
    find_active(p, opt_query);
    *out_p = p;
    p = NULL;
done:
    cri_problem_free(cx, p);
    return st;
}

/* --- graph and ranks ------------------------------------------------------------------------- */

cr_status cri_problem_graph(cr_ctx *cx, const cri_problem *p, cr_graph *out_g)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     m = 0, tables = cr_network_tables(p->net);
    for (size_t i = 0; i < tables; i++) {
        size_t k = cr_network_table(p->net, i).n;
        if (p->needed[i]) m += k * (k - (k > 0)) / 2;
    }
    size_t *a = cr_scratch_index(&s, m), *b = cr_scratch_index(&s, m);
    CR_TRY(s.status);
    m = 0;
    for (size_t i = 0; i < tables; i++) {
        cr_table_view t = cr_network_table(p->net, i);
        for (size_t k = 0; p->needed[i] && k < t.n; k++)
            for (size_t l = 0; l < k; l++) {
                size_t x = p->rank[t.scope[k]], y = p->rank[t.scope[l]];
                if (x != CR_NONE && y != CR_NONE) a[m] = x, b[m++] = y;
            }
    }
    CR_TRY(cr_graph_new(cx, p->active, m, a, b, out_g));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_problem_rank(cr_ctx *cx, cri_problem *p, const size_t *order)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *var = cr_scratch_index(&s, p->active);
    CR_TRY(s.status);
    for (size_t i = 0; i < p->active; i++) var[i] = p->var[order[i]];
    for (size_t i = 0; i < p->active; i++) {
        p->var[i] = var[i];
        p->rank[var[i]] = i;
        p->active_states[i] = p->left[var[i]];
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- what d-separation leaves ---------------------------------------------------------------- */

/* Marks what a walk from the marked vertices reaches. */
static void spread_marks(const cr_graph *g, bool *mark, size_t *stack)
{
    size_t waiting = 0;
    for (size_t v = 0; v < g->n; v++)
        if (mark[v]) stack[waiting++] = v;
    while (waiting > 0) {
        size_t v = stack[--waiting];
        for (size_t i = g->begin[v]; i < g->begin[v + 1]; i++) {
            if (mark[g->to[i]]) continue;
            mark[g->to[i]] = true;
            stack[waiting++] = g->to[i];
        }
    }
}

cr_status cri_problem_connect(cr_ctx *cx, cri_problem *p, const bool *query)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_graph   g = { 0 };
    bool      *mark = cr_scratch_bytes(&s, p->active, sizeof *mark);
    size_t    *stack = cr_scratch_index(&s, p->active), kept = 0;
    CR_TRY(s.status);
    CR_TRY(cri_problem_graph(cx, p, &g));
    for (size_t i = 0; i < p->active; i++) mark[i] = query[p->var[i]];
    spread_marks(&g, mark, stack);
    for (size_t i = 0; i < cr_network_tables(p->net); i++) {
        cr_table_view t = cr_network_table(p->net, i);
        bool          reached = false;
        for (size_t k = 0; k < t.n; k++)
            reached |= p->rank[t.scope[k]] != CR_NONE && mark[p->rank[t.scope[k]]];
        p->needed[i] = p->needed[i] && reached;
    }
    for (size_t i = 0; i < p->active; i++) {
        size_t v = p->var[i];
        p->rank[v] = mark[i] ? kept : CR_NONE;
        if (!mark[i]) p->weighed[v] = false;
        if (mark[i]) p->var[kept] = v, p->active_states[kept++] = p->left[v];
    }
    for (size_t v = 0; v < p->n; v++) p->weighed[v] = p->weighed[v] && p->rank[v] != CR_NONE;
    p->active = kept;
done:
    cr_graph_free(cx, &g);
    cr_scratch_end(&s);
    return st;
}

/* --- tables ---------------------------------------------------------------------------------- */

/* Copies from the table t what is left of it.  var[i], stride[i]: the network's variable and its
 * stride in t for each variable of f's scope; base: the offset of the variables that have one state
 * left. */
static void copy_left(const cri_problem *p, const cr_factor *f, const size_t *var,
                      const size_t *stride, const double *from, size_t *position)
{
    size_t last = f->n - 1, at = 0;
    if (f->n == 0) {
        f->value[0] = from[0];
        return;
    }
    const size_t *inner = p->state + p->first[var[last]];
    for (size_t i = 0; i < f->n; i++) position[i] = 0;
    for (size_t e = 0; e < f->size; e += f->states[last]) {
        at = 0;
        for (size_t i = 0; i < last; i++)
            at += p->state[p->first[var[i]] + position[i]] * stride[i];
        for (size_t k = 0; k < f->states[last]; k++)
            f->value[e + k] = from[at + inner[k] * stride[last]];
        for (size_t i = last; i-- > 0;) {
            if (++position[i] < f->states[i]) break;
            position[i] = 0;
        }
    }
}

cr_status cri_problem_table(cr_ctx *cx, const cri_problem *p, size_t i, cr_factor *out_f,
                            double *out_scale)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cr_table_view t = cr_network_table(p->net, i);
    size_t       *rank = cr_scratch_index(&s, t.n), *var = cr_scratch_index(&s, t.n);
    size_t       *stride = cr_scratch_index(&s, t.n), *states = cr_scratch_index(&s, t.n);
    size_t       *position = cr_scratch_index(&s, t.n), n = 0, step = 1, base = 0;
    CR_TRY(s.status);
    for (size_t k = t.n; k-- > 0;) {
        size_t v = t.scope[k];
        if (p->rank[v] == CR_NONE) { /* one state left */
            base += p->state[p->first[v]] * step;
        } else {
            size_t at = n++;
            for (; at > 0 && rank[at - 1] > p->rank[v]; at--)
                rank[at] = rank[at - 1], var[at] = var[at - 1], stride[at] = stride[at - 1];
            rank[at] = p->rank[v], var[at] = v, stride[at] = step;
        }
        step *= cr_network_states(p->net, v);
    }
    for (size_t k = 0; k < n; k++) states[k] = p->left[var[k]];
    CR_TRY(cri_factor_make(cx, n, rank, states, out_f));
    copy_left(p, out_f, var, stride, t.value + base, position);
    *out_scale = cri_scale(out_f);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_problem_weight(cr_ctx *cx, const cri_problem *p, size_t v, cr_factor *out_f,
                             double *out_scale)
{
    bool      active = p->rank[v] != CR_NONE;
    cr_status st = cri_factor_make(cx, active, &p->rank[v], &p->left[v], out_f);
    if (st != CR_OK) return st;
    memcpy(out_f->value, p->weight + p->first[v], out_f->size * sizeof(double));
    *out_scale = cri_scale(out_f);
    return CR_OK;
}

cr_status cri_problem_unpack(cr_ctx *cx, const cri_problem *p, const cr_factor *f, size_t n,
                             const size_t *query, cr_factor *out_f)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_factor  out = { 0 };
    size_t    *states = cr_scratch_index(&s, n),
           *position = cr_scratch_bytes(&s, p->n, sizeof *states);
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) states[i] = cr_network_states(p->net, query[i]);
    CR_TRY(cr_factor_new(cx, n, query, states, NULL, &out));
    memset(out.value, 0, out.size * sizeof *out.value);
    for (size_t e = 0; e < f->size; e++) {
        size_t at = 0;
        for (size_t k = 0, rest = e; k < f->n; k++) {
            position[p->var[f->var[k]]] = rest / f->stride[k];
            rest %= f->stride[k];
        }
        for (size_t i = 0; i < n; i++) {
            size_t v = out.var[i];
            at += p->state[p->first[v] + position[v]] * out.stride[i];
        }
        out.value[at] = f->is_log ? exp(f->value[e]) : f->value[e];
    }
    cr_factor_normalise(&out, NULL);
    *out_f = out;
    out = (cr_factor){ 0 };
done:
    cr_factor_free(cx, &out);
    cr_scratch_end(&s);
    return st;
}

void cri_factors_free(cr_ctx *cx, cr_factor *f, size_t n)
{
    for (size_t i = 0; f && i < n; i++) cr_factor_free(cx, &f[i]);
    cr_free(cx, f, n, sizeof *f);
}

static bool is_within(const cr_factor *small, const cr_factor *large)
{
    size_t k = 0;
    for (size_t i = 0; i < small->n; i++, k++) {
        while (k < large->n && large->var[k] < small->var[i]) k++;
        if (k == large->n || large->var[k] != small->var[i]) return false;
    }
    return true;
}

/* Multiplies `small` into `large`, whose scope it lies in. */
static cr_status absorb(cr_ctx *cx, const cr_factor *small, cr_factor *large, double *scale)
{
    cr_factor        out = { 0 };
    const cr_factor *in[2] = { large, small };
    cri_space        sp = { 0 };
    cr_status        st = cri_factor_make(cx, large->n, large->var, large->states, &out);
    if (st != CR_OK) return st;
    cri_message m = { &out, 0 };
    for (size_t i = 0; i < out.n; i++)
        if (!cri_space_add(&sp, out.var[i], out.states[i])) st = cri_fail_dims(cx);
    if (st == CR_OK && !cri_send(cx, &sp, false, 2, in, 1, &m, NULL, true))
        st = cri_fail_combine(cx, out.size);
    if (st != CR_OK) {
        cr_factor_free(cx, &out);
        return st;
    }
    cr_factor_free(cx, large);
    *large = out;
    *scale += m.scale;
    return CR_OK;
}

typedef struct sized {
    size_t size, at;
} sized;

static int by_size(const void *a, const void *b)
{
    const sized *x = a, *y = b;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Multiplies each table into the next larger one that covers it, found through the lists of the
 * tables of its first variable. */
static cr_status absorb_all(cr_ctx *cx, const cri_problem *p, cr_factor *f, size_t n, double *scale)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    sized     *order = cr_scratch_bytes(&s, n, sizeof *order);
    size_t    *begin = cr_scratch_bytes(&s, p->active + 2, sizeof *begin), ends = 0, *list;
    for (size_t i = 0; i < n; i++) ends += f[i].n;
    list = cr_scratch_index(&s, ends);
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) {
        order[i] = (sized){ f[i].size, i };
        for (size_t k = 0; k < f[i].n; k++) begin[f[i].var[k] + 2]++;
    }
    for (size_t v = 2; v < p->active + 2; v++) begin[v] += begin[v - 1];
    if (n > 1) qsort(order, n, sizeof *order, by_size);
    for (size_t o = 0; o < n; o++) /* lists by size */
        for (size_t k = 0, i = order[o].at; k < f[i].n; k++) list[begin[f[i].var[k] + 1]++] = i;
    for (size_t o = 0; o < n; o++) {
        size_t i = order[o].at, best = CR_NONE;
        for (size_t k = f[i].n ? begin[f[i].var[0]] : 0;
             f[i].n && best == CR_NONE && k < begin[f[i].var[0] + 1]; k++) {
            size_t j = list[k];
            bool   later = order[o].size < f[j].size || (order[o].size == f[j].size && j > i);
            if (j != i && later && f[j].value && is_within(&f[i], &f[j])) best = j;
        }
        if (best == CR_NONE) continue;
        CR_TRY(absorb(cx, &f[i], &f[best], scale));
        cr_factor_free(cx, &f[i]);
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_problem_tables(cr_ctx *cx, const cri_problem *p, cr_factor **out_f, size_t *out_n,
                             double *out_scale)
{
    cr_status st = CR_OK;
    size_t    tables = cr_network_tables(p->net), n = 0, used = 0;
    double    scale = 0, one;
    for (size_t i = 0; i < tables; i++) n += p->needed[i];
    for (size_t v = 0; v < p->n; v++) n += p->weighed[v];
    cr_factor *f = cr_alloc(cx, n, sizeof *f);
    if (!f) return CR_ENOMEM;
    for (size_t i = 0; i < tables; i++) {
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        if (!p->needed[i]) continue;
        CR_TRY(cri_problem_table(cx, p, i, &f[used++], &one));
        scale += one;
    }
    for (size_t v = 0; v < p->n; v++) {
        if (!p->weighed[v]) continue;
        CR_TRY(cri_problem_weight(cx, p, v, &f[used++], &one));
        scale += one;
    }
    CR_TRY(absorb_all(cx, p, f, n, &scale));
    *out_f = f;
    *out_n = n;
    *out_scale = scale;
    f = NULL;
done:
    cri_factors_free(cx, f, n);
    return st;
}
