/* factor_graph.c -- tables and edges, and products summed onto one variable. */
#include "factor_graph.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

static const double TINY = 1e-300; /* stands for values below it that are not 0 */

void cri_fgraph_free(cr_ctx *cx, cri_fgraph *g)
{
    cri_factors_free(cx, g->table, g->made);
    cr_free(cx, g->first, g->m + 1, sizeof *g->first);
    cr_free(cx, g->var, g->edges, sizeof *g->var);
    cr_free(cx, g->of, g->edges, sizeof *g->of);
    cr_free(cx, g->begin, g->n + 1, sizeof *g->begin);
    cr_free(cx, g->at, g->edges, sizeof *g->at);
    cr_free(cx, g->offset, g->edges + 1, sizeof *g->offset);
    cr_free(cx, g->start, g->n + 1, sizeof *g->start);
    cri_problem_free(cx, g->problem);
    *g = (cri_fgraph){ 0 };
}

/* Moves tables with variables to the front; makes all of them plain. */
static void keep_tables(cri_fgraph *g)
{
    for (size_t i = 0; i < g->made; i++) {
        cr_factor f = g->table[i];
        if (!f.value || f.n == 0) continue;
        for (size_t e = 0; f.is_log && e < f.size; e++) {
            double x = exp(f.value[e]);
            f.value[e] = f.value[e] > -INFINITY && x < TINY ? TINY : x;
        }
        f.is_log = false;
        g->table[i] = g->table[g->m];
        g->table[g->m++] = f;
        g->edges += f.n;
        if (f.size > g->most_size) g->most_size = f.size;
        if (f.n > g->most_scope) g->most_scope = f.n;
    }
}

static cr_status list_edges(cr_ctx *cx, cri_fgraph *g)
{
    g->first = cr_alloc(cx, g->m + 1, sizeof *g->first);
    g->var = g->first ? cr_alloc(cx, g->edges, sizeof *g->var) : NULL;
    g->of = g->var ? cr_alloc(cx, g->edges, sizeof *g->of) : NULL;
    g->begin = g->of ? cr_alloc(cx, g->n + 1, sizeof *g->begin) : NULL;
    g->at = g->begin ? cr_alloc(cx, g->edges, sizeof *g->at) : NULL;
    g->offset = g->at ? cr_alloc(cx, g->edges + 1, sizeof *g->offset) : NULL;
    g->start = g->offset ? cr_alloc(cx, g->n + 1, sizeof *g->start) : NULL;
    if (!g->start) return CR_ENOMEM;
    for (size_t i = 0, e = 0; i < g->m; i++) {
        for (size_t k = 0; k < g->table[i].n; k++, e++) {
            g->var[e] = g->table[i].var[k];
            g->of[e] = i;
            g->offset[e + 1] = g->offset[e] + g->states[g->var[e]];
            g->begin[g->var[e] + 1]++;
        }
        g->first[i + 1] = e;
    }
    for (size_t v = 0; v < g->n; v++) {
        g->begin[v + 1] += g->begin[v];
        g->start[v + 1] = g->start[v] + g->states[v];
        if (g->states[v] > g->most_states) g->most_states = g->states[v];
    }
    return CR_OK;
}

cr_status cri_fgraph_new(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                         const bool *opt_query, cri_fgraph *out_g)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_fgraph g = { .most_size = 1, .most_states = 1, .most_scope = 1 };
    CR_TRY(cr_network_check(cx, net));
    CR_TRY(cri_problem_new(cx, net, opt_e, opt_query, &g.problem));
    CR_TRY(cri_problem_tables(cx, g.problem, &g.table, &g.made, &g.scale));
    g.n = g.problem->active;
    g.states = g.problem->active_states;
    keep_tables(&g);
    CR_TRY(list_edges(cx, &g));
    size_t *used = cr_scratch_bytes(&s, g.n, sizeof *used);
    CR_TRY(s.status);
    for (size_t e = 0; e < g.edges; e++) g.at[g.begin[g.var[e]] + used[g.var[e]]++] = e;
    *out_g = g;
    g = (cri_fgraph){ 0 };
done:
    cri_fgraph_free(cx, &g);
    cr_scratch_end(&s);
    return st;
}

double cri_fgraph_log_value(const cri_fgraph *g, const size_t *state)
{
    double sum = g->scale;
    for (size_t i = 0; i < g->m; i++)
        sum += log(g->table[i].value[cr_factor_index(&g->table[i], state)]);
    return sum;
}

void cri_fgraph_spread(const cri_fgraph *g, const double *from, double certain, double *out)
{
    const cri_problem *p = g->problem;
    for (size_t v = 0; v < p->n; v++) {
        size_t states = cr_network_states(p->net, v), r = p->rank[v];
        for (size_t s = 0; s < states; s++) out[s] = 0;
        for (size_t k = 0; k < p->left[v]; k++)
            out[p->state[p->first[v] + k]] =
                r == CR_NONE ? certain / (double)p->left[v] : from[g->start[r] + k];
        out += states;
    }
}

void cri_fgraph_assign(const cri_fgraph *g, const size_t *state, size_t *out_all)
{
    const cri_problem *p = g->problem;
    for (size_t v = 0; v < p->n; v++)
        out_all[v] = p->state[p->first[v] + (p->rank[v] == CR_NONE ? 0 : state[p->rank[v]])];
}

/* --- products onto one variable -------------------------------------------------------------- */

static void contract_last(const double *in, size_t left, size_t states, const double *w,
                          bool maximise, double *out)
{
    for (size_t l = 0; l < left; l++, in += states) {
        double sum = 0;
        for (size_t s = 0; s < states; s++) {
            double x = w[s] > 0 ? in[s] * w[s] : 0;
            sum = maximise ? (x > sum ? x : sum) : sum + x;
        }
        out[l] = sum;
    }
}

/* out[l, r] = sum (or max) over s of in[l, s, r] w[s]; entries of weight 0 count as 0 whatever they
 * are. */
static void contract(const double *in, size_t left, size_t states, size_t right, const double *w,
                     bool maximise, double *out)
{
    if (right == 1) {
        contract_last(in, left, states, w, maximise, out);
        return;
    }
    for (size_t l = 0; l < left; l++, out += right) {
        for (size_t r = 0; r < right; r++) out[r] = 0;
        for (size_t s = 0; s < states; s++, in += right) {
            if (w[s] == 0) continue;
            if (maximise)
                for (size_t r = 0; r < right; r++) out[r] = fmax(out[r], in[r] * w[s]);
            else
                for (size_t r = 0; r < right; r++) out[r] += in[r] * w[s];
        }
    }
}

void cri_table_message(const cr_factor *f, const double *value, const double *w, size_t t,
                       bool maximise, double *workspace, double *out)
{
    const double *now = value, *weight = w;
    double       *next = workspace, *other = workspace + f->size;
    size_t        size = f->size;
    for (size_t k = 0; k < f->n; k++) weight += f->states[k];
    for (size_t k = f->n; k-- > t + 1;) { /* those that run faster */
        weight -= f->states[k];
        size /= f->states[k];
        contract(now, size, f->states[k], 1, weight, maximise, next);
        now = next, next = other, other = (double *)(uintptr_t)now;
    }
    weight = w;
    for (size_t k = 0; k < t; k++) { /* those that run slower */
        size /= f->states[k];
        contract(now, 1, f->states[k], size, weight, maximise, next);
        weight += f->states[k];
        now = next, next = other, other = (double *)(uintptr_t)now;
    }
    memcpy(out, now, size * sizeof *out);
}
